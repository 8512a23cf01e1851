//! Changing a loop: compare-and-swap on its revision, journal first, document second.

use std::io::ErrorKind;

use jiff::Timestamp;
use serde_json::Value as Json;

use super::document::is_field_name;
use super::entry::{Change, ChangeEntry, Entry, Record, set_engine_field};
use super::error::{OrIo as _, StoreError, WhyNotOurs};
use super::id::LoopId;
use super::state_folder::Store;
use super::value::Fields;

impl Store {
    /// Changes the loop that was read as `held`, and returns it. The change is made once the
    /// journal's line is synced; after a crash the next open writes the document.
    pub fn commit(&self, held: &Record, mut change: Change) -> Result<Record, StoreError> {
        let edits = &mut change.edits;
        edits.retain(|field, _| !self.spec.is_structural(field));
        let document = self.read_document(&held.id);
        if document.is_ok_and(|bytes| bytes == held.document) {
            return self.apply_change(held, change);
        }
        // Opening undoes an edit by hand, or makes it a change, after which this one is stale.
        let found = self.open(&held.id)?;
        if found.revision != held.revision {
            return Err(found.stale());
        }
        self.apply_change(&found, change)
    }

    pub(super) fn apply_change(&self, held: &Record, change: Change) -> Result<Record, StoreError> {
        let newest = held.newest.clone();
        let entry = newest.followed_by(self.spec, Timestamp::now(), change);
        self.append_change(&held.id, held.revision, &held.document, entry)
    }

    /// Appends a change after the revision `after`, and shows it in the document `found`.
    pub(super) fn append_change(
        &self,
        id: &LoopId,
        after: u64,
        found: &[u8],
        mut entry: ChangeEntry,
    ) -> Result<Record, StoreError> {
        let text = std::mem::take(&mut entry.change.text);
        let document = self.render(&entry.fields, found, &text);
        // A document that cannot be read again is not written.
        self.spec
            .parse(&document)
            .or_io("write", self.path_of(id))?;
        let appended = Entry::Change(Box::new(entry.clone()));
        let appended = self
            .journals()
            .append(id, Some(after), appended, Some(&document));
        match appended {
            Ok(()) => Ok(self.record(id, entry, document)),
            Err(StoreError::Stale { .. }) if after == 0 => Err(self.conflict_with(id, None)),
            Err(StoreError::Stale { revision: 0, .. }) => Err(self.no_loop(id)),
            Err(error) => Err(error),
        }
    }

    /// Binds the loop to a session. `what` is `bind` or `adopt`.
    pub fn set_session(
        &self,
        held: &Record,
        session: &str,
        what: &str,
        by: &str,
    ) -> Result<Record, StoreError> {
        let change = Change {
            edits: Fields::from_iter([(self.spec.fields.session.to_owned(), session.into())]),
            ..Change::new(what, by)
        };
        self.commit(held, change)
    }

    /// Sets one field without a transition. The phase and fields that identify the document are
    /// always refused, fields of the machine and the engine unless `allow_owned`.
    pub fn set_field(
        &self,
        id: &LoopId,
        field: &str,
        value: Json,
        by: &str,
        allow_owned: bool,
    ) -> Result<Record, StoreError> {
        let spec = self.spec;
        let why = if !is_field_name(field) {
            format!("`{}` cannot name a field", field.escape_debug())
        } else if spec.is_structural(field) {
            format!("the field `{field}` is written by the store only")
        } else if spec.is_protected(field) && !allow_owned {
            format!(
                "the field `{field}` is written by the machine only; use a command that changes it"
            )
        } else {
            String::new()
        };
        if !why.is_empty() {
            return Err(StoreError::input("set a field of", self.path_of(id), why));
        }
        loop {
            let held = self.open(id)?;
            let edits = Fields::from_iter([(field.to_owned(), value.clone())]);
            match self.apply_change(&held, Change::edit("set-field", by, edits)) {
                // Another process changed the loop in between.
                Err(StoreError::Stale { .. }) => {}
                written => return written,
            }
        }
    }

    /// Takes over a loop without this user's seal. Keeps its journal as `<id>/replaced-N`. Its
    /// newest entry, without evidence, begins a visit. Returns `false` if the loop is this user's.
    pub fn take_over(&self, id: &LoopId) -> Result<bool, StoreError> {
        match self.journal(id) {
            Err(StoreError::NotOurs {
                why: WhyNotOurs::Journal(_),
                ..
            }) => {}
            read => return read.map(|_| false),
        }
        let path = self.journal_path(id);
        let bytes = self.read(&path).or_io("read", &path)?;
        let names = &self.spec.fields;
        let is_of_machine = |newest: &ChangeEntry| {
            newest.field(names.machine).and_then(Json::as_str) == Some(self.spec.machine)
        };
        let mut newest = find_newest(&bytes)
            .filter(is_of_machine)
            .ok_or_else(|| ErrorKind::InvalidData.into())
            .or_io("find a change of this machine in", &path)?;
        self.refuse_active(id, newest.field(names.session).and_then(Json::as_str), None)?;
        self.keep_replaced(id, &bytes)?;
        set_engine_field(&mut newest.fields, names.root, self.root.as_str());
        let change = Change {
            begins_visit: true,
            ..Change::new("adopt", "person")
        };
        let entry = newest.followed_by(self.spec, Timestamp::now(), change);
        let document = self.read_document(id).unwrap_or_default();
        self.append_change(id, 0, &document, entry).map(|_| true)
    }
}

fn find_newest(journal: &[u8]) -> Option<ChangeEntry> {
    let mut lines = journal.split(|byte| *byte == b'\n').rev();
    lines.find_map(|line| {
        let end = memchr::memrchr(b'\t', line).unwrap_or(line.len());
        serde_json::from_slice(&line[..end]).ok()
    })
}
