//! The meaning of the headings and items above a block.

use crate::review::answer::blocks::Block;
use crate::review::answer::item;
use crate::review::findings::{MAX_FINDING_CHARS, Severity};
use crate::text;

/// The kind of part that a block is in.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing but a title. Prose is ignored.
    #[default]
    Outside,
    /// A section of findings. Text in front of its items is a finding, too.
    Section,
    /// The finding with this index. Everything without a severity of its own is its detail.
    Finding(usize),
    /// Praise. Only what has a severity is a finding.
    Praise,
    /// A heading such as `Summary` behind findings. An item without a severity is low.
    Summary,
}

/// The state of the reader directly below a heading or an item.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) place: Place,
    /// The level of the heading or the item.
    pub(super) level: usize,
    /// The severity of the section.
    pub(super) severity: Option<Severity>,
    /// The number of findings that the heading announces.
    pub(super) announced: usize,
    /// The titles of the sections with unknown words, innermost last. A title may be the problem:
    /// each finding has it as a detail, and without any it is a finding itself.
    pub(super) titles: Vec<String>,
    /// Whether a finding of the section has the titles.
    pub(super) has_findings: bool,
    /// The file that a heading names for the findings below.
    pub(super) file: Option<String>,
    /// Whether the title announces findings. A text that begins with a sentence in bold is one.
    pub(super) lists_findings: bool,
    /// Whether a word for none is directly below.
    pub(super) says_none: bool,
    /// Whether text that is no item belongs to the last finding.
    pub(super) has_items: bool,
    /// Whether the severity of the finding is not known yet.
    pub(super) is_unrated: bool,
}

impl Context {
    /// Returns the context below a block. Only a section in a section keeps the titles, and praise
    /// and summaries have no severity.
    pub(super) fn below(&self, block: &Block, place: Place) -> Self {
        let is_section = place == Place::Section;
        let is_rated = is_section || matches!(place, Place::Finding(_));
        let titles = self.titles.iter().filter(|_| is_section);
        Self {
            place,
            level: block.level,
            severity: self.severity.filter(|_| is_rated),
            titles: titles.cloned().collect(),
            file: self.file.clone(),
            ..Self::default()
        }
    }

    /// Sets the title of a section, which may be a file's name.
    pub(super) fn set_title(&mut self, title: &str) {
        match item::named_file(title) {
            Some(file) => self.file = Some(file.to_owned()),
            None => self.titles.push(text::one_line(title, MAX_FINDING_CHARS)),
        }
    }

    /// Returns whether it is neither in a section nor in a part with another meaning.
    pub(super) fn is_outside(&self) -> bool {
        matches!(self.place, Place::Outside | Place::Summary)
    }
}
