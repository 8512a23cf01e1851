//! Whether the `[[migrations]]` lead somewhere: each entry's new names through all later entries to this machine.
//!
//! The versions that they come from are not known here; what an entry leaves out is found by `machine diff` and, for a
//! loop on disk, by the engine.

use std::collections::{HashMap, HashSet};

use super::types::{constant, held};
use super::{ENOUGH, Index};
use crate::diagnostic::{Diagnostic, suggest};
use crate::model::{At, Constant, Field, FieldKind, Held, Migration};

const CODE: &str = "claudex::machine::migration";

pub(super) fn migrations(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    let machine = index.machine;
    let entries = &machine.migrations;
    let Some(first) = entries.first() else { return };
    if machine.holder(Held::GraphHash).is_none() {
        let message = "there are migrations, and no field says which version wrote a loop";
        let one = Diagnostic::new(CODE, first.span.clone(), message);
        found.push(one.help("add `graph_hash = { holds = \"graph-hash\" }` to [fields]"));
    }
    versions(index, found);
    let maps: Vec<Maps<'_>> = entries.iter().map(Maps::of).collect();
    for (at, entry) in entries.iter().enumerate() {
        if found.len() > ENOUGH {
            return;
        }
        let later = &maps[at + 1..];
        if entry.phases.is_empty()
            && entry.fields.is_empty()
            && entry.words.is_empty()
            && entry.set.is_empty()
        {
            let one = Diagnostic::new(CODE, entry.span.clone(), "the migration does nothing");
            found.push(
                one.help("give `phases`, `fields`, `words` or `set`; what is safe needs no entry"),
            );
        }
        phases(index, entry, later, found);
        fields(index, entry, later, found);
        for (field, pairs) in &entry.words {
            words(index, field, pairs, later, found);
        }
        for (name, value) in &entry.set {
            set(index, name, value, later, found);
        }
    }
}

/// What an entry renames, to be looked up: a file may hold a great many names.
struct Maps<'m> {
    phases: HashMap<&'m str, &'m str>,
    fields: HashMap<&'m str, &'m str>,
    words: HashMap<&'m str, HashMap<&'m str, &'m str>>,
}

impl<'m> Maps<'m> {
    fn of(entry: &'m Migration) -> Self {
        Self {
            phases: map(&entry.phases),
            fields: map(&entry.fields),
            words: entry
                .words
                .iter()
                .map(|(field, pairs)| (field.value.as_str(), map(pairs)))
                .collect(),
        }
    }
}

fn map(pairs: &[(At<String>, At<String>)]) -> HashMap<&str, &str> {
    pairs
        .iter()
        .map(|(old, new)| (old.value.as_str(), new.value.as_str()))
        .collect()
}

/// Each version is taken by one entry, and never the present one.
fn versions(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    let own = crate::graph_hash(index.machine);
    let mut taken: HashMap<&str, &At<String>> = HashMap::new();
    for hash in index
        .machine
        .migrations
        .iter()
        .flat_map(|entry| &entry.from)
    {
        if hash.value == own {
            let message = format!("`{own}` is this machine itself");
            let one = Diagnostic::new(CODE, hash.span.clone(), message);
            found.push(one.help("name the version that the loops on disk were written by"));
        }
        if let Some(first) = taken.insert(&hash.value, hash) {
            let message = format!("`{}` is migrated twice", hash.value);
            let one = Diagnostic::new(CODE, hash.span.clone(), message);
            let one = one.related(first.span.clone(), "the first");
            found.push(
                one.help(
                    "a loop goes through the entry of its version and all that follow: put both into one",
                ),
            );
        }
    }
}

fn phases(index: &Index<'_>, entry: &Migration, later: &[Maps<'_>], found: &mut Vec<Diagnostic>) {
    for (_, new) in &entry.phases {
        let end = follow(&new.value, later.iter().map(|entry| &entry.phases));
        if index.phases.contains_key(end) {
            continue;
        }
        let known = index
            .machine
            .phases
            .iter()
            .map(|phase| phase.name.value.as_str());
        let help = suggest(end, known);
        found.push(nowhere(
            "phase",
            new,
            end,
            help,
            "map it to a phase of this machine",
        ));
    }
}

fn fields(index: &Index<'_>, entry: &Migration, later: &[Maps<'_>], found: &mut Vec<Diagnostic>) {
    let mut targets: HashMap<&str, &At<String>> = HashMap::new();
    for (_, new) in &entry.fields {
        if let Some(field) = target(index, new, later, found)
            && let FieldKind::Held(kept) = &field.kind
            && (kept.is_required() || *kept == Held::GraphHash)
        {
            found.push(held(field, new.span.clone()));
        }
        if let Some(first) = targets.insert(&new.value, new) {
            let message = format!("two fields become `{}`", new.value);
            let one = Diagnostic::new(CODE, new.span.clone(), message);
            let one = one.related(first.span.clone(), "the first");
            found.push(one.help("only one value can be kept: leave one of them out"));
        }
    }
    for (name, _) in &entry.set {
        if let Some(renamed) = targets.get(name.value.as_str()) {
            let message = format!(
                "`{}` gets the value of another field, and is set",
                name.value
            );
            let one = Diagnostic::new(CODE, name.span.clone(), message);
            let one = one.related(renamed.span.clone(), "its value comes from here");
            found.push(one.help("leave one of them out"));
        }
    }
}

/// The field of this machine that a name of an entry ends as.
fn target<'m>(
    index: &Index<'m>,
    name: &At<String>,
    later: &[Maps<'_>],
    found: &mut Vec<Diagnostic>,
) -> Option<&'m Field> {
    let end = follow(&name.value, later.iter().map(|entry| &entry.fields));
    let field = index.fields.get(end).copied();
    if field.is_none() {
        let known = index
            .machine
            .fields
            .iter()
            .map(|field| field.name.value.as_str());
        let help = suggest(end, known);
        let instead = "leave it out: what is no field of this machine is not read";
        found.push(nowhere("field", name, end, help, instead));
    }
    field
}

fn words(
    index: &Index<'_>,
    name: &At<String>,
    pairs: &[(At<String>, At<String>)],
    later: &[Maps<'_>],
    found: &mut Vec<Diagnostic>,
) {
    let Some(field) = target(index, name, later, found) else {
        return;
    };
    let FieldKind::OneOf(known) = &field.kind else {
        let message = format!("`{}` has no words", field.name.value);
        let one = Diagnostic::new(CODE, name.span.clone(), message);
        found.push(
            one.help("`words` is for a field of `one_of`; give another one its value by `set`"),
        );
        return;
    };
    let known: HashSet<&str> = known.iter().map(|word| word.value.as_str()).collect();
    for (_, new) in pairs {
        let end = follow_word(&name.value, &new.value, later);
        if !known.contains(end) {
            let mut sorted: Vec<&str> = known.iter().copied().collect();
            sorted.sort_unstable();
            let help = suggest(end, sorted.into_iter());
            found.push(nowhere(
                "word",
                new,
                end,
                help,
                "map it to a word of the field",
            ));
        }
    }
}

fn set(
    index: &Index<'_>,
    name: &At<String>,
    value: &At<Constant>,
    later: &[Maps<'_>],
    found: &mut Vec<Diagnostic>,
) {
    let Some(field) = target(index, name, later, found) else {
        return;
    };
    let end = match &value.value {
        Constant::Text(word) if matches!(field.kind, FieldKind::OneOf(_)) => {
            Constant::Text(follow_word(&name.value, word, later).to_owned())
        }
        other => other.clone(),
    };
    constant(field, &At::new(end, value.span.clone()), found);
}

/// What a name becomes through the maps of later entries.
fn follow<'n, 'm: 'n>(
    name: &'n str,
    later: impl Iterator<Item = &'n HashMap<&'m str, &'m str>>,
) -> &'n str {
    later.fold(name, |name, map| map.get(name).copied().unwrap_or(name))
}

/// What a word of a field becomes through later entries, which may rename the field as well.
fn follow_word<'n>(field: &'n str, word: &'n str, later: &'n [Maps<'_>]) -> &'n str {
    let (mut field, mut word) = (field, word);
    for maps in later {
        field = maps.fields.get(field).copied().unwrap_or(field);
        word = maps
            .words
            .get(field)
            .and_then(|words| words.get(word))
            .copied()
            .unwrap_or(word);
    }
    word
}

fn nowhere(
    what: &str,
    name: &At<String>,
    end: &str,
    help: Option<String>,
    instead: &str,
) -> Diagnostic {
    let message = if name.value == end {
        format!("no {what} is named `{end}`, and no later migration renames it")
    } else {
        format!(
            "`{}` becomes `{end}`, and no {what} is named so",
            name.value
        )
    };
    Diagnostic::new(CODE, name.span.clone(), message)
        .help(help.unwrap_or_else(|| instead.to_owned()))
}
