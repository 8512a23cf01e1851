//! Taking over a loop whose journal does not have this user's seal: copied, moved from another machine, or after the key was
//! lost.

use super::entry::{ADOPT, ChangeEntry};
use super::error::{StartError, StoreError, WhyNotOurs, io_error};
use super::id::LoopId;
use super::journal::After;
use super::loop_folder::JOURNAL;
use super::store::Store;
use super::value::FieldValue as _;

/// The most bytes that are read of a journal that is taken over.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

impl Store {
    /// Takes a loop over, as the user decides. The newest entry of its journal is sealed anew, without its evidence, and begins
    /// a new visit. The journal as it was is kept as `<id>/replaced-N`. Returns `false` if the loop is this user's already.
    ///
    /// # Errors
    /// Another loop is under way, there is no journal with a change of this machine, or it cannot be written.
    pub fn take_over(&self, id: &LoopId, by: &str) -> Result<bool, StartError> {
        match self.journal_of().entries(id, None) {
            Ok(entries) if entries.is_empty() => return Err(self.why_none(id).into()),
            Ok(_) => return Ok(false),
            Err(StoreError::NotOurs { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let path = self.journal_path(id);
        let folder = self.open_loop_folder(id).map_err(io_error("open", &path))?;
        let bytes = folder
            .read(JOURNAL, MAX_BYTES)
            .map_err(io_error("read", &path))?;
        let newest = newest(&bytes).filter(|newest| {
            let machine = newest.field(self.spec().fields.machine);
            machine.is_some_and(|machine| machine.to_plain() == self.spec().machine)
        });
        let Some(newest) = newest else {
            return Err(self.not_ours(id, WhyNotOurs::NoJournal).into());
        };
        let session = newest.field(self.spec().fields.session);
        self.refuse_active(id, session.and_then(|session| session.as_str()), None)?;
        self.keep_replaced(id, &bytes)?;
        let entry = self.adopted(newest, by);
        self.forget(id);
        let document = self.read_document(id).unwrap_or_default();
        match self.append(id, After::Foreign, &document, entry) {
            Ok(_) => Ok(true),
            Err(StoreError::Stale { .. }) => Err(self.exists(id).into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the first entry of a loop that is taken over.
    fn adopted(&self, newest: ChangeEntry, by: &str) -> ChangeEntry {
        let names = &self.spec().fields;
        let revision = newest.revision + 1;
        let mut fields = newest.fields;
        for (name, value) in [
            (Some(names.root), self.root().as_str().into()),
            (Some(names.revision), revision.into()),
            (names.visit, revision.into()),
            (names.run, "".into()),
        ] {
            if let Some(old) = name.and_then(|name| fields.get_mut(name)) {
                *old = value;
            }
        }
        ChangeEntry {
            revision,
            at: jiff::Timestamp::now(),
            what: ADOPT.to_owned(),
            by: by.to_owned(),
            from: newest.to.clone(),
            to: newest.to,
            visit: Some(revision),
            fields,
            ..ChangeEntry::default()
        }
    }
}

/// Returns the newest change in a journal, whoever sealed it.
fn newest(bytes: &[u8]) -> Option<ChangeEntry> {
    let mut lines = bytes.split(|byte| *byte == b'\n').rev();
    lines.find_map(|line| {
        let end = memchr::memrchr(b'\t', line).unwrap_or(line.len());
        serde_json::from_slice(&line[..end]).ok()
    })
}
