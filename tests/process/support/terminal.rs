//! The binary on a terminal, and its screen.

#[path = "../../support/terminal.rs"]
mod pseudo;

use super::{Line, Project};

/// The last screen, and the exit code.
#[derive(Debug)]
pub(crate) struct Screen {
    pub(crate) code: i32,
    /// The lines, with the typed text.
    pub(crate) lines: Vec<String>,
}

impl Screen {
    /// Fails the test if no line has the text.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        assert!(
            self.lines.iter().any(|line| line.contains(text)),
            "not shown: {text}\n{self:#?}"
        );
    }
}

impl Project {
    /// Runs the binary on a terminal with this many columns and 24 rows, and types this text.
    pub(crate) fn on_terminal(&self, columns: u16, line: impl Line, typed: &str) -> Screen {
        let (code, screen) = pseudo::run(self.command(line), columns, typed);
        Screen {
            code,
            lines: screen.lines().map(str::to_owned).collect(),
        }
    }
}
