//! Refusing to start or bring back a loop while another one of the root is under way.

use camino::Utf8PathBuf;

use super::error::StoreError;
use super::id::LoopId;
use super::index::Present;
use super::inspect::{State, read_state, text_in};
use super::lock::LockGuard;
use super::repair::{Look, Repair, repair, set_aside};
use super::spec::Active;
use super::store::{StateFile, Store};
use crate::files::Folder;

impl Store {
    /// Repairs every loop that the index does not know as over, and refuses if one of this root is not terminal that a new one of
    /// this session may not stand beside ([`Active`]). What cannot be read
    /// and has no journal is set aside; what has a journal and no state file is put away; what is not trusted is left where it is,
    /// and does not count; nor does the file of the name `taken`.
    pub(super) fn refuse_active(
        &self,
        lock: &LockGuard,
        present: &Present,
        session: Option<&str>,
        taken: Option<&str>,
    ) -> Result<Vec<Repair>, StoreError> {
        let here = lock.folder();
        self.put_lost_away(lock, &present.ids)?;
        let foreign = present.foreign.iter().cloned();
        let stems = present.ids.iter().map(ToString::to_string).chain(foreign);
        let mut repairs = Vec::new();
        let others = |file: &StateFile| taken != Some(&*file.name);
        for file in self.state_files(here, stems).into_iter().filter(others) {
            let active = |phase: Option<String>, owner: Option<&str>| {
                let phase = phase.unwrap_or_else(|| "unknown".to_owned());
                let refused = || StoreError::Active {
                    id: file.stem.clone(),
                    phase: phase.clone(),
                    folder: self.folder().to_owned(),
                };
                if self.spec().is_terminal(&phase) || self.may_stand_beside(session, owner) {
                    Ok(())
                } else {
                    Err(refused())
                }
            };
            let id = LoopId::parse(&file.stem, self.spec().ids);
            let healed = match &id {
                Ok(id) => repair(self, lock, id, Look::Newest),
                Err(_) => Err(StoreError::NoMachine {
                    path: file.path.clone(),
                }),
            };
            let mut aside = |reason: String, quarantined: Utf8PathBuf| {
                let set_aside = Repair::SetAside {
                    path: file.path.clone(),
                    reason,
                    quarantined,
                };
                self.log(&set_aside.to_string());
                repairs.push(set_aside);
            };
            match healed {
                Ok(opened) => {
                    repairs.extend(opened.repairs);
                    if opened.record.is_terminal() {
                        self.index_over(lock, &opened.record.id);
                    }
                    if self.is_for(opened.record.root().as_deref()) {
                        let owner = opened.record.session();
                        active(Some(opened.record.phase), owner.as_deref())?;
                    }
                }
                Err(StoreError::Untrusted { .. }) => {}
                // A file of the user's that no journal speaks of is no loop.
                Err(error) if self.spec().file.is_some() && error.is_about_the_file() => {}
                Err(error @ StoreError::NotStartedHere { .. }) => {
                    if !self.may_stand_beside(session, None) && self.is_in_the_way(here, &file)? {
                        return Err(error);
                    }
                }
                Err(StoreError::Unreadable {
                    error,
                    quarantined: Some(kept),
                    ..
                }) => aside(error.to_string(), kept),
                Err(error @ StoreError::NoJournal { .. }) => {
                    aside(error.to_string(), set_aside(here, (here, &file.name))?);
                }
                Err(StoreError::NoMachine { .. })
                    if self.check_state(here, &file.name).is_err() => {}
                Err(StoreError::NoMachine { .. }) => match self.phase_in(here, &file) {
                    (None, Some(problem)) => aside(problem, set_aside(here, (here, &file.name))?),
                    (phase, _) => active(phase, None)?,
                },
                Err(StoreError::OtherMachine { .. }) => {
                    active(self.phase_in(here, &file).0, None)?;
                }
                Err(other) => return Err(other),
            }
        }
        Ok(repairs)
    }

    /// Tells whether a loop of one session and a loop of another one may be under way at once.
    pub(super) fn may_stand_beside(&self, session: Option<&str>, other: Option<&str>) -> bool {
        // What belongs to nobody yet may become anybody's.
        let known =
            |session: Option<&str>| session.is_some_and(|name| !["", "unknown"].contains(&name));
        match self.spec().active {
            Active::One => false,
            Active::Session => known(session) && known(other) && session != other,
            Active::Many => true,
        }
    }

    /// Tells whether a loop with a journal that no record of this user's knows stands in a start's way: a person has to say what becomes
    /// of it, unless it is over, or another project's.
    fn is_in_the_way(&self, here: &Folder, file: &StateFile) -> Result<bool, StoreError> {
        let state = read_state(self, here, &self.tracking(), file)?;
        let (phase, root) = (self.spec().fields.phase, self.spec().fields.root);
        let over = text_in(&state, phase).is_some_and(|phase| self.spec().is_terminal(&phase));
        let is_there = !matches!(state, State::Missing);
        Ok(is_there && !over && self.is_for(text_in(&state, root).as_deref()))
    }
}
