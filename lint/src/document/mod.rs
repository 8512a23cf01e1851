//! The built-in reviewer: reads a plan and says what is missing, without a model and without a network.
//!
//! [`review`] parses the plan's Markdown into an outline, reads sentences and steps off it, and runs the catalogue's checks
//! for one [`PointOfView`]. It judges by content: a check asks only what the plan's own words make relevant, and takes an answer
//! wherever and in whatever form it stands. The catalogue is in `docs/lint.md`. Same text, same findings. It knows no loop,
//! no round and no file.

mod accessibility;
mod capacity;
mod catalogue;
mod clocks;
mod contradiction;
mod dependencies;
mod engineering;
mod operations;
mod outline;
mod pattern;
mod plan;
mod privacy;
mod question;
mod rollout;
mod security;
mod steps;
mod substance;
mod wording;

use crate::{Finding, PointOfView, Severity};
use plan::Plan;

/// Most findings of one review; the lightest are left out first.
const MAX_FINDINGS: usize = 12;

/// What one check found.
#[derive(Debug)]
struct Hit {
    severity: Severity,
    line: u32,
    what: String,
    add: &'static str,
    /// The places in the plan that it is about.
    quotes: Vec<(u32, String)>,
}

/// One entry of the catalogue.
struct Check {
    id: &'static str,
    /// Focuses that run it.
    focus: &'static [PointOfView],
    /// The heaviest severity it gives.
    severity: Severity,
    run: Rule,
}

enum Rule {
    /// Relevant words without words that answer them.
    Question(question::Question),
    /// Anything else.
    Own(fn(&Plan) -> Option<Hit>),
}

/// Reviews a plan in Markdown with one focus.
///
/// At most one finding per check and [`MAX_FINDINGS`] altogether, the heaviest first, then by line. Each has the catalogue's
/// id in `check`, and a line of the plan: that of the words it is about, or for what is missing altogether, of the section where
/// it belongs, else the last line. Only the first 128 KiB are read; a longer plan gets a finding that says so.
pub fn review(plan: &str, focus: PointOfView) -> Vec<Finding> {
    let plan = plan::read(outline::outline(plan));
    let mut findings: Vec<Finding> = catalogue::all()
        .filter(|check| check.focus.contains(&focus))
        .filter_map(|check| {
            let hit = match &check.run {
                Rule::Question(rule) => question::run(rule, check.severity, &plan),
                Rule::Own(run) => run(&plan),
            };
            hit.map(|hit| finding(check.id, hit))
        })
        .collect();
    // Nothing can be said about the content of a plan that has none.
    if findings.iter().any(|finding| finding.check == substance::EMPTY) {
        findings.retain(|finding| finding.check == substance::EMPTY);
    }
    findings.sort_by_key(|finding| (finding.severity, finding.line));
    findings.truncate(MAX_FINDINGS);
    findings
}

fn finding(check: &'static str, hit: Hit) -> Finding {
    let detail = hit
        .quotes
        .iter()
        .take(4)
        .map(|(line, text)| format!("line {line}: {}", quote(text)))
        .collect();
    Finding {
        check,
        severity: hit.severity,
        what: hit.what,
        recommendation: hit.add,
        file: None,
        line: Some(hit.line),
        evidence: detail,
        patch: None,
    }
}

/// The beginning of a text of the plan, as data: on one line, without control characters.
pub(crate) fn quote(text: &str) -> String {
    const MAX: usize = 80;
    let flat: String = text
        .chars()
        .take(4 * MAX)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let flat = flat
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('"', "'");
    match flat.char_indices().nth(MAX) {
        Some((end, _)) => format!("\"{}...\"", flat[..end].trim_end()),
        None => format!("\"{flat}\""),
    }
}

#[cfg(test)]
mod tests;
