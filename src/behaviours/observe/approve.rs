//! `approve`: nothing to look at; the transition lets the turn end.

use super::Observed;
use crate::machine::{Raw, Refusal};

/// What `approve` sees.
#[derive(Debug)]
pub enum ApproveSeen {
    /// Always.
    Then,
}

/// Nothing to look at.
///
/// # Errors
/// None; the signature is that of every behaviour.
pub fn approve(_raw: &Raw) -> Result<Observed<ApproveSeen>, Refusal> {
    Ok(ApproveSeen::Then.into())
}
