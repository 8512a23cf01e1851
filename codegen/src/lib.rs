//! Generates typestate machines for `claudex-loop` from a `machine.toml`, in a `build.rs`:
//! ```no_run
//! claudex_build::Config::new().compile("machine.toml");
//! ```
//! and in the crate `claudex_loop::machine!(door);`, with the name that the machine gives itself.
//!
//! [`check_source`] and [`generate`] do the work without files:
//! ```
//! let found = claudex_build::check_source("machine.toml", "nam = \"door\"").unwrap_err();
//! let expected = "machine.toml:1:1: error[claudex::machine::unknown_key]: \
//!     unknown key `nam`; did you mean `name`?";
//! assert_eq!(found.to_string(), expected);
//! ```

pub mod diagnostic;
pub mod model;

mod check;
mod config;
mod diagram;
mod emit;
pub mod templates;

pub use config::Config;
pub use diagnostic::{Diagnostic, Diagnostics, line_of};
pub use diagram::diagram;

use model::Machine;

/// Generated code and its dependencies. One module includes both texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The types, the edges and the machine as data.
    pub types: String,
    /// The behaviour of stops, and the verbs of a command line.
    pub program: String,
    /// The templates and files that the code includes: paths from the crate's root, with `/`.
    pub messages: Vec<String>,
}

/// Parses a machine and checks it. `name` is the name of the file in messages.
///
/// # Errors
/// Returns the first problem of the form, or else all problems of the meaning, in file order.
pub fn check_source(name: &str, source: &str) -> Result<Machine, Diagnostics> {
    let checked = model::parse(source).and_then(|machine| match check::check(&machine, source) {
        found if found.is_empty() => Ok(machine),
        found => Err(found),
    });
    checked.map_err(|found| Diagnostics::new(name, source, found))
}

/// Checks a machine, and generates its Rust with a command line. `name` is the file's name.
///
/// # Errors
/// Returns an error if [`check_source`] does.
pub fn generate(name: &str, source: &str) -> Result<Generated, Diagnostics> {
    Ok(emit::emit(&check_source(name, source)?, source, name, true))
}
