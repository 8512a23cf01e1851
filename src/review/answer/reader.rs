//! The findings of a Markdown answer: every item is counted, or the whole answer is unreadable.
//!
//! A severity is in a heading, in front of an item or at its end, or in a cell of its table row. An item without one is high,
//! if anything in the answer has a severity. docs/reviewers.md has the forms that are read. Nothing found has to be said by the
//! clean line, or by three sections that each say so, and by nothing else.

use std::collections::BTreeMap;

use pulldown_cmark::Tag;

use super::markdown::{Part, parts};
use super::severity::{
    SeverityWords, is_clean_line, is_list_title, is_none, is_praise_title, is_summary_title, label,
    severity_words, stated_among, stated_severity,
};
use super::{Cause, item, with_findings};
use crate::review::findings::{Finding, Findings, Severity};
use crate::text;

/// The level of a line that is a heading without `#`, such as `**High:**`, and of an item above nested ones.
const LINE_LEVEL: u8 = 6;
/// The deepest level of a title. A deeper heading is a finding.
const MAX_TITLE_LEVEL: u8 = 2;
/// Longest part of a text that an error quotes, in characters.
const MAX_QUOTE_CHARS: usize = 60;

/// Reads a text. Returns `None` if it has no verdict. `is_rated`: the answer has a severity outside of this text.
pub(super) fn read(answer: &str, is_rated: bool) -> Result<Option<Findings>, Cause> {
    let parts = parts(answer);
    let first = parts.first().and_then(Part::level);
    let mut below = parts.iter().skip(1).filter_map(Part::level);
    let mut reader = Reader {
        title: first.filter(|first| *first <= MAX_TITLE_LEVEL && below.all(|level| level > *first)),
        is_rated,
        ..Reader::default()
    };
    for (at, part) in parts.iter().enumerate() {
        let next = parts.get(at + 1);
        match part.tag {
            Tag::Heading { level, .. } => reader.heading(level as u8, part, next)?,
            Tag::Item => reader.list_item(part),
            Tag::TableRow => reader.row(part),
            Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock => reader.aside(part)?,
            _ => reader.paragraph(part, next)?,
        }
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
    /// The newest section; empty outside of all sections.
    section: Section,
    /// Whether all closed sections of a severity say that there is nothing.
    none: BTreeMap<Severity, bool>,
    findings: Vec<Finding>,
    /// Whether anything in the answer has a severity, or is a list of findings.
    is_rated: bool,
    has_clean_line: bool,
    /// Whether there is something that a clean answer does not have.
    has_more: bool,
}

impl Reader {
    fn heading(&mut self, level: u8, part: &Part, next: Option<&Part>) -> Result<(), Cause> {
        let title = part.text.as_str();
        let text = item::bullet(title).unwrap_or(title);
        let is_title = self.title.take() == Some(level);
        let is_summary = is_summary_title(title);
        let is_above_items = next.is_some_and(Part::is_item);
        let in_section = matches!(self.place, Place::Section | Place::Finding(_));
        let is_within = in_section && level > self.section.level;
        if let Some(words) = severity_words(title) {
            return self.open(part.line, level, words);
        }
        let stated = || Some((next.filter(|_| !is_summary)?.stated?, text));
        if let Some((severity, rest)) = label(title).or_else(stated) {
            if is_none(rest) {
                let words = SeverityWords {
                    severities: vec![severity],
                    announced: Some(0),
                };
                return self.open(part.line, level, words);
            }
            if !is_within {
                self.open(part.line, level - 1, SeverityWords::default())?;
            }
            self.add(Some(severity), rest, &[]);
            self.place = Place::Finding(level);
            return Ok(());
        }
        if is_list_title(title) || title.is_empty() {
            self.has_more |= level != 1;
            self.is_rated |= !is_title || is_above_items;
            self.open(part.line, level, SeverityWords::default())?;
            self.section.is_title = is_title;
            return Ok(());
        }
        self.has_more = true;
        if is_praise_title(title) {
            self.close(Place::Praise)?;
        } else if is_title || is_summary {
            self.close(Place::Outside)?;
        } else if matches!(self.place, Place::Finding(above) if above < level) {
            self.hang(&[title.to_owned()]);
        } else if is_within && is_none(title) {
            self.section.says_none = true;
        } else if is_within {
            self.add(None, text, &[]);
            self.place = Place::Finding(level);
        } else {
            // A section under words that we do not know, or a finding.
            self.open(part.line, level, SeverityWords::default())?;
            let levels_below = level + 1..LINE_LEVEL;
            let next_level = next.and_then(Part::level);
            if is_above_items {
                self.section.unknown_title = Some(text.to_owned());
            } else if !next_level.is_some_and(|below| levels_below.contains(&below)) {
                self.item(None, text, &[]);
            }
        }
        Ok(())
    }

    fn list_item(&mut self, part: &Part) {
        let lines = item::lines(&part.text);
        let first = lines[0].as_str();
        let rest = &lines[1..];
        if rest.is_empty() && is_clean_line(first) {
            return self.clean_line();
        }
        self.has_more |= item::is_doubtful(first) || self.place != Place::Section;
        let is_severity = severity_words(first).is_some();
        let label = label(first).filter(|_| !is_severity);
        let text = label.map_or(first, |(_, text)| text);
        let is_none = !is_severity && rest.is_empty() && is_none(text);
        match self.place {
            // `High: 2` outside of findings counts findings in another place.
            Place::Outside | Place::Praise if is_severity => {}
            _ if is_none => self.section.says_none = true,
            _ => self.item(label.map(|(severity, _)| severity), text, rest),
        }
    }

    fn row(&mut self, part: &Part) {
        self.has_more = true;
        let cells = part.text.trim().trim_matches('|').split('|').map(str::trim);
        let words = cells.clone().filter_map(severity_words);
        let severity = words.flat_map(|words| words.severities).min();
        let is_text =
            |cell: &&str| severity_words(cell).is_none() && cell.contains(char::is_alphabetic);
        let texts: Vec<&str> = cells.filter(is_text).collect();
        if !texts.iter().all(|cell| is_none(cell)) {
            self.item(severity, &texts.join(" \u{2014} "), &[]);
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
        self.add(severity, text, rest);
        let title = self.section.unknown_title.clone();
        self.hang(title.as_slice());
        self.section.has_items = self.place != Place::Praise;
    }

    fn paragraph(&mut self, part: &Part, next: Option<&Part>) -> Result<(), Cause> {
        let text = part.text.trim();
        if is_clean_line(text) {
            self.clean_line();
            return Ok(());
        }
        let is_intro = next.is_some_and(Part::is_item) && text.trim_end_matches('*').ends_with(':');
        let in_section = self.place == Place::Section;
        let lines = item::lines(text);
        self.has_more |= item::is_doubtful(text);
        if part.stated.is_some() && !matches!(self.place, Place::Finding(_)) {
            let (rated, texts): (Vec<_>, Vec<_>) =
                (lines.into_iter()).partition(|line| stated_severity(line).is_some());
            let first = texts.first().or(rated.first()).cloned().unwrap_or_default();
            self.item(part.stated, &first, texts.get(1..).unwrap_or_default());
        } else if is_intro
            && in_section
            && self.section.has_items
            && self.section.level == LINE_LEVEL
        {
            // `Also:` between two lists, of which the first is that of a line such as `Nits:`.
            self.close(Place::Outside)?;
        } else if self.is_below_finding() {
            self.hang(&lines);
        } else if in_section && is_none(text) && lines.len() == 1 {
            self.section.says_none = true;
        } else {
            self.has_more = true;
            if in_section && self.section.says_none {
                self.section.uncounted.get_or_insert(uncounted(part));
            } else if in_section && !self.section.is_title && !is_intro {
                self.add(None, &lines[0], &lines[1..]);
            }
        }
        Ok(())
    }

    /// Takes a quotation, code or HTML.
    fn aside(&mut self, part: &Part) -> Result<(), Cause> {
        let lines = item::lines(&part.text);
        let is_comment = part.text.trim_start().starts_with("<!--");
        self.has_more |= !lines[0].is_empty();
        if lines[0].is_empty() || is_comment && !self.is_below_finding() {
            return Ok(());
        }
        let is_severity = |text: &str| severity_words(text).is_some();
        let has_items = part.text.lines().any(|line| {
            let line = line.trim_start_matches(['>', ' ', '\t']);
            match line.chars().next() {
                Some('#') => is_severity(line),
                Some('-' | '*' | '+' | '[') => label(line).is_some(),
                Some('|') => line.split('|').any(is_severity),
                _ => false,
            }
        });
        let is_code = matches!(part.tag, Tag::CodeBlock(_));
        let in_section = self.place == Place::Section;
        if self.is_below_finding() && !(is_code && part.is_refused()) {
            self.hang(&lines);
        } else if part.is_refused() || has_items && !(in_section && is_code) {
            return Err(uncounted(part));
        } else if in_section {
            self.section.uncounted = Some(uncounted(part));
        }
        Ok(())
    }

    fn open(&mut self, line: usize, level: u8, words: SeverityWords) -> Result<(), Cause> {
        self.close(Place::Section)?;
        self.is_rated |= !words.severities.is_empty();
        self.section = Section {
            line,
            level,
            says_none: words.announced == Some(0),
            words,
            before: self.findings.len(),
            ..Section::default()
        };
        Ok(())
    }

    /// Ends the section that is open, and goes on in another place.
    fn close(&mut self, place: Place) -> Result<(), Cause> {
        // Above a section, the clean line is that of a text that goes on.
        self.has_clean_line = false;
        let is_empty = self.findings.len() == self.section.before && !self.section.says_none;
        if let Some(title) = self.section.unknown_title.take_if(|_| is_empty) {
            self.add(None, &title, &[]);
        }
        self.place = place;
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
        self.section.says_none = true;
    }

    /// Returns whether text that is no item belongs to the last finding.
    fn is_below_finding(&self) -> bool {
        self.section.has_items || matches!(self.place, Place::Finding(_))
    }

    /// Adds a finding, with the heavier one of its severity and that of the section around it. One without any is high.
    fn add(&mut self, severity: Option<Severity>, text: &str, rest: &[String]) {
        self.is_rated |= severity.is_some();
        let around = self.section.words.severities.first().copied();
        let heavier = around.into_iter().chain(severity).min();
        self.section.uncounted.take_if(|_| !self.section.says_none);
        let finding = item::finding(heavier.unwrap_or_default(), text);
        self.findings.push(finding);
        self.hang(rest);
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
        self.close(Place::Outside)?;
        if !self.findings.is_empty() {
            let findings = self.is_rated.then(|| with_findings(self.findings));
            return findings.transpose();
        }
        if is_clean_line && !self.has_more {
            return Ok(Some(Findings::default()));
        }
        if self.has_more || says_more || self.none.is_empty() {
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

fn uncounted(part: &Part) -> Cause {
    let line = part.line;
    let text = text::one_line(&part.text, MAX_QUOTE_CHARS);
    let problem = format!("line {line} is not counted: no severity is known for ‘{text}’");
    Cause::not_a_verdict(&problem)
}

#[cfg(test)]
mod tests;
