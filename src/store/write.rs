//! Writing a change: the journal first, the document second. Whoever calls has read the loop under the same lock.

use camino::Utf8Path;
use jiff::Timestamp;

use super::document::is_field_name;
use super::entry::{Change, ChangeEntry, Entry};
use super::error::{StoreError, io_error};
use super::fault::{self, Point};
use super::id::iso;
use super::journal;
use super::lock::LockGuard;
use super::record::Record;
use super::store::Store;
use super::value::Value;
use super::versions;
use crate::files::Folder;

impl Store {
    /// Writes a change of `found`, which was read under the same lock.
    pub(super) fn apply(
        &self,
        lock: &LockGuard,
        found: Record,
        change: Change,
    ) -> Result<Record, StoreError> {
        self.apply_at(lock, found, change, None)
    }

    /// Applies a change to a loop that belongs to another folder from then on.
    pub(super) fn apply_at(
        &self,
        lock: &LockGuard,
        found: Record,
        change: Change,
        root: Option<&Utf8Path>,
    ) -> Result<Record, StoreError> {
        let spec = self.spec();
        let at = Timestamp::now();
        let mut document = found.document;
        for (field, value) in &change.edits {
            if !is_field_name(field) {
                return Err(StoreError::FieldName { field: field.clone() });
            }
            if !spec.is_structural(field) {
                document.set(field, value);
            }
        }
        let revision = found.revision + 1;
        let phase = change.to.unwrap_or_else(|| found.phase.clone());
        document.set(spec.fields.phase, &Value::Word(phase.clone()));
        document.set(spec.fields.revision, &Value::Count(revision));
        if let Some(root) = root {
            document.set(spec.fields.root, &Value::Text(root.to_string()));
        }
        if let Some(field) = spec.fields.graph_hash {
            let ours = Value::Word(spec.graph_hash.to_owned());
            if document.get(field).as_ref() != Some(&ours) {
                // The first change of a loop that another version wrote: from now on it is one of this version.
                versions::keep(self)?;
                self.own_version(&found.id)?;
                document.set(field, &ours);
            }
        }
        if let Some(field) = spec.fields.updated
            && !change.edits.iter().any(|(edited, _)| edited == field)
        {
            document.set(field, &Value::Word(iso(at)));
        }
        let record = Record {
            id: found.id,
            revision,
            phase: phase.clone(),
            document,
            spec,
        };
        let entry = ChangeEntry {
            revision,
            at,
            what: change.what,
            by: change.by,
            from: Some(found.phase),
            to: Some(phase),
            run: change.run,
            evidence: change.evidence,
            fields: record.document.fields(),
        };
        self.write(lock.folder(), &record, entry)?;
        Ok(record)
    }

    /// Journal first, document second.
    pub(super) fn write(&self, here: &Folder, record: &Record, entry: ChangeEntry) -> Result<(), StoreError> {
        let path = self.path_of(&record.id);
        let folder = here
            .below(record.id.as_str())
            .map_err(io_error("open", &self.loop_folder(&record.id)))?;
        let bytes = record.document.to_bytes();
        // Never write what could not be read again.
        self.spec()
            .form
            .parse(&bytes)
            .map_err(|error| StoreError::Unwritable {
                path: path.clone(),
                error,
            })?;
        // The new document is on disk before the journal announces it, so that a full disk refuses the change here.
        let prepared = here
            .prepare(&self.name_of(&record.id), &bytes)
            .map_err(io_error("write", &path))?;
        fault::point(Point::Prepared);
        let length = journal::append(&folder, &Entry::Change(entry))?;
        fault::point(Point::Journaled);
        if let Err(error) = prepared.rename() {
            // The caller is told that nothing changed, so the announcement must go. Where even that fails, the next
            // open rolls the change forward.
            let _ = journal::cut(&folder, length);
            return Err(io_error("replace", &path)(error));
        }
        fault::point(Point::Renamed);
        // The journal's line is durable, so a failure here loses nothing: after a power loss the next open would roll forward.
        let _ = here.sync();
        Ok(())
    }
}
