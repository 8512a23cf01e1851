//! Findings about a machine file: the problem, its bytes and the help, printed as one line each.

use std::fmt;
use std::ops::Range;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind, such as `unknown_phase`. Messages have it after `claudex::machine::`.
    pub code: &'static str,
    /// The problem, as a lowercase fragment.
    pub message: String,
    /// The place, as byte offsets into the source.
    pub span: Range<usize>,
    /// The fix, in the imperative.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Makes a finding without help.
    pub fn new(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span,
            help: None,
        }
    }

    /// Sets the help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The findings about one file. Never empty in an error.
#[derive(Debug, Clone, derive_more::Display)]
#[display("{}", self.cargo_lines().collect::<Vec<_>>().join("\n"))]
pub struct Diagnostics {
    /// The name of the file in messages.
    pub name: String,
    /// The text of the file.
    pub source: String,
    /// The findings, in the order of their places.
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Sorts findings by their place.
    pub(crate) fn new(name: &str, source: &str, mut list: Vec<Diagnostic>) -> Self {
        list.sort_by_key(|one| (one.span.start, one.span.end));
        list.dedup();
        Self {
            name: name.to_owned(),
            source: source.to_owned(),
            list,
        }
    }

    /// Returns a line for each finding, without the line's end, such as
    /// `machine.toml:31:8: error[claudex::machine::unknown_phase]: no phase is named ...`.
    ///
    /// No line has a control character, which could end cargo's directive or colour a terminal.
    pub fn cargo_lines(&self) -> impl Iterator<Item = String> + '_ {
        self.list.iter().map(|found| {
            let before = text_before(&self.source, found.span.start);
            let column = before.chars().rev().take_while(|one| *one != '\n').count() + 1;
            let line = line_of(before, before.len());
            let place = format!("{}:{line}:{column}", self.name);
            let help: String = found.help.iter().map(|help| format!("; {help}")).collect();
            let code = found.code;
            let message = &found.message;
            let problem = format!("error[claudex::machine::{code}]: {message}{help}");
            one_line(&format!("{place}: {problem}"))
        })
    }
}

impl std::error::Error for Diagnostics {}

/// Returns the line of a byte, from 1.
pub fn line_of(source: &str, offset: usize) -> usize {
    text_before(source, offset).matches('\n').count() + 1
}

/// Returns the text before a byte. A byte beyond the end is at the end.
fn text_before(source: &str, offset: usize) -> &str {
    &source[..source.floor_char_boundary(offset)]
}

/// Escapes characters that end a line, move the cursor, reverse the direction or are invisible.
pub fn one_line(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '"' | '\'' | '\\') {
            clean.push(character);
        } else {
            clean.extend(character.escape_debug());
        }
    }
    clean
}

/// Returns "did you mean `x`?" if a known word is similar, or else the known words if they are few.
pub fn suggest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let known: Vec<&str> = known.collect();
    let near = known
        .iter()
        .map(|name| (strsim::osa_distance(&plain(word), &plain(name)), name))
        .min_by_key(|(distance, _)| *distance);
    match (near, known.as_slice()) {
        (Some((distance, name)), _) if distance <= word.chars().count().max(3) / 3 => {
            Some(format!("did you mean `{name}`?"))
        }
        (_, [only]) => Some(format!("the only one is `{only}`")),
        (_, few @ [_, ..]) if few.len() <= 12 => Some(format!("there are {}", list(few))),
        _ => None,
    }
}

/// Returns names as "`a`, `b` and `c`".
pub fn list<T: fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}

/// Returns the section of a Markdown file with this heading.
pub(crate) fn section<'t>(file: &'t str, heading: &str) -> &'t str {
    let (_, rest) = file
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or(("", file));
    rest.split("\n## ").next().unwrap_or(rest)
}
