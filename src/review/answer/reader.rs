//! The findings of a Markdown answer: every item is counted, or the whole answer is unreadable.
//!
//! A severity is in a heading, in front of an item or at its end, or in a cell of its table row. If
//! anything in the answer has one, an item without is high. A clean answer has the clean line, or
//! three sections with it, and nothing else. docs/reviewers.md has the forms that are read.

use pulldown_cmark::Tag;

use super::heading::{Heading, heading, is_clean};
use super::markdown::{ITEM_LEVEL, LINE_LEVEL, Part, cells, parts};
use super::repeats::{CELL_GAP, without_repeats};
use super::severity::{
    is_bold, is_bracketed, is_like_finding, is_part, is_rated_item, is_remark, label, only,
    severity_in, severity_words, stated_severities, stated_severity, states_finding,
};
use super::titles::{is_list_title, is_none, is_note_title, is_praise};
use super::{Cause, item};
use crate::review::findings::{Finding, Findings, Severity};
use crate::text;

/// The deepest level of a title. A deeper heading is a finding.
const MAX_TITLE_LEVEL: u8 = 2;
/// Longest part of a text that an error quotes, in characters.
const MAX_QUOTE_CHARS: usize = 60;

/// Reads a text. Returns `None` if it has no verdict. `is_rated`: a severity is outside of it.
pub(super) fn read(answer: &str, is_rated: bool) -> Result<Option<Findings>, Cause> {
    let parts = parts(answer);
    let first = parts.first().and_then(|part| part.level);
    let mut below = parts.iter().skip(1).filter_map(|part| part.level);
    let mut reader = Reader {
        title: first.filter(|first| *first <= MAX_TITLE_LEVEL && below.all(|level| level > *first)),
        is_rated,
        ..Reader::default()
    };
    for (at, part) in parts.iter().enumerate() {
        if let Some(level) = part.level {
            reader.heading(part, level, &parts[at + 1..])?;
            continue;
        }
        if part.is_item() {
            // The sections and findings of items end with those items.
            reader.leave(ITEM_LEVEL + part.depth)?;
        }
        match part.tag {
            Tag::Item => reader.list_item(part),
            Tag::TableRow => reader.row(part),
            Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock => reader.aside(part)?,
            _ => reader.paragraph(&parts, at)?,
        }
    }
    let is_over = reader.section.says_none;
    reader.section.uncounted.take_if(|_| is_over);
    reader.close(Place::Outside)?;
    reader.leave(0)?;
    for (line, severity, announced) in reader.announced {
        let found = (reader.findings.iter()).filter(|one| one.severity <= severity);
        if found.count() < announced {
            return Err(missing(line));
        }
    }
    if reader.findings.is_empty() {
        return Ok(is_clean(&parts)?.then(Findings::new));
    }
    if !reader.is_rated {
        return Ok(None);
    }
    Ok(Some(without_repeats(reader.findings, &reader.summary)))
}

/// The place of the reader.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of all sections.
    #[default]
    Outside,
    /// Below a heading such as `Summary` that follows findings. An item without a severity is low.
    Summary,
    /// Below a heading of this level such as `Strengths`.
    Praise(u8),
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
    /// The severity of its heading, if the heading has one.
    severity: Option<Severity>,
    /// The number of findings that its heading announces.
    announced: usize,
    /// The number of findings before it.
    before: usize,
    says_none: bool,
    /// The heading, if its words are unknown. It may be the problem: each item has it as a detail.
    unknown_title: Option<String>,
    /// Whether text that is no item belongs to the last finding.
    has_items: bool,
    /// Whether paragraphs in front of its items are no findings.
    is_title: bool,
    /// Text that is not counted: a quotation or code, which an item has to follow, or text after a
    /// word for none, which has to end the answer.
    uncounted: Option<Cause>,
}

#[derive(Debug, Default)]
struct Reader {
    /// The level of the title, if the answer begins with one.
    title: Option<u8>,
    place: Place,
    /// The newest section; empty outside of all sections.
    section: Section,
    /// The file that a heading of this level names for the findings below.
    file: Option<(u8, String)>,
    findings: Vec<Finding>,
    /// The lines that count findings of the whole answer, such as `Findings (3)` or `High: 2`, each
    /// with the lowest severity and the number.
    announced: Vec<(usize, Severity, usize)>,
    /// The indices of findings that may repeat another one: table rows, items outside of sections.
    summary: Vec<usize>,
    /// Whether anything in the answer has a severity, or is a list of findings.
    is_rated: bool,
}

impl Reader {
    fn heading(&mut self, part: &Part, level: u8, below: &[Part]) -> Result<(), Cause> {
        let is_title = self.title.take() == Some(level);
        self.leave(level)?;
        let next = below.first();
        let is_below = |part: &&Part| part.level.is_none_or(|below| below > level);
        let is_above_items = next.filter(is_below).is_some_and(Part::is_item);
        let is_above = is_above_items || next.and_then(|part| part.level) > Some(level);
        let text = item::bullet(&part.text).unwrap_or(&part.text);
        let is_above_none = next.is_some_and(|next| is_none(&next.text));
        let file = item::named_file(text).filter(|_| is_above || is_above_none);
        let in_praise = matches!(self.place, Place::Praise(above) if above < level.min(LINE_LEVEL));
        let in_finding = matches!(self.place, Place::Finding(_));
        let in_section = in_finding || self.place == Place::Section;
        // `#### Problem` and `#### Fix` of a finding.
        let is_detail = in_finding && level > MAX_TITLE_LEVEL;
        match heading(&part.text, below) {
            Heading::Severity(words) => {
                self.open(part.line, level)?;
                self.is_rated = true;
                self.section.severity = words.severities.first().copied();
                self.section.announced = words.announced.unwrap_or_default();
                self.section.says_none = words.announced == Some(0);
            }
            Heading::Finding(severity, text) => {
                if !in_section {
                    self.open(part.line, level - 1)?;
                }
                self.add(Some(severity), text, &[]);
                self.place = Place::Finding(level);
            }
            Heading::List(announced) if !is_detail => {
                self.is_rated |= !is_title || is_above_items;
                let announced = announced.map(|number| (part.line, Severity::Low, number));
                self.announced.extend(announced);
                self.open(part.line, level)?;
                self.section.is_title = is_title;
            }
            Heading::Praise => self.close(Place::Praise(level))?,
            Heading::Summary if !is_detail && !is_title && !self.findings.is_empty() => {
                self.close(Place::Summary)?;
            }
            Heading::Summary | Heading::Review if !is_detail => self.close(Place::Outside)?,
            _ if in_finding => {
                self.is_rated |= is_list_title(&part.text);
                self.hang(std::slice::from_ref(&part.text));
            }
            _ if in_praise => {}
            Heading::Other if let Some(file) = file => {
                if !in_section {
                    self.open(part.line, level)?;
                }
                self.file = Some((level, file.to_owned()));
            }
            _ if is_title => self.close(Place::Outside)?,
            // A section under words that we do not know, or a finding.
            _ => {
                let is_labelled = next.is_some_and(|next| label(&next.text).is_some());
                let is_finding = in_section || level > LINE_LEVEL;
                if !in_section {
                    self.open(part.line, level)?;
                    self.section.severity = is_note_title(text).then_some(Severity::Low);
                }
                if is_none(&part.text) {
                    self.section.says_none = true;
                } else if is_above && (!is_finding || is_labelled) {
                    self.section.unknown_title = Some(text.to_owned());
                } else if is_finding {
                    self.add(None, text, &[]);
                    self.place = Place::Finding(level);
                } else {
                    self.item(part, None, text, &[]);
                }
            }
        }
        Ok(())
    }

    fn list_item(&mut self, part: &Part) {
        let lines = item::lines(&part.text);
        let first = lines[0].as_str();
        let rest = &lines[1..];
        let severities = severity_words(first);
        let is_severity = severities.is_some();
        let above = match self.place {
            Place::Finding(level) if level != LINE_LEVEL && is_remark(first) => {
                self.findings.last()
            }
            _ => None,
        };
        let is_heavier = |severity| above.is_none_or(|above| severity < above.severity);
        let label = label(first).filter(|(severity, _)| !is_severity && is_heavier(*severity));
        let text = label.map_or(first, |(_, text)| text);
        let is_none = !is_severity && rest.is_empty() && is_none(text);
        match self.place {
            Place::Outside | Place::Summary | Place::Praise(_) if let Some(words) = severities => {
                if let (Some(severity), Some(number)) = (words.severities.last(), words.announced) {
                    self.announced.push((part.line, *severity, number));
                }
            }
            _ if label.is_none() && self.praises(item::bullet(&part.text).unwrap_or(first)) => {}
            _ if is_none => self.section.says_none = true,
            _ => self.item(part, label.map(|(severity, _)| severity), text, rest),
        }
    }

    fn row(&mut self, part: &Part) {
        let mut cells = cells(&part.text);
        let columns = part.severity_columns.iter();
        let named = columns
            .filter_map(|column| severity_in(cells.clone().nth(*column)?))
            .min();
        let rated = cells
            .clone()
            .filter_map(severity_in)
            .filter(|_| named.is_none());
        let labels = cells.clone().filter_map(|cell| Some(label(cell)?.0));
        let severity = labels.chain(named).chain(rated).min();
        let is_severity = |cell: &&str| severity_words(cell).is_some();
        let is_text = |cell: &&str| !is_severity(cell) && cell.contains(char::is_alphabetic);
        let mut texts: Vec<&str> = cells.clone().filter(is_text).collect();
        if texts.is_empty() {
            // `High`, and `Must be fixed before merge` in the next cell.
            texts.extend(cells.clone().filter(is_severity).skip(1));
        }
        let is_praise = severity.is_none() && cells.any(|cell| self.praises(cell));
        if !is_praise && !texts.iter().all(|cell| is_none(cell)) {
            self.item(part, severity, &texts.join(CELL_GAP), &[]);
        }
    }

    /// Takes an item of a list, or a row of a table, with the lines below it.
    fn item(&mut self, part: &Part, severity: Option<Severity>, text: &str, rest: &[String]) {
        let stated = only(rest.iter().flat_map(|line| stated_severities(line)));
        let severity = match (severity.or(stated), self.place) {
            // Below a line such as `**Low:** names`.
            (None, Place::Finding(LINE_LEVEL)) if !is_part(text) => {
                self.findings.last().map(|above| above.severity)
            }
            (None, Place::Finding(_)) => {
                self.hang(&[text.to_owned()]);
                return self.hang(rest);
            }
            (None, Place::Praise(_)) => return,
            (None, Place::Summary) if self.repeats(text) => return,
            (severity, _) => severity,
        };
        let is_outside = matches!(self.place, Place::Outside | Place::Summary);
        if part.tag == Tag::TableRow || part.tag == Tag::Item && is_outside {
            self.summary.push(self.findings.len());
        }
        self.add(severity, text, rest);
        self.section.has_items = !matches!(self.place, Place::Praise(_));
    }

    fn paragraph(&mut self, parts: &[Part], at: usize) -> Result<(), Cause> {
        let part = &parts[at];
        let text = part.text.trim();
        let is_above_item = parts.get(at + 1).is_some_and(Part::is_item);
        let is_intro = is_above_item && text.trim_end_matches('*').ends_with(':');
        let is_below_item = parts[..at].last().is_some_and(Part::is_item);
        let in_section = self.place == Place::Section;
        let stated = part.stated();
        let mut lines = item::lines(text);
        if stated.is_some() && !matches!(self.place, Place::Finding(_)) {
            let is_severity = |line: &String| stated_severity(line).is_some();
            // The severity of the paragraph above.
            let is_title = |part: &&Part| part.tag == Tag::Paragraph && part.stated().is_none();
            if is_severity(&lines[0])
                && let Some(title) = parts[..at].last().filter(is_title)
            {
                lines.splice(..0, item::lines(&title.text));
            }
            let text = lines.iter().position(|line| !is_severity(line));
            let first = lines.remove(text.unwrap_or_default());
            self.item(part, stated, &first, &lines);
        } else if self.place == Place::Praise(LINE_LEVEL)
            || matches!(self.place, Place::Praise(_))
                && (is_bold(text) || is_intro && is_below_item)
            || is_intro && in_section && self.section.has_items && self.section.level == LINE_LEVEL
        {
            // `Also:` between two lists, of which the first is that of a line such as `Nits:`.
            self.close(Place::Outside)?;
        } else if self.is_below_finding() {
            let above = self.findings.last().map(|above| above.severity);
            let rated = lines.iter().filter(|line| is_bracketed(line));
            let heaviest = rated.filter_map(|line| Some(label(line)?.0)).min();
            if heaviest.is_some() && heaviest < above {
                return Err(uncounted(part));
            }
            self.hang(&lines);
        } else if in_section && is_none(text) && lines.len() == 1 {
            self.section.says_none = true;
        } else if in_section && self.section.says_none {
            self.section.uncounted.get_or_insert(uncounted(part));
        } else if in_section && !self.section.is_title && !is_intro {
            self.add(None, &lines[0], &lines[1..]);
        } else if stated_severities(text).next().is_some() || text.lines().any(states_finding) {
            // Several findings in one paragraph, or one without a known form.
            return Err(uncounted(part));
        }
        Ok(())
    }

    /// Takes a quotation, code or HTML.
    fn aside(&mut self, part: &Part) -> Result<(), Cause> {
        let lines = item::lines(&part.text);
        let in_section = self.place == Place::Section;
        let has_findings = in_section && self.findings.len() > self.section.before;
        let is_detail = has_findings || self.is_below_finding();
        let is_comment = part.text.trim_start().starts_with("<!--");
        if lines[0].is_empty() || is_comment && !is_detail {
            return Ok(());
        }
        let is_code = matches!(part.tag, Tag::CodeBlock(_));
        let mut quoted = (part.text.lines()).map(|line| line.trim_start_matches(['>', ' ', '\t']));
        let has_items = if is_detail {
            // A list of findings is no detail, unless it is in code.
            !part.is_source() && quoted.any(is_rated_item)
        } else {
            !(in_section && is_code) && quoted.any(is_like_finding)
        };
        if has_items || part.is_refused() && (is_code || !is_detail) {
            return Err(uncounted(part));
        }
        if is_detail {
            self.hang(&lines);
        } else if in_section {
            self.section.uncounted = Some(uncounted(part));
        }
        Ok(())
    }

    fn open(&mut self, line: usize, level: u8) -> Result<(), Cause> {
        self.close(Place::Section)?;
        self.section = Section {
            line,
            level,
            before: self.findings.len(),
            ..Section::default()
        };
        Ok(())
    }

    /// Ends the section, the finding and the file of this level or a deeper one.
    fn leave(&mut self, level: u8) -> Result<(), Cause> {
        if self.section.level >= level {
            self.close(Place::Outside)?;
        } else if matches!(self.place, Place::Finding(of) if of >= level) {
            self.place = Place::Section;
        }
        self.file.take_if(|(of, _)| *of >= level);
        Ok(())
    }

    /// Ends the open section, and continues in another place.
    fn close(&mut self, place: Place) -> Result<(), Cause> {
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
        if found < section.announced {
            return Err(missing(section.line));
        }
        Ok(())
    }

    /// Returns whether text that is no item belongs to the last finding.
    fn is_below_finding(&self) -> bool {
        self.section.has_items || matches!(self.place, Place::Finding(_))
    }

    /// Adds a finding with the heavier severity of its own and its section; without any it is high,
    /// but low in a summary.
    fn add(&mut self, severity: Option<Severity>, text: &str, rest: &[String]) {
        self.is_rated |= severity.is_some();
        let heavier = self.section.severity.into_iter().chain(severity).min();
        self.section.uncounted.take_if(|_| !self.section.says_none);
        let usual = match self.place {
            Place::Summary => Severity::Low,
            _ => Severity::High,
        };
        let mut finding = item::finding(heavier.unwrap_or(usual), text);
        finding.file = (finding.file).or_else(|| Some(self.file.as_ref()?.1.clone()));
        self.findings.push(finding);
        self.hang(rest);
        let title = self.section.unknown_title.clone();
        self.hang(title.as_slice());
    }

    /// Returns whether an item or a cell praises, in a place without a severity.
    fn praises(&self, text: &str) -> bool {
        let is_rated = self.section.severity.is_some() || matches!(self.place, Place::Finding(_));
        let mut lines = text.lines().map(str::trim_start);
        !is_rated && is_praise(text) && !lines.any(is_like_finding)
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
        text.split('#').skip(1).any(is_finding)
    }
}

fn missing(line: usize) -> Cause {
    Cause::not_a_verdict(&format!(
        "line {line} announces findings that do not follow"
    ))
}

fn uncounted(part: &Part) -> Cause {
    let line = part.line;
    let text = text::one_line(&part.text, MAX_QUOTE_CHARS);
    let problem = format!("line {line} is not counted: no severity is known for ‘{text}’");
    Cause::not_a_verdict(&problem)
}

#[cfg(test)]
mod tests;
