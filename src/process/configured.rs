//! A command of the person's configuration: what `run` may start.
//!
//! ```toml
//! [commands.build]
//! program     = "cargo"
//! arguments   = ["build", "--locked"]
//! environment = ["CARGO_HOME"]
//! timeout     = "2m"
//! ```
//!
//! A machine names a command and never holds one, and a project's own file cannot add any: whoever clones a repository must
//! not run a program that the repository names.

use camino::Utf8Path;

use super::environment::find_installed;
pub use crate::machine::permissions::ConfiguredCommand;

/// Returns whether the program of a command can be started for the project at `root`.
pub fn is_installed(command: &ConfiguredCommand, root: &Utf8Path) -> bool {
    find_installed(&command.program, root).is_some()
}
