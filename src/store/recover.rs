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
//!
//! Bytes that are replaced for another reason than a crash are kept in `quarantine/`. Nothing here writes; `repair` does.

use super::document::{Document, DocumentError};
use super::entry::ChangeEntry;
use super::error::StoreError;
use super::id::LoopId;
use super::inspect::{Found, Reader, State, other_machine};
use super::journal::Loaded;
use super::record::Record;
use super::spec::StateSpec;
use super::value::{Value, value_in};

/// Limits how many changes may have written a document that was cut off: systems write to the disk every few seconds.
const MOST_LOST: usize = 100;

/// Describes a loop once document and journal agree.
pub(super) struct Judged {
    pub(super) record: Record,
    /// How the document must be written anew, if it must.
    pub(super) fix: Option<Fix>,
    /// What was edited by hand, and is to be journaled: the fields that the machine leaves open to that.
    pub(super) taken: Vec<(String, Value)>,
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
        let store = self.store;
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
        let edited = |document: &dyn Document, change: &ChangeEntry| {
            edited(document, change, |field| spec.is_protected(field))
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
                let mut document = on_disk.boxed_clone();
                let revision = document
                    .get(spec.fields.revision)
                    .and_then(|revision| revision.as_count());
                let before = changes.find(|before| Some(before.revision) == revision);
                match before {
                    Some(before) if edited(&*document, before).is_empty() => {
                        set_all(&mut *document, &last.fields);
                        append_since(&mut *document, before.revision);
                        // What later changes took away.
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
        let record = Record {
            id: id.clone(),
            revision: last.revision,
            visit: last.visit,
            phase,
            document,
            journal: found.journal.as_ref().and_then(|read| read.stamp),
            spec,
        };
        Ok(Judged { record, fix, taken })
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
