//! A round of review: who reviews, what was found, and what that proves.
//!
//! - [`round`] runs one: it takes the run lock or follows who has it, asks a [`reviewer`], writes [`findings_file`] and
//!   [`findings_json`], and notes the run in the journal ([`runs`]).
//! - [`evidence`] reads all that back and alone can make a [`Reviewed`] or a [`Settled`].
//! - [`codex`], [`claude`] and [`command`] are reviewers that are programs, run as [`settings`] say, under the supervision of
//!   [`process`](crate::process); [`answer`] reads what they answer. `Lint` (feature `lint`) is built in.
//!
//! The room knows which file and which field count as subject and round from a [`ReviewSpec`]; it knows no phase by name
//! and no persona.

pub mod answer;
pub mod cause;
pub mod changes;
pub mod claude;
mod client;
pub mod codex;
pub mod command;
pub mod copy;
pub mod digest;
pub mod evidence;
pub mod file;
pub mod finding_history;
pub mod findings;
pub mod findings_file;
pub mod findings_json;
pub mod kind;
#[cfg(feature = "lint")]
mod lint;
mod numbered;
pub mod opened;
pub mod personas;
pub mod portion;
pub mod prompt;
pub mod reports;
pub mod reviewer;
pub mod round;
pub mod runs;
pub mod scratch;
pub mod settings;
pub mod subject;
pub mod worktree;

pub use crate::machine::table::{Blocking, ReviewSpec, Subject};
pub use digest::Digest;
pub use evidence::{Reviewed, Settled};
pub use kind::Kind;
#[cfg(feature = "lint")]
pub use lint::Lint;
