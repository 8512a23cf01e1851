//! The folder of this user's own state, outside every project: the key, and the records about state folders.
//!
//! ```text
//! <home>/key                   64 hexadecimal digits, made on first use and never replaced
//! <home>/projects/<id>         the path of the state folder when it was last used
//! <home>/by-path/<sha256>      the id of the state folder that was last used at a path, and which hooks said that it is gone
//! <home>/marks/<id>-<loop>     how long the loop's journal was after the last line, and whether the user paused the loop
//! <state folder>/project       the random id of the state folder, which the seals cover
//! ```

use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::error::{OrIo as _, StoreError};
use super::id::LoopId;
use super::store::Store;
use crate::digest::{random_hex, sha256};
use crate::files::{Folder, if_there, make_private, open_private};

const KEY: &str = "key";
const KEY_DIGITS: usize = 64;
const PROJECT: &str = "project";
const PROJECTS: &str = "projects";
const BY_PATH: &str = "by-path";
const MARKS: &str = "marks";
/// The length of a mark, in bytes, without its line feed.
const MARK_BYTES: usize = 63;
/// The most bytes of a file that is kept here.
const MAX_BYTES: u64 = 16 * 1024;

/// The folder of this user's own state of a program. It has the program's name, and is in `XDG_STATE_HOME` if that is an
/// absolute path, else in `.local/state` of an absolute `HOME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateHome(Result<Utf8PathBuf, String>);

/// The id of a state folder: 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Project(pub(super) String);

/// The mark of a loop in the state home. A journal that is shorter lost lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Mark {
    /// The length of the journal after its last line, in bytes.
    pub(super) bytes: u64,
    /// Whether the user paused the loop: no stop drives it.
    pub(super) paused: bool,
}

impl StateHome {
    /// Makes the state home at a folder.
    pub fn at(folder: impl Into<Utf8PathBuf>) -> Self {
        Self(Ok(folder.into()))
    }

    /// Returns the folder that the environment of this process names.
    pub fn of_user(program: &str) -> Self {
        Self::from_variables(program, |name| std::env::var(name).ok())
    }

    /// Returns the folder that variables name. A relative path is not used: it would lead into whatever project the program runs in.
    fn from_variables(program: &str, variable: impl Fn(&str) -> Option<String>) -> Self {
        let path = |name| variable(name).map(Utf8PathBuf::from);
        let absolute = |name| path(name).filter(|path| path.is_absolute());
        let found = absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        let fault = |name: &str| match variable(name) {
            Some(path) if !path.is_empty() => format!("{name} is relative"),
            _ => format!("{name} is not set"),
        };
        let why = || format!("{} and {}", fault("HOME"), fault("XDG_STATE_HOME"));
        Self(found.map(|home| home.join(program)).ok_or_else(why))
    }

    /// Returns the folder, or `None` if no variable names one.
    pub fn folder(&self) -> Option<&Utf8Path> {
        self.0.as_deref().ok()
    }

    /// Returns the folder.
    pub fn usable_path(&self) -> Result<&Utf8Path, StoreError> {
        self.0.as_deref().map_err(|why| {
            let why = format!("{why}; set HOME, or XDG_STATE_HOME to an absolute path");
            StoreError::input("find", "your state folder".into(), why)
        })
    }

    /// Checks that this user's key can be read, if there is one.
    pub fn check_key(&self) -> Result<(), StoreError> {
        self.key().map(|_| ())
    }

    /// Reads the key. Returns `None` if this user has not started a loop yet.
    pub(super) fn key(&self) -> Result<Option<String>, StoreError> {
        let home = self.usable_path()?;
        if_there(read_key(home)).or_io("read your key,", home.join(KEY))
    }

    pub(super) fn key_or_new(&self) -> Result<String, StoreError> {
        let home = self.usable_path()?;
        let make = || {
            let folder = make_private(home, "")?;
            if let Some(key) = if_there(read_key(home))? {
                return Ok(key);
            }
            let prepared = folder.prepare(random_hex::<{ KEY_DIGITS / 2 }>()?.as_bytes())?;
            prepared.sync()?;
            // Another process may be first. Then its key counts.
            prepared.rename_new(KEY)?;
            folder.sync()?;
            read_key(home)
        };
        make().or_io("write your key,", home.join(KEY))
    }

    /// Reads a file that is kept in a folder here. One that cannot be read is not known.
    fn read_kept(&self, folder: &str, name: &str) -> Option<String> {
        let folder = open_private(self.folder()?, folder).ok()?;
        String::from_utf8(folder.read(name, MAX_BYTES).ok()?).ok()
    }

    /// Keeps a file in a folder here.
    fn keep(&self, folder: &str, name: &str, text: &str) -> io::Result<()> {
        let folder = make_private(self.folder().ok_or(ErrorKind::NotFound)?, folder)?;
        folder.prepare(text.as_bytes())?.rename(name)
    }
}

fn read_key(home: &Utf8Path) -> io::Result<String> {
    let key = read_hex(&open_private(home, "")?, KEY, KEY_DIGITS)?;
    key.ok_or_else(|| {
        let why = "it is not a key of 64 hexadecimal digits; remove it, then take your loops over with `adopt`";
        io::Error::new(ErrorKind::InvalidData, why)
    })
}

/// Reads a file of hexadecimal digits. Returns `None` if it has something else.
fn read_hex(folder: &Folder, name: &str, digits: usize) -> io::Result<Option<String>> {
    let text = String::from_utf8(folder.read(name, MAX_BYTES)?).unwrap_or_default();
    let hex = text.trim_end();
    let is_hex = hex.len() == digits && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(is_hex.then(|| hex.to_owned()))
}

impl Project {
    pub(super) fn read(folder: &Folder) -> io::Result<Option<Self>> {
        let id = if_there(read_hex(folder, PROJECT, 32))?;
        Ok(id.flatten().map(Self))
    }

    pub(super) fn make(folder: &Folder) -> io::Result<Self> {
        let id = random_hex::<16>()?;
        folder.replace(PROJECT, format!("{id}\n").as_bytes())?;
        Ok(Self(id))
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

    /// Returns the mark of a loop, or nothing if it cannot be read.
    pub(super) fn mark(&self, home: &StateHome, id: &LoopId) -> Mark {
        let text = home.read_kept(MARKS, &format!("{}-{id}", self.0));
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Keeps the mark of a loop. Not synced. Written in place, since a new file costs more than all else of a commit but
    /// its sync. Marks have one length, so that a reader finds the old or the new one.
    pub(super) fn set_mark(&self, home: &StateHome, id: &LoopId, mark: &Mark) -> io::Result<()> {
        let text = format!("{:<MARK_BYTES$}\n", serde_json::to_string(mark)?);
        let home = home.folder().ok_or(ErrorKind::NotFound)?;
        let folder = open_private(home, MARKS).or_else(|_| make_private(home, MARKS))?;
        let file = folder.file_or_new(&format!("{}-{id}", self.0))?;
        file.write_all_at(text.as_bytes(), 0)
    }
}

impl Store {
    /// Returns whether this user had loops in this folder, and the folder is gone: removed, moved, or on another branch.
    pub fn has_vanished(&self) -> bool {
        let path = self.folder();
        let text = self.home.read_kept(BY_PATH, &sha256(path.as_str()));
        let id = text.as_ref().and_then(|text| text.lines().next());
        let last = id.and_then(|id| self.home.read_kept(PROJECTS, id));
        // A folder that moved is used at its new path.
        last.is_some_and(|last| last == path.as_str())
            && path.try_exists().is_ok_and(|there| !there)
    }

    /// Records that `by` named this folder, which vanished. Returns whether it did so for the first time since the folder was
    /// used.
    pub fn note_vanished(&self, by: &str) -> bool {
        let name = sha256(self.folder().as_str());
        let text = self.home.read_kept(BY_PATH, &name).unwrap_or_default();
        let is_first = text.lines().skip(1).all(|line| line != by);
        if is_first {
            // One that cannot be noted is named again.
            let _ = self.home.keep(BY_PATH, &name, &format!("{text}\n{by}"));
        }
        is_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_home_is_absolute_or_in_home() {
        let home = |xdg: Option<&str>, home: Option<&str>| {
            let variable = |name: &str| if name == "HOME" { home } else { xdg }.map(str::to_owned);
            let home = StateHome::from_variables("p", variable);
            home.0.map(Utf8PathBuf::into_string)
        };
        let in_home = Ok("/home/ü/.local/state/p".to_owned());
        assert_eq!(home(Some("/x y"), Some("/home/ü")), Ok("/x y/p".to_owned()));
        assert_eq!(home(Some("relative"), Some("/home/ü")), in_home);
        assert_eq!(home(Some(""), Some("/home/ü")), in_home);
        let none = "HOME is not set and XDG_STATE_HOME is relative";
        assert_eq!(home(Some("up/../here"), None), Err(none.to_owned()));
    }
}
