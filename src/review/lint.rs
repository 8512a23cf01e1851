//! The built-in reviewer: makes a [`Reviewer`] of the checks of `claudex-lint`, whose findings become ours.

use std::ops::ControlFlow;

use crate::machine::persona::Focus;
use crate::process::output::Stream;
use crate::review::Kind;
use crate::review::findings::{Finding, Findings, Severity};
use crate::review::reviewer::{Cause, CauseKind, Event, Outcome, Request, Reviewer, Watch};
use crate::review::subject::Part;

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
        let is_one = request.parts.len() == 1;
        let of_part = |part: &Part| {
            let mut found = match part.kind {
                Kind::Document => {
                    claudex_lint::review_document(&part.text, point_of_view(request.focus))
                }
                Kind::Diff => claudex_lint::review_changes(&part.text),
            };
            for finding in found
                .iter_mut()
                .filter(|found| !is_one && found.file.is_none())
            {
                finding.file = Some(part.name.clone());
            }
            found
        };
        let findings: Vec<_> = request.parts.iter().flat_map(of_part).collect();
        if findings.is_empty() {
            Outcome::Clean
        } else {
            Outcome::Findings(ours(findings))
        }
    }

    fn runs_a_program(&self) -> bool {
        false
    }
}

fn point_of_view(focus: Focus) -> claudex_lint::PointOfView {
    match focus {
        Focus::Engineering => claudex_lint::PointOfView::Engineering,
        Focus::Security => claudex_lint::PointOfView::Security,
        Focus::Operations => claudex_lint::PointOfView::Operations,
    }
}

fn ours(findings: Vec<claudex_lint::Finding>) -> Findings {
    let severity = |severity| match severity {
        claudex_lint::Severity::High => Severity::High,
        claudex_lint::Severity::Medium => Severity::Medium,
        claudex_lint::Severity::Low => Severity::Low,
    };
    let findings = findings.into_iter().map(|found| Finding {
        recommendation: Some(found.recommendation.to_owned()),
        file: found.file,
        line: found.line,
        check: Some(found.check.to_owned()),
        detail: found.evidence,
        ..Finding::new(severity(found.severity), found.what)
    });
    Findings(findings.collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::review::answer::{Verdict, read};
    use crate::review::changes::text::LEFT_OUT;
    use crate::review::findings_file::render;

    #[test]
    fn findings_survive_their_file() {
        let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/plans/thin.md");
        let plan = std::fs::read_to_string(plan).unwrap();
        let mut found = ours(claudex_lint::review_document(
            &plan,
            point_of_view(Focus::Operations),
        ));
        for finding in &mut found.0 {
            finding.check = None;
        }
        assert!(!found.is_empty());
        assert_eq!(read(&render(1, &found)), Ok(Verdict::Findings(found)));
    }

    #[test]
    fn changes_that_are_left_out_are_a_finding() {
        let head = format!("{LEFT_OUT}a.rs (+9 -0 lines)\n\n");
        let found = ours(claudex_lint::review_changes(&head)).0;
        let checks: Vec<_> = found
            .iter()
            .map(|finding| finding.check.as_deref())
            .collect();
        assert_eq!(checks, [Some("DIFF-UNREAD")]);
    }
}
