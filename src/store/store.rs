//! One state folder: its paths, and what is read or written without changing a loop's phase.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rustix::fs::OFlags;

use super::chain;
use super::error::{StoreError, io_error};
use super::heal::{self, Older, Opened, State};
use super::id::{LoopId, iso};
use super::journal::{self, Entry, Loaded, NoteEntry};
use super::lock::{Held, LockError, PidLock, RunLock, with_lock};
use super::scalar::is_hidden;
use super::spec::StateSpec;
use super::trust::Trust;
use super::versions::{self, Versions};

/// Endings of the files beside a loop's state file, each after the id.
pub(super) const SIDECARS: [&str; 3] = [".lock", "-runner.sh", "-prompt.txt"];

/// How long one waits for the project's lock unless told otherwise.
const DEADLINE: Duration = Duration::from_secs(10);

/// One state folder of one machine. Making one creates nothing on disk.
#[derive(Debug, Clone)]
pub struct Store {
    folder: Utf8PathBuf,
    root: Utf8PathBuf,
    spec: &'static StateSpec,
    deadline: Duration,
    /// The state folder whose shapes are those of the loops here: another one for loops that were swept.
    above: Option<Utf8PathBuf>,
}

/// A loop as [`Store::list`] sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// What is wrong with it, for people.
    pub problem: Option<String>,
}

/// A state file whose name is no id: made by hand.
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

/// A state file in a folder.
pub(super) struct StateFile {
    pub(super) stem: String,
    pub(super) path: Utf8PathBuf,
    pub(super) modified: SystemTime,
}

impl Store {
    /// The state folder `folder` of the project at `root`.
    pub fn at(folder: Utf8PathBuf, root: Utf8PathBuf, spec: &'static StateSpec) -> Self {
        Self {
            folder,
            root,
            spec,
            deadline: DEADLINE,
            above: None,
        }
    }

    /// The same machine's store in a folder below this one, to which a loop was moved.
    pub(super) fn below(&self, folder: Utf8PathBuf) -> Self {
        Self {
            above: Some(self.folder.clone()),
            folder,
            ..self.clone()
        }
    }

    /// Where scratch data of this folder's commands is; what was left there by one that is gone is removed by the next.
    pub fn scratch_folder(&self) -> Utf8PathBuf {
        self.folder.join("scratch")
    }

    /// Where the shapes of the machine's versions are.
    pub(super) fn machines_folder(&self) -> Utf8PathBuf {
        self.above.as_ref().unwrap_or(&self.folder).join(versions::FOLDER)
    }

    /// The same, with another time to wait for the project's lock (10 s by default).
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// The state folder.
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// The project's root.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// The machine's description of its documents.
    pub fn spec(&self) -> &'static StateSpec {
        self.spec
    }

    /// Whether a loop of this root is this store's business: of a folder outside the root, which projects share, only the
    /// loops whose root is this one or lies above it; of any other folder, every loop, wherever the project once lay.
    pub fn is_for(&self, root: Option<&str>) -> bool {
        let shared = !self.folder().starts_with(self.root());
        root.is_none_or(|root| !shared || self.root().starts_with(root))
    }

    /// The state file of a loop.
    pub fn path_of(&self, id: &LoopId) -> Utf8PathBuf {
        self.folder.join(format!("{id}.{}", self.spec.extension))
    }

    /// The folder of a loop's own files.
    pub fn loop_folder(&self, id: &LoopId) -> Utf8PathBuf {
        self.folder.join(id.as_str())
    }

    /// A file beside the state file: the id and `suffix`, like `-runner.sh`.
    pub fn sidecar(&self, id: &LoopId, suffix: &str) -> Utf8PathBuf {
        self.folder.join(format!("{id}{suffix}"))
    }

    /// The journal of a loop.
    pub fn journal_path(&self, id: &LoopId) -> Utf8PathBuf {
        self.loop_folder(id).join(journal::FILE)
    }

    /// The lock that is held while a review of the loop runs.
    pub fn run_lock_path(&self, id: &LoopId) -> Utf8PathBuf {
        self.loop_folder(id).join("run.lock")
    }

    /// Runs `work` under the project's lock.
    pub(super) fn locked<R, E: From<LockError>>(
        &self,
        work: impl FnOnce(&Held) -> Result<R, E>,
    ) -> Result<R, E> {
        with_lock(&self.folder, self.deadline, work)?
    }

    /// Fails unless the state folder is there: operations on a loop must not create one.
    pub(super) fn some_loop(&self, id: &LoopId) -> Result<(), StoreError> {
        if self.path_of(id).is_symlink() || self.path_of(id).exists() || self.loop_folder(id).exists() {
            return Ok(());
        }
        Err(StoreError::NoLoop {
            id: id.to_string(),
            folder: self.folder.clone(),
        })
    }

    /// Opens a loop under the project's lock, putting right what a crash or an edit by hand left (see [`Repair`](super::Repair)).
    /// One that another version of the machine wrote is opened as it is where that is safe, and changed, in one change
    /// `migrate`, where the machine's `[[migrations]]` say how.
    ///
    /// # Errors
    /// When there is no such loop, it is not ours or not trusted, it cannot be read and has no journal, or it cannot go on
    /// with this version of the machine.
    pub fn open(&self, id: &LoopId) -> Result<Opened, StoreError> {
        self.some_loop(id)?;
        self.locked(|held| heal::heal(self, held, id, Older::Migrate))
    }

    /// Every loop whose state file stands in the folder, newest first. Reads without a lock, writes nothing, and
    /// shows what a bad file's problem is instead of failing.
    pub fn list(&self) -> Vec<Listed> {
        let (trust, versions) = (Trust::new(), Versions::default());
        self.state_files()
            .into_iter()
            .filter_map(|file| self.listed(&trust, &versions, file))
            .collect()
    }

    /// The other state files in the folder, those whose names are no ids, newest first.
    pub fn list_foreign(&self) -> Vec<Foreign> {
        let foreign = |file: StateFile| {
            let (phase, problem) = match LoopId::parse(&file.stem, self.spec.ids) {
                Ok(_) => return None,
                Err(_) => self.phase_in(&file.path),
            };
            let terminal = phase.as_deref().is_some_and(|phase| self.spec.is_terminal(phase));
            Some(Foreign {
                path: file.path,
                modified: file.modified,
                phase,
                terminal,
                problem,
            })
        };
        self.state_files().into_iter().filter_map(foreign).collect()
    }

    fn listed(&self, trust: &Trust, versions: &Versions, file: StateFile) -> Option<Listed> {
        let id = LoopId::parse(&file.stem, self.spec.ids).ok()?;
        let StateFile { path, modified, .. } = file;
        let mut listed = Listed {
            id,
            path,
            modified,
            phase: None,
            terminal: false,
            session: None,
            root: None,
            ours: false,
            problem: None,
        };
        let found = match heal::glance(self, trust, &listed.id) {
            Ok(found) => found,
            Err(error) => {
                listed.problem = Some(error.to_string());
                return Some(listed);
            }
        };
        let text = |field: &str| match &found.state {
            State::Read(document, _) => document.get(field).map(|value| value.to_plain().into_owned()),
            State::Missing | State::Unreadable(..) => None,
        };
        let mut over = None;
        match heal::judge(self, &listed.id, &found, versions) {
            Ok(judged) => {
                listed.phase = Some(judged.record.phase().to_owned());
                listed.session = judged.record.session();
                listed.root = judged.record.root();
                listed.ours = true;
            }
            Err(error) => {
                if let StoreError::OtherGraph { over: is_over, .. } = &error {
                    over = Some(*is_over);
                }
                listed.phase = text(self.spec.fields.phase);
                listed.session = text(self.spec.fields.session);
                listed.root = text(self.spec.fields.root);
                listed.problem = Some(error.to_string());
            }
        }
        let phase = listed.phase.as_deref();
        listed.terminal = over.unwrap_or_else(|| phase.is_some_and(|phase| self.spec.is_terminal(phase)));
        Some(listed)
    }

    /// The phase that stands in a state file, and what is wrong with the file.
    pub(super) fn phase_in(&self, path: &Utf8Path) -> (Option<String>, Option<String>) {
        let read = Trust::new()
            .file(path)
            .and_then(|()| heal::read_state(self, path));
        match read {
            Ok(State::Read(document, _)) => (
                document
                    .get(self.spec.fields.phase)
                    .map(|phase| phase.to_plain().into_owned()),
                None,
            ),
            Ok(State::Unreadable(error, _)) => (None, Some(error.to_string())),
            Ok(State::Missing) => (None, None),
            Err(error) => (None, Some(error.to_string())),
        }
    }

    /// State files and symlinks with their names, newest first; the greater name first where times are equal.
    pub(super) fn state_files(&self) -> Vec<StateFile> {
        let Ok(entries) = self.folder.read_dir_utf8() else {
            return Vec::new();
        };
        let mut files: Vec<StateFile> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.into_path();
                let meta = std::fs::symlink_metadata(&path).ok()?;
                let fits = !meta.is_dir() && path.extension() == Some(self.spec.extension);
                let stem = path.file_stem()?.to_owned();
                fits.then_some(StateFile {
                    stem,
                    modified: meta.modified().ok()?,
                    path,
                })
            })
            .collect();
        files.sort_by(|a, b| (b.modified, &b.stem).cmp(&(a.modified, &a.stem)));
        files
    }

    /// Writes a note into the loop's journal. A note changes no field and has no revision.
    ///
    /// # Errors
    /// As [`Store::open`], and when the journal cannot be written.
    pub fn note(
        &self,
        id: &LoopId,
        note: &str,
        data: serde_json::Map<String, serde_json::Value>,
    ) -> Result<(), StoreError> {
        self.some_loop(id)?;
        self.locked(|held| {
            heal::heal(self, held, id, Older::Migrate)?;
            let entry = Entry::Note(NoteEntry {
                at: Timestamp::now(),
                note: note.to_owned(),
                data,
            });
            journal::append(&self.journal_path(id), &entry).map(drop)
        })
    }

    /// The loop's journal, oldest line first, without a lock. A line that is not whole is left out.
    ///
    /// # Errors
    /// When there is none, it is not trusted, or it cannot be read.
    pub fn journal(&self, id: &LoopId) -> Result<Vec<Entry>, StoreError> {
        let path = self.journal_path(id);
        Trust::folder(&self.loop_folder(id))?;
        Trust::new().file(&path)?;
        match Loaded::read(&path, &chain::possible(self.spec))? {
            Some(loaded) => Ok(loaded.entries),
            None => Err(StoreError::NoLoop {
                id: id.to_string(),
                folder: self.folder.clone(),
            }),
        }
    }

    /// Sets the state file's time of modification to now, so that the sweep sees a loop that lives. Under the project's
    /// lock: a sweep that has already looked must not take what was touched since.
    ///
    /// # Errors
    /// When the lock cannot be taken, and when the file is not there, is not trusted, or refuses.
    pub fn touch(&self, id: &LoopId) -> Result<(), StoreError> {
        self.some_loop(id)?;
        let path = self.path_of(id);
        let nofollow = OFlags::NOFOLLOW.bits().cast_signed();
        self.locked(|_| {
            OpenOptions::new()
                .write(true)
                .custom_flags(nofollow)
                .open(&path)
                .and_then(|file| file.set_modified(SystemTime::now()))
                .map_err(io_error("touch", &path))
        })
    }

    /// Whether a review of the loop is running.
    pub fn is_running(&self, id: &LoopId) -> bool {
        RunLock::is_held(&self.run_lock_path(id))
    }

    /// Removes files beside the loop's state file, named by their suffixes (`-runner.sh`, `.lock`).
    ///
    /// # Errors
    /// When one is there and cannot be removed; the others are removed all the same.
    pub fn clear(&self, id: &LoopId, suffixes: &[&str]) -> Result<(), StoreError> {
        let mut result = Ok(());
        for suffix in suffixes {
            let path = self.sidecar(id, suffix);
            if let Err(error) = PidLock::remove(&path) {
                result = Err(io_error("remove", &path)(error));
            }
        }
        result
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
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            // A pipe that nobody reads would hold the open for ever.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(self.folder.join("log"));
        let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}
