//! Exit codes, and failures that carry one.

use std::fmt::Display;
use std::process::ExitCode;

use clap::builder::styling::AnsiColor;
use miette::Diagnostic;

use super::out;
use crate::machine::Refusal;
use crate::text;

/// The exit codes. `--help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Complete = 0,
    /// Refused: another loop is active (start), the transition is not open, the answer is no.
    Refused = 1,
    /// Bad arguments.
    Usage = 2,
    /// A fault of this program or of the system.
    Internal = 3,
    /// The loop stopped at max rounds, or stalled.
    MaxRounds = 4,
    /// The reviewer could not run, or could not be read.
    Reviewer = 5,
    /// `run`: another loop is active.
    Active = 6,
    /// Interrupted by a signal.
    Interrupted = 130,
}

/// The exit code of a command, or its failure.
pub type CommandResult = Result<Exit, Failure>;

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl From<bool> for Exit {
    /// Converts the answer to a script's question: 0 is yes.
    fn from(is_true: bool) -> Self {
        if is_true {
            Exit::Complete
        } else {
            Exit::Refused
        }
    }
}

/// An error with its exit code, as it is printed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The exit code of the process.
    pub exit: Exit,
    message: String,
    help: Option<String>,
}

claudex_loop_engine::impl_diagnostic!(Failure, |failure| failure.help.clone());

impl Failure {
    /// Makes a failure from an error, and cleans quoted text.
    pub fn new(exit: Exit, error: impl Diagnostic) -> Self {
        Self {
            exit,
            message: printable(&error),
            help: error.help().map(printable),
        }
    }

    /// Replaces the exit code.
    #[must_use]
    pub fn exiting(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    /// Makes an internal failure from an error.
    pub fn internal(error: impl Diagnostic) -> Self {
        Self::new(Exit::Internal, error)
    }

    /// Makes a refusal from an error.
    pub fn refusal(error: impl Diagnostic) -> Self {
        Self::new(Exit::Refused, error)
    }

    /// Makes a refusal from a message.
    pub fn refuse(message: impl Display, help: &str) -> Self {
        Self::with_help(Exit::Refused, message, help)
    }

    /// Makes a failure from a message.
    pub fn with_help(exit: Exit, message: impl Display, help: &str) -> Self {
        Self {
            exit,
            message: printable(message),
            help: Some(printable(help)),
        }
    }

    /// Prints message and help on stderr. Lines are not wrapped, to keep ids and commands whole.
    pub fn print(&self) {
        let red = AnsiColor::Red.on_default();
        let cyan = AnsiColor::Cyan.on_default();
        let message = self.message.replace('\n', &format!("\n  {red}│{red:#} "));
        let mut report = format!("  {red}×{red:#} {message}");
        if let Some(help) = &self.help {
            let help = help.replace('\n', "\n        ");
            report += &format!("\n{cyan}  help: {cyan:#}{help}");
        }
        out::report(&report);
    }
}

impl From<Refusal> for Failure {
    /// Converts an error about a value that a command would set.
    fn from(refusal: Refusal) -> Self {
        Self::new(Exit::Usage, refusal)
    }
}

impl From<clap::Error> for Failure {
    /// Converts an error about arguments that were not typed on the command line.
    fn from(error: clap::Error) -> Self {
        let rendered = error.render().to_string();
        let message = rendered.trim_start_matches("error: ").trim();
        let parts = message.split_once("\n\n");
        let (first, help) = parts.unwrap_or((message, "see --help"));
        Self::with_help(Exit::Usage, first.trim(), help.trim())
    }
}

/// Returns a text without hidden characters, in which nothing runs if it is pasted into a shell.
fn printable(text: impl Display) -> String {
    text::pasteable(&text::strip_hidden(&text.to_string()))
}

/// Prints clap's message. Help and version are not errors; everything else is bad usage.
pub fn bad_usage(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        out::keep_failure(error.print());
        return Exit::Complete;
    }
    out::note(error.render().to_string().trim_end());
    Exit::Usage
}

/// Returns an error with its help in one sentence.
pub fn with_help(error: &dyn Diagnostic) -> String {
    match error.help() {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    }
}
