//! Findings that an answer lists twice: in a section and in its summary.

use std::collections::BTreeSet;
use std::iter;

use super::row::CELL_GAP;
use super::words::words;
use crate::review::findings::{Finding, Findings, Severity};

/// Returns the words of a title without a number in front.
fn title(text: &str) -> String {
    words(text.trim_start_matches(|c: char| !c.is_alphabetic()))
}

/// Returns the texts of a finding that may be its title: the whole, or a cell of its row.
fn titles(finding: &Finding) -> impl Iterator<Item = &str> {
    iter::once(&*finding.what).chain(finding.what.split(CELL_GAP))
}

/// Returns the severity of the item of a summary that has this title.
pub(super) fn rating_of<'f>(
    text: &str,
    mut summary: impl Iterator<Item = &'f Finding>,
) -> Option<Severity> {
    let text = title(text);
    let found = summary.find(|one| titles(one).any(|own| title(own) == text))?;
    Some(found.severity)
}

/// Drops each item of a summary that repeats another finding: its severity, place and title.
pub(super) fn without_repeats(mut findings: Findings, summary: &[usize]) -> Findings {
    let key = |one: &Finding, text: &str| (one.severity, one.file.clone(), one.line, title(text));
    let is_summary = |at: usize| summary.binary_search(&at).is_ok();
    let others = (findings.iter().enumerate()).filter(|(at, _)| !is_summary(*at));
    let others: Vec<_> = others.map(|(_, one)| key(one, &one.what)).collect();
    // A title is repeated by one row: two rows with one title are two findings.
    let mut in_rows = BTreeSet::new();
    let mut places = 0..;
    findings.retain(|one| {
        let keys: Vec<_> = titles(one).map(|text| key(one, text)).collect();
        let is_row = one.what.contains(CELL_GAP);
        let mut repeated = (0..others.len()).filter(|at| keys.contains(&others[*at]));
        let repeated = repeated.find(|at| !is_row || !in_rows.contains(at));
        let is_repeat = places.next().is_some_and(is_summary) && one.detail.is_empty();
        let repeated = repeated.filter(|_| is_repeat);
        in_rows.extend(repeated.filter(|_| is_row));
        repeated.is_none()
    });
    findings
}

/// Returns whether a text names one of so many findings by its number: `the skip path (#1)`.
pub(super) fn names_finding(text: &str, count: usize) -> bool {
    let is_finding = |after: &str| {
        let digits = after.split(|c: char| !c.is_ascii_digit()).next();
        let number = digits.unwrap_or_default().parse();
        number.is_ok_and(|number: usize| (1..=count).contains(&number))
    };
    text.split('#').skip(1).any(is_finding)
}
