//! The generated description of the documents of a machine: their place, form and fields.

use std::io;

use super::document::Document;
use super::field::FieldInfo;

/// The place, the form and the fields of one machine's documents.
#[derive(Debug, Clone, Copy)]
pub struct StateSpec {
    /// The machine's name, as it is in the documents.
    pub machine: &'static str,
    /// The name of its program, in messages and of its folder in the user's state home.
    pub program: &'static str,
    /// The version of the machine.
    pub graph_hash: &'static str,
    /// The state folder, relative to the project's root.
    pub folder: &'static str,
    /// The environment variable that overrides `folder`. Reading it is the caller's part.
    pub folder_env: Option<&'static str>,
    /// The user's own document below the root, with `{id}`, or `None` if it is in the state folder.
    pub file: Option<&'static str>,
    /// The extension of a state file in the folder, without the dot.
    pub extension: &'static str,
    /// The form of the documents.
    pub form: Form,
    /// The form of an id.
    pub ids: IdForm,
    /// The number of active loops in one project.
    pub active: Active,
    /// The names of the fields with a role.
    pub fields: EngineFields,
    /// All fields.
    pub declared: &'static [FieldInfo],
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
    /// Markdown below YAML.
    Frontmatter,
}

/// The number of active loops in one project.
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
pub struct EngineFields {
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
        Document::parse(self.form, self.declared, bytes)
    }

    /// Returns the field of a name.
    pub fn field(&self, name: &str) -> Option<&'static FieldInfo> {
        self.declared.iter().find(|field| field.name == name)
    }

    /// Returns whether a phase is terminal. An unknown one is not.
    pub fn is_terminal(&self, phase: Option<&str>) -> bool {
        phase.is_some_and(|phase| self.terminal.contains(&phase))
    }

    /// Returns whether `field` identifies a document, so that only the store writes it.
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

    /// Returns whether only the machine writes a field. The time of a change decides nothing.
    pub(super) fn is_protected(&self, name: &str) -> bool {
        let is_owned =
            |field: &FieldInfo| field.is_engine_field() || field.owned || field.edit.is_some();
        self.fields.updated != Some(name) && self.field(name).is_some_and(is_owned)
    }
}
