//! The cellar: state documents on disk, and the only ways to change them.
//!
//! A [`Store`] is one state folder of one machine, described by a [`StateSpec`]. A loop in it is a state file that
//! people and scripts can read, and a journal that says how it got there. [`Store::start`] makes one,
//! [`Store::open`] reads one, [`Store::commit`] changes one by compare-and-swap. This room knows no phase by name, no
//! review and no command line.
//!
//! # Architecture
//!
//! | file       | subject                                                                 |
//! |------------|-------------------------------------------------------------------------|
//! | `spec`     | what a machine says about its documents                                 |
//! | `id`       | ids of loops                                                            |
//! | `value`    | the value of a field                                                    |
//! | `document` | what any form of document can do; `lines` (with `scalar`), `json` and `frontmatter` are forms |
//! | `lock`     | the project's lock, the lock of a running review, the file with a pid   |
//! | `tracked`  | files that git tracks                                                   |
//! | `entry`, `journal` | what a line of the journal is, and the file                    |
//! | `validation` | whether a change can have come after another                          |
//! | `inspect`, `list` | reading what stands on disk for a loop, and for all loops         |
//! | `recover`  | what a loop is, once document and journal agree again                   |
//! | `repair`   | writing what is needed for them to agree                                |
//! | `open`     | opening a loop, its notes and its journal                               |
//! | `attempts` | notes of what was tried and did not come to pass                        |
//! | `ownership`, `adopt` | this user's own record of the loops that were started here, and taking up one without |
//! | `index`    | which loops are not over, so that the others need not be opened          |
//! | `state_home` | where this user's own state lies                                       |
//! | `budget`   | what one call may spend on waiting and looking                          |
//! | `record`   | a loop at one revision                                                  |
//! | `store`    | paths, the lock, the log                                                |
//! | `place`    | where a state file is, also one that is the user's own                   |
//! | `storage`  | where document and journal are kept, and what is synced              |
//! | `write`    | writing a change: journal first, document second                        |
//! | `commit`, `start`, `sweep`, `bring_back`, `roll_back` | the changes                  |
//! | `active`   | refusing a second loop under way                                        |
//! | `partial`  | single documents that name no machine, for shell helpers                |
//! | `locate`   | where state folders are                                                 |
//!
//! # Files
//!
//! ```text
//! .gitignore                 `*`: the folder ignores itself
//! .lock                      held for every change of any loop here
//! log                        one line an event
//! <id>.state                 the state document, unless the machine says that it is a file of the user's elsewhere
//! <id>.lock                  process id of the start, for people and shell helpers
//! <id>-runner.sh, <id>-prompt.txt
//! <id>/journal.jsonl         one JSON object a line
//! <id>/run.lock              held while a review runs
//! scratch/                   data that goes with the command that needs it
//! swept/<id>/                a stale loop, whole; kept 30 days
//! quarantine/<file>.<stamp>  bytes that were replaced because they were damaged or edited
//! rolled-back/<stamp>/       everything of every loop, as it was rolled back
//! ```
//!
//! A line of the journal is a change, `{"revision":2,"at":"2026-11-22T00:53:33Z","what":"begin","by":"hook",
//! "from":"drafting","to":"reviewing","fields":{…},"quoted":["topic"]}` with all fields that resulted and, where there
//! are any, `run` and `evidence`, and `visit`, the revision with which the visit of the phase began; or a note, `{"at":…,"note":"run-began","data":{…}}`. Only changes have a revision.
//! All times are ISO 8601 in UTC, whole seconds.

mod adopt;
mod archive;
mod budget;
mod commit;
mod document;
mod entry;
mod error;
mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod id;
mod journal;
mod lines;
mod list;
mod locate;
mod lock;
mod map;
mod memory;
mod open;
pub mod partial;
mod project;
mod record;
mod scalar;
mod seal;
mod spec;
mod start;
mod state_home;
#[expect(
    clippy::module_inception,
    reason = "the room is named after what it is about"
)]
mod store;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod value;
mod yaml;

pub use budget::{Budget, OF_A_HOOK};
pub use document::{Document, DocumentError, MAX_BYTES, is_field_name};
pub use entry::{Change, ChangeEntry, Entry, JsonText, NoteEntry};
pub use error::{CommitError, StartError, StoreError};
pub use id::{InvalidId, LoopId};
pub use list::{Foreign, Listed};
pub use locate::{MOST_FOLDERS, folders, for_start};
pub use lock::{LockError, LockGuard, PidLock, RunLock, with_lock};
pub use open::{Opened, REFUSED, REPAIRED, Repair, UNEXPLAINED};
pub use record::Record;
pub use spec::{Active, Edit, Editable, Form, HeldFields, IdForm, StateSpec, StoredEdge};
pub use start::{Import, StartPlan, Started};
pub use state_home::StateHome;
pub use store::Store;
pub use value::{MOST_COUNT, Value};

pub use crate::files::Distrust;
