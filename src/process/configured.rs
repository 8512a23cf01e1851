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

use std::time::Duration;

use camino::Utf8Path;

use super::environment::find_installed;

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredCommand {
    /// The program: a name that is looked up in PATH, or an absolute path.
    pub program: String,
    /// Arguments, passed as they are, without a shell.
    pub arguments: Vec<String>,
    /// Names of environment variables that its process gets besides the usual ones.
    pub environment: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
}

impl ConfiguredCommand {
    /// Limits a command that does not say otherwise: less than the Stop hook of the plugin.
    pub const USUAL_TIMEOUT: Duration = Duration::from_secs(50);
    /// Limits what one can be given: a minute less than what a client gives a hook that does not say otherwise.
    pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(540);

    /// Makes one of a line for a shell.
    pub fn of_shell(line: &str, timeout: Duration) -> Self {
        Self {
            program: "/bin/sh".to_owned(),
            arguments: vec!["-c".to_owned(), line.to_owned()],
            environment: Vec::new(),
            timeout,
        }
    }

    /// Returns whether its program is there to be started for the project with this root.
    pub fn is_installed(&self, root: &Utf8Path) -> bool {
        find_installed(&self.program, root).is_some()
    }
}
