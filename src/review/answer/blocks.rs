//! A Markdown answer as a list of its blocks. The level of each tells what it is below.

use std::mem;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::severity::{
    is_bold, is_numbered, is_rated_line, is_severity_line, label, stated_severities,
    stated_severity,
};
use super::titles::Title;
use super::{item, row};
use crate::review::findings::Severity;
use crate::text;

/// The level of a line that is a heading without `#`, such as `**High:**`.
pub(super) const LINE_LEVEL: usize = 7;
/// The level of such a line without a severity, such as `Also:` or `**1. text**`.
pub(super) const TITLE_LEVEL: usize = 8;
/// The level of text, items and rows outside of lists. Each item around them adds one.
pub(super) const ITEM_LEVEL: usize = 9;
/// The most items around a block that add to its level.
const MAX_DEPTH: usize = 50;
/// Characters in front of a line that is not a heading: quotations, tables, HTML, bullets.
const NO_HEADING_MARKS: [char; 7] = ['>', '"', '|', '<', '~', '-', '+'];

/// The kind of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A heading, or a line that is one: `**High:**`, `[P1] text`, or a line above a list.
    Heading,
    /// The first line of a list item. The rest is text below it.
    Item,
    /// A row of a table, with its severity.
    Row(Option<Severity>),
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
    /// The blocks below it, in a tree.
    pub(super) below: Vec<Block>,
}

impl Block {
    /// Returns whether it is an item or a row.
    pub(super) fn is_item_or_row(&self) -> bool {
        matches!(self.kind, Kind::Item | Kind::Row(_))
    }

    /// Returns whether other blocks may be below it.
    pub(super) fn is_entry(&self) -> bool {
        self.kind == Kind::Heading || self.is_item_or_row()
    }

    fn is_blank(&self) -> bool {
        self.kind == Kind::Text && self.text.trim().is_empty()
    }

    /// Returns whether a text without a severity stands above a line that states it.
    fn is_rated_by(&self, line: &str) -> bool {
        let is_open = stated_severities(&self.text).next().is_none();
        self.kind == Kind::Text && is_open && stated_severity(line).is_some()
    }
}

/// Puts each block below the last one before it with a smaller level.
pub(super) fn tree(blocks: Vec<Block>) -> Vec<Block> {
    let mut tree: Vec<Block> = Vec::new();
    for mut block in blocks.into_iter().rev() {
        while block.is_entry() && tree.last().is_some_and(|next| next.level > block.level) {
            block.below.extend(tree.pop());
        }
        tree.push(block);
    }
    tree.reverse();
    tree
}

/// Returns the blocks of an answer, with every character but white space and rules.
pub(super) fn blocks(answer: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_after_gap = true;
    let mut lines = lines(&text::strip_hidden(answer)).into_iter();
    while let Some(mut line) = lines.next() {
        let is_rule = line.kind == Kind::Aside && line.text.is_empty();
        if line.is_blank() || is_rule {
            is_after_gap = true;
            continue;
        }
        let above = blocks.last_mut();
        let begins = is_after_gap || above.as_ref().is_none_or(|above| above.kind != Kind::Text);
        if line.kind == Kind::Text {
            read_line(&mut line, begins, lines.as_slice());
        }
        if line.kind == Kind::Text
            && let Some(above) = above
        {
            if !begins || above.level == line.level && above.is_rated_by(&line.text) {
                above.text.push('\n');
                above.text.push_str(&line.text);
                is_after_gap = false;
                continue;
            }
            line.level = match above.kind {
                Kind::Item if !is_after_gap => above.level + 1,
                Kind::Heading if !is_after_gap => ITEM_LEVEL,
                _ => line.level,
            };
        }
        is_after_gap = false;
        blocks.push(line);
    }
    blocks
}

/// Returns a block for each line of an answer. Of a block that Markdown knows, the first line has
/// the whole text, and the others are empty.
fn lines(answer: &str) -> Vec<Block> {
    let plain = answer.split('\n').zip(1..).map(|(text, line)| Block {
        kind: Kind::Text,
        level: ITEM_LEVEL,
        line,
        text: text.to_owned(),
        below: Vec::new(),
    });
    let mut lines: Vec<Block> = plain.collect();
    let ends: Vec<usize> = answer.match_indices('\n').map(|(at, _)| at).collect();
    let line_at = |at: usize| ends.partition_point(|end| *end < at);
    // The number of items around, and of open tags in a block that is taken as a whole.
    let mut depth = 0;
    let mut inside = 0;
    let mut columns = Vec::new();
    for (event, range) in Parser::new_ext(answer, Options::ENABLE_TABLES).into_offset_iter() {
        let first = line_at(range.start);
        let block = &mut lines[first..=line_at(range.end.saturating_sub(1)).max(first)];
        // In the first line of an item, other Markdown is text.
        let is_free = block[0].kind == Kind::Text;
        match event {
            Event::Start(_) if inside > 0 => inside += 1,
            Event::End(_) if inside > 0 => inside -= 1,
            Event::Start(Tag::Item) => {
                if is_free {
                    let text = merge(&mut block[..1], Kind::Item).text.trim().to_owned();
                    block[0].text = item::bullet(&text).unwrap_or(&text).to_owned();
                }
                if depth < MAX_DEPTH {
                    block[1..].iter_mut().for_each(|line| line.level += 1);
                }
                depth += 1;
            }
            Event::End(TagEnd::Item) => depth -= 1,
            Event::Start(Tag::TableHead) => {
                columns = row::severity_columns(&mem::take(&mut block[0].text));
                inside = 1;
            }
            Event::Start(Tag::TableRow) => {
                let (severity, text) = row::read(&block[0].text, &columns);
                merge(block, Kind::Row(severity)).text = text;
                inside = 1;
            }
            // The line below the head.
            Event::Start(Tag::Table(_)) => block[1].text.clear(),
            // Below an item, a heading is text.
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let heading = merge(block, Kind::Heading);
                let text = heading.text.trim().trim_start_matches('#').trim_start();
                let text = text.trim_end_matches(['#', '=', '-', ' ', '\t', '\n']);
                heading.text = item::bullet(text).unwrap_or(text).replace('\n', " ");
                heading.level = level as usize;
                inside = 1;
            }
            Event::Start(Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock) => {
                if is_free {
                    // A line without `>` below a quotation is a text of its own.
                    let is_quoted = |line: &&Block| line.text.trim_start().starts_with('>');
                    let quoted = block.iter().take_while(is_quoted).count();
                    let length = if quoted > 0 { quoted } else { block.len() };
                    merge(&mut block[..length], Kind::Aside);
                }
                inside = 1;
            }
            Event::Rule if depth == 0 => merge(block, Kind::Aside).text.clear(),
            _ => {}
        }
    }
    lines
}

/// Makes lines one block, the first of them. The others are empty.
fn merge(lines: &mut [Block], kind: Kind) -> &mut Block {
    let texts: Vec<String> = lines
        .iter_mut()
        .map(|line| mem::take(&mut line.text))
        .collect();
    lines[0].kind = kind;
    lines[0].text = texts.join("\n");
    &mut lines[0]
}

/// Reads a line of text, which may be an item or a heading, but not in Markdown. `begins`: a
/// paragraph may begin with it.
fn read_line(line: &mut Block, begins: bool, later: &[Block]) {
    let text = line.text.trim().to_owned();
    let is_indented = line.text.starts_with(char::is_whitespace);
    if let Some(item) = item_in(line, &text, begins) {
        let indent = line.text.len() - line.text.trim_start().len();
        line.kind = Kind::Item;
        line.level = ITEM_LEVEL + (indent / 2).min((line.level - ITEM_LEVEL).max(1));
        line.text = item.to_owned();
    } else if !is_indented && let Some(level) = heading_level(line, &text, begins, later) {
        line.kind = Kind::Heading;
        line.level = level;
        line.text = text.trim_start_matches('#').trim().to_owned();
    } else {
        line.text = text;
    }
}

/// Returns the text of an item: behind another bullet, a number, or `High: text` below an item.
fn item_in<'l>(line: &Block, text: &'l str, begins: bool) -> Option<&'l str> {
    // Only `1.` would begin a list below a text.
    let is_number = !begins && text.starts_with(|c: char| c.is_ascii_digit());
    let numbered = item::bullet(text).filter(|text| is_number && label(text).is_some());
    let is_below_item = line.level > ITEM_LEVEL && line.text.starts_with(char::is_whitespace);
    let rated = Some(text).filter(|text| is_below_item && is_rated_line(text));
    Some(item::other_bullet(text).or(numbered).or(rated)?.trim())
}

/// Returns the level of a line that is a heading: it has a severity, is a title of praise, is in
/// bold with a number, or stands above a list in bold or with a colon.
fn heading_level(line: &Block, text: &str, begins: bool, later: &[Block]) -> Option<usize> {
    let is_marked = !text.starts_with(char::is_alphanumeric);
    let has_colon = text.trim_end_matches(['*', '_']).ends_with(':');
    let stands_out = is_marked || begins || has_colon || is_rated_line(text);
    let is_title = has_colon || is_bold(text);
    let next = later.iter().find(|next| !next.is_blank());
    let is_above_items = next.is_some_and(|next| next.is_item_or_row() && next.level >= line.level);
    let is_severity = stands_out && is_severity_line(text.trim_start_matches('#').trim());
    let is_praise = is_title && Title::new(text) == Title::Praise;
    // `**1. text.** More`
    let has_bold_number = (text.strip_prefix("**")).is_some_and(|it| item::bullet(it).is_some());
    let is_numbered_title = is_bold(text) && is_numbered(text) || has_bold_number;
    let is_other = is_title && is_above_items || is_numbered_title;
    let is_heading = is_severity || is_praise || is_other;
    if !is_heading || text.starts_with(NO_HEADING_MARKS) || item::bullet(text).is_some() {
        return None;
    }
    let is_large = is_severity && !is_numbered(text) || is_praise;
    match text.find(|c| c != '#')? {
        0 if is_large => Some(LINE_LEVEL),
        0 => Some(TITLE_LEVEL),
        level => Some(level),
    }
}
