//! A program that is about to be started, with its whole environment: nothing of the environment of
//! `cargo xtask` reaches a client.

use std::ffi::OsString;
use std::io::{Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic as _, miette};
use rustix::process::{Pid, Signal, kill_process_group};

/// The program, its arguments, its environment and its working folder.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) folder: PathBuf,
}

impl Launch {
    /// Adds arguments.
    pub(super) fn with<S: Into<OsString>>(
        mut self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Returns a command that leads its own process group and reads nothing.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .process_group(0);
        command
    }

    /// Runs the program and returns its status, its stdout and its stderr.
    pub(super) fn run(&self, limit: Duration) -> miette::Result<(ExitStatus, String, String)> {
        // Files, so that a grandchild that keeps a pipe open cannot delay us.
        let mut out = tempfile::tempfile().into_diagnostic()?;
        let mut err = tempfile::tempfile().into_diagnostic()?;
        let mut child = self
            .command()
            .stdout(out.try_clone().into_diagnostic()?)
            .stderr(err.try_clone().into_diagnostic()?)
            .spawn()
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot start {}", self.program.display()))?;
        let status = wait(&mut child, limit)?;
        Ok((status, read(&mut out)?, read(&mut err)?))
    }

    /// Runs the program, and returns its output if it succeeds.
    pub(super) fn output(&self, limit: Duration) -> miette::Result<String> {
        let (status, out, err) = self.run(limit)?;
        if !status.success() {
            let (program, arguments) = (self.program.display(), &self.arguments);
            return Err(miette!("{program} {arguments:?}: {status}\n{out}{err}"));
        }
        Ok(out)
    }
}

fn read(file: &mut std::fs::File) -> miette::Result<String> {
    let mut bytes = Vec::new();
    file.rewind().into_diagnostic()?;
    file.read_to_end(&mut bytes).into_diagnostic()?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits for the end of a program. If it takes too long, its process group is killed.
pub(super) fn wait(child: &mut Child, limit: Duration) -> miette::Result<ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().into_diagnostic()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            kill(child)?;
            return Err(miette!("timed out after {} s", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Kills a program and its process group.
pub(super) fn kill(child: &mut Child) -> miette::Result<()> {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
        && matches!(child.try_wait(), Ok(None))
    {
        // The group may have ended since.
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait().into_diagnostic().map(drop)
}
