//! The lines of the run under way: who performs it writes them, who attaches reads them to the end.
//!
//! Bounded, whatever a reviewer writes. What a line says is not known here.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, Write};
use std::thread;
use std::time::Duration;

use super::error::RoundError;
use super::listener::{Listener, RoundEvent};
use crate::files::MAX_BYTES;
use crate::machine::Raw;
use crate::text;

/// How often someone who follows a run looks for new lines.
const FOLLOW: Duration = Duration::from_millis(100);
/// Most bytes of lines that a run tells, altogether: a reviewer that floods its stderr fills no disk and no client.
const TOLD: usize = 1024 * 1024;
/// The name of the file in the loop's folder.
const FILE: &str = "progress.log";
/// The number of bytes more that a line costs where it is printed.
const AROUND: usize = 10;
/// What is told instead of the rest.
const MORE: &str = "the reviewer says more than is shown";

/// The lines of the run under way, for whoever attaches to it.
pub(super) struct Progress {
    file: File,
    /// How many bytes may still come; None: it has been said that more come.
    left: Option<usize>,
}

impl Progress {
    /// Opens the lines for reading. A file that is larger than any of ours is none.
    fn reader(raw: &Raw) -> Option<BufReader<File>> {
        let folder = raw.store().open_loop_folder(raw.id()).ok()?;
        let file = folder.file(FILE).ok()?;
        let fits = file.metadata().is_ok_and(|found| found.len() <= MAX_BYTES);
        fits.then(|| BufReader::new(file))
    }

    pub(super) fn begin(raw: &Raw) -> io::Result<Self> {
        // What a reviewer says may quote what it reads: it is for the person alone, as the findings are.
        let file = raw.store().open_loop_folder(raw.id())?.file_or_new(FILE)?;
        file.set_len(0)?;
        Ok(Self {
            file,
            left: Some(TOLD),
        })
    }

    /// Writes a line. One that cannot be written is lost to followers, and to nobody else.
    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.file, "{}", text::one_line(text, 500));
    }

    /// Writes a line of the reviewer's, and returns what of it is told: nothing once there was too much.
    pub(super) fn tell<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let left = self.left?;
        self.left = left.checked_sub(text.len() + AROUND);
        let told = if self.left.is_some() { text } else { MORE };
        self.line(told);
        Some(told)
    }
}

/// Shows the last lines of the newest run, at most `lines`, and follows it to its end where it is running. Starts nothing;
/// says whether a run was under way, which the listener was told of then.
///
/// # Errors
/// The listener gave up.
pub fn watch(raw: &Raw, lines: usize, listener: &mut Listener<'_>) -> Result<bool, RoundError> {
    // Asked first: of a run that begins after this, nothing is promised.
    let running = raw.store().is_running(raw.id());
    let mut reader = Progress::reader(raw);
    let from = reader.as_mut().map_or(0, |open| last_lines(open, lines));
    if let Some(open) = reader.as_mut() {
        let _ = open.seek(io::SeekFrom::Start(from));
    }
    if running {
        return tail(raw, reader, listener).map(|()| true);
    }
    let shown = reader
        .into_iter()
        .flat_map(|open| open.lines().map_while(Result::ok));
    for line in shown {
        if listener(RoundEvent::Reviewer(&line)).is_break() {
            return Err(RoundError::Interrupted);
        }
    }
    Ok(false)
}

/// Returns where the last `lines` lines of a file begin.
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
pub(super) fn follow(raw: &Raw, listener: &mut Listener<'_>) -> Result<(), RoundError> {
    tail(raw, Progress::reader(raw), listener)
}

/// The same, from where a reader stands.
fn tail(
    raw: &Raw,
    mut reader: Option<BufReader<File>>,
    listener: &mut Listener<'_>,
) -> Result<(), RoundError> {
    if listener(RoundEvent::Attached).is_break() {
        return Err(RoundError::Interrupted);
    }
    let mut line = String::new();
    loop {
        let over = !raw.store().is_running(raw.id());
        if reader.is_none() {
            reader = Progress::reader(raw);
        }
        if let Some(open) = reader.as_mut() {
            loop {
                let at = open.stream_position().unwrap_or_default();
                match open.read_line(&mut line) {
                    Ok(read) if read > 0 && line.ends_with('\n') => {
                        if listener(RoundEvent::Reviewer(line.trim_end())).is_break() {
                            return Err(RoundError::Interrupted);
                        }
                        line.clear();
                    }
                    _ => {
                        // Half a line is read again once it is whole.
                        line.clear();
                        let _ = open.seek(io::SeekFrom::Start(at));
                        break;
                    }
                }
            }
        }
        if over {
            return Ok(());
        }
        if listener(RoundEvent::Tick).is_break() {
            return Err(RoundError::Interrupted);
        }
        thread::sleep(FOLLOW);
    }
}
