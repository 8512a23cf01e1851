//! This user's own record of the loops that were started here. It lies outside every project, so no repository and no archive
//! brings one along: a loop without it is left alone until a person adopts it.
//!
//! One file per loop, `claudex-loop/loops/<sha256 of state folder, machine and id>.json` in the user's state home, mode 0600. It
//! is written and synced before the loop can be seen, and removed with the loop. What it says of folder, machine and id is
//! compared with what is asked for, so a record that was copied or renamed is none.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::chain;
use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::inspect::State;
use super::journal::{self, Change, Loaded};
use super::recover::{hash_of, other_machine, value_in};
use super::repair::{Older, heal_as};
use super::store::Store;
use super::versions::Versions;
use crate::files::{UntrustedError, if_there, private};

/// Names the folder of the records, in the user's own.
const FOLDER: &str = "loops";
/// Names the change by which a person takes a loop up.
pub(super) const ADOPT: &str = "adopt";
/// Numbers the form of a record.
const VERSION: u32 = 1;
/// Limits the record that is read, in bytes.
const LARGEST: u64 = 64 * 1024;

/// Holds the folder of this user's own state, outside every project: `XDG_STATE_HOME` where it is absolute, else `.local/state` in
/// an absolute `HOME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateHome(Result<Utf8PathBuf, String>);

impl StateHome {
    /// Takes a folder as it is.
    pub fn at(folder: impl Into<Utf8PathBuf>) -> Self {
        Self(Ok(folder.into()))
    }

    /// Reads the environment of this process.
    pub fn of_user() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads variables. A relative one is not used: it would lead into whatever project the program runs in.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let absolute = |name: &str| {
            variable(name)
                .map(Utf8PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let found =
            absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        Self(found.ok_or_else(|| {
            let fault = |name: &str| match variable(name) {
                Some(path) if !path.is_empty() => format!("{name} is relative"),
                _ => format!("{name} is not set"),
            };
            format!("{} and {}", fault("HOME"), fault("XDG_STATE_HOME"))
        }))
    }

    /// Returns the folder, or `None` where no variable names one.
    pub fn folder(&self) -> Option<&Utf8Path> {
        self.0.as_deref().ok()
    }

    /// Returns the folder.
    ///
    /// # Errors
    /// No variable names one.
    pub fn checked(&self) -> Result<&Utf8Path, StoreError> {
        let home = self.0.as_deref();
        home.map_err(|why| StoreError::NoStateHome { why: why.clone() })
    }

    /// Tries whether this user's own folder in it can be used, and gives whether it is there. Nothing is left or changed.
    ///
    /// # Errors
    /// It is another user's, open to others or reached through a symlink (see [`UntrustedError`]), or cannot be written.
    pub fn try_out(folder: &Utf8Path) -> io::Result<bool> {
        private::try_out(folder)
    }
}

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
}

impl Store {
    /// Returns what this user's record says of a loop; `None` where there is none.
    pub(super) fn ownership(&self, id: &LoopId) -> Result<Option<Ownership>, StoreError> {
        let home = self.home().checked()?;
        let Some(folder) = private::existing(home, FOLDER).map_err(refused("read", home))? else {
            return Ok(None);
        };
        let wanted = self.unowned(id);
        let path = folder.path().join(wanted.name());
        let Some(bytes) = if_there(folder.read(&wanted.name(), LARGEST)).map_err(refused("read", &path))?
        else {
            return Ok(None);
        };
        let found: Ownership =
            serde_json::from_slice(&bytes).map_err(|error| refused("read", &path)(error.into()))?;
        let is_it = found.version == VERSION && found.name() == wanted.name();
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

    /// Removes the record of a loop that is gone. What cannot be removed names a loop that is not there.
    pub(super) fn disown(&self, id: &LoopId) {
        if let Some(home) = self.home().folder()
            && let Ok(Some(folder)) = private::existing(home, FOLDER)
        {
            let _ = folder.remove(&self.unowned(id).name());
        }
    }

    /// Takes up a loop that no record knows, as a person decides: one that was copied or moved here, or that an earlier
    /// version of the program began. It belongs to the project that it lies in from then on, and its journal says so.
    /// Returns `false` where the record knew it already.
    ///
    /// # Errors
    /// [`StoreError::Active`] while another loop of the project is not over, [`StoreError::NoJournal`] where nothing tells
    /// what happened to it, and what keeps it from being opened; then no record is left.
    pub fn take_up(&self, id: &LoopId, by: &str) -> Result<bool, StoreError> {
        self.some_loop(id)?;
        self.locked(|lock| {
            let (trust, versions) = (self.trust(), Versions::default());
            trust.untracked(&self.path_of(id))?;
            trust.untracked(&self.journal_path(id))?;
            // A record that cannot be read is written anew.
            let known = self.ownership(id).unwrap_or_default();
            let folder = if_there(lock.folder().below(id.as_str()));
            let loaded = match folder.map_err(io_error("open", &self.loop_folder(id)))? {
                Some(folder) => Loaded::read(&folder, &chain::possible(self, known.as_ref(), &versions))?,
                None => None,
            };
            let spec = self.spec();
            let text = |fields, name| value_in(fields, name).map(|value| value.to_plain().into_owned());
            let root = loaded
                .iter()
                .flat_map(Loaded::changes)
                .next()
                .and_then(|last| text(&last.fields, spec.fields.root));
            let (Some(loaded), Some(root)) = (loaded, root) else {
                return Err(StoreError::NoJournal {
                    path: self.path_of(id),
                });
            };
            if known.as_ref().is_some_and(|known| known.root == root) {
                return Ok(false);
            }
            if let Some(active) = self
                .list()
                .into_iter()
                .find(|one| one.id != *id && one.ours && !one.terminal && self.is_for(one.root.as_deref()))
            {
                return Err(StoreError::Active {
                    id: active.id.to_string(),
                    phase: active.phase.unwrap_or_default(),
                    folder: self.folder().to_owned(),
                });
            }
            let graphs = known.map_or_else(
                || {
                    let mut graphs: Vec<String> = loaded
                        .changes()
                        .filter_map(|change| hash_of(spec, change))
                        .collect();
                    graphs.sort();
                    graphs.dedup();
                    graphs
                },
                |known| known.graphs,
            );
            let as_it_was = Ownership {
                root,
                graphs: graphs.clone(),
                ..self.unowned(id)
            };
            let found = heal_as(self, lock, id, Older::Leave, Some(as_it_was))?.record;
            self.own(id, graphs)?;
            let taken = self.apply_at(lock, found, Change::bare(ADOPT, by), Some(self.root()));
            if taken.is_err() {
                self.disown(id);
            }
            taken.map(|_| true)
        })
    }

    /// Says why a loop without a record is not driven: it is no loop of this machine, or nobody started it here.
    pub(super) fn why_not_ours(&self, id: &LoopId, state: &State) -> StoreError {
        let path = self.path_of(id);
        let machine = match state {
            State::Read(document, _) => Some(document.get(self.spec().fields.machine)),
            State::Missing | State::Unreadable(..) => None,
        };
        match machine {
            Some(None) => StoreError::NoMachine { path },
            Some(Some(machine)) if machine.to_plain() != self.spec().machine => {
                other_machine(self, path, &machine)
            }
            _ if !self.has_journal(id) => StoreError::NoJournal { path },
            _ => self.not_started_here(id),
        }
    }

    /// Returns whether a loop has a journal: without one nobody can take it up.
    pub fn has_journal(&self, id: &LoopId) -> bool {
        self.open_loop_folder(id)
            .is_ok_and(|folder| folder.has(journal::FILE))
    }

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
    fn unowned(&self, id: &LoopId) -> Ownership {
        Ownership {
            version: VERSION,
            machine: self.spec().machine.to_owned(),
            id: id.to_string(),
            folder: self.top().to_owned(),
            root: self.root().to_string(),
            at: Timestamp::now(),
            graphs: Vec::new(),
        }
    }
}

impl Ownership {
    /// Returns the name of its file.
    fn name(&self) -> String {
        let mut digest = Sha256::new();
        for part in [self.folder.as_str(), &self.machine, &self.id] {
            digest.update(part);
            digest.update([0]);
        }
        let hex: String = digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("{hex}.json")
    }
}

/// Turns an error of the system into ours. One that names what is in the way names it in full.
fn refused(doing: &'static str, path: &Utf8Path) -> impl Fn(io::Error) -> StoreError {
    move |error| {
        let (path, why) = match UntrustedError::of(&error) {
            Some(untrusted) => (untrusted.path.clone(), untrusted.why.to_string()),
            None => (path.to_owned(), error.to_string()),
        };
        StoreError::Ownership { doing, path, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_home_is_absolute_or_in_home() {
        let home = |xdg: Option<&str>, home: Option<&str>| {
            let variable = |name: &str| if name == "HOME" { home } else { xdg }.map(str::to_owned);
            StateHome::from_variables(variable)
                .0
                .map(Utf8PathBuf::into_string)
        };
        assert_eq!(home(Some("/x y"), Some("/home/ü")).as_deref(), Ok("/x y"));
        assert_eq!(
            home(Some("relative"), Some("/home/ü")).as_deref(),
            Ok("/home/ü/.local/state")
        );
        assert_eq!(home(Some(""), Some("/h")).as_deref(), Ok("/h/.local/state"));
        assert_eq!(
            home(Some("up/../here"), None),
            Err("HOME is not set and XDG_STATE_HOME is relative".to_owned())
        );
    }
}
