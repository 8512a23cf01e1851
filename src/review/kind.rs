//! What kind of text a review reads.

/// Says what kind of text is under review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A document, such as a plan.
    Document,
    /// Changes of a work tree, as a unified diff.
    Diff,
}
