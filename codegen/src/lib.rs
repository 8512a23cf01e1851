//! Generates typestate machines for `claudex-loop` from a `machine.toml`.
//!
//! In a `build.rs`:
//! ```no_run
//! claudex_build::Config::new().compile("machine.toml");
//! ```
//! and in the crate `claudex_loop::machine!(door);`, with the name that the machine gives itself. From then on an edge
//! that the file does not declare does not compile.
//!
//! The work is done by two pure functions, and [`Config`] adds the files: [`check_source`] parses a machine and checks it,
//! and [`generate`] also turns it into Rust.
//! ```
//! let source = r#"
//! name = "door"
//!
//! [modes.door]
//! start = "open"
//!
//! [fields]
//! phase    = { holds = "phase" }
//! id       = { holds = "id" }
//! root     = { holds = "root" }
//! session  = { holds = "session" }
//! revision = { holds = "revision" }
//! machine  = { holds = "machine" }
//! tries    = { type = "count" }
//!
//! [phases.open]
//! on_stop = { require-file = { path = "KEY", written = "shut", missing = "remind" } }
//!
//! [phases.closed]
//! terminal = true
//!
//! [[transitions.shut]]
//! from = "open"
//! to   = "closed"
//!
//! [[transitions.remind]]
//! from = "open"
//! to   = "same"
//! when = "tries < 3"
//! set  = { tries = "tries + 1" }
//! "#;
//! assert!(claudex_build::check_source("machine.toml", source).is_ok());
//!
//! // Without the guard a loop could remind for ever, and is refused.
//! let endless = source.replace("when = \"tries < 3\"\n", "");
//! let findings = claudex_build::check_source("machine.toml", &endless).unwrap_err();
//! assert_eq!(
//!     findings.list[0].message,
//!     "nothing bounds the cycle open -> open (by remind)",
//! );
//! ```

pub mod diagnostic;
pub mod model;

mod check;
mod config;
mod diagram;
mod emit;
pub mod templates;

pub use check::check;
#[doc(hidden)]
pub use check::evaluate;
pub use config::Config;
pub use diagnostic::{Diagnostic, Diagnostics, Place, line_of};
pub use diagram::diagram;
pub use emit::Options;

use model::Machine;

/// Generated code and what it depends on. One module includes both texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The types, the edges and the machine as data.
    pub types: String,
    /// What a stop does, and the verbs of a command line.
    pub program: String,
    /// The templates and files that the code includes, relative to the crate's root, with `/` between their parts.
    pub messages: Vec<String>,
}

/// Parses a machine and checks it. `name` is the name of the file in messages.
///
/// # Errors
/// Returns the first problem of the file's form alone, else all problems of its meaning, in the order of the file.
pub fn check_source(name: &str, source: &str) -> Result<Machine, Diagnostics> {
    let checked = model::parse(source).and_then(|machine| {
        let found = check(&machine);
        if found.is_empty() {
            Ok(machine)
        } else {
            Err(found)
        }
    });
    checked.map_err(|found| Diagnostics::new(name, source, found))
}

/// Reads a machine, checks it and writes its Rust, with the subcommands of a command line. `name` is the file's name.
///
/// # Errors
/// Everything that is wrong with the machine, in the order of the file.
pub fn generate(name: &str, source: &str) -> Result<Generated, Diagnostics> {
    generate_with(
        source,
        &Options {
            commands: true,
            file: name.to_owned(),
        },
    )
}

/// Like [`generate`], with options.
///
/// # Errors
/// Everything that is wrong with the machine, in the order of the file.
pub fn generate_with(source: &str, options: &Options) -> Result<Generated, Diagnostics> {
    let machine = check_source(&options.file, source)?;
    Ok(generate_checked(&machine, source, options))
}

/// A machine's fields, phases and transitions as Markdown. `file` is the machine file's name in it.
pub fn spec(machine: &Machine, source: &str, file: &str) -> String {
    emit::spec_of(machine, source, file)
}

fn generate_checked(machine: &Machine, source: &str, options: &Options) -> Generated {
    let kinds = templates::TemplateKind::ALL.into_iter();
    let messages = kinds
        .flat_map(|kind| emit::templates(machine, kind))
        .map(|(path, _)| path)
        .collect();
    let [types, program] = emit::emit(machine, source, options);
    Generated {
        types,
        program,
        messages,
    }
}
