//! The built-in reviewer as the round knows it: [`lint`] behind the trait that every reviewer has.

use std::ops::ControlFlow;

use crate::process::output::Stream;
use crate::review::focus::Kind;
use crate::review::lint;
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
        let findings = match request.kind {
            Kind::Document => lint::review(request.subject, request.focus),
            Kind::Diff => lint::diff::review(request.subject),
        };
        if findings.is_empty() {
            Outcome::Clean
        } else {
            Outcome::Findings(findings)
        }
    }

    /// The checks of changes are the same for every persona: on the same changes they have nothing new to say.
    fn review_again(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> Outcome {
        if request.kind != Kind::Diff {
            return self.review(request, watch);
        }
        let said = format!(
            "{} is as it was in an earlier round, and the checks are the same for every persona",
            request.subject_name
        );
        match watch(Event::Line {
            stream: Stream::Stderr,
            text: &said,
        }) {
            ControlFlow::Continue(()) => Outcome::Clean,
            ControlFlow::Break(()) => Outcome::CouldNotRun(Cause::new(CauseKind::Stopped, "")),
        }
    }

    fn runs_a_program(&self) -> bool {
        false
    }
}
