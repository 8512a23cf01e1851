//! The end of a supervised process, and its output.
//!
//! Whether that is a verdict is not known here.

use std::io;
use std::time::Duration;

use camino::Utf8PathBuf;
use thiserror::Error;

use crate::files::Folder;

/// The end of a supervised process.
#[derive(Debug)]
pub struct ProcessOutput {
    /// In which way.
    pub how: ProcessEnd,
    /// The beginning of its stdout, at most [`KEPT`](super::output::KEPT) bytes.
    pub stdout: Vec<u8>,
    /// The bytes of its stdout that came after those.
    pub dropped: u64,
    /// The last of the bytes that came after them, some kilobytes: for people, who look for what went wrong at the end.
    pub stdout_end: Vec<u8>,
    /// The end of its stderr, some kilobytes, made plain.
    pub stderr_tail: String,
    /// From before the start to after the end of the group.
    pub elapsed: Duration,
}

impl ProcessOutput {
    /// Returns whether it wrote more to stdout than was kept.
    pub fn truncated(&self) -> bool {
        self.dropped > 0
    }

    /// Keeps what it wrote in a file of a folder, for people: stdout's beginning and end as they came, then the end of stderr. Nothing is kept of one that wrote
    /// nothing.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, folder: &Folder, name: &str) -> io::Result<()> {
        if self.stdout.is_empty() && self.stderr_tail.is_empty() {
            return Ok(());
        }
        let mut text = self.stdout.clone();
        if self.truncated() {
            let left_out = self.dropped.saturating_sub(self.stdout_end.len() as u64);
            if left_out > 0 {
                text.extend_from_slice(
                    format!("\n----- {left_out} bytes left out -----\n").as_bytes(),
                );
            }
            text.extend_from_slice(&self.stdout_end);
        }
        if !self.stderr_tail.is_empty() {
            text.extend_from_slice(b"\n----- stderr -----\n");
            text.extend_from_slice(self.stderr_tail.as_bytes());
        }
        folder.replace(name, &text)
    }
}

/// In which way a process ended. Where we ended it, how it took that does not matter.
#[derive(Debug)]
pub enum ProcessEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, which was not ours.
    Signalled(i32),
    /// Ended by us after its whole time.
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// Ended by us after a silence.
    Idle {
        /// The limit.
        after: Duration,
    },
    /// Ended by us because the watcher said so.
    Stopped,
    /// Never ran.
    CouldNotStart(StartError),
    /// The process is gone, or beyond KILL, and its status could not be read.
    StatusLost(io::Error),
}

/// The reason for which a process could not be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// No such executable.
    #[error(
        "`{program}` is not installed, or not in an absolute folder of PATH outside of the project"
    )]
    NotInstalled {
        /// Its name as it was asked for.
        program: String,
    },
    /// The directory to start it in is not there.
    #[error("cannot start a reviewer in {directory}: not a directory")]
    NoDirectory {
        /// The directory.
        directory: Utf8PathBuf,
    },
    /// The system refused.
    #[error("cannot start `{program}`: {source}")]
    Io {
        /// Its name as it was asked for.
        program: String,
        /// The system's error.
        source: io::Error,
    },
}

crate::diagnostic::impl_diagnostic!(StartError, "claudex::review::start", |error| {
    let is_missing = matches!(error, StartError::NotInstalled { .. });
    is_missing.then(|| "install it, or choose another reviewer".to_owned())
});
