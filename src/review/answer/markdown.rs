//! A Markdown answer as a list of its parts.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::item;
use super::severity::{
    is_bold, is_bracketed, is_numbered, is_rated_item, is_rated_line, is_severity_line,
    is_severity_name, label, only, severity_words, stated_severities, stated_severity,
};
use super::titles::{is_plain_list_title, is_praise_title};
use crate::review::findings::Severity;
use crate::text;

/// The level of a line that is a heading without `#`, such as `**High:**`.
pub(super) const LINE_LEVEL: u8 = 6;
/// The level of a numbered bold line.
const NUMBERED_LEVEL: u8 = LINE_LEVEL + 1;
/// The level of an item above nested ones. Each item around it adds one.
pub(super) const ITEM_LEVEL: u8 = NUMBERED_LEVEL + 1;
/// The most items around a finding. Text that is deeper is read once for each of them.
const MAX_DEPTH: u8 = 4;
/// The deepest indentation of a bullet. With more it would be code.
const MAX_INDENT: &str = "   ";
/// Characters in front of a line that is not a heading: space, quotations, tables, HTML, bullets.
const NOT_MARKS: [char; 9] = [' ', '\t', '>', '"', '|', '<', '~', '-', '+'];

/// A part of an answer: a block, an item of a list, or a row of a table.
pub(super) struct Part {
    pub(super) tag: Tag<'static>,
    /// The number of items around it.
    pub(super) depth: u8,
    /// The level of a heading. An item above nested ones, such as `- **High**`, is one, too.
    pub(super) level: Option<u8>,
    /// The line, from 1.
    pub(super) line: usize,
    /// The text as it is, or that of a heading alone.
    pub(super) text: String,
    /// The columns of severities, if it is a row of a table that names them.
    pub(super) severity_columns: Vec<usize>,
}

impl Part {
    /// Returns whether it is an item, a row, or the heading of nested items.
    pub(super) fn is_item(&self) -> bool {
        [Tag::Item, Tag::TableRow].contains(&self.tag)
    }

    /// Returns the severity that a paragraph or the first line of an item states.
    pub(super) fn stated(&self) -> Option<Severity> {
        match self.tag {
            Tag::Paragraph => only(stated_severities(&self.text)),
            Tag::Item => self.text.lines().next().and_then(stated_severity),
            _ => None,
        }
    }

    /// Returns whether it is code in a language.
    pub(super) fn is_source(&self) -> bool {
        matches!(&self.tag, Tag::CodeBlock(CodeBlockKind::Fenced(language))
            if !matches!(&**language, "" | "markdown" | "md" | "text"))
    }

    /// Returns whether it is HTML, or a code block whose fence is not closed.
    pub(super) fn is_refused(&self) -> bool {
        let text = self.text.trim();
        let below = text.split_once('\n').map_or("", |(_, below)| below);
        match self.tag {
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => !below.ends_with(&text[..3]),
            _ => self.tag == Tag::HtmlBlock,
        }
    }
}

/// Returns the parts of an answer, with every character but white space and rules.
pub(super) fn parts(answer: &str) -> Vec<Part> {
    parts_of(&with_headings(answer), 0, 0)
}

/// Makes Markdown headings of lines such as `**High:**`, `[P1] text`, titles of praise and numbered
/// bold lines, and bullets of `\u{2022}`, `(1)` and `a)`. The lines keep their numbers.
fn with_headings(answer: &str) -> String {
    let mut lines = String::with_capacity(answer.len());
    // The number of backquotes that opened a block of code.
    let mut fence = 0;
    let mut begins = true;
    let mut before = String::new();
    for line in text::strip_hidden(answer).lines() {
        let after = line.trim_start().trim_start_matches('`');
        let ticks = line.trim_start().len() - after.len();
        if fence == 0 && ticks > 2 && !after.contains('`') {
            fence = ticks;
        } else if fence > 0 && ticks >= fence && after.trim().is_empty() {
            fence = 0;
        }
        let is_code = fence > 0;
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        let is_marked = level > 0
            || line.starts_with(|c: char| !c.is_alphanumeric() && !NOT_MARKS.contains(&c));
        let stands_out = begins || line.ends_with(':') || is_rated_line(line);
        let is_text = is_marked || stands_out && line.starts_with(char::is_alphanumeric);
        let is_title = is_bold(line) && (is_numbered(line) || is_praise_title(line))
            || line.ends_with(':') && is_praise_title(line)
            || (is_bold(line) || line.ends_with(':')) && is_plain_list_title(line);
        let is_heading = is_text
            && !is_code
            && item::bullet(line).is_none()
            && (is_severity_line(title) || is_title);
        begins = is_heading || level > 0 || line.trim().is_empty();
        let indent = (line.len() - line.trim_start().len()).min(MAX_INDENT.len());
        match item::other_bullet(line).filter(|_| !is_code) {
            Some(item) => lines.extend([&MAX_INDENT[..indent], "- ", item.trim_start()]),
            // Only `1.` would begin a list below a text.
            None if !is_code && is_rated_number(line, &before) => {
                lines.extend(["- ", item::bullet(line).unwrap_or(line)]);
            }
            None if is_heading && level == 0 => lines.extend(["###### ", title]),
            None if is_heading => lines.extend([&line[..level], " ", title]),
            None => lines.push_str(line),
        }
        lines.push('\n');
        line.clone_into(&mut before);
    }
    lines
}

/// Returns whether a line such as `2. [High] text` is below a text that is no item.
fn is_rated_number(line: &str, before: &str) -> bool {
    let is_item = before.starts_with(' ') || item::bullet(before).is_some();
    !before.trim().is_empty()
        && !is_item
        && line.starts_with(|c: char| c.is_ascii_digit())
        && item::bullet(line).is_some_and(|text| label(text).is_some())
}

/// Returns the parts of a text, or of that below an item in this line, within so many items.
fn parts_of(text: &str, item_line: usize, depth: u8) -> Vec<Part> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let part = |tag: Tag<'_>, at: usize, text: &str| Part {
        tag: tag.into_static(),
        depth,
        level: None,
        line: item_line + ends.partition_point(|end| *end < at) + 1,
        text: text.to_owned(),
        severity_columns: Vec::new(),
    };
    let mut parts = Vec::new();
    let mut severity_columns = Vec::new();
    let mut open_tags = 0_usize;
    let mut end = 0;
    let mut is_group = false;
    let whole = (Event::Rule, text.len()..text.len());
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter();
    for (event, range) in events.chain([whole]) {
        let at = range.start;
        let block = &text[range.clone()];
        if open_tags == 0 {
            // The definition of a link makes no event.
            let between = &text[end..at.max(end)];
            if !between.trim().is_empty() {
                parts.push(part(Tag::Paragraph, end, between));
            }
            end = range.end;
        }
        let tag = match event {
            Event::Start(tag) => tag,
            Event::End(_) => {
                open_tags = open_tags.saturating_sub(1);
                continue;
            }
            _ => continue,
        };
        open_tags += 1;
        match (open_tags, &tag) {
            (1, Tag::Heading { level, .. }) => {
                let level = *level as u8;
                let mut heading = part(tag, at, &heading_text(block));
                let is_numbered = level == LINE_LEVEL && is_numbered(&heading.text);
                heading.level = Some(if is_numbered { NUMBERED_LEVEL } else { level });
                parts.push(heading);
            }
            (1, Tag::List(_)) => {
                let mut nested = block.lines().filter(|line| line.starts_with([' ', '\t']));
                let is_rated = |line: &str| is_rated_item(line) || is_bracketed(line);
                is_group = depth < MAX_DEPTH && nested.any(is_rated);
            }
            (1, Tag::Table(_)) => {}
            (2, Tag::TableHead) => {
                let columns = cells(block).enumerate();
                let named = columns.filter(|(_, cell)| is_severity_name(cell));
                severity_columns = named.map(|(column, _)| column).collect();
            }
            (2, Tag::TableRow) => {
                let mut row = part(tag, at, block);
                row.severity_columns.clone_from(&severity_columns);
                parts.push(row);
            }
            (2, Tag::Item) => {
                let lines = item::lines(block);
                let has_more = depth == 0 && lines.len() > 1;
                if is_group || has_more && severity_words(&lines[0]).is_some() {
                    let mut heading = part(tag, at, &lines[0]);
                    heading.level = Some(ITEM_LEVEL + depth);
                    let inner = item::text_below(block);
                    let below = parts_of(&inner, heading.line, depth + 1);
                    parts.push(heading);
                    parts.extend(below);
                } else {
                    parts.push(part(tag, at, block));
                }
            }
            (1, _) => parts.push(part(tag, at, block)),
            _ => {}
        }
    }
    parts
}

/// Returns the cells of a row of a table.
pub(super) fn cells(row: &str) -> impl Iterator<Item = &str> + Clone {
    row.trim().trim_matches('|').split('|').map(str::trim)
}

/// Returns the text of a heading, with `#` or underlined.
fn heading_text(block: &str) -> String {
    let block = block.trim();
    let text = if block.starts_with('#') {
        block.trim_matches('#')
    } else {
        block.rsplit_once('\n').map_or(block, |(text, _)| text)
    };
    text.trim().replace('\n', " ")
}
