//! A program that is about to be started, with its whole environment: nothing of the environment of
//! `cargo xtask` reaches a client.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic as _, miette};
use rustix::process::{Pid, Signal, kill_process_group};

/// The program, its arguments, its environment and its working folder.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) env: Vec<(String, String)>,
    pub(super) folder: PathBuf,
}

/// A program that was started. It is killed, with its process group, when this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
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

    /// Starts the program in its own process group, without input. Its output goes to `log.jsonl` and `log.err`: files, so
    /// that a grandchild that keeps a pipe open cannot delay us.
    pub(super) fn start(&self, log: &Path) -> miette::Result<Running> {
        let out = log.with_extension("jsonl");
        let err = log.with_extension("err");
        let child = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .envs(self.env.iter().cloned())
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(File::create(&out).into_diagnostic()?)
            .stderr(File::create(&err).into_diagnostic()?)
            .process_group(0)
            .spawn()
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot start {}", self.program.display()))?;
        Ok(Running { child, out, err })
    }

    /// Runs the program and returns its status, its stdout and its stderr.
    pub(super) fn run(&self, limit: Duration) -> miette::Result<(ExitStatus, String, String)> {
        let folder = tempfile::tempdir().into_diagnostic()?;
        let mut running = self.start(&folder.path().join("log"))?;
        let status = running.wait(limit)?;
        Ok((status, running.out(), running.err()))
    }

    /// Runs the program, and returns its output if it succeeds.
    pub(super) fn output(&self, limit: Duration) -> miette::Result<String> {
        let (status, out, err) = self.run(limit)?;
        if !status.success() {
            let program = self.program.display();
            let arguments = &self.arguments;
            return Err(miette!("{program} {arguments:?}: {status}\n{out}{err}"));
        }
        Ok(out)
    }
}

impl Running {
    /// Returns the stdout so far.
    pub(super) fn out(&self) -> String {
        read(&self.out)
    }

    /// Returns the stderr so far.
    pub(super) fn err(&self) -> String {
        read(&self.err)
    }

    /// Waits for the end of the program. If it takes too long, its process group is killed.
    pub(super) fn wait(&mut self, limit: Duration) -> miette::Result<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().into_diagnostic()? {
                return Ok(status);
            }
            if Instant::now() > deadline {
                self.kill()?;
                return Err(miette!("timed out after {} s", limit.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the program and its process group.
    pub(super) fn kill(&mut self) -> miette::Result<()> {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let (Some(group), Ok(None)) = (group, self.child.try_wait()) {
            // The group may have ended since.
            let _ = kill_process_group(group, Signal::KILL);
        }
        self.child.wait().into_diagnostic().map(drop)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

fn read(path: &Path) -> String {
    let bytes = fs_err::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
