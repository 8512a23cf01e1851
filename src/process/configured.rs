//! The commands of the user's configuration, which `run` may start.
//!
//! ```toml
//! [commands.build]
//! program     = "cargo"
//! arguments   = ["build", "--locked"]
//! environment = ["CARGO_HOME"]
//! timeout     = "2m"
//! ```
//!
//! A machine names a command and never holds one, and a project's own file cannot add any: anyone who clones a repository must
//! not run a program that the repository names.

use camino::Utf8Path;
use serde::{Deserialize as _, Deserializer, de::Error as _};

use super::environment::find_installed;
pub use crate::machine::permissions::ConfiguredCommand;

/// Returns whether the program of a command can be started for the project at `root`.
pub fn is_installed(command: &ConfiguredCommand, root: &Utf8Path) -> bool {
    find_installed(&command.program, root).is_some()
}

/// Reads the names of the environment variables of a command or a reviewer.
///
/// # Errors
/// Returns an error if one has a value.
pub fn variable_names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    if let Some(name) = names.iter().find(|name| name.contains('=')) {
        let help = "give names alone; the values are taken from your environment";
        let message = format!("`{name}` is not the name of a variable\n{help}");
        return Err(D::Error::custom(message));
    }
    Ok(names)
}

/// Reads the program of a command or a reviewer: an absolute path, or a name that is looked up in PATH.
///
/// # Errors
/// Returns an error if it is a relative path, which would mean another program in each project.
pub fn program<'de, D: Deserializer<'de>, P: From<String>>(deserializer: D) -> Result<P, D::Error> {
    let program = String::deserialize(deserializer)?;
    if program.contains('/') && !program.starts_with('/') {
        let help = "give an absolute path, or a name that is found in PATH";
        return Err(D::Error::custom(format!(
            "`{program}` is a relative path\n{help}"
        )));
    }
    Ok(program.into())
}
