//! Where each setting comes from.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::error::place;
use super::parse::Taker;

/// Whose file a value stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
pub enum Whose {
    /// The user's.
    #[display("user")]
    User,
    /// The project's.
    #[display("project")]
    Project,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub enum Origin {
    /// A variable of the environment.
    #[display("environment {_0}")]
    Environment(String),
    /// A configuration file.
    #[display("{whose} {file}:{line}", file = crate::text::shown(file))]
    File {
        /// Whose file it is.
        whose: Whose,
        /// The file.
        file: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The default.
    #[display("default")]
    Default,
    /// The default in the machine's file.
    #[display("default ({_0})")]
    Machine(&'static str),
}

/// The origins of the settings that are not defaults, by key: `rounds.plan`, `reviewers.codex.model`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(BTreeMap<String, Origin>);

impl Origins {
    /// Returns where the value of a key comes from.
    pub fn of(&self, key: &str) -> &Origin {
        self.0.get(key).unwrap_or(&Origin::Default)
    }

    /// Notes where a value comes from, in place of an earlier note.
    pub(super) fn note(&mut self, key: impl Into<String>, origin: Origin) {
        self.0.insert(key.into(), origin);
    }
}

/// A file that values are read from.
pub(super) struct Source<'a> {
    pub(super) whose: Whose,
    pub(super) path: &'a Utf8Path,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// Returns the origin of the value at this byte.
    pub(super) fn origin(&self, offset: usize) -> Origin {
        Origin::File {
            whose: self.whose,
            file: self.path.to_owned(),
            line: place(self.text, offset).0,
        }
    }

    /// Returns the line about something at this byte that is ignored.
    pub(super) fn ignored(&self, offset: usize, what: &str) -> String {
        let (line, _) = place(self.text, offset);
        let path = crate::text::shown(self.path);
        format!("{path}:{line}: ignored {what}")
    }

    /// Returns what takes the values of a table of this file. `prefix` is the table's name with a dot at its end.
    pub(super) fn taker<'a>(&'a self, origins: &'a mut Origins, prefix: &'a str) -> Taker<'a> {
        Taker {
            source: self,
            origins,
            prefix,
        }
    }
}
