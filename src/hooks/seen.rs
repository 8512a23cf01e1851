//! What a session's hooks saw of the person's environment: which configuration file is theirs, and the variables that choose a
//! reviewer. And which loop was chosen for the session's stops.
//!
//! A hook runs in the client's environment, which is the person's. A command of the agent's runs in one that the agent
//! made: its PATH or XDG_CONFIG_HOME may name a reviewer that finds nothing. So the hooks keep what they see, in
//! `sessions/<sha256 of the session id>.json` of the user's folder of the program, and a command inside the session goes by that.
//! Keys and other secrets are not kept: those a reviewer gets from the command's own environment.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::sha256;
use crate::files::{Folder, make_private, open_private};

/// The folder of the records, in the user's own.
const FOLDER: &str = "sessions";
/// How long a record is kept after its session's last hook.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The largest record that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// The variables that say where programs and the clients' own configuration are. Those of ours come on top.
const VARIABLES: [&str; 6] = [
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
];

/// The person's environment, as far as it decides who reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The person's configuration file, there or not.
    pub configuration: Option<Utf8PathBuf>,
    variables: BTreeMap<String, String>,
}

impl Seen {
    /// Returns what this process sees; the names of the program's own variables begin with `ours`.
    pub fn here(configuration: Option<Utf8PathBuf>, ours: &str) -> Self {
        let is_kept = |name: &str| VARIABLES.contains(&name) || name.starts_with(ours);
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| is_kept(name))
            .collect();
        Self {
            configuration,
            variables,
        }
    }

    /// Returns a variable's value, trimmed, where it holds anything.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?.trim();
        (!value.is_empty()).then_some(value)
    }

    /// Returns the variables that child processes must not take from the command's own environment. `None` is one that was
    /// not set.
    pub fn pinned(&self) -> Vec<(String, Option<String>)> {
        VARIABLES
            .map(|name| (name.to_owned(), self.variables.get(name).cloned()))
            .into()
    }
}

impl SessionRecord for Seen {
    const PREFIX: &str = "";
}

/// The loop that the stops of a session drive, as it was chosen among several. It lies beside what the session's hooks saw, and is
/// no part of that: it may be chosen before the first of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// Its state folder.
    pub folder: Utf8PathBuf,
    /// Its id there.
    pub id: String,
}

impl SessionRecord for Chosen {
    const PREFIX: &str = "loop-";
}

/// The session that a client is about to compact, by the client. A compaction may give the session a new id, and no input of a
/// SessionStart hook names the old one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compacted {
    /// The id of the session.
    pub session: String,
}

impl SessionRecord for Compacted {
    const PREFIX: &str = "client-";
}

/// A record about a session or a client, in `sessions/` of the user's folder of the program.
pub trait SessionRecord: Serialize + DeserializeOwned + PartialEq {
    /// What the names of these files begin with.
    const PREFIX: &str;

    /// Returns the record of this key; `None` if it is missing or unreadable.
    fn of(key: &str, home: &Utf8Path) -> Option<Self> {
        let folder = open_private(home, FOLDER).ok()?;
        serde_json::from_slice(&folder.read(&name_of::<Self>(key), LARGEST).ok()?).ok()
    }

    /// Keeps the record below the user's state home, and removes records that are too old.
    ///
    /// # Errors
    /// Returns an error if the folder is not safely the user's, or the system refuses.
    fn keep(&self, key: &str, home: &Utf8Path) -> io::Result<()> {
        if Self::of(key, home).as_ref() == Some(self) {
            return Ok(());
        }
        let folder = make_private(home, FOLDER)?;
        expire(&folder);
        folder.replace(&name_of::<Self>(key), &serde_json::to_vec(self)?)
    }
}

fn name_of<R: SessionRecord>(key: &str) -> String {
    format!("{}{}.json", R::PREFIX, sha256(key))
}

/// Removes records of sessions that are long over. What cannot be removed is tried again.
fn expire(folder: &Folder) {
    let is_over = |modified: SystemTime| modified.elapsed().is_ok_and(|age| age > KEPT);
    for (name, found) in folder.list().unwrap_or_default() {
        if is_over(found.modified()) {
            let _ = folder.remove(&name);
        }
    }
}
