//! An answer in Markdown as a flat list of blocks. Every line is in one of them, except for blank ones, rules, fences and the heads
//! of tables.

use super::Cause;
use super::severity::{begins_with_sign, is_severity_line, stated_severity};
use crate::review::findings::Severity;

/// The level of a line that is a heading without `#`, such as `**High:**` or `[P1] text`.
pub(super) const LINE_LEVEL: u8 = 6;

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A heading of this level.
    Heading(u8),
    /// An item of a list, on any level. Those below it are blocks, too.
    Item,
    /// A row of a table.
    Row,
    Paragraph,
    /// A quotation or code.
    Quote,
}

/// A block of an answer.
#[derive(Debug)]
pub(super) struct Block<'t> {
    pub(super) kind: Kind,
    /// The number of the first line, from 1.
    pub(super) number: usize,
    /// The white space in front of the first line, in bytes.
    pub(super) indent: usize,
    /// The lines without their marks; at least one.
    pub(super) lines: Vec<&'t str>,
}

impl Block<'_> {
    /// Returns the level of a heading.
    pub(super) fn level(&self) -> Option<u8> {
        match self.kind {
            Kind::Heading(level) => Some(level),
            _ => None,
        }
    }

    pub(super) fn is_item_or_row(&self) -> bool {
        matches!(self.kind, Kind::Item | Kind::Row)
    }

    /// Returns whether the last line may be the head of a table.
    fn has_cells(&self) -> bool {
        let is_text = matches!(self.kind, Kind::Row | Kind::Paragraph);
        is_text && self.lines.last().is_some_and(|line| line.contains('|'))
    }

    /// Returns the severity that exactly one of its lines states: `**Severity:** High`.
    pub(super) fn stated_severity(&self) -> Option<Severity> {
        let is_text = matches!(self.kind, Kind::Item | Kind::Paragraph);
        let mut stated = self.lines.iter().filter_map(|line| stated_severity(line));
        let severity = stated.next().filter(|_| is_text)?;
        stated.next().is_none().then_some(severity)
    }
}

/// Reads the blocks of a plain text, in order.
///
/// # Errors
/// Returns an error if a code fence is not closed: the answer may have been cut off.
pub(super) fn read(answer: &str) -> Result<Vec<Block<'_>>, Cause> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut fence = "";
    // The kind of the block to which the next line may belong.
    let mut open = None;
    for (line, number) in answer.lines().zip(1..) {
        let text = line.trim();
        let mark = fence_of(text);
        match blocks.last_mut().filter(|_| open.is_some()) {
            Some(_) if !fence.is_empty() && mark == text && mark.starts_with(fence) => {
                fence = "";
                open = None;
                continue;
            }
            Some(code) if !fence.is_empty() => {
                code.lines.push(text);
                continue;
            }
            Some(title) if title.kind == Kind::Paragraph && is_all(text, "=-") => {
                title.kind = Kind::Heading(if text.starts_with('=') { 1 } else { 2 });
                open = None;
                continue;
            }
            // The line above is the head of a table.
            Some(above) if is_all(text, "|-: ") && text.contains('|') && above.has_cells() => {
                above.lines.pop();
                open = Some(Kind::Row);
                continue;
            }
            _ if text.is_empty() || is_rule(line) => {
                open = None;
                continue;
            }
            _ => {}
        }
        fence = mark;
        let (kind, text) = kind_of(line, open);
        let continues = match kind {
            Kind::Paragraph => matches!(open, Some(Kind::Paragraph | Kind::Item)),
            kind => kind == Kind::Quote && fence.is_empty() && open == Some(kind),
        };
        match blocks.last_mut() {
            Some(above) if continues => above.lines.push(text),
            _ => {
                open = Some(kind).filter(|kind| !matches!(kind, Kind::Heading(_)));
                blocks.push(Block {
                    kind,
                    number,
                    indent: line.len() - line.trim_start().len(),
                    lines: vec![text],
                });
            }
        }
    }
    if let Some(code) = blocks.last().filter(|_| !fence.is_empty()) {
        let problem = format!("the code that begins in line {} does not end", code.number);
        return Err(Cause::not_a_verdict(&problem));
    }
    for block in &mut blocks {
        block.lines.retain(|line| !line.is_empty());
    }
    blocks.retain(|block| !block.lines.is_empty());
    Ok(blocks)
}

/// Returns the kind of the block that a line begins or continues, and its text without the mark. `open` is the block above.
fn kind_of(line: &str, open: Option<Kind>) -> (Kind, &str) {
    let text = line.trim();
    let title = text.trim_start_matches('#');
    let level = u8::try_from(text.len() - title.len()).unwrap_or(u8::MAX);
    if !fence_of(text).is_empty() {
        (Kind::Quote, "")
    } else if level == 1 && title.starts_with(' ') || (2..=6).contains(&level) {
        (Kind::Heading(level), title.trim_matches(['#', ' ', '\t']))
    } else if let Some(item) = bullet(text) {
        (Kind::Item, item)
    } else if is_title(line, open.is_none()) {
        (Kind::Heading(LINE_LEVEL), text)
    } else if text.starts_with('|') || open == Some(Kind::Row) && text.contains('|') {
        (Kind::Row, text)
    } else if text.starts_with('>') {
        (Kind::Quote, text.trim_start_matches(['>', ' ', '\t']))
    } else {
        (Kind::Paragraph, text)
    }
}

/// Returns whether a line without `#` is a heading. `begins`: it begins a paragraph.
fn is_title(line: &str, begins: bool) -> bool {
    let is_marked = line.starts_with(['*', '_', '[']) || begins_with_sign(line);
    let stands_out = begins || line.trim_end().ends_with(':');
    (is_marked || stands_out && line.starts_with(char::is_alphanumeric)) && is_severity_line(line)
}

/// Returns the text behind `-`, `*`, `+`, `•`, `1.` or `1)`.
pub(super) fn bullet(line: &str) -> Option<&str> {
    let after_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match line.len() - after_digits.len() {
        0 => line.strip_prefix(['-', '*', '+', '\u{2022}'])?,
        1..10 => after_digits.strip_prefix(['.', ')'])?,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

/// Returns the characters with which a line begins or ends a block of code; empty if it does not.
fn fence_of(text: &str) -> &str {
    let character = if text.starts_with('~') { '~' } else { '`' };
    let rest = text.trim_start_matches(character);
    let mark = &text[..text.len() - rest.len()];
    if mark.len() < 3 || rest.contains('`') {
        return "";
    }
    mark
}

/// Returns whether a line is a rule, such as `---` or `* * *`. One below an item is a line of it.
fn is_rule(line: &str) -> bool {
    let marks = line.matches(['-', '=', '*', '_']).count();
    marks > 2 && is_all(line, "-=*_ ") && !line.starts_with(' ')
}

fn is_all(text: &str, characters: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| characters.contains(one))
}
