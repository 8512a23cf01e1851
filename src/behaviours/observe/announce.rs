//! `announce`: nothing to look at; the transition blocks with its words.

use super::Observed;
use crate::machine::{Raw, Refusal};

/// What `announce` sees.
#[derive(Debug)]
pub enum AnnounceSeen {
    /// Always.
    Then,
}

/// Nothing to look at.
///
/// # Errors
/// None; the signature is that of every behaviour.
pub fn announce(_raw: &Raw) -> Result<Observed<AnnounceSeen>, Refusal> {
    Ok(AnnounceSeen::Then.into())
}
