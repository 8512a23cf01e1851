//! Reading a loop, and making state document and journal agree again after a crash or an edit by hand.
//!
//! The journal is what happened; the document is its last line in a form that people and scripts read. So:
//!
//! | document                                        | what is done                                              |
//! |-------------------------------------------------|-----------------------------------------------------------|
//! | one revision behind, otherwise as journaled     | rolled forward: a crash came between journal and rename   |
//! | missing, unreadable, or cut off before the end  | rebuilt from the last change                              |
//! | a protected field differs, or is gone, or added | set back; other edits, comments and order stay            |
//! | any other revision                              | the same                                                  |
//! | names our machine, has no journal               | refused: no start made it here                            |
//! | another version's that goes on as it is         | as above, by what either version protects                 |
//! | another version's that `[[migrations]]` name    | as above, then one change `migrate`                       |
//! | any other version's                             | refused                                                   |
//!
//! Bytes that are replaced for another reason than a crash are kept in `quarantine/`. `look` and `judge` write nothing;
//! only `heal` does, under the project's lock.

use std::io::{ErrorKind, Write as _};

use camino::Utf8PathBuf;
use jiff::Timestamp;

use super::attempts::HEALED;
use super::chain::possible;
use super::document::{self, Document, DocumentError};
use super::error::{StoreError, io_error};
use super::id::{LoopId, compact};
use super::journal::{self, Change, ChangeEntry, Damage, Loaded};
use super::lock::Held;
use super::ownership::Ownership;
use super::record::Record;
use super::spec::StateSpec;
use super::store::Store;
use super::trust::Trust;
use super::value::Value;
use super::versions::{Versions, Way};
use crate::files::{Folder, if_there};

/// What a migration is called in the journal.
pub(super) const MIGRATE: &str = "migrate";
/// Who makes one.
pub(super) const ENGINE: &str = "engine";
/// The folder of bytes that were replaced.
pub(super) const QUARANTINE: &str = "quarantine";

/// Something that was put right when a loop was opened.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// A crash had come between journal and document.
    #[display("the state was rolled forward from revision {from} to {to}, which the journal holds")]
    RolledForward {
        /// The document's revision.
        from: u64,
        /// The journal's.
        to: u64,
    },
    /// A crash had come while a line of the journal was written.
    #[display("a torn last line of the journal was cut")]
    TornLineCut,
    /// Lines of the journal could not be read, or tell of a change that the machine cannot make.
    #[display(
        "{} line(s) that nobody could read, or that no change had made, were taken out of the journal; the old one is \
         {quarantined}",
        lines.len(), quarantined = crate::text::shown(quarantined)
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
    /// The fields that were edited, where it undoes what no crash of ours does: an edit, bytes that are nobody's.
    fn of_an_edit(&self) -> Option<&[String]> {
        match self {
            Self::RolledForward { .. } | Self::TornLineCut | Self::SetAside { .. } => None,
            Self::EditUndone { fields, .. } => Some(fields),
            Self::JournalCleaned { .. } | Self::Rebuilt { .. } => Some(&[]),
        }
    }
}

/// A loop that was opened, and what had to be put right for it.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The loop.
    pub record: Record,
    /// What was put right, for the person to know.
    pub repairs: Vec<Repair>,
}

/// What is done with a loop of an older version of the machine that `[[migrations]]` name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Older {
    /// It is migrated.
    Migrate,
    /// It is left as it is: nothing but its phase is asked for.
    Leave,
}

/// What stands on disk for a loop.
pub(super) struct Found {
    pub(super) state: State,
    journal: Option<Loaded>,
    owned: Ownership,
}

/// What the state file holds.
pub(super) enum State {
    Missing,
    Unreadable(DocumentError),
    Read(Box<dyn Document>, Vec<u8>),
}

/// What a loop is, once document and journal agree.
pub(super) struct Judged {
    pub(super) record: Record,
    /// How the document must be written anew, if it must.
    fix: Option<Fix>,
    /// The document as a migration makes it, if one is due. The record's phase is then that after it.
    migrated: Option<Migrated>,
}

struct Migrated {
    from: String,
    document: Box<dyn Document>,
}

enum Fix {
    RollForward(u64),
    Rebuild,
    Undo(Vec<String>),
}

/// Reads a loop's files and writes nothing.
pub(super) fn look(
    store: &Store,
    here: &Folder,
    trust: &Trust,
    versions: &Versions,
    id: &LoopId,
) -> Result<Found, StoreError> {
    look_as(store, here, trust, versions, id, None)
}

/// The same, with what the user's record says, or is to say.
fn look_as(
    store: &Store,
    here: &Folder,
    trust: &Trust,
    versions: &Versions,
    id: &LoopId,
    owned: Option<Ownership>,
) -> Result<Found, StoreError> {
    look_by(store, here, trust, id, owned, |folder, owned| {
        Loaded::read(folder, &possible(store, Some(owned), versions))
    })
}

/// Like [`look`], for [`judge`] alone: of a loop of our own version it needs no more of the journal than the newest two
/// changes.
pub(super) fn glance(
    store: &Store,
    here: &Folder,
    trust: &Trust,
    versions: &Versions,
    id: &LoopId,
) -> Result<Found, StoreError> {
    look_by(store, here, trust, id, None, |folder, owned| {
        let possible = possible(store, Some(owned), versions);
        let newest = Loaded::newest(folder, &possible)?;
        // Whether a loop of another version goes on is asked of its whole history.
        match newest.as_ref().and_then(|loaded| loaded.changes().next()) {
            Some(last) if hash_of(store.spec(), last).is_some_and(|hash| hash != store.spec().graph_hash) => {
                Loaded::read(folder, &possible)
            }
            _ => Ok(newest),
        }
    })
}

fn look_by(
    store: &Store,
    here: &Folder,
    trust: &Trust,
    id: &LoopId,
    owned: Option<Ownership>,
    load: impl FnOnce(&Folder, &Ownership) -> Result<Option<Loaded>, StoreError>,
) -> Result<Found, StoreError> {
    let state = read_state(store, here, trust, &store.name_of(id))?;
    // What nobody started here is read no further: not its folder, not its journal.
    let owned = match owned {
        Some(owned) => owned,
        None => store
            .ownership(id)?
            .ok_or_else(|| store.why_not_ours(id, &state))?,
    };
    let folder = if_there(here.below(id.as_str())).map_err(io_error("open", &store.loop_folder(id)))?;
    let journal = match folder {
        Some(folder) => load(&folder, &owned)?,
        None => None,
    };
    if journal.is_some() {
        trust.untracked(&store.journal_path(id))?;
    }
    Ok(Found {
        state,
        journal,
        owned,
    })
}

/// Reads a state file, unless git tracks it.
pub(super) fn read_state(
    store: &Store,
    here: &Folder,
    trust: &Trust,
    name: &str,
) -> Result<State, StoreError> {
    let path = store.folder().join(name);
    let state = match here.read(name, document::MAX_BYTES as u64) {
        Ok(bytes) => match store.spec().form.parse(&bytes) {
            Ok(document) => State::Read(document, bytes),
            Err(error) => State::Unreadable(error),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(State::Missing),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            let found = here.look(name).map_err(io_error("look at", &path))?;
            let bytes = found.map_or(0, |found| found.size());
            State::Unreadable(DocumentError::TooLarge {
                bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            })
        }
        Err(error) => return Err(io_error("read", &path)(error)),
    };
    trust.untracked(&path)?;
    Ok(state)
}

/// Says what the loop is, and writes nothing.
pub(super) fn judge(
    store: &Store,
    id: &LoopId,
    found: &Found,
    versions: &Versions,
) -> Result<Judged, StoreError> {
    let spec = store.spec();
    let path = store.path_of(id);
    let mut changes = found.journal.iter().flat_map(Loaded::changes);
    let Some(last) = changes.next() else {
        return Err(match &found.state {
            State::Missing => StoreError::NoLoop {
                id: id.to_string(),
                folder: store.folder().to_owned(),
            },
            State::Unreadable(error) => StoreError::Unreadable {
                path,
                error: error.clone(),
                quarantined: None,
            },
            State::Read(document, _) => match document.get(spec.fields.machine) {
                None => StoreError::NoMachine { path },
                Some(machine) if machine.to_plain() == spec.machine => StoreError::NoJournal { path },
                Some(machine) => other_machine(store, path, &machine),
            },
        });
    };
    let journaled = |field: &str| value_in(&last.fields, field);
    match journaled(spec.fields.machine) {
        Some(machine) if machine.to_plain() != spec.machine => {
            return Err(other_machine(store, path, machine));
        }
        _ => {}
    }
    // The record says where the loop belongs; files that were brought here may say anything.
    if journaled(spec.fields.root).is_none_or(|root| root.to_plain() != found.owned.root.as_str()) {
        return Err(store.not_started_here(id));
    }
    let phase = journaled(spec.fields.phase)
        .map(|phase| phase.to_plain().into_owned())
        .unwrap_or_default();
    let hash = hash_of(spec, last);
    let version = match &hash {
        Some(hash) if *hash != spec.graph_hash => Some(versions.of(store, hash)),
        _ => None,
    };
    let refused = |why: &str| {
        let known = version.as_ref().and_then(|version| version.is_terminal(&phase));
        StoreError::OtherGraph {
            path: path.clone(),
            machine: spec.machine,
            found: hash.clone().unwrap_or_default(),
            expected: spec.graph_hash,
            why: why.to_owned(),
            // Nobody can say that a loop is over whose version is not known: it ends nobody's loop in silence.
            over: known.unwrap_or(false),
        }
    };
    let way = match version.as_ref().map(|version| &version.way) {
        None => Way::Accepted,
        Some(Ok(Way::Accepted)) if found.journal.as_ref().is_some_and(|loaded| left(spec, loaded)) => {
            return Err(refused(
                "a migration took it from this version to a later one, and nothing leads back",
            ));
        }
        Some(Ok(way)) => *way,
        Some(Err(why)) => return Err(refused(why)),
    };
    let edited = |document: &dyn Document, change: &ChangeEntry| {
        edited(document, change, |field| {
            spec.is_protected(field)
                || version
                    .as_ref()
                    .is_some_and(|version| version.is_protected(field))
        })
    };

    let is_whole = |document: &dyn Document| {
        [spec.fields.revision, spec.fields.machine]
            .iter()
            .any(|field| document.get(field).is_some())
    };
    let (document, fix) = match &found.state {
        State::Read(on_disk, _) if is_whole(&**on_disk) => {
            let mut document = on_disk.boxed_clone();
            let revision = document
                .get(spec.fields.revision)
                .and_then(|revision| revision.as_count());
            let before = changes.next().filter(|before| Some(before.revision) == revision);
            match before {
                Some(before) if edited(&*document, before).is_empty() => {
                    set_all(&mut *document, &last.fields);
                    // What the change took away: a migration may rename a field.
                    for (field, _) in &before.fields {
                        if value_in(&last.fields, field).is_none() {
                            document.remove(field);
                        }
                    }
                    (document, Some(Fix::RollForward(before.revision)))
                }
                _ => {
                    let edited = edited(&*document, last);
                    for field in &edited {
                        match journaled(field) {
                            Some(value) => document.set(field, value),
                            None => document.remove(field),
                        }
                    }
                    (document, (!edited.is_empty()).then_some(Fix::Undo(edited)))
                }
            }
        }
        State::Read(..) | State::Missing | State::Unreadable(..) => {
            let mut document = spec.form.empty();
            set_all(&mut *document, &last.fields);
            (document, Some(Fix::Rebuild))
        }
    };
    let mut record = Record {
        id: id.clone(),
        revision: last.revision,
        phase: phase.clone(),
        document,
        spec,
    };
    let mut migrated = None;
    if let (Way::Migrated, Some(version)) = (way, &version) {
        let mut document = record.document.boxed_clone();
        let to = versions
            .migrate(spec, version, &record.phase, &mut *document)
            .map_err(|why| refused(&why))?;
        let from = std::mem::replace(&mut record.phase, to);
        migrated = Some(Migrated { from, document });
    }
    Ok(Judged {
        record,
        fix,
        migrated,
    })
}

/// Reads a loop, and writes what is needed for document and journal to agree.
pub(super) fn heal(store: &Store, lock: &Held, id: &LoopId, older: Older) -> Result<Opened, StoreError> {
    heal_as(store, lock, id, older, None)
}

/// The same, with what the user's record is to say; `None`: what it says.
pub(super) fn heal_as(
    store: &Store,
    lock: &Held,
    id: &LoopId,
    older: Older,
    owned: Option<Ownership>,
) -> Result<Opened, StoreError> {
    let here = lock.folder();
    let name = store.name_of(id);
    let versions = Versions::default();
    let found = look_as(store, here, &store.trust(), &versions, id, owned)?;
    let judged = match judge(store, id, &found, &versions) {
        Err(StoreError::Unreadable { path, error, .. }) => {
            let quarantined = Some(set_aside(store, here, &name)?);
            return Err(StoreError::Unreadable {
                path,
                error,
                quarantined,
            });
        }
        other => other?,
    };
    let folder = here
        .below(id.as_str())
        .map_err(io_error("open", &store.loop_folder(id)))?;
    let mut repairs = Vec::new();
    if let Some(loaded) = &found.journal
        && let Some(damage) = &loaded.damage
    {
        let path = store.journal_path(id);
        repairs.push(match damage {
            Damage::Torn => Repair::TornLineCut,
            Damage::Lines(lines) => {
                let bytes = folder
                    .read(journal::FILE, journal::MAX_BYTES)
                    .map_err(io_error("read", &path))?;
                let name = format!("{id}-{}", journal::FILE);
                Repair::JournalCleaned {
                    lines: lines.clone(),
                    quarantined: keep(here, &name, &bytes)?,
                }
            }
        });
        folder
            .replace(journal::FILE, loaded.healed())
            .map_err(io_error("write", &path))?;
    }
    if let Some(fix) = judged.fix {
        let path = store.path_of(id);
        let keep_state = |bytes: &[u8]| keep(here, &name, bytes);
        repairs.push(match (fix, &found.state) {
            (Fix::RollForward(from), _) => Repair::RolledForward {
                from,
                to: judged.record.revision,
            },
            (Fix::Undo(fields), State::Read(_, bytes)) => Repair::EditUndone {
                fields,
                quarantined: keep_state(bytes)?,
            },
            (_, State::Unreadable(error)) => Repair::Rebuilt {
                why: format!("could not be read ({error})"),
                quarantined: Some(set_aside(store, here, &name)?),
                path: path.clone(),
            },
            (_, State::Read(_, bytes)) => Repair::Rebuilt {
                why: "was cut off".to_owned(),
                quarantined: Some(keep_state(bytes)?),
                path: path.clone(),
            },
            (_, State::Missing) => Repair::Rebuilt {
                why: "was missing".to_owned(),
                quarantined: None,
                path: path.clone(),
            },
        });
        // Who crashed may not have come to sync the line that the document is written from. It must not be lost after it.
        journal::sync(&folder)?;
        here.replace(&name, &judged.record.document.to_bytes())
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
            let data: Vec<(&str, &str)> = data.iter().map(|(key, text)| (*key, text.as_str())).collect();
            store.append_attempt(lock, id, HEALED, &data)?;
        }
    }
    let record = match judged.migrated {
        Some(migrated) if older == Older::Migrate => migrate(store, lock, judged.record, migrated)?,
        _ => judged.record,
    };
    Ok(Opened { record, repairs })
}

/// Makes a loop of an older version one of ours, in one change.
fn migrate(store: &Store, lock: &Held, found: Record, migrated: Migrated) -> Result<Record, StoreError> {
    let to = found.phase;
    let old = Record {
        phase: migrated.from,
        document: migrated.document,
        ..found
    };
    let change = Change {
        to: Some(to),
        ..Change::bare(MIGRATE, ENGINE)
    };
    let record = store.apply(lock, old, change)?;
    store.log(&format!(
        "{}: migrated to version {} of the machine, now in {}",
        record.id,
        store.spec().graph_hash,
        record.phase
    ));
    Ok(record)
}

/// Moves a state file that nobody can read into the quarantine.
pub(super) fn set_aside(store: &Store, here: &Folder, name: &str) -> Result<Utf8PathBuf, StoreError> {
    let (quarantine, kept) = quarantine(here, name)?;
    here.rename(name, &quarantine, &kept)
        .map_err(io_error("move", &store.folder().join(name)))?;
    Ok(quarantine.path().join(kept))
}

/// Keeps bytes under a name of their own in the quarantine.
fn keep(here: &Folder, name: &str, bytes: &[u8]) -> Result<Utf8PathBuf, StoreError> {
    let (quarantine, kept) = quarantine(here, name)?;
    let path = quarantine.path().join(&kept);
    let mut file = quarantine.new_file(&kept).map_err(io_error("create", &path))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(io_error("write", &path))?;
    Ok(path)
}

/// The quarantine, and a name in it that is free: nobody else writes there without the lock.
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

/// The protected fields in which a document differs from a change of the journal.
fn edited(document: &dyn Document, change: &ChangeEntry, is_protected: impl Fn(&str) -> bool) -> Vec<String> {
    let on_disk = document.fields();
    let mut names: Vec<&String> = change
        .fields
        .iter()
        .chain(&on_disk)
        .map(|(name, _)| name)
        .collect();
    names.retain(|name| is_protected(name));
    let mut edited: Vec<String> = Vec::new();
    for name in names {
        if !reads_same(value_in(&on_disk, name), value_in(&change.fields, name)) && !edited.contains(name) {
            edited.push(name.clone());
        }
    }
    edited
}

/// The version that made a change; empty where it names none, None where this machine cannot tell its versions apart.
pub(super) fn hash_of(spec: &StateSpec, change: &ChangeEntry) -> Option<String> {
    let field = spec.fields.graph_hash?;
    Some(value_in(&change.fields, field).map_or(String::new(), |hash| hash.to_plain().into_owned()))
}

/// Whether a migration took the loop from our version. Were it taken back as it is, the migration would be due again: two
/// programs that alternate would set the same fields for ever, and a counter among them would bound nothing.
fn left(spec: &StateSpec, journal: &Loaded) -> bool {
    let mut later: Option<&ChangeEntry> = None;
    for change in journal.changes() {
        if later.is_some_and(|later| later.what == MIGRATE && later.by == ENGINE)
            && hash_of(spec, change).as_deref() == Some(spec.graph_hash)
        {
            return true;
        }
        later = Some(change);
    }
    false
}

pub(super) fn value_in<'a>(fields: &'a [(String, Value)], field: &str) -> Option<&'a Value> {
    fields
        .iter()
        .find_map(|(name, value)| (name == field).then_some(value))
}

/// Whether two values read the same. Quotes around a number or a flag are no edit: what stands quoted stays quoted.
fn reads_same(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            let kind = |value: &Value| (*value == Value::Null, value.as_list().is_some());
            kind(a) == kind(b) && a.to_plain() == b.to_plain()
        }
        _ => false,
    }
}

/// Sets what differs, so that lines which stand right stay as they are.
fn set_all(document: &mut dyn Document, fields: &[(String, Value)]) {
    for (name, value) in fields {
        if !reads_same(document.get(name).as_ref(), Some(value)) {
            document.set(name, value);
        }
    }
}

pub(super) fn other_machine(store: &Store, path: Utf8PathBuf, found: &Value) -> StoreError {
    StoreError::OtherMachine {
        path,
        found: found.to_plain().into_owned(),
        expected: store.spec().machine,
    }
}
