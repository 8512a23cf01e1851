//! What is wrong in one summary: each finding with its rule, its place and what to write instead, and the ways to show them.
//!
//! A coordinator wrote the file: whatever it holds, nothing of it reaches a terminal that could steer one.

use std::fmt;
use std::ops::Range;

use claudex_loop::text;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
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
    #[serde(skip)]
    span: Range<usize>,
}

fn code<S: Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.code())
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Finding {}

impl Diagnostic for Finding {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(format!("stages::{}", self.rule)))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.help))
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let length = self.span.end - self.span.start;
        let place = LabeledSpan::new_primary_with_span(None, (self.span.start, length));
        Some(Box::new(std::iter::once(place)))
    }
}

/// What is wrong in one file, in the order of the file.
#[derive(Debug)]
pub struct Findings {
    list: Vec<Finding>,
    /// How many are not kept.
    more: usize,
    source: NamedSource<String>,
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
        let source = self.source.inner().clone();
        self.source = NamedSource::new(text::shown(name), source).with_language("YAML");
        self
    }

    /// Returns a line of text for each, such as `a.md:4:9: error[unknown-status]: …; write …`.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let shown = self.list.iter().map(|one| {
            let (name, Place { line, column }) = (self.source.name(), one.start);
            let severity = one.severity;
            format!(
                "{name}:{line}:{column}: {severity}[{}]: {}; {}",
                one.rule, one.message, one.help
            )
        });
        let more = || {
            format!(
                "{}: {} more findings are not shown; mend these first",
                self.source.name(),
                self.more
            )
        };
        shown.chain((self.more > 0).then(more))
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.list.len() + self.more;
        let plural = if count == 1 { "" } else { "s" };
        write!(f, "{}: {count} finding{plural}", self.source.name())
    }
}

impl std::error::Error for Findings {}

/// The file is the source of every finding, and each finding is a picture of its own.
impl Diagnostic for Findings {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new("stages::summary"))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.list.iter().map(|one| one as &dyn Diagnostic)))
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
                span: span.start.min(text.len())..span.end.min(text.len()),
            });
        Findings {
            list: list.collect(),
            more,
            source: NamedSource::new("summary", harmless(text)),
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

/// Returns the text with question marks in place of whatever could steer a terminal, each byte still at its place.
fn harmless(source: &str) -> String {
    let mut shown = String::with_capacity(source.len());
    for character in source.chars() {
        match character {
            '\r' => shown.push(' '),
            ' '..='~' | '\n' => shown.push(character),
            _ if text::plain(character.encode_utf8(&mut [0; 4])).is_empty() => {
                shown.extend(std::iter::repeat_n('?', character.len_utf8()));
            }
            _ => shown.push(character),
        }
    }
    shown
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
