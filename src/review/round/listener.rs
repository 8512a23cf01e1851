//! What whoever watches a round is told.

use std::ops::ControlFlow;

/// Tells whoever watches a round what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundEvent<'a> {
    /// The run began.
    Began {
        /// The reviewer's name.
        reviewer: &'a str,
    },
    /// Another process runs this round's review: it is followed.
    Attached,
    /// A line of progress.
    Line(&'a str),
    /// A line that the reviewer wrote; there may be many.
    Reviewer(&'a str),
    /// Nothing new; asked several times a second.
    Tick,
}

/// Is told how it goes; on `Break` the review is given up.
pub type Listener<'l> = dyn FnMut(RoundEvent<'_>) -> ControlFlow<()> + 'l;
