//! A loop of the project: its document and its journal.

use std::path::PathBuf;
use std::{fs, io};

use serde_json::Value as Json;

use crate::project::Output;
use crate::report::{Wrong, ensure};

/// A loop of the project.
#[derive(Debug, Clone)]
pub(crate) struct Loop {
    pub(crate) id: String,
    /// The path of its document.
    pub(crate) document: PathBuf,
    /// The folder of its journal.
    pub(crate) folder: PathBuf,
}

/// A journal as it was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal {
    pub(crate) bytes: Vec<u8>,
    pub(crate) changes: Vec<Json>,
    /// Whether a review has ended since the last change.
    pub(crate) is_reviewed: bool,
}

impl Journal {
    /// Returns a field after the last change.
    pub(crate) fn field(&self, name: &str) -> &Json {
        let last = self.changes.last();
        last.map_or(&Json::Null, |last| &last["fields"][name])
    }

    /// Returns the changes behind the first `skip` that took an edge. Binding a session takes none.
    pub(crate) fn edges(&self, skip: usize) -> Vec<&Json> {
        let changes = self.changes.iter().skip(skip);
        changes
            .filter(|change| change["what"] != "bind" && change["what"] != "adopt")
            .collect()
    }
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

    /// Makes a call and checks that document and changes stay as they were. The journal may have a note about the attempt.
    pub(crate) fn unchanged(
        &self,
        call: impl FnOnce() -> io::Result<Output>,
    ) -> Result<Output, Wrong> {
        let document = fs::read(&self.document)?;
        let before = self.journal()?;
        let output = call()?;
        let after = self.journal()?;
        let is_same =
            after.bytes.starts_with(&before.bytes) && after.changes.len() == before.changes.len();
        ensure!(is_same, "the journal has changed: {output}");
        let is_same = fs::read(&self.document)? == document;
        ensure!(is_same, "the document has changed: {output}");
        Ok(output)
    }
}
