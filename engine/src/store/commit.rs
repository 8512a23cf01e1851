//! Changing a loop: compare-and-swap on revision and phase, journal first, document second.

use jiff::Timestamp;
use serde_json::Value as Json;

use super::document::is_field_name;
use super::entry::{Change, ChangeEntry};
use super::error::{Snapshot, StoreError, io_error};
use super::id::{LoopId, iso};
use super::journal::{After, Line};
use super::open::render;
use super::record::Record;
use super::store::Store;
use super::value::{Fields, MOST_COUNT};

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
        let found = match self.read_document(&held.id) {
            Ok(bytes) if bytes == held.document => held.clone(),
            _ => self.open(&held.id)?.record,
        };
        let from = change.from.as_deref().unwrap_or(held.phase());
        if (found.revision(), found.phase()) != (held.revision(), from) {
            let found = Snapshot {
                phase: found.phase().to_owned(),
                revision: found.revision(),
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
        let mut fields = held.newest.fields.clone();
        let has_time = spec
            .fields
            .updated
            .is_some_and(|field| change.edits.contains_key(field));
        for (field, value) in change.edits {
            self.check_range(&held.id, &field, &value)?;
            if !spec.is_structural(&field) {
                fields.insert(field, value);
            }
        }
        let revision = held.revision() + 1;
        let to = change.to.unwrap_or_else(|| held.phase().to_owned());
        let visit = if change.begins_visit {
            Some(revision)
        } else {
            held.visit()
        };
        // What an earlier visit rests on says nothing of this one.
        let run = if change.begins_visit {
            Some("")
        } else {
            change.run.as_deref()
        };
        let names = &spec.fields;
        let kept: [(Option<&str>, Option<Json>); 7] = [
            (Some(names.phase), Some(to.as_str().into())),
            (Some(names.revision), Some(revision.into())),
            (Some(names.root), change.root.map(Json::from)),
            (names.graph_hash, Some(spec.graph_hash.into())),
            (names.updated.filter(|_| !has_time), Some(iso(at).into())),
            (names.visit, visit.map(Json::from)),
            (names.run, run.map(Json::from)),
        ];
        for (name, value) in kept {
            if let Some((name, value)) = name.zip(value) {
                fields.insert(name.to_owned(), value);
            }
        }
        let entry = ChangeEntry {
            revision,
            at,
            what: change.what,
            by: change.by,
            args: change.args,
            from: Some(held.phase().to_owned()),
            to: Some(to),
            append: change.append,
            run: change.run,
            evidence: change.evidence,
            visit,
            fields,
        };
        let after = After::Revision(held.revision());
        self.append(&held.id, after, &held.document, entry)
    }

    /// Refuses a number that not every reader of JSON reads exactly.
    pub(super) fn check_range(
        &self,
        id: &LoopId,
        field: &str,
        value: &Json,
    ) -> Result<(), StoreError> {
        match value.as_u64() {
            Some(count) if count > MOST_COUNT => {
                let why = format!(
                    "expected a whole number of at most {MOST_COUNT} for `{field}`, found {count}"
                );
                Err(StoreError::input("write", self.path_of(id), why))
            }
            _ => Ok(()),
        }
    }

    /// Appends a change to a journal, and shows it in the document.
    pub(super) fn append(
        &self,
        id: &LoopId,
        after: After,
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
        let json = serde_json::to_vec(&entry)
            .map_err(|error| io_error("write", &self.journal_path(id))(error.into()))?;
        if json.len() > MAX_LINE {
            let path = self.journal_path(id);
            return Err(StoreError::Full { path });
        }
        let line = Line {
            json: &json,
            after,
            document: Some(&document),
        };
        self.journal_of().append(id, line)?;
        Ok(self.record(id, entry, document))
    }

    /// Binds the loop to a session. `what` is `bind` or `adopt`.
    ///
    /// # Errors
    /// Returns the errors of [`Store::commit`].
    pub fn set_session(
        &self,
        held: &Record,
        session: &str,
        what: &str,
        by: &str,
    ) -> Result<Record, StoreError> {
        let change = Change {
            edits: Fields::from_iter([(self.spec().fields.session.to_owned(), session.into())]),
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
        value: Json,
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
                edits: Fields::from_iter([(field.to_owned(), value.clone())]),
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
