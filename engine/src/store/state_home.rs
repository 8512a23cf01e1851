//! The folder of this user's own state, outside every project: the key, and the paths and ids of
//! state folders. `mark.rs` keeps the marks of loops in it.

use std::io::{self, ErrorKind};

use camino::{Utf8Path, Utf8PathBuf};

use super::error::{OrIo as _, StoreError};
use super::mark::MARKS;
use super::seal::Sealer;
use super::state_folder::{LOCK_TIMEOUT, Store};
use crate::digest::{random_hex, sha256};
use crate::files::{Folder, Lock, make_private, optional};

const KEY: &str = "key";
const KEY_DIGITS: usize = 64;
const KEY_LOCK: &str = "key.lock";
const PROJECT: &str = "project";
const PROJECT_DIGITS: usize = 32;
const PROJECTS: &str = "projects";
const BY_PATH: &str = "by-path";
const MAX_FILE_BYTES: u64 = 16 * 1024;

/// The folder of this user's own state of a program. It has the program's name, and is in
/// `XDG_STATE_HOME` if that is an absolute path, else in `.local/state` of an absolute `HOME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateHome(Option<Utf8PathBuf>);

impl StateHome {
    /// Makes the state home at a folder.
    pub fn at(folder: impl Into<Utf8PathBuf>) -> Self {
        Self(Some(folder.into()))
    }

    /// Returns the folder that the environment of this process names.
    pub fn for_user(program: &str) -> Self {
        Self::from_variables(program, |name| std::env::var(name).ok())
    }

    /// Returns the folder that variables name. A relative path would be in the project.
    fn from_variables(program: &str, variable: impl Fn(&str) -> Option<String>) -> Self {
        let path = |name| variable(name).map(Utf8PathBuf::from);
        let absolute = |name| path(name).filter(|path| path.is_absolute());
        let found = absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        Self(found.map(|home| home.join(program)))
    }

    /// Returns the folder.
    pub fn folder(&self) -> Result<&Utf8Path, StoreError> {
        self.0.as_deref().ok_or_else(|| {
            let why =
                "neither HOME nor XDG_STATE_HOME is an absolute path; set HOME to your home folder";
            StoreError::input("find", "your state home".into(), why.to_owned())
        })
    }

    /// Checks that this user's key can be read, if there is one.
    pub fn check_key(&self) -> Result<(), StoreError> {
        self.open_with_key().map(|_| ())
    }

    /// Opens the folder and reads the key. Returns `None` if this user has not started a loop yet.
    fn open_with_key(&self) -> Result<Option<(Folder, String)>, StoreError> {
        let path = self.folder()?;
        let read = || {
            let home = Folder::open(path)?;
            let key = read_key(&home)?;
            Ok((home, key))
        };
        optional(read()).or_io("use your key,", path.join(KEY))
    }

    /// Opens the folder and reads the key. Makes both if they are not there.
    pub(super) fn open_or_make(&self) -> Result<(Folder, String), StoreError> {
        let path = self.folder()?;
        let make = || {
            let home = make_private(path, "")?;
            if !home.has(KEY) {
                let lock = Lock::take(&home, KEY_LOCK, LOCK_TIMEOUT)?;
                let _lock = lock.ok_or(ErrorKind::TimedOut)?;
                if !home.has(KEY) {
                    home.replace(KEY, random_hex::<{ KEY_DIGITS / 2 }>()?.as_bytes())?;
                }
            }
            let key = read_key(&home)?;
            Ok((home, key))
        };
        make().or_io("use your key,", path.join(KEY))
    }

    /// Returns the sealer of a state folder, or `None` if this user started no loop there.
    pub(super) fn sealer(&self, top: &Folder) -> Result<Option<Sealer>, StoreError> {
        let project = read_project(top).or_io("read", top.path())?;
        let home = self.open_with_key()?;
        Ok(home
            .zip(project)
            .map(|((home, key), project)| Sealer::new(home, &key, project)))
    }

    /// Returns the sealer of a state folder. A new folder or a copy gets an id.
    pub(super) fn sealer_or_new(&self, top: &Folder) -> Result<Sealer, StoreError> {
        let (home, key) = self.open_or_make()?;
        // Without the folder, nothing is known of the loops.
        let _ = home.make_private(MARKS);
        let project = read_project(top).or_io("read", top.path())?;
        let mut sealer = Sealer::new(home, &key, project.unwrap_or_default());
        if sealer.project.is_empty() || sealer.find_original(top.path()).is_some() {
            let make = || {
                let id = random_hex::<{ PROJECT_DIGITS / 2 }>()?;
                top.replace(PROJECT, format!("{id}\n").as_bytes())?;
                Ok(id)
            };
            sealer.project = make().or_io("write", top.path())?;
        }
        Ok(sealer)
    }
}

fn read_key(home: &Folder) -> io::Result<String> {
    read_hex(home, KEY, KEY_DIGITS)?.ok_or_else(|| {
        let why = "it is not a key of 64 hexadecimal digits; `adopt` takes your loops over with a new one";
        io::Error::new(ErrorKind::InvalidData, why)
    })
}

fn read_project(folder: &Folder) -> io::Result<Option<String>> {
    Ok(optional(read_hex(folder, PROJECT, PROJECT_DIGITS))?.flatten())
}

/// Reads the id of the state folder at a path. Returns `None` if there is no folder.
fn project_at(path: &Utf8Path) -> io::Result<Option<String>> {
    let read = Folder::open(path).and_then(|folder| read_project(&folder));
    Ok(optional(read)?.flatten())
}

/// Reads a file of hexadecimal digits. Returns `None` if it has something else.
fn read_hex(folder: &Folder, name: &str, digits: usize) -> io::Result<Option<String>> {
    let text = String::from_utf8(folder.read(name, MAX_FILE_BYTES)?).unwrap_or_default();
    let hex = text.trim_end();
    let is_hex = hex.len() == digits && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(is_hex.then(|| hex.to_owned()))
}

/// Reads a file in a folder of the state home. One that cannot be read is not known.
fn read_text(home: &Folder, folder: &str, name: &str) -> Option<String> {
    let bytes = home
        .subfolder(folder)
        .ok()?
        .read(name, MAX_FILE_BYTES)
        .ok()?;
    String::from_utf8(bytes).ok()
}

fn write_text(home: &Folder, folder: &str, name: &str, text: &str) -> io::Result<()> {
    let folder = home.make_private(folder)?;
    folder.prepare(text.as_bytes())?.rename(name)
}

impl Sealer {
    /// Returns the state folder that the one at `path` is a copy of.
    pub(super) fn find_original(&mut self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let before = read_text(&self.home, PROJECTS, &self.project).map(Utf8PathBuf::from);
        self.keeps_path = before.as_deref() == Some(path);
        let has_id = |folder: &Utf8PathBuf| {
            project_at(folder).is_ok_and(|project| project.as_ref() == Some(&self.project))
        };
        before.filter(|before| before != path).filter(has_id)
    }

    pub(super) fn keep_path(&self, path: &Utf8Path) -> io::Result<()> {
        write_text(&self.home, PROJECTS, &self.project, path.as_str())?;
        write_text(&self.home, BY_PATH, &sha256(path.as_str()), &self.project)
    }
}

impl Store {
    /// Returns whether this user had loops in this folder, and it is gone, as on another branch, or
    /// empty. A caller with a name, `by`, is told once for each use of the folder.
    pub fn has_vanished(&self, by: Option<&str>) -> bool {
        let path = &self.folder;
        let look = || {
            let home = Folder::open(self.home.folder().ok()?).ok()?;
            let name = sha256(path.as_str());
            let text = read_text(&home, BY_PATH, &name)?;
            // The project's id, then a line for each caller that was told.
            let mut lines = text.lines();
            // A folder that moved is used at its new path.
            let id = lines.next()?;
            let last = read_text(&home, PROJECTS, id)?;
            let is_new = by.is_none_or(|by| lines.all(|line| line != by));
            let is_other = project_at(path).is_ok_and(|project| project.as_deref() != Some(id));
            let has_vanished = last == path.as_str() && is_other;
            if let Some(by) = by.filter(|_| is_new && has_vanished) {
                let _ = write_text(&home, BY_PATH, &name, &format!("{text}\n{by}"));
            }
            Some(is_new && has_vanished)
        };
        look().unwrap_or_default()
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
        let in_home = Some("/home/ü/.local/state/p".to_owned());
        let xdg = Some("/x y/p".to_owned());
        assert_eq!(home(Some("/x y"), Some("/home/ü")), xdg);
        assert_eq!(home(Some("relative"), Some("/home/ü")), in_home);
        assert_eq!(home(Some(""), Some("/home/ü")), in_home);
        assert_eq!(home(Some("up/../here"), None), None);
    }
}
