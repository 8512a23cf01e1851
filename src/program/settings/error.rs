//! Settings that cannot be used: the file or variable, the place in it, the problem and the next step.

use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};

use crate::text;

/// The longest message or help about a configuration file, in characters.
const MAX_MESSAGE_CHARS: usize = 500;

/// Settings that cannot be used.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum SettingsError {
    /// A variable of the environment that must hold a number, and does not.
    #[display("{variable} takes a positive integer up to {max}, and got `{value}`")]
    #[diagnostic(
        code(claudex::config::number),
        help("unset it, or give it a positive integer")
    )]
    Number {
        /// The variable's name.
        variable: String,
        /// The largest number that it takes.
        max: u64,
        /// The value, on one line.
        value: String,
    },
    /// No folder for the user's files.
    #[display("there is no configuration folder: {problem}")]
    #[diagnostic(
        code(claudex::config::home),
        help("set HOME, or XDG_CONFIG_HOME, to an absolute path in UTF-8")
    )]
    Home {
        /// What is wrong.
        problem: String,
    },
    /// A file that cannot be read.
    #[display("cannot read {}: {source}", text::shown(path))]
    #[diagnostic(
        code(claudex::config::io),
        help("let your user read it, or move it away: without it the defaults hold")
    )]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file that is not read: a symlink, a folder or a pipe in its place, too large, not UTF-8.
    #[display("{}{problem}", text::shown(path))]
    #[diagnostic(code(claudex::config::file), help("{help}"))]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong, as the end of a sentence that begins with the path.
        problem: String,
        /// What to do.
        help: String,
    },
    /// The first problem in a file.
    #[display("{}:{line}:{column}: {message}", text::shown(path))]
    #[diagnostic(code(claudex::config::value), help("{help}"))]
    Invalid {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
    },
}

/// A problem at a place in a file.
#[derive(Debug)]
pub(super) struct Problem {
    span: Range<usize>,
    message: String,
    help: String,
}

impl Problem {
    /// Describes a problem at these bytes of a file.
    pub(super) fn new(span: Range<usize>, message: impl AsRef<str>, help: impl AsRef<str>) -> Self {
        Self {
            span,
            message: text::one_line(message.as_ref(), MAX_MESSAGE_CHARS),
            help: text::one_line(help.as_ref(), MAX_MESSAGE_CHARS),
        }
    }

    /// Converts the problem into an error that names the file, the line and the column.
    pub(super) fn in_file(self, path: &Utf8Path, text: &str) -> SettingsError {
        let (line, column) = place(text, self.span.start);
        SettingsError::Invalid {
            path: path.to_owned(),
            line,
            column,
            message: self.message,
            help: self.help,
        }
    }
}

/// Returns line and column of a byte, both from 1, the column in characters. A byte beyond the end is at the end.
pub(super) fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_counts_lines_and_characters() {
        let text = "ä = 1\r\nbü = 2\n";
        assert_eq!(place(text, 0), (1, 1));
        assert_eq!(place(text, text.find('=').unwrap()), (1, 3));
        assert_eq!(place(text, text.rfind('=').unwrap()), (2, 4));
        assert_eq!(place(text, text.len()), (3, 1));
        assert_eq!(place(text, usize::MAX), (3, 1));
        assert_eq!(place("", 7), (1, 1));
    }
}
