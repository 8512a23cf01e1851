//! The end of a supervised process, and its output.

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::files::Folder;

/// The output of a supervised process, and its end.
#[derive(Debug)]
pub struct ProcessOutput {
    /// The way in which it ended.
    pub how: ProcessEnd,
    /// The beginning of its stdout, at most [`MAX_KEPT_BYTES`](super::output::MAX_KEPT_BYTES) bytes.
    pub stdout: Vec<u8>,
    /// The bytes of its stdout that came after those.
    pub dropped: u64,
    /// The last kilobytes of those, in which people look for the error.
    pub stdout_end: Vec<u8>,
    /// The last kilobytes of its stderr, made plain.
    pub stderr_tail: String,
}

impl ProcessOutput {
    /// Returns whether it wrote more to stdout than was kept.
    pub fn truncated(&self) -> bool {
        self.dropped > 0
    }

    /// Keeps the output in a file of a folder, for people: the beginning and the end of stdout as they came, then the end of
    /// stderr. A process that wrote nothing leaves no file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn keep(&self, folder: &Folder, name: &str) -> io::Result<()> {
        if self.stdout.is_empty() && self.stderr_tail.is_empty() {
            return Ok(());
        }
        let mut text = self.stdout.clone();
        let left_out = self.dropped.saturating_sub(self.stdout_end.len() as u64);
        if left_out > 0 {
            text.extend(format!("\n----- {left_out} bytes left out -----\n").bytes());
        }
        text.extend_from_slice(&self.stdout_end);
        if !self.stderr_tail.is_empty() {
            text.extend(format!("\n----- stderr -----\n{}", self.stderr_tail).bytes());
        }
        folder.replace(name, &text)
    }
}

/// The way in which a process ended. If we ended it, its own status does not matter.
#[derive(Debug, Error)]
pub enum ProcessEnd {
    /// An exit with this status.
    #[error("exit status {0}")]
    Exited(i32),
    /// A signal ended it, which was not ours.
    #[error("signal {0}")]
    Signalled(i32),
    /// We ended it after its whole time.
    #[error("not done after {} s", .after.as_secs())]
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// We ended it after a silence.
    #[error("silent for {} s", .after.as_secs())]
    Idle {
        /// The limit.
        after: Duration,
    },
    /// We ended it because the watcher asked to.
    #[error("stopped")]
    Stopped,
    /// No such executable.
    #[error(
        "`{program}` is not installed, or not in an absolute folder of PATH outside of the project"
    )]
    NotInstalled {
        /// The name in the call.
        program: String,
    },
    /// The system did not start it, or lost its status.
    #[error("cannot run `{program}`: {source}")]
    Io {
        /// The name in the call.
        program: String,
        /// The system's error.
        source: io::Error,
    },
}
