//! Changing a loop: compare-and-swap on revision and phase, journal first, document second.

use camino::Utf8Path;
use jiff::Timestamp;

use super::document::is_field_name;
use super::error::{CommitError, StoreError, io_error};
use super::fault::{self, Point};
use super::id::{LoopId, iso};
use super::journal::{self, Change, ChangeEntry, Entry};
use super::lock::Held;
use super::record::Record;
use super::repair::{Older, heal};
use super::store::Store;
use super::value::Value;
use super::versions;
use crate::files::Folder;

impl Store {
    /// Makes a change of the loop that `held` is, and gives back what the loop is then.
    ///
    /// Under the project's lock the loop is opened again (and repaired, which the folder's log tells), its revision
    /// and phase are compared with `held`'s, the journal's line is appended and synced, and the document is renamed into
    /// place. A crash before the line is synced leaves the loop as it was; a crash after it leaves the change made, and
    /// the next open writes the document.
    ///
    /// # Errors
    /// [`CommitError::Stale`] when the loop on disk is another one than `held`. On any error nothing was changed.
    pub fn commit(&self, held: &Record, change: Change) -> Result<Record, CommitError> {
        self.some_loop(&held.id)?;
        self.locked(|lock| {
            let found = heal(self, lock, &held.id, Older::Migrate)?.record;
            let expected_phase = change.from.as_deref().unwrap_or(&held.phase);
            if found.revision != held.revision || found.phase != held.phase || found.phase != expected_phase {
                return Err(CommitError::Stale {
                    expected_phase: expected_phase.to_owned(),
                    found_phase: found.phase,
                    expected_revision: held.revision,
                    found_revision: found.revision,
                });
            }
            Ok(self.apply(lock, found, change)?)
        })
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
    ) -> Result<Record, CommitError> {
        let edits = vec![(
            self.spec().fields.session.to_owned(),
            Value::Word(session.to_owned()),
        )];
        self.commit(
            held,
            Change {
                edits,
                ..Change::bare(what, by)
            },
        )
    }

    /// Sets one field outside of the machine's transitions, and journals that.
    ///
    /// The phase and what says which document this is (id, revision, machine, root, graph hash) are refused always.
    /// Machine-owned fields, the session, the mode and the times of the start are refused unless `allow_owned`. The
    /// time of the last change is set to now, unless it is the field.
    ///
    /// # Errors
    /// [`StoreError::FieldOwned`], [`StoreError::FieldName`], and as [`Store::open`].
    pub fn set_field(
        &self,
        id: &LoopId,
        field: &str,
        value: Value,
        by: &str,
        allow_owned: bool,
    ) -> Result<Record, StoreError> {
        let spec = self.spec();
        let refuse = |owner| {
            Err(StoreError::FieldOwned {
                field: field.to_owned(),
                owner,
            })
        };
        if !is_field_name(field) {
            return Err(StoreError::FieldName {
                field: field.to_owned(),
            });
        }
        if spec.is_structural(field) {
            return refuse("the store");
        }
        if spec.is_protected(field) && !allow_owned {
            return refuse("the machine");
        }
        self.some_loop(id)?;
        self.locked(|lock| {
            let found = heal(self, lock, id, Older::Migrate)?.record;
            self.apply(
                lock,
                found,
                Change {
                    edits: vec![(field.to_owned(), value)],
                    ..Change::bare("set-field", by)
                },
            )
        })
    }

    /// Writes a change of `found`, which was read under the same lock.
    pub(super) fn apply(&self, lock: &Held, found: Record, change: Change) -> Result<Record, StoreError> {
        self.apply_at(lock, found, change, None)
    }

    /// Applies a change to a loop that belongs to another folder from then on.
    pub(super) fn apply_at(
        &self,
        lock: &Held,
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

impl Change {
    /// A change without edits that keeps the phase.
    pub fn bare(what: &str, by: &str) -> Self {
        Self {
            what: what.to_owned(),
            by: by.to_owned(),
            from: None,
            to: None,
            edits: Vec::new(),
            run: None,
            evidence: None,
        }
    }
}
