//! Findings about a machine file: what is wrong, at which bytes, and what to write instead.
//!
//! A finding knows bytes only. Lines and columns are computed once, when findings are printed, one line each.

use std::fmt;
use std::ops::Range;

/// The start of every code in messages.
pub const CODE_PREFIX: &str = "claudex::machine::";

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind it is, such as `unknown_phase`. In messages [`CODE_PREFIX`] stands before it.
    pub code: &'static str,
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// Where, as byte offsets into the source.
    pub span: Range<usize>,
    /// What to do about it.
    pub help: Option<String>,
    /// Other places that belong to it, each with its own label.
    pub related: Vec<(Range<usize>, String)>,
}

impl Diagnostic {
    /// A finding without a label, help or other places.
    pub fn new(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            code,
            message: shortened(message.into()),
            span,
            help: None,
            related: Vec::new(),
        }
    }

    /// Sets what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shortened(help.into()));
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn related(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.related.push((span, shortened(label.into())));
        self
    }

    /// Puts the lines of the other places into the help.
    fn name_related_lines(&mut self, source: &str) {
        let related = std::mem::take(&mut self.related).into_iter();
        let named =
            related.map(|(span, label)| format!("{label}: line {}", line_of(source, span.start)));
        let parts: Vec<String> = named.chain(self.help.take()).collect();
        self.help = (!parts.is_empty()).then(|| parts.join("; "));
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.message))
    }
}

impl std::error::Error for Diagnostic {}

/// A text without its middle, where a name or a value in it is longer than anybody reads.
fn shortened(text: String) -> String {
    const LONGEST: usize = 1_500;
    const LAST: usize = 400;
    if text.len() <= LONGEST {
        return text;
    }
    let first = text.floor_char_boundary(LONGEST - LAST);
    let last = text.ceil_char_boundary(text.len() - LAST);
    format!("{}[...]{}", &text[..first], &text[last..])
}

/// Every finding about one file, in its order. Never empty where it is returned as an error.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    /// The file, as its user names it.
    pub name: String,
    /// Its whole text, as it can be shown: see [`shown`].
    pub source: String,
    /// The findings, in the order of their places.
    pub list: Vec<Diagnostic>,
}

/// How many findings are kept: beyond that a file is beyond help, and a build log beyond reading.
const KEPT: usize = 100;

impl Diagnostics {
    /// Sorts findings by their place; beyond the first hundred they are only counted.
    pub(crate) fn new(name: &str, source: &str, mut list: Vec<Diagnostic>) -> Self {
        list.sort_by_key(|one| (one.span.start, one.span.end));
        list.dedup();
        if list.len() > KEPT {
            let more = list.len() - KEPT;
            list.truncate(KEPT);
            let span = list.last().map_or(0..0, |last| last.span.clone());
            let message = format!("{more} more findings are not shown");
            list.push(Diagnostic::new("too_many", span, message).help("mend these first"));
        }
        let source = shown(source);
        for found in &mut list {
            found.name_related_lines(&source);
        }
        let name = name.to_owned();
        Self { name, source, list }
    }

    /// The findings, each with where it begins and where it ends.
    pub fn places(&self) -> impl Iterator<Item = (&Diagnostic, Place, Place)> + '_ {
        let lines = LineStarts::new(&self.source);
        self.list.iter().map(move |found| {
            let place = |offset| {
                let (line, column) = lines.locate(&self.source, offset);
                Place { line, column }
            };
            (found, place(found.span.start), place(found.span.end))
        })
    }

    /// One line of text per finding, such as
    /// `machine.toml:31:8: error[claudex::machine::unknown_phase]: no phase is named ...; did you mean ...?`,
    /// without the line's end. Whatever the machine file holds, none has a control character in it, so that none can
    /// end the line of the directive that cargo reads, or colour a terminal.
    pub fn cargo_lines(&self) -> impl Iterator<Item = String> + '_ {
        let lines = LineStarts::new(&self.source);
        self.list.iter().map(move |found| {
            let (line, column) = lines.locate(&self.source, found.span.start);
            let help = found
                .help
                .as_deref()
                .map(|help| format!("; {help}"))
                .unwrap_or_default();
            let (name, code, message) = (&self.name, found.code, &found.message);
            one_line(&format!(
                "{name}:{line}:{column}: error[{CODE_PREFIX}{code}]: {message}{help}"
            ))
        })
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = LineStarts::new(&self.source);
        for (at, found) in self.list.iter().enumerate() {
            let (line, column) = lines.locate(&self.source, found.span.start);
            let help = found
                .help
                .as_deref()
                .map(|help| format!(" ({help})"))
                .unwrap_or_default();
            let end = if at == 0 { "" } else { "\n" };
            let text = one_line(&format!(
                "{}:{line}:{column}: {}{help}",
                self.name, found.message
            ));
            write!(f, "{end}{text}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// The line of a byte, from 1. A byte beyond the end is on the last line.
pub fn line_of(source: &str, offset: usize) -> usize {
    let end = offset.min(source.len());
    source.as_bytes()[..end]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count()
        + 1
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// Where the lines of a text begin.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn new(source: &str) -> Self {
        let ends = source
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n');
        Self(
            std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect(),
        )
    }

    /// Line and column of a byte, both from 1, the column in characters.
    fn locate(&self, source: &str, offset: usize) -> (usize, usize) {
        let offset = offset.min(source.len());
        let line = self.0.partition_point(|&start| start <= offset);
        let start = self.0[line - 1];
        let inside = |(at, _): &(usize, char)| start + at < offset;
        (
            line,
            source[start..].char_indices().take_while(inside).count() + 1,
        )
    }
}

/// Returns whether a character ends a line, moves a cursor, turns the direction of reading, or is not seen. The same list as
/// the library's `text`, which this crate cannot name.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// A file's text as a terminal may show it, with every character in its place: what is hidden, except the ends of lines and
/// tabs, has been replaced by something of the same size in bytes.
pub fn shown(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source.chars().peekable();
    while let Some(character) = rest.next() {
        let ends_line = character == '\n' || character == '\r' && rest.peek() == Some(&'\n');
        if ends_line || character == '\t' || !is_hidden(character) {
            text.push(character);
        } else {
            text.push_str(match character.len_utf8() {
                1 => "?",
                2 => "\u{bf}",
                3 => "\u{fffd}",
                _ => "\u{fffd}?",
            });
        }
    }
    text
}

/// The text with everything escaped that ends a line, moves a cursor or turns the direction of reading.
pub fn one_line(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            clean.extend(character.escape_default());
        } else {
            clean.push(character);
        }
    }
    clean
}

/// "did you mean `x`?" for a word that is nearly one of these, else a list of them if it is short enough to help.
pub fn suggest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    /// Longer words are not names that someone misspelt, and comparing them takes time.
    const LONGEST: usize = 40;
    let known: Vec<&str> = known.take(256).collect();
    if word.len() <= LONGEST {
        let near = known
            .iter()
            .filter(|name| name.len() <= LONGEST)
            .map(|name| {
                let same =
                    word.to_lowercase().replace('-', "_") == name.to_lowercase().replace('-', "_");
                (
                    if same {
                        0
                    } else {
                        strsim::osa_distance(word, name)
                    },
                    *name,
                )
            });
        let allowed = word.chars().count().max(3) / 3;
        if let Some((_, name)) = near
            .filter(|(far, _)| *far <= allowed)
            .min_by_key(|(far, _)| *far)
        {
            return Some(format!("did you mean `{name}`?"));
        }
    }
    match known.as_slice() {
        [] => None,
        [only] => Some(format!("the only one is `{only}`")),
        few if few.len() <= 12 => Some(format!("there are {}", list(few))),
        _ => None,
    }
}

/// "`a`, `b` and `c`".
pub fn list<S: AsRef<str>>(names: &[S]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    }
}
