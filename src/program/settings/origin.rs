//! Where each setting comes from.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::findings::line;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub enum Origin {
    /// A variable of the environment.
    #[display("environment {_0}")]
    Environment(String),
    /// The project's file.
    #[display("project {file}:{line}", file = crate::text::shown(file))]
    Project {
        /// The file.
        file: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The user's file.
    #[display("user {file}:{line}", file = crate::text::shown(file))]
    User {
        /// The file.
        file: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// Nobody said anything.
    #[display("default")]
    Default,
    /// Nobody said anything, and the value stands in the machine's file.
    #[display("default ({_0})")]
    Machine(&'static str),
}

/// Where the settings come from that are not defaults, by key: `rounds.plan`, `reviewers.codex.model`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(BTreeMap<String, Origin>);

impl Origins {
    /// Where the value of a key comes from.
    pub fn of(&self, key: &str) -> &Origin {
        self.0.get(key).unwrap_or(&Origin::Default)
    }

    /// Notes where a value comes from; a later note goes before an earlier one.
    pub(super) fn note(&mut self, key: impl Into<String>, origin: Origin) {
        self.0.insert(key.into(), origin);
    }
}

/// One file as the origin of values.
pub(super) struct Source<'a> {
    pub(super) path: &'a Utf8Path,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// The user's file at this byte.
    pub(super) fn user(&self, offset: usize) -> Origin {
        Origin::User {
            file: self.path.to_owned(),
            line: line(self.text, offset),
        }
    }

    /// The project's file at this byte.
    pub(super) fn project(&self, offset: usize) -> Origin {
        Origin::Project {
            file: self.path.to_owned(),
            line: line(self.text, offset),
        }
    }
}
