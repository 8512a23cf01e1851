//! Exit codes, and failures that carry one.

use std::process::ExitCode;

use miette::{Diagnostic, Report};

use super::out;

/// What the process exits with. `--help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Complete = 0,
    /// Refused: another loop is active (start), the transition is not open, the answer is no.
    Refused = 1,
    /// Bad arguments.
    Usage = 2,
    /// A fault of ours, or of the system below us.
    Internal = 3,
    /// The loop stopped at max rounds.
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
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    report: Report,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Diagnostic + Send + Sync + 'static) -> Self {
        Self {
            exit,
            report: Report::new(error),
        }
    }

    /// A failure that has no type of its own.
    pub(crate) fn plain(exit: Exit, code: &str, message: String, help: &str) -> Self {
        let report = Report::new(
            miette::MietteDiagnostic::new(message)
                .with_code(code)
                .with_help(help),
        );
        Self { exit, report }
    }

    pub(crate) fn print(&self) {
        out::error_text(&format!("{:?}", self.report));
    }
}
