//! Tests of any machine: [`Kit`] is given a machine file and the program that was built from it, and drives the program as people,
//! agents and the client do, as a process.
//!
//! ```no_run
//! # fn a_test() -> Result<(), claudex_testkit::Failures> {
//! let report = claudex_testkit::Kit::new("machine.toml", "target/debug/errand").quick()?;
//! assert_eq!(report.unreached, []);
//! # Ok(())
//! # }
//! ```
//! In a test of your crate the program is `env!("CARGO_BIN_EXE_errand")`. A [`Report`] says what was tried and how much of it;
//! [`Failures`] say what went wrong, where, and what to do.

mod error;
pub mod folders;
mod kit;
pub mod pairs;
mod project;
mod report;
mod runs;
mod said;
pub mod search;
mod suites;
mod text;
mod walk;

pub use claudex_build::model::Actor;
pub use error::{Failure, Failures, Suite};
pub use kit::Kit;
pub use project::{Output, Project, SESSION, as_agent};
pub use report::Report;
pub use said::has;
