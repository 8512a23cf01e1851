//! The findings of a Markdown answer: every item is counted, or the whole answer is unreadable.
//!
//! The reader keeps a stack of open sections, findings and praise. Each block first closes those of
//! its level or a deeper one. A block that names a severity is a finding. Any other item is a
//! finding with the severity of its section, and other text is a detail of the finding above. If
//! there is no section, an item is high, provided that anything in the answer has a severity.

mod frame;
mod prose;

use self::frame::{Frame, Place};
use super::blocks::{Block, ITEM_LEVEL, Kind, LINE_LEVEL, TITLE_LEVEL, blocks, cells};
use super::repeats::{CELL_GAP, names_finding, without_repeats};
use super::severity::{
    is_bracketed, is_numbered, is_part, is_rated_below, is_title_label, label, severity_in,
    severity_words, stated_severities, stated_severity,
};
use super::titles::{Title, is_clean, is_none, is_praise, section_words};
use super::{Cause, item};
use crate::review::findings::{Findings, Severity};

/// The deepest level of a title. A deeper heading below a finding is a detail.
const MAX_TITLE_LEVEL: usize = 2;

/// Reads a text. Returns `None` if it has no verdict. `is_rated`: a severity is outside of it.
///
/// # Errors
/// Returns an error if a part cannot be counted, or fewer findings follow than are announced.
pub(super) fn read(answer: &str, is_rated: bool) -> Result<Option<Findings>, Cause> {
    let blocks = blocks(answer);
    let is_counted = |block: &Block| block.kind == Kind::Heading || block.is_item();
    let title = title(&blocks);
    let end = blocks.iter().rposition(is_counted);
    let mut reader = Reader {
        frames: vec![Frame::default()],
        is_rated,
        ..Reader::default()
    };
    for (at, block) in blocks.iter().enumerate() {
        reader.leave(block.level)?;
        let next = blocks.get(at + 1);
        let below = next.filter(|next| next.level > block.level);
        match block.kind {
            Kind::Heading | Kind::Item => reader.entry(block, below, title == Some(at)),
            Kind::Row(ref columns) => reader.row(block, columns),
            Kind::Text => reader.paragraph(block, end.is_none_or(|end| at > end))?,
            Kind::Aside => reader.aside(block, next)?,
        }
    }
    reader.leave(0)?;
    let findings = reader.findings;
    for (line, severity, announced) in reader.tallies {
        let found = findings.iter().filter(|one| one.severity <= severity);
        if found.count() < announced {
            return Err(missing(line));
        }
    }
    if findings.is_empty() {
        return Ok(is_clean(&blocks)?.then(Findings::new));
    }
    let repeats = reader.summary;
    Ok((reader.is_rated).then(|| without_repeats(findings, &repeats)))
}

/// Returns the index of the answer's title: its first heading, if it names a review, or if the
/// answer begins with it and all others are deeper.
fn title(blocks: &[Block]) -> Option<usize> {
    let first = blocks.iter().position(|block| block.kind != Kind::Text)?;
    let (title, below) = blocks[first..].split_first()?;
    let is_deeper = |block: &Block| block.kind != Kind::Heading || block.level > title.level;
    let is_above = first == 0 && title.level <= MAX_TITLE_LEVEL && below.iter().all(is_deeper);
    let is_title = is_above || Title::new(&title.text) == Title::Review;
    (title.kind == Kind::Heading && is_title).then_some(first)
}

#[derive(Debug, Default)]
struct Reader {
    /// The open headings and items, outermost first. The first frame is the answer.
    frames: Vec<Frame>,
    findings: Findings,
    /// The lines that count findings of the whole answer, such as `Findings (3)` or `High: 2`, each
    /// with the lowest severity and the number.
    tallies: Vec<(usize, Severity, usize)>,
    /// The indices of findings that may repeat another one: table rows, items outside of sections.
    summary: Vec<usize>,
    /// Whether anything in the answer has a severity, or is a list of findings.
    is_rated: bool,
}

impl Reader {
    /// Takes a heading or an item, with the block that is directly below it.
    fn entry(&mut self, block: &Block, below: Option<&Block>, is_title: bool) {
        let text = block.text.as_str();
        let is_heading = block.kind == Kind::Heading;
        let in_finding = self.top().place == Place::Finding;
        let words = section_words(text);
        if in_finding && stated_severity(text).is_some() {
            self.hang(self.top().before, &[text.to_owned()]);
        } else if let Some(words) = words.as_ref().filter(|_| is_heading || below.is_some()) {
            self.is_rated = true;
            let frame = self.open(block, Place::Section);
            frame.severity = words.severities.first().copied();
            frame.announced = words.announced.unwrap_or_default();
            frame.says_none = words.announced == Some(0);
        } else if let Some(words) = words {
            match (self.top().place, words.announced) {
                (_, Some(0)) => self.top_mut().says_none = true,
                (Place::Outside | Place::Summary, Some(announced)) => {
                    let severity = words.severities.last().copied().unwrap_or_default();
                    self.tallies.push((block.line, severity, announced));
                }
                _ => self.item(block, None, None, text),
            }
        } else if let Some((severity, rest)) = label(text) {
            self.rated(block, below, severity, rest);
        } else if in_finding && (!is_heading || block.level > MAX_TITLE_LEVEL) {
            self.hang(self.top().before, &[text.to_owned()]);
        } else if is_heading {
            self.heading(block, below, is_title);
        } else {
            self.item(block, below, None, text);
        }
    }

    /// Takes a heading or an item with a severity.
    fn rated(&mut self, block: &Block, below: Option<&Block>, own: Severity, rest: &str) {
        let text = &block.text;
        let top = self.top();
        let above = self.findings.get(top.before).map(|above| above.severity);
        let above = above.filter(|_| top.place == Place::Finding && block.level >= LINE_LEVEL);
        let is_above_items = below.is_some_and(is_plain_item);
        let is_large = block.level <= MAX_TITLE_LEVEL || block.level == LINE_LEVEL;
        if above.is_some_and(|above| !is_rated_below(text, above)) {
            self.hang(top.before, &[text.to_owned()]);
        } else if is_above_items && is_large && is_title_label(text) {
            self.is_rated = true;
            let severity = self.section_severity();
            let frame = self.open(block, Place::Section);
            frame.severity = severity.into_iter().chain([own]).min();
            frame.title = Some(rest.to_owned());
        } else {
            self.add_entry(block, Some(own), rest);
        }
    }

    /// Takes a heading without a severity.
    fn heading(&mut self, block: &Block, below: Option<&Block>, is_title: bool) {
        let text = &block.text;
        let top = self.top();
        let place = top.place;
        let is_line = block.level == TITLE_LEVEL && !is_numbered(text);
        let is_above_item = below.is_some_and(Block::is_item);
        // `Also:` behind a list may be about something worse.
        let is_other = is_line && text.ends_with(':') && top.has_items;
        let severity = self.section_severity().filter(|_| !is_other);
        let is_below_line = block.level == TITLE_LEVEL && top.level == LINE_LEVEL;
        let ends_praise = is_line && is_above_item || is_below_line;
        let is_file = item::named_file(text).is_some();
        let is_group = is_group(block, below, place);
        match Title::new(text) {
            Title::List => {
                self.is_rated |= !is_title || is_above_item;
                let number = text.rsplit_once('(').unwrap_or_default().1;
                let number = number.trim_matches(['*', ')', ':']).parse().ok();
                self.tallies
                    .extend(number.map(|number| (block.line, Severity::Low, number)));
                let place = [Place::Section, Place::Outside][usize::from(is_title)];
                self.open(block, place).severity = severity;
            }
            Title::Praise => drop(self.open(block, Place::Praise)),
            Title::Summary if !is_title && !self.findings.is_empty() => {
                self.open(block, Place::Summary);
            }
            Title::Summary => drop(self.open(block, Place::Outside)),
            _ if place == Place::Finding => self.hang(self.top().before, &[text.to_owned()]),
            // A line above a list ends the praise.
            _ if place == Place::Praise && !ends_praise => {}
            _ if is_title && !is_file => drop(self.open(block, Place::Outside)),
            // `Here they are:`
            _ if is_line && is_above_item && place == Place::Summary => {}
            _ if is_none(text) => {
                let frame = self.open(block, Place::Section);
                frame.severity = severity;
                frame.says_none = true;
            }
            // `These are my findings:`
            _ if is_line && place == Place::Outside && self.findings.is_empty() && is_group => {
                self.open(block, place);
            }
            Title::Notes if is_group => {
                self.open(block, Place::Section).severity = severity.or(Some(Severity::Low));
            }
            _ if is_file || is_group => self.open_group(block, severity),
            _ => self.add_entry(block, None, text),
        }
    }

    /// Takes an item or a row.
    fn item(&mut self, block: &Block, below: Option<&Block>, own: Option<Severity>, text: &str) {
        let top = self.top();
        let severity = top.severity;
        match top.place {
            Place::Finding if own.is_none() => self.hang(top.before, &[text.to_owned()]),
            Place::Praise if own.is_none() => {}
            _ if below.is_none() && is_none(text) => self.top_mut().says_none = true,
            _ if own.or(severity).is_none() && is_praise(text) => {
                self.open(block, Place::Praise);
            }
            Place::Summary if own.is_none() && names_finding(text, self.findings.len()) => {
                self.open(block, Place::Praise);
            }
            _ if is_group(block, below, Place::Section) => self.open_group(block, severity),
            _ => self.add_entry(block, own, text),
        }
    }

    fn row(&mut self, block: &Block, columns: &[usize]) {
        let cells: Vec<&str> = cells(&block.text).collect();
        let named = columns.iter();
        let named = named.filter_map(|at| severity_in(cells.get(*at)?)).min();
        let rated = cells.iter().filter_map(|cell| severity_in(cell));
        let rated = rated.filter(|_| named.is_none());
        let labels = cells.iter().filter_map(|cell| Some(label(cell)?.0));
        let own = labels.chain(named).chain(rated).min();
        let is_severity = |cell: &&str| severity_words(cell).is_some();
        let (severities, mut texts): (Vec<&str>, Vec<&str>) =
            cells.iter().partition(|cell| is_severity(cell));
        texts.retain(|cell| cell.contains(char::is_alphabetic));
        if texts.is_empty() {
            // `High`, and `Must be fixed before merge` in the next cell.
            texts.extend(severities.iter().skip(1));
        }
        let is_praise =
            own.or(self.top().severity).is_none() && cells.iter().any(|cell| is_praise(cell));
        if !is_praise && !texts.iter().all(|cell| is_none(cell)) {
            self.item(block, None, own, &texts.join(CELL_GAP));
        }
    }

    fn top(&self) -> &Frame {
        self.frames.last().expect("the answer's frame is open")
    }

    fn top_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the answer's frame is open")
    }

    /// Returns the severity of the innermost section around.
    fn section_severity(&self) -> Option<Severity> {
        let mut around = self.frames.iter().rev();
        around.find(|frame| frame.place != Place::Finding)?.severity
    }

    /// Continues below a block.
    fn open(&mut self, block: &Block, place: Place) -> &mut Frame {
        self.frames.push(Frame {
            line: block.line,
            level: block.level,
            place,
            before: self.findings.len(),
            file: self.top().file.clone(),
            ..Frame::default()
        });
        self.top_mut()
    }

    /// Continues below the title of a group of findings, which may be a file's name.
    fn open_group(&mut self, block: &Block, severity: Option<Severity>) {
        let frame = self.open(block, Place::Section);
        frame.severity = severity;
        match item::named_file(&block.text) {
            Some(file) => frame.file = Some(file.to_owned()),
            None => frame.title = Some(block.text.clone()),
        }
    }

    /// Ends what has this level or a deeper one.
    fn leave(&mut self, level: usize) -> Result<(), Cause> {
        while let Some(top) = self.frames.last_mut().filter(|top| top.level >= level) {
            let is_told = top.is_told || top.says_none;
            let title = top.title.take().filter(|_| !is_told);
            if let Some(title) = title {
                self.add(None, &title);
            }
            if let Some(top) = self.frames.pop()
                && self.findings.len() - top.before < top.announced
            {
                return Err(missing(top.line));
            }
        }
        Ok(())
    }

    /// Adds a finding with the heavier severity of its own and its section. Without any it is high,
    /// but low in a summary. Returns the severity, if one is known.
    fn add(&mut self, own: Option<Severity>, text: &str) -> Option<Severity> {
        self.is_rated |= own.is_some();
        let severity = self.section_severity().into_iter().chain(own).min();
        let top = self.top();
        let usual = match top.place {
            Place::Summary => Severity::Low,
            _ => Severity::High,
        };
        let mut finding = item::finding(severity.unwrap_or(usual), text);
        finding.file = finding.file.or_else(|| top.file.clone());
        self.findings.push(finding);
        let mut titles = Vec::new();
        let around = self.frames.iter_mut().rev();
        for section in around.take_while(|frame| frame.place == Place::Section) {
            section.is_told = true;
            titles.extend(section.title.clone());
        }
        self.hang(self.findings.len() - 1, &titles);
        severity
    }

    /// Adds a finding, and continues below it.
    fn add_entry(&mut self, block: &Block, own: Option<Severity>, text: &str) {
        let is_outside = matches!(self.top().place, Place::Outside | Place::Summary);
        if matches!(block.kind, Kind::Row(_)) || block.kind == Kind::Item && is_outside {
            self.summary.push(self.findings.len());
        }
        self.top_mut().has_items |= block.is_item();
        let severity = self.add(own, text);
        let frame = self.open(block, Place::Finding);
        frame.before -= 1;
        frame.severity = severity;
    }

    /// Adds lines to a finding. One may state its severity. A heavier one counts in any case.
    fn hang(&mut self, finding: usize, lines: &[String]) {
        let stated = lines.iter().flat_map(|line| stated_severities(line)).min();
        let bracketed = lines.iter().filter(|line| is_bracketed(line));
        let rated = bracketed.filter_map(|line| Some(label(line)?.0));
        let heaviest = rated.chain(stated).min();
        let own = &mut self.findings[finding];
        let top = self.frames.last_mut();
        let open = top.filter(|top| top.place == Place::Finding && top.severity.is_none());
        if let (Some(top), Some(stated)) = (open, stated) {
            self.is_rated = true;
            top.severity = Some(stated);
            own.severity = stated;
        }
        own.severity = heaviest.unwrap_or(own.severity).min(own.severity);
        lines.iter().for_each(|line| item::add_detail(own, line));
    }
}

/// Returns whether a heading or an item with unknown words is the title of the findings below, and
/// no finding itself.
fn is_group(block: &Block, below: Option<&Block>, place: Place) -> bool {
    let Some(below) = below else {
        return false;
    };
    let text = below.text.as_str();
    let is_outside = place != Place::Section;
    let has_number = block.level == TITLE_LEVEL && is_numbered(&block.text);
    let is_line = block.level == TITLE_LEVEL && !has_number;
    match below.kind {
        Kind::Row(_) => true,
        Kind::Heading => is_outside && below.level < LINE_LEVEL || label(text).is_some(),
        Kind::Item if is_plain_item(below) => is_outside && !has_number || is_line,
        Kind::Item if stated_severity(text).is_some() => false,
        Kind::Item if severity_words(text).is_some() => is_line,
        Kind::Item if label(text).is_some() => is_rated_below(text, Severity::Low),
        Kind::Item | Kind::Text => block.level < ITEM_LEVEL && !has_number && is_none(text),
        Kind::Aside => false,
    }
}

/// Returns whether a block is an item without a severity that is no part of a finding.
fn is_plain_item(block: &Block) -> bool {
    let text = &block.text;
    let is_rated = severity_words(text).is_some() || label(text).is_some();
    block.kind == Kind::Item && !is_rated && !is_part(text) && !is_none(text)
}

fn missing(line: usize) -> Cause {
    Cause::not_a_verdict(&format!(
        "line {line} announces findings that do not follow"
    ))
}

#[cfg(test)]
mod tests;
