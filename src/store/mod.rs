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
//! | `document` | what any form of document can do; `lines` and `scalar` are our form     |
//! | `lock`     | the project's lock, the lock of a running review, the file with a pid   |
//! | `trust`    | files that git tracks                                                   |
//! | `journal`  | lines of the journal                                                    |
//! | `chain`    | whether a change can have come after another                            |
//! | `inspect`  | reading what stands on disk for a loop                                  |
//! | `recover`  | what a loop is, once document and journal agree again                   |
//! | `repair`   | writing what is needed for them to agree, and migrating                 |
//! | `orphans`  | processes of a run that was cut off                                     |
//! | `attempts` | notes of what was tried and did not come to pass                        |
//! | `ownership` | this user's own record of the loops that were started here              |
//! | `budget`   | what one call may spend on waiting and looking                          |
//! | `record`   | a loop at one revision                                                  |
//! | `store`    | paths, listing, notes, the log                                          |
//! | `commit`, `start`, `sweep` | the changes                                             |
//! | `shape`    | what a machine's documents mean, and what another version makes of them |
//! | `versions` | the shapes of other versions on disk, and which of their loops go on    |
//! | `partial`  | single documents that name no machine, for shell helpers                |
//! | `locate`   | where state folders are                                                 |
//!
//! # Files
//!
//! ```text
//! .gitignore                 `*`: the folder ignores itself
//! .lock                      held for every change of any loop here
//! log                        one line an event
//! <id>.state                 the state document
//! <id>.lock                  process id of the start, for people and shell helpers
//! <id>-runner.sh, <id>-prompt.txt
//! <id>/journal.jsonl         one JSON object a line
//! <id>/run.lock              held while a review runs
//! scratch/                   data that goes with the command that needs it
//! machines/<graph hash>.json the shape of each version of the machine that began or changed a loop here
//! swept/<id>/                a stale loop, whole; kept 30 days
//! quarantine/<file>.<stamp>  bytes that were replaced because they were damaged or edited
//! rolled-back/<stamp>/       everything of every loop, as it was rolled back
//! ```
//!
//! A line of the journal is a change, `{"revision":2,"at":"2026-11-22T00:53:33Z","what":"begin","by":"hook",
//! "from":"drafting","to":"reviewing","fields":{…},"quoted":["topic"]}` with all fields that resulted and, where there
//! are any, `run` and `evidence`; or a note, `{"at":…,"note":"run-began","data":{…}}`. Only changes have a revision.
//! All times are ISO 8601 in UTC, whole seconds.

mod attempts;
mod budget;
mod chain;
mod commit;
mod document;
mod error;
mod fault;
mod id;
mod inspect;
mod journal;
mod lines;
mod locate;
mod lock;
mod orphans;
mod ownership;
pub mod partial;
mod record;
mod recover;
mod repair;
mod scalar;
pub mod shape;
mod spec;
mod start;
#[expect(clippy::module_inception, reason = "the room is named after what it is about")]
mod store;
mod sweep;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod trust;
mod value;
mod versions;

pub use attempts::{HEALED, MOST_ATTEMPTS, REFUSED, UNEXPLAINED};
pub use budget::{Budget, OF_A_HOOK};
pub use document::{Document, DocumentError, MAX_BYTES, is_field_name};
pub use error::{CommitError, StartError, StoreError};
pub use id::{InvalidId, LoopId};
pub use journal::{Change, ChangeEntry, Entry, NoteEntry};
pub use locate::{MOST_FOLDERS, folders, for_start};
pub use lock::{Held, LockError, PidLock, RunLock, with_lock};
pub use orphans::run_mark;
pub use ownership::StateHome;
pub use record::Record;
pub use repair::{Opened, Repair};
pub use shape::Shape;
pub use spec::{Form, HeldFields, IdForm, StateSpec};
pub use start::{StartPlan, Started};
pub use store::{Foreign, Listed, Store};
pub use sweep::Swept;
pub use value::Value;

pub use crate::files::Distrust;
