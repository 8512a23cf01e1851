//! Records about a session, in the user's folder of the program.
//!
//! A hook runs in the client's environment, which is the user's. The agent makes that of its
//! commands, where PATH or XDG_CONFIG_HOME may name a reviewer that finds nothing. So commands in
//! the session use the environment of the hooks, except for keys and other secrets.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::sha256;
use crate::files::{FileInfo, Folder, MAX_BYTES, make_private, optional};

/// The variables that locate programs and clients' configuration, in addition to the program's.
const VARIABLES: [&str; 6] = [
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
];

/// The user's environment, as far as it decides about the reviewer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnvironment {
    /// The path to the user's configuration file, even if it does not exist.
    pub configuration: Option<Utf8PathBuf>,
    variables: BTreeMap<String, String>,
}

impl SessionEnvironment {
    /// Returns the environment of this process; the names of its variables begin with `ours`.
    pub fn current(configuration: Option<Utf8PathBuf>, ours: &str) -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let is_kept = VARIABLES.contains(&&*name) || name.starts_with(ours);
            is_kept.then_some((name, value.into_string().ok()?))
        });
        Self {
            configuration,
            variables: variables.collect(),
        }
    }

    /// Returns a variable's value, trimmed, or `None` if it is blank.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?.trim();
        (!value.is_empty()).then_some(value)
    }

    /// Returns the variables that child processes must not take from the command's own environment,
    /// each with its value, or `None` if it was not set.
    pub fn pinned(&self) -> Vec<(String, Option<String>)> {
        VARIABLES
            .map(|name| (name.to_owned(), self.variables.get(name).cloned()))
            .into()
    }
}

impl SessionRecord for SessionEnvironment {
    const PREFIX: &str = "";
}

/// The session that a client is about to compact, by the client. A compaction may give the session
/// a new id, and no input of a SessionStart hook names the old one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compacted {
    /// The session's id.
    pub session: String,
}

impl SessionRecord for Compacted {
    const PREFIX: &str = "client-";
}

/// A record of a session or client in the user's folder: `<folder>/<prefix><sha256 of id>.json`.
pub trait SessionRecord: Serialize + DeserializeOwned + PartialEq {
    /// The folder.
    const FOLDER: &str = "sessions";
    /// The beginning of the file's name.
    const PREFIX: &str;
    /// The time for which a record is valid after its last change.
    const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    /// Returns the record of this id, or `None` if it is missing, too old or unreadable.
    fn load(id: &str, home: &Utf8Path) -> Option<Self> {
        let folder = Folder::open(home).ok()?.subfolder(Self::FOLDER).ok()?;
        let name = name_of::<Self>(id);
        let found = folder.metadata(&name).ok()??;
        let record = serde_json::from_slice(&folder.read(&name, MAX_BYTES).ok()?).ok()?;
        (!is_older(found, Self::MAX_AGE)).then_some(record)
    }

    /// Stores the record, and removes those of the folder that are too old.
    ///
    /// # Errors
    /// Returns an error if the folder is not trusted, or the system refuses.
    fn save(&self, id: &str, home: &Utf8Path) -> io::Result<()> {
        if Self::load(id, home).as_ref() == Some(self) {
            return Ok(());
        }
        let folder = make_private(home, Self::FOLDER)?;
        for (name, found) in folder.list().unwrap_or_default() {
            if is_older(found, Self::MAX_AGE) {
                // The next call tries again.
                let _ = folder.remove(&name);
            }
        }
        folder.replace(&name_of::<Self>(id), &serde_json::to_vec(self)?)
    }

    /// Removes the record, and returns whether it existed. Of several processes, one gets `true`.
    ///
    /// # Errors
    /// Returns an error if the folder is not trusted, or the system refuses.
    fn remove(id: &str, home: &Utf8Path) -> io::Result<bool> {
        let folder = Folder::open(home)?.subfolder(Self::FOLDER)?;
        Ok(optional(folder.remove(&name_of::<Self>(id)))?.is_some())
    }
}

fn name_of<R: SessionRecord>(id: &str) -> String {
    format!("{}{}.json", R::PREFIX, sha256(id))
}

fn is_older(found: FileInfo, max_age: Duration) -> bool {
    let age = found.modified.elapsed();
    age.is_ok_and(|age| age > max_age)
}
