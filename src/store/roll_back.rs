//! Moving loops to `rolled-back/<stamp>/`: one that cannot go on, or all of them.

use camino::Utf8PathBuf;
use jiff::Timestamp;

use super::error::{StoreError, io_error};
use super::id::{LoopId, compact};
use super::store::{SIDECARS, Store};
use super::sweep::{ROLLED_BACK, SWEPT, entries, move_into};

impl Store {
    /// Gives one loop up that cannot be opened: moves everything of it to `rolled-back/<stamp>/`, as
    /// [`Store::roll_back_all`] does with all. None if a review of it runs, else the folder.
    ///
    /// # Errors
    /// When there is no such loop, the lock cannot be taken, or something cannot be moved.
    pub fn give_up(&self, id: &LoopId, now: Timestamp) -> Result<Option<Utf8PathBuf>, StoreError> {
        self.locked_on(id, |lock| {
            let here = lock.folder();
            let Some(_held) = self.hold_run(here, id)? else {
                return Ok(None);
            };
            let target = compact(now);
            for name in self.pieces(id) {
                move_into(here, &[ROLLED_BACK, &target], here, &name)?;
            }
            let target = self.rolled_back_folder(now);
            self.disown(id);
            self.log(&format!("{id}: given up, moved to {target}"));
            Ok(Some(target))
        })
    }

    /// Returns where [`Store::roll_back_all`] at this time moves everything.
    pub fn rolled_back_folder(&self, now: Timestamp) -> Utf8PathBuf {
        self.folder().join(ROLLED_BACK).join(compact(now))
    }

    /// Moves everything of every loop, the swept ones included, to `rolled-back/<stamp>/`. The log and what was
    /// quarantined stay. Returns the loops that were moved; where there is nothing, nothing is created.
    ///
    /// # Errors
    /// When the lock cannot be taken or something cannot be moved; what was moved before that stays moved.
    pub fn roll_back_all(&self, now: Timestamp) -> Result<Vec<LoopId>, StoreError> {
        if !self.is_there()? {
            return Ok(Vec::new());
        }
        self.locked(|lock| {
            let here = lock.folder();
            let stamp = compact(now);
            // A folder outside the root holds other projects' loops too: those are theirs to move.
            let (swept, loops) = (self.swept(), self.list());
            let others: Vec<LoopId> = (swept.iter().chain(&loops))
                .filter(|one| !self.is_for(one.root.as_deref()))
                .map(|one| one.id.clone())
                .collect();
            let swept_of_others = swept.iter().any(|one| others.contains(&one.id));
            let mut ids = Vec::new();
            for one in swept.into_iter().filter(|one| !others.contains(&one.id)) {
                if swept_of_others {
                    let from = here
                        .below(SWEPT)
                        .map_err(io_error("open", &self.swept_folder()))?;
                    move_into(here, &[ROLLED_BACK, &stamp, SWEPT], &from, one.id.as_str())?;
                }
                ids.push(one.id);
            }
            let parse = |stem: &str| LoopId::parse(stem, self.spec().ids).ok();
            for (name, _) in entries(here) {
                let stem = name.strip_suffix(&format!(".{}", self.spec().extension));
                let id = SIDECARS
                    .iter()
                    .find_map(|suffix| parse(name.strip_suffix(suffix)?))
                    .or_else(|| parse(stem.unwrap_or(&name)));
                let is_swept = name == SWEPT;
                if id.is_none() && stem.is_none() && !is_swept
                    || is_swept && swept_of_others
                    || id.as_ref().is_some_and(|id| others.contains(id))
                {
                    continue;
                }
                move_into(here, &[ROLLED_BACK, &stamp], here, &name)?;
                ids.extend(id);
            }
            ids.sort();
            ids.dedup();
            for id in &ids {
                self.disown(id);
            }
            Ok(ids)
        })
    }
}
