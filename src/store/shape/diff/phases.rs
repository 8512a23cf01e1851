//! What changes of the state folder and of the phases mean for loops on disk.

use std::collections::BTreeMap;

use super::super::{PhaseShape, Shape};
use super::difference::{Difference, Suggestion, Verdict};

pub(super) fn state(old: &Shape, new: &Shape, found: &mut Vec<Difference>) {
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
        let what = format!(
            "the state folder `{}` is `{}` now",
            before.folder, after.folder
        );
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
    if before.file != after.file {
        let shown = |file: &Option<String>| {
            file.clone()
                .unwrap_or_else(|| "in the state folder".to_owned())
        };
        let what = format!(
            "the documents, `{}`, are `{}` now",
            shown(&before.file),
            shown(&after.file)
        );
        let mut one = Difference::new(Breaks, what, "they are looked for where they are not")
            .remedy("keep the place, or move the documents in every project");
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
            Difference::new(
                Breaks,
                what,
                "their ids are none, so that they are not found",
            )
            .remedy("keep the form of the ids, or end the loops with the old machine first")
        });
    }
}

/// Compares the phases, and returns under which name of the new machine each of the old one goes on.
pub(super) fn phases<'s>(
    old: &'s Shape,
    new: &'s Shape,
    found: &mut Vec<Difference>,
) -> BTreeMap<&'s str, &'s str> {
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
                    Difference::new(
                        Migration,
                        what,
                        "loops in it are in a phase that is not known",
                    )
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
                    Some(other) => {
                        format!("loops in it would be taken for loops in `{}`", other.name)
                    }
                    None if phase.terminal => {
                        "loops that were over in it cannot be opened".to_owned()
                    }
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

/// Returns the phase of the new machine in which loops of a removed one most likely go on: an added one that was not proposed
/// for another, else any, that is over or not over as the removed one was.
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

/// Judges whether a loop that is over stays so, and one that is not, too.
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
