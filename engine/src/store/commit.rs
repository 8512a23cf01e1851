//! Changing a loop: compare-and-swap on revision and phase, journal first, document second.

use jiff::Timestamp;

use super::document::is_field_name;
use super::entry::{Change, ChangeEntry, Entry};
use super::error::{Snapshot, StoreError, io_error};
use super::id::{LoopId, iso};
use super::journal::Line;
use super::open::render;
use super::record::{self, Record};
use super::store::Store;
use super::value::{MOST_COUNT, Value};

/// The largest change, in bytes of JSON.
const MAX_LINE: usize = 8 * 1024 * 1024;

impl Store {
    /// Makes a change of the loop that `held` is, and returns the loop after it.
    ///
    /// The journal's line is appended and synced, then the document is replaced. A crash before the line is synced leaves the
    /// loop as it was. A crash after it leaves the change made, and the next open writes the document.
    ///
    /// # Errors
    /// [`StoreError::Stale`] if the loop on disk is not the one that is held. On any error nothing was changed.
    pub fn commit(&self, held: &Record, change: Change) -> Result<Record, StoreError> {
        // An edit by hand since then is undone and kept, or becomes a change before this one, which then is stale.
        let found = match self.files().read_document(&held.id) {
            Ok(bytes) if bytes == held.document => held.clone(),
            _ => self.open(&held.id)?.record,
        };
        let from = change.from.as_deref().unwrap_or(&held.phase);
        if (found.revision, &*found.phase) != (held.revision, from) {
            let found = Snapshot {
                phase: found.phase,
                revision: found.revision,
            };
            return Err(StoreError::Stale { found });
        }
        match self.write(&found, change) {
            Err(StoreError::Stale { found }) if found.revision == 0 => Err(self.no_loop(&held.id)),
            written => written,
        }
    }

    /// Writes a change of a loop at its revision.
    pub(super) fn write(&self, held: &Record, change: Change) -> Result<Record, StoreError> {
        let spec = self.spec();
        let at = Timestamp::now();
        let mut fields = held.fields.clone();
        let mut set = |field: &str, value| record::set(&mut fields, field, value);
        for (field, value) in &change.edits {
            self.check_range(&held.id, field, value)?;
            if !spec.is_structural(field) {
                set(field, value.clone());
            }
        }
        let revision = held.revision + 1;
        let to = change.to.unwrap_or_else(|| held.phase.clone());
        set(spec.fields.phase, Value::Word(to.clone()));
        set(spec.fields.revision, Value::Count(revision));
        if let Some(root) = change.root {
            set(spec.fields.root, Value::Text(root));
        }
        if let Some(field) = spec.fields.graph_hash {
            set(field, Value::Word(spec.graph_hash.to_owned()));
        }
        if let Some(field) = spec.fields.updated
            && !change.edits.iter().any(|(edited, _)| edited == field)
        {
            set(field, Value::Word(iso(at)));
        }
        let visit = match change.begins_visit {
            true => Some(revision),
            false => held.visit,
        };
        if let Some((field, visit)) = spec.fields.visit.zip(visit) {
            set(field, Value::Count(visit));
        }
        // What an earlier visit rests on says nothing of this one.
        let run = match change.begins_visit {
            true => Some(""),
            false => change.run.as_deref(),
        };
        if let Some((field, run)) = spec.fields.run.zip(run) {
            set(field, Value::Word(run.to_owned()));
        }
        let entry = ChangeEntry {
            revision,
            at,
            what: change.what,
            by: change.by,
            args: change.args,
            from: Some(held.phase.clone()),
            to: Some(to),
            append: change.append,
            run: change.run,
            evidence: change.evidence,
            visit,
            fields,
        };
        self.append(&held.id, held.revision, &held.document, entry)
    }

    /// Refuses a number that could not be read again.
    pub(super) fn check_range(
        &self,
        id: &LoopId,
        field: &str,
        value: &Value,
    ) -> Result<(), StoreError> {
        match value.beyond_range() {
            Some(count) => {
                let why = format!(
                    "expected a whole number of at most {MOST_COUNT} for `{field}`, found {count}"
                );
                Err(StoreError::input("write", self.path_of(id), why))
            }
            None => Ok(()),
        }
    }

    /// Appends a change to a journal, and shows it in the document.
    pub(super) fn append(
        &self,
        id: &LoopId,
        after: u64,
        found: &[u8],
        entry: ChangeEntry,
    ) -> Result<Record, StoreError> {
        let spec = self.spec();
        let texts: Vec<String> = entry.append.iter().cloned().collect();
        let document = render(spec, spec.parse(found).ok(), &entry.fields, &texts);
        // What cannot be read again is not written.
        if let Err(error) = spec.parse(&document) {
            let path = self.path_of(id);
            return Err(StoreError::document("write", path, error));
        }
        let record = Record::new(spec, id, &entry, document);
        let json = serde_json::to_vec(&Entry::Change(entry))
            .map_err(|error| io_error("write", &self.journal_path(id))(error.into()))?;
        if json.len() > MAX_LINE {
            let path = self.journal_path(id);
            return Err(StoreError::Full { path });
        }
        let line = Line {
            json: &json,
            after: Some(after),
            document: Some(&record.document),
        };
        self.journal_of().append(id, line)?;
        Ok(record)
    }

    /// Gives the loop to a session; `what` is `bind` or `adopt`.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub fn set_session(
        &self,
        held: &Record,
        session: &str,
        what: &str,
        by: &str,
    ) -> Result<Record, StoreError> {
        let session = Value::Word(session.to_owned());
        let change = Change {
            edits: vec![(self.spec().fields.session.to_owned(), session)],
            ..Change::bare(what, by)
        };
        self.commit(held, change)
    }

    /// Sets one field outside of the machine's transitions, and journals that.
    ///
    /// The phase and what says which document this is are always refused. Fields that the machine owns, the session, the mode
    /// and the times of the start are refused unless `allow_owned`. The time of the last change is set to now, unless it is the
    /// field.
    ///
    /// # Errors
    /// Returns an error if the field is not one that may be set, and as [`Store::open`].
    pub fn set_field(
        &self,
        id: &LoopId,
        field: &str,
        value: Value,
        by: &str,
        allow_owned: bool,
    ) -> Result<Record, StoreError> {
        let spec = self.spec();
        let why = match () {
            () if !is_field_name(field) => {
                format!("`{}` cannot name a field", field.escape_debug())
            }
            () if spec.is_structural(field) => {
                format!("the field `{field}` is written by the store only")
            }
            () if spec.is_protected(field) && !allow_owned => {
                format!("the field `{field}` is written by the machine only")
            }
            () => String::new(),
        };
        if !why.is_empty() {
            return Err(StoreError::input("set a field of", self.path_of(id), why));
        }
        loop {
            let held = self.open(id)?.record;
            let change = Change {
                edits: vec![(field.to_owned(), value.clone())],
                ..Change::bare("set-field", by)
            };
            match self.write(&held, change) {
                // Another process changed the loop in between.
                Err(StoreError::Stale { .. }) => {}
                written => return written,
            }
        }
    }
}
