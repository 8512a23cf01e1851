//! Claude Code's hook protocol: one JSON value in, at most one out.
//!
//! The formats are those of the client, measured on 2.1.330. The room knows no loop: what a stop means is decided above.

pub mod answers;
pub mod decision;
pub mod input;
pub mod json;
pub mod prompt;

pub use decision::Decision;
pub use input::Input;
