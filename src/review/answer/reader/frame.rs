//! A heading or an item that is open, and its meaning for what is below.

use crate::review::findings::Severity;

/// The meaning of what the reader is below.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing but a title. Prose is ignored.
    #[default]
    Outside,
    /// A heading of findings. Text in front of its items is a finding, too.
    Section,
    /// The finding at [`Frame::before`]. Everything without a severity of its own is its detail.
    Finding,
    /// Praise. Only what has a severity is a finding.
    Praise,
    /// A heading such as `Summary` behind findings. An item without a severity is low.
    Summary,
}

/// A heading or an item, as long as the reader is below it.
#[derive(Debug, Default, Clone)]
pub(super) struct Frame {
    pub(super) line: usize,
    pub(super) level: usize,
    pub(super) place: Place,
    /// The severity of the finding, or of the items below, if one is known.
    pub(super) severity: Option<Severity>,
    /// The number of findings that the heading announces.
    pub(super) announced: usize,
    /// The number of findings before it.
    pub(super) before: usize,
    pub(super) says_none: bool,
    /// Whether text that is no item belongs to the last finding.
    pub(super) has_items: bool,
    /// The heading, if it has unknown words. It may be the problem: each item has it as a detail,
    /// and without items it is a finding.
    pub(super) title: Option<String>,
    /// Whether a finding has the title as a detail.
    pub(super) is_told: bool,
    /// The file that it names for the findings below.
    pub(super) file: Option<String>,
}
