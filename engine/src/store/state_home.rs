//! Where this user's own state lies, outside every project.

use camino::{Utf8Path, Utf8PathBuf};

use super::error::StoreError;
use super::seal::Key;

/// Holds the folder of this user's own state of a program, outside every project: a folder of the program's name in
/// `XDG_STATE_HOME` where that is absolute, else in `.local/state` of an absolute `HOME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateHome(Result<Utf8PathBuf, String>);

impl StateHome {
    /// Takes a folder as it is.
    pub fn at(folder: impl Into<Utf8PathBuf>) -> Self {
        Self(Ok(folder.into()))
    }

    /// Reads the environment of this process.
    pub fn of_user(program: &str) -> Self {
        Self::from_variables(program, |name| std::env::var(name).ok())
    }

    /// Reads variables. A relative one is not used: it would lead into whatever project the program runs in.
    pub fn from_variables(program: &str, variable: impl Fn(&str) -> Option<String>) -> Self {
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

    /// Checks that this user's key can be read, if there is one.
    ///
    /// # Errors
    /// No variable names the folder, or the key cannot be read or is damaged.
    pub fn check_key(&self) -> Result<(), StoreError> {
        Key::read(self).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_home_is_absolute_or_in_home() {
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
