//! The top-level blocks of a Markdown answer, as slices of its text.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A heading of this level, from 1.
    Heading(u8),
    Paragraph,
    List,
    Table,
    Quote,
    /// Code, between fences or indented.
    Code {
        fenced: bool,
    },
    Html,
}

/// A top-level block.
#[derive(Debug)]
pub(super) struct Block<'t> {
    pub(super) kind: BlockKind,
    /// Its line, from 1.
    pub(super) line: usize,
    pub(super) text: &'t str,
    /// The items of a list, or the rows of a table, with their lines.
    pub(super) parts: Vec<(usize, &'t str)>,
}

/// Returns the blocks of a text, in order. Every character that is not white space or a rule is in one of them.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut lines = Lines {
        text,
        at: 0,
        line: 1,
    };
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut depth = 0_usize;
    let mut end = 0;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        if depth == 0 {
            // The definition of a link makes no event.
            lines.push_paragraph(&mut blocks, end..range.start);
            end = range.end;
        }
        match event {
            Event::Start(tag) => {
                match (depth, kind_of(&tag)) {
                    (0, kind) => blocks.push(lines.block(kind, range)),
                    (1, _) if matches!(tag, Tag::Item | Tag::TableHead | Tag::TableRow) => {
                        let part = (lines.number(range.start), &text[range]);
                        let last = blocks.last_mut();
                        last.into_iter().for_each(|block| block.parts.push(part));
                    }
                    _ => {}
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    lines.push_paragraph(&mut blocks, end..text.len());
    blocks
}

fn kind_of(tag: &Tag<'_>) -> BlockKind {
    match tag {
        Tag::Heading { level, .. } => BlockKind::Heading(*level as u8),
        Tag::List(_) => BlockKind::List,
        Tag::Table(_) => BlockKind::Table,
        Tag::BlockQuote(_) => BlockKind::Quote,
        Tag::CodeBlock(kind) => BlockKind::Code {
            fenced: matches!(kind, CodeBlockKind::Fenced(_)),
        },
        Tag::HtmlBlock => BlockKind::Html,
        _ => BlockKind::Paragraph,
    }
}

/// Counts lines up to places that come in order.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl<'t> Lines<'t> {
    fn number(&mut self, at: usize) -> usize {
        self.line += self.text[self.at.min(at)..at].matches('\n').count();
        self.at = self.at.max(at);
        self.line
    }

    fn block(&mut self, kind: BlockKind, range: Range<usize>) -> Block<'t> {
        Block {
            kind,
            line: self.number(range.start),
            text: &self.text[range],
            parts: Vec::new(),
        }
    }

    fn push_paragraph(&mut self, blocks: &mut Vec<Block<'t>>, range: Range<usize>) {
        let text = self.text.get(range.clone()).unwrap_or_default();
        if !text.trim().is_empty() {
            blocks.push(self.block(BlockKind::Paragraph, range));
        }
    }
}
