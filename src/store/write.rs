//! Writing a change: the journal first, the document second. Whoever calls has read the loop under the same lock.

use std::io::ErrorKind;

use camino::Utf8Path;
use jiff::Timestamp;

use super::document::is_field_name;
use super::entry::{Change, ChangeEntry, Entry, PERSON};
use super::error::{StoreError, io_error};
use super::fault::{self, Point};
use super::id::iso;
use super::journal;
use super::lock::LockGuard;
use super::record::Record;
use super::recover::written;
use super::storage::{MOST_JOURNAL, Storage};
use super::store::Store;
use super::value::Value;

impl Store {
    /// Writes a change of `found`, which was read under the same lock.
    pub(super) fn apply(
        &self,
        lock: &LockGuard,
        found: Record,
        change: Change,
    ) -> Result<Record, StoreError> {
        let storage = self.storage(lock.folder(), &found.id)?;
        self.apply_at(lock, &*storage, found, change, None)
    }

    /// Writes a change of `record`, which was read from this storage under the same lock. The loop belongs to the folder `root` from then on, where
    /// one is given.
    pub(super) fn apply_at(
        &self,
        lock: &LockGuard,
        storage: &dyn Storage,
        mut record: Record,
        change: Change,
        root: Option<&Utf8Path>,
    ) -> Result<Record, StoreError> {
        let spec = self.spec();
        let at = Timestamp::now();
        let document = &mut record.document;
        for (field, value) in &change.edits {
            if !is_field_name(field) {
                return Err(StoreError::FieldName {
                    field: field.clone(),
                });
            }
            value.check_range(field)?;
            if !spec.is_structural(field) {
                document.set(field, value);
            }
        }
        if let Some(text) = &change.append {
            document.append(text);
        }
        record.revision += 1;
        let from = record.phase.clone();
        record.phase = change.to.unwrap_or(record.phase);
        document.set(spec.fields.phase, &Value::Word(record.phase.clone()));
        document.set(spec.fields.revision, &Value::Count(record.revision));
        if let Some(root) = root {
            document.set(spec.fields.root, &Value::Text(root.to_string()));
        }
        if let Some(field) = spec.fields.graph_hash {
            let ours = Value::Word(spec.graph_hash.to_owned());
            if document.get(field).as_ref() != Some(&ours) {
                // The first change of a loop that another version wrote: from now on it is one of this version.
                self.own_version(&record.id)?;
                document.set(field, &ours);
            }
        }
        if let Some(field) = spec.fields.updated
            && !change.edits.iter().any(|(edited, _)| edited == field)
        {
            document.set(field, &Value::Word(iso(at)));
        }
        if change.begins_visit {
            record.visit = Some(record.revision);
        }
        if let Some((field, visit)) = spec.fields.visit.zip(record.visit) {
            document.set(field, &Value::Count(visit));
        }
        // What an earlier visit rests on says nothing of this one.
        let run = match change.begins_visit {
            true => Some(""),
            false => change.run.as_deref(),
        };
        if let Some((field, run)) = spec.fields.run.zip(run) {
            document.set(field, &Value::Word(run.to_owned()));
        }
        let entry = ChangeEntry {
            revision: record.revision,
            at,
            what: change.what,
            by: change.by,
            args: change.args,
            from: Some(from),
            to: Some(record.phase.clone()),
            append: change.append,
            run: change.run,
            evidence: change.evidence,
            visit: record.visit,
            fields: record.document.fields(),
        };
        self.write(lock, storage, &mut record, entry)?;
        Ok(record)
    }

    /// Journal first, document second. The journal's line is the only write that is synced: a document that is lost with the power is
    /// written anew from it. What the journal does not have (comments, an order, the text of a file of the user's) is synced before.
    pub(super) fn write(
        &self,
        lock: &LockGuard,
        storage: &dyn Storage,
        record: &mut Record,
        entry: ChangeEntry,
    ) -> Result<(), StoreError> {
        let path = storage.document_path();
        let bytes = record.document.to_bytes();
        // Never write what could not be read again.
        record
            .document
            .check()
            .map_err(|error| StoreError::Unwritable {
                path: path.clone(),
                error,
            })?;
        let durable = written(self.spec(), &entry.fields).to_bytes() != bytes;
        // The new document is there before the journal announces it, so that a full disk refuses the change here.
        let staged = storage
            .stage(&bytes, durable)
            .map_err(io_error("write", &path))?;
        fault::point(Point::Prepared);
        // However long a journal is, a person ends the loop.
        let most = if entry.by == PERSON && record.is_terminal() {
            u64::MAX
        } else {
            MOST_JOURNAL
        };
        let length = journal::append_up_to(storage, &Entry::Change(entry), most)?;
        fault::point(Point::Journaled);
        if record.revision == 1 {
            // Whoever sees the loop may change it, and nothing syncs these names after that.
            let synced = storage.sync_journal();
            synced.map_err(io_error("sync", &storage.journal_path()))?;
        }
        if let Err(error) = staged.publish() {
            // The caller is told that nothing changed, so the announcement must go. Where even that fails, the next
            // open rolls the change forward.
            let _ = storage.cut(length);
            return Err(match error.kind() {
                ErrorKind::CrossesDevices => StoreError::OtherFileSystem {
                    path,
                    folder: self.folder().to_owned(),
                },
                _ => io_error("replace", &path)(error),
            });
        }
        fault::point(Point::Renamed);
        if record.is_terminal() {
            self.index_over(lock, &record.id);
        }
        record.journal = storage.stamp().unwrap_or_default();
        Ok(())
    }
}
