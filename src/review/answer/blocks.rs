//! A Markdown answer as a list of its blocks. The level of each tells what it is below.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::item;
use super::severity::{
    is_bold, is_numbered, is_rated_line, is_severity_line, is_severity_name, label,
    stated_severities, stated_severity,
};
use super::titles::is_praise_title;
use crate::text;

/// The level of a line that is a heading without `#`, such as `**High:**`.
pub(super) const LINE_LEVEL: usize = 7;
/// The level of such a line without a severity, such as `Also:` or `**1. text**`.
pub(super) const TITLE_LEVEL: usize = 8;
/// The level of text, items and rows outside of lists. Each item around them adds one.
pub(super) const ITEM_LEVEL: usize = 9;
/// Characters in front of a line that is not a heading: quotations, tables, HTML, bullets.
const NOT_MARKS: [char; 7] = ['>', '"', '|', '<', '~', '-', '+'];

/// The kind of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A heading, or a line that is one: `**High:**`, `[P1] text`, or a line above a list.
    Heading,
    /// The first line of a list item. The rest is text below it.
    Item,
    /// A row of a table, with the columns of severities.
    Row(Vec<usize>),
    /// A paragraph.
    Text,
    /// A quotation, code or HTML.
    Aside,
}

/// A block of an answer.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// The level. A block is below the last one before it with a smaller level.
    pub(super) level: usize,
    /// The line, from 1.
    pub(super) line: usize,
    /// The text: of headings and items without marks, of others as it is.
    pub(super) text: String,
}

impl Block {
    /// Returns whether it is an item or a row.
    pub(super) fn is_item(&self) -> bool {
        matches!(self.kind, Kind::Item | Kind::Row(_))
    }
}

/// Returns the blocks of an answer, with every character but white space and rules.
pub(super) fn blocks(answer: &str) -> Vec<Block> {
    let text = text::strip_hidden(answer);
    let mut reader = Reader {
        text: &text,
        line_ends: text.match_indices('\n').map(|(at, _)| at).collect(),
        ..Reader::default()
    };
    // The number of open tags of a block that is taken as a whole.
    let mut inside = 0;
    // The columns of the table that name severities.
    let mut columns_of = Vec::new();
    let events = Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter();
    for (event, range) in events {
        let block = &text[range.clone()];
        let level = ITEM_LEVEL + reader.depth;
        match event {
            Event::Start(_) if inside > 0 => inside += 1,
            Event::End(_) if inside > 0 => inside -= 1,
            Event::Start(Tag::Item) => {
                if !reader.is_in_first_line(range.start) {
                    reader.add_text(range.start, true);
                    reader.item = Some((range.start, level));
                }
                reader.depth += 1;
            }
            Event::End(TagEnd::Item) => {
                reader.add_text(range.end, false);
                reader.depth -= 1;
            }
            Event::Start(Tag::Table(_)) => reader.add_text(range.start, true),
            Event::End(TagEnd::Table) => reader.end = reader.end.max(range.end),
            Event::Start(Tag::TableHead) => {
                let columns = cells(block).enumerate();
                let named = columns.filter(|(_, cell)| is_severity_name(cell));
                columns_of = named.map(|(column, _)| column).collect();
                inside = 1;
            }
            Event::Start(Tag::TableRow) => {
                reader.add(Kind::Row(columns_of.clone()), level, range.start, block);
                inside = 1;
            }
            // Below an item, a heading is text.
            Event::Start(Tag::Heading { level, .. }) if reader.depth == 0 => {
                reader.take(range.start, range.end);
                let text = heading_text(block);
                reader.add(Kind::Heading, level as usize, range.start, &text);
                inside = 1;
            }
            Event::Start(Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock) => {
                inside = 1;
                if !reader.is_in_first_line(range.start) {
                    // A line without `>` below a quotation is a text of its own.
                    let is_quoted = |line: &&str| line.trim_start().starts_with('>');
                    let lines = block.split_inclusive('\n').take_while(is_quoted);
                    let quoted = lines.map(str::len).sum();
                    let end = if quoted > 0 { quoted } else { block.len() };
                    reader.take(range.start, range.start + end);
                    reader.add(Kind::Aside, level, range.start, &block[..end]);
                }
            }
            Event::Rule if reader.depth == 0 => {
                reader.take(range.start, range.end);
            }
            _ => {}
        }
    }
    reader.add_text(text.len(), false);
    reader.blocks
}

#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    line_ends: Vec<usize>,
    blocks: Vec<Block>,
    /// The end of what is in blocks.
    end: usize,
    /// The number of items around.
    depth: usize,
    /// The beginning and the level of an item whose first line is not read yet.
    item: Option<(usize, usize)>,
}

impl Reader<'_> {
    /// Returns whether a place is in the first line of an item, where Markdown is plain text.
    fn is_in_first_line(&self, at: usize) -> bool {
        self.item
            .is_some_and(|(begin, _)| !self.text[begin..at].contains('\n'))
    }

    /// Ends the text before a block, which ends there.
    fn take(&mut self, begin: usize, end: usize) {
        self.add_text(begin, false);
        self.end = end;
    }

    fn add(&mut self, kind: Kind, level: usize, at: usize, text: &str) {
        self.blocks.push(Block {
            kind,
            level,
            line: self.line_ends.partition_point(|end| *end < at) + 1,
            text: text.to_owned(),
        });
    }

    /// Adds the text up to a place: the first line of an item, and paragraphs.
    fn add_text(&mut self, until: usize, is_above_items: bool) {
        let text = &self.text[self.end.min(until)..until];
        let mut at = self.end.min(until);
        let last_line = at + text.trim_end().rfind('\n').map_or(0, |end| end + 1);
        self.end = self.end.max(until);
        // The level of a paragraph, and whether the line begins one.
        let mut level = ITEM_LEVEL + self.depth;
        let mut begins = true;
        for line in text.split_inclusive('\n') {
            let begin = at;
            at += line.len();
            let indent = line.len() - line.trim_start().len();
            let line = line.trim();
            let is_title = is_above_items && begin >= last_line;
            if line.is_empty() {
                begins = true;
                level = ITEM_LEVEL + self.depth;
            } else if let Some((item_level, item)) = self.item_in(line, indent, begins) {
                self.add(Kind::Item, item_level, begin, item);
                begins = true;
                level = item_level + 1;
            } else if let Some((heading_level, title)) =
                heading_in(line, begins, is_title).filter(|_| indent == 0)
            {
                self.add(Kind::Heading, heading_level, begin, title);
                begins = true;
                level = ITEM_LEVEL;
            } else if let Some(above) = self.blocks.last_mut()
                && (!begins || above.level == level && is_severity_of(line, above))
            {
                above.text.push('\n');
                above.text.push_str(line);
                begins = false;
            } else {
                self.add(Kind::Text, level, begin, line);
                begins = false;
            }
        }
    }

    /// Returns the level and the text of a line that is an item.
    fn item_in<'l>(
        &mut self,
        line: &'l str,
        indent: usize,
        begins: bool,
    ) -> Option<(usize, &'l str)> {
        if let Some((_, level)) = self.item.take() {
            return Some((level, item::bullet(line).unwrap_or(line)));
        }
        // Only `1.` would begin a list below a text.
        let is_number = !begins && line.starts_with(|c: char| c.is_ascii_digit());
        let numbered = item::bullet(line).filter(|text| is_number && label(text).is_some());
        // `High: text` is a finding also below an item.
        let is_rated = self.depth > 0 && indent > 0 && is_rated_line(line);
        let text = (item::other_bullet(line).or(numbered)).or(is_rated.then_some(line))?;
        let depth = (indent / 2).min(self.depth.max(1));
        Some((ITEM_LEVEL + depth, text.trim()))
    }
}

/// Returns the text of a heading, with `#` or underlined.
fn heading_text(block: &str) -> String {
    let block = block.trim();
    let text = if block.starts_with('#') {
        block.trim_matches('#').trim()
    } else {
        block.rsplit_once('\n').map_or(block, |(text, _)| text)
    };
    item::bullet(text).unwrap_or(text).replace('\n', " ")
}

/// Returns whether a line states the severity of the paragraph above.
fn is_severity_of(line: &str, above: &Block) -> bool {
    let is_open = stated_severities(&above.text).next().is_none();
    above.kind == Kind::Text && is_open && stated_severity(line).is_some()
}

/// Returns the level and the text of a line that is a heading: it has a severity, is a title of
/// praise, is in bold with a number, or stands above a list in bold or with a colon.
fn heading_in(line: &str, begins: bool, is_above_items: bool) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#').trim();
    let is_marked = !line.starts_with(char::is_alphanumeric);
    let has_colon = line.trim_end_matches(['*', '_']).ends_with(':');
    let stands_out = is_marked || begins || has_colon || is_rated_line(line);
    let is_title = has_colon || is_bold(line);
    let is_severity = stands_out && is_severity_line(title);
    let is_praise = is_title && is_praise_title(line);
    let is_heading = is_severity
        || is_praise
        || is_title && is_above_items
        || is_bold(line) && is_numbered(line);
    if !is_heading || line.starts_with(NOT_MARKS) || item::bullet(line).is_some() {
        return None;
    }
    let is_large = is_severity && !is_numbered(line) || is_praise;
    let level = match line.find(|c| c != '#')? {
        0 if is_large => LINE_LEVEL,
        0 => TITLE_LEVEL,
        level => level,
    };
    Some((level, title))
}

/// Returns the cells of a row of a table.
pub(super) fn cells(row: &str) -> impl Iterator<Item = &str> + Clone {
    row.trim().trim_matches('|').split('|').map(str::trim)
}
