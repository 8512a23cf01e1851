//! The folder of this user's own state, outside every project, and the key in it.

use std::io::{self, ErrorKind};

use camino::{Utf8Path, Utf8PathBuf};

use super::error::{StoreError, io_error};
use crate::digest::random_hex;
use crate::files::{if_there, make_private, open_private};

/// The name of the key's file: 64 hexadecimal digits, with mode 0600. It is made on first use and never replaced.
const KEY: &str = "key";
const KEY_DIGITS: usize = 64;
/// The most bytes of a file that is kept here.
const MAX_BYTES: u64 = 16 * 1024;

/// The folder of this user's own state of a program. It has the program's name, and is in `XDG_STATE_HOME` if that is an
/// absolute path, else in `.local/state` of an absolute `HOME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateHome(Result<Utf8PathBuf, String>);

impl StateHome {
    /// Makes the state home at a folder.
    pub fn at(folder: impl Into<Utf8PathBuf>) -> Self {
        Self(Ok(folder.into()))
    }

    /// Returns the folder that the environment of this process names.
    pub fn of_user(program: &str) -> Self {
        Self::from_variables(program, |name| std::env::var(name).ok())
    }

    /// A relative path is not used: it would lead into whatever project the program runs in.
    fn from_variables(program: &str, variable: impl Fn(&str) -> Option<String>) -> Self {
        let absolute = |name: &str| {
            variable(name)
                .map(Utf8PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let found = absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        let own = found.map(|home| home.join(program));
        Self(own.ok_or_else(|| {
            let fault = |name: &str| match variable(name) {
                Some(path) if !path.is_empty() => format!("{name} is relative"),
                _ => format!("{name} is not set"),
            };
            format!("{} and {}", fault("HOME"), fault("XDG_STATE_HOME"))
        }))
    }

    /// Returns the folder, or `None` if no variable names one.
    pub fn folder(&self) -> Option<&Utf8Path> {
        self.0.as_deref().ok()
    }

    /// Returns the folder.
    pub fn checked(&self) -> Result<&Utf8Path, StoreError> {
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
        let home = self.checked()?;
        let key = if_there(read_key(home));
        key.map_err(io_error("read your key,", &home.join(KEY)))
    }

    pub(super) fn key_or_new(&self) -> Result<String, StoreError> {
        let home = self.checked()?;
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
        make().map_err(io_error("write your key,", &home.join(KEY)))
    }

    /// Reads a file that is kept in a folder here. One that cannot be read is not known.
    pub(super) fn read_kept(&self, folder: &str, name: &str) -> Option<String> {
        let folder = open_private(self.folder()?, folder).ok()?;
        String::from_utf8(folder.read(name, MAX_BYTES).ok()?).ok()
    }

    /// Keeps a file in a folder here.
    pub(super) fn keep(&self, folder: &str, name: &str, text: &str) -> io::Result<()> {
        let folder = make_private(self.folder().ok_or(ErrorKind::NotFound)?, folder)?;
        folder.prepare(text.as_bytes())?.rename(name)
    }
}

fn read_key(home: &Utf8Path) -> io::Result<String> {
    let bytes = open_private(home, "")?.read(KEY, MAX_BYTES)?;
    let text = String::from_utf8(bytes).unwrap_or_default();
    let key = text.trim_end();
    if key.len() == KEY_DIGITS && key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(key.to_owned());
    }
    let why = "it is not a key of 64 hexadecimal digits; remove it, then take your loops over with `adopt`";
    Err(io::Error::new(ErrorKind::InvalidData, why))
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
