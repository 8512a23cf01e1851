//! The promises that are tested behind a walk, each with a function that tries to break it.

pub(crate) mod crowd;
pub(crate) mod input;
pub(crate) mod kills;
pub(crate) mod plugin;
pub(crate) mod refusals;
