//! The reasons for which a round has no evidence, in words that say what to do.

use std::io;

use crate::machine::{Refusal, Requirement};
use crate::review::findings::Counts;

/// The reason for which there is no evidence.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// There is no review of this round that counts.
    #[error("{why}:\n    {review}")]
    Review {
        /// The state of the review, and what to do.
        why: String,
        /// The command that reviews the round.
        review: String,
    },
    /// The subject has changed.
    #[error(
        "{subject} was changed after the review of round {round}; end your turn, and the next round reviews it"
    )]
    Changed {
        /// The subject.
        subject: String,
        /// The round.
        round: u64,
    },
    /// Material findings are open.
    #[error(
        "findings are open ({counts}) and what was reviewed is unchanged; deal with them and end your turn, or say why not: \
         --rejecting \"<why>\""
    )]
    Open {
        /// Their number.
        counts: Counts,
    },
    /// The subject is too long for one review.
    #[error(
        "{what}; this cannot be rejected: deal with it and end your turn, and the next round reviews it"
    )]
    Unreviewed {
        /// The finding that names the lines.
        what: String,
    },
    /// The phase has no review.
    #[error("this phase has no review that could show it")]
    NoReview,
    /// The system refused.
    #[error("could not read it: {0}")]
    Unreadable(#[from] io::Error),
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
