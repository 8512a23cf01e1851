//! Findings in Markdown: every item is counted, or the whole answer is unreadable.
//!
//! A severity is in a heading, in front of an item or at its end, or in a cell of its table row. An item without one is high,
//! if anything in the answer has a severity. docs/reviewers.md has the forms that are read. Nothing found has to be said by the
//! clean line, or by three sections that each say so, and by nothing else.

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::severity::{
    SeverityWords, begins_with_sign, is_clean_line, is_list_title, is_none, is_praise_title,
    is_severity_line, is_summary_title, label, severity_words, stated_among, stated_severity,
};
use super::{Cause, item, with_findings};
use crate::review::findings::{Finding, Findings, Severity};
use crate::text;

/// The level of a line that is a heading without `#`, such as `**High:**`.
const LINE_LEVEL: u8 = 6;
/// The deepest level of a title. A deeper heading is a finding.
const MAX_TITLE_LEVEL: u8 = 2;
/// Longest part of a text that an error quotes, in characters.
const MAX_QUOTE_CHARS: usize = 60;

/// Reads a text. Returns `None` if it has no verdict. `is_rated`: the answer has a severity outside of this text.
pub(super) fn read(answer: &str, is_rated: bool) -> Result<Option<Findings>, Cause> {
    let answer = with_headings(answer);
    let blocks = blocks(&answer);
    let mut below = blocks.iter().skip(1).filter_map(Block::level);
    let first = blocks.first().and_then(Block::level);
    let mut reader = Reader {
        title: first.filter(|first| *first <= MAX_TITLE_LEVEL && below.all(|level| level > *first)),
        is_rated,
        ..Reader::default()
    };
    reader.blocks(&blocks)?;
    reader.verdict()
}

/// Returns a plain text in which lines with a severity in front, such as `**High:**` and `[P1] text`, are headings, and `•` is a
/// bullet. The lines keep their numbers.
fn with_headings(answer: &str) -> String {
    let mut lines = String::with_capacity(answer.len());
    let mut is_code = false;
    let mut begins = true;
    for line in text::plain(answer).lines() {
        is_code ^= line.trim_start().starts_with("```");
        let is_marked =
            line.starts_with(['*', '_', '[']) || line.starts_with("##") || begins_with_sign(line);
        let stands_out = begins || line.ends_with(':');
        let is_text = is_marked || stands_out && line.starts_with(char::is_alphanumeric);
        let is_heading =
            is_text && !is_code && item::bullet(line).is_none() && is_severity_line(line);
        begins = is_heading || line.trim().is_empty() || line.starts_with('#');
        let title = line.trim_start_matches('#');
        if let Some(item) = line.trim_start().strip_prefix('\u{2022}') {
            lines.extend(["-", item]);
        } else if is_heading && title == line {
            lines.extend(["###### ", title]);
        } else if is_heading {
            lines.extend([&line[..line.len() - title.len()], " ", title]);
        } else {
            lines.push_str(line);
        }
        lines.push('\n');
    }
    lines
}

/// A top-level block of an answer.
struct Block<'t> {
    tag: Tag<'t>,
    /// The line, from 1.
    line: usize,
    text: &'t str,
    /// The items of a list, or the rows of a table, with their lines.
    parts: Vec<(usize, &'t str)>,
}

impl Block<'_> {
    /// Returns the level of a heading.
    fn level(&self) -> Option<u8> {
        match self.tag {
            Tag::Heading { level, .. } => Some(level as u8),
            _ => None,
        }
    }

    fn has_items(&self) -> bool {
        matches!(self.tag, Tag::List(_) | Tag::Table(_))
    }

    /// Returns the severity that one line states: `**Severity:** High`.
    fn stated_severity(&self) -> Option<Severity> {
        let is_text = matches!(self.tag, Tag::Paragraph | Tag::List(_));
        stated_among(self.text.lines()).filter(|_| is_text)
    }

    /// Returns whether it is a code block whose fence is not closed.
    fn is_cut_off(&self) -> bool {
        let text = self.text.trim();
        let below = text.split_once('\n').map_or("", |(_, below)| below);
        matches!(self.tag, Tag::CodeBlock(CodeBlockKind::Fenced(_))) && !below.ends_with(&text[..3])
    }
}

/// Returns the blocks of a text, in order. Every character that is not white space or a rule is in one of them.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line_of = |at: usize| ends.partition_point(|end| *end < at) + 1;
    let block = |tag, range: Range<usize>| Block {
        tag,
        line: line_of(range.start),
        text: &text[range],
        parts: Vec::new(),
    };
    let mut blocks = Vec::new();
    let mut depth = 0_usize;
    let mut end = 0;
    let whole = (Event::Rule, text.len()..text.len());
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter();
    for (event, range) in events.chain([whole]) {
        if depth == 0 {
            // The definition of a link makes no event.
            if !text[end..range.start.max(end)].trim().is_empty() {
                blocks.push(block(Tag::Paragraph, end..range.start));
            }
            end = range.end;
        }
        match event {
            Event::Start(tag) => {
                let is_part = matches!(tag, Tag::Item | Tag::TableHead | Tag::TableRow);
                match blocks.last_mut() {
                    Some(above) if depth == 1 && is_part => {
                        above.parts.push((line_of(range.start), &text[range]));
                    }
                    _ if depth == 0 => blocks.push(block(tag, range)),
                    _ => {}
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    blocks
}

/// The place of the reader.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of all sections, or below a heading such as `Summary`.
    #[default]
    Outside,
    /// Below a heading such as `Strengths`.
    Praise,
    /// The newest section.
    Section,
    /// Below a heading of this level that is a finding.
    Finding(u8),
}

/// A section: the items below a heading.
#[derive(Debug, Default)]
struct Section {
    line: usize,
    level: u8,
    /// The severity of its heading; none if the heading is that of a list of findings, or unknown.
    words: SeverityWords,
    /// The number of findings before it.
    before: usize,
    says_none: bool,
    /// The heading, if its words are unknown. It is a detail of each item, as it may be what is wrong.
    unknown_title: Option<String>,
    /// Whether text that is no item belongs to the last finding.
    has_items: bool,
    /// Whether paragraphs in front of its items are no findings.
    is_title: bool,
    /// Text that is not counted: a quotation or code, which is fine if an item follows, or text after a word for none, which is
    /// fine at the end of the answer.
    uncounted: Option<Cause>,
}

#[derive(Debug, Default)]
struct Reader {
    /// The level of the title, if the answer begins with one.
    title: Option<u8>,
    place: Place,
    /// The newest section.
    section: Section,
    /// Whether all closed sections of a severity say that there is nothing.
    none: BTreeMap<Severity, bool>,
    findings: Vec<Finding>,
    /// Whether this place is below an item that is a severity, such as `- **High**`.
    is_nested: bool,
    /// Whether anything in the answer has a severity, or is a list of findings.
    is_rated: bool,
    has_clean_line: bool,
    /// Whether there is something that a clean answer does not have.
    other: bool,
}

impl Reader {
    fn blocks(&mut self, blocks: &[Block<'_>]) -> Result<(), Cause> {
        for (index, block) in blocks.iter().enumerate() {
            let next = blocks.get(index + 1);
            match block.tag {
                Tag::Heading { level, .. } => self.heading(level as u8, block, next)?,
                Tag::List(_) => self.list(block)?,
                Tag::Table(_) => self.table(block),
                Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock => self.aside(block)?,
                _ => self.paragraph(block, next),
            }
        }
        Ok(())
    }

    fn heading(
        &mut self,
        level: u8,
        block: &Block<'_>,
        next: Option<&Block<'_>>,
    ) -> Result<(), Cause> {
        let title = heading_text(block.text);
        let is_title = self.title.take() == Some(level);
        let in_section = matches!(self.place, Place::Section | Place::Finding(_));
        let is_within = in_section && level > self.section.level;
        let above_items = next.is_some_and(Block::has_items);
        if let Some(words) = severity_words(&title) {
            return self.open(block.line, level, words);
        }
        let is_summary = is_summary_title(&title);
        let text = item::bullet(&title).unwrap_or(&title);
        let stated = next
            .filter(|_| !is_summary)
            .and_then(Block::stated_severity)
            .map(|severity| (severity, text));
        if let Some((severity, rest)) = label(&title).or(stated) {
            let words = SeverityWords {
                severities: vec![severity],
                announced: is_none(rest).then_some(0),
            };
            let is_intro = level == LINE_LEVEL && rest.ends_with(':') && above_items;
            if words.announced.is_some() || is_intro {
                return self.open(block.line, level, words);
            }
            if !is_within {
                self.open(block.line, level - 1, SeverityWords::default())?;
            }
            self.add(Some(severity), rest);
            self.place = Place::Finding(level);
            return Ok(());
        }
        if is_list_title(&title) || title.is_empty() {
            self.other |= level != 1;
            self.is_rated |= !is_title || above_items;
            self.open(block.line, level, SeverityWords::default())?;
            self.section.is_title = is_title;
            return Ok(());
        }
        self.other = true;
        let is_praise = is_praise_title(&title);
        match self.place {
            _ if is_title || is_summary || is_praise => {
                self.close()?;
                self.place = if is_praise {
                    Place::Praise
                } else {
                    Place::Outside
                };
            }
            Place::Finding(above) if above < level => self.hang(&[title]),
            _ if is_within && is_none(&title) => self.section.says_none = true,
            _ if is_within => {
                self.add(None, text);
                self.place = Place::Finding(level);
            }
            // A section under words that we do not know, or a finding.
            _ => {
                self.open(block.line, level, SeverityWords::default())?;
                let levels_below = level + 1..LINE_LEVEL;
                let has_headings = next
                    .and_then(Block::level)
                    .is_some_and(|below| levels_below.contains(&below));
                if above_items {
                    self.section.unknown_title = Some(text.to_owned());
                } else if !has_headings {
                    self.item(None, text, &[]);
                }
            }
        }
        Ok(())
    }

    fn list(&mut self, block: &Block<'_>) -> Result<(), Cause> {
        for (line, part) in &block.parts {
            let lines = item::lines(part);
            let first = &lines[0];
            if lines.len() == 1 && is_clean_line(first) {
                self.clean_line();
                continue;
            }
            self.other |= item::is_doubtful(first) || self.place != Place::Section;
            match severity_words(first) {
                Some(words) if lines.len() > 1 && !self.is_nested => {
                    self.open(*line, LINE_LEVEL, words)?;
                    self.is_nested = true;
                    self.blocks(&blocks(&item::text_below(part)))?;
                    self.is_nested = false;
                }
                // `High: 2` outside of findings counts findings in another place.
                Some(_) if matches!(self.place, Place::Outside | Place::Praise) => {}
                Some(_) => self.item(None, first, &lines[1..]),
                None => {
                    let label = label(first);
                    let text = label.map_or(first.as_str(), |(_, rest)| rest);
                    if lines.len() == 1 && is_none(text) {
                        self.section.says_none |= self.place == Place::Section;
                    } else {
                        self.item(label.map(|(severity, _)| severity), text, &lines[1..]);
                    }
                }
            }
        }
        Ok(())
    }

    fn table(&mut self, block: &Block<'_>) {
        self.other = true;
        for (_, row) in block.parts.iter().skip(1) {
            let cells = row.trim().trim_matches('|').split('|').map(str::trim);
            let words = cells.clone().filter_map(severity_words);
            let severity = words.flat_map(|words| words.severities).min();
            let is_text =
                |cell: &&str| severity_words(cell).is_none() && cell.contains(char::is_alphabetic);
            let texts: Vec<&str> = cells.filter(is_text).collect();
            if !texts.iter().all(|cell| is_none(cell)) {
                self.item(severity, &texts.join(" \u{2014} "), &[]);
            }
        }
    }

    /// Takes an item of a list, or a row of a table, with the lines below it.
    fn item(&mut self, severity: Option<Severity>, text: &str, rest: &[String]) {
        let stated = stated_among(rest.iter().map(String::as_str));
        let severity = match (severity.or(stated), self.place) {
            // Below a line such as `**Low:** names`.
            (None, Place::Finding(LINE_LEVEL)) => self.findings.last().map(|above| above.severity),
            (None, Place::Finding(_)) => {
                self.hang(&[text.to_owned()]);
                return self.hang(rest);
            }
            (None, Place::Praise) => return,
            _ if self.repeats(text) => return,
            (severity, _) => severity,
        };
        self.add(severity, text);
        self.hang(rest);
        let title = self.section.unknown_title.clone();
        self.hang(title.as_slice());
        self.section.has_items = true;
    }

    fn paragraph(&mut self, block: &Block<'_>, next: Option<&Block<'_>>) {
        let text = block.text.trim();
        if is_clean_line(text) {
            return self.clean_line();
        }
        let above_items = next.is_some_and(Block::has_items);
        let is_intro = above_items && text.trim_end_matches('*').ends_with(':');
        let lines = item::lines(text);
        self.other |= item::is_doubtful(text);
        let in_section = self.place == Place::Section;
        let stated = block.stated_severity();
        if stated.is_some() && !matches!(self.place, Place::Finding(_)) {
            let (rated, texts): (Vec<_>, Vec<_>) =
                (lines.into_iter()).partition(|line| stated_severity(line).is_some());
            let first = texts.first().or(rated.first()).cloned().unwrap_or_default();
            self.item(stated, &first, texts.get(1..).unwrap_or_default());
        } else if self.is_below_finding() {
            if is_intro && in_section && self.section.level == LINE_LEVEL {
                // `Also:` between two lists, of which the first is that of a line such as `Nits:`.
                self.section.has_items = false;
                self.place = Place::Outside;
            } else {
                self.hang(&lines);
            }
        } else if in_section && is_none(text) && lines.len() == 1 {
            self.section.says_none = true;
        } else {
            self.other = true;
            if in_section && self.section.says_none {
                self.section.uncounted.get_or_insert(uncounted(block));
            } else if in_section && !self.section.is_title && !is_intro {
                self.add(None, &lines[0]);
                self.hang(&lines[1..]);
            }
        }
    }

    /// Takes a quotation, code or HTML.
    fn aside(&mut self, block: &Block<'_>) -> Result<(), Cause> {
        let lines = item::lines(block.text);
        if lines[0].is_empty() {
            return Ok(());
        }
        self.other = true;
        let is_item = |line: &str| {
            let line = line.trim_start_matches(['>', ' ', '\t']);
            let is_heading = line.starts_with('#') && severity_words(line).is_some();
            let is_row = || line.split('|').any(|cell| severity_words(cell).is_some());
            is_heading
                || line.starts_with(['-', '*', '+', '[']) && label(line).is_some()
                || line.starts_with('|') && is_row()
        };
        let has_items = block.text.lines().any(is_item);
        let is_code = matches!(block.tag, Tag::CodeBlock(_));
        let is_html = block.tag == Tag::HtmlBlock;
        let is_comment = is_html && block.text.trim_start().starts_with("<!--");
        let is_refused = is_html || block.is_cut_off();
        let in_section = self.place == Place::Section;
        if self.is_below_finding() {
            self.hang(&lines);
        } else if in_section && !is_refused && (is_code || !has_items) {
            self.section.uncounted = Some(uncounted(block));
        } else if !is_comment && (is_refused || has_items) {
            return Err(uncounted(block));
        }
        Ok(())
    }

    fn open(&mut self, line: usize, level: u8, words: SeverityWords) -> Result<(), Cause> {
        self.close()?;
        self.is_rated |= !words.severities.is_empty();
        self.section = Section {
            line,
            level,
            says_none: words.announced == Some(0),
            words,
            before: self.findings.len(),
            ..Section::default()
        };
        self.place = Place::Section;
        Ok(())
    }

    /// Ends the section that is open.
    fn close(&mut self) -> Result<(), Cause> {
        // Above a section, the clean line is that of a text that goes on.
        self.has_clean_line = false;
        let is_empty = self.findings.len() == self.section.before && !self.section.says_none;
        if let Some(title) = self.section.unknown_title.take_if(|_| is_empty) {
            self.add(None, &title);
        }
        let section = std::mem::take(&mut self.section);
        if let Some(cause) = section.uncounted {
            return Err(cause);
        }
        let found = self.findings.len() - section.before;
        if found < section.words.announced.unwrap_or_default() {
            let line = section.line;
            let problem = format!("line {line} announces findings that do not follow");
            return Err(Cause::not_a_verdict(&problem));
        }
        for severity in section.words.severities {
            *self.none.entry(severity).or_insert(true) &= section.says_none;
        }
        Ok(())
    }

    fn clean_line(&mut self) {
        self.has_clean_line = true;
        self.section.says_none |= self.place == Place::Section;
    }

    /// Returns whether text that is no item belongs to the last finding.
    fn is_below_finding(&self) -> bool {
        match self.place {
            Place::Section | Place::Outside => self.section.has_items,
            Place::Finding(_) => true,
            Place::Praise => false,
        }
    }

    /// Adds a finding, with the heavier one of its severity and that of the section around it. One without any is high.
    fn add(&mut self, severity: Option<Severity>, body: &str) {
        self.is_rated |= severity.is_some();
        let in_section = matches!(self.place, Place::Section | Place::Finding(_));
        let around = self.section.words.severities.first().copied();
        let heavier = around.filter(|_| in_section).into_iter().chain(severity);
        self.section.uncounted.take_if(|_| !self.section.says_none);
        self.findings
            .push(item::finding(heavier.min().unwrap_or_default(), body));
    }

    fn hang(&mut self, lines: &[String]) {
        if let Some(above) = self.findings.last_mut() {
            lines.iter().for_each(|line| item::add_detail(above, line));
        }
    }

    /// Returns whether a text below a summary names a finding by its number: `the skip path (#1)`.
    fn repeats(&self, text: &str) -> bool {
        let is_finding = |after: &str| {
            let digits = after.split(|c: char| !c.is_ascii_digit()).next();
            let number = digits.and_then(|digits| digits.parse::<usize>().ok());
            number.is_some_and(|number| (1..=self.findings.len()).contains(&number))
        };
        self.place == Place::Outside && text.split('#').skip(1).any(is_finding)
    }

    fn verdict(mut self) -> Result<Option<Findings>, Cause> {
        let is_clean_line = self.has_clean_line;
        let says_none = self.section.says_none;
        let says_more = self.section.uncounted.take_if(|_| says_none).is_some();
        self.close()?;
        if !self.findings.is_empty() {
            return self
                .is_rated
                .then(|| with_findings(self.findings))
                .transpose();
        }
        if is_clean_line && !self.other {
            return Ok(Some(Findings::default()));
        }
        if self.other || says_more || self.none.is_empty() {
            return Ok(None);
        }
        let is_missing = |severity: &Severity| self.none.get(severity) != Some(&true);
        match Severity::ALL.into_iter().find(is_missing) {
            Some(missing) => Err(Cause::not_a_verdict(&format!(
                "it names no finding and says nothing of {missing}: it may have been cut off"
            ))),
            None => Ok(Some(Findings::default())),
        }
    }
}

fn uncounted(block: &Block<'_>) -> Cause {
    let line = block.line;
    let text = text::one_line(block.text, MAX_QUOTE_CHARS);
    let problem = format!("line {line} is not counted: no severity is known for ‘{text}’");
    Cause::not_a_verdict(&problem)
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

#[cfg(test)]
mod tests;
