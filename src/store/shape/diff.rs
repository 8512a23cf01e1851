//! What the difference of two machines means for loops that are on disk. docs/migrations.md has the table; each of its
//! rows is a test.
//!
//! The question is always the same: a document that the old machine wrote, read by the new one. Its phase must be known
//! and mean the same, each value must be of its field's kind, and the store must find it at all. What only says which way
//! a loop goes on (edges, guards, evidence) is read at the next change, so it holds for loops on disk from then on.

mod difference;
mod edges;
mod fields;
mod phases;

pub use self::difference::{Difference, Suggestion, Verdict};
use super::Shape;
use super::migration::Migrations;

/// Returns every difference of two machines, by what it means for loops that the old one wrote.
pub fn diff(old: &Shape, new: &Shape) -> Vec<Difference> {
    let mut found = Vec::new();
    phases::state(old, new, &mut found);
    let names = phases::phases(old, new, &mut found);
    fields::fields(old, new, &mut found);
    edges::edges(old, new, &names, &mut found);
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
            for one in found
                .iter_mut()
                .filter(|one| one.verdict > Verdict::Migrated)
            {
                if !left
                    .iter()
                    .any(|still| still.what == one.what && still.verdict >= one.verdict)
                {
                    one.verdict = Verdict::Migrated;
                    "an entry of `[[migrations]]` says how loops go on".clone_into(&mut one.means);
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
