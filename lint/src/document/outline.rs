//! A plan's Markdown as an outline: sections, and blocks of text with line numbers. Knows Markdown, and nothing about plans.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What is read of a plan, in bytes; the rest is not looked at.
pub(super) const MAX_BYTES: usize = 128 * 1024;
/// Deeper quotes and lists than this are text: parsers take more than linear time for them.
const MAX_MARKERS: usize = 24;

/// A heading and what it stands in.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) line: u32,
    pub(super) level: u8,
    pub(super) parent: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Paragraph,
    Item {
        ordered: bool,
        task: bool,
        depth: usize,
    },
    Row,
}

/// A paragraph, a list item without the items below it, or a table row.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    /// Index of its section; none before the first heading.
    pub(super) section: Option<usize>,
    /// The item that a nested item stands in.
    pub(super) parent: Option<usize>,
    /// Cells of a row are separated by a line break, wrapped lines by a space.
    pub(super) text: String,
    /// Header cells of a row's table.
    pub(super) header: Option<usize>,
    marks: Vec<(usize, u32)>,
}

impl Block {
    /// Returns the line of a byte offset of the text, from 1.
    pub(super) fn line_at(&self, offset: usize) -> u32 {
        let after = self.marks.partition_point(|(start, _)| *start <= offset);
        self.marks
            .get(after.saturating_sub(1))
            .map_or(1, |(_, line)| *line)
    }

    pub(super) fn line(&self) -> u32 {
        self.line_at(0)
    }
}

#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) sections: Vec<Section>,
    pub(super) blocks: Vec<Block>,
    /// Header cells, one entry per table.
    pub(super) headers: Vec<Vec<String>>,
    /// Pieces of code, in lines or in blocks of their own.
    pub(super) code: usize,
    /// Number of lines of the whole text, at least 1.
    pub(super) last_line: u32,
    /// Whether the text is longer than [`MAX_BYTES`].
    pub(super) cut: bool,
}

pub(super) fn outline(source: &str) -> Outline {
    let end = source.floor_char_boundary(MAX_BYTES);
    let text = tame(&source[..end]);
    let lines = Lines::of(&text);
    let mut builder = Builder {
        lines,
        ..Builder::default()
    };
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
    for (event, range) in Parser::new_ext(&text, options).into_offset_iter() {
        builder.event(event, range.start);
    }
    let mut outline = builder.out;
    outline.last_line = u32::try_from(source.lines().count().max(1)).unwrap_or(u32::MAX);
    outline.cut = end < source.len();
    outline
}

/// Lines whose front is a tower of quote and list marks lose it, and lines that begin with a number such as "2.1." become
/// items, which Markdown does not make them; each line keeps its number.
fn tame(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut lines = source.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let body = line.trim_start_matches([' ', '\t', '>', '-', '+', '*']);
        let front = &line[..line.len() - body.len()];
        let marks = front
            .bytes()
            .filter(|byte| matches!(byte, b'>' | b'+' | b'*' | b'-'))
            .count();
        let rule = body.trim().is_empty();
        if marks > MAX_MARKERS || front.len() > 8 * MAX_MARKERS {
            // A long line of dashes still underlines the heading above it.
            out.push_str(match (rule, underline(line)) {
                (true, true) => "---\n",
                (true, false) => "\n",
                (false, _) => body,
            });
        } else {
            match line.find(['.', ')']) {
                // A numbered line that is underlined is a heading, though Markdown makes an item of it and a rule below.
                Some(mark)
                    if numbered(line, mark) && lines.peek().is_some_and(|next| underline(next)) =>
                {
                    out.push_str(&line[..mark]);
                    out.push('\\');
                    out.push_str(&line[mark..]);
                }
                _ => {
                    if sub_numbered(line) {
                        out.push_str("- ");
                    }
                    out.push_str(line);
                }
            }
        }
    }
    // Brackets and emphasis marks by the ten thousand mean nothing to a reviewer.
    let noisy = out
        .bytes()
        .filter(|byte| matches!(byte, b'[' | b'<' | b'`' | b'~' | b'_' | b'*' | b'&'))
        .count();
    if noisy > out.len() / 4 && noisy > 4096 {
        out = out.replace(['[', '<', '`', '~', '_', '*', '&'], " ");
    }
    out
}

/// Returns whether a line begins with a number that ends at this mark.
fn numbered(line: &str, mark: usize) -> bool {
    (1..=3).contains(&mark)
        && line[..mark].bytes().all(|byte| byte.is_ascii_digit())
        && line[mark + 1..].starts_with([' ', '\t'])
}

/// Returns whether a line makes a heading of the one above it.
fn underline(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 3
        && (line.bytes().all(|byte| byte == b'-') || line.bytes().all(|byte| byte == b'='))
}

/// Returns whether a line begins with a number of at least two parts that ends like the number of an item: "2.1. Text", "6.1.3) Text".
fn sub_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = &line[..line.len() - rest.len()];
    let (number, rest) = match rest.strip_prefix(')') {
        Some(rest) => (Some(number), rest),
        None => (number.strip_suffix('.'), rest),
    };
    rest.starts_with([' ', '\t'])
        && number.is_some_and(|number| {
            let mut parts = number.split('.');
            parts.clone().count() >= 2 && parts.all(|part| (1..=3).contains(&part.len()))
        })
}

#[derive(Default)]
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(
            std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
        )
    }

    fn at(&self, offset: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= offset).max(1)).unwrap_or(u32::MAX)
    }
}

#[derive(Default)]
struct Builder {
    lines: Lines,
    out: Outline,
    lists: Vec<bool>,
    items: Vec<usize>,
    heading: Option<(u8, u32, String)>,
    open: Option<usize>,
    header: Option<Vec<String>>,
    code: bool,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, offset: usize) {
        if matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))) {
            self.out.code += 1;
        }
        match event {
            Event::Start(tag) => self.start(tag, offset),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Code(text) => self.text(&text, offset),
            Event::SoftBreak | Event::HardBreak => self.text(" ", offset),
            Event::TaskListMarker(_) => {
                if let Some(Block {
                    kind: BlockKind::Item { task, .. },
                    ..
                }) = self.items.last().map(|item| &mut self.out.blocks[*item])
                {
                    *task = true;
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, offset: usize) {
        let line = self.lines.at(offset);
        match tag {
            Tag::Heading { level, .. } => self.heading = Some((level as u8, line, String::new())),
            Tag::List(first) => self.lists.push(first.is_some()),
            Tag::Item => {
                let kind = BlockKind::Item {
                    ordered: self.lists.last().copied().unwrap_or(false),
                    task: false,
                    depth: self.items.len(),
                };
                let parent = self.items.last().copied();
                let block = self.push(kind, line, parent);
                self.items.push(block);
                self.open = Some(block);
            }
            Tag::Paragraph => match self.items.last() {
                Some(item) => {
                    self.open = Some(*item);
                    self.break_line(offset);
                }
                None => self.open = Some(self.push(BlockKind::Paragraph, line, None)),
            },
            Tag::TableHead => self.header = Some(Vec::new()),
            Tag::TableRow => self.open = Some(self.push(BlockKind::Row, line, None)),
            Tag::TableCell => match &mut self.header {
                Some(cells) => cells.push(String::new()),
                None => self.break_line(offset),
            },
            Tag::CodeBlock(_) => self.code = true,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                if let Some((level, line, title)) = self.heading.take() {
                    self.section(title, line, level);
                }
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                self.items.pop();
                self.open = self.items.last().copied();
            }
            TagEnd::Paragraph => {
                if let Some(block) = self.open.take()
                    && self.items.is_empty()
                {
                    self.pseudo_heading(block);
                }
            }
            TagEnd::TableHead => {
                let header = self.header.take().unwrap_or_default();
                self.out.headers.push(header);
            }
            TagEnd::TableRow => self.open = None,
            TagEnd::CodeBlock => self.code = false,
            _ => {}
        }
    }

    fn text(&mut self, text: &str, offset: usize) {
        if self.code {
            return;
        }
        if let Some((_, _, title)) = &mut self.heading {
            title.push_str(text);
        } else if let Some(cell) = self.header.as_mut().and_then(|cells| cells.last_mut()) {
            cell.push_str(text);
        } else if let Some(open) = self.open {
            let line = self.lines.at(offset);
            let block = &mut self.out.blocks[open];
            if block.marks.last().is_none_or(|(_, last)| *last != line) {
                block.marks.push((block.text.len(), line));
            }
            block.text.push_str(text);
        }
    }

    /// Ends a sentence where Markdown ends a paragraph or a cell.
    fn break_line(&mut self, offset: usize) {
        if let Some(open) = self.open
            && !self.out.blocks[open].text.is_empty()
        {
            self.text("\n", offset);
        }
    }

    fn push(&mut self, kind: BlockKind, line: u32, parent: Option<usize>) -> usize {
        self.out.blocks.push(Block {
            kind,
            section: self.out.sections.len().checked_sub(1),
            parent,
            text: String::new(),
            header: (kind == BlockKind::Row).then(|| self.out.headers.len().saturating_sub(1)),
            marks: vec![(0, line)],
        });
        self.out.blocks.len() - 1
    }

    fn section(&mut self, title: String, line: u32, level: u8) {
        let mut parent = self.out.sections.len().checked_sub(1);
        while let Some(above) = parent.filter(|above| self.out.sections[*above].level >= level) {
            parent = self.out.sections[above].parent;
        }
        self.out.sections.push(Section {
            title,
            line,
            level,
            parent,
        });
    }

    /// Takes a paragraph of a few words without a full stop for a heading, which it is in all but form.
    fn pseudo_heading(&mut self, block: usize) {
        if block + 1 != self.out.blocks.len() {
            return;
        }
        let text = self.out.blocks[block]
            .text
            .trim()
            .trim_end_matches(':')
            .to_owned();
        let plain =
            !text.is_empty() && text.chars().count() <= 40 && text.split_whitespace().count() <= 4;
        if plain
            && !text.contains(['.', '!', '?', '\n', ',', ':'])
            && text.starts_with(char::is_uppercase)
        {
            let line = self.out.blocks[block].line();
            self.out.blocks.pop();
            self.section(text, line, 7);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_know_their_lines_and_sections() {
        let outline = outline(
            "# T\n\nOne\ntwo. Three.\n\n## S\n\n- a\n  - b\n- [ ] c\n\n| H | I |\n|---|---|\n| x | y |\n",
        );
        let seen: Vec<(BlockKind, u32, &str)> = outline
            .blocks
            .iter()
            .map(|b| (b.kind, b.line(), b.text.as_str()))
            .collect();
        let item = |task, depth| BlockKind::Item {
            ordered: false,
            task,
            depth,
        };
        assert_eq!(
            seen,
            [
                (BlockKind::Paragraph, 3, "One two. Three."),
                (item(false, 0), 8, "a"),
                (item(false, 1), 9, "b"),
                (item(true, 0), 10, "c"),
                (BlockKind::Row, 14, "x\ny"),
            ]
        );
        assert_eq!(outline.blocks[0].line_at(9), 4);
        assert_eq!(outline.blocks[2].parent, Some(1));
        assert_eq!(outline.headers, [["H", "I"]]);
        assert_eq!(
            outline.blocks[1]
                .section
                .map(|at| outline.sections[at].title.as_str()),
            Some("S")
        );
    }

    #[test]
    fn numbers_of_two_parts_make_items() {
        let outline =
            outline("2.1. One\ntwo.\n2.1.1) Three.\n\nIt takes\n2.5 seconds, or 3.5. Four.\n");
        let seen: Vec<(u32, &str)> = outline
            .blocks
            .iter()
            .map(|b| (b.line(), b.text.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (1, "2.1. One two."),
                (3, "2.1.1) Three."),
                (5, "It takes 2.5 seconds, or 3.5. Four."),
            ]
        );
        assert!(
            ["2.", "2. a", "2..1. a", "2.1.a", ".1. a", "x", "", "2.1."]
                .iter()
                .all(|line| !sub_numbered(line))
        );
    }

    #[test]
    fn a_short_line_above_a_list_is_a_heading() {
        let outline = outline("Goals\n\n1. a\n\nThis is text.\n");
        assert_eq!(outline.sections.len(), 1);
        assert_eq!(outline.blocks.len(), 2);
    }
}
