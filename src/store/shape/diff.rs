//! What the difference of two machines means for loops that are on disk. docs/migrations.md has the table; each of its
//! rows is a test.
//!
//! The question is always the same: a document that the old machine wrote, read by the new one. Its phase must be known
//! and mean the same, each value must be of its field's kind, and the store must find it at all. What only says which way
//! a loop goes on (edges, guards, evidence) is read at the next change, so it holds for loops on disk from then on.

mod edges;
mod fields;
mod phases;

use serde::Serialize;

use super::Shape;
use super::migration::Migrations;

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
            for one in found.iter_mut().filter(|one| one.verdict > Verdict::Migrated) {
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

fn some(names: &[&str]) -> String {
    let mut text: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        text.push(format!("and {} more", names.len() - SHOWN));
    }
    text.join(", ")
}
