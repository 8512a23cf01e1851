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
    /// The line, from 1.
    pub(super) line: usize,
    pub(super) text: &'t str,
    /// The items of a list, or the rows of a table, with their lines.
    pub(super) parts: Vec<(usize, &'t str)>,
}

/// Returns the blocks of a text, in order. Every character that is not white space or a rule is in one of them.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line_of = |at: usize| ends.partition_point(|end| *end < at) + 1;
    let block = |kind, range: Range<usize>| Block {
        kind,
        line: line_of(range.start),
        text: &text[range],
        parts: Vec::new(),
    };
    // The definition of a link makes no event.
    let between = |range: Range<usize>| {
        let is_text = text
            .get(range.clone())
            .is_some_and(|text| !text.trim().is_empty());
        is_text.then(|| block(BlockKind::Paragraph, range))
    };
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut depth = 0_usize;
    let mut end = 0;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        if depth == 0 {
            blocks.extend(between(end..range.start));
            end = range.end;
        }
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    blocks.push(block(kind_of(&tag), range));
                } else if depth == 1
                    && matches!(tag, Tag::Item | Tag::TableHead | Tag::TableRow)
                    && let Some(block) = blocks.last_mut()
                {
                    block.parts.push((line_of(range.start), &text[range]));
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    blocks.extend(between(end..text.len()));
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
