//! Findings in Markdown: every item is counted, or the whole answer is unreadable.
//!
//! A severity is in a heading, in front of an item, or in a cell of its table row. docs/reviewers.md has the forms that are
//! read. Nothing found has to be said by the clean line, or by three sections that each say so, and by nothing else.

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::severity::{
    SeverityWords, is_list_title, is_none, is_severity_line, is_summary_title, label,
    severity_words, stated_severity,
};
use super::{Cause, item, with_findings};
use crate::review::findings::{CLEAN_LINE, Finding, Findings, Severity};
use crate::text;

/// The level of a line that is a heading without `#`, such as `**High:**`.
const LINE_LEVEL: u8 = 6;
/// Longest part of a text that an error quotes, in characters.
const MAX_QUOTE_CHARS: usize = 60;

/// Reads a text. Returns `None` if it has no verdict.
pub(super) fn read(answer: &str) -> Result<Option<Findings>, Cause> {
    let answer = with_headings(answer);
    let blocks = blocks(&answer);
    let headings = || blocks.iter().filter(|block| block.level().is_some());
    let mut levels = headings().filter_map(Block::level);
    let first = levels.next();
    let mut reader = Reader {
        title: first.filter(|first| levels.all(|level| level > *first)),
        last_heading: headings().next_back().map_or(0, |block| block.line),
        ..Reader::default()
    };
    for (index, block) in blocks.iter().enumerate() {
        let next = blocks.get(index + 1);
        match block.tag {
            Tag::Heading { level, .. } => reader.heading(level as u8, block, next),
            Tag::List(_) => reader.list(block),
            Tag::Table(_) => reader.table(block),
            Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock => reader.aside(block, next),
            _ => reader.paragraph(block, next),
        }?;
    }
    let mut texts = blocks
        .iter()
        .rev()
        .filter(|block| !item::lines(block.text)[0].is_empty());
    reader.verdict(texts.next().is_some_and(Block::is_clean_line))
}

/// Returns a plain text in which lines with a severity in front, such as `**High:**` and `[P1] text`, are headings, and `•` is a
/// bullet. The lines keep their numbers.
fn with_headings(answer: &str) -> String {
    let mut lines = String::with_capacity(answer.len());
    let mut is_code = false;
    let mut begins = true;
    for line in text::plain(answer).lines() {
        is_code ^= line.trim_start().starts_with("```");
        let is_marked = line.starts_with(['*', '_', '[']) || line.starts_with("##");
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
    fn level(&self) -> Option<u8> {
        match self.tag {
            Tag::Heading { level, .. } => Some(level as u8),
            _ => None,
        }
    }

    fn has_items(&self) -> bool {
        matches!(self.tag, Tag::List(_) | Tag::Table(_))
    }

    fn is_clean_line(&self) -> bool {
        self.tag == Tag::Paragraph && self.text.trim() == CLEAN_LINE
    }

    /// Returns the severity that one line below a finding's heading states: `**Severity:** High`.
    fn stated_severity(&self) -> Option<Severity> {
        let is_text = matches!(self.tag, Tag::Paragraph | Tag::List(_));
        let mut stated = self.text.lines().filter_map(stated_severity);
        let severity = stated.next().filter(|_| is_text)?;
        stated.next().is_none().then_some(severity)
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
    /// Outside of all sections.
    #[default]
    Outside,
    /// The newest section.
    Section,
    /// Below a heading of this level that is a finding.
    Finding(u8),
    /// Below a heading such as `Summary`.
    Summary,
}

/// A section with a severity, or a list of findings without one.
#[derive(Debug, Default)]
struct Section {
    line: usize,
    level: u8,
    words: SeverityWords,
    /// The number of findings before it.
    before: usize,
    says_none: bool,
    /// Whether its text is about the findings, and only its items are findings.
    is_title: bool,
}

#[derive(Debug, Default)]
struct Reader {
    /// The level of the title, if the first heading is one.
    title: Option<u8>,
    /// The line of the last heading.
    last_heading: usize,
    place: Place,
    /// The newest section.
    section: Section,
    /// Whether text that is no item belongs to the last finding.
    is_hanging: bool,
    /// Whether all closed sections of a severity say that there is nothing.
    none: BTreeMap<Severity, bool>,
    findings: Vec<Finding>,
    /// Whether there is something that a clean answer does not have.
    other: bool,
}

impl Reader {
    fn heading(
        &mut self,
        level: u8,
        block: &Block<'_>,
        next: Option<&Block<'_>>,
    ) -> Result<(), Cause> {
        let title = heading_text(block.text);
        let text = item::bullet(&title).unwrap_or(&title);
        let is_title = self.title.take() == Some(level);
        let is_summary = is_summary_title(&title);
        let is_within = self.is_in_section() && level > self.section.level;
        if let Some(words) = severity_words(&title) {
            return self.open(block.line, level, words);
        }
        let stated = next.and_then(Block::stated_severity);
        let stated = stated.filter(|_| !is_summary);
        if let Some((severity, rest)) = label(&title).or(stated.map(|severity| (severity, text))) {
            let has_items = next.is_some_and(Block::has_items);
            let is_intro = level == LINE_LEVEL && rest.ends_with(':') && has_items;
            if is_none(rest) || is_intro {
                let words = SeverityWords {
                    severities: vec![severity],
                    announced: is_none(rest).then_some(0),
                };
                return self.open(block.line, level, words);
            }
            if !is_within {
                self.open_list(block.line, level - 1, true)?;
            }
            self.add(Some(severity), rest, &[]);
            self.place = Place::Finding(level);
            return Ok(());
        }
        if is_list_title(&title) {
            self.other |= level != 1;
            return self.open_list(block.line, level, is_title);
        }
        self.other = true;
        match self.place {
            _ if is_title || is_summary => {
                self.close()?;
                self.place = if is_title {
                    Place::Outside
                } else {
                    Place::Summary
                };
            }
            Place::Finding(above) if above < level => self.hang(&[title]),
            _ if !is_within => return Err(uncounted(block.line, &title)),
            _ if is_none(&title) => self.section.says_none = true,
            _ => {
                self.add(None, text, &[]);
                self.place = Place::Finding(level);
            }
        }
        Ok(())
    }

    fn list(&mut self, block: &Block<'_>) -> Result<(), Cause> {
        let lines = |(line, text): &(usize, &str)| (*line, item::lines(text));
        let items: Vec<(usize, Vec<String>)> = block.parts.iter().map(lines).collect();
        let is_labelled = items.iter().any(|(_, lines)| label(&lines[0]).is_some());
        for (line, lines) in &items {
            let first = lines[0].as_str();
            self.other |= item::is_doubtful(first) || self.place != Place::Section;
            let is_tally = severity_words(first).is_some();
            let label = label(first).filter(|_| !is_tally);
            let text = label.map_or(first, |(_, rest)| rest);
            if is_none(text) && lines.len() == 1 {
                self.section.says_none |= self.place == Place::Section;
            } else if !is_tally || self.is_in_section() {
                // `High: 2` outside of findings counts findings in another place.
                let severity = label.map(|(severity, _)| severity);
                self.item(*line, severity, text, &lines[1..], is_labelled)?;
            }
        }
        Ok(())
    }

    fn table(&mut self, block: &Block<'_>) -> Result<(), Cause> {
        self.other = true;
        let mut rows = block.parts.iter();
        let header = rows.next().map_or("", |(_, row)| row).to_lowercase();
        let names = ["severity", "priority", "level"];
        let is_labelled = names.iter().any(|name| header.contains(name));
        for (line, row) in rows {
            let cells = row.trim().trim_matches('|').split('|').map(str::trim);
            let words = cells.clone().filter_map(severity_words);
            let severity = words.flat_map(|words| words.severities).min();
            let is_text =
                |cell: &&str| severity_words(cell).is_none() && cell.contains(char::is_alphabetic);
            let texts: Vec<&str> = cells.filter(is_text).collect();
            if !texts.iter().all(|cell| is_none(cell)) {
                self.item(*line, severity, &texts.join(" \u{2014} "), &[], is_labelled)?;
            }
        }
        Ok(())
    }

    /// Takes an item of a list, or a row of a table. In a list of which others are labelled, an item without a severity is high.
    fn item(
        &mut self,
        line: usize,
        severity: Option<Severity>,
        text: &str,
        rest: &[String],
        is_labelled: bool,
    ) -> Result<(), Cause> {
        let mut severity = severity;
        match (severity, self.place) {
            // Below a line such as `**Low:** names`.
            (None, Place::Finding(LINE_LEVEL)) => {
                severity = self.findings.last().map(|above| above.severity);
            }
            (None, Place::Finding(_)) => {
                self.hang(&[text.to_owned()]);
                self.hang(rest);
                return Ok(());
            }
            _ if self.repeats(text) => return Ok(()),
            (None, Place::Outside) if is_labelled => {}
            (None, Place::Outside | Place::Summary) => return Err(uncounted(line, text)),
            _ => {}
        }
        self.add(severity, text, rest);
        Ok(())
    }

    fn paragraph(&mut self, block: &Block<'_>, next: Option<&Block<'_>>) -> Result<(), Cause> {
        let text = block.text.trim();
        let lines = item::lines(text);
        let in_section = self.place == Place::Section;
        let says_none = in_section && !self.is_hanging && lines.len() == 1 && is_none(&lines[0]);
        let above_items = next.is_some_and(Block::has_items);
        let is_intro = above_items && text.trim_end_matches('*').ends_with(':');
        self.other |= item::is_doubtful(text);
        if block.is_clean_line() || says_none {
            self.section.says_none |= in_section;
        } else if self.is_hanging && is_intro && self.section.level == LINE_LEVEL {
            // `Also:` between two lists, of which the first is that of a line such as `Nits:`.
            self.place = Place::Outside;
            self.is_hanging = false;
        } else if self.is_hanging {
            self.hang(&lines);
        } else {
            self.other = true;
            let is_prose = !in_section || self.section.is_title || is_intro;
            if in_section && self.section.says_none {
                // A friendly last sentence is fine.
                if block.line < self.last_heading {
                    return Err(uncounted(block.line, text));
                }
            } else if !is_prose {
                self.add(None, &lines[0], &lines[1..]);
                self.is_hanging = false;
            }
        }
        Ok(())
    }

    /// Takes a quotation, code or HTML.
    fn aside(&mut self, block: &Block<'_>, next: Option<&Block<'_>>) -> Result<(), Cause> {
        let lines = item::lines(block.text);
        if lines[0].is_empty() {
            return Ok(());
        }
        self.other = true;
        let is_item = |line: &str| {
            let line = line.trim_start_matches(['>', ' ', '\t']);
            let is_heading = line.starts_with('#') && severity_words(line).is_some();
            is_heading || line.starts_with(['-', '*', '+', '[']) && label(line).is_some()
        };
        let is_html = block.tag == Tag::HtmlBlock;
        let is_comment = is_html && block.text.trim_start().starts_with("<!--");
        let is_refused = is_html || block.is_cut_off();
        let is_lost = if self.place == Place::Section && !is_refused {
            // In front of a finding it explains that one.
            next.is_none_or(|next| next.level().is_some())
        } else {
            !is_comment && (is_refused || block.text.lines().any(is_item))
        };
        if self.is_hanging {
            self.hang(&lines);
        } else if is_lost {
            return Err(uncounted(block.line, block.text));
        }
        Ok(())
    }

    fn open(&mut self, line: usize, level: u8, words: SeverityWords) -> Result<(), Cause> {
        self.close()?;
        self.section = Section {
            line,
            level,
            says_none: words.announced == Some(0),
            words,
            before: self.findings.len(),
            is_title: false,
        };
        self.place = Place::Section;
        Ok(())
    }

    /// Opens a list of findings without a severity.
    fn open_list(&mut self, line: usize, level: u8, is_title: bool) -> Result<(), Cause> {
        self.open(line, level, SeverityWords::default())?;
        self.section.is_title = is_title;
        Ok(())
    }

    /// Ends the section that is open.
    fn close(&mut self) -> Result<(), Cause> {
        let section = std::mem::take(&mut self.section);
        let found = self.findings.len() - section.before;
        if found < section.words.announced.unwrap_or_default() {
            let line = section.line;
            let problem = format!("line {line} announces findings that do not follow");
            return Err(Cause::not_a_verdict(&problem));
        }
        for severity in section.words.severities {
            *self.none.entry(severity).or_insert(true) &= section.says_none;
        }
        self.is_hanging = false;
        Ok(())
    }

    fn is_in_section(&self) -> bool {
        matches!(self.place, Place::Section | Place::Finding(_))
    }

    /// Adds a finding, with the heavier one of its severity and that of the section around it.
    fn add(&mut self, severity: Option<Severity>, body: &str, rest: &[String]) {
        let around = self.section.words.severities.first().copied();
        let around = around.filter(|_| self.is_in_section());
        let severity = severity.into_iter().chain(around).min();
        let finding = item::finding(severity.unwrap_or_default(), body);
        self.findings.push(finding);
        self.is_hanging = true;
        self.hang(rest);
    }

    fn hang(&mut self, lines: &[String]) {
        if let Some(above) = self.findings.last_mut() {
            lines.iter().for_each(|line| item::add_detail(above, line));
        }
    }

    /// Returns whether a text names a finding by its number: `the skip path (#1)`.
    fn repeats(&self, text: &str) -> bool {
        let is_finding = |after: &str| {
            let digits = after.split(|c: char| !c.is_ascii_digit()).next();
            let number = digits.and_then(|digits| digits.parse::<usize>().ok());
            number.is_some_and(|number| (1..=self.findings.len()).contains(&number))
        };
        self.place == Place::Summary && text.split('#').skip(1).any(is_finding)
    }

    fn verdict(mut self, ends_clean: bool) -> Result<Option<Findings>, Cause> {
        self.close()?;
        if !self.findings.is_empty() {
            return with_findings(self.findings).map(Some);
        }
        if self.other || self.none.is_empty() && !ends_clean {
            return Ok(None);
        }
        let is_missing = |severity: &Severity| self.none.get(severity) != Some(&true);
        match Severity::ALL.into_iter().find(is_missing) {
            Some(missing) if !ends_clean => Err(Cause::not_a_verdict(&format!(
                "it names no finding and says nothing of {missing}: it may have been cut off"
            ))),
            _ => Ok(Some(Findings::default())),
        }
    }
}

fn uncounted(line: usize, text: &str) -> Cause {
    let text = text::one_line(text, MAX_QUOTE_CHARS);
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
