//! The output of a supervised process, and its end.
//!
//! Keeps the beginning and the end of stdout and the end of stderr, all of bounded size.

use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use anstream::adapter::strip_str;
use thiserror::Error;

use super::limits::Spelled;
use crate::files::Folder;
use crate::text;

/// The bytes of stdout that are kept. More is not a review.
pub const MAX_KEPT_BYTES: usize = 4 * 1024 * 1024;
/// The bytes that are kept of the end of stderr, and of a stdout that is cut.
const MAX_TAIL_BYTES: usize = 8 * 1024;
/// The bytes of one line that are kept. A line may be an event with texts inside.
const MAX_LINE_BYTES: usize = MAX_KEPT_BYTES;
const MAX_SHOWN_CHARS: usize = 300;

/// One of a process's two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// The standard output.
    Stdout,
    /// The standard error.
    Stderr,
}

/// The receiver of each line of a process as it is complete. Returning `Break` asks to stop.
pub(super) type HandLine<'h> = dyn FnMut(Stream, &[u8]) -> ControlFlow<()> + 'h;

/// The output of a supervised process so far, and its end.
#[derive(Debug, Default)]
pub struct ProcessOutput {
    /// The way in which it ended.
    pub how: ProcessEnd,
    /// The beginning of its stdout, at most [`MAX_KEPT_BYTES`] bytes.
    pub stdout: Vec<u8>,
    /// The number of bytes of its stdout that came after those.
    pub(crate) dropped: usize,
    /// The end of those, which often has the error.
    pub(crate) stdout_end: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// The beginning of a line that is not complete, for each stream.
    pub(crate) partial: [Vec<u8>; 2],
}

/// The way in which a process ended. If we ended it, its own status does not matter.
#[derive(Debug, Default, Error)]
pub enum ProcessEnd {
    /// An exit with this status.
    #[error("exit status {0}")]
    Exited(i32),
    /// A signal that was not ours ended it.
    #[error("signal {0}")]
    Signalled(i32),
    /// We ended it after its whole time.
    #[error("ended after {}", Spelled(*.after))]
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// We ended it after a silence.
    #[error("ended after {} without output", Spelled(*.after))]
    Idle {
        /// The limit.
        after: Duration,
    },
    /// We ended it because the watcher asked to.
    #[error("interrupted")]
    #[default]
    Stopped,
    /// No such executable.
    #[error(
        "`{program}` is not an installed program: a name is looked up in the absolute folders of PATH outside of the project, and the file must be executable"
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

/// Returns what a process wrote as text, without the escape sequences of a terminal.
pub fn plain_text(bytes: &[u8]) -> String {
    strip_str(&String::from_utf8_lossy(bytes)).to_string()
}

/// Returns a line of a process's output as users see it: plain, short, perhaps empty.
pub fn plain_line(line: &[u8]) -> String {
    text::one_line(&plain_text(line), MAX_SHOWN_CHARS)
}

impl ProcessOutput {
    /// Takes bytes, and hands over each line that they complete. Lines end at `\n` and at the `\r`
    /// of progress displays. Keeps all bytes even if `hand` asks to stop.
    pub(super) fn take(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        hand: &mut HandLine<'_>,
    ) -> ControlFlow<()> {
        match stream {
            Stream::Stdout => {
                let fits = bytes.len().min(MAX_KEPT_BYTES - self.stdout.len());
                self.stdout.extend_from_slice(&bytes[..fits]);
                self.dropped += bytes.len() - fits;
                keep_end(&mut self.stdout_end, &bytes[fits..]);
            }
            Stream::Stderr => keep_end(&mut self.stderr, bytes),
        }
        let mut flow = ControlFlow::Continue(());
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        for piece in bytes.split_inclusive(is_end) {
            let partial = &mut self.partial[stream as usize];
            let room = MAX_LINE_BYTES - partial.len();
            partial.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.last().is_some_and(is_end) && self.end_line(stream, hand).is_break() {
                flow = ControlFlow::Break(());
            }
        }
        flow
    }

    /// Hands over the pending line, complete or not.
    pub(super) fn end_line(&mut self, stream: Stream, hand: &mut HandLine<'_>) -> ControlFlow<()> {
        let line = std::mem::take(&mut self.partial[stream as usize]);
        match line.trim_ascii_end() {
            [] => ControlFlow::Continue(()),
            line => hand(stream, line),
        }
    }

    /// Returns whether the process wrote more to stdout than was kept.
    pub fn truncated(&self) -> bool {
        self.dropped > 0
    }

    /// Returns the last kilobytes of stderr, made plain.
    pub fn stderr_tail(&self) -> String {
        text::strip_hidden(&plain_text(tail(&self.stderr)))
    }

    /// Keeps the output in a file of a folder, for people: the beginning and the end of stdout,
    /// then the end of stderr. A process that wrote nothing leaves no file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn keep(&self, folder: &Folder, name: &str) -> io::Result<()> {
        if self.stdout.is_empty() && self.stderr.is_empty() {
            return Ok(());
        }
        let mut text = self.stdout.clone();
        let end = tail(&self.stdout_end);
        let left_out = self.dropped - end.len();
        if left_out > 0 {
            text.extend(format!("\n----- {left_out} bytes left out -----\n").bytes());
        }
        text.extend_from_slice(end);
        if !self.stderr.is_empty() {
            text.extend(format!("\n----- stderr -----\n{}", self.stderr_tail()).bytes());
        }
        folder.replace(name, &text)
    }
}

/// Appends bytes of which only the last [`MAX_TAIL_BYTES`] matter. Holds at most twice as many.
fn keep_end(end: &mut Vec<u8>, bytes: &[u8]) {
    end.extend_from_slice(bytes);
    if end.len() > 2 * MAX_TAIL_BYTES {
        end.drain(..end.len() - MAX_TAIL_BYTES);
    }
}

fn tail(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(MAX_TAIL_BYTES)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes chunks of a stream, and returns the lines that were handed over.
    fn lines(output: &mut ProcessOutput, stream: Stream, chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let mut hand = |_, line: &[u8]| {
            lines.push(line.to_vec());
            ControlFlow::Continue(())
        };
        for chunk in chunks {
            let _ = output.take(stream, chunk, &mut hand);
        }
        let _ = output.end_line(stream, &mut hand);
        lines
    }

    #[test]
    fn lines_are_whole_whatever_the_chunks() {
        let chunks = [
            "Über".as_bytes(),
            b"\xc3",
            b"\xbc\r",
            b"\n\n10%\r20%\rla",
            b"st",
        ];
        let lines: Vec<_> = lines(&mut ProcessOutput::default(), Stream::Stderr, &chunks)
            .iter()
            .map(|line| plain_line(line))
            .collect();
        assert_eq!(lines, ["Überü", "10%", "20%", "last"]);
    }

    #[test]
    fn hostile_lines_are_short_and_plain() {
        let mut output = ProcessOutput::default();
        let long = vec![b'x'; 100_000];
        let chunks = [&long[..], b"\n\x1b[2J\xff\xe2\x80\xaeb\x1b[0m\n"];
        let lines = lines(&mut output, Stream::Stderr, &chunks);
        assert_eq!(plain_line(&lines[0]).chars().count(), MAX_SHOWN_CHARS);
        assert_eq!(plain_line(&lines[1]), "\u{fffd}b");
        assert!(output.stderr_tail().len() <= MAX_TAIL_BYTES + 10);
        assert!(output.stderr_tail().ends_with("x\n\u{fffd}b\n"));
    }

    #[test]
    fn long_output_keeps_its_beginning_and_its_end() {
        let mut output = ProcessOutput::default();
        let megabyte = vec![b'a'; 1 << 20];
        let mut chunks = vec![&megabyte[..]; 2];
        chunks.push(b"\n");
        chunks.extend([&megabyte[..]; 6]);
        chunks.push(b"bbb");
        let lines = lines(&mut output, Stream::Stdout, &chunks);
        let lengths: Vec<_> = lines.iter().map(Vec::len).collect();
        assert_eq!(lengths, [2 << 20, MAX_LINE_BYTES]);
        assert_eq!(output.stdout.len(), MAX_KEPT_BYTES);
        assert_eq!(output.dropped, (4 << 20) + 4);
        assert_eq!(tail(&output.stdout_end).len(), MAX_TAIL_BYTES);
        assert!(output.stdout_end.ends_with(b"aabbb"));
    }

    #[test]
    fn request_to_stop_is_passed_on() {
        let mut output = ProcessOutput::default();
        let mut stop = |_, _: &[u8]| ControlFlow::Break(());
        assert!(output.take(Stream::Stdout, b"a\nb\n", &mut stop).is_break());
        assert_eq!(output.stdout, b"a\nb\n");
    }
}
