//! A loop of the project: its document and its journal.

use std::path::PathBuf;
use std::{fs, io};

use serde_json::Value as Json;

#[derive(Debug, Clone)]
pub(crate) struct Loop {
    pub(crate) id: String,
    pub(crate) document: PathBuf,
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Journal {
    pub(crate) bytes: Vec<u8>,
    pub(crate) changes: Vec<Json>,
    /// Whether a review has ended since the last change.
    pub(crate) is_reviewed: bool,
}

impl Loop {
    pub(crate) fn journal(&self) -> io::Result<Journal> {
        let bytes = fs::read(self.folder.join("journal.jsonl"))?;
        let mut journal = Journal::default();
        for line in bytes.split(|byte| *byte == b'\n') {
            // A seal follows each line's JSON, behind a tab.
            let json = line.split(|byte| *byte == b'\t').next();
            let entry: Json = serde_json::from_slice(json.unwrap_or_default()).unwrap_or_default();
            if entry["what"].is_string() {
                journal.is_reviewed = false;
                journal.changes.push(entry);
            } else if entry["note"] == "run-ended" {
                journal.is_reviewed = true;
            }
        }
        Ok(Journal { bytes, ..journal })
    }
}

impl Journal {
    pub(crate) fn field(&self, name: &str) -> &Json {
        let last = self.changes.last();
        last.map_or(&Json::Null, |last| &last["fields"][name])
    }

    /// Returns the changes since an earlier reading that took an edge, without bindings.
    pub(crate) fn edges_since(&self, before: &Journal) -> Vec<&Json> {
        let is_edge = |change: &&Json| change["what"] != "bind" && change["what"] != "adopt";
        let changes = self.changes.iter().skip(before.changes.len());
        changes.filter(is_edge).collect()
    }
}
