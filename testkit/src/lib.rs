//! Tests of any machine: [`Kit`] takes a machine file and the program that was built from it, and
//! runs the program as users, agents and the client do, as a process.
//!
//! ```no_run
//! # fn a_test() -> Result<(), claudex_testkit::Failure> {
//! let report = claudex_testkit::Kit::new("machine.toml", "target/debug/release-train").quick()?;
//! println!("{report}");
//! # Ok(())
//! # }
//! ```
//! In a test of your crate the program is `env!("CARGO_BIN_EXE_release-train")`. A [`Report`] lists
//! the attempts and the unreached phases, a [`Failure`] the broken promise and the steps to it.

mod journal;
mod kit;
pub mod pairs;
mod project;
mod promises;
mod walk;

pub use kit::{Failure, Kit, Report};
pub use project::{Output, Project, SESSION, as_agent, has};
