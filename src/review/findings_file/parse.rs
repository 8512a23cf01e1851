//! Reading a findings file, line by line.
//!
//! Not a Markdown parser on purpose: what counts is which lines are severity headings, which are top-level bullets, and
//! what hangs below them, in texts that are Markdown only roughly.

use super::text::{self, MAX_DETAIL_CHARS, MAX_DETAIL_LINES, MAX_FINDING_CHARS};
use super::words::{self, SeverityHeading};
use super::{CLEAN_LINE, MAX_FILE_BYTES, MOST_FINDINGS, Unreadable, Verdict};
use crate::review::findings::{Finding, Findings, Severity};
use strum::IntoEnumIterator as _;

/// Reads a findings file.
///
/// Severity comes from headings (`## High`, `### CRITICAL (2)`, `**Low:**`), or outside of any severity section from a label
/// on the bullet itself (`- [High] ...`). `Critical`, `Blocker` and `Major` count as high, `Moderate` as medium, `Minor` and
/// `Nit` as low. Fenced code is never a bullet; a fence that is not closed is taken for text, so that it hides nothing.
/// In a severity section without bullets, each paragraph or sub-heading is one finding, unless it says that there is none.
///
/// # Errors
/// [`Unreadable`] if the bytes are not text, too long, or state no verdict. Where there is no finding, that has to be said by nothing
/// but an optional title and [`CLEAN_LINE`](super::CLEAN_LINE), below which no section begins, or by three sections of which each
/// says that it has none. A sentence around either may say the opposite.
pub fn parse(bytes: &[u8]) -> Result<Verdict, Unreadable> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(Unreadable::TooLarge {
            bytes: bytes.len(),
            limit: MAX_FILE_BYTES,
        });
    }
    let source = std::str::from_utf8(bytes).map_err(|error| Unreadable::NotText {
        offset: error.valid_up_to(),
    })?;
    if let Some(offset) = source.bytes().position(|byte| byte == 0) {
        return Err(Unreadable::NotText { offset });
    }
    let stripped = text::strip(source);
    if stripped.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let lines: Vec<&str> = stripped.lines().collect();
    let fenced = fenced_lines(&lines);
    let mut reader = Reader::default();
    for (index, line) in lines.iter().enumerate() {
        match fenced[index] {
            Fence::Outside => reader.line(index + 1, line),
            Fence::Around => reader.blank = true,
            Fence::Marker => reader.marker(),
            Fence::Inside => reader.code(line),
        }
    }
    match reader.verdict()? {
        Verdict::Findings(findings) if findings.0.len() > MOST_FINDINGS => {
            Err(Unreadable::TooMany {
                found: findings.0.len(),
            })
        }
        verdict => Ok(verdict),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fence {
    Outside,
    /// A line of the fence around the whole text.
    Around,
    Marker,
    Inside,
}

/// Returns which lines are fenced code. A fence around the whole text is none: some reviewers wrap their answer in one.
fn fenced_lines(lines: &[&str]) -> Vec<Fence> {
    let mut marks = vec![Fence::Outside; lines.len()];
    let mut open: Option<(usize, char, usize)> = None;
    let mut blocks = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((mark, length, info)) = fence(line) else {
            continue;
        };
        match open {
            None => open = Some((index, mark, length)),
            Some((start, with, at_least))
                if mark == with && length >= at_least && info.is_empty() =>
            {
                blocks.push((start, index));
                open = None;
            }
            Some(_) => {}
        }
    }
    let written = |line: &&str| !line.trim().is_empty();
    let (first, last) = (
        lines.iter().position(written),
        lines.iter().rposition(written),
    );
    for (start, end) in blocks {
        let around = Some(start) == first && Some(end) == last;
        let mark = if around { Fence::Around } else { Fence::Marker };
        (marks[start], marks[end]) = (mark, mark);
        if !around {
            marks[start + 1..end].fill(Fence::Inside);
        }
    }
    marks
}

fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (length >= 3 && !rest.contains('`')).then_some((mark, length, rest.trim()))
}

/// One severity section, or the text outside of any.
struct Section {
    severities: Vec<Severity>,
    line: usize,
    level: usize,
    announced: Option<u64>,
    bullets: Vec<Finding>,
    prose: Vec<Finding>,
    /// Indentation of the section's outermost bullets.
    indent: Option<usize>,
    says_none: bool,
}

#[derive(Default)]
struct Reader {
    sections: Vec<Section>,
    inside: bool,
    clean_line: bool,
    /// Whether something stands there that a text without findings must not hold.
    other: bool,
    labelled: Vec<Finding>,
    label_indent: Option<usize>,
    /// Whether the line before was blank: after it a paragraph begins.
    blank: bool,
    started: bool,
    hanging: bool,
}

impl Reader {
    fn line(&mut self, number: usize, raw: &str) {
        let after_blank =
            std::mem::replace(&mut self.blank, raw.trim().is_empty()) || !self.started;
        self.started = true;
        let line = raw.trim();
        if line.is_empty() || is_rule(line) {
            return;
        }
        let indent = indentation(raw);
        // A quotation, a table, a comment, a question, what is struck out: nobody says there that nothing was found.
        self.other |= line.contains(['>', '<', '|', '?', '"', '~']) || indent > 3;
        if let Some((level, title)) = heading(line, indent) {
            return self.heading(number, level, title);
        }
        if indent < 2
            && (after_blank || line.ends_with(':') || line.starts_with(['*', '_']))
            && let Some((found, rest)) = plain_heading(line)
        {
            self.open(number, 7, found);
            if !rest.is_empty() {
                self.prose(rest, true);
            }
            return;
        }
        match bullet(line) {
            Some(body) => self.bullet(indent, body),
            None => self.prose(line, after_blank && indent < 2),
        }
    }

    fn heading(&mut self, number: usize, level: usize, title: &str) {
        self.hanging = false;
        if let Some(found) = words::severity_heading(title) {
            self.open(number, level, found);
        } else if let Some((severity, rest)) =
            words::label(title).filter(|(_, rest)| words::is_none(rest))
        {
            self.open(
                number,
                level,
                SeverityHeading {
                    severities: vec![severity],
                    announced: None,
                },
            );
            self.prose(rest, true);
        } else if let Some(section) = self.current().filter(|section| level > section.level) {
            if words::is_none(title) {
                section.says_none = true;
                self.other |= !words::is_none_alone(title);
            } else {
                section.prose.push(finding(Severity::High, title));
            }
        } else {
            self.inside = false;
            self.other |= level != 1 || !self.sections.is_empty() || !words::is_title(title);
        }
    }

    fn open(&mut self, line: usize, level: usize, heading: SeverityHeading) {
        self.inside = true;
        self.hanging = false;
        // Above a section it is that of a text that goes on.
        self.clean_line = false;
        self.sections.push(Section {
            severities: heading.severities,
            line,
            level,
            announced: heading.announced.filter(|count| *count > 0),
            bullets: Vec::new(),
            prose: Vec::new(),
            indent: None,
            says_none: heading.announced == Some(0),
        });
    }

    fn current(&mut self) -> Option<&mut Section> {
        if self.inside {
            self.sections.last_mut()
        } else {
            None
        }
    }

    fn bullet(&mut self, indent: usize, body: &str) {
        self.hanging = true;
        self.other |= !words::is_none_alone(body);
        let Some(section) = self.current() else {
            return self.labelled(indent, body);
        };
        let outermost = section.indent.is_none_or(|base| indent < base + 2);
        if !outermost && let Some(above) = section.bullets.last_mut() {
            return hang(above, body);
        }
        section.indent = Some(section.indent.map_or(indent, |base| base.min(indent)));
        // Whatever a file is called, what is said of a place in it is a finding.
        let in_a_file = place(body).0.is_some_and(|place| place.file.is_some());
        if words::is_none(body) && !in_a_file {
            section.says_none = true;
        } else {
            section.bullets.push(finding(Severity::High, body));
        }
    }

    fn labelled(&mut self, indent: usize, body: &str) {
        let nested = self.label_indent.is_some_and(|base| indent >= base + 2);
        match words::label(body) {
            Some((severity, rest)) if !nested && !words::is_none(rest) => {
                self.label_indent = Some(indent);
                self.labelled.push(finding(severity, rest));
            }
            _ if nested => {
                if let Some(above) = self.labelled.last_mut() {
                    hang(above, body);
                }
            }
            _ => self.label_indent = None,
        }
    }

    fn prose(&mut self, line: &str, new_paragraph: bool) {
        self.clean_line |= line == CLEAN_LINE;
        self.other |= line != CLEAN_LINE && !(self.inside && words::is_none_alone(line));
        let hanging = self.hanging;
        let Some(section) = self.current() else {
            if hanging
                && self.label_indent.is_some()
                && let Some(above) = self.labelled.last_mut()
            {
                hang(above, line);
            }
            return;
        };
        if let Some(above) = section.bullets.last_mut().filter(|_| hanging) {
            hang(above, line);
        } else if words::is_none(line) {
            section.says_none = true;
        } else if new_paragraph || section.prose.is_empty() {
            section.prose.push(finding(Severity::High, line));
        } else if let Some(above) = section.prose.last_mut() {
            hang(above, line);
        }
    }

    fn marker(&mut self) {
        self.blank = true;
        self.other = true;
    }

    fn code(&mut self, line: &str) {
        self.blank = true;
        let hanging = self.hanging;
        if let Some(above) = self
            .current()
            .and_then(|section| section.bullets.last_mut())
            .filter(|_| hanging)
        {
            hang(above, line);
        }
    }

    fn verdict(self) -> Result<Verdict, Unreadable> {
        let mut all = Vec::new();
        let mut seen = Vec::new();
        let mut silent = Vec::new();
        for section in self.sections {
            let Some(severity) = section.severities.first().copied() else {
                continue;
            };
            if !section.says_none {
                silent.extend(section.severities.iter().copied());
            }
            seen.extend(section.severities);
            let found = match (section.bullets.is_empty(), section.says_none) {
                (false, _) => section.bullets,
                (true, true) => Vec::new(),
                (true, false) => section.prose,
            };
            if found.is_empty() && section.announced.is_some() {
                return Err(Unreadable::Announced { line: section.line });
            }
            all.extend(found.into_iter().map(|finding| Finding {
                severity,
                ..finding
            }));
        }
        all.extend(self.labelled);
        if !all.is_empty() {
            return Ok(Verdict::Findings(Findings(all)));
        }
        if self.clean_line && !self.other {
            return Ok(Verdict::Clean);
        }
        if seen.is_empty() || self.other {
            return Err(Unreadable::NoVerdict);
        }
        match Severity::iter()
            .find(|severity| !seen.contains(severity) || silent.contains(severity))
        {
            Some(missing) => Err(Unreadable::Incomplete { missing }),
            None => Ok(Verdict::Clean),
        }
    }
}

/// Columns in front of the text; a tab counts as four.
fn indentation(line: &str) -> usize {
    line.chars()
        .take_while(|c| matches!(c, ' ' | '\t'))
        .map(|c| if c == '\t' { 4 } else { 1 })
        .sum()
}

/// Returns whether it is a thematic break or the underline of a heading.
fn is_rule(line: &str) -> bool {
    line.len() >= 3
        && ["-", "*", "_", "="]
            .iter()
            .any(|mark| line.trim_start_matches(mark).is_empty())
}

fn heading(line: &str, indent: usize) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let spaced = title.is_empty() || title.starts_with([' ', '\t']) || level > 1;
    (indent < 4 && (1..=6).contains(&level) && spaced)
        .then(|| (level, title.trim().trim_end_matches('#').trim()))
}

/// `**High:**`, `High severity`, `**Low**: none`: a line that is only a severity, or a severity and a word for none.
fn plain_heading(line: &str) -> Option<(SeverityHeading, &str)> {
    if bullet(line).is_some() || line.starts_with(['|', '>']) {
        return None;
    }
    if let Some(found) = words::severity_heading(line) {
        // "High: 2, medium: 1, low: 0" is a tally, not a section.
        return (found.severities.len() == 1).then_some((found, ""));
    }
    let (severity, rest) = words::label(line)?;
    Some((
        SeverityHeading {
            severities: vec![severity],
            announced: None,
        },
        rest,
    ))
}

/// Returns the text behind `-`, `*`, `+`, a bullet character, `1.` or `1)`.
fn bullet(line: &str) -> Option<&str> {
    let rest = if let Some(rest) = line.strip_prefix(['-', '*', '+', '\u{2022}', '\u{2013}']) {
        rest
    } else {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = line.len() - rest.len();
        (1..=4)
            .contains(&digits)
            .then_some(rest)?
            .strip_prefix(['.', ')'])?
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

fn hang(above: &mut Finding, line: &str) {
    let detail = text::fold(line, MAX_DETAIL_CHARS);
    if above.detail.len() < MAX_DETAIL_LINES && !detail.is_empty() {
        above.detail.push(detail);
    }
}

fn finding(severity: Severity, body: &str) -> Finding {
    let (place, body) = place(body);
    let (what, recommendation) = split_recommendation(body);
    let (file, line) = place.map_or((None, None), |place| (place.file, place.line));
    Finding {
        recommendation: recommendation.map(|it| text::fold(it, MAX_FINDING_CHARS)),
        file,
        line,
        ..Finding::new(severity, text::fold(what, MAX_FINDING_CHARS))
    }
}

/// Where a finding is.
struct Place {
    file: Option<String>,
    line: Option<u32>,
}

/// Splits `line 12: text`, `src/a.rs:12: text` and, for a name with white space in it, `` `a b.rs:12`: text ``.
fn place(body: &str) -> (Option<Place>, &str) {
    if let (Some(line), rest) = line_number(body) {
        let line = Some(line);
        return (Some(Place { file: None, line }), rest);
    }
    let split = match body.strip_prefix('`') {
        Some(quoted) => quoted.split_once("`: "),
        None => body
            .split_once(": ")
            .filter(|(name, _)| !name.contains(char::is_whitespace)),
    };
    let named = split.and_then(|(name, rest)| {
        let (file, number) = name.rsplit_once(':')?;
        let line = count(number)?;
        (!file.is_empty() && !rest.trim().is_empty()).then(|| (file.to_owned(), line, rest.trim()))
    });
    match named {
        Some((file, line, rest)) => (
            Some(Place {
                file: Some(file),
                line: Some(line),
            }),
            rest,
        ),
        None => (None, body),
    }
}

/// Parses the number of a line. What is not written as we write one (`007`, `+7`) is part of the text.
fn count(text: &str) -> Option<u32> {
    text.parse()
        .ok()
        .filter(|_| text.starts_with(|first| matches!(first, '1'..='9')))
}

/// Splits `line 12: text`.
fn line_number(body: &str) -> (Option<u32>, &str) {
    let parsed = body
        .get(..5)
        .filter(|word| word.eq_ignore_ascii_case("line "))
        .and_then(|_| {
            let (number, rest) = body[5..].split_once(": ")?;
            let number = count(number)?;
            (!rest.trim().is_empty()).then_some((number, rest.trim()))
        });
    parsed.map_or((None, body), |(number, rest)| (Some(number), rest))
}

/// Splits `what (recommendation)` at the bracket that the last `)` closes.
fn split_recommendation(body: &str) -> (&str, Option<&str>) {
    let whole = (body, None);
    let Some(inner) = body.strip_suffix(')').or_else(|| body.strip_suffix(").")) else {
        return whole;
    };
    let mut depth = 1_usize;
    for (index, c) in inner.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let (what, recommendation) = (inner[..index].trim_end(), inner[index + 1..].trim());
            // A call such as `retry()` is part of the text.
            let apart = inner[..index].ends_with(char::is_whitespace);
            return if what.is_empty() || recommendation.is_empty() || !apart {
                whole
            } else {
                (what, Some(recommendation))
            };
        }
    }
    whole
}
