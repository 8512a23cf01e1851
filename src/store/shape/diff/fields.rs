//! What changes of the fields mean for loops on disk: a value must be of its field's kind, and a name must be found.

use super::super::{FieldShape, Shape};
use super::difference::{Difference, FOUND_BY, Suggestion, Verdict};

pub(super) fn fields(old: &Shape, new: &Shape, found: &mut Vec<Difference>) {
    let mut heirs = Vec::new();
    for field in &old.fields {
        match new.field(&field.name) {
            Some(now) => changed(field, now, found),
            None => removed(old, new, field, &mut heirs, found),
        }
    }
    for field in new
        .fields
        .iter()
        .filter(|field| old.field(&field.name).is_none())
    {
        let name = &field.name;
        let what = format!("the field `{name}` was added");
        match field.holds.as_deref() {
            None => {
                let means = format!("loops on disk read its initial value, {}", shown(field));
                found.push(Difference::new(Verdict::Safe, what, means));
            }
            // Renamed, which its removal has said.
            Some(holds)
                if old
                    .fields
                    .iter()
                    .any(|one| one.holds.as_deref() == Some(holds)) => {}
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

/// Returns whether every value of one kind is one of another, and means the same.
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
        let what = format!(
            "the field `{name}` is {}, no longer {}",
            keeps(now),
            keeps(field)
        );
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
        let what = format!(
            "the field `{name}` is `{}`, no longer `{}`",
            now.kind, field.kind
        );
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
    if field.null != now.null {
        let what = format!("the field `{name}` is null for another value");
        let means = "a document is read as the version that wrote it says, and written anew by its next change";
        found.push(Difference::new(Safe, what, means));
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
        found.push(Difference::new(
            Verdict::Safe,
            what,
            "`next` follows the new one",
        ));
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
        let renamed = new
            .fields
            .iter()
            .find(|one| one.holds.as_deref() == Some(holds));
        found.push(match renamed {
            Some(now) if FOUND_BY.contains(&holds) => {
                let what = format!("the field `{name}`, which holds the {holds}, is named `{}`", now.name);
                Difference::new(Breaks, what, "the engine looks for it under the new name")
                    .remedy("keep the name, or end the loops with the old machine first")
            }
            Some(now) => {
                let what = format!("the field `{name}`, which holds {holds}, is named `{}`", now.name);
                Difference::new(Migration, what, "its value would be lost")
                    .suggest("say so: ", Suggestion::Field { old: name.clone(), new: now.name.clone() })
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
    let free = candidates
        .clone()
        .find(|one| !heirs.contains(&one.name.as_str()));
    found.push(match (free, candidates.next()) {
        (None, None) => Difference::new(Safe, what, "its line stays in them, and is not read"),
        (None, Some(taken)) => {
            let means = format!("if `{}` is its new name, its value is lost", taken.name);
            let remedy = format!(
                "say of which field `{}` is the new name, if of any",
                taken.name
            );
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

/// Returns the initial value as machine.toml writes it.
fn shown(field: &FieldShape) -> String {
    let text = field.initial_text();
    if text.is_empty() || text == "null" {
        "\"\"".to_owned()
    } else {
        text
    }
}
