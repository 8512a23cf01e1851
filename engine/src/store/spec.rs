//! The description of a machine's documents: their place, their form, and the fields that the engine keeps.
//!
//! A `StateSpec` is a constant that the generator writes from `machine.toml`. This file knows no phase by name.

use std::io;

use serde_json::Value as Json;

use super::document::{Document, Style};
use super::value::FieldValue as _;

/// The place and form of one machine's documents.
#[derive(Debug, Clone, Copy)]
pub struct StateSpec {
    /// The machine's name, as it is in the documents.
    pub machine: &'static str,
    /// The program that drives it: its own folder in the user's state home has this name, and messages call it by it.
    pub program: &'static str,
    /// The version of the machine.
    pub graph_hash: &'static str,
    /// The state folder, relative to the project's root.
    pub folder: &'static str,
    /// The environment variable that overrides `folder`. Reading it is the caller's part.
    pub folder_env: Option<&'static str>,
    /// The path of a document that is the user's own, relative to the project's root, with `{id}` for the loop's id. `None`: the
    /// documents are in the state folder.
    pub file: Option<&'static str>,
    /// The extension of a state file in the folder, without the dot.
    pub extension: &'static str,
    /// The form of the documents.
    pub form: Form,
    /// The form of an id.
    pub ids: IdForm,
    /// The number of loops that may be under way in one project.
    pub active: Active,
    /// The fields with a role.
    pub fields: HeldFields,
    /// Machine-owned: every field that a guard reads or an edge sets.
    pub owned: &'static [&'static str],
    /// The edits of the document by hand that are taken over and journaled.
    pub edits: &'static [(&'static str, Editable)],
    /// Fields with the value, as plain text, that their document has as null.
    pub nulls: &'static [(&'static str, &'static str)],
    /// The fields that a document of lines always writes in quotes, because they hold text of people.
    pub quoted: &'static [&'static str],
    /// Stored forms of the terminal phases.
    pub terminal: &'static [&'static str],
}

/// The form in which a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One `key: value` a line, valid YAML.
    Lines,
    /// One JSON object.
    Json,
    /// Markdown below YAML, with the fields that stand below other keys, each with its path: `("phase", "loop.phase")`.
    Frontmatter(&'static [(&'static str, &'static str)]),
}

impl Form {
    /// Reads a document.
    pub fn parse(self, bytes: &[u8]) -> io::Result<Document> {
        let style = Style {
            form: self,
            nulls: &[],
            quoted: &[],
        };
        Document::parse(style, bytes)
    }
}

/// The values that an edit by hand may give a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Editable {
    /// A count from the first to the second.
    Count(u64, u64),
    /// True or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl Editable {
    fn takes(self, value: &Json) -> bool {
        match self {
            Self::Count(least, most) => value
                .as_count()
                .is_some_and(|count| (least..=most).contains(&count)),
            Self::Flag => value.as_flag().is_some(),
            Self::Word(words) => words.contains(&&*value.to_plain()),
        }
    }
}

/// The number of loops that may be under way in one project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Active {
    /// One.
    One,
    /// One of each session. One that belongs to no session yet may become any session's.
    Session,
    /// Any number.
    Many,
}

/// The form of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdForm {
    /// `YYYYMMDD-HHMMSS-xxxxxx`, the time in UTC and six lowercase hexadecimal digits.
    Stamp,
    /// 1 to 64 of `A-Z a-z 0-9 _ -`, chosen by the caller.
    Name,
}

/// The names of the fields that the engine keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldFields {
    /// The phase.
    pub phase: &'static str,
    /// The loop's id.
    pub id: &'static str,
    /// The number of changes in the journal.
    pub revision: &'static str,
    /// The machine's name.
    pub machine: &'static str,
    /// The session that owns the loop, or `unknown`.
    pub session: &'static str,
    /// Absolute path of the folder that the loop belongs to.
    pub root: &'static str,
    /// The mode that the loop was started in.
    pub mode: Option<&'static str>,
    /// The time of the start, ISO 8601 in UTC.
    pub started: Option<&'static str>,
    /// The time of the start, in seconds since 1970.
    pub started_epoch: Option<&'static str>,
    /// The time of the last change, ISO 8601 in UTC.
    pub updated: Option<&'static str>,
    /// The version of the machine that wrote the document.
    pub graph_hash: Option<&'static str>,
    /// The change with which the visit of the phase began, by its revision.
    pub visit: Option<&'static str>,
    /// The number of the findings file of the last review that a change rests on.
    pub findings: Option<&'static str>,
    /// The last run of the visit that a change rests on.
    pub run: Option<&'static str>,
}

impl StateSpec {
    /// Reads a document.
    pub fn parse(&self, bytes: &[u8]) -> io::Result<Document> {
        Document::parse(self.style(), bytes)
    }

    /// Makes a document without fields.
    pub fn empty(&self) -> Document {
        Document::empty(self.style())
    }

    fn style(&self) -> Style {
        Style {
            form: self.form,
            nulls: self.nulls,
            quoted: self.quoted,
        }
    }

    /// Returns whether a stored phase is terminal.
    pub fn is_terminal(&self, phase: &str) -> bool {
        self.terminal.contains(&phase)
    }

    /// Returns whether `field` identifies a document: only the store writes it, regardless of the caller.
    pub(super) fn is_structural(&self, field: &str) -> bool {
        let names = &self.fields;
        let structural = [
            names.phase,
            names.id,
            names.revision,
            names.machine,
            names.root,
        ];
        structural.contains(&field) || names.graph_hash == Some(field)
    }

    /// Returns whether an edit by hand may make this of `field`.
    pub(super) fn takes_edit(&self, field: &str, value: &Json) -> bool {
        let mut edits = self.edits.iter();
        edits.any(|(name, editable)| *name == field && editable.takes(value))
    }

    /// Returns whether only the machine writes `field`. The time of the last change is not such a field: nothing is decided by
    /// it.
    pub(super) fn is_protected(&self, field: &str) -> bool {
        let names = &self.fields;
        let held = [
            Some(names.session),
            names.mode,
            names.started,
            names.started_epoch,
            names.visit,
            names.findings,
            names.run,
        ];
        self.is_structural(field)
            || held.contains(&Some(field))
            || self.owned.contains(&field)
            || self.edits.iter().any(|(name, _)| *name == field)
    }
}
