//! The random id of a state folder, and the records about it in this user's state home: its path, and the end of each journal.
//!
//! ```text
//! <state folder>/project       the id
//! <home>/key                   see `state_home`
//! <home>/projects/<id>         the path of the state folder when it was last used
//! <home>/by-path/<sha256>      the id of the state folder that was last used at a path, and which hooks said that it is gone
//! <home>/marks/<id>-<loop>     how long the loop's journal was after the last line, and whether the user paused the loop
//! ```

use std::io;
use std::os::unix::fs::FileExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::id::LoopId;
use super::state_home::StateHome;
use crate::digest::{random_hex, sha256};
use crate::files::{Folder, if_there, make_private, open_private};

const FILE: &str = "project";
const PROJECTS: &str = "projects";
const BY_PATH: &str = "by-path";
const MARKS: &str = "marks";
/// The length of a mark, in bytes, without its line feed.
const MARK_BYTES: usize = 63;
/// The most bytes of an id's file.
const MAX_BYTES: u64 = 1024;

/// The id of a state folder: 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Project(String);

/// The mark of a loop in the state home. A journal that is shorter lost lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Mark {
    /// The length of the journal after its last line, in bytes.
    pub(super) bytes: u64,
    /// Whether the user paused the loop: no stop drives it.
    pub(super) paused: bool,
}

impl Project {
    pub(super) fn read(folder: &Folder) -> io::Result<Option<Self>> {
        let bytes = if_there(folder.read(FILE, MAX_BYTES))?.unwrap_or_default();
        let id = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(is_id.then_some(Self(id)))
    }

    pub(super) fn make(folder: &Folder) -> io::Result<Self> {
        let id = random_hex::<16>()?;
        folder.replace(FILE, format!("{id}\n").as_bytes())?;
        Ok(Self(id))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the state folder that the one at `path` is a copy of, if it is one. If it was moved, keeps its new path.
    pub(super) fn find_original(&self, home: &StateHome, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let before = home.read_kept(PROJECTS, &self.0).map(Utf8PathBuf::from);
        if before.as_deref() == Some(path) {
            return None;
        }
        let has_id = |folder: &Utf8PathBuf| {
            let project = Folder::open(folder).and_then(|folder| Self::read(&folder));
            project.is_ok_and(|project| project.as_ref() == Some(self))
        };
        let original = before.filter(has_id);
        if original.is_none() {
            // Failing to keep it fails nothing: it is compared again at the next use.
            let _ = self.keep(home, path);
        }
        original
    }

    /// Keeps the path of a state folder.
    pub(super) fn keep(&self, home: &StateHome, path: &Utf8Path) -> io::Result<()> {
        home.keep(PROJECTS, &self.0, path.as_str())?;
        home.keep(BY_PATH, &sha256(path.as_str()), &self.0)
    }

    /// Returns the record of a loop, or nothing if it cannot be read.
    pub(super) fn mark(&self, home: &StateHome, id: &LoopId) -> Mark {
        let text = home.read_kept(MARKS, &self.mark_name(id));
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Keeps the record of a loop. Not synced. Written in place, since a new file costs more than all else of a commit but
    /// its sync. Marks have one length, so that a reader finds the old or the new one.
    pub(super) fn set_mark(&self, home: &StateHome, id: &LoopId, mark: &Mark) -> io::Result<()> {
        let text = format!("{:<MARK_BYTES$}\n", serde_json::to_string(mark)?);
        let home = home.folder().ok_or(io::ErrorKind::NotFound)?;
        let folder = open_private(home, MARKS).or_else(|_| make_private(home, MARKS))?;
        let file = folder.file_or_new(&self.mark_name(id))?;
        file.write_all_at(text.as_bytes(), 0)
    }

    fn mark_name(&self, id: &LoopId) -> String {
        format!("{}-{id}", self.0)
    }
}

/// Returns whether a state folder was last used at a path and is not there now.
pub(super) fn has_vanished(home: &StateHome, path: &Utf8Path) -> bool {
    let Some(text) = home.read_kept(BY_PATH, &sha256(path.as_str())) else {
        return false;
    };
    let id = text.lines().next().unwrap_or_default();
    // A folder that moved is used at its new path.
    path.try_exists().is_ok_and(|there| !there)
        && home
            .read_kept(PROJECTS, id)
            .is_some_and(|last| last == path.as_str())
}

/// Records that `by` named a state folder that vanished. Returns whether it did so for the first time since the folder was used.
pub(super) fn note_vanished(home: &StateHome, path: &Utf8Path, by: &str) -> bool {
    let name = sha256(path.as_str());
    let text = home.read_kept(BY_PATH, &name).unwrap_or_default();
    if text.lines().skip(1).any(|line| line == by) {
        return false;
    }
    // One that cannot be noted is named again.
    let _ = home.keep(BY_PATH, &name, &format!("{text}\n{by}"));
    true
}
