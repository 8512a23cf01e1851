//! The console of a long command: lines of progress, until the process is interrupted.

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::styling::Style;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;

use super::out;
use crate::review::round::RoundEvent;

/// The most bytes of program output that are printed without a terminal, for an agent to read.
const MAX_PROGRAM_BYTES: usize = 8 * 1024;
/// The bytes of a printed line that are not its text.
const LINE_OVERHEAD_BYTES: usize = 10;

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Has a flag set by each signal that asks the process to end.
pub(super) fn set_on_signals(flag: &Arc<AtomicBool>) {
    for signal in SIGNALS {
        let _ = signal_hook::flag::register(signal, flag.clone());
    }
}

/// The output of a command, and the interrupts of its user.
#[derive(Debug)]
pub struct Console {
    prefix: String,
    is_stderr: bool,
    bytes_left: Cell<usize>,
    interrupted: Arc<AtomicBool>,
}

impl Console {
    /// Makes a console on stdout or stderr, whose events have a prefix.
    pub fn new(prefix: String, is_stderr: bool) -> Self {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in SIGNALS {
            // The second signal ends the process at once.
            let _ = register_conditional_shutdown(signal, 130, interrupted.clone());
        }
        set_on_signals(&interrupted);
        let mut max_bytes = usize::MAX;
        if !std::io::stdout().is_terminal() {
            max_bytes = MAX_PROGRAM_BYTES;
        }
        Self {
            prefix,
            is_stderr,
            bytes_left: Cell::new(max_bytes),
            interrupted,
        }
    }

    /// Shows an event of a round. Returns `Break` once the process was asked to end.
    pub fn event(&self, event: RoundEvent<'_>) -> ControlFlow<()> {
        match event {
            RoundEvent::Line(line) => self.line(line),
            RoundEvent::Reviewer(line) => self.program_line(line),
            RoundEvent::Tick => {}
        }
        if self.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn program_line(&self, line: &str) {
        let before = self.bytes_left.get();
        let left = before.saturating_sub(line.len() + LINE_OVERHEAD_BYTES);
        self.bytes_left.set(left);
        match (before, left) {
            (0, _) => {}
            (_, 0) => self.line("its further output is not shown"),
            _ => self.line(line),
        }
    }

    /// Shows a line with the prefix.
    pub fn line(&self, line: &str) {
        self.emphasize(line, "", out::HEADING);
    }

    /// Shows a line with the prefix and a coloured word.
    pub fn emphasize(&self, line: &str, word: &str, style: Style) {
        self.plain(&format!("{}{line}", self.prefix), word, style);
    }

    /// Shows a line as it is, with a coloured word.
    pub fn plain(&self, line: &str, word: &str, style: Style) {
        if self.is_stderr {
            out::note(line);
        } else {
            out::emphasize(line, word, style);
        }
    }
}
