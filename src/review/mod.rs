//! A round of review: the subject, the reviewer, the findings, and their evidence.
//!
//! Begin with [`round`], which shows all steps. Only [`evidence`] makes a [`Reviewed`].

pub mod answer;
pub mod cause;
pub mod changes;
pub mod claude;
pub mod codex;
pub mod evidence;
pub mod finding_history;
pub mod findings;
pub mod findings_file;
#[cfg(feature = "lint")]
mod lint;
pub mod personas;
pub mod progress;
pub mod prompt;
pub mod reviewer;
pub mod round;
mod round_error;
pub mod runs;
pub mod settings;
pub mod subject;
pub mod worktree;

pub use crate::machine::table::{ReviewSpec, Subject};
pub use evidence::{Reviewed, Settled};
