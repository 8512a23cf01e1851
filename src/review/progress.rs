//! The progress of a run: the process that runs the reviewer writes its lines to a file, and others follow that file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, Write};
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use super::round_error::RoundError;
use crate::files::MAX_BYTES;
use crate::machine::Raw;
use crate::text;

/// The time between two looks of a follower for new lines.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(100);
/// The most bytes of lines that a run writes: a reviewer that floods its stderr fills no disk and no client.
const MAX_LINES_BYTES: usize = 1024 * 1024;
/// The name of the file in the loop's folder.
const FILE: &str = "progress.log";
/// The bytes that a printed line has in addition to its text.
const LINE_OVERHEAD_BYTES: usize = 10;
/// The line that replaces the rest.
const MORE: &str = "the reviewer says more than is shown";

/// An event of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundEvent<'a> {
    /// The run began.
    Began {
        /// The reviewer's name.
        reviewer: &'a str,
    },
    /// Another process runs this round's review, and is followed.
    Attached,
    /// A line of progress.
    Line(&'a str),
    /// A line that the reviewer wrote; there may be many.
    Reviewer(&'a str),
    /// Nothing new; several times a second.
    Tick,
}

/// Progress callback. Returning `Break` cancels the review.
pub type Listener<'l> = dyn FnMut(RoundEvent<'_>) -> ControlFlow<()> + 'l;

/// The lines of the run under way.
pub(super) struct Progress {
    file: File,
    /// The bytes that may still be written, or `None` after [`MORE`].
    bytes_left: Option<usize>,
}

impl Progress {
    /// Begins the lines of a new run.
    pub(super) fn begin(raw: &Raw) -> io::Result<Self> {
        let file = raw.store().open_loop_folder(raw.id())?.file_or_new(FILE)?;
        file.set_len(0)?;
        Ok(Self {
            file,
            bytes_left: Some(MAX_LINES_BYTES),
        })
    }

    /// Writes a line. An error is ignored: only followers miss the line.
    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.file, "{}", text::one_line(text, 500));
    }

    /// Writes a line of the reviewer's. Returns the line to show, or `None` if there were too many.
    pub(super) fn reviewer_line<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let bytes_left = self.bytes_left?;
        self.bytes_left = bytes_left.checked_sub(text.len() + LINE_OVERHEAD_BYTES);
        let line = self.bytes_left.map_or(MORE, |_| text);
        self.line(line);
        Some(line)
    }
}

/// Opens the lines for reading. A file that is larger than any of ours is ignored.
fn reader(raw: &Raw) -> Option<BufReader<File>> {
    let folder = raw.store().open_loop_folder(raw.id()).ok()?;
    let file = folder.file(FILE).ok()?;
    let fits = file.metadata().is_ok_and(|found| found.len() <= MAX_BYTES);
    fits.then(|| BufReader::new(file))
}

/// Shows the last `lines` lines of the newest run, and follows it to its end if it is running. Returns whether it was running.
///
/// # Errors
/// Returns an error if the listener cancels.
pub fn watch(raw: &Raw, lines: usize, listener: &mut Listener<'_>) -> Result<bool, RoundError> {
    // A run that begins after this is not followed.
    let is_running = raw.store().is_running(raw.id());
    let mut open = reader(raw);
    if let Some(open) = &mut open {
        let start = last_lines(open, lines);
        let _ = open.seek(io::SeekFrom::Start(start));
    }
    if is_running {
        tail(raw, open, listener)?;
    } else if let Some(open) = &mut open {
        show(open, listener)?;
    }
    Ok(is_running)
}

/// Returns the position at which the last `lines` lines of a file begin.
fn last_lines(file: &mut impl BufRead, lines: usize) -> u64 {
    let mut begins = VecDeque::from([0]);
    let mut at = 0;
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        at += line.len() as u64;
        line.clear();
        begins.push_back(at);
        if begins.len() > lines + 1 {
            begins.pop_front();
        }
    }
    begins.front().copied().unwrap_or_default()
}

/// Passes on the lines of a run that another process performs, until it ends.
///
/// # Errors
/// Returns an error if the listener cancels.
pub(super) fn follow(raw: &Raw, listener: &mut Listener<'_>) -> Result<(), RoundError> {
    tail(raw, reader(raw), listener)
}

fn tail(
    raw: &Raw,
    mut open: Option<BufReader<File>>,
    listener: &mut Listener<'_>,
) -> Result<(), RoundError> {
    pass_on(RoundEvent::Attached, listener)?;
    loop {
        let is_over = !raw.store().is_running(raw.id());
        open = open.or_else(|| reader(raw));
        if let Some(open) = &mut open {
            show(open, listener)?;
        }
        if is_over {
            return Ok(());
        }
        pass_on(RoundEvent::Tick, listener)?;
        thread::sleep(FOLLOW_INTERVAL);
    }
}

/// Passes on the whole lines up to the end of the file.
fn show(open: &mut BufReader<File>, listener: &mut Listener<'_>) -> Result<(), RoundError> {
    let mut line = String::new();
    loop {
        let start = open.stream_position().unwrap_or_default();
        line.clear();
        let read = open.read_line(&mut line);
        if !read.is_ok_and(|read| read > 0) || !line.ends_with('\n') {
            // Half a line is read again when it is whole.
            let _ = open.seek(io::SeekFrom::Start(start));
            return Ok(());
        }
        pass_on(RoundEvent::Reviewer(line.trim_end()), listener)?;
    }
}

fn pass_on(event: RoundEvent<'_>, listener: &mut Listener<'_>) -> Result<(), RoundError> {
    match listener(event) {
        ControlFlow::Break(()) => Err(RoundError::Interrupted),
        ControlFlow::Continue(()) => Ok(()),
    }
}
