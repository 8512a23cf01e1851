//! The built-in reviewer: the checks of `claudex-lint`.

use super::findings::{Finding, Findings, Severity};
use super::progress::{Listener, RoundEvent};
use super::reviewer::Request;
use crate::machine::Focus;

/// Reviews without a model or a network: the same text has the same findings.
pub(super) fn review(request: &Request<'_>, listener: &mut Listener<'_>) -> Findings {
    let subject = request.subject;
    let lines = subject.parts.iter().map(|part| part.text.lines().count());
    let line = format!("reading {} ({} lines)", subject.name, lines.sum::<usize>());
    // A verdict is recorded before a cancellation.
    let _ = listener(RoundEvent::Reviewer(&line));
    let mut findings = Vec::new();
    for part in &subject.parts {
        let found = if part.is_diff {
            claudex_lint::review_changes(&part.text)
        } else {
            claudex_lint::review_document(&part.text, point_of_view(request.focus))
        };
        for mut finding in found.into_iter().map(finding) {
            if subject.parts.len() > 1 && finding.file.is_none() {
                finding.file = Some(part.name.clone());
            }
            findings.push(finding);
        }
    }
    findings
}

fn point_of_view(focus: Focus) -> claudex_lint::PointOfView {
    match focus {
        Focus::Engineering => claudex_lint::PointOfView::Engineering,
        Focus::Security => claudex_lint::PointOfView::Security,
        Focus::Operations => claudex_lint::PointOfView::Operations,
    }
}

fn finding(found: claudex_lint::Finding) -> Finding {
    let severity = match found.severity {
        claudex_lint::Severity::High => Severity::High,
        claudex_lint::Severity::Medium => Severity::Medium,
        claudex_lint::Severity::Low => Severity::Low,
    };
    Finding {
        recommendation: Some(found.recommendation.to_owned()),
        file: found.file,
        line: found.line,
        check: Some(found.check.to_owned()),
        detail: found.evidence,
        ..Finding::new(severity, found.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::changes::diff::LEFT_OUT;

    #[test]
    fn changes_that_are_left_out_are_a_finding() {
        let head = format!("{LEFT_OUT}a.rs (+9 -0 lines)\n\n");
        let found = claudex_lint::review_changes(&head).into_iter();
        let checks: Vec<_> = found.map(|one| finding(one).check).collect();
        assert_eq!(checks, [Some("DIFF-UNREAD".to_owned())]);
    }
}
