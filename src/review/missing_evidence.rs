//! The reasons for which a round has no evidence, in words that say what to do.

use std::io;

use crate::machine::{Refusal, Requirement};
use crate::review::findings::Counts;

/// The reason for which there is no evidence.
#[derive(Debug, derive_more::Display, derive_more::From)]
pub enum Missing {
    /// There is no review of this round that counts.
    #[display("{why}:\n    {review}")]
    Review {
        /// The state of the review, and what to do.
        why: String,
        /// The command that reviews the round.
        review: String,
    },
    /// The subject has changed.
    #[display(
        "{subject} was changed after the review of round {round}; end your turn, and the next round reviews it"
    )]
    Changed {
        /// The subject.
        subject: String,
        /// The round.
        round: u64,
    },
    /// Material findings are open.
    #[display(
        "findings are open ({counts}) and what was reviewed is unchanged; deal with them and end your turn, or say why not: \
         --rejecting \"<why>\""
    )]
    Open {
        /// Their number.
        counts: Counts,
    },
    /// The subject is too long for one review.
    #[display(
        "{what}; this cannot be rejected: deal with it and end your turn, and the next round reviews it"
    )]
    Unreviewed {
        /// The finding that names the lines.
        what: String,
    },
    /// The phase has no review.
    #[display("this phase has no review that could show it")]
    NoReview,
    /// The system refused.
    #[display("could not read it: {_0}")]
    #[from]
    Unreadable(io::Error),
}

impl Missing {
    /// Converts it to the refusal of a transition.
    pub fn refusal(self, transition: &'static str, requirement: Requirement) -> Refusal {
        Refusal::Evidence {
            transition,
            requirement,
            problem: self.to_string(),
        }
    }
}
