//! The part of a child's output that is kept: the beginning and the end of stdout, the end of stderr, and each line for a watcher.
//!
//! All of it is bounded, also if the child writes without end.

use std::ops::ControlFlow;

use crate::text;

/// The bytes of stdout that are kept. More is not a review.
pub const MAX_KEPT_BYTES: usize = 4 * 1024 * 1024;
/// The bytes of stderr that are kept, from its end, and of a stdout that is longer than the part kept of its beginning.
const MAX_TAIL_BYTES: usize = 8 * 1024;
/// The bytes of one line that are kept. A line may be an event with texts inside.
const MAX_LINE_BYTES: usize = MAX_KEPT_BYTES;
/// The characters of one line that are shown.
const MAX_SHOWN_CHARS: usize = 300;

/// One of a child's two output streams.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    Stdout,
    Stderr,
}

/// Gets each line of a child as it is complete. Returning `Break` asks to stop.
pub(super) type HandLine<'h> = dyn FnMut(Stream, &[u8]) -> ControlFlow<()> + 'h;

/// The output of one child so far.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The first [`MAX_KEPT_BYTES`] bytes of stdout.
    pub(super) stdout: Vec<u8>,
    /// The number of bytes of stdout that came after those.
    pub(super) dropped: u64,
    /// The end of those.
    end: Vec<u8>,
    stderr: Vec<u8>,
    /// The beginning of a line that is not complete, for each stream.
    partial: [Vec<u8>; 2],
}

/// Returns a line of a child's output as users see it: plain, short, perhaps empty.
pub(super) fn plain_line(line: &[u8]) -> String {
    text::one_line(&String::from_utf8_lossy(line), MAX_SHOWN_CHARS)
}

impl Output {
    /// Takes bytes, and hands over each line that they complete. Lines end at `\n` and at the `\r` of progress displays. All
    /// bytes are kept if it is asked to stop.
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
                self.dropped += (bytes.len() - fits) as u64;
                keep_end(&mut self.end, &bytes[fits..]);
            }
            Stream::Stderr => keep_end(&mut self.stderr, bytes),
        }
        let mut flow = ControlFlow::Continue(());
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        for piece in bytes.split_inclusive(is_end) {
            let partial = &mut self.partial[stream as usize];
            let room = MAX_LINE_BYTES - partial.len();
            partial.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.last().is_some_and(is_end) && self.end(stream, hand).is_break() {
                flow = ControlFlow::Break(());
            }
        }
        flow
    }

    /// Hands over the line that is there, complete or not.
    pub(super) fn end(&mut self, stream: Stream, hand: &mut HandLine<'_>) -> ControlFlow<()> {
        let line = std::mem::take(&mut self.partial[stream as usize]);
        match line.trim_ascii_end() {
            [] => ControlFlow::Continue(()),
            line => hand(stream, line),
        }
    }

    /// Returns the end of the stdout that is not kept.
    pub(super) fn stdout_end(&self) -> &[u8] {
        &self.end[self.end.len().saturating_sub(MAX_TAIL_BYTES)..]
    }

    /// Returns the end of stderr, made plain.
    pub(super) fn stderr_tail(&self) -> String {
        let start = self.stderr.len().saturating_sub(MAX_TAIL_BYTES);
        text::plain(&String::from_utf8_lossy(&self.stderr[start..]))
    }
}

/// Appends bytes of which only the last [`MAX_TAIL_BYTES`] are wanted. At most twice as many are held.
fn keep_end(end: &mut Vec<u8>, bytes: &[u8]) {
    end.extend_from_slice(bytes);
    if end.len() > 2 * MAX_TAIL_BYTES {
        end.drain(..end.len() - MAX_TAIL_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes chunks of a stream, and returns the lines that were handed over.
    fn lines(output: &mut Output, stream: Stream, chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let mut hand = |_, line: &[u8]| {
            lines.push(line.to_vec());
            ControlFlow::Continue(())
        };
        for chunk in chunks {
            let _ = output.take(stream, chunk, &mut hand);
        }
        let _ = output.end(stream, &mut hand);
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
        let lines: Vec<_> = lines(&mut Output::default(), Stream::Stderr, &chunks)
            .iter()
            .map(|line| plain_line(line))
            .collect();
        assert_eq!(lines, ["Überü", "10%", "20%", "last"]);
    }

    #[test]
    fn hostile_lines_are_short_and_plain() {
        let mut output = Output::default();
        let long = vec![b'x'; 100_000];
        let chunks = [&long[..], b"\n\x1b[2J\xff\xe2\x80\xaeb\n"];
        let lines = lines(&mut output, Stream::Stderr, &chunks);
        assert_eq!(plain_line(&lines[0]).chars().count(), MAX_SHOWN_CHARS);
        assert_eq!(plain_line(&lines[1]), "[2J\u{fffd}b");
        assert!(output.stderr_tail().len() <= MAX_TAIL_BYTES + 10);
        assert!(output.stderr_tail().ends_with("[2J\u{fffd}b\n"));
    }

    #[test]
    fn long_output_keeps_its_beginning_and_its_end() {
        let mut output = Output::default();
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
        assert_eq!(output.stdout_end().len(), MAX_TAIL_BYTES);
        assert!(output.stdout_end().ends_with(b"aabbb"));
    }

    #[test]
    fn request_to_stop_is_passed_on() {
        let mut output = Output::default();
        let mut stop = |_, _: &[u8]| ControlFlow::Break(());
        assert!(output.take(Stream::Stdout, b"a\nb\n", &mut stop).is_break());
        assert_eq!(output.stdout, b"a\nb\n");
    }
}
