//! Listing the loops of a state folder, without a lock and without a change.

use std::fmt::Display;
use std::time::SystemTime;

use camino::Utf8PathBuf;

use super::entry::ChangeEntry;
use super::error::StoreError;
use super::id::LoopId;
use super::inspect::{Reader, read_state, text_in};
use super::store::{StateFile, Store};
use super::tracked::GitTracking;
use crate::files::Folder;

/// Describes a loop as [`Store::list`] sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its id.
    pub id: LoopId,
    /// Its state file.
    pub path: Utf8PathBuf,
    /// When that file was last written or touched.
    pub modified: SystemTime,
    /// The stored form of its phase, as the journal has it; `None` if that cannot be told.
    pub phase: Option<String>,
    /// Whether that phase is terminal.
    pub terminal: bool,
    /// The session that owns it, or `unknown`.
    pub session: Option<String>,
    /// The folder that it belongs to.
    pub root: Option<String>,
    /// Whether it is a loop of ours that can be opened: it is our machine's, its version is ours or one that goes on with
    /// ours, and it has a journal.
    pub ours: bool,
    /// Whether this user's own record says that it was started, or taken up, here.
    pub owned: bool,
    /// Whether it is a loop of our machine that is left alone, since it is not `owned`.
    pub left_alone: bool,
    /// What is wrong with it, for people.
    pub problem: Option<String>,
    /// The newest change of its journal, where the loop can be opened.
    pub newest: Option<ChangeEntry>,
}

/// Describes a state file whose name is no id: made by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// The file.
    pub path: Utf8PathBuf,
    /// When it was last written.
    pub modified: SystemTime,
    /// Its phase, if it has one that can be read.
    pub phase: Option<String>,
    /// Whether that phase is terminal.
    pub terminal: bool,
    /// What is wrong with it, for people.
    pub problem: Option<String>,
}

impl Store {
    /// Returns every loop whose state file stands in the folder, newest first. Reads without a lock, writes nothing, and
    /// shows what a bad file's problem is instead of failing. Where the call's [`Budget`](super::Budget) ends first, the rest is left out.
    pub fn list(&self) -> Vec<Listed> {
        self.listed_of(|here| self.ids(here))
    }

    /// Returns the loops that are not over, newest first, in the same way. Opens no other one: which they are, the index says, which
    /// is made anew where it is not there or does not hold.
    pub fn list_active(&self) -> Vec<Listed> {
        let mut listed = match self.index() {
            Some(index) => self.listed_of(|_| index.active.into_iter().collect()),
            None => self.list_for_index(),
        };
        listed.retain(|one| !one.terminal);
        listed
    }

    /// Returns the loop of this root that was over last, where no later one is known.
    pub fn last_over(&self) -> Option<Listed> {
        let is_it = |one: &Listed| one.terminal && self.is_for(one.root.as_deref());
        let last = self.index().and_then(|index| index.last);
        let listed = last.and_then(|id| self.listed_of(|_| vec![id]).pop());
        listed
            .filter(is_it)
            .or_else(|| self.list_for_index().into_iter().find(is_it))
    }

    /// Returns the loops that are not over and the newest of the others, this many at most, newest first, and how many it left out.
    pub fn list_newest(&self, over: usize) -> (Vec<Listed>, usize) {
        let Ok(here) = self.open_folder() else {
            return (Vec::new(), 0);
        };
        let stems = self.stems(&here);
        let (ids, _) = self.by_id(&stems);
        let Some(index) = self.index().filter(|index| index.fits(&ids)) else {
            let mut listed = self.list_for_index();
            let (all, mut seen) = (listed.len(), 0);
            listed.retain(|one| {
                seen += usize::from(one.terminal);
                !one.terminal || seen <= over
            });
            let left_out = all - listed.len();
            return (listed, left_out);
        };
        let (mut seen, all) = (0, ids.len());
        let shown = self
            .state_files(&here, &ids)
            .into_iter()
            .filter_map(|file| {
                let id = LoopId::parse(&file.stem, self.spec().ids).ok()?;
                let is_over = !index.active.contains(&id);
                seen += usize::from(is_over);
                (!is_over || seen <= over).then_some(id)
            });
        let shown: Vec<LoopId> = shown.collect();
        let left_out = all - shown.len();
        (self.listed_of(|_| shown), left_out)
    }

    /// Returns every loop, and makes the index of them anew where one of them is this user's.
    fn list_for_index(&self) -> Vec<Listed> {
        let listed = self.list();
        if listed.iter().any(|one| one.owned) {
            self.try_index_anew();
        }
        listed
    }

    /// Returns the ids of the loops whose state files stand in the folder.
    pub(super) fn ids(&self, here: &Folder) -> Vec<LoopId> {
        let stems = self.stems(here);
        let (ids, _) = self.by_id(&stems);
        let parsed = ids.into_iter().map(|id| LoopId::parse(id, self.spec().ids));
        parsed.filter_map(Result::ok).collect()
    }

    /// Returns these loops, newest first.
    pub(super) fn listed_of(&self, ids: impl FnOnce(&Folder) -> Vec<LoopId>) -> Vec<Listed> {
        let Ok(here) = self.open_folder() else {
            return Vec::new();
        };
        let tracking = self.tracking();
        self.state_files(&here, ids(&here))
            .into_iter()
            .take_while(|_| !self.budget().is_over())
            .filter_map(|file| self.listed(&here, &tracking, file))
            .collect()
    }

    /// Returns the other state files in the folder, those whose names are no ids, newest first.
    pub fn list_foreign(&self) -> Vec<Foreign> {
        match self.open_folder() {
            Ok(here) => self.foreign_of(&here, &self.by_id(&self.stems(&here)).1),
            Err(_) => Vec::new(),
        }
    }

    /// Returns these state files whose names are no ids, newest first.
    pub(super) fn foreign_of(&self, here: &Folder, stems: &[impl Display]) -> Vec<Foreign> {
        let foreign = |file: StateFile| {
            let (phase, problem) = self.phase_in(here, &file);
            let terminal = phase
                .as_deref()
                .is_some_and(|phase| self.spec().is_terminal(phase));
            Foreign {
                path: file.path,
                modified: file.modified,
                phase,
                terminal,
                problem,
            }
        };
        self.state_files(here, stems)
            .into_iter()
            .map(foreign)
            .collect()
    }

    fn listed(&self, here: &Folder, tracking: &GitTracking, file: StateFile) -> Option<Listed> {
        let id = LoopId::parse(&file.stem, self.spec().ids).ok()?;
        let mut listed = Listed {
            id,
            path: file.path.clone(),
            modified: file.modified,
            phase: None,
            terminal: false,
            session: None,
            root: None,
            ours: false,
            owned: true,
            left_alone: false,
            problem: None,
            newest: None,
        };
        let reader = Reader {
            store: self,
            here,
            tracking,
        };
        let found = match reader.inspect_newest(&listed.id, None) {
            Ok(found) => found,
            Err(error) => {
                listed.owned = !error.is_about_ownership();
                listed.left_alone = matches!(
                    error,
                    StoreError::NotStartedHere { .. } | StoreError::NoJournal { .. }
                );
                listed.problem = Some(error.to_string());
                if !listed.owned
                    && let Ok(state) = read_state(self, here, tracking, &file)
                {
                    // Nothing is done by what it says: it is only shown, and does not stand in a start's way once it is over.
                    listed.phase = text_in(&state, self.spec().fields.phase);
                    listed.root = text_in(&state, self.spec().fields.root);
                    let phase = listed.phase.as_deref();
                    listed.terminal = phase.is_some_and(|phase| self.spec().is_terminal(phase));
                }
                return Some(listed);
            }
        };
        let text = |field: &str| text_in(&found.state, field);
        match reader.judge(&listed.id, &found) {
            Ok(judged) => {
                listed.phase = Some(judged.record.phase().to_owned());
                listed.session = judged.record.session();
                listed.root = judged.record.root();
                listed.ours = true;
                listed.newest = found
                    .journal
                    .as_ref()
                    .and_then(|loaded| loaded.changes().next().cloned());
            }
            Err(error) => {
                listed.phase = text(self.spec().fields.phase);
                listed.session = text(self.spec().fields.session);
                listed.root = text(self.spec().fields.root);
                listed.left_alone = matches!(error, StoreError::NotStartedHere { .. });
                listed.problem = Some(error.to_string());
            }
        }
        let phase = listed.phase.as_deref();
        listed.terminal = phase.is_some_and(|phase| self.spec().is_terminal(phase));
        Some(listed)
    }
}
