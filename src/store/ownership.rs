//! This user's own record of the loops that were started here. It lies outside every project, so no repository and no archive
//! brings one along: a loop without it is left alone until a person adopts it.
//!
//! One file per loop, `<program>/loops/<sha256 of state folder, machine and id>.json` in the user's state home, mode 0600. It
//! is written and synced before the loop can be seen, and removed with the loop. What it says of folder, machine and id is
//! compared with what is asked for, so a record that was copied or renamed is none.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::id::LoopId;
use super::storage::JOURNAL;
use super::store::Store;
use crate::digest::sha256;
use crate::files::{UntrustedError, if_there, private};

/// Names the folder of the records, in the user's own.
const FOLDER: &str = "loops";
/// Numbers the form of a record.
pub(super) const VERSION: u32 = 1;
/// Limits the record that is read, in bytes.
const LARGEST: u64 = 64 * 1024;

/// Holds what the record of a loop says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ownership {
    version: u32,
    machine: String,
    id: String,
    folder: Utf8PathBuf,
    /// The folder that the loop belongs to: the only one that its journal may name.
    pub(super) root: String,
    at: Timestamp,
    /// The versions of the machine with which programs of this user began or changed the loop.
    pub(super) graphs: Vec<String>,
    /// Whether the user holds the loop: no stop drives it.
    #[serde(default)]
    paused: bool,
}

impl Store {
    /// Returns what this user's record says of a loop; `None` where there is none.
    pub(super) fn ownership(&self, id: &LoopId) -> Result<Option<Ownership>, StoreError> {
        let home = self.home().checked()?;
        let open = || private::existing(home, FOLDER);
        let Some(folder) = if_there(self.records.or_open(open)).map_err(refused("read", home))?
        else {
            return Ok(None);
        };
        let wanted = self.unowned(id);
        let name = wanted.name();
        let path = folder.path().join(&name);
        let Some(bytes) = if_there(folder.read(&name, LARGEST)).map_err(refused("read", &path))?
        else {
            return Ok(None);
        };
        let found: Ownership =
            serde_json::from_slice(&bytes).map_err(|error| refused("read", &path)(error.into()))?;
        let is_it = found.version == VERSION
            && (&found.folder, &found.machine, &found.id)
                == (&wanted.folder, &wanted.machine, &wanted.id);
        Ok(is_it.then_some(found))
    }

    /// Returns whether this user's record knows a loop.
    pub(super) fn is_owned(&self, id: &LoopId) -> bool {
        self.ownership(id).is_ok_and(|found| found.is_some())
    }

    /// Records a loop as this user's, begun or changed by these versions of the machine. Survives a power loss.
    pub(super) fn own(&self, id: &LoopId, graphs: Vec<String>) -> Result<(), StoreError> {
        self.save(&Ownership {
            graphs,
            ..self.unowned(id)
        })
    }

    /// Adds this version of the machine to the record of a loop, before its first change by it.
    pub(super) fn own_version(&self, id: &LoopId) -> Result<(), StoreError> {
        let Some(mut found) = self.ownership(id)? else {
            return Err(self.not_started_here(id));
        };
        let ours = self.spec().graph_hash;
        if found.graphs.iter().any(|graph| graph == ours) {
            return Ok(());
        }
        found.graphs.push(ours.to_owned());
        self.save(&found)
    }

    /// Returns whether the user holds a loop, so that no stop drives it.
    pub fn is_paused(&self, id: &LoopId) -> bool {
        let found = self.ownership(id).ok().flatten();
        found.is_some_and(|found| found.paused)
    }

    /// Holds a loop, or lets it go. Returns whether that changed anything.
    ///
    /// # Errors
    /// Returns an error if the loop was not started here, or the record cannot be written.
    pub fn pause(&self, id: &LoopId, paused: bool) -> Result<bool, StoreError> {
        let found = self.ownership(id)?;
        let Some(mut found) = found else {
            return Err(self.not_started_here(id));
        };
        let is_new = found.paused != paused;
        found.paused = paused;
        if is_new {
            self.save(&found)?;
        }
        Ok(is_new)
    }

    /// Removes the record of a loop that is gone. What cannot be removed names a loop that is not there.
    pub(super) fn disown(&self, id: &LoopId) {
        if let Some(home) = self.home().folder()
            && let Ok(folder) = private::existing(home, FOLDER)
        {
            let _ = folder.remove(&self.unowned(id).name());
        }
    }

    /// Returns whether a loop has a journal: without one nobody can take it up.
    pub fn has_journal(&self, id: &LoopId) -> bool {
        self.open_loop_folder(id)
            .is_ok_and(|folder| folder.has(JOURNAL))
    }

    /// Makes the error of a loop that no record of this user's knows.
    pub(super) fn not_started_here(&self, id: &LoopId) -> StoreError {
        StoreError::NotStartedHere {
            id: id.to_string(),
            folder: self.folder().to_owned(),
        }
    }

    fn save(&self, record: &Ownership) -> Result<(), StoreError> {
        let home = self.home().checked()?;
        let folder = private::make(home, FOLDER).map_err(refused("write", home))?;
        let written = serde_json::to_vec(record)
            .map_err(Into::into)
            .and_then(|bytes| folder.replace(&record.name(), &bytes));
        written.map_err(refused("write", folder.path()))
    }

    /// Makes the record of a loop as a start would write it, without the versions.
    pub(super) fn unowned(&self, id: &LoopId) -> Ownership {
        Ownership {
            version: VERSION,
            machine: self.spec().machine.to_owned(),
            id: id.to_string(),
            folder: self.top().to_owned(),
            root: self.root().to_string(),
            at: Timestamp::now(),
            graphs: Vec::new(),
            paused: false,
        }
    }
}

impl Ownership {
    /// Returns the name of its file.
    fn name(&self) -> String {
        let parts = [self.folder.as_str(), &self.machine, &self.id];
        let hex = sha256(parts.map(|part| format!("{part}\0")).concat());
        format!("{hex}.json")
    }
}

/// Turns an error of the system into ours. One that names what is in the way names it in full.
pub(super) fn refused(doing: &'static str, path: &Utf8Path) -> impl Fn(io::Error) -> StoreError {
    move |error| {
        let (path, why) = match UntrustedError::of(&error) {
            Some(untrusted) => (untrusted.path.clone(), untrusted.why.to_string()),
            None => (path.to_owned(), error.to_string()),
        };
        StoreError::Ownership { doing, path, why }
    }
}
