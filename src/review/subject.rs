//! The subject of a review: a phase's files and the work tree's changes as a text with a digest.
//!
//! A single file is reviewed alone. Several are each below a line with their name, in the order of
//! machine.toml; files of a pattern (`*` or `{n}`) by name. The first is required. `{program}`
//! means subjects from the program. Changes are compared by the last run's copy, so that a later
//! edit does not alter the reviewed text.

use std::io::{self, ErrorKind};

use camino::Utf8PathBuf;

use super::changes::{self, Since};
use super::findings_file::{NUMBER, number_in};
use super::round_error::{RoundError, io_error};
use super::runs::Run;
use super::worktree::tree_id;
use crate::digest::sha256;
use crate::files::{MAX_BYTES, optional, without_dots};
use crate::machine::table::{ReviewSpec, Subject};
use crate::machine::{LoopFacts as _, PhaseDeclaration as _, Raw};
use crate::text;

const CHANGES: &str = "{changes}";
const PROGRAM: &str = "{program}";
const MAX_SUBJECT_BYTES: usize = 512 * 1024;
/// The help for a subject that is too large.
pub const SPLIT_HELP: &str = "split it into parts, each with a loop of its own";

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

/// The subject of one run, read once: journal, prompt and built-in reviewer use the same bytes.
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
    /// Reads the subject and, if it has changes or if `with_tree`, a snapshot of the work tree.
    ///
    /// # Errors
    /// Returns an error if a file is missing, foreign or not UTF-8, if changes are unreadable, or
    /// if it is too large.
    pub fn read(raw: &Raw, spec: &ReviewSpec, with_tree: bool) -> Result<Self, RoundError> {
        let store = raw.store();
        let (diff, tree) = if has_changes(raw, spec) {
            let base = raw.fill(spec.since);
            let since = match &*base {
                "" => Since::Branch,
                commit => Since::Commit(commit),
            };
            let changes = changes::read(store, since)?;
            (Some(changes.text), Some(changes.snapshot.tree))
        } else {
            (None, with_tree.then(|| tree_id(store, None)).flatten())
        };
        let parts = read_parts(raw, spec, diff.as_deref())?;
        let name = title(raw, spec);
        let text = join(&parts);
        check_size(text.len()).map_err(|problem| RoundError::Refused {
            message: format!("cannot review {name}: {problem}"),
            help: SPLIT_HELP.to_owned(),
        })?;
        Ok(Self {
            name,
            parts,
            text,
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

    /// Returns whether this is a single document of that path.
    pub(super) fn is_named(&self, path: &str) -> bool {
        let is_end = |name: &str| path.ends_with(&format!("/{name}")) || path == name;
        matches!(&self.parts[..], [part] if !part.is_diff && is_end(&part.name))
    }

    /// Keeps the text in the loop's folder: changes as a copy for comparison at stops, and a
    /// document below its name for reports.
    pub(super) fn keep(&self, raw: &Raw, run: &str) -> Result<(), RoundError> {
        let store = raw.store();
        if let Some(changes) = self.parts.iter().find(|part| part.is_diff) {
            return store
                .replace(&changes_copy(raw), changes.text.as_bytes())
                .map_err(io_error("could not write the copy of the changes"));
        }
        let named = format!("{}\n{}", self.name, self.text);
        let _ = store.replace(&kept_path(raw, run), named.as_bytes());
        Ok(())
    }
}

/// Checks the size of a subject.
///
/// # Errors
/// Returns a problem for a sentence if it is too large for a review.
pub fn check_size(bytes: usize) -> Result<(), String> {
    if bytes <= MAX_SUBJECT_BYTES {
        return Ok(());
    }
    Err(format!(
        "it has {bytes} bytes, and a review takes at most {MAX_SUBJECT_BYTES} (512 KiB)"
    ))
}

/// Returns whether the work tree's changes are reviewed, alone or with files.
pub fn has_changes(raw: &Raw, spec: &ReviewSpec) -> bool {
    let copy = changes_copy(raw);
    let mut subjects = spec.subject.iter();
    subjects.any(|one| *one == CHANGES || raw.path(one) == copy)
}

/// Returns the name of the subject: `PLAN.md, tasks/task-*.md`, with a `*` for `{n}`.
pub fn title(raw: &Raw, spec: &ReviewSpec) -> String {
    let mut names = Vec::new();
    for (at, one) in spec.subject.iter().enumerate() {
        // Only the first of several files is required.
        let is_there = || at == 0 || is_pattern(one) || raw.path(one).symlink_metadata().is_ok();
        match *one {
            CHANGES => names.push("the work tree’s changes".to_owned()),
            PROGRAM => match raw.program_facts().subjects.get() {
                Some(Ok(all)) => names.extend(all.iter().map(|one| text::printable(&one.name))),
                _ => names.push("what the program gives".to_owned()),
            },
            one if is_there() => names.push(text::printable(raw.fill(&one.replace(NUMBER, "*")))),
            _ => {}
        }
    }
    names.join(", ")
}

/// Returns the current text of a subject, or `None` if it cannot be reviewed: the first file is
/// missing, or one of them is not the project's or not UTF-8.
///
/// # Errors
/// Returns an error if a file is not trusted, the system refuses, or the total is too large.
pub fn read_current(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<String>> {
    match read_parts(raw, spec, None) {
        Ok(parts) => Ok(Some(join(&parts))),
        Err(RoundError::Refused { .. }) => Ok(None),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Sets the program's subjects in a loop if its phase needs them.
pub fn set_subjects(raw: &Raw, subjects: impl FnOnce() -> Result<Vec<Subject>, String>) {
    let spec = raw.phase_info().review();
    if spec.is_some_and(|spec| spec.subject.contains(&PROGRAM)) {
        let _ = raw.program_facts().subjects.set(subjects());
    }
}

/// Returns the name and the text of a run's document, if the kept text has the run's digest.
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

fn changes_copy(raw: &Raw) -> Utf8PathBuf {
    raw.root().join(changes::copy_path(raw.store(), raw.id()))
}

/// Joins the texts of several files, each below its name.
fn join(parts: &[Part]) -> String {
    if let [only] = parts {
        return only.text.clone();
    }
    let mut all = String::new();
    for Part { name, text, .. } in parts {
        all.extend(["=== ", &text::printable(name), " ===\n", text]);
        if !text.ends_with('\n') {
            all.push('\n');
        }
    }
    all
}

/// Returns the existing files of a subject, each once, with `diff` instead of the copy. A file
/// outside of root and state folder is refused, since its text would be sent to a model.
fn read_parts(raw: &Raw, spec: &ReviewSpec, diff: Option<&str>) -> Result<Vec<Part>, RoundError> {
    let root = raw.root();
    let copy = changes_copy(raw);
    let failure = |error| io_error(format!("could not read {}", title(raw, spec)))(error);
    let refusal = |name: &str, problem: &str, help: &str| RoundError::Refused {
        message: format!("{} {problem}", text::printable(name)),
        help: format!("{help}, then run the review again"),
    };
    let mut parts: Vec<Part> = Vec::new();
    let mut bytes_left = MAX_BYTES;
    for template in spec.subject {
        for Subject { name, text } in sources(raw, template).map_err(failure)? {
            let path = root.join(name);
            let name = path.strip_prefix(&root).unwrap_or(&path).to_string();
            if parts.iter().any(|part| part.name == name) {
                continue;
            }
            let plain_path = without_dots(&path);
            if !plain_path.starts_with(&root) && !plain_path.starts_with(raw.store().folder()) {
                let problem = "is not below the loop’s root: a reviewer would be shown a file that is not the project's";
                return Err(refusal(&name, problem, "put the file itself there"));
            }
            let is_diff = path == copy;
            let text = match text.or(diff.filter(|_| is_diff).map(str::to_owned)) {
                Some(text) => text,
                None => {
                    let read = raw
                        .folder_at(&path)
                        .and_then(|(folder, name)| folder.read(&name, bytes_left));
                    let Some(bytes) = optional(read).map_err(failure)? else {
                        continue;
                    };
                    String::from_utf8(bytes)
                        .map_err(|_| refusal(&name, "is not UTF-8 text", "save it as UTF-8"))?
                }
            };
            bytes_left = bytes_left
                .checked_sub(text.len() as u64)
                .ok_or_else(|| failure(ErrorKind::FileTooLarge.into()))?;
            parts.push(Part {
                name,
                is_diff,
                text,
            });
        }
        // Only the first is required.
        if parts.is_empty() {
            let (name, problem) = match *template {
                PROGRAM => ("nothing that the program gives".to_owned(), "is there"),
                CHANGES => (copy.to_string(), "does not exist"),
                file => (raw.path(file).to_string(), "does not exist"),
            };
            let problem = format!("{problem}, so there is nothing to review");
            return Err(refusal(&name, &problem, "write it"));
        }
    }
    if parts.iter().all(|part| part.text.trim().is_empty()) {
        return Err(refusal(&parts[0].name, "is empty", "write it"));
    }
    Ok(parts)
}

/// Returns the files of a subject, or the program's texts.
fn sources(raw: &Raw, template: &str) -> io::Result<Vec<Subject>> {
    if template == PROGRAM {
        return match raw.program_facts().subjects.get() {
            Some(Ok(subjects)) => Ok(subjects.clone()),
            Some(Err(why)) => Err(io::Error::other(text::one_line(why, 1000))),
            None => Err(io::Error::other("the program has not set what is reviewed")),
        };
    }
    let paths = match template {
        CHANGES => vec![changes_copy(raw)],
        pattern if is_pattern(pattern) => matching_files(raw, pattern)?,
        file => vec![raw.path(file)],
    };
    let file = |path: Utf8PathBuf| Subject {
        name: path.into_string(),
        text: None,
    };
    Ok(paths.into_iter().map(file).collect())
}

fn is_pattern(subject: &str) -> bool {
    subject.contains('*') || subject.contains(NUMBER)
}

/// Returns the paths that match a pattern, by name. A `*` in a field's value is no pattern.
fn matching_files(raw: &Raw, pattern: &str) -> io::Result<Vec<Utf8PathBuf>> {
    let (folder, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
    let is_numbered = name.contains(NUMBER);
    let ends = name.split_once(if is_numbered { NUMBER } else { "*" });
    let (before, after) = ends.unwrap_or((name, ""));
    let before = raw.fill(before);
    let after = raw.fill(after);
    let Some((folder, _)) = optional(raw.folder_at(&raw.path(folder).join("*")))? else {
        return Ok(Vec::new());
    };
    let is_match = |name: &str| {
        let rest = name.strip_prefix(&before);
        number_in(name, &before, &after).is_some()
            || !is_numbered && rest.is_some_and(|rest| rest.ends_with(&after))
    };
    let files = folder.list()?.into_iter();
    let mut paths: Vec<Utf8PathBuf> = files
        .filter(|(name, found)| found.kind.is_file() && is_match(name))
        .map(|(name, _)| folder.path().join(name))
        .collect();
    paths.sort();
    Ok(paths)
}
