//! What a loop of any machine needs to be a program of its own: command line, hooks, and tools on machine files.
//!
//! It knows no phase by name. Our own binary (`src/cli/`) adds what only the plan loop has.

pub mod exit;
pub mod machine;
pub mod out;
