//! Processes of a scenario. Their output goes to files, so that a grandchild that keeps a pipe open
//! cannot delay us.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic as _, miette};
use rustix::process::{Pid, Signal, kill_process_group};

/// A process that was started. It is killed, with its process group, when this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Starts a command in its own process group, without input. Its output goes to `log.out` and
    /// `log.err`.
    pub(super) fn start(command: &mut Command, log: &Path) -> miette::Result<Self> {
        let create = |extension| File::create(log.with_extension(extension)).into_diagnostic();
        let child = command
            .stdin(Stdio::null())
            .stdout(create("out")?)
            .stderr(create("err")?)
            .process_group(0)
            .spawn()
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Self {
            child,
            log: log.to_owned(),
        })
    }

    pub(super) fn out(&self) -> String {
        self.read("out")
    }

    pub(super) fn err(&self) -> String {
        self.read("err")
    }

    fn read(&self, extension: &str) -> String {
        let bytes = fs_err::read(self.log.with_extension(extension)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits for the end of the process. If it takes too long, its process group is killed.
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

pub(super) fn output(command: &mut Command, limit: Duration) -> miette::Result<String> {
    let folder = tempfile::tempdir().into_diagnostic()?;
    let mut running = Running::start(command, &folder.path().join("log"))?;
    let status = running.wait(limit)?;
    let out = running.out();
    if !status.success() {
        let program = command.get_program();
        let arguments: Vec<_> = command.get_args().collect();
        let err = running.err();
        return Err(miette!("{program:?} {arguments:?}: {status}\n{out}{err}"));
    }
    Ok(out)
}
