//! The way back from `swept/<id>/`.

use super::entry::{Change, PERSON};
use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::inspect::Reader;
use super::record::Record;
use super::repair::{Look, repair};
use super::storage::JOURNAL;
use super::store::Store;
use super::sweep::SWEPT;

impl Store {
    /// Brings a swept loop back, as a person's doing, and journals that.
    ///
    /// # Errors
    /// [`StoreError::Active`] while another loop is not terminal, [`StoreError::NoLoop`] when it was not swept,
    /// [`StoreError::Exists`] when it is here, and what keeps it from being opened; then it stays where it is.
    pub fn bring_back(&self, id: &LoopId) -> Result<Record, StoreError> {
        let swept = self.swept_store(id.as_str());
        if !swept.is_there()? {
            return Err(StoreError::NoLoop {
                id: id.to_string(),
                folder: self.swept_folder(),
            });
        }
        self.locked(|lock| {
            let here = lock.folder();
            let session = swept.list().into_iter().find(|one| one.id == *id);
            let session = session.and_then(|one| one.session);
            self.refuse_active(lock, &self.present(lock), session.as_deref(), None)?;
            let from = here
                .below(SWEPT)
                .and_then(|folder| folder.below(id.as_str()));
            let from = from.map_err(io_error("open", swept.folder()))?;
            // An open may have made the state of a move that was cut off anew: the old one must not come back over it.
            let exists = || StoreError::Exists {
                id: id.to_string(),
                folder: self.folder().to_owned(),
            };
            self.check_is_of(here, id)?;
            if here.has(&self.name_of(id)) {
                return Err(exists());
            }
            // A journal here means that a move in either direction was cut off by a crash: it is finished.
            let cut_off = here
                .below(id.as_str())
                .is_ok_and(|folder| folder.has(JOURNAL));
            if !cut_off {
                let reader = Reader {
                    store: &swept,
                    here: &from,
                    tracking: &self.tracking(),
                };
                reader.look_whole(id, None)?;
            }
            self.index_active(lock, id)?;
            for name in swept.pieces(id).iter().rev().filter(|name| from.has(name)) {
                if here.has(name) && !cut_off {
                    return Err(exists());
                }
                from.rename(name, here, name)
                    .map_err(io_error("bring back", &swept.folder().join(name)))?;
            }
            let _ = here
                .below(SWEPT)
                .and_then(|folder| folder.remove_folder(id.as_str()));
            let found = repair(self, lock, id, Look::Newest)?.record;
            self.apply(lock, found, Change::bare("bring-back", PERSON))
        })
    }
}
