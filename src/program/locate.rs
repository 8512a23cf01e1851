//! The state folders of a command or a hook, and their projects' loops. Creates nothing.
//!
//! If a session has several loops, its stops drive the one that was changed or chosen (`use`) last.

use std::cmp::Reverse;

use camino::{FromPathBufError, Utf8Component, Utf8Path, Utf8PathBuf};
use derive_more::Deref;

use super::caller::UNKNOWN;
use super::exit::{Exit, Failure, with_help};
use super::info::ProgramInfo;
use super::open_error;
use crate::files::without_dots;
use crate::hooks::Input;
use crate::machine::Table;
use crate::store::{Active, ListedLoop, LoopId, StateHome, StateSpec, Store, StoreError};
use crate::text;

/// The most state folders that are read, so that an unpacked archive cannot delay a turn.
const MAX_FOLDERS: usize = 32;
const MAX_PROBLEM_CHARS: usize = 700;

/// A loop that a state folder lists.
#[derive(Debug, Clone, Deref)]
pub struct FoundLoop {
    /// The store of the state folder.
    pub store: Store,
    #[deref]
    listed: ListedLoop,
    /// Whether it is in the caller's git repository, or the caller is in none.
    is_near: bool,
}

impl FoundLoop {
    pub(super) fn into_parts(self) -> (Store, LoopId) {
        (self.store, self.listed.id)
    }

    pub(super) fn is_usable(&self) -> bool {
        self.problem.is_none()
    }

    pub(super) fn owner(&self) -> Option<&str> {
        self.session.as_deref().filter(|session| is_known(session))
    }

    /// Returns whether it is a session's own, or belongs to no session and is near.
    pub(super) fn is_for(&self, session: Option<&str>) -> bool {
        match self.owner() {
            None => self.is_near,
            owner => owner == session,
        }
    }

    pub(super) fn is_for_any_session(&self, table: &Table) -> bool {
        let phase = self.phase.as_ref();
        let phase = phase.and_then(|name| table.phase_position(name));
        phase.is_some_and(|phase| is_for_any_session(table, phase))
    }

    /// Logs that a session was told about the archive. Returns whether it is the first time.
    fn log_archive_note(&self, session: &str) -> bool {
        let line = format!("archived: told session {session}");
        let log = self.store.last_logged();
        let is_first = !log.contains(&format!("{} {line}\n", self.id));
        if is_first {
            self.log(&line);
        }
        is_first
    }

    /// Adds a line about the loop to the log of the state folder.
    pub fn log(&self, line: &str) {
        self.store.log(&format!("{} {line}", self.id));
    }
}

/// Returns whether any session can continue a loop in this phase, since no stop moves it.
pub(super) fn is_for_any_session(table: &Table, phase: usize) -> bool {
    let mut edges = table.edges().filter(|edge| edge.from == phase);
    !table.phases[phase].terminal && edges.all(|edge| !edge.by.is_empty())
}

/// The state folders of a call.
#[derive(Debug)]
pub struct StateFolders {
    state: &'static StateSpec,
    starts: Vec<Utf8PathBuf>,
    /// The stores, nearest first, at most 32. [`Store::refusal`] marks those that are not trusted.
    pub stores: Vec<Store>,
}

impl StateFolders {
    /// Finds the state folders in each start and its ancestors.
    pub fn find(state: &'static StateSpec, starts: Vec<Utf8PathBuf>) -> Self {
        let mut stores: Vec<Store> = Vec::new();
        for start in starts.iter().flat_map(|start| start.canonicalize_utf8()) {
            for ancestor in start.ancestors() {
                let store = store_in(state, ancestor, &start);
                let is_new = stores.iter().all(|known| known.folder() != store.folder());
                // A dangling symlink is refused later with a message.
                if is_new && store.folder().symlink_metadata().is_ok() {
                    stores.push(store);
                }
            }
        }
        stores.truncate(MAX_FOLDERS);
        Self {
            state,
            starts,
            stores,
        }
    }

    /// Finds the state folders of a hook: those of the client's project first.
    pub fn find_for_hook(state: &'static StateSpec, input: &Input) -> Self {
        let project = std::env::var("CLAUDE_PROJECT_DIR").ok().map(Into::into);
        let cwd = input.cwd.clone().or_else(|| current_folder().ok());
        let mut starts: Vec<Utf8PathBuf> = [project, cwd].into_iter().flatten().collect();
        starts.retain(|path| path.is_absolute());
        Self::find(state, starts)
    }

    pub(super) fn find_here(state: &'static StateSpec) -> Result<Self, Failure> {
        Ok(Self::find(state, vec![current_folder()?]))
    }

    /// Finds those of the project here: at its git top level and below, or else the nearest one.
    pub(super) fn find_in_project(state: &'static StateSpec) -> Result<Self, Failure> {
        let here = current_folder()?;
        let top = git_top(&here);
        let mut folders = Self::find(state, vec![here.clone()]);
        if top.join(".git").exists() {
            folders.stores.retain(|store| store.root().starts_with(top));
        } else {
            folders.stores.truncate(1);
        }
        Ok(folders)
    }

    pub(super) fn refusal(&self) -> Option<StoreError> {
        self.stores.iter().find_map(Store::refusal)
    }

    pub(super) fn list(&self, list: fn(&Store) -> Vec<ListedLoop>) -> Vec<FoundLoop> {
        let mut loops = Vec::new();
        for store in &self.stores {
            let mut listed = list(store);
            listed.retain(|one| store.is_for(one.root.as_deref()));
            let is_near = self.starts.iter().any(|start| {
                let start = start.canonicalize_utf8().unwrap_or_default();
                let top = git_top(&start);
                store.root().starts_with(top) || !top.join(".git").exists()
            });
            loops.extend(listed.into_iter().map(|listed| FoundLoop {
                store: store.clone(),
                listed,
                is_near,
            }));
        }
        loops
    }

    pub(super) fn newest(&self, list: fn(&Store) -> Vec<ListedLoop>) -> Vec<FoundLoop> {
        let mut loops = self.list(list);
        loops.sort_by_key(|one| Reverse(one.modified));
        loops
    }

    /// Returns the active loops, sorted by whether they open, have a session, and by newest change.
    pub(super) fn active(&self) -> Vec<FoundLoop> {
        let mut loops = self.list(Store::list_active);
        loops.sort_by_key(|one| {
            let newest = (self.state.active == Active::Many).then_some(Reverse(one.modified));
            (!one.is_usable(), one.owner().is_none(), newest)
        });
        loops
    }

    /// Returns the active loops of a session. Its next stop drives the first one.
    pub fn owned(&self, session: &str) -> Vec<FoundLoop> {
        let mut loops = self.active();
        loops.retain(|one| one.is_usable() && one.owner() == Some(session));
        loops
    }

    /// Returns an archived loop of a session that is not over.
    pub(super) fn archived(&self, session: &str) -> Option<FoundLoop> {
        let mut loops = self.list(Store::archived).into_iter();
        loops.find(|one| one.is_usable() && one.session.as_deref() == Some(session))
    }

    /// Finds the loop that a stop drives: the session's or one of no session. An error is a note.
    pub(super) fn find_for_stop(
        &self,
        info: &ProgramInfo,
        session: Option<&str>,
    ) -> Result<Option<FoundLoop>, String> {
        let active = self.active();
        let mut usable = active.iter().filter(|one| one.is_usable());
        if let Some(found) = usable.find(|one| one.is_for(session)) {
            return Ok(Some(found.clone()));
        }
        if let Some(error) = self.refusal() {
            return Err(text::note(&with_help(&error), MAX_PROBLEM_CHARS));
        }
        if let Some(FoundLoop { store, listed, .. }) = active.iter().find(|one| !one.is_usable())
            && let Err(error) = store.open(&listed.id)
        {
            return Err(open_error::line(info, &error.into()));
        }
        if self.stores.len() == MAX_FOLDERS {
            return Err(format!(
                "{MAX_FOLDERS} state folders or more are above this one; only the nearest were searched"
            ));
        }
        let untold = session.filter(|_| active.is_empty()).and_then(|session| {
            let found = self.archived(session)?;
            found.log_archive_note(session).then_some(found)
        });
        untold.map_or(Ok(None), |found| Err(archived_note(info, &found.id, "")))
    }

    /// Returns a sentence for each missing state folder with loops. A hook names each folder once.
    pub(super) fn vanished(&self, hook: Option<&str>) -> Vec<String> {
        let stores = self.starts.iter().map(|start| for_start(self.state, start));
        let vanished = stores.filter(|store| store.has_vanished(hook)).map(|store| {
            let folder = text::printable(store.folder());
            format!(
                "the state folder {folder} is gone with its loops (removed, moved, or on another branch); put it back to continue them"
            )
        });
        vanished.collect()
    }
}

/// Returns the store for a loop that starts in `dir`: at its git top level, if it has one.
pub fn for_start(state: &'static StateSpec, dir: &Utf8Path) -> Store {
    let dir = dir.canonicalize_utf8().unwrap_or_else(|_| dir.to_owned());
    let root = git_top(&dir);
    store_in(state, root, root)
}

/// Returns the store of a project, in the folder that the environment variable names, if it is set.
///
/// An absolute path names one folder for all projects. Its store's root is then the project of
/// `start`, and the caller compares it with each loop's. Only here, symlinks to it are followed.
fn store_in(state: &'static StateSpec, root: &Utf8Path, start: &Utf8Path) -> Store {
    let value = state
        .folder_env
        .and_then(|name| std::env::var(name).ok())
        .filter(|value| !value.trim().is_empty());
    let value = Utf8Path::new(value.as_deref().unwrap_or(state.folder));
    // A client's settings are not expanded by a shell.
    let home = Utf8PathBuf::from(std::env::var("HOME").unwrap_or_default());
    let in_home = value.strip_prefix("~").map(|path| home.join(path));
    let named = without_dots(in_home.as_deref().unwrap_or(value));
    let (folder, root) = if named.is_absolute() {
        (real_path(&named).unwrap_or(named), git_top(start))
    } else {
        (root.join(named), root)
    };
    let home = StateHome::for_user(state.program);
    Store::at(folder, root.to_owned(), state, home)
}

/// Returns the nearest ancestor with `.git`, including `folder`, or else the folder.
fn git_top(folder: &Utf8Path) -> &Utf8Path {
    let mut ancestors = folder.ancestors();
    let top = ancestors.find(|ancestor| ancestor.join(".git").exists());
    top.unwrap_or(folder)
}

/// Returns an absolute path without symlinks, or `None` if one dangles or a part is `..`. Parts
/// that do not exist yet stay unchanged.
pub(super) fn real_path(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut parts = path.components();
    if path.is_relative() || parts.any(|part| part == Utf8Component::ParentDir) {
        return None;
    }
    let mut ancestors = path.ancestors();
    let there = ancestors.find(|folder| folder.symlink_metadata().is_ok())?;
    let real = there.canonicalize_utf8().ok()?;
    let rest = path.strip_prefix(there).ok()?;
    // Joining with an empty path would add a slash.
    Some(real.components().chain(rest.components()).collect())
}

/// Returns the working directory.
///
/// # Errors
/// Returns an error if it does not exist any more, or if its path is not UTF-8.
pub fn current_folder() -> Result<Utf8PathBuf, Failure> {
    let here = std::env::current_dir()
        .and_then(|path| Utf8PathBuf::try_from(path).map_err(FromPathBufError::into_io_error));
    here.map_err(|error| {
        let problem = format!("cannot use the working directory: {error}");
        let help = "change to a folder that exists and has a UTF-8 path";
        Failure::with_help(Exit::Internal, problem, help)
    })
}

/// Returns the nearest state folder above a folder, or else the one that a start would create.
pub fn nearest(state: &'static StateSpec, from: &Utf8Path) -> Store {
    let stores = StateFolders::find(state, vec![from.to_owned()]).stores;
    let nearest = stores.into_iter().next();
    nearest.unwrap_or_else(|| for_start(state, from))
}

/// Returns the note about an archived loop. `owner` may name its session.
pub(super) fn archived_note(info: &ProgramInfo, id: &LoopId, owner: &str) -> String {
    let resume = info.command(&format!("resume {id}"));
    format!("loop {id}{owner} is in the archive, where idle loops go. To continue it:{resume}")
}

/// Returns whether this is a session, not the word for none.
pub(super) fn is_known(session: &str) -> bool {
    !["", UNKNOWN].contains(&session)
}

#[cfg(all(test, feature = "plan"))]
mod tests;
