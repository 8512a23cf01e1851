//! Writing what is needed for state document and journal to agree again, under the project's lock. What that is,
//! `recover` says.

use std::io::Write as _;

use camino::Utf8PathBuf;
use jiff::Timestamp;

use super::attempts::HEALED;
use super::entry::{Change, EDIT, ENGINE};
use super::error::{StoreError, io_error};
use super::id::{LoopId, compact};
use super::inspect::{Reader, State};
use super::journal::{Damage, counted};
use super::lock::LockGuard;
use super::ownership::Ownership;
use super::record::Record;
use super::recover::Fix;
use super::storage::{JOURNAL, Part, Staged};
use super::store::Store;
use super::value::Value;
use crate::files::Folder;
use crate::files::kill_point::kill_point;

/// Names the folder of bytes that were replaced.
pub(super) const QUARANTINE: &str = "quarantine";

/// Describes what was put right when a loop was opened.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// A crash had come between journal and document, or a power loss had taken back what was written of the document.
    #[display(
        "{}, which the journal holds",
        match from {
            Some(from) => format!("the state was rolled forward from revision {from} to {to}"),
            None => format!("the state was cut off, as a crash leaves it, and was rebuilt at revision {to}"),
        }
    )]
    RolledForward {
        /// The document's revision; `None` where it was cut off.
        from: Option<u64>,
        /// The journal's.
        to: u64,
    },
    /// A crash had come while a line of the journal was written.
    #[display("a torn last line of the journal was cut")]
    TornLineCut,
    /// Lines of the journal could not be read, or tell of a change that the machine cannot make.
    #[display(
        "what nobody could read, or no change had made, was taken out of the journal ({}); the old one is {quarantined}",
        counted(lines), quarantined = crate::text::shown(quarantined)
    )]
    JournalCleaned {
        /// Which, from 1.
        lines: Vec<usize>,
        /// Where the old journal is kept.
        quarantined: Utf8PathBuf,
    },
    /// The document was missing or unreadable.
    #[display("{path} {why} and was rebuilt from the journal{}", quarantined.as_ref().map(|kept| format!("; what stood there is {}", crate::text::shown(kept))).unwrap_or_default(), path = crate::text::shown(path))]
    Rebuilt {
        /// The state file.
        path: Utf8PathBuf,
        /// What was wrong with it.
        why: String,
        /// Where the old bytes are kept, if there were any.
        quarantined: Option<Utf8PathBuf>,
    },
    /// Fields that only the machine writes had been edited.
    #[display("the state was edited by hand ({}); the journal's values were put back, the edited file is kept as {quarantined}", fields.join(", "), quarantined = crate::text::shown(quarantined))]
    EditUndone {
        /// Which fields.
        fields: Vec<String>,
        /// Where the edited bytes are kept.
        quarantined: Utf8PathBuf,
    },
    /// Fields had been edited that the machine leaves open to that.
    #[display("the state was edited by hand, which was taken over: {}", fields.join(", "))]
    EditTaken {
        /// Which, with what they are now: `max_rounds: 5`.
        fields: Vec<String>,
    },
    /// A file that is no loop of ours was set aside, so that one can be started.
    #[display("{path} was set aside as {quarantined}: {reason}", path = crate::text::shown(path), quarantined = crate::text::shown(quarantined))]
    SetAside {
        /// The state file.
        path: Utf8PathBuf,
        /// Why.
        reason: String,
        /// Where it is kept.
        quarantined: Utf8PathBuf,
    },
}

impl Repair {
    /// Returns the fields that were edited, where it undoes what an edit may have done: changed fields, bytes that are nobody's.
    fn of_an_edit(&self) -> Option<&[String]> {
        match self {
            Self::RolledForward { from: Some(_), .. }
            | Self::TornLineCut
            | Self::EditTaken { .. }
            | Self::SetAside { .. } => None,
            Self::EditUndone { fields, .. } => Some(fields),
            // Nobody can tell whether it was a power loss that emptied a file.
            Self::RolledForward { from: None, .. }
            | Self::JournalCleaned { .. }
            | Self::Rebuilt { .. } => Some(&[]),
        }
    }

    /// Returns the lines that were taken out of the journal.
    pub(super) fn cleaned(self) -> Option<Vec<usize>> {
        match self {
            Self::JournalCleaned { lines, .. } => Some(lines),
            _ => None,
        }
    }
}

/// Holds a loop that was opened, and what had to be put right for it.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The loop.
    pub record: Record,
    /// What was put right, for the person to know.
    pub repairs: Vec<Repair>,
}

/// Says how a loop is read to be repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Look {
    /// By the newest of its journal, where that is enough.
    Newest,
    /// By the whole of its journal.
    Whole,
    /// By what the user's record is to say.
    As(Ownership),
}

/// Reads a loop, and writes what is needed for document and journal to agree.
pub(super) fn repair(
    store: &Store,
    lock: &LockGuard,
    id: &LoopId,
    look: Look,
) -> Result<Opened, StoreError> {
    let here = lock.folder();
    let reader = Reader {
        store,
        here,
        tracking: &store.tracking(),
    };
    let (found, judged) = match look {
        Look::Newest => reader.look(id, None),
        Look::Whole => reader.look_whole(id, None),
        Look::As(owned) => reader.look_whole(id, Some(owned)),
    }
    .map_err(|error| match error {
        StoreError::Unreadable { path, error, .. } if store.spec().file.is_none() => {
            match set_aside(here, (here, &store.name_of(id))) {
                Ok(kept) => StoreError::Unreadable {
                    path,
                    error,
                    quarantined: Some(kept),
                },
                Err(failed) => failed,
            }
        }
        other => other,
    })?;
    let mut repairs = Vec::new();
    if let Some(loaded) = &found.journal
        && let Some(damage) = &loaded.damage
    {
        let storage = store.storage(here, id)?;
        let path = storage.journal_path();
        repairs.push(match damage {
            Damage::Torn => Repair::TornLineCut,
            Damage::Lines(lines) => {
                let whole = storage
                    .journal(Part::Whole)
                    .map_err(io_error("read", &path))?;
                let name = format!("{id}-{JOURNAL}");
                Repair::JournalCleaned {
                    lines: lines.clone(),
                    quarantined: keep(here, &name, &whole.bytes)?,
                }
            }
        });
        storage
            .replace_journal(loaded.repaired())
            .map_err(io_error("write", &path))?;
    }
    if let Some(fix) = judged.fix {
        let storage = store.storage(here, id)?;
        let path = store.path_of(id);
        let name = path.file_name().unwrap_or_default();
        let rebuilt = |why: String, quarantined| Repair::Rebuilt {
            path: path.clone(),
            why,
            quarantined,
        };
        repairs.push(match (fix, found.state.bytes()) {
            (Fix::RollForward(from), _) => Repair::RolledForward {
                from,
                to: judged.record.revision,
            },
            (Fix::Undo(fields), bytes) => Repair::EditUndone {
                fields,
                quarantined: keep(here, name, bytes.unwrap_or_default())?,
            },
            (Fix::Rebuild, None) if matches!(found.state, State::Missing) => {
                rebuilt("was missing".to_owned(), None)
            }
            (Fix::Rebuild, _) => {
                let why = match found.state.error() {
                    Some(error) => format!("could not be read ({error})"),
                    None => "was cut off".to_owned(),
                };
                let from = store
                    .state_file(here, id)
                    .map_err(io_error("open", &path))?;
                rebuilt(why, Some(set_aside(here, (&from.0, &from.1))?))
            }
        });
        // Who crashed may not have come to sync the line that the document is written from. It must not be lost after it.
        storage
            .sync_journal()
            .map_err(io_error("sync", &storage.journal_path()))?;
        let staged = storage.stage(&judged.record.document.to_bytes(), true);
        staged
            .and_then(Staged::publish)
            .map_err(io_error("write", &path))?;
    }
    for repair in &repairs {
        store.log(&format!("{id}: {repair}"));
        // The journal of a loop that is over stays as it is.
        let noted = repair.of_an_edit().filter(|_| !judged.record.is_terminal());
        if let Some(edited) = noted {
            let fields = edited.join(", ");
            let mut data = vec![("what", repair.to_string())];
            data.extend((!edited.is_empty()).then_some(("fields", fields)));
            let data: Vec<(&str, &str)> = data
                .iter()
                .map(|(key, text)| (*key, text.as_str()))
                .collect();
            store.append_attempt(lock, id, HEALED, &data)?;
        }
    }
    // What was put right may be a loop that was over until someone laid hands on it.
    if !repairs.is_empty() && !judged.record.is_terminal() {
        store.index_active(lock, id)?;
    }
    if judged.taken.is_empty() {
        let record = judged.record;
        return Ok(Opened { record, repairs });
    }
    let shown = |(field, value): &(String, Value)| format!("{field}: {}", value.to_plain());
    let fields = judged.taken.iter().map(shown).collect();
    let change = Change {
        edits: judged.taken,
        ..Change::bare(EDIT, ENGINE)
    };
    let record = match store.apply(lock, judged.record.clone(), change) {
        Ok(record) => {
            let repair = Repair::EditTaken { fields };
            store.log(&format!("{id}: {repair}"));
            repairs.push(repair);
            record
        }
        // Else nobody could end the loop.
        Err(StoreError::JournalFull { .. }) => judged.record,
        Err(error) => return Err(error),
    };
    Ok(Opened { record, repairs })
}

/// Moves a state file that nobody can read into the quarantine.
pub(super) fn set_aside(
    here: &Folder,
    (from, name): (&Folder, &str),
) -> Result<Utf8PathBuf, StoreError> {
    let (quarantine, kept) = quarantine(here, name)?;
    from.rename(name, &quarantine, &kept)
        .map_err(io_error("move", &from.path().join(name)))?;
    Ok(quarantine.path().join(kept))
}

/// Keeps bytes under a name of their own in the quarantine.
pub(super) fn keep(here: &Folder, name: &str, bytes: &[u8]) -> Result<Utf8PathBuf, StoreError> {
    let (quarantine, kept) = quarantine(here, name)?;
    let path = quarantine.path().join(&kept);
    let mut file = quarantine
        .new_file(&kept)
        .map_err(io_error("create", &path))?;
    kill_point();
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(io_error("write", &path))?;
    Ok(path)
}

/// Opens the quarantine, and gives a name in it that is free: nobody else writes there without the lock.
fn quarantine(here: &Folder, name: &str) -> Result<(Folder, String), StoreError> {
    let quarantine = here
        .make(QUARANTINE)
        .map_err(io_error("create", &here.path().join(QUARANTINE)))?;
    let kept = format!("{name}.{}", compact(Timestamp::now()));
    let mut free = kept.clone();
    let mut number = 1;
    while quarantine.has(&free) {
        number += 1;
        free = format!("{kept}-{number}");
    }
    Ok((quarantine, free))
}
