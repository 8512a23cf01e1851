//! What is wrong in one summary: each finding with its rule, its place and what to write instead, as one line.
//!
//! A coordinator wrote the file: whatever it holds, nothing of it reaches a terminal that could steer one.

use std::ops::Range;

use claudex_loop::text;
use serde::{Serialize, Serializer};
use strum::Display;

use super::rule::Rule;

/// The most findings of a file that are kept: beyond that it is beyond help.
const MOST: usize = 100;
/// The longest message or help, in characters.
const LONGEST: usize = 500;

/// Says whether a finding makes a summary invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, Serialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// It does.
    Error,
    /// It does not.
    Warning,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that is broken.
    #[serde(rename = "code", serialize_with = "code")]
    pub rule: Rule,
    /// Whether that makes the summary invalid.
    pub severity: Severity,
    /// Where it begins.
    pub start: Place,
    /// Where it ends: behind its last character.
    pub end: Place,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

fn code<S: Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.code())
}

/// What is wrong in one file, in the order of the file.
#[derive(Debug)]
pub struct Findings {
    list: Vec<Finding>,
    /// How many are not kept.
    more: usize,
    /// The name that the file is shown under.
    name: String,
}

impl Findings {
    /// Returns them.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// Returns how many more there are: beyond the first hundred they are counted.
    pub fn more(&self) -> usize {
        self.more
    }

    /// Returns whether one of them makes the summary invalid.
    pub fn has_error(&self) -> bool {
        self.list.iter().any(|one| one.severity == Severity::Error)
    }

    /// Gives the file the name that it is shown under.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = text::shown(name);
        self
    }

    /// Returns a line of text for each, such as `a.md:4:9: error[unknown-status]: …; write …`.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let shown = self.list.iter().map(|one| {
            let (name, Place { line, column }) = (&self.name, one.start);
            let severity = one.severity;
            format!(
                "{name}:{line}:{column}: {severity}[{}]: {}; {}",
                one.rule, one.message, one.help
            )
        });
        let more = || {
            format!(
                "{}: {} more findings are not shown; mend these first",
                self.name, self.more
            )
        };
        shown.chain((self.more > 0).then(more))
    }
}

/// Collects findings while a file is read; the places are worked out at the end.
#[derive(Debug, Default)]
pub(crate) struct Found(Vec<(Rule, Severity, Range<usize>, String, String)>);

impl Found {
    pub(crate) fn error(
        &mut self,
        rule: Rule,
        span: Range<usize>,
        message: impl AsRef<str>,
        help: impl AsRef<str>,
    ) {
        self.push(rule, Severity::Error, span, message, help);
    }

    pub(crate) fn push(
        &mut self,
        rule: Rule,
        severity: Severity,
        span: Range<usize>,
        message: impl AsRef<str>,
        help: impl AsRef<str>,
    ) {
        let [message, help] =
            [message.as_ref(), help.as_ref()].map(|text| text::one_line(text, LONGEST));
        self.0.push((rule, severity, span, message, help));
    }

    /// Returns whether another one would not be shown.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() > MOST
    }

    pub(crate) fn has(&self, is_one: impl Fn(Rule) -> bool) -> bool {
        self.0.iter().any(|(rule, ..)| is_one(*rule))
    }

    /// Sorts them by their places in `text`.
    pub(crate) fn finish(mut self, text: &str) -> Findings {
        self.0
            .sort_by_key(|(rule, severity, span, ..)| (*severity as u8, span.start, *rule));
        self.0.dedup();
        let more = self.0.len().saturating_sub(MOST);
        // Errors are kept before warnings.
        self.0.truncate(MOST);
        self.0
            .sort_by_key(|(rule, _, span, ..)| (span.start, *rule));
        let list = self
            .0
            .into_iter()
            .map(|(rule, severity, span, message, help)| Finding {
                rule,
                severity,
                start: place(text, span.start),
                end: place(text, span.end),
                message,
                help,
            });
        Findings {
            list: list.collect(),
            more,
            name: "summary".to_owned(),
        }
    }
}

/// Returns line and column of a byte. A byte beyond the end is at the end.
fn place(source: &str, offset: usize) -> Place {
    let before = &source[..source.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Place {
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
    }
}

/// Returns a value of the file as a message quotes it.
pub(crate) fn quoted(value: &str) -> String {
    format!(
        "`{}`",
        text::one_line(&text::shown(value), 60).replace('`', "’")
    )
}

/// Returns "`a`, `b` or `c`".
pub(crate) fn one_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

impl Findings {
    /// Returns none, about a file that could not be read.
    pub(crate) fn none() -> Self {
        Found::default().finish("")
    }
}
