//! Exit codes, and failures that carry one.

use std::fmt;
use std::process::ExitCode;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, MietteDiagnostic, ThemeCharacters,
    ThemeStyles,
};

use super::out;
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
    /// A fault of ours, or of the system below us.
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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// A diagnostic with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// The exit code of the process.
    pub exit: Exit,
    report: Box<MietteDiagnostic>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.report)
    }
}

impl Failure {
    /// Makes a failure of an error.
    pub fn new(exit: Exit, error: impl Diagnostic) -> Self {
        Self::headed(exit, error.to_string(), error)
    }

    /// Replaces the exit code.
    #[must_use]
    pub fn exiting(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    /// Makes a failure of an error under another message than its own.
    pub fn headed(exit: Exit, message: String, error: impl Diagnostic) -> Self {
        Self {
            exit,
            report: Box::new(printed(&error, &message)),
        }
    }

    /// Turns an error of clap about arguments that were not typed on the command line into a failure.
    pub fn usage(error: &clap::Error) -> Self {
        let message = error.render().to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        let (first, help) = message
            .split_once("\n\n")
            .unwrap_or((message, "see --help"));
        let first = first.trim().to_owned();
        Self::plain(Exit::Usage, first, help.trim())
    }

    /// Makes a failure that has no error type.
    pub fn plain(exit: Exit, message: String, help: &str) -> Self {
        let error = MietteDiagnostic::new(message).with_help(help);
        Self::new(exit, error)
    }

    /// Prints the report on stderr.
    pub fn print(&self) {
        let theme = GraphicalTheme {
            characters: ThemeCharacters::unicode(),
            styles: ThemeStyles::ansi(),
        };
        // Our messages name their cause themselves. Wrapping would cut ids and commands in two.
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_wrap_lines(false)
            .with_links(false)
            .without_cause_chain();
        let mut report = String::new();
        let _ = handler.render_report(&mut report, self.report.as_ref());
        out::report(&report);
    }
}

/// Prints clap's message. Help and version are not errors; everything else is bad usage.
pub fn bad_usage(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        let _ = error.print();
        return Exit::Complete;
    }
    let mut message = error.render().to_string();
    // clap says only that the subcommand has the flag, not where the flag belongs.
    message = message.replace("' exists\n", "' works: the flag stands behind that word\n");
    out::note(message.trim_end());
    Exit::Usage
}

/// Returns an error under a message, with all its texts as they are printed, also those of quoted text.
fn printed(error: &dyn Diagnostic, message: &str) -> MietteDiagnostic {
    let printed = |text: &str| text::pasteable(&text::plain(text));
    MietteDiagnostic {
        message: printed(message),
        code: None,
        severity: error.severity(),
        help: error.help().map(|help| printed(&help.to_string())),
        url: None,
        labels: None,
    }
}

/// Returns an error with its help in one sentence.
pub(super) fn with_help(error: &dyn Diagnostic) -> String {
    match error.help() {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    }
}
