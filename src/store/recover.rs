//! What a loop is, once state document and journal agree again after a crash or an edit by hand.
//!
//! The journal is what happened; the document is its last line in a form that people and scripts read. So:
//!
//! | document                                        | what is done                                              |
//! |-------------------------------------------------|-----------------------------------------------------------|
//! | some revisions behind, otherwise as journaled   | rolled forward: a crash or a power loss took renames back |
//! | the begin of what one of the newest changes wrote | the same: a power loss cut it off                       |
//! | missing, unreadable, or without its own fields  | rebuilt from the last change                              |
//! | a protected field differs, or is gone, or added | set back; other edits, comments and order stay            |
//! | a field differs that the machine leaves open to edits | taken over, and journaled, where the value is one that it may have |
//! | any other revision                              | the same                                                  |
//! | names our machine, has no journal               | refused: no start made it here                            |
//! | another version's that goes on as it is         | as above, by what either version protects                 |
//! | another version's that `[[migrations]]` name    | as above, then one change `migrate`                       |
//! | any other version's                             | refused                                                   |
//!
//! Bytes that are replaced for another reason than a crash are kept in `quarantine/`. Nothing here writes; `repair` does.

use super::document::{Document, DocumentError};
use super::entry::{ChangeEntry, ENGINE, MIGRATE};
use super::error::StoreError;
use super::id::LoopId;
use super::inspect::{Found, Reader, State, other_machine};
use super::journal::Loaded;
use super::nulls;
use super::record::Record;
use super::spec::StateSpec;
use super::value::{Value, value_in};
use super::versions::Acceptance;

/// Limits how many changes may have written a document that was cut off: systems write to the disk every few seconds.
const MOST_LOST: usize = 100;

/// Describes a loop once document and journal agree.
pub(super) struct Judged {
    pub(super) record: Record,
    /// How the document must be written anew, if it must.
    pub(super) fix: Option<Fix>,
    /// What was edited by hand, and is to be journaled: the fields that the machine leaves open to that.
    pub(super) taken: Vec<(String, Value)>,
    /// The document as a migration makes it, if one is due. The record's phase is then that after it.
    pub(super) migrated: Option<Migrated>,
}

/// Holds the document that a migration makes, and the phase before it.
pub(super) struct Migrated {
    pub(super) from: String,
    pub(super) document: Box<dyn Document>,
}

/// Tells how a document is made to agree with the journal.
pub(super) enum Fix {
    /// From this revision, where the document has one.
    RollForward(Option<u64>),
    Rebuild,
    Undo(Vec<String>),
}

impl Reader<'_> {
    /// Says what the loop is.
    pub(super) fn judge(&self, id: &LoopId, found: &Found) -> Result<Judged, StoreError> {
        let &Self {
            store, versions, ..
        } = self;
        let spec = store.spec();
        let path = store.path_of(id);
        let mut changes = found.journal.iter().flat_map(Loaded::changes);
        let Some(last) = changes.next() else {
            return Err(match &found.state {
                State::Missing => store.no_loop(id),
                State::TooLarge => StoreError::Unreadable {
                    path,
                    error: DocumentError::TooLarge,
                    quarantined: None,
                },
                State::Unreadable(error, _) => StoreError::Unreadable {
                    path,
                    error: error.clone(),
                    quarantined: None,
                },
                State::Read(document, _) => match document.get(spec.fields.machine) {
                    None => StoreError::NoMachine { path },
                    Some(machine) if machine.to_plain() == spec.machine => {
                        StoreError::NoJournal { path }
                    }
                    Some(machine) => other_machine(store, path, &machine),
                },
            });
        };
        let journaled = |field: &str| last.field(field);
        match journaled(spec.fields.machine) {
            Some(machine) if machine.to_plain() != spec.machine => {
                return Err(other_machine(store, path, machine));
            }
            _ => {}
        }
        // The record says where the loop belongs; files that were brought here may say anything.
        if journaled(spec.fields.root)
            .is_none_or(|root| root.to_plain() != found.owned.root.as_str())
        {
            return Err(store.not_started_here(id));
        }
        let phase = journaled(spec.fields.phase)
            .map(|phase| phase.to_plain().into_owned())
            .unwrap_or_default();
        let hash = last.graph_hash(spec);
        let version = match &hash {
            Some(hash) if *hash != spec.graph_hash => Some(versions.of(store, hash)),
            _ => None,
        };
        let refused = |why: &str| {
            let known = version
                .as_ref()
                .and_then(|version| version.is_terminal(&phase));
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
            None => Acceptance::Accepted,
            Some(Ok(Acceptance::Accepted))
                if found
                    .journal
                    .as_ref()
                    .is_some_and(|loaded| left(spec, loaded)) =>
            {
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

        let is_whole = |document: &&dyn Document| {
            [spec.fields.revision, spec.fields.machine]
                .iter()
                .any(|field| document.get(field).is_some())
        };
        let is_cut_off = || {
            let recent = found
                .journal
                .iter()
                .flat_map(Loaded::changes)
                .take(MOST_LOST);
            let mut written = recent.map(|change| written(spec, &change.fields).to_bytes());
            found
                .state
                .bytes()
                .is_some_and(|bytes| written.any(|whole| is_begin(bytes, &whole)))
        };
        // What we write ends with a line's end, so one that was cut off has no such end, or fewer fields.
        let has_end = |document: &&dyn Document| {
            let bytes = found.state.bytes().unwrap_or_default();
            bytes.ends_with(b"\n") && document.fields().len() >= last.fields.len() || !is_cut_off()
        };
        let append_since = |document: &mut dyn Document, revision: u64| {
            let newer: Vec<_> = found.journal.iter().flat_map(Loaded::changes).collect();
            let newer = newer
                .iter()
                .rev()
                .filter(|change| change.revision > revision);
            newer
                .filter_map(|change| change.append.as_ref())
                .for_each(|text| document.append(text));
        };
        let mut taken = Vec::new();
        let (document, fix) = match found.state.document().filter(is_whole).filter(has_end) {
            Some(on_disk) => {
                let mut document = self.as_meant(on_disk, found.state.bytes().unwrap_or_default());
                let revision = document
                    .get(spec.fields.revision)
                    .and_then(|revision| revision.as_count());
                let before = changes.find(|before| Some(before.revision) == revision);
                match before {
                    Some(before) if edited(&*document, before).is_empty() => {
                        set_all(&mut *document, &last.fields);
                        append_since(&mut *document, before.revision);
                        // What later changes took away: a migration may rename a field.
                        for (field, _) in &before.fields {
                            if last.field(field).is_none() {
                                document.remove(field);
                            }
                        }
                        (document, Some(Fix::RollForward(Some(before.revision))))
                    }
                    _ => {
                        let mut edited = edited(&*document, last);
                        if !spec.is_terminal(&phase) {
                            edited.retain(|field| {
                                let value = document.get(field);
                                let is_taken = spec.takes_edit(field, value.as_ref());
                                taken.extend(
                                    value
                                        .filter(|_| is_taken)
                                        .map(|value| (field.clone(), value)),
                                );
                                !is_taken
                            });
                        }
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
            None => {
                let fix = if is_cut_off() {
                    Fix::RollForward(None)
                } else {
                    Fix::Rebuild
                };
                let kept = found.state.bytes().filter(|_| matches!(fix, Fix::Rebuild));
                let salvaged = kept.and_then(|bytes| spec.salvage(bytes));
                let is_new = salvaged.is_none();
                let mut document = salvaged.unwrap_or_else(|| spec.empty());
                set_all(&mut *document, &last.fields);
                if is_new {
                    append_since(&mut *document, 0);
                }
                for field in edited(&*document, last) {
                    document.remove(&field);
                }
                (document, Some(fix))
            }
        };
        let mut record = Record {
            id: id.clone(),
            revision: last.revision,
            visit: last.visit,
            phase: phase.clone(),
            document,
            journal: found.journal.as_ref().and_then(|read| read.stamp),
            spec,
        };
        let mut migrated = None;
        if let (Acceptance::Migrated, Some(version)) = (way, &version) {
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
            taken,
            migrated,
        })
    }

    /// Returns a document with what null means to the version that wrote it, which may be another one than ours.
    fn as_meant(&self, on_disk: &dyn Document, bytes: &[u8]) -> Box<dyn Document> {
        let spec = self.store.spec();
        let mut document = on_disk.boxed_clone();
        let writer = spec.fields.graph_hash.and_then(|field| document.get(field));
        let writer = writer.filter(|hash| hash.to_plain() != spec.graph_hash);
        let version = writer.map(|hash| self.versions.of(self.store, &hash.to_plain()));
        let Some(shape) = version.and_then(|version| version.shape.clone()) else {
            return document;
        };
        let (theirs, ours) = (shape.nulls(), spec.nulls());
        let Some(written) = spec.form.parse(bytes).ok().filter(|_| theirs != ours) else {
            return document;
        };
        let written = nulls::read_as(written, theirs.clone());
        for (field, _) in theirs.iter().chain(&ours) {
            if let Some(value) = written
                .get(field)
                .filter(|value| document.get(field).as_ref() != Some(value))
            {
                document.set(field, &value);
            }
        }
        document
    }
}

/// Makes the document of a change from nothing but its fields.
pub(super) fn written(spec: &StateSpec, fields: &[(String, Value)]) -> Box<dyn Document> {
    let mut document = spec.empty();
    for (name, value) in fields {
        document.set(name, value);
    }
    document
}

/// Returns whether these bytes are the begin of the whole, as a file system leaves a file of which not all was written: with nothing
/// or zeros behind.
fn is_begin(bytes: &[u8], whole: &[u8]) -> bool {
    let end = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1);
    (end < bytes.len() || bytes.len() < whole.len()) && whole.starts_with(&bytes[..end])
}

/// Returns the protected fields in which a document differs from a change of the journal.
fn edited(
    document: &dyn Document,
    change: &ChangeEntry,
    is_protected: impl Fn(&str) -> bool,
) -> Vec<String> {
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
        if !reads_same(value_in(&on_disk, name), change.field(name)) && !edited.contains(name) {
            edited.push(name.clone());
        }
    }
    edited
}

/// Returns whether a migration took the loop from our version. Were it taken back as it is, the migration would be due again: two
/// programs that alternate would set the same fields for ever, and a counter among them would bound nothing.
fn left(spec: &StateSpec, journal: &Loaded) -> bool {
    let mut later: Option<&ChangeEntry> = None;
    for change in journal.changes() {
        if later.is_some_and(|later| later.what == MIGRATE && later.by == ENGINE)
            && change.graph_hash(spec).as_deref() == Some(spec.graph_hash)
        {
            return true;
        }
        later = Some(change);
    }
    false
}

/// Returns whether two values read the same. Quotes around a number or a flag are no edit: what stands quoted stays quoted.
fn reads_same(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            let kind = |value: &Value| (*value == Value::Null, value.as_list().is_some());
            a == b || kind(a) == kind(b) && a.to_plain() == b.to_plain()
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
