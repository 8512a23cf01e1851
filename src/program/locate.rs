//! The state folders that a command or a hook is about, and the loops of their projects. Creates nothing.
//!
//! If a session may have many loops of a machine, its stops drive the one that was changed or chosen (`use`) last.

use std::cmp::Reverse;

use camino::{FromPathBufError, Utf8Component, Utf8Path, Utf8PathBuf};

use super::caller::UNKNOWN;
use super::exit::{Exit, Failure, with_help};
use super::incompatible;
use super::info::ProgramInfo;
use crate::files::without_dots;
use crate::hooks::Input;
use crate::process::environment::GUARD;
use crate::store::{Active, Listed, LoopId, StateHome, StateSpec, Store, StoreError};
use crate::text;

/// The most state folders that are looked at. An unpacked archive with hundreds must not hold up a turn.
const MAX_FOLDERS: usize = 32;
/// The longest note about a state folder that is not used, in characters.
const MAX_PROBLEM_CHARS: usize = 700;

/// The state folders that a call is about.
#[derive(Debug)]
pub struct StateFolders {
    state: &'static StateSpec,
    starts: Vec<Utf8PathBuf>,
    /// Their stores, nearest first, at most 32. One that is not trusted is among them: see [`Store::refusal`].
    pub stores: Vec<Store>,
}

impl StateFolders {
    /// Finds the state folders in each start and its ancestors, each once.
    pub fn find(state: &'static StateSpec, starts: &[&Utf8Path]) -> Self {
        let mut stores: Vec<Store> = Vec::new();
        for start in starts.iter().flat_map(|start| start.canonicalize_utf8()) {
            for ancestor in start.ancestors() {
                let store = store_in(state, ancestor, &start);
                let is_new = stores.iter().all(|known| known.folder() != store.folder());
                // A symlink to nowhere is refused later. It must not be passed over in silence.
                if is_new && store.folder().symlink_metadata().is_ok() {
                    stores.push(store);
                }
            }
        }
        stores.truncate(MAX_FOLDERS);
        Self {
            state,
            starts: starts.iter().map(|start| (*start).to_owned()).collect(),
            stores,
        }
    }

    /// Finds the state folders above the working directory.
    pub(super) fn find_here(state: &'static StateSpec) -> Result<Self, Failure> {
        Ok(Self::find(state, &[&here()?]))
    }

    /// Returns why the first folder that cannot be used is refused.
    pub(super) fn refusal(&self) -> Option<StoreError> {
        self.stores.iter().find_map(Store::refusal)
    }

    /// Returns the loops of this project that `list` finds, in the order of the folders.
    pub(super) fn list(&self, list: fn(&Store) -> Vec<Listed>) -> Vec<(Store, Listed)> {
        let loops = self.stores.iter().flat_map(|store| {
            let mut listed = list(store);
            listed.retain(|one| store.is_for(one.root.as_deref()));
            listed.into_iter().map(|one| (store.clone(), one))
        });
        loops.collect()
    }

    /// Returns the loops of this project that `list` finds, the newest first.
    pub(super) fn newest(&self, list: fn(&Store) -> Vec<Listed>) -> Vec<(Store, Listed)> {
        let mut loops = self.list(list);
        loops.sort_by_key(|(_, listed)| Reverse(listed.modified));
        loops
    }

    /// Returns the active loops, first those that can be opened, and of them those of a session; of many at once, the one that
    /// was changed last first.
    pub(super) fn active(&self) -> Vec<(Store, Listed)> {
        let mut loops = self.list(Store::list_active);
        loops.sort_by_key(|(_, one)| {
            let newest = (self.state.active == Active::Many).then_some(Reverse(one.modified));
            (one.problem.is_some(), owner(one).is_none(), newest)
        });
        loops
    }

    /// Returns the active loops of a session, first the one that its next stop drives.
    pub fn owned(&self, session: &str) -> Vec<(Store, LoopId)> {
        let mut loops = self.active();
        loops.retain(|(_, one)| one.problem.is_none() && owner(one) == Some(session));
        let owned = loops.into_iter().map(|(store, listed)| (store, listed.id));
        owned.collect()
    }

    /// Returns the archived loop of a session that is not over.
    pub(super) fn archived(&self, session: &str) -> Option<(Store, LoopId)> {
        let mut loops = self.list(Store::archived);
        loops.retain(|(_, one)| one.problem.is_none() && one.session.as_deref() == Some(session));
        let (store, listed) = loops.into_iter().next()?;
        Some((store, listed.id))
    }

    /// Finds the loop that a stop drives: the session's own, or one of no session. An error is a note about one that cannot be
    /// driven.
    pub(super) fn find_for_stop(
        &self,
        info: &ProgramInfo,
        session: Option<&str>,
    ) -> Result<Option<(Store, LoopId)>, String> {
        let active = self.active();
        let is_drivable = |one: &Listed| {
            one.problem.is_none() && owner(one).is_none_or(|owner| Some(owner) == session)
        };
        if let Some((store, one)) = active.iter().find(|(_, one)| is_drivable(one)) {
            return Ok(Some((store.clone(), one.id.clone())));
        }
        if let Some(error) = self.refusal() {
            return Err(text::note(&with_help(&error), MAX_PROBLEM_CHARS));
        }
        let unusable = active.iter().find(|(_, one)| one.problem.is_some());
        if let Some((store, one)) = unusable
            && let Err(error) = store.open(&one.id)
        {
            return Err(incompatible::line(info, store, &one.id, &error.into()));
        }
        if self.stores.len() == MAX_FOLDERS {
            return Err(format!(
                "{MAX_FOLDERS} state folders or more are above this one; only the nearest were searched"
            ));
        }
        match session.and_then(|session| self.archived(session)) {
            Some((_, id)) => Err(format!("loop {id} {}", archived_note(info, &id))),
            None => Ok(None),
        }
    }

    /// Returns a sentence for each state folder that is gone with the user's loops in it. A hook names each folder once.
    pub(super) fn vanished(&self, hook: Option<&str>) -> Vec<String> {
        let stores = self.starts.iter().map(|start| for_start(self.state, start));
        let vanished = stores.filter(|store| store.has_vanished(hook)).map(|store| {
            let folder = text::shown(store.folder());
            format!(
                "the state folder {folder} is gone with its loops (removed, moved, or on another branch); put it back to continue them"
            )
        });
        vanished.collect()
    }
}

/// The environment of a hook.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The project's folder: CLAUDE_PROJECT_DIR.
    pub project: Option<Utf8PathBuf>,
    /// The working directory.
    pub here: Option<Utf8PathBuf>,
    /// Whether our reviewer runs this hook.
    pub reviewer_child: bool,
}

impl Surroundings {
    /// Reads the environment.
    pub fn from_env() -> Self {
        let project = std::env::var("CLAUDE_PROJECT_DIR").ok();
        Self {
            project: project.filter(|path| !path.is_empty()).map(Into::into),
            here: here().ok(),
            reviewer_child: std::env::var_os(GUARD).is_some(),
        }
    }

    /// Finds the state folders that a call is about: those of the project first.
    pub fn folders(&self, info: &ProgramInfo, input: &Input) -> StateFolders {
        let cwd = input.cwd.as_deref().map(Utf8Path::new);
        let starts = [self.project.as_deref(), cwd.or(self.here.as_deref())];
        let mut starts = Vec::from_iter(starts.into_iter().flatten());
        starts.retain(|path| path.is_absolute());
        StateFolders::find(info.state, &starts)
    }
}

/// Returns the store for a loop that is started in `dir`: at the git top level of `dir`, or in `dir` if there is none.
pub fn for_start(state: &'static StateSpec, dir: &Utf8Path) -> Store {
    let dir = dir.canonicalize_utf8().unwrap_or_else(|_| dir.to_owned());
    let root = git_top(&dir);
    store_in(state, root, root)
}

/// Returns the store of the project at `root`, in the folder that the machine's environment variable names, or else the machine.
///
/// An absolute path names one folder for all projects: the root of its store is then the project of `start`, which the caller
/// compares with the root of each loop. It is the user's own choice, so symlinks on the way to it are followed, here and never again.
fn store_in(state: &'static StateSpec, root: &Utf8Path, start: &Utf8Path) -> Store {
    let value = state
        .folder_env
        .and_then(|name| std::env::var(name).ok())
        .filter(|value| !value.trim().is_empty());
    let value = Utf8Path::new(value.as_deref().unwrap_or(state.folder));
    // No shell replaces `~` in the settings of a client.
    let home = Utf8PathBuf::from(std::env::var("HOME").unwrap_or_default());
    let in_home = value.strip_prefix("~").map(|path| home.join(path));
    let named = without_dots(in_home.as_deref().unwrap_or(value));
    let (folder, root) = if named.is_absolute() {
        (real_path(&named).unwrap_or(named), git_top(start))
    } else {
        (root.join(named), root)
    };
    let home = StateHome::of_user(state.program);
    Store::at(folder, root.to_owned(), state, home)
}

/// Returns the nearest ancestor of `folder`, itself included, that holds `.git`, or else the folder.
fn git_top(folder: &Utf8Path) -> &Utf8Path {
    let mut ancestors = folder.ancestors();
    let top = ancestors.find(|ancestor| ancestor.join(".git").exists());
    top.unwrap_or(folder)
}

/// Returns an absolute path without symlinks, or `None` if one of them leads nowhere or a part is `..`. A part that is not there
/// yet stays as it is.
pub(super) fn real_path(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut parts = path.components();
    if path.is_relative() || parts.any(|part| part == Utf8Component::ParentDir) {
        return None;
    }
    let mut ancestors = path.ancestors();
    let there = ancestors.find(|folder| folder.symlink_metadata().is_ok())?;
    let real = there.canonicalize_utf8().ok()?;
    let rest = path.strip_prefix(there).ok()?;
    // A path that is joined with nothing ends with a slash.
    Some(real.components().chain(rest.components()).collect())
}

/// Returns the working directory.
///
/// # Errors
/// Returns an error if it does not exist any more, or if its path is not UTF-8.
pub fn here() -> Result<Utf8PathBuf, Failure> {
    let here = std::env::current_dir()
        .and_then(|path| Utf8PathBuf::try_from(path).map_err(FromPathBufError::into_io_error));
    here.map_err(|error| {
        let problem = format!("cannot use the working directory: {error}");
        let help = "change to a folder that exists and has a UTF-8 path";
        Failure::with_help(Exit::Internal, problem, help)
    })
}

/// Returns the nearest state folder above a folder, or else the one that a start would make.
pub fn nearest(state: &'static StateSpec, from: &Utf8Path) -> Store {
    let nearest = StateFolders::find(state, &[from]).stores.into_iter().next();
    nearest.unwrap_or_else(|| for_start(state, from))
}

/// Returns why a session's loop is in the archive, and the command that continues it.
pub(super) fn archived_note(info: &ProgramInfo, id: &LoopId) -> String {
    let resume = info.command(&format!("resume {id}"));
    format!("was archived because it was idle for too long. To continue it:{resume}")
}

/// Returns the session of a loop, or `None` if no session has taken it yet.
pub(super) fn owner(listed: &Listed) -> Option<&str> {
    listed
        .session
        .as_deref()
        .filter(|session| is_known(session))
}

/// Returns whether a loop's session is one, not the word for none.
pub(super) fn is_known(session: &str) -> bool {
    !["", UNKNOWN].contains(&session)
}

#[cfg(all(test, feature = "plan"))]
mod tests;
