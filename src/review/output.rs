//! What is kept of a child's output: the beginning of stdout, the end of stderr, and each line for whoever watches.
//!
//! Bounded, whatever the child writes. This file reads from nothing and judges nothing.

use std::ops::ControlFlow;

use crate::text;

/// How many bytes of stdout are kept; more is not a review.
pub const KEPT: usize = 4 * 1024 * 1024;
/// How many bytes of stderr are kept, from its end.
const TAIL: usize = 8 * 1024;
/// How many bytes of one line are looked at.
const LINE: usize = 4 * 1024;
/// How many characters of one line are shown.
const SHOWN: usize = 300;

/// One of a child's two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// The standard output.
    Stdout,
    /// The standard error.
    Stderr,
}

/// The output of one child so far.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The first [`KEPT`] bytes of stdout.
    pub(super) stdout: Vec<u8>,
    /// How many bytes of stdout came after those.
    pub(super) dropped: u64,
    stderr: Vec<u8>,
    lines: [Lines; 2],
}

impl Output {
    /// Takes what came, and shows each line that it completes; asked to stop, it still keeps the bytes.
    pub(super) fn take(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        show: &mut dyn FnMut(Stream, &str) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match stream {
            Stream::Stdout => {
                let fits = bytes.len().min(KEPT - self.stdout.len());
                self.stdout.extend_from_slice(&bytes[..fits]);
                self.dropped += (bytes.len() - fits) as u64;
            }
            Stream::Stderr => {
                self.stderr.extend_from_slice(bytes);
                if self.stderr.len() > 2 * TAIL {
                    self.stderr.drain(..self.stderr.len() - TAIL);
                }
            }
        }
        self.lines[stream as usize].take(bytes, &mut |line| show(stream, line))
    }

    /// Shows a last line that had no line end.
    pub(super) fn end(
        &mut self,
        stream: Stream,
        show: &mut dyn FnMut(Stream, &str) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.lines[stream as usize].flush(&mut |line| show(stream, line))
    }

    /// The end of stderr, made plain.
    pub(super) fn stderr_tail(&self) -> String {
        text::plain(&String::from_utf8_lossy(
            &self.stderr[self.stderr.len().saturating_sub(TAIL)..],
        ))
    }
}

/// Bytes cut into lines, at `\n` and at the `\r` of progress displays.
#[derive(Debug, Default)]
struct Lines {
    partial: Vec<u8>,
}

impl Lines {
    fn take(&mut self, bytes: &[u8], show: &mut dyn FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut asked = ControlFlow::Continue(());
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let ends = matches!(piece.last(), Some(b'\n' | b'\r'));
            let room = LINE - self.partial.len();
            self.partial.extend_from_slice(&piece[..piece.len().min(room)]);
            if ends && self.flush(show).is_break() {
                asked = ControlFlow::Break(());
            }
        }
        asked
    }

    fn flush(&mut self, show: &mut dyn FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let line = text::one_line(&String::from_utf8_lossy(&self.partial), SHOWN);
        self.partial.clear();
        if line.is_empty() {
            ControlFlow::Continue(())
        } else {
            show(&line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(chunks: &[&[u8]]) -> (Output, Vec<String>) {
        let (mut output, mut lines) = (Output::default(), Vec::new());
        let mut show = |_, line: &str| {
            lines.push(line.to_owned());
            ControlFlow::Continue(())
        };
        for chunk in chunks {
            assert!(output.take(Stream::Stderr, chunk, &mut show).is_continue());
        }
        assert!(output.end(Stream::Stderr, &mut show).is_continue());
        (output, lines)
    }

    #[test]
    fn lines_are_whole_whatever_the_chunks() {
        let (_, lines) = shown(&["Über".as_bytes(), b"\xc3", b"\xbc\r", b"\n\n10%\r20%\rla", b"st"]);
        assert_eq!(lines, ["Überü", "10%", "20%", "last"]);
    }

    #[test]
    fn hostile_lines_are_short_and_plain() {
        let long = vec![b'x'; 100_000];
        let (output, lines) = shown(&[&long, b"\n\x1b[2J\xff\xe2\x80\xaeb\n"]);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].chars().count(), SHOWN);
        assert_eq!(lines[1], "[2J\u{fffd}b");
        assert!(output.stderr_tail().len() <= TAIL + 10);
        assert!(output.stderr_tail().ends_with("[2J\u{fffd}b\n"));
    }

    #[test]
    fn stdout_keeps_its_beginning_and_counts_the_rest() {
        let mut output = Output::default();
        let chunk = vec![b'a'; 1024 * 1024];
        for _ in 0..6 {
            assert!(
                output
                    .take(Stream::Stdout, &chunk, &mut |_, _| ControlFlow::Continue(()))
                    .is_continue()
            );
        }
        assert_eq!((output.stdout.len(), output.dropped), (KEPT, 2 * 1024 * 1024));
    }

    #[test]
    fn a_request_to_stop_is_passed_on() {
        let mut output = Output::default();
        assert!(
            output
                .take(Stream::Stdout, b"a\nb\n", &mut |_, _| ControlFlow::Break(()))
                .is_break()
        );
        assert_eq!(output.stdout, b"a\nb\n");
    }
}
