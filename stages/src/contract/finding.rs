//! The findings in a summary: each with its rule and its place, as one line.
//!
//! A coordinator wrote the file: control characters in it reach no terminal.

use claudex_loop::text;
use strum::Display;

use super::rule::{Lenient, Rule};
use super::yaml::{Places, find_place};

/// The most findings of a file that are kept.
const MAX_FINDINGS: usize = 100;
/// The longest message, in characters.
const MAX_MESSAGE_CHARS: usize = 500;
/// The longest quoted value, in characters.
const MAX_QUOTED_CHARS: usize = 60;

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display)]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// The summary is invalid.
    Error,
    /// The summary can be valid.
    Warning,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl Place {
    /// The begin of a file.
    pub(super) const START: Self = Self { line: 1, column: 1 };

    /// Returns the place of a byte. A byte beyond the end is at the end.
    pub(super) fn from_byte(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// The weight.
    pub severity: Severity,
    /// The first character.
    pub start: Place,
    /// What is wrong.
    pub message: String,
    /// The answer of a lenient reader.
    pub lenient: Lenient,
}

/// The findings of one file, in the order of the file.
#[derive(Debug, Default)]
pub struct Findings {
    /// The findings, at most 100.
    pub list: Vec<Finding>,
    /// The number of findings that are not in the list.
    pub more: usize,
}

impl Findings {
    /// Returns whether the summary is invalid.
    pub fn has_error(&self) -> bool {
        self.list.iter().any(|one| one.severity == Severity::Error)
    }

    /// Returns a line of text for each finding, such as `a.md:4:9: error[unknown-status]: …; write …`.
    pub fn lines(&self, file: &str) -> Vec<String> {
        let name = text::shown(file);
        let line = |one: &Finding| {
            let help = one.rule.help();
            format!("{name}:{}; {help}", one.line(one.severity))
        };
        let mut lines: Vec<String> = self.list.iter().map(line).collect();
        if let more @ 1.. = self.more {
            lines.push(format!(
                "{name}: {more} more findings are not shown; fix these first"
            ));
        }
        lines
    }

    /// Returns a line of text for each finding, with the answer of a lenient reader.
    pub fn lenient_lines(&self) -> Vec<String> {
        let line = |one: &Finding| {
            let (severity, answer) = match one.lenient {
                Lenient::Corrected(correction) => (Severity::Warning, correction),
                Lenient::Crash => (Severity::Error, "a crash"),
                Lenient::Refused => (Severity::Error, "refused"),
            };
            format!("{}: {answer}", one.line(severity))
        };
        self.list.iter().map(line).collect()
    }
}

impl Finding {
    fn line(&self, severity: Severity) -> String {
        let Place { line, column } = self.start;
        let rule = self.rule;
        let message = &self.message;
        format!("{line}:{column}: {severity}[{rule}]: {message}")
    }
}

/// Collects the findings while a file is read.
#[derive(Default)]
pub(super) struct Collector {
    /// The places of the values of the frontmatter.
    pub(super) places: Places,
    findings: Findings,
    /// Whether a finding makes it a crash.
    pub(super) is_crash: bool,
    /// Whether a finding has the summary refused.
    pub(super) is_refused: bool,
    /// Whether the summary is not one of the open dispatch, which goes before a crash.
    pub(super) is_other: bool,
}

impl Collector {
    /// Adds an error at a value, such as `/flags/round_number`.
    pub(super) fn error(&mut self, rule: Rule, path: &str, message: impl AsRef<str>) {
        self.error_as(rule, rule.lenient(), path, message);
    }

    /// Adds an error with another answer of a lenient reader.
    pub(super) fn error_as(
        &mut self,
        rule: Rule,
        lenient: Lenient,
        path: &str,
        message: impl AsRef<str>,
    ) {
        let place = find_place(&self.places, path);
        self.push(rule, lenient, Severity::Error, place, message.as_ref());
    }

    /// Adds an error at a place of the text.
    pub(super) fn error_at(&mut self, rule: Rule, place: Place, message: impl AsRef<str>) {
        let lenient = rule.lenient();
        self.push(rule, lenient, Severity::Error, place, message.as_ref());
    }

    /// Adds a warning at a value.
    pub(super) fn warn(&mut self, rule: Rule, path: &str, message: &str) {
        let place = find_place(&self.places, path);
        self.push(rule, rule.lenient(), Severity::Warning, place, message);
    }

    pub(super) fn push(
        &mut self,
        rule: Rule,
        lenient: Lenient,
        severity: Severity,
        start: Place,
        message: &str,
    ) {
        self.is_crash |= lenient == Lenient::Crash;
        self.is_refused |= lenient == Lenient::Refused;
        self.is_other |= matches!(rule, Rule::Stale | Rule::Foreign | Rule::TakenAlready);
        let list = &mut self.findings.list;
        // A placeholder is as good as missing, and that is said already.
        let is_placeholder =
            |one: &Finding| one.rule == Rule::Placeholder && one.start.line == start.line;
        if list.len() == MAX_FINDINGS {
            self.findings.more += 1;
        } else if !list.iter().any(is_placeholder) {
            list.push(Finding {
                rule,
                severity,
                start,
                message: text::one_line(message, MAX_MESSAGE_CHARS),
                lenient,
            });
        }
    }

    /// Returns the findings in the order of the file.
    pub(super) fn finish(mut self) -> Findings {
        self.findings.list.sort_by_key(|one| (one.start, one.rule));
        // What was read again has its findings twice.
        self.findings.list.dedup();
        self.findings
    }
}

/// Returns a value of the file as a message quotes it.
pub(super) fn quoted(value: &str) -> String {
    let line = text::one_line(&text::shown(value), MAX_QUOTED_CHARS);
    format!("`{}`", line.replace('`', "’"))
}
