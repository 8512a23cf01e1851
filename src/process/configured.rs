//! The commands in the user's configuration, which `run` may start.
//!
//! A machine only names a command, and a project's own file cannot add any, so that a cloned
//! repository can run none of its programs.

use std::time::Duration;

use camino::Utf8Path;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::environment::find_installed;
use super::limits::Spelled;

/// A command in the user's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct ConfiguredCommand {
    /// The program: a name that is looked up in PATH, or an absolute path.
    #[serde(deserialize_with = "program")]
    pub program: String,
    /// Arguments, passed as they are, without a shell.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The environment variables that its process gets in addition to the usual ones.
    #[serde(default, deserialize_with = "variable_names")]
    pub environment: Vec<String>,
    /// The time that it may take.
    #[serde(default = "usual_timeout", deserialize_with = "timeout")]
    pub timeout: Duration,
}

impl ConfiguredCommand {
    /// The longest time that a table may give: a minute less than a client gives a hook by default.
    pub const MAX_TIMEOUT: Duration = Duration::from_secs(540);

    /// Makes a command that runs a line in a shell, with the longest timeout.
    pub fn from_shell(line: &str) -> Self {
        Self {
            program: "/bin/sh".to_owned(),
            arguments: vec!["-c".to_owned(), line.to_owned()],
            environment: Vec::new(),
            timeout: Self::MAX_TIMEOUT,
        }
    }
}

/// Returns the default time of a command, which is less than that of the plugin's Stop hook.
fn usual_timeout() -> Duration {
    Duration::from_secs(50)
}

fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let Spelled(timeout) = Spelled::deserialize(deserializer)?;
    if timeout > ConfiguredCommand::MAX_TIMEOUT {
        let help = "give it less to do, or have the agent run what takes longer";
        let message = format!("a command runs within a stop, for 9m at most\n{help}");
        return Err(D::Error::custom(message));
    }
    Ok(timeout)
}

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

/// Reads the program of a command or a reviewer: an absolute path, or a name to find in PATH.
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
