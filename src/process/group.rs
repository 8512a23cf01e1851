//! A process group with one child of ours at its head: signals to all of it, and the head's status at the end.
//!
//! The head is reaped last. Until then its id cannot be given to anyone else, so a signal to the group can never hit
//! a stranger. Nothing else of a review is known here.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The time that a killed head may take to be gone. Only a process stuck in the kernel needs any.
const DEATH: Duration = Duration::from_secs(2);
/// The waits before a program that is busy is tried again: a second in all.
const BUSY: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// The group. Dropped without being reaped, it is killed.
#[derive(Debug)]
pub(super) struct Group {
    head: Child,
    id: Pid,
    reaped: bool,
}

impl Group {
    pub(super) fn spawn(mut command: Command) -> io::Result<Self> {
        let head = begin(command.process_group(0))?;
        let id = i32::try_from(head.id()).ok().and_then(Pid::from_raw);
        let id = id.ok_or_else(|| io::Error::other("the system gave a process id that is none"))?;
        Ok(Self {
            head,
            id,
            reaped: false,
        })
    }

    /// Returns the head's streams, as far as they were asked for and not yet taken.
    pub(super) fn streams(
        &mut self,
    ) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (
            self.head.stdin.take(),
            self.head.stdout.take(),
            self.head.stderr.take(),
        )
    }

    /// Returns whether the head has exited; it stays to be reaped.
    pub(super) fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.id), options) {
            Ok(status) => status.is_some(),
            Err(rustix::io::Errno::INTR) => false,
            // No such child: whoever ignores SIGCHLD has it reaped by the system.
            Err(_) => true,
        }
    }

    /// Asks all of the group to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends all of the group.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if !self.reaped {
            // It fails only where nobody is left to hear it.
            let _ = kill_process_group(self.id, signal);
        }
    }

    /// Waits for the head to die after [`kill`](Self::kill) and returns its status.
    ///
    /// # Errors
    /// Returns an error if the head outlives KILL for two seconds, or if its status went to someone else.
    pub(super) fn reap(&mut self) -> io::Result<ExitStatus> {
        self.reaped = true;
        let since = Instant::now();
        while !self.has_exited() {
            if since.elapsed() >= DEATH {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the process outlived its kill",
                ));
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.head.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            let _ = self.reap();
        }
    }
}

/// Starts a process. A program that was written a moment ago is busy for as long as another process, forked meanwhile, has not begun: it
/// holds the file for writing until then.
fn begin(command: &mut Command) -> io::Result<Child> {
    for _ in 0..BUSY {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => thread::sleep(PAUSE),
            other => return other,
        }
    }
    command.spawn()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_program_that_somebody_still_writes_is_started_once_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(b"#!/bin/sh\n").unwrap();
        file.set_permissions(std::fs::Permissions::from_mode(0o755))
            .unwrap();
        let begun = thread::spawn(move || Group::spawn(Command::new(path)).map(drop));
        // The file is open for as long as the first tries take.
        thread::sleep(PAUSE * 3);
        drop(file);
        begun.join().unwrap().unwrap();
    }
}
