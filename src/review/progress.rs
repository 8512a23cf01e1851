//! The progress of a run: its process writes lines to a file, and others follow that file.

use std::fs::File;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use super::round_error::RoundError;
use crate::files::Folder;
use crate::machine::Raw;
use crate::text;

const FOLLOW_INTERVAL: Duration = Duration::from_millis(100);
/// The most bytes of lines of a run, so that a reviewer cannot fill the disk.
const MAX_LINES_BYTES: usize = 1024 * 1024;
const FILE: &str = "progress.log";

/// An event of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundEvent<'a> {
    /// A line of progress.
    Line(&'a str),
    /// A line of the reviewer's output. A run may have many.
    Reviewer(&'a str),
    /// A chance to cancel, several times a second.
    Tick,
}

/// Progress callback. Returning `Break` cancels the review.
pub type Listener<'l> = dyn FnMut(RoundEvent<'_>) -> ControlFlow<()> + 'l;

pub(super) struct Progress {
    file: File,
    bytes_left: usize,
}

impl Progress {
    pub(super) fn begin(folder: &Folder) -> io::Result<Self> {
        let file = folder.file_or_new(FILE)?;
        file.set_len(0)?;
        Ok(Self {
            file,
            bytes_left: MAX_LINES_BYTES,
        })
    }

    /// Writes a line if it still fits. An error is ignored: only followers miss the line.
    pub(super) fn line(&mut self, text: &str) {
        let line = text::one_line(text, 500);
        if let Some(bytes_left) = self.bytes_left.checked_sub(line.len() + 1) {
            self.bytes_left = bytes_left;
            let _ = writeln!(self.file, "{line}");
        }
    }
}

/// Shows the newest run's last `most` lines, and follows it to its end. Returns whether it ran.
///
/// # Errors
/// Returns an error if the listener cancels.
pub fn watch(raw: &Raw, most: usize, listener: &mut Listener<'_>) -> Result<bool, RoundError> {
    let store = raw.store();
    let file = store.loop_folder(raw.id()).join(FILE);
    let read = || String::from_utf8_lossy(&store.read(&file).unwrap_or_default()).into_owned();
    let mut pass_on = |event: RoundEvent<'_>| match listener(event) {
        ControlFlow::Break(()) => Err(RoundError::Interrupted(
            "no longer followed; the review continues",
        )),
        ControlFlow::Continue(()) => Ok(()),
    };
    // A run that begins after this is not followed.
    let was_running = store.is_running(raw.id());
    let mut shown_count = read().matches('\n').count().saturating_sub(most);
    if was_running {
        pass_on(RoundEvent::Line("following the review that is running"))?;
    }
    loop {
        let is_over = !was_running || !store.is_running(raw.id());
        let text = read();
        // An incomplete line is read again later.
        let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
        for line in whole.lines().skip(shown_count) {
            shown_count += 1;
            pass_on(RoundEvent::Reviewer(line.trim_end()))?;
        }
        if is_over {
            return Ok(was_running);
        }
        pass_on(RoundEvent::Tick)?;
        thread::sleep(FOLLOW_INTERVAL);
    }
}
