//! Findings that an answer lists twice: in a section and in its summary.

use std::collections::BTreeSet;

use super::severity::words;
use crate::review::findings::{Finding, Findings};

/// The text between two cells of a table row that is a finding.
pub(super) const CELL_GAP: &str = " \u{2014} ";

/// Drops each item of a summary that repeats another finding: its severity, place and title.
pub(super) fn without_repeats(mut findings: Findings, summary: &[usize]) -> Findings {
    let title = |text: &str| words(text.trim_start_matches(|c: char| !c.is_alphabetic()));
    let key = |one: &Finding, text: &str| (one.severity, one.file.clone(), one.line, title(text));
    let is_summary = |at: usize| summary.binary_search(&at).is_ok();
    let others = (findings.iter().enumerate()).filter(|(at, _)| !is_summary(*at));
    let titles: BTreeSet<_> = others.map(|(_, one)| key(one, &one.what)).collect();
    let mut places = 0..;
    findings.retain(|one| {
        let is_title = |text| titles.contains(&key(one, text));
        let repeats = is_title(&one.what) || one.what.split(CELL_GAP).any(is_title);
        !(places.next().is_some_and(is_summary) && repeats && one.detail.is_empty())
    });
    findings
}
