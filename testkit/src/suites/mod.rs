//! The six promises, each with a function that tries to break it behind a walk.

pub(crate) mod crowd;
pub(crate) mod files;
pub(crate) mod input;
pub(crate) mod kills;
pub(crate) mod plugin;
pub(crate) mod refusals;
