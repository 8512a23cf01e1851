//! Findings in Markdown: every item is counted, or the whole answer is unreadable.
//!
//! A severity is in a heading, in front of an item, or in a cell of its table row. docs/reviewers.md has the forms that are
//! read. Nothing found has to be said by the clean line, or by three sections that each say so, and by nothing else.

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::severity::{
    SeverityWords, is_list_title, is_none, is_summary_title, label, severity_words, stated_severity,
};
use super::{Cause, item, with_findings};
use crate::review::findings::{CLEAN_LINE, Finding, Findings, Severity};
use crate::text;

/// The level of a line that is a heading without `#`, such as `**High:**`.
const PLAIN_LEVEL: u8 = 7;
/// Longest part of a text that an error quotes, in characters.
const MAX_QUOTE_CHARS: usize = 60;

/// Reads a text. Returns `None` if it has no verdict.
pub(super) fn read(answer: &str) -> Result<Option<Findings>, Cause> {
    let answer = text::plain(answer);
    let bullets = answer
        .lines()
        .map(|line| match line.trim_start().strip_prefix('\u{2022}') {
            Some(item) => format!("-{item}\n"),
            None => format!("{line}\n"),
        });
    let answer: String = bullets.collect();
    let blocks = blocks(&answer);
    let mut levels = blocks.iter().filter_map(|block| match block.tag {
        Tag::Heading { level, .. } => Some(level as u8),
        _ => None,
    });
    let first = levels.next();
    let mut reader = Reader {
        title: first.filter(|first| levels.all(|level| level > *first)),
        ..Reader::default()
    };
    for (index, block) in blocks.iter().enumerate() {
        let next = blocks.get(index + 1);
        match block.tag {
            Tag::Heading { level, .. } => reader.heading(level as u8, block, next),
            Tag::List(_) => reader.list(block),
            Tag::Table(_) => reader.table(block),
            Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock => reader.aside(block),
            _ => reader.paragraph(block, next),
        }?;
    }
    reader.verdict()
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
    fn has_items(&self) -> bool {
        matches!(self.tag, Tag::List(_) | Tag::Table(_))
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
        matches!(self.tag, Tag::CodeBlock(CodeBlockKind::Fenced(_)))
            && !text
                .split_once('\n')
                .is_some_and(|(_, rest)| rest.ends_with(&text[..3]))
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
    is_title: bool,
    /// Whether text that is no item belongs to the last finding.
    is_hanging: bool,
}

#[derive(Debug, Default)]
struct Reader {
    /// The level of the title, if the first heading is one.
    title: Option<u8>,
    place: Place,
    /// The newest section.
    section: Section,
    /// Whether all closed sections of a severity say that there is nothing.
    none: BTreeMap<Severity, bool>,
    findings: Vec<Finding>,
    /// Text of a section that is not counted: a quotation or code in front of its items, or text after the word for none, which is
    /// fine at the end of the answer only.
    uncounted: Option<(usize, String)>,
    has_clean_line: bool,
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
        let is_title = self.title.take() == Some(level);
        let is_within = self.severity_here().is_some() && level > self.section.level;
        if let Some(words) = severity_words(&title) {
            return self.open(block.line, level, words);
        }
        let is_summary = is_summary_title(&title);
        let stated = next
            .filter(|_| !is_summary)
            .and_then(Block::stated_severity);
        let stated = stated.map(|severity| (severity, item::bullet(&title).unwrap_or(&title)));
        if let Some((severity, rest)) = label(&title).or(stated) {
            if is_none(rest) {
                self.open(block.line, level, severity.into())?;
                self.section.says_none = true;
                return Ok(());
            }
            if !is_within {
                self.open(block.line, level - 1, SeverityWords::default())?;
                self.section.is_title = true;
            }
            self.add(self.at_least(severity), rest);
            self.place = Place::Finding(level);
            return Ok(());
        }
        if is_list_title(&title) {
            self.other |= level != 1;
            self.open(block.line, level, SeverityWords::default())?;
            self.section.is_title = is_title;
            return Ok(());
        }
        self.other = true;
        match self.place {
            _ if is_title => {
                self.close()?;
                self.place = Place::Outside;
            }
            _ if is_summary => {
                self.close()?;
                self.place = Place::Summary;
            }
            Place::Finding(above) if above < level => self.hang(&title),
            _ if is_within && is_none(&title) => self.section.says_none = true,
            _ if is_within => {
                self.add(self.severity(), item::bullet(&title).unwrap_or(&title));
                self.place = Place::Finding(level);
            }
            _ => return Err(uncounted(block.line, &title)),
        }
        Ok(())
    }

    fn list(&mut self, block: &Block<'_>) -> Result<(), Cause> {
        let items = block.parts.iter();
        let items: Vec<_> = items
            .map(|(line, text)| (*line, item::lines(text)))
            .collect();
        let is_labelled = items.iter().any(|(_, (first, _))| label(first).is_some());
        for (line, (first, rest)) in &items {
            self.other |= item::is_doubtful(first) || self.place != Place::Section;
            let is_tally = severity_words(first).is_some();
            let label = label(first).filter(|_| !is_tally);
            let text = label.map_or(first.as_str(), |(_, rest)| rest);
            let severity = label.map(|(severity, _)| severity);
            // `High: 2` outside of findings counts findings in another place.
            let is_counted = is_tally && self.severity_here().is_none();
            if is_none(text) && rest.is_empty() && !item::names_a_place(text) {
                self.says_none();
            } else if !is_counted {
                self.item(*line, severity, text, rest, is_labelled)?;
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
        match (severity, self.place) {
            (Some(severity), _) => self.add_item(self.at_least(severity), text, rest),
            (None, Place::Finding(1..PLAIN_LEVEL)) => {
                self.hang_all(text, rest);
            }
            (None, Place::Section) => self.add_item(self.severity(), text, rest),
            _ if self.repeats(text) => {}
            (None, Place::Outside | Place::Finding(_)) if is_labelled => {
                self.add_item(Severity::High, text, rest);
            }
            _ => return Err(uncounted(line, text)),
        }
        Ok(())
    }

    fn paragraph(&mut self, block: &Block<'_>, next: Option<&Block<'_>>) -> Result<(), Cause> {
        let lines = block.text.lines().map(str::trim).enumerate();
        let lines: Vec<_> = lines.filter(|(_, line)| !line.is_empty()).collect();
        if let [(_, CLEAN_LINE)] = lines[..] {
            self.has_clean_line = true;
            self.says_none();
            return Ok(());
        }
        let above_items = next.is_some_and(Block::has_items);
        let mut begins = true;
        for (index, line) in &lines {
            let number = block.line + index;
            let is_intro = above_items
                && lines.last() == Some(&(*index, *line))
                && line.trim_end_matches('*').ends_with(':');
            self.other |= item::is_doubtful(line);
            if let Place::Finding(1..PLAIN_LEVEL) = self.place {
                self.hang(line);
                continue;
            }
            let words = severity_words(line);
            let stands_out = begins || line.ends_with(':') || line.starts_with(['*', '_', '[']);
            let label = label(line).filter(|_| stands_out && words.is_none());
            let is_heading = stands_out
                && words.as_ref().is_some_and(|words| {
                    words.severities.len() == 1
                        && (words.announced.is_none() || self.place != Place::Summary)
                });
            match (words, label) {
                (Some(words), _) if is_heading => self.open(number, PLAIN_LEVEL, words)?,
                (_, Some((severity, rest))) => {
                    let around = self.severity_here().flatten();
                    let around = around.filter(|_| self.section.level < PLAIN_LEVEL);
                    let severity = severity.min(around.unwrap_or(severity));
                    self.open(number, PLAIN_LEVEL, severity.into())?;
                    self.section.says_none = is_none(rest);
                    if !self.section.says_none && !is_intro {
                        self.add_item(severity, rest, &[]);
                    }
                }
                _ => {
                    self.prose(number, line, begins, is_intro);
                    begins = false;
                }
            }
        }
        Ok(())
    }

    /// Takes a line of a paragraph that is neither a heading nor labelled.
    fn prose(&mut self, number: usize, line: &str, begins: bool, is_intro: bool) {
        let is_first = begins || self.findings.len() == self.section.before;
        match self.place {
            Place::Section if self.section.is_hanging => {
                if is_intro && self.section.level == PLAIN_LEVEL {
                    // `Also:` between two lists, of which the first is that of a line such as `Nits:`.
                    self.place = Place::Outside;
                } else {
                    self.hang(line);
                }
            }
            Place::Section if begins && is_none(line) => self.says_none(),
            Place::Section if is_first => {
                self.other = true;
                if self.section.says_none {
                    self.uncounted.get_or_insert((number, line.to_owned()));
                } else if !self.section.is_title && !is_intro {
                    self.add(self.severity(), line);
                }
            }
            Place::Section | Place::Finding(_) => self.hang(line),
            Place::Outside | Place::Summary => self.other = true,
        }
    }

    /// Takes a quotation, code or HTML.
    fn aside(&mut self, block: &Block<'_>) -> Result<(), Cause> {
        let (first, rest) = item::lines(block.text);
        if first.is_empty() {
            return Ok(());
        }
        self.other = true;
        let is_item = |line: &str| {
            let line = line.trim_start_matches(['>', ' ', '\t']);
            let is_heading = line.starts_with('#') && severity_words(line).is_some();
            is_heading || line.starts_with(['-', '*', '+', '[']) && label(line).is_some()
        };
        let is_html = block.tag == Tag::HtmlBlock;
        match self.place {
            Place::Finding(_) => self.hang_all(&first, &rest),
            Place::Section if self.section.is_hanging => self.hang_all(&first, &rest),
            _ if is_html && block.text.trim_start().starts_with("<!--") => {}
            _ if is_html || block.is_cut_off() => return Err(uncounted(block.line, block.text)),
            Place::Section => self.uncounted = Some((block.line, block.text.to_owned())),
            _ if block.text.lines().any(is_item) => {
                return Err(uncounted(block.line, block.text));
            }
            _ => {}
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
            ..Section::default()
        };
        self.place = Place::Section;
        Ok(())
    }

    /// Ends the section that is open.
    fn close(&mut self) -> Result<(), Cause> {
        // Above a section, the clean line is that of a text that goes on.
        self.has_clean_line = false;
        if let Some((line, text)) = self.uncounted.take() {
            return Err(uncounted(line, &text));
        }
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
        Ok(())
    }

    fn says_none(&mut self) {
        self.section.says_none |= self.place == Place::Section;
    }

    /// Returns the severity of the section that the reader is in: `None` in no section, `Some(None)` in a list of findings.
    fn severity_here(&self) -> Option<Option<Severity>> {
        match self.place {
            Place::Section | Place::Finding(1..PLAIN_LEVEL) => {
                Some(self.section.words.severities.first().copied())
            }
            _ => None,
        }
    }

    /// Returns the severity of an item that names none.
    fn severity(&self) -> Severity {
        self.severity_here().flatten().unwrap_or(Severity::High)
    }

    /// Returns the heavier one of an item's severity and that of the section around it.
    fn at_least(&self, severity: Severity) -> Severity {
        severity.min(self.severity_here().flatten().unwrap_or(severity))
    }

    fn add(&mut self, severity: Severity, body: &str) {
        self.uncounted = self.uncounted.take().filter(|_| self.section.says_none);
        self.findings.push(item::finding(severity, body));
    }

    fn add_item(&mut self, severity: Severity, body: &str, rest: &[String]) {
        self.add(severity, body);
        rest.iter().for_each(|line| self.hang(line));
        match self.place {
            Place::Section => self.section.is_hanging = true,
            Place::Finding(_) => {}
            Place::Outside | Place::Summary => self.place = Place::Finding(PLAIN_LEVEL),
        }
    }

    fn hang_all(&mut self, first: &str, rest: &[String]) {
        self.hang(first);
        rest.iter().for_each(|line| self.hang(line));
    }

    fn hang(&mut self, line: &str) {
        if let Some(above) = self.findings.last_mut() {
            item::add_detail(above, line);
        }
    }

    /// Returns whether a text names a finding by its number: `the skip path (#1)`.
    fn repeats(&self, text: &str) -> bool {
        self.place == Place::Summary
            && text.split('#').skip(1).any(|after| {
                let digits = after.split(|c: char| !c.is_ascii_digit()).next();
                let number = digits.and_then(|digits| digits.parse::<usize>().ok());
                number.is_some_and(|number| (1..=self.findings.len()).contains(&number))
            })
    }

    fn verdict(mut self) -> Result<Option<Findings>, Cause> {
        let clean = self.has_clean_line;
        let after_none = self.uncounted.take_if(|_| self.section.says_none);
        self.close()?;
        if !self.findings.is_empty() {
            return with_findings(self.findings).map(Some);
        }
        if clean && !self.other {
            return Ok(Some(Findings::default()));
        }
        if self.other || after_none.is_some() || self.none.is_empty() {
            return Ok(None);
        }
        let says_none = |severity: &Severity| self.none.get(severity) == Some(&true);
        let mut all = Severity::ALL.into_iter();
        match all.find(|severity| !says_none(severity)) {
            Some(missing) => Err(Cause::not_a_verdict(&format!(
                "it names no finding and says nothing of {missing}: it may have been cut off"
            ))),
            None => Ok(Some(Findings::default())),
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
