//! One difference of two machines, and what it means for loops on disk.

use serde::Serialize;

/// The engine cannot say what a loop is without these.
pub(super) const FOUND_BY: [&str; 7] = [
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

/// Says what a difference means for loops on disk. The later, the worse.
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

/// Holds a line of a `[[migrations]]` entry.
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
    /// Returns it as machine.toml writes it.
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
    pub(super) fn new(verdict: Verdict, what: String, means: impl Into<String>) -> Self {
        Self {
            verdict,
            what,
            means: means.into(),
            remedy: String::new(),
            suggestion: None,
            place: false,
        }
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    pub(super) fn suggest(mut self, why: &str, suggestion: Suggestion) -> Self {
        self.remedy = format!("{why}`{}`", suggestion.line());
        self.suggestion = Some(suggestion);
        self
    }
}

/// Lists names, the first few of them.
pub(super) fn some(names: &[&str]) -> String {
    let mut text: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > SHOWN {
        text.push(format!("and {} more", names.len() - SHOWN));
    }
    text.join(", ")
}
