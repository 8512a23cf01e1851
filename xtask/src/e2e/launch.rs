//! How one of the real programs is started, with or without a screen: everything that decides what it does, and nothing else.
//! It knows neither which program it is nor what it is asked.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// A program, ready to be started.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    /// The program's file.
    pub(super) program: PathBuf,
    /// Its arguments.
    pub(super) arguments: Vec<OsString>,
    /// Its whole environment: nothing of this process's own is handed on.
    pub(super) env: Vec<(OsString, OsString)>,
    /// The folder that it is started in.
    pub(super) folder: PathBuf,
}

impl Launch {
    /// The same as a command, for a program that needs no screen.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.folder);
        command
    }
}
