//! Changing a loop: compare-and-swap on revision and phase, journal first, document second.

use super::document::is_field_name;
use super::entry::{Change, PERSON};
use super::error::{CommitError, StoreError};
use super::id::LoopId;
use super::lock::LockGuard;
use super::record::Record;
use super::repair::{Look, Opened, Repair, repair};
use super::store::Store;
use super::value::Value;

impl Store {
    /// Makes a change of the loop that `held` is, and gives back what the loop is then.
    ///
    /// Under the project's lock the files are compared with `held`'s: the document's bytes, and number, size and time of the
    /// journal. Where they differ, the loop is opened again (and repaired, which the folder's log tells), and its revision and
    /// phase are compared. Then the journal's line is appended and synced, and the document is renamed into place. A crash
    /// before the line is synced leaves the loop as it was; a crash after it leaves the change made, and the next open writes
    /// the document.
    ///
    /// # Errors
    /// [`CommitError::Stale`] when the loop on disk is another one than `held`. On any error nothing was changed.
    pub fn commit(&self, held: &Record, change: Change) -> Result<Record, CommitError> {
        self.locked_on(&held.id, |lock| {
            // A loop is over only where all of its journal holds. A person ends it whatever it holds.
            let to = change.to.as_deref().filter(|_| change.by != PERSON);
            let ends = to.is_some_and(|to| self.spec().is_terminal(to));
            let storage = self.storage(lock.folder(), &held.id)?;
            let found = match ends {
                true => self.verified(lock, &held.id)?,
                // Nothing but a change of the files makes another loop of it, so they are not read and judged again.
                false if held.stands_in(&*storage) => held.clone(),
                false => repair(self, lock, &held.id, Look::Newest)?.record,
            };
            let expected_phase = change.from.as_deref().unwrap_or(&held.phase);
            if found.revision != held.revision
                || found.phase != held.phase
                || found.phase != expected_phase
            {
                return Err(CommitError::Stale {
                    expected_phase: expected_phase.to_owned(),
                    found_phase: found.phase,
                    expected_revision: held.revision,
                    found_revision: found.revision,
                });
            }
            Ok(self.apply_at(lock, &*storage, found, change, None)?)
        })
    }

    /// Opens a loop whose whole journal holds.
    fn verified(&self, lock: &LockGuard, id: &LoopId) -> Result<Record, StoreError> {
        let Opened { record, repairs } = repair(self, lock, id, Look::Whole)?;
        match repairs.into_iter().find_map(Repair::cleaned) {
            Some(lines) => Err(StoreError::JournalCleaned {
                path: self.journal_path(id),
                lines,
            }),
            None => Ok(record),
        }
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
        self.locked_on(id, |lock| {
            let found = repair(self, lock, id, Look::Newest)?.record;
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
}
