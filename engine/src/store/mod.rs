//! Loops, each as a sealed journal with a document for people.
//!
//! A [`Store`] is a machine's state folder, described by a [`StateSpec`], or memory.
//! [`Store::start`] starts a loop, [`Store::open`] reads one, and [`Store::commit`] changes one by
//! compare-and-swap. The newest change of the journal is the loop's state, and the document shows
//! it.
//!
//! Only changes have a revision, not notes. `docs/dev/state.md` describes every file.

mod archive;
mod commit;
mod document;
mod entry;
mod error;
mod field;
mod file_journal;
mod id;
mod journal;
mod list;
mod log;
mod loop_files;
mod mark;
mod open;
mod seal;
mod spec;
mod start;
mod state_folder;
mod state_home;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod value;

pub use document::{Document, MAX_DOCUMENT_BYTES, is_field_name};
pub use entry::{Change, ChangeEntry, Entry, NoteEntry, Record};
pub use error::{OrIo, StoreError, WhyNotOurs};
pub(crate) use field::misfit;
pub use field::{FieldInfo, FieldKind, InitialValue, default_data, is_data};
pub use id::LoopId;
pub(crate) use journal::lock_mutex;
pub use list::ListedLoop;
pub use loop_files::lock_run;
pub use spec::{Active, EngineFields, Form, IdForm, StateSpec};
pub use start::{Beginning, Import};
pub use state_folder::Store;
pub use state_home::StateHome;
pub use value::{Fields, MAX_COUNT, parse_plain, to_count, to_plain};
