//! Findings in Markdown: every item is counted, or the whole answer is unreadable.
//!
//! A severity is in a heading, in front of an item or at its end, or in a cell of its table row. An item without one is high,
//! if anything in the answer has a severity. docs/reviewers.md has the forms that are read. Nothing found has to be said by the
//! clean line, or by three sections that each say so, and by nothing else.

use std::collections::BTreeMap;

use super::blocks::{self, Block, Kind, LINE_LEVEL, bullet};
use super::severity::{
    SeverityWords, is_clean_line, is_list_title, is_none, is_praise_title, is_summary_title, label,
    severity_words, stated_severity,
};
use super::{Cause, item, with_findings};
use crate::review::findings::{Finding, Findings, Severity};
use crate::text;

/// The deepest level of a title. A deeper heading is a finding.
const MAX_TITLE_LEVEL: u8 = 2;
/// Longest part of a text that an error quotes, in characters.
const MAX_QUOTE_CHARS: usize = 60;

/// Reads a text. Returns `None` if it has no verdict. `is_rated`: the answer has a severity outside of this text.
pub(super) fn read(answer: &str, is_rated: bool) -> Result<Option<Findings>, Cause> {
    let answer = text::plain(answer);
    let blocks = blocks::read(&answer)?;
    let mut below = blocks.iter().skip(1).filter_map(Block::level);
    let first = blocks.first().and_then(Block::level);
    let mut reader = Reader {
        title: first.filter(|first| *first <= MAX_TITLE_LEVEL && below.all(|level| level > *first)),
        is_rated,
        ..Reader::default()
    };
    for (index, block) in blocks.iter().enumerate() {
        reader.block(block, blocks.get(index + 1))?;
    }
    reader.verdict()
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
struct Section<'b> {
    number: usize,
    level: u8,
    /// The severity of its heading; none if the heading is that of a list of findings, or unknown.
    words: SeverityWords,
    /// The number of findings before it.
    before: usize,
    says_none: bool,
    /// The heading, if its words are unknown. It is a detail of each item, as it may be what is wrong.
    unknown_title: Option<&'b str>,
    /// Whether text that is no item belongs to the last finding.
    has_items: bool,
    /// Text that belongs to the next finding: a quote, or text after a word for none. Without one it is not counted, which
    /// is fine only for text after a word for none at the end of the answer.
    uncounted: Vec<&'b Block<'b>>,
}

#[derive(Debug, Default)]
struct Reader<'b> {
    /// The level of the title, if the answer begins with one.
    title: Option<u8>,
    place: Place,
    /// The newest section.
    section: Section<'b>,
    /// The indentation of the last item. What is deeper belongs to it.
    indent: Option<usize>,
    /// Whether all closed sections of a severity say that there is nothing.
    none: BTreeMap<Severity, bool>,
    findings: Vec<Finding>,
    /// Whether the last finding has no severity of its own.
    is_unrated: bool,
    /// Whether anything in the answer has a severity, or is a list of findings.
    is_rated: bool,
    has_clean_line: bool,
    /// Whether there is something that a clean answer does not have.
    other: bool,
}

impl<'b> Reader<'b> {
    fn block(&mut self, block: &'b Block<'b>, next: Option<&Block<'_>>) -> Result<(), Cause> {
        let is_deeper = self.indent.is_some_and(|above| block.indent > above + 1);
        if is_deeper && self.is_below_finding() && block.level().is_none() {
            self.hang(&block.lines);
            return Ok(());
        }
        if block.kind == Kind::Item {
            self.indent = Some(block.indent);
        } else if !is_deeper {
            self.indent = None;
        }
        let is_line = block.lines.len() == 1 && block.indent < 4;
        match block.kind {
            Kind::Heading(level) => self.heading(level, block, next)?,
            Kind::Item | Kind::Paragraph if is_line && is_clean_line(block.lines[0]) => {
                self.has_clean_line = true;
                self.section.says_none |= self.place == Place::Section;
            }
            Kind::Item => self.item(block, next)?,
            Kind::Row => self.row(block.lines[0]),
            Kind::Paragraph => self.paragraph(block, next)?,
            Kind::Quote => self.quote(block)?,
        }
        Ok(())
    }

    fn heading(
        &mut self,
        level: u8,
        block: &'b Block<'b>,
        next: Option<&Block<'_>>,
    ) -> Result<(), Cause> {
        let title = block.lines.join(" ");
        let is_title = self.title.take() == Some(level);
        let is_above_items = next.is_some_and(Block::is_item_or_row);
        let in_section = matches!(self.place, Place::Section | Place::Finding(_));
        let is_within = in_section && level > self.section.level;
        if let Some(words) = severity_words(&title) {
            return self.open(block.number, level, words);
        }
        let is_summary = is_summary_title(&title);
        let text = bullet(&title).unwrap_or(&title);
        let stated = next
            .filter(|_| !is_summary)
            .and_then(Block::stated_severity)
            .map(|severity| (severity, text));
        if let Some((severity, rest)) = label(&title).or(stated) {
            if is_none(rest) {
                let words = SeverityWords {
                    severities: vec![severity],
                    announced: Some(0),
                };
                return self.open(block.number, level, words);
            }
            if !is_within {
                self.open(block.number, level - 1, SeverityWords::default())?;
            }
            self.add(Some(severity), rest);
            self.place = Place::Finding(level);
            return Ok(());
        }
        if is_list_title(&title) {
            self.other |= level != 1;
            self.is_rated |= !is_title || is_above_items;
            self.open(block.number, level, SeverityWords::default())?;
            if is_title {
                self.place = Place::Outside;
            }
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
            Place::Finding(above) if above < level => self.hang(&[&title]),
            _ if is_within && is_none(&title) => self.section.says_none = true,
            _ if is_within => {
                self.add(None, text);
                self.place = Place::Finding(level);
            }
            // A section under words that we do not know, or a finding.
            _ => {
                self.open(block.number, level, SeverityWords::default())?;
                let below = next.and_then(Block::level);
                if is_above_items {
                    self.section.unknown_title = block.lines.first().copied();
                } else if !below.is_some_and(|below| (level + 1..LINE_LEVEL).contains(&below)) {
                    self.count(None, text, &[]);
                }
            }
        }
        Ok(())
    }

    fn item(&mut self, block: &Block<'_>, next: Option<&Block<'_>>) -> Result<(), Cause> {
        let first = block.lines[0];
        let rest = &block.lines[1..];
        self.other |= is_doubtful(first) || self.place != Place::Section;
        let is_above_deeper = next.is_some_and(|next| next.indent > block.indent + 1);
        let is_alone = rest.is_empty() && !is_above_deeper;
        match severity_words(first) {
            Some(words) if is_above_deeper => {
                self.open(block.number, LINE_LEVEL, words)?;
                self.indent = None;
                rest.iter().for_each(|line| self.count(None, line, &[]));
            }
            Some(words) if !is_alone => {
                let severity = words.severities.first().copied();
                self.count(severity, rest[0], &rest[1..]);
            }
            // `High: 2` outside of findings counts findings in another place.
            Some(_) if matches!(self.place, Place::Outside | Place::Praise) => {}
            Some(_) => self.count(None, first, rest),
            None => {
                let label = label(first);
                let text = label.map_or(first, |(_, rest)| rest);
                if is_alone && is_none(text) {
                    self.section.says_none |= self.place == Place::Section;
                } else {
                    self.count(label.map(|(severity, _)| severity), text, rest);
                }
            }
        }
        Ok(())
    }

    fn row(&mut self, row: &str) {
        self.other = true;
        let cells = row.trim_matches('|').split('|').map(str::trim);
        let words = cells.clone().filter_map(severity_words);
        let severity = words.flat_map(|words| words.severities).min();
        let is_text =
            |cell: &&str| severity_words(cell).is_none() && cell.contains(char::is_alphabetic);
        let texts: Vec<&str> = cells.filter(is_text).collect();
        if !texts.iter().all(|cell| is_none(cell)) {
            self.count(severity, &texts.join(" \u{2014} "), &[]);
        }
    }

    /// Counts an item of a list, or a row of a table, with the lines below it.
    fn count(&mut self, severity: Option<Severity>, text: &str, rest: &[&str]) {
        let stated = rest.iter().find_map(|line| stated_severity(line));
        let severity = match (severity.or(stated), self.place) {
            // Below a line such as `**Low:** names`.
            (None, Place::Finding(LINE_LEVEL)) => self.findings.last().map(|above| above.severity),
            (None, Place::Finding(_)) => {
                self.hang(&[text]);
                return self.hang(rest);
            }
            (None, Place::Praise) => return,
            _ if self.repeats(text) => return,
            (severity, _) => severity,
        };
        self.add(severity, text);
        self.hang(rest);
        let title = self.section.unknown_title;
        self.hang(title.as_slice());
        self.section.has_items = true;
    }

    fn paragraph(&mut self, block: &'b Block<'b>, next: Option<&Block<'_>>) -> Result<(), Cause> {
        let lines = &block.lines[..];
        let ends_with_colon = |line: &&str| line.trim_end_matches('*').ends_with(':');
        let is_intro =
            lines.last().is_some_and(ends_with_colon) && next.is_some_and(Block::is_item_or_row);
        self.other |= lines.iter().any(|line| is_doubtful(line));
        let in_section = self.place == Place::Section;
        let stated = block.stated_severity();
        if stated.is_some() && !matches!(self.place, Place::Finding(_)) {
            let is_text = |line: &&str| stated_severity(line).is_none();
            let texts: Vec<&str> = lines.iter().copied().filter(is_text).collect();
            let first = texts.first().unwrap_or(&lines[0]);
            self.count(stated, first, texts.get(1..).unwrap_or_default());
        } else if self.is_below_finding() {
            if is_intro && in_section && self.section.level == LINE_LEVEL {
                // `Also:` between two lists, of which the first is that of a line such as `Nits:`.
                self.section.has_items = false;
                self.place = Place::Outside;
            } else {
                self.hang(lines);
            }
        } else if in_section && lines.len() == 1 && is_none(lines[0]) {
            self.section.says_none = true;
        } else {
            self.other = true;
            if in_section && self.section.says_none {
                self.section.uncounted.push(block);
            } else if in_section && !is_intro {
                self.add(None, lines[0]);
                self.hang(&lines[1..]);
            } else if lines[0].starts_with('<') && !lines[0].starts_with("<!--") {
                // HTML may have findings in it.
                return Err(uncounted(block));
            }
        }
        Ok(())
    }

    fn quote(&mut self, block: &'b Block<'b>) -> Result<(), Cause> {
        self.other = true;
        let is_labelled = |line: &&str| {
            let text = bullet(line).unwrap_or(line);
            let has_severity = |cell| severity_words(cell).is_some();
            label(text).is_some() || text.split('|').any(has_severity)
        };
        if self.is_below_finding() {
            self.hang(&block.lines);
        } else if self.place == Place::Section {
            self.section.uncounted.push(block);
        } else if block.lines.iter().any(is_labelled) {
            return Err(uncounted(block));
        }
        Ok(())
    }

    fn open(&mut self, number: usize, level: u8, words: SeverityWords) -> Result<(), Cause> {
        self.close()?;
        self.is_rated |= !words.severities.is_empty();
        self.section = Section {
            number,
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
            self.add(None, title);
        }
        let section = std::mem::take(&mut self.section);
        if let Some(block) = section.uncounted.first() {
            return Err(uncounted(block));
        }
        let found = self.findings.len() - section.before;
        if found < section.words.announced.unwrap_or_default() {
            let line = section.number;
            let problem = format!("line {line} announces findings that do not follow");
            return Err(Cause::not_a_verdict(&problem));
        }
        for severity in section.words.severities {
            *self.none.entry(severity).or_insert(true) &= section.says_none;
        }
        Ok(())
    }

    /// Returns whether text that is no item belongs to the last finding.
    fn is_below_finding(&self) -> bool {
        match self.place {
            Place::Section | Place::Outside => self.section.has_items,
            Place::Finding(_) => true,
            Place::Praise => false,
        }
    }

    /// Returns the heavier one of a finding's severity and that of the section around it, or high if there is neither.
    fn weigh(&self, severity: Option<Severity>) -> Severity {
        let in_section = matches!(self.place, Place::Section | Place::Finding(_));
        let around = self.section.words.severities.iter().copied();
        let all = around.filter(|_| in_section).chain(severity);
        all.min().unwrap_or_default()
    }

    fn add(&mut self, severity: Option<Severity>, line: &str) {
        self.is_unrated = severity.is_none();
        self.is_rated |= severity.is_some();
        let finding = item::finding(self.weigh(severity), line);
        self.findings.push(finding);
        for block in std::mem::take(&mut self.section.uncounted) {
            self.hang(&block.lines);
        }
    }

    /// Adds lines below the last finding. One of them may state its severity.
    fn hang(&mut self, lines: &[&str]) {
        let stated = lines.iter().find_map(|line| stated_severity(line));
        let severity = self.weigh(stated);
        let Some(above) = self.findings.last_mut() else {
            return;
        };
        if stated.is_some() && self.is_unrated {
            above.severity = severity;
            self.is_unrated = false;
            self.is_rated = true;
        }
        lines.iter().for_each(|line| item::add_detail(above, line));
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
        let says_more =
            self.section.says_none && !std::mem::take(&mut self.section.uncounted).is_empty();
        self.close()?;
        if !self.findings.is_empty() {
            let findings = self.is_rated.then(|| with_findings(self.findings));
            return findings.transpose();
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

/// Returns whether a text is a question, a quotation or struck out: none of these states that nothing was found.
fn is_doubtful(text: &str) -> bool {
    text.contains(['>', '<', '|', '?', '"', '~'])
}

fn uncounted(block: &Block<'_>) -> Cause {
    let line = block.number;
    let text = text::one_line(&block.lines.join(" "), MAX_QUOTE_CHARS);
    let problem = format!("line {line} is not counted: no severity is known for ‘{text}’");
    Cause::not_a_verdict(&problem)
}

#[cfg(test)]
mod tests;
