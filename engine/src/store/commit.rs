//! Changing a loop: compare-and-swap on revision and phase, journal first, document second.

use std::io;

use jiff::Timestamp;
use serde_json::Value as Json;

use super::document::is_field_name;
use super::entry::{Change, ChangeEntry, Record};
use super::error::{OrIo as _, StoreError, WhyNotOurs};
use super::id::{LoopId, iso};
use super::journal::After;
use super::store::Store;
use super::value::{FieldValue as _, Fields, MOST_COUNT};

/// The largest change, in bytes of JSON.
const MAX_LINE: usize = 8 * 1024 * 1024;

impl Store {
    /// Makes a change of the loop that `held` is, and returns the loop after it.
    ///
    /// The journal's line is appended and synced, then the document is replaced. A crash before the line is synced leaves the
    /// loop as it was. A crash after it leaves the change made, and the next open writes the document.
    pub fn commit(&self, held: &Record, change: Change) -> Result<Record, StoreError> {
        // An edit by hand since then is undone and kept, or becomes a change before this one, which then is stale.
        let found = match self.read_document(&held.id) {
            Ok(bytes) if bytes == held.document => held.clone(),
            _ => self.open(&held.id)?.record,
        };
        let from = change.from.as_deref().unwrap_or(held.phase());
        if (found.revision(), found.phase()) != (held.revision(), from) {
            let found = found.snapshot();
            return Err(StoreError::Stale { found });
        }
        match self.write(&found, change) {
            Err(StoreError::Stale { found }) if found.revision == 0 => Err(self.no_loop(&held.id)),
            written => written,
        }
    }

    pub(super) fn write(&self, held: &Record, change: Change) -> Result<Record, StoreError> {
        let entry = self.next_entry(Timestamp::now(), held.newest.clone(), change);
        let after = After::Revision(held.revision());
        self.append(&held.id, after, &held.document, entry)
    }

    /// Makes the entry of a change that follows another one.
    pub(super) fn next_entry(
        &self,
        at: Timestamp,
        newest: ChangeEntry,
        mut change: Change,
    ) -> ChangeEntry {
        let spec = self.spec();
        let names = &spec.fields;
        let mut fields = newest.fields;
        let edits = std::mem::take(&mut change.edits);
        let updated = names.updated.filter(|name| !edits.contains_key(*name));
        fields.extend(
            edits
                .into_iter()
                .filter(|(field, _)| !spec.is_structural(field)),
        );
        let revision = newest.revision + 1;
        change.from = newest.change.to.clone();
        change.to = change.to.or(newest.change.to);
        let (visit, run) = if change.begins_visit {
            // The run of an earlier visit does not count for this one.
            (Some(revision), Some(""))
        } else {
            (newest.visit, change.run.as_deref())
        };
        let kept: [(Option<&str>, Option<Json>); 7] = [
            (Some(names.phase), change.to.as_deref().map(Json::from)),
            (Some(names.revision), Some(revision.into())),
            (Some(names.root), change.root.as_deref().map(Json::from)),
            (names.graph_hash, Some(spec.graph_hash.into())),
            (updated, Some(iso(at).into())),
            (names.visit, visit.map(Json::from)),
            (names.run, run.map(Json::from)),
        ];
        for (name, value) in kept {
            let pair = name.zip(value);
            fields.extend(pair.map(|(name, value)| (name.to_owned(), value)));
        }
        ChangeEntry {
            revision,
            at,
            change,
            visit,
            fields,
        }
    }

    /// Appends a change to a journal, and shows it in the document `found`.
    pub(super) fn append(
        &self,
        id: &LoopId,
        after: After,
        found: &[u8],
        entry: ChangeEntry,
    ) -> Result<Record, StoreError> {
        let is_inexact = |value: &Json| value.as_u64().is_some_and(|count| count > MOST_COUNT);
        if let Some((field, found)) = entry.fields.iter().find(|(_, value)| is_inexact(value)) {
            let why = format!(
                "expected a whole number of at most {MOST_COUNT} for `{field}`, found {found}"
            );
            return Err(StoreError::input("write", self.path_of(id), why));
        }
        let spec = self.spec();
        let document = spec
            .parse(found)
            .unwrap_or_else(|_| spec.empty())
            .with(&entry.fields, entry.append.as_slice())
            .to_bytes();
        // A document that cannot be read again is not written.
        spec.parse(&document).or_io("write", self.path_of(id))?;
        let path = self.journal_path(id);
        let json = serde_json::to_vec(&entry)
            .map_err(io::Error::from)
            .or_io("write", &path)?;
        if json.len() > MAX_LINE {
            return Err(StoreError::Full { path });
        }
        self.journal_of()
            .append(id, after, &json, Some(&document))?;
        Ok(self.record(id, entry, document))
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
            edits: Fields::from_iter([(self.spec().fields.session.to_owned(), session.into())]),
            ..Change::bare(what, by)
        };
        self.commit(held, change)
    }

    /// Sets one field outside of the machine's transitions, and journals that.
    ///
    /// The phase and the fields that identify the document are always refused. Fields that the machine owns, the session, the mode
    /// and the times of the start are refused unless `allow_owned`. The time of the last change is set to now, unless it is the
    /// field.
    pub fn set_field(
        &self,
        id: &LoopId,
        field: &str,
        value: Json,
        by: &str,
        allow_owned: bool,
    ) -> Result<Record, StoreError> {
        let refuse = |why: String| Err(StoreError::input("set a field of", self.path_of(id), why));
        if !is_field_name(field) {
            return refuse(format!("`{}` cannot name a field", field.escape_debug()));
        }
        if self.spec().is_structural(field) {
            return refuse(format!("the field `{field}` is written by the store only"));
        }
        if self.spec().is_protected(field) && !allow_owned {
            return refuse(format!(
                "the field `{field}` is written by the machine only"
            ));
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

    /// Takes over a loop whose journal does not have this user's seal: copied, moved from another machine, or after the key was
    /// lost. The newest entry of its journal is sealed again, without its evidence, and begins a new visit. The journal as it
    /// was is kept as `<id>/replaced-N`. Returns `false` if the loop is this user's already.
    pub fn take_over(&self, id: &LoopId, by: &str) -> Result<bool, StoreError> {
        match self.journal(id) {
            Err(error) if error.is_unsealed() => {}
            Err(StoreError::NotFound { .. }) => {
                self.newest(id)?;
                return Ok(false);
            }
            read => return read.map(|_| false),
        }
        let path = self.journal_path(id);
        let bytes = self.read(&path).or_io("read", &path)?;
        let names = &self.spec().fields;
        let newest = find_newest(&bytes).filter(|newest| {
            let machine = newest.field(names.machine);
            machine.is_some_and(|machine| machine.to_plain() == self.spec().machine)
        });
        let newest = newest.ok_or_else(|| self.not_ours(id, WhyNotOurs::NoJournal))?;
        let session = newest.field(names.session).and_then(Json::as_str);
        self.refuse_active(id, session, None)?;
        self.keep_replaced(id, &bytes)?;
        let change = Change {
            root: Some(self.root().to_string()),
            begins_visit: true,
            ..Change::bare("adopt", by)
        };
        let entry = self.next_entry(Timestamp::now(), newest, change);
        let document = self.read_document(id).unwrap_or_default();
        match self.append(id, After::Foreign, &document, entry) {
            Ok(_) => Ok(true),
            Err(StoreError::Stale { .. }) => Err(self.active(id.as_str(), None)),
            Err(error) => Err(error),
        }
    }
}

fn find_newest(journal: &[u8]) -> Option<ChangeEntry> {
    let mut lines = journal.split(|byte| *byte == b'\n').rev();
    lines.find_map(|line| {
        let end = memchr::memrchr(b'\t', line).unwrap_or(line.len());
        serde_json::from_slice(&line[..end]).ok()
    })
}
