//! A plan's Markdown as sections and sentences with line numbers.
//!
//! Code, quotations, comments, struck-out text and front matter make no sentences.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::pattern::{matches_any, words};

/// Titles of sections that describe something else than the work to do.
const ASIDE_TITLES: &str = "
    alternative*|considered|rejected|deferred
    background|context|motivation|problem|history|today
    changelog|glossary|reference|references|risk|risks|example|examples
    current state|behavior|behaviour|implementation|situation
    out|outside .. scope
    non goal*
    not in|part|doing|now
";
/// Titles of sections for open questions.
const QUESTION_TITLES: &str = "open|unresolved|outstanding questions|question|issues|points";
/// Words of a sentence about work that is not done, or that was done before.
const OTHER_THAN_WORK: &str = "
    no|not|never|without|none|nothing|neither|cannot|dont|doesnt|wont|isnt|arent
    already|unchanged|avoid*|prevent*|forbid*
    was|were|had|did|didnt|wasnt|previously|formerly|ago
    used to
    has|have been
    last week|month|year|time
";

/// A plan.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The titles of the sections.
    pub(crate) titles: Vec<String>,
    /// The sentences of paragraphs, items and table cells.
    pub(crate) sentences: Vec<Sentence>,
    /// All words, also those of headings, code and quotations.
    pub(crate) all_words: Vec<String>,
    /// The number of list items and table rows.
    pub(crate) entries: usize,
    pub(crate) last_line: u32,
}

#[derive(Debug)]
pub(crate) struct Sentence {
    pub(crate) line: u32,
    /// The text without Markdown's marks of emphasis and links.
    pub(crate) text: String,
    /// The text without code and quotations.
    pub(crate) read: String,
    /// The lowercase words of `read`.
    pub(crate) words: Vec<String>,
    /// Whether its section is for open questions.
    pub(crate) is_below_questions: bool,
    /// Whether it describes work to do, not past or omitted work and not a question.
    pub(crate) is_work: bool,
}

pub(crate) fn read(text: &str) -> Document {
    let source = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut options =
        Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
    // A plan may also begin with a rule, and have another one further down.
    let begins_with = source.split("\n---").next().unwrap_or_default();
    let is_front_matter = !begins_with.lines().any(|line| line.trim().is_empty());
    options.set(Options::ENABLE_YAML_STYLE_METADATA_BLOCKS, is_front_matter);

    let mut reader = Reader {
        source,
        lines: Lines::new(source),
        document: Document::default(),
        aside: None,
        is_below_questions: false,
        block: String::new(),
        block_start: 0,
        unread: 0,
    };
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        reader.read_event(&event, range);
    }
    reader.end_block();
    Document {
        all_words: words(source),
        last_line: reader.lines.line_at(source.trim_end().len()),
        ..reader.document
    }
}

/// The starts of the lines of a text.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(starts).collect())
    }

    /// Returns the line of a byte, from 1.
    fn line_at(&self, offset: usize) -> u32 {
        let line = self.0.partition_point(|start| *start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}

struct Reader<'a> {
    source: &'a str,
    lines: Lines,
    document: Document,
    /// The level of the section around this place that describes something else than the work.
    aside: Option<u8>,
    /// Whether this place is in a section for open questions.
    is_below_questions: bool,
    /// The text of the paragraph, item or cell that is read, with code between backquotes.
    block: String,
    /// The place in `source` of its beginning.
    block_start: usize,
    /// The number of open elements whose text is not read.
    unread: usize,
}

impl Reader<'_> {
    fn read_event(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Text(text) => self.push(text, range.start),
            Event::Code(code) => self.push(&format!("`{code}`"), range.start),
            Event::SoftBreak | Event::HardBreak => self.push("\n", range.start),
            Event::Start(tag) => {
                self.cross_edge(tag.to_end());
                self.unread += usize::from(is_unread(tag.to_end()));
                match tag {
                    Tag::Heading { level, .. } => self.begin_section(*level as u8, range),
                    Tag::Item | Tag::TableRow => self.document.entries += 1,
                    _ => {}
                }
            }
            Event::End(tag) => {
                self.cross_edge(*tag);
                self.unread -= usize::from(is_unread(*tag));
            }
            _ => {}
        }
    }

    fn begin_section(&mut self, level: u8, range: Range<usize>) {
        let heading = self.source[range].lines().next().unwrap_or_default();
        let title = heading.trim_matches(['#', ' ']);
        self.aside = self.aside.filter(|aside| *aside < level);
        // The title of the whole plan does not describe its first part.
        let words = words(title);
        if self.aside.is_none() && level > 1 && matches_any(ASIDE_TITLES, &words) {
            self.aside = Some(level);
        }
        self.is_below_questions = matches_any(QUESTION_TITLES, &words);
        self.document.titles.push(title.to_owned());
    }

    fn push(&mut self, text: &str, start: usize) {
        if self.unread > 0 {
            return;
        }
        if self.block.is_empty() {
            self.block_start = start;
        }
        self.block.push_str(text);
    }

    /// Ends the block at the edge of an element, unless that is within a block.
    fn cross_edge(&mut self, tag: TagEnd) {
        use TagEnd::{Emphasis, Image, Link, Strikethrough, Strong};
        if !matches!(tag, Emphasis | Image | Link | Strikethrough | Strong) {
            self.end_block();
        }
    }

    /// Adds the sentences of the block that ends here.
    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        let first_line = self.lines.line_at(self.block_start);
        let read = blank_quotations(&block);
        for range in sentences(&read) {
            let text = block[range.clone()].trim_end();
            let indent = text.len() - text.trim_start().len();
            let line = block[..range.start + indent].matches('\n').count();
            let read = read[range].split_whitespace().collect::<Vec<_>>().join(" ");
            let words = words(&read);
            let is_other = read.ends_with('?') || matches_any(OTHER_THAN_WORK, &words);
            self.document.sentences.push(Sentence {
                line: first_line.saturating_add(u32::try_from(line).unwrap_or(u32::MAX)),
                text: text.trim_start().to_owned(),
                read,
                is_below_questions: self.is_below_questions,
                is_work: self.aside.is_none() && !is_other,
                words,
            });
        }
    }
}

/// Returns whether the text of an element makes no sentences.
fn is_unread(tag: TagEnd) -> bool {
    use TagEnd::{BlockQuote, CodeBlock, Heading, MetadataBlock, Strikethrough};
    matches!(
        tag,
        BlockQuote(_) | CodeBlock | Heading(_) | MetadataBlock(_) | Strikethrough
    )
}

/// Replaces code and text between double quotation marks by as many blanks. Of the name of a
/// configuration file the word "config" is left.
fn blank_quotations(text: &str) -> String {
    const CONFIG_ENDS: &str = ".conf .ini .json .properties .toml .yaml .yml";
    let mut blanked = text.to_owned();
    for (open, close) in [('`', '`'), ('"', '"'), ('\u{201c}', '\u{201d}')] {
        let mut from = 0;
        while let Some(start) = blanked[from..].find(open).map(|at| from + at) {
            let inside = start + open.len_utf8();
            let Some(length) = blanked[inside..].find(close) else {
                break;
            };
            from = inside + length + close.len_utf8();
            let quoted = &blanked[inside..inside + length];
            let is_config = open == '`' && CONFIG_ENDS.split(' ').any(|end| quoted.ends_with(end));
            let left = if is_config { "config" } else { "" };
            let width = from - start;
            blanked.replace_range(start..from, &format!("{left:width$}"));
        }
    }
    blanked
}

/// Returns the byte ranges of the sentences of a text.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for (at, mark) in text.match_indices(['.', '!', '?']) {
        let end = at + mark.len();
        let is_abbreviation = ["e.g", "i.e", "vs", "approx"]
            .iter()
            .any(|short| text[start..at].ends_with(short));
        if text[end..].chars().next().is_none_or(char::is_whitespace) && !is_abbreviation {
            ranges.push(start..end);
            start = end;
        }
    }
    ranges.push(start..text.len());
    ranges.retain(|range| !text[range.clone()].trim().is_empty());
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_sentences(text: &str) -> Vec<(u32, String, bool)> {
        let sentences = read(text).sentences.into_iter();
        sentences
            .map(|sentence| (sentence.line, sentence.read, sentence.is_work))
            .collect()
    }

    #[test]
    fn sentences_have_lines_and_no_code_or_quotations() {
        let text = "---\ntitle: front\n---\n# T\n\nOne `code`\ntwo. Three \"quoted\" e.g. this!\n\n\
            ```sh\nfenced\n```\n\n> quotation\n\n<!-- comment -->\n\n- ~~struck~~ a\n  - `b.yml` b\n\n\
            | H | I |\n|---|---|\n| x | y? |\n";
        let expected = [
            (6, "One two.", true),
            (7, "Three e.g. this!", true),
            (17, "a", true),
            (18, "config b", true),
            (20, "H", true),
            (20, "I", true),
            (22, "x", true),
            (22, "y?", false),
        ];
        assert_eq!(
            read_sentences(text),
            expected.map(|(line, read, is_work)| (line, read.to_owned(), is_work))
        );
    }

    #[test]
    fn past_negated_and_aside_sentences_are_no_work() {
        for text in [
            "The defect was shipped.",
            "We have been there.",
            "Do not deploy.",
            "# P\n\n## Background\n\n### More\n\nDeploy.",
            "# P\n\n## Out of scope\n\nDeploy.",
        ] {
            assert!(!read(text).sentences[0].is_work, "{text}");
        }
        assert!(read("# P\n\n## Background\n\n## Steps\n\nDeploy.").sentences[0].is_work);
    }

    #[test]
    fn line_ends_and_byte_order_mark_change_nothing() {
        let text = "# T\n\nOne\ntwo. Three.\n\n- a\n- b\n";
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(read_sentences(text), read_sentences(&windows));
    }
}
