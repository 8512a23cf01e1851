//! Tests of any machine: [`Kit`] takes a machine file and the program that was built from it, and drives the program as
//! users, agents and the client do, as a process.
//!
//! ```no_run
//! # fn a_test() -> Result<(), claudex_testkit::Failure> {
//! let report = claudex_testkit::Kit::new("machine.toml", "target/debug/release-train").quick()?;
//! println!("{report}");
//! # Ok(())
//! # }
//! ```
//! In a test of your crate the program is `env!("CARGO_BIN_EXE_release-train")`. A [`Report`] lists the attempts and the
//! phases that were not reached. A [`Failure`] names the broken promise and the steps that led there.

mod journal;
mod kit;
pub mod pairs;
mod project;
mod promises;
mod walk;

pub use kit::{Failure, Kit, Report, Suite};
pub use project::{Output, Project, SESSION, as_agent, has};
