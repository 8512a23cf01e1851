//! Claude Code's hook protocol: one JSON value in, at most one out. Measured on 2.1.330.

pub mod answers;
pub mod decision;
pub mod input;
pub mod prompt;
pub mod session_records;
pub mod waits;

/// The oldest version of Claude Code that loops are tested with.
pub const OLDEST_CLIENT: [u64; 3] = [2, 1, 198];

pub use decision::{Action, Decision, HookOutput, Permission};
pub use input::Input;
