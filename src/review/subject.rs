//! The subject of a review: the files that a phase names and the work tree's changes, as one text with one digest.
//!
//! A single file is reviewed as it is. Several files stand below a line with their name each, in the order of machine.toml; the
//! files of a pattern (`*` or `{n}`) in the order of their names. The first file is required. `{program}` represents subjects that
//! the program provides. Changes are compared by the copy that the last run took, so that a later edit does not alter the text that was
//! reviewed.

use std::io::{self, ErrorKind};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::changes::{self, Since};
use super::findings_file::{NUMBER, number_in};
use super::round::{RoundError, io_error};
use super::runs::Run;
use super::worktree::tree_id;
use crate::digest::sha256;
use crate::files::{MAX_BYTES, if_there};
use crate::machine::table::{ReviewSpec, Subject};
use crate::machine::{LoopFacts as _, PhaseDeclaration as _, Raw};
use crate::text;

/// The subject that is the work tree's changes.
const CHANGES: &str = "{changes}";
/// The subjects that the program provides.
const PROGRAM: &str = "{program}";
/// The most files of a subject.
const MAX_FILES: usize = 1000;

/// One file of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The path from the loop's root, as people read it.
    pub name: String,
    /// Whether this is the changes of a work tree, as a unified diff; otherwise it is a document.
    pub is_diff: bool,
    /// The text.
    pub text: String,
}

/// The subject of one run. It is read once: the journal's digest, the prompt and the built-in reviewer all use these bytes.
#[derive(Debug, Default)]
pub struct SubjectText {
    /// The name, such as `PLAN.md`.
    pub name: String,
    /// The files.
    pub parts: Vec<Part>,
    /// All files as one text.
    pub text: String,
    /// Git's tree id of the work tree, if it is known.
    pub(super) tree: Option<String>,
}

impl SubjectText {
    /// Reads the subject and, if it has changes or if `with_tree`, takes a snapshot of the work tree.
    ///
    /// # Errors
    /// Returns an error if a file is missing, outside of the project or not UTF-8, or if the changes cannot be read.
    pub fn read(raw: &Raw, spec: &ReviewSpec, with_tree: bool) -> Result<Self, RoundError> {
        let store = raw.store();
        let mut tree = None;
        let mut diff = None;
        if has_changes(raw, spec) {
            let since = raw.fill(spec.since);
            let since = match &*since {
                "" => Since::Branch,
                commit => Since::Commit(commit),
            };
            let changes = changes::read(store, since)?;
            tree = Some(changes.snapshot.tree().to_owned());
            diff = Some(changes.text);
        } else if with_tree {
            tree = tree_id(store, None);
        }
        let name = title(raw, spec);
        let files = files(raw, spec, diff.as_deref())
            .map_err(io_error(format!("could not read {name}")))?;
        if files.is_empty() {
            let first = match spec.subject.first() {
                Some(&CHANGES) | None => copy_in(raw),
                Some(one) => raw.path(one),
            };
            return Err(RoundError::Refused {
                message: format!(
                    "{} does not exist, so there is nothing to review",
                    text::shown(first)
                ),
                help: "write it, then run the review again".to_owned(),
            });
        }
        let text = String::from_utf8_lossy(&joined(raw, &files)).into_owned();
        let parts = files
            .into_iter()
            .map(|(path, bytes)| part(raw, &path, bytes));
        Ok(Self {
            name,
            text,
            parts: parts.collect::<Result<_, _>>()?,
            tree,
        })
    }

    /// Returns the document under review, or an empty text if it is not a single document.
    pub(super) fn document(&self) -> &str {
        match &self.parts[..] {
            [part] if !part.is_diff => &part.text,
            _ => "",
        }
    }

    /// Keeps the text in the loop's folder: changes as the copy that stops compare, a document below a line with its name, for
    /// reports.
    pub(super) fn keep(&self, raw: &Raw, run: &str) -> Result<(), RoundError> {
        let store = raw.store();
        if let Some(changes) = self.parts.iter().find(|part| part.is_diff) {
            return store
                .replace(&copy_in(raw), changes.text.as_bytes())
                .map_err(io_error("could not write the copy of the changes"));
        }
        let named = format!("{}\n{}", self.name, self.text);
        let _ = store.replace(&kept_path(raw, run), named.as_bytes());
        Ok(())
    }
}

/// Makes a part of a file, unless the file is outside of the loop's root and the state folder: a reviewer that is a model would
/// send its text away.
fn part(raw: &Raw, path: &Utf8Path, bytes: Vec<u8>) -> Result<Part, RoundError> {
    let root = raw.root();
    let refused = |problem: String, help: &str| RoundError::Refused {
        message: format!("{} {problem}", text::shown(path)),
        help: format!("{help}, then run the review again"),
    };
    if !path.starts_with(&root) && !path.starts_with(raw.store().folder()) {
        let root = text::shown(raw.store().root());
        let problem = format!(
            "leads out of {root}: a reviewer would be shown a file that is not the project's"
        );
        return Err(refused(problem, "put the file itself there"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| refused("is not UTF-8 text".to_owned(), "save it as UTF-8"))?;
    Ok(Part {
        name: path.strip_prefix(&root).unwrap_or(path).to_string(),
        is_diff: path == copy_in(raw),
        text,
    })
}

/// Returns whether the work tree's changes are reviewed, alone or with files.
pub fn has_changes(raw: &Raw, spec: &ReviewSpec) -> bool {
    let copy = copy_in(raw);
    let mut subjects = spec.subject.iter();
    subjects.any(|one| *one == CHANGES || raw.path(one) == copy)
}

/// Returns the name of the subject: `PLAN.md, tasks/task-*.md`.
pub fn title(raw: &Raw, spec: &ReviewSpec) -> String {
    let mut names = Vec::new();
    for (at, one) in spec.subject.iter().enumerate() {
        // Only the first of several files is required.
        let is_there = || at == 0 || is_pattern(one) || raw.path(one).symlink_metadata().is_ok();
        match *one {
            CHANGES => names.push("the work tree’s changes".to_owned()),
            PROGRAM => match raw.program_facts().subjects.get() {
                Some(Ok(all)) => names.extend(all.iter().map(|one| text::shown(one.name()))),
                _ => names.push("what the program gives".to_owned()),
            },
            one if is_there() => names.push(text::shown(raw.fill(one))),
            _ => {}
        }
    }
    names.join(", ")
}

/// Returns the bytes of a subject as it is now, or `None` if the first of its files is missing.
///
/// # Errors
/// Returns an error if a file is not trusted, the system refuses, or the files are too many or too large together.
pub fn now(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<Vec<u8>>> {
    let files = if_there(files(raw, spec, None))?.unwrap_or_default();
    Ok((!files.is_empty()).then(|| joined(raw, &files)))
}

/// Sets the program's subjects in a loop if its phase asks for them.
pub fn tell(raw: &Raw, subjects: impl FnOnce() -> Result<Vec<Subject>, String>) {
    let spec = raw.table().phases[raw.phase()].review();
    if spec.is_some_and(|spec| spec.subject.contains(&PROGRAM)) {
        let _ = raw.program_facts().subjects.set(subjects());
    }
}

/// Returns the name and the text of a run's document if they were kept and are as the journal noted them.
pub fn text_of_run(raw: &Raw, run: &Run) -> Option<(String, String)> {
    let path = kept_path(raw, &run.began.run);
    let named = raw.store().read(&path).and_then(crate::files::text).ok()?;
    let (name, text) = named.split_once('\n')?;
    (sha256(text) == run.began.subject).then(|| (name.to_owned(), text.to_owned()))
}

fn kept_path(raw: &Raw, run: &str) -> Utf8PathBuf {
    let name = format!("reviewed-{run}.txt");
    raw.store().loop_folder(raw.id()).join(name)
}

/// Returns the path of the copy of the changes.
fn copy_in(raw: &Raw) -> Utf8PathBuf {
    raw.root().join(changes::copy_path(raw.store(), raw.id()))
}

/// Joins the texts of several files, each below its name.
fn joined(raw: &Raw, files: &[(Utf8PathBuf, Vec<u8>)]) -> Vec<u8> {
    if let [(_, only)] = files {
        return only.clone();
    }
    let root = raw.root();
    let mut text = Vec::new();
    for (path, bytes) in files {
        let name = text::shown(path.strip_prefix(&root).unwrap_or(path));
        text.extend_from_slice(format!("=== {name} ===\n").as_bytes());
        text.extend_from_slice(bytes);
        if !bytes.ends_with(b"\n") {
            text.push(b'\n');
        }
    }
    text
}

/// Returns the files of a subject that exist, each once, or none if the first one is missing. `changes` replaces the copy of the
/// work tree's changes.
fn files(
    raw: &Raw,
    spec: &ReviewSpec,
    changes: Option<&str>,
) -> io::Result<Vec<(Utf8PathBuf, Vec<u8>)>> {
    let copy = copy_in(raw);
    let mut files: Vec<(Utf8PathBuf, Vec<u8>)> = Vec::new();
    let mut bytes_left = MAX_BYTES;
    for (at, template) in spec.subject.iter().enumerate() {
        for (path, text) in sources(raw, template)? {
            if files.iter().any(|(known, _)| *known == path) {
                continue;
            }
            let text = text.or(changes.filter(|_| path == copy).map(str::to_owned));
            let read = || {
                let (folder, name) = raw.folder_at(&path)?;
                folder.read(&name, bytes_left)
            };
            let bytes = match text {
                Some(text) => Some(text.into_bytes()),
                None => if_there(read())?,
            };
            let Some(bytes) = bytes else { continue };
            let size = bytes.len() as u64;
            if files.len() == MAX_FILES || size > bytes_left {
                return Err(ErrorKind::FileTooLarge.into());
            }
            bytes_left -= size;
            files.push((path, bytes));
        }
        if at == 0 && files.is_empty() {
            let problem = "nothing that the program gives is there";
            return match *template {
                PROGRAM => Err(io::Error::new(ErrorKind::NotFound, problem)),
                _ => Ok(Vec::new()),
            };
        }
    }
    Ok(files)
}

/// Returns the paths of a subject's files, those of the program with their text if no file has it.
fn sources(raw: &Raw, template: &str) -> io::Result<Vec<(Utf8PathBuf, Option<String>)>> {
    let root = raw.root();
    if is_pattern(template) {
        let files = matching_files(raw, template)?;
        return Ok(files.into_iter().map(|path| (path, None)).collect());
    }
    if template != PROGRAM {
        let is_changes = template == CHANGES;
        let path = if is_changes {
            copy_in(raw)
        } else {
            raw.path(template)
        };
        return Ok(vec![(path, None)]);
    }
    let unset = Err("the program has not said what is reviewed".to_owned());
    let subjects = match raw.program_facts().subjects.get().unwrap_or(&unset) {
        Ok(subjects) => subjects,
        Err(why) => return Err(io::Error::other(text::one_line(why, 1000))),
    };
    let source = |subject: &Subject| {
        let path = Utf8Path::new(subject.name());
        let is_below = |part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
        if !path.components().all(is_below) {
            let problem = format!("{} is not below the loop’s root", text::shown(path));
            return Err(io::Error::new(ErrorKind::InvalidData, problem));
        }
        let text = match subject {
            Subject::File(_) => None,
            Subject::Text { text, .. } => Some(text.clone()),
        };
        Ok((root.join(path), text))
    };
    subjects.iter().map(source).collect()
}

/// Returns whether a subject is a pattern for several files.
fn is_pattern(subject: &str) -> bool {
    subject.contains('*') || subject.contains(NUMBER)
}

/// Returns the paths of the files that match a pattern, by name. A `*` in the value of a field is no pattern.
fn matching_files(raw: &Raw, pattern: &str) -> io::Result<Vec<Utf8PathBuf>> {
    let (folder, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
    let is_numbered = name.contains(NUMBER);
    let ends = name.split_once(if is_numbered { NUMBER } else { "*" });
    let (before, after) = ends.unwrap_or((name, ""));
    let before = raw.fill(before);
    let after = raw.fill(after);
    let Some((folder, _)) = if_there(raw.folder_at(&raw.path(folder).join("*")))? else {
        return Ok(Vec::new());
    };
    let mut names = folder.names()?;
    names.sort();
    let mut files = Vec::new();
    for name in names {
        let matches = if is_numbered {
            number_in(&name, &before, &after).is_some()
        } else {
            let rest = name.strip_prefix(&before);
            rest.is_some_and(|rest| rest.ends_with(&after))
        };
        if matches
            && folder
                .look(&name)?
                .is_some_and(|found| found.kind.is_file())
        {
            files.push(folder.path().join(name));
        }
    }
    Ok(files)
}
