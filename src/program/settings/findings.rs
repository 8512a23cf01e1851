//! What is wrong in one configuration file: each finding with its place, and the ways to show them.
//!
//! A project's file is a stranger's: whatever it holds, nothing of it reaches a terminal that could steer one.

use std::fmt;
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

use crate::text;

/// The most findings about one file that are shown: beyond that it is beyond help.
pub(super) const MOST: usize = 30;
/// The longest message or help, in characters.
const LONGEST: usize = 500;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    code: &'static str,
    message: String,
    span: Range<usize>,
    label: String,
    help: String,
}

impl Finding {
    /// A finding at these bytes of the file. `code` is its kind, such as `claudex::config::value`.
    pub(super) fn new(code: &'static str, span: Range<usize>, message: impl AsRef<str>) -> Self {
        Self {
            code,
            message: text::one_line(message.as_ref(), LONGEST),
            span,
            label: String::new(),
            help: String::new(),
        }
    }

    /// What stands under the place.
    #[must_use]
    pub(super) fn label(mut self, label: impl AsRef<str>) -> Self {
        self.label = text::one_line(label.as_ref(), LONGEST);
        self
    }

    /// What to do about it.
    #[must_use]
    pub(super) fn help(mut self, help: impl AsRef<str>) -> Self {
        self.help = text::one_line(help.as_ref(), LONGEST);
        self
    }

    /// Sets what to do about it where nothing is said yet.
    #[must_use]
    pub(super) fn or_help(self, help: impl AsRef<str>) -> Self {
        if self.help.is_empty() {
            self.help(help)
        } else {
            self
        }
    }

    fn place(&self) -> LabeledSpan {
        let label = (!self.label.is_empty()).then(|| self.label.clone());
        LabeledSpan::new_primary_with_span(
            label,
            (
                self.span.start,
                self.span.end.saturating_sub(self.span.start),
            ),
        )
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Finding {}

impl Diagnostic for Finding {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.place())))
    }
}

/// Everything that is wrong in one file, in the order of the file; one finding at least.
#[derive(Debug)]
pub struct Findings {
    path: Utf8PathBuf,
    source: NamedSource<String>,
    first: Finding,
    rest: Vec<Finding>,
    /// How many there are, those that are not shown too.
    count: usize,
    place: (usize, usize),
}

impl Findings {
    /// The findings about a file; None where there is none.
    pub(super) fn new(path: &Utf8Path, source: &str, mut list: Vec<Finding>) -> Option<Self> {
        list.sort_by_key(|finding| (finding.span.start, finding.span.end));
        list.dedup();
        let count = list.len();
        list.truncate(MOST);
        let mut list = list.into_iter();
        let first = list.next()?;
        let place = place(source, first.span.start);
        let name = text::pasteable(&text::shown(path));
        Some(Self {
            path: path.to_owned(),
            source: NamedSource::new(name, harmless(source)).with_language("TOML"),
            first,
            rest: list.collect(),
            count,
            place,
        })
    }

    /// The file.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// How many findings there are.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl fmt::Display for Findings {
    /// The first finding with its place, and how many more there are, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.place;
        write!(f, "{}:{line}:{column}: {}", self.source.name(), self.first)?;
        match self.count {
            1 => Ok(()),
            2 => f.write_str(" (and 1 more finding)"),
            // Nobody counts on when a file is beyond help.
            count if count > MOST => write!(f, " (and {MOST} more findings, at least)"),
            count => write!(f, " (and {} more findings)", count - 1),
        }
    }
}

impl std::error::Error for Findings {}

/// The first finding is the picture, the others are pictures of their own below it.
impl Diagnostic for Findings {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.first.code()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Diagnostic::help(&self.first)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Diagnostic::labels(&self.first)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        (!self.rest.is_empty()).then(|| {
            Box::new(self.rest.iter().map(|finding| finding as &dyn Diagnostic))
                as Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>
        })
    }
}

/// The line of a byte, from 1.
pub(super) fn line(source: &str, offset: usize) -> usize {
    place(source, offset).0
}

/// Line and column of a byte, both from 1, the column in characters. A byte beyond the end is at the end.
fn place(source: &str, offset: usize) -> (usize, usize) {
    let before = &source.as_bytes()[..offset.min(source.len())];
    let start = before
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    // A byte that goes on with a character is not one of its own.
    let characters = before[start..]
        .iter()
        .filter(|&&byte| byte & 0b1100_0000 != 0b1000_0000);
    (line, characters.count() + 1)
}

/// The text with question marks in place of whatever could steer a terminal, each byte still at its place.
fn harmless(source: &str) -> String {
    let mut shown = String::with_capacity(source.len());
    let mut buffer = [0; 4];
    for character in source.chars() {
        let one: &str = character.encode_utf8(&mut buffer);
        match character {
            '\r' => shown.push(' '),
            _ if text::plain(one) == one => shown.push(character),
            _ => shown.extend(std::iter::repeat_n('?', one.len())),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_lines_and_characters() {
        let source = "ä = 1\r\nbü = 2\n";
        assert_eq!(place(source, 0), (1, 1));
        assert_eq!(place(source, source.find('=').unwrap()), (1, 3));
        assert_eq!(place(source, source.rfind('=').unwrap()), (2, 4));
        assert_eq!(place(source, source.len()), (3, 1));
        assert_eq!(place(source, usize::MAX), (3, 1));
        assert_eq!(place("", 7), (1, 1));
    }

    #[test]
    fn the_shown_source_has_every_byte_at_its_place_and_steers_no_terminal() {
        let source = "a = \"\u{1b}[31m\u{202e}\u{9b}é\"\r\n\tb = \u{e0041}1";
        let shown = harmless(source);
        assert_eq!(shown.len(), source.len());
        assert_eq!(shown.find('é'), source.find('é'));
        assert_eq!(text::plain(&shown), shown);
    }

    #[test]
    fn the_first_is_the_headline_and_the_others_are_counted() {
        let finding =
            |at: usize| Finding::new("claudex::config::value", at..at + 1, format!("wrong {at}"));
        let path = Utf8Path::new("/a b/config.toml");
        let shown = |list| Findings::new(path, "a = 1\nb = 2\n", list).map(|all| all.to_string());
        assert_eq!(shown(vec![]), None);
        assert_eq!(
            shown(vec![finding(6)]).unwrap(),
            "/a b/config.toml:2:1: wrong 6"
        );
        assert_eq!(
            shown(vec![finding(6), finding(0), finding(6)]).unwrap(),
            "/a b/config.toml:1:1: wrong 0 (and 1 more finding)"
        );
        let many = Findings::new(path, "", (0..1000).map(finding).collect()).unwrap();
        assert_eq!((many.count(), many.rest.len()), (1000, MOST - 1));
    }
}
