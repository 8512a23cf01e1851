//! `ask`: a stop sees no answer. Answers are taken when they are given, by the hook of the client's dialog or by a verb.

use super::Observed;
use crate::machine::{Raw, Refusal};

/// What `ask` sees.
#[derive(Debug)]
pub enum AskSeen {
    /// The loop is still here, so nobody has answered.
    Unanswered,
}

/// Nothing to look at: an answer would have moved the loop on.
///
/// # Errors
/// None; the signature is that of every behaviour.
pub fn ask(_raw: &Raw) -> Result<Observed<AskSeen>, Refusal> {
    Ok(AskSeen::Unanswered.into())
}
