//! A process group, with one child at its head: signals to all of it, and the head's status.
//!
//! The head is reaped last. Until then no other process can have its id, so that a signal to the
//! group never hits a stranger.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The number of retries of a busy program: for a second in all.
const BUSY_RETRIES: u32 = 50;
/// The time between two retries.
const BUSY_INTERVAL: Duration = Duration::from_millis(20);

/// A process group. It is killed if it is dropped without being reaped.
#[derive(Debug)]
pub(super) struct Group {
    head: Child,
    id: Pid,
    reaped: bool,
}

impl Group {
    pub(super) fn spawn(mut command: Command) -> io::Result<Self> {
        let head = begin(command.process_group(0))?;
        let id = i32::try_from(head.id())
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| io::Error::other("the system gave an invalid process id"))?;
        Ok(Self {
            head,
            id,
            reaped: false,
        })
    }

    /// Takes the head's streams, which must be piped.
    pub(super) fn streams(&mut self) -> (ChildStdin, ChildStdout, ChildStderr) {
        let head = &mut self.head;
        let streams = (head.stdin.take(), head.stdout.take(), head.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            unreachable!("all streams are piped");
        };
        (stdin, stdout, stderr)
    }

    /// Returns whether the head has exited; it stays to be reaped.
    pub(super) fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.id), options) {
            Ok(status) => status.is_some(),
            Err(rustix::io::Errno::INTR) => false,
            // No such child: the system reaps it if SIGCHLD is ignored.
            Err(_) => true,
        }
    }

    pub(super) fn signal(&self, signal: Signal) {
        if !self.reaped {
            // It fails only if the group is empty.
            let _ = kill_process_group(self.id, signal);
        }
    }

    /// Waits for the head to die after a KILL and returns its status.
    pub(super) fn reap(&mut self) -> io::Result<ExitStatus> {
        self.reaped = true;
        self.head.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(Signal::KILL);
            let _ = self.reap();
        }
    }
}

/// Starts a process. A new program is busy until every process that was forked meanwhile has begun:
/// each holds the file for writing until then.
fn begin(command: &mut Command) -> io::Result<Child> {
    for _ in 0..BUSY_RETRIES {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(BUSY_INTERVAL);
            }
            other => return other,
        }
    }
    command.spawn()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn busy_program_is_started_when_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let writer = std::fs::File::options().append(true).open(&path).unwrap();
        let begun = thread::spawn(move || Group::spawn(Command::new(path)).map(drop));
        thread::sleep(BUSY_INTERVAL * 3);
        drop(writer);
        begun.join().unwrap().unwrap();
    }
}
