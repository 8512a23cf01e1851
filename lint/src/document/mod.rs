//! The built-in reviewer: reads a plan and says what is missing, without a model and without a network.
//!
//! [`review`] parses the plan's Markdown into an outline, reads sentences and steps off it, and runs the catalogue's checks
//! for one [`PointOfView`]. It judges by content: a check asks only what the plan's own words make relevant, and takes an answer
//! wherever and in whatever form it stands. The catalogue is in `docs/lint.md`. Same text, same findings. It knows no loop,
//! no round and no file.

mod accessibility;
mod catalogue;
mod check;
mod engineering;
mod operations;
mod outline;
mod pattern;
mod plan;
mod privacy;
mod question;
mod security;
mod sentence;
mod steps;
mod substance;
mod wording;

use crate::quote::quote;
use crate::{Finding, PointOfView};
use check::{Check, Hit, Rule, Subject};

/// Most findings of one review; the lightest are left out first.
const MAX_FINDINGS: usize = 12;

/// Reviews a plan in Markdown from one point of view.
///
/// At most one finding per check, one per line and subject, and 12 altogether, the heaviest first, then by line. Each has a line of the
/// plan: that of the words it is about, or for what is missing altogether, of the section where it belongs, else the last
/// line. Only the first 128 KiB are read; a longer plan gets a finding that says so.
pub fn review(plan: &str, view: PointOfView) -> Vec<Finding> {
    let plan = plan::read(plan);
    let mut hits: Vec<(&Check, Hit)> = catalogue::all()
        .filter(|check| check.views.contains(&view))
        .filter_map(|check| {
            let hit = match &check.run {
                Rule::Question(question) => question::run(question, check.severity, &plan),
                Rule::Own(run) => run(&plan),
            };
            Some((check, hit?))
        })
        .collect();
    // Nothing can be said about the content of a plan that has none.
    if hits.iter().any(|(check, _)| check.id == substance::EMPTY) {
        hits.retain(|(check, _)| check.id == substance::EMPTY);
    }
    hits.sort_by_key(|(_, hit)| (hit.severity, hit.line));
    let mut taken: Vec<(u32, Subject)> = Vec::new();
    hits.retain(|(check, hit)| {
        let place = (hit.line, check.subject);
        let is_first = !taken.contains(&place);
        taken.push(place);
        is_first
    });
    hits.truncate(MAX_FINDINGS);
    hits.into_iter()
        .map(|(check, hit)| finding(check.id, hit))
        .collect()
}

fn finding(check: &'static str, hit: Hit) -> Finding {
    let quotes = hit.quotes.iter().take(4);
    Finding {
        check,
        severity: hit.severity,
        what: hit.what,
        recommendation: hit.add,
        file: None,
        line: Some(hit.line),
        evidence: quotes
            .map(|found| format!("line {}: {}", found.line, quote(&found.text)))
            .collect(),
        patch: None,
    }
}

#[cfg(test)]
mod tests;
