//! The findings in a summary: each with its rule and its place, as one line.
//!
//! A coordinator wrote the file: control characters in it reach no terminal.

use std::ops::Range;

use claudex_loop::text;
use strum::Display;

use super::rule::{Lenient, Rule};
use super::yaml::find_place;

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
    /// What to write instead.
    pub help: &'static str,
    /// The answer of a lenient reader.
    pub lenient: Lenient,
}

/// The findings of one file, in the order of the file.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    more: usize,
}

impl Findings {
    /// Returns the findings, at most 100.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// Returns the number of findings that are not in the list.
    pub fn more(&self) -> usize {
        self.more
    }

    /// Returns whether the summary is invalid.
    pub fn has_error(&self) -> bool {
        self.list.iter().any(|one| one.severity == Severity::Error)
    }

    /// Returns a line of text for each finding, such as `a.md:4:9: error[unknown-status]: …; write …`.
    pub fn lines(&self, file: &str) -> Vec<String> {
        let name = text::shown(file);
        let line = |one: &Finding| {
            let Place { line, column } = one.start;
            let (severity, rule) = (one.severity, one.rule);
            let (message, help) = (&one.message, one.help);
            format!("{name}:{line}:{column}: {severity}[{rule}]: {message}; {help}")
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
            let Place { line, column } = one.start;
            let (severity, done) = match one.lenient {
                Lenient::Corrected(done) => (Severity::Warning, done),
                Lenient::Crash => (Severity::Error, "a crash"),
                Lenient::Refused => (Severity::Error, "refused"),
            };
            let (rule, message) = (one.rule, &one.message);
            format!("{line}:{column}: {severity}[{rule}]: {message}: {done}")
        };
        self.list.iter().map(line).collect()
    }
}

/// Collects the findings while a file is read.
#[derive(Debug)]
pub(super) struct Collector<'t> {
    /// The text of the file, without a byte order mark.
    text: &'t str,
    /// The frontmatter in the text.
    pub(super) yaml: Range<usize>,
    findings: Findings,
    /// Whether a finding makes it a crash.
    pub(super) is_crash: bool,
    /// Whether a finding has the summary refused.
    pub(super) is_refused: bool,
    /// Whether the summary is not one of the open dispatch, which goes before a crash.
    pub(super) is_other: bool,
}

impl<'t> Collector<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            yaml: 0..0,
            findings: Findings::default(),
            is_crash: false,
            is_refused: false,
            is_other: false,
        }
    }

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
        let at = match self.findings.list.len() {
            MAX_FINDINGS => 0,
            _ => find_place(self.text, self.yaml.clone(), path),
        };
        self.push(rule, lenient, Severity::Error, at, message.as_ref());
    }

    /// Adds an error at a byte of the text.
    pub(super) fn error_at(&mut self, rule: Rule, at: usize, message: impl AsRef<str>) {
        self.push(rule, rule.lenient(), Severity::Error, at, message.as_ref());
    }

    /// Adds a warning at a value.
    pub(super) fn warn(&mut self, rule: Rule, path: &str, message: &str) {
        let at = find_place(self.text, self.yaml.clone(), path);
        self.push(rule, rule.lenient(), Severity::Warning, at, message);
    }

    pub(super) fn push(
        &mut self,
        rule: Rule,
        lenient: Lenient,
        severity: Severity,
        at: usize,
        message: &str,
    ) {
        self.is_crash |= lenient == Lenient::Crash;
        self.is_refused |= lenient == Lenient::Refused;
        self.is_other |= matches!(rule, Rule::Stale | Rule::Foreign | Rule::TakenAlready);
        if self.findings.list.len() == MAX_FINDINGS {
            self.findings.more += 1;
            return;
        }
        let start = place(self.text, at);
        // A placeholder is as good as missing, and that is said already.
        let is_placeholder =
            |one: &Finding| one.rule == Rule::Placeholder && one.start.line == start.line;
        if self.findings.list.iter().any(is_placeholder) {
            return;
        }
        self.findings.list.push(Finding {
            rule,
            severity,
            start,
            message: text::one_line(message, MAX_MESSAGE_CHARS),
            help: rule.help(),
            lenient,
        });
    }

    /// Returns the findings in the order of the file.
    pub(super) fn finish(mut self) -> Findings {
        self.findings.list.sort_by_key(|one| (one.start, one.rule));
        self.findings
    }
}

/// Returns line and column of a byte. A byte beyond the end is at the end.
fn place(text: &str, offset: usize) -> Place {
    let before = &text[..text.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Place {
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
    }
}

/// Returns a value of the file as a message quotes it.
pub(super) fn quoted(value: &str) -> String {
    let line = text::one_line(&text::shown(value), MAX_QUOTED_CHARS);
    format!("`{}`", line.replace('`', "’"))
}
