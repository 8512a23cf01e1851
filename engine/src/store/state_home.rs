//! The folder of this user's own state, outside every project.

use camino::{Utf8Path, Utf8PathBuf};

use super::error::StoreError;
use super::seal::Key;

/// The folder of this user's own state of a program. It has the program's name, and lies in `XDG_STATE_HOME` if that is an
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
    ///
    /// # Errors
    /// Returns an error if no variable names one.
    pub fn checked(&self) -> Result<&Utf8Path, StoreError> {
        let home = self.0.as_deref();
        home.map_err(|why| {
            let why = format!("{why}; set HOME, or XDG_STATE_HOME to an absolute path");
            StoreError::input("find", "your state folder".into(), why)
        })
    }

    /// Checks that this user's key can be read, if there is one.
    ///
    /// # Errors
    /// Returns an error if no variable names the folder, or the key cannot be read or is damaged.
    pub fn check_key(&self) -> Result<(), StoreError> {
        Key::read(self).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_home_is_absolute_or_in_home() {
        let home = |xdg: Option<&str>, home: Option<&str>| {
            let variable = |name: &str| if name == "HOME" { home } else { xdg }.map(str::to_owned);
            StateHome::from_variables("p", variable)
                .0
                .map(Utf8PathBuf::into_string)
        };
        assert_eq!(home(Some("/x y"), Some("/home/ü")).as_deref(), Ok("/x y/p"));
        assert_eq!(
            home(Some("relative"), Some("/home/ü")).as_deref(),
            Ok("/home/ü/.local/state/p")
        );
        assert_eq!(
            home(Some(""), Some("/h")).as_deref(),
            Ok("/h/.local/state/p")
        );
        assert_eq!(
            home(Some("up/../here"), None),
            Err("HOME is not set and XDG_STATE_HOME is relative".to_owned())
        );
    }
}
