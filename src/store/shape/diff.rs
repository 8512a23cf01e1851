//! What the difference of two machines means for loops that are on disk. docs/migrations.md has the table; each of its
//! rows is a test.
//!
//! The question is always the same: a document that the old machine wrote, read by the new one. Its phase must be known
//! and mean the same, each value must be of its field's kind, and the store must find it at all. What only says which way
//! a loop goes on (edges, guards, evidence) is read at the next change, so it holds for loops on disk from then on.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::migration::Migrations;
use super::{EdgeShape, FieldShape, PhaseShape, Shape};

/// The engine cannot say what a loop is without these.
const FOUND_BY: [&str; 7] = [
    "phase",
    "id",
    "root",
    "session",
    "revision",
    "machine",
    "graph-hash",
];

/// The most names that a difference lists.
const SHOWN: usize = 8;

/// What a difference means for loops on disk. The later, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::Display, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// They go on as they are.
    #[strum(serialize = "safe")]
    Safe,
    /// A `[[migrations]]` entry says how they go on.
    #[strum(serialize = "migrated")]
    Migrated,
    /// They are refused until a `[[migrations]]` entry says how they go on.
    #[strum(serialize = "needs a migration")]
    Migration,
    /// They cannot go on.
    #[strum(serialize = "breaks")]
    Breaks,
}

/// One difference of two machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What it means for loops on disk.
    pub verdict: Verdict,
    /// What is different.
    pub what: String,
    /// What loops on disk make of it.
    pub means: String,
    /// What to do; empty where nothing has to be done.
    pub remedy: String,
    /// What an entry of `[[migrations]]` could say.
    #[serde(skip)]
    pub suggestion: Option<Suggestion>,
    /// It is about where documents are, not about what they mean: one that is found is not concerned.
    #[serde(skip)]
    pub(in crate::store) place: bool,
}

/// A line of a `[[migrations]]` entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suggestion {
    /// `phases = { old = "new" }`
    Phase {
        /// The old phase.
        old: String,
        /// The new one.
        new: String,
    },
    /// `fields = { old = "new" }`
    Field {
        /// The old field.
        old: String,
        /// The new one.
        new: String,
    },
    /// `words = { field = { old = "new" } }`
    Word {
        /// The field.
        field: String,
        /// The old word.
        old: String,
        /// The new one.
        new: String,
    },
    /// `set = { field = constant }`
    Set {
        /// The field.
        field: String,
        /// The constant, as machine.toml writes it.
        value: String,
    },
}

impl Suggestion {
    /// As machine.toml writes it.
    pub fn line(&self) -> String {
        match self {
            Self::Phase { old, new } => format!("phases = {{ {old} = \"{new}\" }}"),
            Self::Field { old, new } => format!("fields = {{ {old} = \"{new}\" }}"),
            Self::Word { field, old, new } => {
                format!("words = {{ {field} = {{ {old} = \"{new}\" }} }}")
            }
            Self::Set { field, value } => format!("set = {{ {field} = {value} }}"),
        }
    }
}

impl Difference {
    fn new(verdict: Verdict, what: String, means: impl Into<String>) -> Self {
        Self {
            verdict,
            what,
            means: means.into(),
            remedy: String::new(),
            suggestion: None,
            place: false,
        }
    }

    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    fn suggest(mut self, why: &str, suggestion: Suggestion) -> Self {
        self.remedy = format!("{why}`{}`", suggestion.line());
        self.suggestion = Some(suggestion);
        self
    }
}

/// Every difference of two machines, by what it means for loops that the old one wrote.
pub fn diff(old: &Shape, new: &Shape) -> Vec<Difference> {
    let mut found = Vec::new();
    state(old, new, &mut found);
    let names = phases(old, new, &mut found);
    fields(old, new, &mut found);
    edges(old, new, &names, &mut found);
    found
}

/// Like [`diff`], with the new machine's `[[migrations]]`: what its entries for the old one cover is said to be migrated, and
/// what they bring about themselves is added.
pub fn compare(old: &Shape, new: &Shape, migrations: &Migrations) -> Vec<Difference> {
    let mut found = diff(old, new);
    if !migrations.takes(&old.hash) {
        return found;
    }
    match migrations.carry(old, new) {
        Ok(carried) => {
            let left = diff(&carried, new);
            for one in found.iter_mut().filter(|one| one.verdict > Verdict::Migrated) {
                if !left
                    .iter()
                    .any(|still| still.what == one.what && still.verdict >= one.verdict)
                {
                    one.verdict = Verdict::Migrated;
                    one.remedy.clear();
                    one.suggestion = None;
                }
            }
            let brought = left
                .into_iter()
                .filter(|still| still.verdict > Verdict::Migrated)
                .filter(|still| !found.iter().any(|one| one.what == still.what))
                .collect::<Vec<_>>();
            found.extend(brought);
        }
        Err(why) => found.push(
            Difference::new(
                Verdict::Breaks,
                "the `[[migrations]]` entry cannot be followed".to_owned(),
                why,
            )
            .remedy("mend the entry"),
        ),
    }
    found
}

fn state(old: &Shape, new: &Shape, found: &mut Vec<Difference>) {
    use Verdict::{Breaks, Safe};
    if old.machine != new.machine {
        let what = format!("the machine `{}` is named `{}`", old.machine, new.machine);
        let means = format!(
            "the documents name `{}`, and no other machine opens them",
            old.machine
        );
        found.push(
            Difference::new(Breaks, what, means)
                .remedy("keep the name, or end the loops with the old machine first"),
        );
    }
    let (before, after) = (&old.state, &new.state);
    if before.folder != after.folder {
        let what = format!("the state folder `{}` is `{}` now", before.folder, after.folder);
        let mut one = Difference::new(Breaks, what, "they are looked for where they are not").remedy(
            "keep the folder, or move it in every project; what is found there is judged by the rest",
        );
        one.place = true;
        found.push(one);
    }
    if before.extension != after.extension {
        let what = format!(
            "the extension `{}` is `{}` now",
            before.extension, after.extension
        );
        let mut one = Difference::new(Breaks, what, "they are looked for under another name").remedy(
            "keep the extension, or rename the documents in every project; what is found is judged by the rest",
        );
        one.place = true;
        found.push(one);
    }
    if before.form != after.form {
        let what = format!("the form `{}` is `{}` now", before.form, after.form);
        found.push(
            Difference::new(Breaks, what, "their documents cannot be read")
                .remedy("keep the form, or end the loops with the old machine first"),
        );
    }
    if before.ids != after.ids {
        let what = format!("ids are `{}`, no longer `{}`", after.ids, before.ids);
        // Every stamp is a name as well; most names are no stamps.
        found.push(if after.ids == "name" {
            Difference::new(Safe, what, "their ids fit the new form, too")
        } else {
            Difference::new(Breaks, what, "their ids are none, so that they are not found")
                .remedy("keep the form of the ids, or end the loops with the old machine first")
        });
    }
}

/// Compares the phases, and returns under which name of the new machine each of the old one goes on.
fn phases<'s>(old: &'s Shape, new: &'s Shape, found: &mut Vec<Difference>) -> BTreeMap<&'s str, &'s str> {
    use Verdict::{Migration, Safe};
    let mut names = BTreeMap::new();
    let mut heirs = Vec::new();
    for phase in &old.phases {
        let name = phase.name.as_str();
        match (new.phase(name), new.stored(&phase.stored)) {
            (Some(same), _) if same.stored == phase.stored => {
                names.insert(name, name);
                ends(phase, same, found);
            }
            (Some(same), _) => {
                names.insert(name, name);
                let what = format!(
                    "the phase `{name}` is stored as `{}`, no longer as `{}`",
                    same.stored, phase.stored
                );
                found.push(
                    Difference::new(Migration, what, "loops in it are in a phase that is not known")
                        .suggest("say that it is the same: ", stays(name)),
                );
            }
            (None, Some(renamed)) if old.phase(&renamed.name).is_none() => {
                names.insert(name, renamed.name.as_str());
                let what = format!(
                    "the phase `{name}` is named `{}`, and stored as before",
                    renamed.name
                );
                found.push(Difference::new(
                    Safe,
                    what,
                    "loops in it are in the renamed one: a document has the stored form",
                ));
                ends(phase, renamed, found);
            }
            (None, taken) => {
                let what = format!("the phase `{name}` was removed");
                let means = match taken {
                    Some(other) => format!("loops in it would be taken for loops in `{}`", other.name),
                    None if phase.terminal => "loops that were over in it cannot be opened".to_owned(),
                    None => "loops in it are in a phase that is not known".to_owned(),
                };
                let one = Difference::new(Migration, what, means);
                found.push(match heir(old, new, phase, &mut heirs) {
                    Some(heir) => one.suggest(
                        "say in which phase they go on: ",
                        Suggestion::Phase {
                            old: name.to_owned(),
                            new: heir.name.clone(),
                        },
                    ),
                    None => one.remedy("say in which phase they go on"),
                });
            }
        }
    }
    for phase in &new.phases {
        if old.phase(&phase.name).is_none() && !names.values().any(|known| *known == phase.name) {
            let what = format!("the phase `{}` was added", phase.name);
            found.push(Difference::new(Safe, what, "no loop is in it"));
        }
    }
    names
}

fn stays(phase: &str) -> Suggestion {
    Suggestion::Phase {
        old: phase.to_owned(),
        new: phase.to_owned(),
    }
}

/// The phase of the new machine in which loops of a removed one most likely go on: an added one that was not proposed for
/// another, else any, that is over or not over as the removed one was.
fn heir<'s>(
    old: &Shape,
    new: &'s Shape,
    phase: &PhaseShape,
    heirs: &mut Vec<&'s str>,
) -> Option<&'s PhaseShape> {
    let alike = |one: &&PhaseShape| one.terminal == phase.terminal;
    let added = |one: &&PhaseShape| {
        alike(one) && old.phase(&one.name).is_none() && !heirs.contains(&one.name.as_str())
    };
    let found = new.phases.iter().find(added);
    if let Some(found) = found {
        heirs.push(&found.name);
    }
    found
        .or_else(|| new.phases.iter().find(alike))
        .or(new.phases.first())
}

/// Whether a loop that is over stays so, and one that is not, too.
fn ends(phase: &PhaseShape, now: &PhaseShape, found: &mut Vec<Difference>) {
    let (what, means) = match (phase.terminal, now.terminal) {
        (false, true) => (
            "is terminal now",
            "loops in it would be over at once, without what was to come",
        ),
        (true, false) => (
            "is terminal no longer",
            "loops that are over in it would be driven again",
        ),
        _ => return,
    };
    found.push(
        Difference::new(
            Verdict::Migration,
            format!("the phase `{}` {what}", now.name),
            means,
        )
        .suggest(
            "say that it is meant, or name another phase: ",
            Suggestion::Phase {
                old: phase.name.clone(),
                new: now.name.clone(),
            },
        ),
    );
}

fn fields(old: &Shape, new: &Shape, found: &mut Vec<Difference>) {
    let mut heirs = Vec::new();
    for field in &old.fields {
        match new.field(&field.name) {
            Some(now) => changed(field, now, found),
            None => removed(old, new, field, &mut heirs, found),
        }
    }
    for field in new.fields.iter().filter(|field| old.field(&field.name).is_none()) {
        let name = &field.name;
        let what = format!("the field `{name}` was added");
        match field.holds.as_deref() {
            None => {
                let means = format!("loops on disk read its initial value, {}", shown(field));
                found.push(Difference::new(Verdict::Safe, what, means));
            }
            // Renamed, which its removal has said.
            Some(holds) if old.fields.iter().any(|one| one.holds.as_deref() == Some(holds)) => {}
            Some("graph-hash") => found.push(
                Difference::new(
                    Verdict::Breaks,
                    what,
                    "they do not say which version of the machine wrote them",
                )
                .remedy("end the loops with the old machine first"),
            ),
            Some(_) => found.push(Difference::new(
                Verdict::Safe,
                what,
                "loops on disk do not have it, and it reads as empty",
            )),
        }
    }
}

/// Whether every value of one kind is one of another, and means the same.
fn reads_as(old: &str, new: &str) -> bool {
    let scalar = ["count", "flag", "text", "path", "one_of", "time", "id"].contains(&old);
    old == new || scalar && ["text", "path"].contains(&new)
}

fn changed(field: &FieldShape, now: &FieldShape, found: &mut Vec<Difference>) {
    use Verdict::{Breaks, Migration, Safe};
    let name = &field.name;
    if field.holds != now.holds {
        let keeps = |field: &FieldShape| match &field.holds {
            Some(holds) => format!("the engine's ({holds})"),
            None => format!("`{}`", field.kind),
        };
        let what = format!("the field `{name}` is {}, no longer {}", keeps(now), keeps(field));
        found.push(
            Difference::new(
                Breaks,
                what,
                "what the engine keeps and what a machine keeps cannot be told apart in them",
            )
            .remedy("give the new field another name"),
        );
        return;
    }
    if field.kind != now.kind {
        let what = format!("the field `{name}` is `{}`, no longer `{}`", now.kind, field.kind);
        found.push(if reads_as(&field.kind, &now.kind) {
            Difference::new(Safe, what, "their values stay as they stand")
        } else {
            let means = format!("their values may be no `{}`", now.kind);
            Difference::new(Migration, what, means).suggest("give it a value: ", set(now))
        });
        return;
    }
    words(field, now, found);
    if field.initial_text() != now.initial_text() {
        let what = format!(
            "the field `{name}` begins as {}, no longer as {}",
            shown(now),
            shown(field)
        );
        found.push(Difference::new(
            Safe,
            what,
            "loops on disk keep their value; one that began before the field was there reads the new one",
        ));
    }
    if field.within != now.within {
        let what = format!("the field `{name}` exists in other phases");
        found.push(Difference::new(
            Safe,
            what,
            "where it is new it has the value that stands in the document, else its initial one",
        ));
    }
    if field.at_start != now.at_start {
        let what = format!("the start takes the field `{name}` otherwise");
        found.push(Difference::new(Safe, what, "they have been started"));
    }
    if field.owned != now.owned {
        let (owner, means) = if now.owned {
            (
                "the machine's",
                "an edit by hand since their last change is undone",
            )
        } else {
            ("no longer the machine's", "it may be edited by hand")
        };
        found.push(Difference::new(
            Safe,
            format!("the field `{name}` is {owner}"),
            means,
        ));
    }
}

fn words(field: &FieldShape, now: &FieldShape, found: &mut Vec<Difference>) {
    let name = &field.name;
    let added: Vec<&String> = now
        .words
        .iter()
        .filter(|word| !field.words.contains(word))
        .collect();
    for word in field.words.iter().filter(|word| !now.words.contains(word)) {
        let what = format!("`{name}` lost the word `{word}`");
        let one = Difference::new(
            Verdict::Migration,
            what,
            "a loop that has it holds a word that is not known",
        );
        let heir = added.first().copied().or(now.words.first());
        found.push(match heir {
            Some(heir) => one.suggest(
                "say which word it is now: ",
                Suggestion::Word {
                    field: name.clone(),
                    old: word.clone(),
                    new: heir.clone(),
                },
            ),
            None => one,
        });
    }
    for word in added {
        let what = format!("`{name}` got the word `{word}`");
        found.push(Difference::new(Verdict::Safe, what, "no loop has it"));
    }
    let kept = |of: &FieldShape, other: &FieldShape| -> Vec<String> {
        of.words
            .iter()
            .filter(|word| other.words.contains(word))
            .cloned()
            .collect()
    };
    if kept(field, now) != kept(now, field) {
        let what = format!("the words of `{name}` have another order");
        found.push(Difference::new(Verdict::Safe, what, "`next` follows the new one"));
    }
}

/// `heirs`: the new fields that were proposed for others already, which therefore are not proposed again.
fn removed<'s>(
    old: &Shape,
    new: &'s Shape,
    field: &FieldShape,
    heirs: &mut Vec<&'s str>,
    found: &mut Vec<Difference>,
) {
    use Verdict::{Breaks, Migration, Safe};
    let name = &field.name;
    if let Some(holds) = field.holds.as_deref() {
        let renamed = new.fields.iter().find(|one| one.holds.as_deref() == Some(holds));
        found.push(match renamed {
            Some(now) if FOUND_BY.contains(&holds) => {
                let what = format!(
                    "the field `{name}`, which holds the {holds}, is named `{}`",
                    now.name
                );
                Difference::new(Breaks, what, "the engine looks for it under the new name")
                    .remedy("keep the name, or end the loops with the old machine first")
            }
            Some(now) => {
                let what = format!("the field `{name}`, which holds {holds}, is named `{}`", now.name);
                Difference::new(Migration, what, "its value would be lost").suggest(
                    "say so: ",
                    Suggestion::Field {
                        old: name.clone(),
                        new: now.name.clone(),
                    },
                )
            }
            None if holds == "graph-hash" => {
                let what = format!("the field `{name}`, which holds the {holds}, was removed");
                Difference::new(
                    Breaks,
                    what,
                    "versions are told apart no longer: whatever wrote them, they are taken as they are",
                )
                .remedy("keep the field")
            }
            None => {
                let what = format!("the field `{name}` was removed");
                Difference::new(Safe, what, "its line stays in them, and is not read")
            }
        });
        return;
    }
    let alike = |one: &&FieldShape| {
        let same = one.kind == field.kind || one.kind == "text" && field.kind == "path";
        same && one.holds.is_none() && old.field(&one.name).is_none()
    };
    let what = format!("the field `{name}` was removed");
    let mut candidates = new.fields.iter().filter(alike);
    let free = candidates.clone().find(|one| !heirs.contains(&one.name.as_str()));
    found.push(match (free, candidates.next()) {
        (None, None) => Difference::new(Safe, what, "its line stays in them, and is not read"),
        (None, Some(taken)) => {
            let means = format!("if `{}` is its new name, its value is lost", taken.name);
            let remedy = format!("say of which field `{}` is the new name, if of any", taken.name);
            Difference::new(Migration, what, means).remedy(remedy)
        }
        (Some(heir), _) => {
            heirs.push(&heir.name);
            let means = format!(
                "if `{}` is its new name, its value is lost: they would begin at {} again",
                heir.name,
                shown(heir)
            );
            let mut one = Difference::new(Migration, what, means).suggest(
                "say that it is: ",
                Suggestion::Field {
                    old: name.clone(),
                    new: heir.name.clone(),
                },
            );
            one.remedy = format!("{}, or that it is not: `{}`", one.remedy, set(heir).line());
            one
        }
    });
}

fn set(field: &FieldShape) -> Suggestion {
    Suggestion::Set {
        field: field.name.clone(),
        value: shown(field),
    }
}

/// The initial value as machine.toml writes it.
fn shown(field: &FieldShape) -> String {
    let text = field.initial_text();
    if text.is_empty() || text == "null" {
        "\"\"".to_owned()
    } else {
        text
    }
}

/// Edges are read at the next change, so none of them is in the way of a loop on disk.
fn edges(old: &Shape, new: &Shape, names: &BTreeMap<&str, &str>, found: &mut Vec<Difference>) {
    type Groups<'s> = BTreeMap<(&'s str, &'s str), Vec<&'s EdgeShape>>;
    fn group<'s>(edges: &'s [EdgeShape], name: impl Fn(&'s str) -> &'s str) -> Groups<'s> {
        let mut groups: Groups<'s> = BTreeMap::new();
        for edge in edges {
            let key = (edge.transition.as_str(), name(&edge.from));
            groups.entry(key).or_default().push(edge);
        }
        groups
    }
    let renamed = |name| names.get(name).copied().unwrap_or(name);
    let before = group(&old.edges, renamed);
    let after = group(&new.edges, |name| name);
    // The same said of many sources is said once.
    let mut said: BTreeMap<(&str, String, &str), Vec<&str>> = BTreeMap::new();
    for ((transition, from), edges) in &before {
        let Some(now) = after.get(&(*transition, *from)) else {
            // Where the phase went, its edges went with it.
            if new.phase(from).is_some() {
                let key = (
                    *transition,
                    "was removed".to_owned(),
                    "loops in these phases cannot take it",
                );
                said.entry(key).or_default().push(from);
            }
            continue;
        };
        for (what, means) in altered(edges, now, renamed) {
            said.entry((*transition, what, means)).or_default().push(from);
        }
    }
    let stayed: BTreeSet<&str> = names.values().copied().collect();
    for (transition, from) in after.keys() {
        if !before.contains_key(&(*transition, *from)) && stayed.contains(from) {
            let key = (
                *transition,
                "was added".to_owned(),
                "loops in these phases can take it",
            );
            said.entry(key).or_default().push(from);
        }
    }
    for ((transition, what, means), from) in said {
        let what = format!("the transition `{transition}` from {} {what}", some(&from));
        found.push(Difference::new(Verdict::Safe, what, means));
    }
}

/// How the edges of one transition at one phase differ, each with what it means.
fn altered<'s>(
    old: &[&'s EdgeShape],
    new: &[&'s EdgeShape],
    renamed: impl Fn(&'s str) -> &'s str,
) -> Vec<(String, &'static str)> {
    let next = "it holds from their next change on";
    let ([before], [after]) = (old, new) else {
        let same = old.len() == new.len()
            && old.iter().zip(new).all(|(before, after)| {
                let before = EdgeShape {
                    from: after.from.clone(),
                    to: renamed(&before.to).to_owned(),
                    ..(*before).clone()
                };
                before == **after
            });
        let what = "has other alternatives".to_owned();
        return if same { Vec::new() } else { vec![(what, next)] };
    };
    let mut found = Vec::new();
    if renamed(&before.to) != after.to {
        found.push((
            format!("leads to `{}`, no longer to `{}`", after.to, before.to),
            next,
        ));
    }
    if before.when != after.when {
        let text = |when: &Option<String>| {
            when.as_ref()
                .map_or_else(|| "always".to_owned(), |when| format!("when `{when}`"))
        };
        let what = format!("is open {}, no longer {}", text(&after.when), text(&before.when));
        found.push((
            what,
            "it holds from their next change on; where no guard holds a loop waits, and can be cancelled",
        ));
    }
    if before.requires != after.requires {
        let text = |needs: &Option<String>| needs.clone().unwrap_or_else(|| "no".to_owned());
        let what = format!(
            "needs {} evidence, no longer {}",
            text(&after.requires),
            text(&before.requires)
        );
        // `settled` is more than `reviewed`, which is more than none: as the words sort.
        let means = if after.requires < before.requires {
            "they can go on with less than was promised when they began; what the journal shows stays"
        } else {
            next
        };
        found.push((what, means));
    }
    if before.by != after.by {
        let text = |by: &[String]| {
            if by.is_empty() {
                "the hook".to_owned()
            } else {
                by.join(" and ")
            }
        };
        let what = format!("is for {}, no longer for {}", text(&after.by), text(&before.by));
        found.push((what, next));
    }
    if before.args != after.args {
        found.push(("takes other arguments".to_owned(), next));
    }
    if before.set != after.set {
        found.push(("sets other values".to_owned(), next));
    }
    found
}

fn some(names: &[&str]) -> String {
    let mut text: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        text.push(format!("and {} more", names.len() - SHOWN));
    }
    text.join(", ")
}
