//! The status line of `run`: one line at the bottom of a terminal that says what is running, and for how long.

use std::io::{self, Write};
use std::time::Instant;

use claudex_loop::text;

/// Longest message, in characters: a line that wraps cannot be cleared.
const MAX_MESSAGE_CHARS: usize = 60;

/// A line on stderr that is drawn over itself.
pub(super) struct StatusLine {
    message: String,
    since: Instant,
    /// The seconds that are on the screen, or `None` if the line is not.
    drawn: Option<u64>,
}

impl StatusLine {
    /// Returns a line without a message, which draws nothing.
    pub(super) fn new() -> Self {
        Self {
            message: String::new(),
            since: Instant::now(),
            drawn: None,
        }
    }

    /// Sets the message and restarts its clock.
    pub(super) fn begin(&mut self, message: &str) {
        self.message = text::one_line(message, MAX_MESSAGE_CHARS);
        self.since = Instant::now();
        self.draw();
    }

    /// Draws the line again once a second.
    pub(super) fn tick(&mut self) {
        if self.drawn != Some(self.since.elapsed().as_secs()) {
            self.draw();
        }
    }

    /// Clears the line, prints something in its place and draws the line again below.
    pub(super) fn suspend(&mut self, print: impl FnOnce()) {
        self.clear();
        print();
        self.draw();
    }

    /// Clears the line and forgets the message.
    pub(super) fn finish(&mut self) {
        self.clear();
        self.message.clear();
    }

    fn draw(&mut self) {
        if self.message.is_empty() {
            return;
        }

        let seconds = self.since.elapsed().as_secs();
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{} ({seconds} s)", self.message);
        let _ = stderr.flush();
        self.drawn = Some(seconds);
    }

    fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }
}
