//! Taking up a loop that no record of this user's knows.

use super::entry::{ADOPT, Change};
use super::error::StoreError;
use super::id::LoopId;
use super::journal::Loaded;
use super::repair::{Look, repair};
use super::store::Store;
use super::validation;
use super::value::{Value, value_in};

impl Store {
    /// Takes up a loop that no record knows, as a person decides: one that was copied or moved here, or that an earlier
    /// version of the program began. It belongs to the project that it lies in from then on, and its journal says so.
    /// Returns `false` where the record knew it already.
    ///
    /// # Errors
    /// [`StoreError::Active`] while another loop of the project is not over, [`StoreError::NoJournal`] where nothing tells
    /// what happened to it, and what keeps it from being opened; then no record is left.
    pub fn take_up(&self, id: &LoopId, by: &str) -> Result<bool, StoreError> {
        self.locked_on(id, |lock| {
            let tracking = self.tracking();
            self.check_tracked(&tracking, &self.path_of(id))?;
            tracking.untracked(&self.journal_path(id))?;
            // A record that cannot be read is written anew.
            let known = self.ownership(id).unwrap_or_default();
            let storage = self.storage(lock.folder(), id)?;
            let loaded = Loaded::read(&*storage, &validation::possible(self, known.as_ref()))?;
            let spec = self.spec();
            let text = |fields: &[(String, Value)], name: &str| {
                value_in(fields, name).map(|value| value.to_plain().into_owned())
            };
            let root = loaded
                .iter()
                .flat_map(Loaded::changes)
                .next()
                .and_then(|last| text(&last.fields, spec.fields.root));
            let (Some(loaded), Some(root)) = (loaded, root) else {
                return Err(StoreError::NoJournal {
                    path: self.path_of(id),
                });
            };
            if known.as_ref().is_some_and(|known| known.root == root) {
                return Ok(false);
            }
            let newest = loaded.changes().next();
            let session = newest.and_then(|last| text(&last.fields, spec.fields.session));
            if let Some(active) = self.list_active().into_iter().find(|one| {
                let is_other = one.id != *id && one.ours && self.is_for(one.root.as_deref());
                is_other && !self.may_stand_beside(session.as_deref(), one.session.as_deref())
            }) {
                return Err(StoreError::Active {
                    id: active.id.to_string(),
                    phase: active.phase.unwrap_or_default(),
                    folder: self.folder().to_owned(),
                });
            }
            let graphs = known.map_or_else(
                || {
                    let mut graphs: Vec<String> = loaded
                        .changes()
                        .filter_map(|change| change.graph_hash(spec))
                        .collect();
                    graphs.sort();
                    graphs.dedup();
                    graphs
                },
                |known| known.graphs,
            );
            let mut as_it_was = self.unowned(id);
            as_it_was.root = root;
            as_it_was.graphs.clone_from(&graphs);
            let found = repair(self, lock, id, Look::As(as_it_was))?.record;
            self.own(id, graphs)?;
            self.index_active(lock, id)?;
            let taken = self.apply_at(
                lock,
                &*storage,
                found,
                Change::bare(ADOPT, by),
                Some(self.root()),
            );
            if taken.is_err() {
                self.disown(id);
            }
            taken.map(|_| true)
        })
    }
}
