//! The findings of a Markdown answer: every item is counted, or the whole answer is unreadable.
//!
//! The reader walks the tree of blocks. The headings and items above a block are its [`Context`]. A
//! block that names a severity is a finding. Any other item is a finding with the severity of its
//! section, and other text is a detail of the finding above. If there is no section, an item is
//! high, provided that anything in the answer has a severity.

mod context;
mod prose;

use self::context::{Context, Place};
use self::prose::problem;
use super::blocks::{Block, ITEM_LEVEL, Kind, LINE_LEVEL, TITLE_LEVEL, blocks, tree};
use super::repeats::{names_finding, rating_of, without_repeats};
use super::severity::{
    is_bracketed, is_numbered, is_part, is_part_name, is_rated_below, is_title_label, label,
    stated_severities, stated_severity,
};
use super::titles::{Title, is_clean, is_none, is_praise, is_resolved};
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
    let clean = is_clean(&blocks);
    let last_entry = blocks.iter().rfind(|block| block.is_entry());
    let last_line = last_entry.map_or(0, |block| block.line);
    let blocks = tree(blocks);
    let mut reader = Reader {
        title: title(&blocks),
        last_line,
        is_rated,
        ..Reader::default()
    };
    reader.walk(&blocks, &mut Context::default())?;

    let findings = reader.findings;
    for (line, severity, announced) in reader.tallies {
        let found = findings.iter().filter(|one| one.severity <= severity);
        if found.count() < announced {
            return Err(missing(line));
        }
    }
    if findings.is_empty() {
        return Ok(clean?.then(Findings::new));
    }
    Ok((reader.is_rated).then(|| without_repeats(findings, &reader.possible_repeats)))
}

/// Returns the line of the answer's title: a heading above everything, or the first one if it names
/// a review.
fn title(blocks: &[Block]) -> Option<usize> {
    let first = blocks.iter().find(|block| block.kind != Kind::Text)?;
    let is_above = blocks.len() == 1 && first.level <= MAX_TITLE_LEVEL;
    let is_title = is_above || Title::new(&first.text) == Title::Review;
    (first.kind == Kind::Heading && is_title).then_some(first.line)
}

#[derive(Debug, Default)]
struct Reader {
    findings: Findings,
    /// The line of the answer's title.
    title: Option<usize>,
    /// The line of the last heading, item or row.
    last_line: usize,
    /// The lines that count findings of the whole answer, such as `Findings (3)` or `High: 2`, each
    /// with the lowest severity and the number.
    tallies: Vec<(usize, Severity, usize)>,
    /// The indices of findings that may repeat another one: table rows, items outside of sections.
    possible_repeats: Vec<usize>,
    /// Whether anything in the answer has a severity, or is a list of findings.
    is_rated: bool,
}

impl Reader {
    fn walk(&mut self, blocks: &[Block], context: &mut Context) -> Result<(), Cause> {
        for (at, block) in blocks.iter().enumerate() {
            match block.kind {
                Kind::Text => self.paragraph(block, context)?,
                Kind::Aside => self.aside(block, blocks.get(at + 1), context)?,
                Kind::Heading | Kind::Item | Kind::Row(_) => self.entry(block, context)?,
            }
        }
        Ok(())
    }

    /// Reads a heading, an item or a row, and the blocks below it.
    fn entry(&mut self, block: &Block, context: &mut Context) -> Result<(), Cause> {
        let before = self.findings.len();
        let Some(mut inner) = self.open(block, context) else {
            return self.walk(&block.below, context);
        };
        self.walk(&block.below, &mut inner)?;
        let has_title = inner.titles.len() > context.titles.len();
        if has_title && !inner.has_findings && !inner.says_none {
            self.add(None, &inner.titles.pop().unwrap_or_default(), &mut inner);
        }
        if self.findings.len() - before < inner.announced {
            return Err(missing(block.line));
        }
        context.has_findings |= inner.place == Place::Section && inner.has_findings;
        Ok(())
    }

    /// Reads a heading, an item or a row itself. Returns the context below it, if it is a new one.
    fn open(&mut self, block: &Block, context: &mut Context) -> Option<Context> {
        let text = block.text.as_str();
        let title = match block.kind {
            Kind::Row(_) if is_resolved(text) => Title::Other,
            Kind::Row(None) => Title::Other,
            Kind::Row(Some(severity)) => Title::Rated(severity, text),
            _ => Title::new(text),
        };
        let is_heading = block.kind == Kind::Heading;
        let opens_section = is_heading || !block.below.is_empty();
        if let Place::Finding(above) = context.place {
            let is_own = match title {
                _ if stated_severity(text).is_some() => is_row(block),
                Title::Severity(_) => opens_section,
                // A large heading and a row are no remarks about the finding.
                Title::Rated(..) if block.level < LINE_LEVEL || is_row(block) => true,
                Title::Rated(..) => is_rated_below(text, self.findings[above].severity),
                Title::List | Title::Praise | Title::Summary => block.level <= MAX_TITLE_LEVEL,
                _ => false,
            };
            if !is_own {
                self.append(above, &[text], context);
                return None;
            }
        }
        match title {
            _ if is_row(block) && text.is_empty() => None,
            Title::Severity(words) if opens_section => {
                self.is_rated = true;
                let mut section = context.below(block, Place::Section);
                section.severity = Some(words.heaviest);
                section.announced = words.announced.unwrap_or_default();
                section.says_none = words.announced == Some(0);
                Some(section)
            }
            Title::Severity(words)
                if let Some(announced) = words.announced
                    && (announced == 0 || context.is_outside()) =>
            {
                self.tallies.push((block.line, words.lightest, announced));
                context.says_none |= announced == 0;
                None
            }
            Title::Rated(own, rest) if is_title_of_items(block) => {
                self.is_rated = true;
                let mut section = context.below(block, Place::Section);
                section.severity = section.severity.into_iter().chain([own]).min();
                section.set_title(rest);
                Some(section)
            }
            Title::Rated(own, rest) => Some(self.finding(block, Some(own), rest, context)),
            _ if is_heading => self.heading(block, title, context),
            _ => self.item(block, context),
        }
    }

    /// Opens a heading without a severity.
    fn heading(&mut self, block: &Block, title: Title, context: &mut Context) -> Option<Context> {
        let text = block.text.as_str();
        let is_title = self.title == Some(block.line);
        let is_line = block.level == TITLE_LEVEL && !is_numbered(text);
        let is_below_line = block.level == TITLE_LEVEL && context.level == LINE_LEVEL;
        let is_above_item = block.below.first().is_some_and(Block::is_item_or_row);
        let is_first = self.findings.is_empty();
        let is_file = item::named_file(text).is_some();
        let is_group = is_group(block, context.place);
        let mut section = context.below(block, Place::Section);
        // `Also:` behind a list may be about something worse.
        if is_line && text.ends_with(':') && context.has_items {
            section.severity = None;
        }
        if title == Title::List {
            self.is_rated |= !is_title || is_above_item;
            let number = text.split(['(', ')']).nth(1).unwrap_or_default().parse();
            self.tallies
                .extend(number.map(|number| (block.line, Severity::Low, number)));
        }
        let place = match title {
            // `**Recommendation:**` above a list, behind a finding.
            _ if is_line && context.has_items && is_part_name(text) => {
                let last = self.findings.len().checked_sub(1)?;
                self.append(last, &[text], context);
                return Some(context.below(block, Place::Finding(last)));
            }
            // `Finding 1` above `Severity: High`.
            Title::List if is_numbered(text) && !text.contains('(') && is_rated_once(block) => {
                let problem = block.below.iter().find_map(|one| problem(&one.text));
                return Some(self.finding(block, None, problem.unwrap_or(text), context));
            }
            Title::List if is_title => Place::Outside,
            Title::List => return Some(section),
            Title::Praise => Place::Praise,
            Title::Summary if is_first => Place::Outside,
            Title::Summary => Place::Summary,
            // A line above a list ends the praise.
            _ if context.place == Place::Praise && !is_line && !is_below_line => return None,
            _ if is_title && !is_file => Place::Outside,
            Title::None => {
                section.says_none = true;
                return Some(section);
            }
            // `Here they are:`
            _ if is_line && is_above_item && context.place == Place::Summary => return None,
            _ if is_line && is_group && context.place == Place::Outside && is_first => return None,
            Title::Notes if is_group => {
                section.severity = section.severity.or(Some(Severity::Low));
                return Some(section);
            }
            _ if is_file || is_group => {
                section.set_title(text);
                return Some(section);
            }
            _ => {
                let summary = self.possible_repeats.iter().map(|at| &self.findings[*at]);
                let own = rating_of(text, summary);
                return Some(self.finding(block, own, text, context));
            }
        };
        let mut below = context.below(block, place);
        below.lists_findings = title == Title::List;
        Some(below)
    }

    /// Opens an item or a row without a severity that is not below a finding.
    fn item(&mut self, block: &Block, context: &mut Context) -> Option<Context> {
        let text = block.text.as_str();
        let is_summary = context.place == Place::Summary;
        match context.place {
            Place::Praise => None,
            _ if is_resolved(text) => Some(context.below(block, Place::Praise)),
            _ if block.below.is_empty() && is_none(text) => {
                context.says_none = true;
                None
            }
            _ if context.severity.is_none() && is_praise(text)
                || is_summary && names_finding(text, self.findings.len()) =>
            {
                Some(context.below(block, Place::Praise))
            }
            _ if is_group(block, Place::Section) => {
                let mut section = context.below(block, Place::Section);
                section.set_title(text);
                Some(section)
            }
            _ => Some(self.finding(block, None, text, context)),
        }
    }

    /// Adds the finding that a block is. Returns the context of its details.
    fn finding(
        &mut self,
        block: &Block,
        own: Option<Severity>,
        text: &str,
        context: &mut Context,
    ) -> Context {
        if is_row(block) || block.kind == Kind::Item && context.is_outside() {
            self.possible_repeats.push(self.findings.len());
        }
        context.has_items |= block.is_item_or_row();
        self.add(own, text, context);
        let mut below = context.below(block, Place::Finding(self.findings.len() - 1));
        below.is_unrated = own.or(context.severity).is_none();
        below
    }

    /// Adds a finding with the heavier severity of its own and its section. Without any it is high,
    /// but low in a summary.
    fn add(&mut self, own: Option<Severity>, text: &str, context: &mut Context) {
        self.is_rated |= own.is_some();
        let severity = context.severity.into_iter().chain(own).min();
        let usual = match context.place {
            Place::Summary => Severity::Low,
            _ => Severity::High,
        };
        let mut finding = item::finding(severity.unwrap_or(usual), text);
        finding.file = finding.file.or_else(|| context.file.clone());
        self.findings.push(finding);
        context.has_findings = true;
        self.append(self.findings.len() - 1, &context.titles.clone(), context);
    }

    /// Adds lines to a finding. One may state its severity. A heavier one counts in any case.
    fn append(&mut self, finding: usize, lines: &[impl AsRef<str>], context: &mut Context) {
        let lines = lines.iter().map(AsRef::as_ref);
        let stated = lines.clone().flat_map(stated_severities).min();
        let rated = lines.clone().filter(|line| is_bracketed(line));
        let heaviest = rated
            .filter_map(|line| Some(label(line)?.0))
            .chain(stated)
            .min();
        let finding = &mut self.findings[finding];
        if let Some(stated) = stated
            && context.is_unrated
        {
            self.is_rated = true;
            context.is_unrated = false;
            finding.severity = stated;
        }
        finding.severity = heaviest.map_or(finding.severity, |one| one.min(finding.severity));
        lines.for_each(|line| item::add_detail(finding, line));
    }
}

/// Returns whether a heading with a severity is the title of the findings below.
fn is_title_of_items(block: &Block) -> bool {
    let is_large = block.level <= MAX_TITLE_LEVEL || block.level == LINE_LEVEL;
    is_large && block.below.first().is_some_and(is_plain_item) && is_title_label(&block.text)
}

/// Returns whether a heading or an item with unknown words is the title of the findings below, and
/// no finding itself.
fn is_group(block: &Block, place: Place) -> bool {
    let Some(below) = block.below.first() else {
        return false;
    };
    let is_outside = place != Place::Section;
    let has_number = block.level == TITLE_LEVEL && is_numbered(&block.text);
    let is_line = block.level == TITLE_LEVEL && !has_number;
    let text = below.text.as_str();
    match (&below.kind, Title::new(text)) {
        (Kind::Row(_), _) => true,
        (Kind::Aside, _) => false,
        (Kind::Heading, _) => is_outside && below.level < LINE_LEVEL || label(text).is_some(),
        (_, Title::None) => block.level < ITEM_LEVEL && !has_number,
        (Kind::Item, _) if stated_severity(text).is_some() => false,
        (Kind::Item, Title::Severity(_)) => is_line,
        (Kind::Item, Title::Rated(..)) => is_rated_below(text, Severity::Low),
        _ => is_plain_item(below) && (is_outside && !has_number || is_line),
    }
}

/// Returns whether a block is an item without a severity that is no part of a finding.
fn is_plain_item(block: &Block) -> bool {
    let title = Title::new(&block.text);
    let is_other = matches!(title, Title::Severity(_) | Title::Rated(..) | Title::None);
    block.kind == Kind::Item && !is_other && !is_part(&block.text)
}

/// Returns whether one block directly below states a severity: `- **Severity:** High`.
fn is_rated_once(block: &Block) -> bool {
    let below = block.below.iter();
    below.flat_map(|one| stated_severities(&one.text)).count() == 1
}

fn is_row(block: &Block) -> bool {
    matches!(block.kind, Kind::Row(_))
}

fn missing(line: usize) -> Cause {
    Cause::not_a_verdict(&format!(
        "line {line} announces findings that do not follow"
    ))
}

#[cfg(test)]
mod tests;
