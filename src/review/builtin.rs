//! The built-in reviewer as the round knows it: [`lint`] behind the trait that every reviewer has.

use std::ops::ControlFlow;

use crate::review::lint;
use crate::review::output::Stream;
use crate::review::reviewer::{Cause, CauseKind, Event, Outcome, Request, Reviewer, Watch};

/// `lint`: no model, no network, the same findings for the same text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lint;

impl Reviewer for Lint {
    fn name(&self) -> &str {
        "lint"
    }

    fn review(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> Outcome {
        let lines = request.subject.lines().count();
        let said = format!("reading {} ({lines} lines)", request.subject_name);
        if let ControlFlow::Break(()) = watch(Event::Line {
            stream: Stream::Stderr,
            text: &said,
        }) {
            return Outcome::CouldNotRun(Cause::new(CauseKind::Stopped, ""));
        }
        let findings = lint::review(request.subject, request.focus);
        if findings.is_empty() {
            Outcome::Clean
        } else {
            Outcome::Findings(findings)
        }
    }
}
