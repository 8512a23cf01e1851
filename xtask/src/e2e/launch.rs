//! A program that is about to be started: all of what it gets, the whole environment included. Nothing of the environment
//! of `cargo xtask` itself reaches a client.

use std::ffi::OsString;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic as _, miette};
use rustix::process::{Pid, Signal, kill_process_group};

/// What is started, and where.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    /// The whole environment.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) folder: PathBuf,
}

impl Launch {
    /// The same as a command that leads a process group of its own and has nothing to read.
    pub(super) fn command(&self) -> Command {
        use std::os::unix::process::CommandExt as _;
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

    /// Runs it to its end with this on its standard input. What it printed: first stdout, then stderr.
    ///
    /// # Errors
    /// It cannot be started, or did not end within `limit`; then it is ended.
    pub(super) fn run(
        &self,
        stdin: &str,
        limit: Duration,
    ) -> miette::Result<(ExitStatus, String, String)> {
        // Files, so that neither a full pipe nor a grandchild that keeps one open can hold us up.
        let file = || tempfile::tempfile().into_diagnostic();
        let (mut input, mut out, mut err) = (file()?, file()?, file()?);
        input.write_all(stdin.as_bytes()).into_diagnostic()?;
        input.rewind().into_diagnostic()?;
        let mut child = self
            .command()
            .stdin(input)
            .stdout(out.try_clone().into_diagnostic()?)
            .stderr(err.try_clone().into_diagnostic()?)
            .spawn()
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot start {}", self.program.display()))?;
        let status = wait(&mut child, limit)?;
        let read = |file: &mut std::fs::File| {
            let mut bytes = Vec::new();
            file.rewind()
                .and_then(|()| file.read_to_end(&mut bytes))
                .into_diagnostic()?;
            Ok::<_, miette::Report>(String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok((status, read(&mut out)?, read(&mut err)?))
    }
}

/// Waits for the end of a program; where it does not come in time, it is ended with its process group.
///
/// # Errors
/// It did not end within `limit`.
pub(super) fn wait(child: &mut Child, limit: Duration) -> miette::Result<ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().into_diagnostic()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            kill(child)?;
            return Err(miette!("it did not end within {} seconds", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// Ends a program and its process group at once, without a word to either.
///
/// # Errors
/// The system does not tell of its end.
pub(super) fn kill(child: &mut Child) -> miette::Result<()> {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
        && matches!(child.try_wait(), Ok(None))
    {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait().into_diagnostic().map(drop)
}
