//! A check of the catalogue, and what it finds.

use super::plan::Plan;
use super::sentence::Quote;
use crate::{PointOfView, Severity};

/// Holds what one check found.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) severity: Severity,
    pub(super) line: u32,
    pub(super) what: String,
    pub(super) add: &'static str,
    /// The places in the plan that it is about.
    pub(super) quotes: Vec<Quote>,
}

/// One entry of the catalogue.
pub(super) struct Check {
    pub(super) id: &'static str,
    /// Points of view that run it.
    pub(super) views: &'static [PointOfView],
    pub(super) subject: Subject,
    /// The heaviest severity it gives.
    pub(super) severity: Severity,
    pub(super) run: Rule,
}

/// What a finding is about; two of one subject on one line would say the same twice, or contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Content,
    Goal,
    Steps,
    Acceptance,
    Tests,
    Wording,
    Screens,
    Callers,
    Rights,
    Input,
    Secrets,
    StoredData,
    Concurrency,
    Privacy,
    Release,
    Calls,
    Watching,
}

pub(super) enum Rule {
    /// Relevant words without words that answer them.
    Question(Question),
    /// Anything else.
    Own(fn(&Plan) -> Option<Hit>),
}

/// What makes a question relevant, what answers it, and what to say if nothing does.
pub(super) struct Question {
    /// Patterns of which one must be found in what the plan does.
    pub(super) relevant: &'static [&'static str],
    /// Patterns of which one must be found as well, anywhere; empty for none.
    pub(super) also: &'static [&'static str],
    /// Patterns of which one is an answer. "No retries are needed, because ..." is one, too.
    pub(super) answered: &'static [&'static str],
    /// Names that are an answer wherever they stand: in a heading, in code, alone in a cell.
    pub(super) named: &'static [&'static str],
    pub(super) what: &'static str,
    pub(super) add: &'static str,
}
