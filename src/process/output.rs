//! The part of a child's output that is kept: the beginning and the end of stdout, the end of stderr, and each line for a watcher.
//!
//! Bounded, whatever the child writes. This file reads from nothing and judges nothing.

use std::ops::ControlFlow;

use crate::text;

/// The bytes of stdout that are kept. More is not a review.
pub const KEPT: usize = 4 * 1024 * 1024;
/// The bytes of stderr that are kept, from its end, and of a stdout that is longer than the part kept of its beginning.
const TAIL: usize = 8 * 1024;
/// The bytes of one line that are kept. A line may be an event with texts inside.
const MAX_LINE_BYTES: usize = KEPT;
/// The characters of one line that are shown.
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
    /// The bytes of stdout that came after those.
    pub(super) dropped: u64,
    /// The end of those.
    end: Vec<u8>,
    stderr: Vec<u8>,
    lines: [Lines; 2],
}

/// Returns a line of a child's output as people see it: plain, short, perhaps empty.
pub(super) fn shown(line: &[u8]) -> String {
    text::one_line(&String::from_utf8_lossy(line), SHOWN)
}

impl Output {
    /// Takes what came, and hands over each line that it completes; asked to stop, it still keeps the bytes.
    pub(super) fn take(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        hand: &mut dyn FnMut(Stream, &[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match stream {
            Stream::Stdout => {
                let fits = bytes.len().min(KEPT - self.stdout.len());
                self.stdout.extend_from_slice(&bytes[..fits]);
                self.dropped += (bytes.len() - fits) as u64;
                keep_end(&mut self.end, &bytes[fits..]);
            }
            Stream::Stderr => keep_end(&mut self.stderr, bytes),
        }
        self.lines[stream as usize].take(bytes, &mut |line| hand(stream, line))
    }

    /// Hands over a last line that had no line end.
    pub(super) fn end(
        &mut self,
        stream: Stream,
        hand: &mut dyn FnMut(Stream, &[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.lines[stream as usize].flush(&mut |line| hand(stream, line))
    }

    /// Returns the end of the stdout that is not kept.
    pub(super) fn stdout_end(&self) -> &[u8] {
        &self.end[self.end.len().saturating_sub(TAIL)..]
    }

    /// Returns the end of stderr, made plain.
    pub(super) fn stderr_tail(&self) -> String {
        text::plain(&String::from_utf8_lossy(
            &self.stderr[self.stderr.len().saturating_sub(TAIL)..],
        ))
    }
}

/// Appends bytes of which only the last [`TAIL`] are wanted; twice as many are held at most.
fn keep_end(end: &mut Vec<u8>, bytes: &[u8]) {
    end.extend_from_slice(bytes);
    if end.len() > 2 * TAIL {
        end.drain(..end.len() - TAIL);
    }
}

/// Bytes cut into lines, at `\n` and at the `\r` of progress displays.
#[derive(Debug, Default)]
struct Lines {
    partial: Vec<u8>,
}

impl Lines {
    fn take(
        &mut self,
        bytes: &[u8],
        hand: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut asked = ControlFlow::Continue(());
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let ends = matches!(piece.last(), Some(b'\n' | b'\r'));
            let text = if ends {
                &piece[..piece.len() - 1]
            } else {
                piece
            };
            let room = MAX_LINE_BYTES - self.partial.len();
            self.partial
                .extend_from_slice(&text[..text.len().min(room)]);
            if ends && self.flush(hand).is_break() {
                asked = ControlFlow::Break(());
            }
        }
        asked
    }

    fn flush(&mut self, hand: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
        let line = std::mem::take(&mut self.partial);
        if line.iter().all(u8::is_ascii_whitespace) {
            ControlFlow::Continue(())
        } else {
            hand(&line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(chunks: &[&[u8]]) -> (Output, Vec<String>) {
        let (mut output, mut lines) = (Output::default(), Vec::new());
        let mut show = |_, line: &[u8]| {
            lines.push(super::shown(line));
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
        let (_, lines) = shown(&[
            "Über".as_bytes(),
            b"\xc3",
            b"\xbc\r",
            b"\n\n10%\r20%\rla",
            b"st",
        ]);
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
    fn stdout_keeps_its_beginning_and_its_end_and_counts_the_rest() {
        let mut output = Output::default();
        let chunk = vec![b'a'; 1024 * 1024];
        for _ in 0..6 {
            assert!(
                output
                    .take(
                        Stream::Stdout,
                        &chunk,
                        &mut |_, _| ControlFlow::Continue(())
                    )
                    .is_continue()
            );
        }
        assert_eq!(
            (output.stdout.len(), output.dropped),
            (KEPT, 2 * 1024 * 1024)
        );
        let last = [b'b'; 10];
        assert!(
            output
                .take(Stream::Stdout, &last, &mut |_, _| ControlFlow::Continue(()))
                .is_continue()
        );
        assert_eq!(output.stdout_end().len(), TAIL);
        assert!(output.stdout_end().ends_with(b"aabbbbbbbbbb"));
    }

    #[test]
    fn long_lines_are_whole_and_bounded() {
        let mut lengths = Vec::new();
        let mut output = Output::default();
        let mut hand = |_, line: &[u8]| {
            lengths.push(line.len());
            ControlFlow::Continue(())
        };
        let megabyte = vec![b'a'; 1024 * 1024];
        for count in [2, 6] {
            for _ in 0..count {
                assert!(
                    output
                        .take(Stream::Stdout, &megabyte, &mut hand)
                        .is_continue()
                );
            }
            assert!(output.take(Stream::Stdout, b"\n", &mut hand).is_continue());
        }
        assert_eq!(lengths, [2 * 1024 * 1024, MAX_LINE_BYTES]);
    }

    #[test]
    fn a_request_to_stop_is_passed_on() {
        let mut output = Output::default();
        assert!(
            output
                .take(
                    Stream::Stdout,
                    b"a\nb\n",
                    &mut |_, _| ControlFlow::Break(())
                )
                .is_break()
        );
        assert_eq!(output.stdout, b"a\nb\n");
    }
}
