//! What lies in a plan's directory, as types: which names there are, and what the Markdown files say. It only reads, and knows nothing
//! of phases.
//!
//! | file       | subject                                                 |
//! |------------|---------------------------------------------------------|
//! | `name`     | the names of the files, and the groups of the reviews   |
//! | `markdown` | what both kinds of tables and lists are read with       |
//! | `tasks`    | `tasks.md`                                              |
//! | `task`     | `task-K.md`                                             |

mod markdown;
pub mod name;
pub mod task;
pub mod tasks;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::time::SystemTime;

use camino::Utf8Path;
use claudex_loop::files::{Folder, TEMPORARY, folder_of, if_there};
use claudex_loop::review::Digest;
use claudex_loop::text;

use self::name::Name;
use self::task::TaskFile;
use self::tasks::Tasks;

/// Limits a file in bytes: more is no plan and no table of tasks.
pub const MOST: u64 = 1024 * 1024;
/// The most that is read of a plan's directory, in bytes: a stop reads it several times.
const MAX_PLAN_BYTES: u64 = 8 * MOST;
/// The number of lines with which a plan without an overview is complete.
const COMPLETE: usize = 50;

/// Says what is wrong with a file, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The name of the file.
    pub file: String,
    /// Counts from 1; `None`: the file as a whole.
    pub line: Option<usize>,
    /// What is there, and what should be.
    pub what: String,
}

impl Problem {
    fn new(file: &str, line: Option<usize>, what: impl Into<String>) -> Self {
        let (file, what) = (text::shown(file), what.into());
        Self { file, line, what }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, line, what } = self;
        match line {
            Some(line) => write!(f, "{file}:{line}: {what}"),
            None => write!(f, "{file}: {what}"),
        }
    }
}

/// Holds what a file says, or everything that is wrong with it.
pub type Parsed<T> = Result<T, Vec<Problem>>;

/// Names what stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe, a device.
    Other,
}

/// Describes what stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// When it was last written.
    pub modified: SystemTime,
}

/// A plan's directory as it was when it was read.
#[derive(Debug, Default)]
pub struct Directory {
    /// All names, in order.
    pub entries: BTreeMap<String, Entry>,
    /// Whether plan.md is complete; `None`: it is not there.
    pub plan: Option<Parsed<bool>>,
    /// The digest of plan.md and design.md.
    pub plan_digest: String,
    /// What tasks.md says; `None`: it is not there.
    pub tasks: Option<Parsed<Tasks>>,
    /// What the task files say, by their numbers.
    pub task_files: BTreeMap<u64, Parsed<TaskFile>>,
    /// Says which reviews end in PASS (true) or FAIL; others end in neither.
    pub verdicts: BTreeMap<Name, bool>,
}

impl Directory {
    /// Reads the directory of a plan of a project; one that is not there is empty.
    ///
    /// # Errors
    /// It, or a folder above it in the project, is not trusted, or the system refuses.
    pub fn of_plan(root: &Utf8Path, plan_id: &str) -> io::Result<Self> {
        let path = root.join(".taskie/plans").join(plan_id).join("plan.md");
        match if_there(folder_of(&[root], &path))? {
            Some((folder, _)) => Self::read(&folder),
            None => Ok(Self::default()),
        }
    }

    /// Reads a directory.
    ///
    /// # Errors
    /// It cannot be listed. What is wrong with a file stands with the file.
    pub fn read(folder: &Folder) -> io::Result<Self> {
        let mut directory = Self::default();
        let mut left = MAX_PLAN_BYTES;
        let mut plan = String::new();
        // A crash may leave a file that was to replace the state.
        let listed = folder.list()?.into_iter();
        for (entry, found) in listed.filter(|(entry, _)| !entry.starts_with(TEMPORARY)) {
            let kind = match () {
                () if found.is_file() => Kind::File,
                () if found.is_folder() => Kind::Folder,
                () => Kind::Other,
            };
            // A file that is too large by itself is not read, and says so.
            let size = if found.size() > MOST { 0 } else { found.size() };
            let mut read = || match left.checked_sub(size) {
                Some(rest) => {
                    left = rest;
                    content(folder, &entry)
                }
                None => {
                    let what = format!(
                        "the files of the plan are larger than {MAX_PLAN_BYTES} bytes together; shorten them"
                    );
                    Some(Err(vec![Problem::new(&entry, None, what)]))
                }
            };
            match Name::parse(&entry).filter(|_| kind == Kind::File) {
                Some(Name::Plan) => {
                    directory.plan = read().map(|text| {
                        text.map(|text| {
                            plan.push_str(&text);
                            is_complete(&text)
                        })
                    });
                }
                Some(Name::Design) => {
                    plan.extend(read().and_then(Result::ok));
                }
                Some(Name::Tasks) => {
                    directory.tasks =
                        read().map(|text| text.and_then(|text| Tasks::parse(&entry, &text)));
                }
                Some(Name::Task(number)) => {
                    if let Some(text) = read() {
                        let file = text.and_then(|text| TaskFile::parse(&entry, number, &text));
                        directory.task_files.insert(number, file);
                    }
                }
                Some(review @ Name::Review(..)) => {
                    if let Some(pass) = read().and_then(|text| verdict(&text.ok()?)) {
                        directory.verdicts.insert(review, pass);
                    }
                }
                _ => {}
            }
            let modified = found.modified();
            directory.entries.insert(entry, Entry { kind, modified });
        }
        directory.plan_digest = digest(&plan);
        // The list has no names that are not UTF-8, and a plan has none.
        for found in std::fs::read_dir(folder.path())?.flatten() {
            let name = found.file_name();
            if name.to_str().is_none() {
                let (kind, modified) = (Kind::File, SystemTime::UNIX_EPOCH);
                let name = name.to_string_lossy().into_owned();
                directory.entries.insert(name, Entry { kind, modified });
            }
        }
        Ok(directory)
    }

    /// Returns the names of the files that a plan has.
    pub fn names(&self) -> impl Iterator<Item = Name> {
        let files = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.kind == Kind::File);
        files.filter_map(|(name, _)| Name::parse(name))
    }

    /// Returns whether a file is there.
    pub fn has(&self, name: Name) -> bool {
        let entry = self.entries.get(&name.to_string());
        entry.is_some_and(|entry| entry.kind == Kind::File)
    }

    /// Returns the table of tasks.md, where it can be read.
    pub fn table(&self) -> Option<&Tasks> {
        self.tasks.as_ref()?.as_ref().ok()
    }

    /// Returns a task file, where it can be read.
    pub fn task(&self, number: u64) -> Option<&TaskFile> {
        self.task_files.get(&number)?.as_ref().ok()
    }

    /// Returns the numbers of the active tasks.
    pub fn active(&self) -> impl Iterator<Item = u64> {
        let tasks = self.table().into_iter();
        tasks.flat_map(Tasks::active).map(|row| row.id)
    }

    /// Returns the must-run commands of these tasks, each once.
    pub fn must_run(&self, tasks: impl IntoIterator<Item = u64>) -> Vec<String> {
        let files = tasks.into_iter().filter_map(|task| self.task(task));
        let mut commands = Vec::new();
        for command in files.flat_map(TaskFile::must_run) {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        commands
    }

    /// Returns whether plan.md is there and complete.
    pub fn has_complete_plan(&self) -> bool {
        matches!(self.plan, Some(Ok(true)))
    }
}

/// Returns the digest of a text, short enough for the state.
fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).as_str()[..16].to_owned()
}

/// Returns a file as text without its byte-order mark; `None`: it went away meanwhile.
fn content(folder: &Folder, name: &str) -> Option<Parsed<String>> {
    let wrong = |line, what: String| Some(Err(vec![Problem::new(name, line, what)]));
    let bytes = match folder.read(name, MOST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return wrong(None, format!("it is larger than {MOST} bytes; shorten it"));
        }
        Err(error) => return wrong(None, format!("it cannot be read: {error}")),
    };
    match String::from_utf8(bytes) {
        Ok(text) => Some(Ok(match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => text,
        })),
        Err(error) => {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            wrong(Some(line), "it is no UTF-8; save it as UTF-8".to_owned())
        }
    }
}

/// Returns what the last line of a review says.
fn verdict(review: &str) -> Option<bool> {
    match review.trim_end().lines().next_back()?.trim() {
        "VERDICT: PASS" => Some(true),
        "VERDICT: FAIL" => Some(false),
        _ => None,
    }
}

/// Returns whether a plan is complete.
fn is_complete(plan: &str) -> bool {
    plan.lines().any(|line| line.trim_end() == "## Overview") || plan.lines().count() >= COMPLETE
}

#[cfg(test)]
mod tests;
