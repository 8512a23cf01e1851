//! One state folder: its paths, and what is read or written without changing a loop's phase.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use super::budget::Budget;
use super::error::{StoreError, io_error};
use super::id::{LoopId, iso};
use super::lock::{LockError, LockGuard, PROJECT, RunLock, with_lock_in};
use super::spec::StateSpec;
use super::state_home::StateHome;
use super::storage::JOURNAL;
use super::tracked::GitTracking;
use super::value::is_hidden;
use crate::files::scratch::Place;
use crate::files::{
    Folder, Kept, MOST, Made, Prepared, TEMPORARY, UntrustedError, if_there, make_all,
};

/// Endings of the files beside a loop's state file, each after the id.
pub(super) const SIDECARS: [&str; 3] = [".lock", "-runner.sh", "-prompt.txt"];

/// Names the log in the state folder.
const LOG: &str = "log";
/// Limits the log, in bytes: one that has more is cut to the end that is read of it.
const MOST_LOG: u64 = 4 * READ_LOG;
/// Limits what is read of the log, in bytes from its end.
const READ_LOG: u64 = 256 * 1024;

/// How long one waits for the project's lock unless told otherwise.
const DEADLINE: Duration = Duration::from_secs(10);

/// One state folder of one machine. Making one creates nothing on disk.
#[derive(Debug, Clone)]
pub struct Store {
    folder: Utf8PathBuf,
    root: Utf8PathBuf,
    /// From here on down no symlink is followed: the root, or a state folder outside of it.
    base: Utf8PathBuf,
    spec: &'static StateSpec,
    deadline: Duration,
    budget: Budget,
    home: StateHome,
    /// The state folder, and that of this user's records of loops.
    kept: Kept,
    pub(super) records: Kept,
    /// The state folder whose shapes are those of the loops here: another one for loops that were swept.
    above: Option<Utf8PathBuf>,
    /// Holds the one loop of a test, in the place of files.
    #[cfg(test)]
    pub(super) disk: Option<super::memory::Disk>,
}

/// A state file in a folder.
pub(super) struct StateFile {
    pub(super) stem: String,
    pub(super) name: String,
    pub(super) path: Utf8PathBuf,
    pub(super) modified: SystemTime,
}

impl Store {
    /// Makes the store in the state folder `folder` of the project at `root`, whose loops are this user's where the record in
    /// `home` says so. Both paths are canonical, as far as they are not below the other.
    pub fn at(
        folder: Utf8PathBuf,
        root: Utf8PathBuf,
        spec: &'static StateSpec,
        home: StateHome,
    ) -> Self {
        // One spelling: the record of a loop is found by it.
        let folder: Utf8PathBuf = folder.components().collect();
        let base = if folder.starts_with(&root) {
            &root
        } else {
            &folder
        };
        Self {
            base: base.clone(),
            folder,
            root,
            spec,
            deadline: DEADLINE,
            budget: Budget::endless(),
            home,
            kept: Kept::default(),
            records: Kept::default(),
            above: None,
            #[cfg(test)]
            disk: None,
        }
    }

    /// The same machine's store in a folder below this one, to which a loop was moved.
    pub(super) fn below(&self, folder: Utf8PathBuf) -> Self {
        Self {
            above: Some(self.folder.clone()),
            kept: Kept::default(),
            folder,
            ..self.clone()
        }
    }

    /// Returns the project's state folder, also where this is one below it.
    pub(super) fn top(&self) -> &Utf8Path {
        self.above.as_ref().unwrap_or(&self.folder)
    }

    /// Returns where this user's own record of loops is.
    pub(super) fn home(&self) -> &StateHome {
        &self.home
    }

    fn below_base<'p>(&self, path: &'p Utf8Path) -> &'p Utf8Path {
        path.strip_prefix(&self.base).unwrap_or(path)
    }

    /// Opens the state folder, from the project's root down, without following a symlink. One outside of the root is the
    /// person's own choice, and is opened as it is named.
    ///
    /// # Errors
    /// It is not there, or it or a folder above it is not trusted (see [`UntrustedError`]).
    pub fn open_folder(&self) -> io::Result<Folder> {
        let open = || Folder::open(&self.base)?.below(self.below_base(&self.folder));
        self.kept.or_open(open)
    }

    /// Opens the folder of a loop's own files in the same way.
    ///
    /// # Errors
    /// See [`Store::open_folder`].
    pub fn open_loop_folder(&self, id: &LoopId) -> io::Result<Folder> {
        self.open_folder()?.below(id.as_str())
    }

    /// Opens the folder of a file of the project's or of a loop's, and returns it with the file's name. No symlink is followed
    /// below the root and below the state folder.
    ///
    /// # Errors
    /// The folder is not there or not trusted, or the path names no file.
    pub fn folder_of(&self, path: &Utf8Path) -> io::Result<(Folder, String)> {
        crate::files::folder_of(&[&self.root, &self.base], path)
    }

    /// Reads a file of the project's or of a loop's. See [`Store::folder_of`].
    ///
    /// # Errors
    /// It is not there, is not trusted, is larger than 64 MiB, or the system refuses.
    pub fn read(&self, path: &Utf8Path) -> io::Result<Vec<u8>> {
        let (folder, name) = self.folder_of(path)?;
        folder.read(&name, MOST)
    }

    /// Replaces a file of the project's or of a loop's. See [`Folder::replace`].
    ///
    /// # Errors
    /// Its folder is not trusted, or the system refuses.
    pub fn replace(&self, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = self.folder_of(path)?;
        folder.replace(&name, bytes)
    }

    /// Replaces a file beside the loop's state file, named by its suffix ([`Store::sidecar`]), which is written anew at each round: nothing
    /// is synced, and a power loss may take it.
    ///
    /// # Errors
    /// When the lock cannot be taken, the folder is not trusted, or the system refuses.
    pub fn write_beside(&self, id: &LoopId, suffix: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.locked_on(id, |held| {
            let prepared = held.folder().prepare(&format!("{id}{suffix}"), bytes);
            let written = prepared.and_then(Prepared::swap);
            written.map_err(io_error("write", &self.sidecar(id, suffix)))
        })
    }

    /// Returns why the state folder is not used, where it is there and cannot be trusted or opened.
    pub fn refusal(&self) -> Option<StoreError> {
        let opened = if_there(self.open_folder());
        opened.map_err(io_error("open", &self.folder)).err()
    }

    /// Makes the state folder where it is not there. Returns it with the folders that were made for it, each in the one above,
    /// innermost last.
    pub(super) fn make_folder(&self) -> Result<(Folder, Vec<Made>), StoreError> {
        make_all(&self.base, &self.folder).map_err(io_error("create", &self.folder))
    }

    /// Returns where scratch data of this folder's commands goes.
    pub fn scratch(&self) -> Place {
        Place::new(&self.base, self.folder.join("scratch"))
    }

    /// The same, with another time to wait for the project's lock (10 s by default).
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// The same, for a call of a hook: its waits take from this budget, and a list ends with it.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Self {
        let budget = budget.clone();
        Self { budget, ..self }
    }

    /// Returns the budget of the call.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Makes what tells whether a file came with the repository.
    pub(super) fn tracking(&self) -> GitTracking {
        GitTracking::within(&self.budget)
    }

    /// Returns the state folder.
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// Returns the project's root.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns the machine's description of its documents.
    pub fn spec(&self) -> &'static StateSpec {
        self.spec
    }

    /// Returns whether a loop of this root is this store's business: of a folder outside the root, which projects share, only
    /// the loops whose root is this one or lies above it; of any other folder, every loop, wherever the project once lay.
    pub fn is_for(&self, root: Option<&str>) -> bool {
        let shared = !self.folder().starts_with(self.root());
        root.is_none_or(|root| !shared || self.root().starts_with(root))
    }

    /// Returns the folder of a loop's own files.
    pub fn loop_folder(&self, id: &LoopId) -> Utf8PathBuf {
        self.folder.join(id.as_str())
    }

    /// Returns a file beside the state file: the id and `suffix`, like `-runner.sh`.
    pub fn sidecar(&self, id: &LoopId, suffix: &str) -> Utf8PathBuf {
        self.folder.join(format!("{id}{suffix}"))
    }

    /// Returns the journal of a loop.
    pub fn journal_path(&self, id: &LoopId) -> Utf8PathBuf {
        self.loop_folder(id).join(JOURNAL)
    }

    /// Runs `work` under the project's lock.
    pub(super) fn locked<R, E: From<LockError> + From<StoreError>>(
        &self,
        work: impl FnOnce(&LockGuard) -> Result<R, E>,
    ) -> Result<R, E> {
        let folder = self.open_folder().map_err(|source| -> E {
            if UntrustedError::of(&source).is_some() {
                return io_error("open", &self.folder)(source).into();
            }
            let path = self.folder.join(PROJECT);
            LockError::Io { path, source }.into()
        })?;
        self.locked_in(folder, work)
    }

    /// Does the same unless the loop is not there: operations on a loop must not create a lock.
    pub(super) fn locked_on<R, E: From<LockError> + From<StoreError>>(
        &self,
        id: &LoopId,
        work: impl FnOnce(&LockGuard) -> Result<R, E>,
    ) -> Result<R, E> {
        let folder = if_there(self.open_folder()).map_err(io_error("open", &self.folder))?;
        match folder.filter(|here| self.has_state_file(here, id) || here.has(id.as_str())) {
            Some(folder) => self.locked_in(folder, work),
            None => Err(self.no_loop(id).into()),
        }
    }

    fn locked_in<R, E: From<LockError>>(
        &self,
        folder: Folder,
        work: impl FnOnce(&LockGuard) -> Result<R, E>,
    ) -> Result<R, E> {
        let (counted, deadline) = self.budget.wait_for_lock(self.deadline);
        with_lock_in(folder, deadline, |held| {
            drop(counted);
            work(held)
        })?
    }

    /// Makes the error of a loop that is not there.
    pub(super) fn no_loop(&self, id: &LoopId) -> StoreError {
        let is_swept = self.swept_store(id.as_str()).is_there().unwrap_or(false);
        let id = id.to_string();
        match is_swept {
            true => StoreError::Swept {
                id,
                folder: self.swept_folder(),
            },
            false => StoreError::NoLoop {
                id,
                folder: self.folder.clone(),
            },
        }
    }

    /// Refuses a state file that is none of ours.
    pub(super) fn check_state(&self, here: &Folder, name: &str) -> Result<(), StoreError> {
        let path = self.folder.join(name);
        match if_there(here.file(name)).map_err(io_error("open", &path))? {
            Some(_) => self.tracking().untracked(&path),
            None => Ok(()),
        }
    }

    /// Returns the names of what stands in the folder as a state file would, each without its extension; where state files are the
    /// user's own, the ids of the loops that have one.
    pub(super) fn stems(&self, here: &Folder) -> Vec<String> {
        self.stems_and_temporary(here).0
    }

    /// Does the same, and returns the names of temporary files of ours beside them: a large folder is read once.
    pub(super) fn stems_and_temporary(&self, here: &Folder) -> (Vec<String>, Vec<String>) {
        let is_state = |name: &str| match self.spec.file {
            Some(_) => LoopId::fits(name, self.spec.ids),
            None => Utf8Path::new(name).extension() == Some(self.spec.extension),
        };
        let is_ours = |name: &str| is_state(name) || name.starts_with(TEMPORARY);
        let names = here.names(is_ours).unwrap_or_default().into_iter();
        let (mut stems, temporary): (Vec<String>, _) = names.partition(|name| is_state(name));
        if self.spec.file.is_some() {
            let has_file = |id: LoopId| self.has_state_file(here, &id);
            stems.retain(|stem| LoopId::parse(stem, self.spec.ids).is_ok_and(has_file));
            return (stems, temporary);
        }
        for stem in &mut stems {
            stem.truncate(stem.len() - self.spec.extension.len() - 1);
        }
        (stems, temporary)
    }

    /// Returns the state files and symlinks of these stems that are there, newest first; the greater name first where times are equal.
    pub(super) fn state_files(
        &self,
        here: &Folder,
        stems: impl IntoIterator<Item = impl ToString>,
    ) -> Vec<StateFile> {
        let file = |stem: String| {
            let id = self.spec.file.map(|_| LoopId::parse(&stem, self.spec.ids));
            let (path, name, found) = match id {
                Some(id) => {
                    let path = self.path_of(&id.ok()?);
                    let (folder, name) = self.folder_of(&path).ok()?;
                    let found = folder.look(&name).ok()??;
                    (path, name, found)
                }
                None => {
                    let name = format!("{stem}.{}", self.spec.extension);
                    (
                        self.folder.join(&name),
                        name.clone(),
                        here.look(&name).ok()??,
                    )
                }
            };
            let journal = || {
                here.below(&stem)
                    .and_then(|folder| folder.look(JOURNAL))
                    .ok()?
            };
            let written = self
                .spec
                .file
                .and_then(|_| journal())
                .map(|found| found.modified());
            (!found.is_folder()).then(|| StateFile {
                path,
                modified: written
                    .max(Some(found.modified()))
                    .unwrap_or_else(|| found.modified()),
                stem,
                name,
            })
        };
        let stems = stems.into_iter().map(|stem| stem.to_string());
        let mut files: Vec<StateFile> = stems.filter_map(file).collect();
        files.sort_by(|a, b| (b.modified, &b.stem).cmp(&(a.modified, &a.stem)));
        files
    }

    /// Sets the time of modification of the state file to now, so that the sweep sees a loop that lives; that of the journal where the
    /// state file is the user's own. Under the project's
    /// lock: a sweep that has already looked must not take what was touched since.
    ///
    /// # Errors
    /// When the lock cannot be taken, and when the file is not there, is not trusted, or refuses.
    pub fn touch(&self, id: &LoopId) -> Result<(), StoreError> {
        self.locked_on(id, |held| {
            let here = held.folder();
            let (path, file) = match self.spec.file {
                Some(_) => {
                    let folder = here.below(id.as_str());
                    let file = folder.and_then(|folder| folder.file_to_change(JOURNAL));
                    (self.journal_path(id), file)
                }
                None => (self.path_of(id), here.file_to_change(&self.name_of(id))),
            };
            file.and_then(|file| file.set_modified(SystemTime::now()))
                .map_err(io_error("touch", &path))
        })
    }

    /// Returns whether a review of the loop is running.
    pub fn is_running(&self, id: &LoopId) -> bool {
        self.open_loop_folder(id)
            .is_ok_and(|folder| RunLock::is_held(&folder))
    }

    /// Removes files beside the loop's state file, named by their suffixes (`-runner.sh`, `.lock`).
    ///
    /// # Errors
    /// When the lock cannot be taken, and when one is there and cannot be removed; the others are removed all the same.
    pub fn clear(&self, id: &LoopId, suffixes: &[&str]) -> Result<(), StoreError> {
        self.locked_on(id, |held| {
            let mut result = Ok(());
            for suffix in suffixes {
                if let Err(error) = if_there(held.folder().remove(&format!("{id}{suffix}"))) {
                    result = Err(io_error("remove", &self.sidecar(id, suffix))(error));
                }
            }
            result
        })
    }

    /// Appends a line to the folder's `log`, with the time before it. Only where the folder exists, on one line, cut
    /// after 4,000 characters, and never failing: a log must not stop a loop.
    pub fn log(&self, line: &str) {
        let text: String = line
            .chars()
            .take(4000)
            .map(|c| if is_hidden(c) { ' ' } else { c })
            .collect();
        let line = format!("{} {}\n", iso(Timestamp::now()), text.trim());
        let _ = self.open_folder().and_then(|here| {
            let (mut file, found) = here.file_to_append(LOG)?;
            if found.size() < MOST_LOG {
                return file.write_all(line.as_bytes());
            }
            // Nothing is lost that a loop needs, should another process write a line meanwhile.
            let kept = self.last_logged();
            let whole = kept.split_once('\n').map_or("", |(_, whole)| whole);
            here.prepare(LOG, [whole, &line].concat().as_bytes())?
                .rename()
        });
    }

    /// Returns the end of the folder's log; nothing where it cannot be read.
    pub fn last_logged(&self) -> String {
        let end = || -> io::Result<Vec<u8>> {
            let (mut file, found) = self.open_folder()?.found_file(LOG)?;
            file.seek(SeekFrom::Start(found.size().saturating_sub(READ_LOG)))?;
            let mut bytes = Vec::new();
            file.take(READ_LOG).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        String::from_utf8_lossy(&end().unwrap_or_default()).into_owned()
    }
}
