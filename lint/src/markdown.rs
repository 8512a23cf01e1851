//! A plan's Markdown as sections and sentences with line numbers.
//!
//! Code, quotations, comments, struck-out text and front matter make no sentences.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::pattern::{matches_any, words};

/// The part of a plan that is read, in bytes: as much as other reviewers are shown in four parts.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;

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
/// Words of a sentence that says what is not done, or what was.
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
    pub(crate) sections: Vec<Section>,
    /// The sentences of paragraphs, items and table cells.
    pub(crate) sentences: Vec<Sentence>,
    /// All words, also those of headings, code and quotations.
    pub(crate) all_words: Vec<String>,
    /// The number of words in headings and sentences.
    pub(crate) read_words: usize,
    /// The number of list items and table rows.
    pub(crate) entries: usize,
    pub(crate) last_line: u32,
    /// The first line that is not read, if the plan is longer than [`MAX_BYTES`].
    pub(crate) first_unread: Option<u32>,
}

/// A heading and what stands below it.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) line: u32,
    level: u8,
    /// Whether nothing stands below it, not even a deeper section.
    pub(crate) is_empty: bool,
    /// Whether it describes something else than the work to do.
    is_aside: bool,
}

/// A sentence.
#[derive(Debug)]
pub(crate) struct Sentence {
    pub(crate) line: u32,
    /// The text as it is written.
    pub(crate) text: String,
    /// The text with blanks for code and quotations.
    pub(crate) read: String,
    /// The lowercase words of `read`.
    pub(crate) words: Vec<String>,
    /// The index of its section; `None` before the first heading.
    pub(crate) section: Option<usize>,
    /// Whether it says what is to be done: not what was, what is not done, or what somebody asks.
    pub(crate) is_work: bool,
}

/// Reads a plan.
pub(crate) fn read(text: &str) -> Document {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut options =
        Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
    // A plan may also begin with a rule, and have another one further down.
    let begins_with = source.split("\n---").next().unwrap_or_default();
    let is_front_matter = !begins_with.lines().any(|line| line.trim().is_empty());
    options.set(Options::ENABLE_YAML_STYLE_METADATA_BLOCKS, is_front_matter);
    let line_starts = source.match_indices('\n').map(|(at, _)| at + 1);
    let mut reader = Reader {
        source,
        line_starts: std::iter::once(0).chain(line_starts).collect(),
        document: Document::default(),
        open_sections: Vec::new(),
        segment: String::new(),
        segment_start: 0,
        unread: 0,
    };
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        reader.read_event(&event, range);
    }
    reader.end_segment();
    let line_number = |lines: usize| u32::try_from(lines.max(1)).unwrap_or(u32::MAX);
    let is_cut = source.len() < text.len();
    Document {
        all_words: words(source),
        last_line: line_number(text.lines().count()),
        first_unread: is_cut.then(|| line_number(reader.line_starts.len())),
        ..reader.document
    }
}

struct Reader<'a> {
    source: &'a str,
    line_starts: Vec<usize>,
    document: Document,
    /// The sections around this place, as indices.
    open_sections: Vec<usize>,
    /// The paragraph, item or cell that is read, with blanks for all that is not its text.
    segment: String,
    /// Where it begins in `source`.
    segment_start: usize,
    /// How many elements are open whose text is not read.
    unread: usize,
}

impl Reader<'_> {
    fn read_event(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Text(_) => self.push_text(&self.source[range.clone()], &range),
            Event::Code(name) => self.push_text(read_code(name), &range),
            Event::Start(Tag::Strikethrough) => self.unread += 1,
            Event::End(TagEnd::Strikethrough) => self.unread -= 1,
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. })
            | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link | TagEnd::Image) => {}
            Event::Start(tag) => {
                self.end_segment();
                self.begin_block(tag, range);
            }
            Event::End(tag) => {
                self.end_segment();
                let is_unread = matches!(
                    tag,
                    TagEnd::BlockQuote(_)
                        | TagEnd::CodeBlock
                        | TagEnd::Heading(_)
                        | TagEnd::MetadataBlock(_)
                );
                self.unread -= usize::from(is_unread);
            }
            _ => {}
        }
    }

    fn begin_block(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        if let Tag::Heading { level, .. } = tag {
            self.begin_section(*level as u8, range);
        } else if let Some(section) = self.document.sections.last_mut() {
            section.is_empty = false;
        }
        match tag {
            Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::Heading { .. }
            | Tag::MetadataBlock(_) => self.unread += 1,
            Tag::Item | Tag::TableRow => self.document.entries += 1,
            _ => {}
        }
    }

    fn begin_section(&mut self, level: u8, range: Range<usize>) {
        let line = self.line_at(range.start);
        let text = &self.source[range];
        let title = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_matches(['#', ' ']);
        let sections = &mut self.document.sections;
        let is_around = |open: &usize| sections[*open].level < level;
        self.open_sections.retain(is_around);
        let above = self.open_sections.last().map(|above| &mut sections[*above]);
        let is_below_aside = above.is_some_and(|above| {
            above.is_empty = false;
            above.is_aside
        });
        let words = words(title);
        self.document.read_words += words.len();
        self.open_sections.push(sections.len());
        sections.push(Section {
            title: title.to_owned(),
            line,
            level,
            is_empty: true,
            // The title of the whole plan says nothing about its first part.
            is_aside: is_below_aside || level > 1 && matches_any(ASIDE_TITLES, &words),
        });
    }

    fn line_at(&self, offset: usize) -> u32 {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// Adds the text that is read for this range of `source`.
    fn push_text(&mut self, text: &str, range: &Range<usize>) {
        if self.unread > 0 {
            return;
        }
        if self.segment.is_empty() {
            self.segment_start = range.start;
        }
        self.pad_to(range.start);
        self.segment.push_str(text);
        self.pad_to(range.end);
    }

    fn pad_to(&mut self, offset: usize) {
        let blanks = offset.saturating_sub(self.segment_start + self.segment.len());
        self.segment.push_str(&" ".repeat(blanks));
    }

    /// Adds the sentences of the segment that ends here.
    fn end_segment(&mut self) {
        let segment = blank_quotations(&std::mem::take(&mut self.segment));
        let section = self.document.sections.len().checked_sub(1);
        let is_aside = section.is_some_and(|at| self.document.sections[at].is_aside);
        for range in sentences(&segment) {
            let read: Vec<&str> = segment[range.clone()].split_whitespace().collect();
            let read = read.join(" ");
            let begin = self.segment_start + range.start;
            let text = self.source.get(begin..begin + range.len());
            let text = text.unwrap_or(&read).trim_end();
            let indent = text.len() - text.trim_start().len();
            let words = words(&read);
            self.document.read_words += words.len();
            self.document.sentences.push(Sentence {
                line: self.line_at(begin + indent),
                text: text.trim_start().to_owned(),
                read: read.to_owned(),
                section,
                is_work: !is_aside && !read.ends_with('?') && !matches_any(OTHER_THAN_WORK, &words),
                words,
            });
        }
    }
}

/// Returns the text to read for a code span: "config" if it names a configuration file, else
/// nothing.
fn read_code(code: &str) -> &'static str {
    let ends = ".conf .ini .json .properties .toml .yaml .yml";
    match ends.split(' ').any(|end| code.ends_with(end)) {
        true => "config",
        false => "",
    }
}

/// Replaces what stands between double quotation marks by blanks.
fn blank_quotations(text: &str) -> String {
    let mut blanked = text.to_owned();
    for (open, close) in [('"', '"'), ('\u{201c}', '\u{201d}')] {
        let mut from = 0;
        while let Some(start) = blanked[from..].find(open).map(|at| from + at) {
            let inside = start + open.len_utf8();
            let Some(length) = blanked[inside..].find(close) else {
                break;
            };
            from = inside + length + close.len_utf8();
            blanked.replace_range(start..from, &" ".repeat(from - start));
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
    fn section_without_text_is_empty() {
        let document =
            read("# T\n\n## A\n\n### B\n\n- b\n\n## C\n\n## D\n\n```sh\nd\n```\n\n## E\n");
        let empty: Vec<&str> = document
            .sections
            .iter()
            .filter(|section| section.is_empty)
            .map(|section| section.title.as_str())
            .collect();
        assert_eq!(empty, ["C", "E"]);
    }

    #[test]
    fn line_ends_and_byte_order_mark_change_nothing() {
        let text = "# T\n\nOne\ntwo. Three.\n\n- a\n- b\n";
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(read_sentences(text), read_sentences(&windows));
    }
}
