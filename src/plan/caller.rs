//! Who calls: as for any machine, with the name that `run` has as a session.

pub use crate::app::caller::{Caller, UNKNOWN};

/// What `session_id` holds in a loop that `run` drives: no client has such a session, so no hook takes the loop over.
pub const RUN: &str = "run";
