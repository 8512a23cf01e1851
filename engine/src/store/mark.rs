//! The mark of a loop in the state home: what a stop has to know of a loop before it opens it.

use std::io;
use std::os::unix::fs::FileExt as _;

use serde::{Deserialize, Serialize};

use super::error::{OrIo as _, StoreError};
use super::id::LoopId;
use super::seal::Sealer;
use super::state_folder::{LOCK, Store};
use crate::files::kill_point::kill_point;

/// The folder of the marks in the state home.
pub(super) const MARKS: &str = "marks";
/// The length of a mark, in bytes, without its line feed.
const MARK_BYTES: usize = 63;

/// The mark of a loop in the state home. A journal that is shorter lost lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Mark {
    /// The length of the journal after its last line, in bytes.
    pub(super) bytes: u64,
    /// Whether the loop is over. A listing of active loops does not open it then.
    pub(super) over: bool,
    /// Whether the user paused the loop: no stop drives it.
    pub(super) paused: bool,
}

impl Sealer {
    /// Returns the mark of a loop, or nothing if it cannot be read.
    pub(super) fn mark(&self, id: &LoopId) -> Mark {
        let read = || {
            let file = self.marks.as_ref()?.file(&self.mark_name(id)).ok()?;
            let mut text = [0; MARK_BYTES];
            file.read_exact_at(&mut text, 0).ok()?;
            serde_json::from_slice(&text).ok()
        };
        read().unwrap_or_default()
    }

    fn mark_name(&self, id: &LoopId) -> String {
        format!("{}-{id}", self.project)
    }

    /// Keeps the mark of a loop, not synced. Written in place, because a new file costs more. Marks
    /// have one length, so that a reader finds the old or the new one.
    pub(super) fn set_mark(&self, id: &LoopId, mark: &Mark) -> io::Result<()> {
        let text = format!("{:<MARK_BYTES$}\n", serde_json::to_string(mark)?);
        let make = || self.home.make_private(MARKS);
        let marks = self.marks.clone().map_or_else(make, Ok)?;
        let file = marks.file_or_new(&self.mark_name(id))?;
        kill_point();
        file.write_all_at(text.as_bytes(), 0)
    }
}

impl Store {
    /// Returns whether the user paused a loop, so that no stop drives it.
    pub fn is_paused(&self, id: &LoopId) -> bool {
        let sealer = self.sealer(id);
        sealer.is_ok_and(|sealer| sealer.mark(id).paused)
    }

    /// Pauses or resumes a loop.
    pub fn set_paused(&self, id: &LoopId, paused: bool) -> Result<(), StoreError> {
        let _lock = self.lock(LOCK)?;
        let sealer = self.sealer(id)?;
        let mark = sealer.mark(id);
        sealer
            .set_mark(id, &Mark { paused, ..mark })
            .or_io("write", self.journal_path(id))
    }
}
