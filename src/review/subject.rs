//! The subject of a review: the files that a phase names and the work tree's changes, as one text with one digest.
//!
//! A single file is reviewed as it is. Several files stand below a line with their name each, in the order of machine.toml; the
//! files of a pattern (`*` or `{n}`) in the order of their names. The first file is required. `{program}` stands for subjects that
//! the program provides. Changes are compared by the copy that the last run took, so that a later edit does not alter what was
//! reviewed.

use std::borrow::Cow;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::changes::{self, base};
use super::digest::Digest;
use super::findings_json::is_name;
use super::round_error::{RoundError, io_error};
use super::runs::Run;
use super::subject_files::{PROGRAM, copy_in, files, first, name_of};
pub use super::subject_files::{has_changes, shown};
use super::worktree::tree_id;
use crate::files::{UntrustedError, if_there};
use crate::machine::table::{ReviewSpec, Subject};
use crate::machine::{LoopFacts as _, PhaseDeclaration as _, Raw};
use crate::store::StoreError;
use crate::text;

/// The kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// A document, such as a plan.
    Document,
    /// Changes of a work tree, as a unified diff.
    Diff,
}

/// One file of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its path from the loop's root, as people read it.
    pub name: String,
    /// Its kind.
    pub kind: PartKind,
    /// Its text.
    pub text: String,
}

impl Part {
    /// Makes a part of a file below `root`.
    pub(super) fn new(
        root: &Utf8Path,
        path: Utf8PathBuf,
        bytes: Vec<u8>,
        kind: PartKind,
    ) -> Result<Self, RoundError> {
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(RoundError::NotText { path });
        };
        let name = name_of(root, &path).to_owned();
        Ok(Self { name, kind, text })
    }
}

/// The subject of one run. It is read once: the journal's digest, the prompt and the built-in reviewer all use these bytes.
#[derive(Debug)]
pub struct SubjectText {
    /// Its name, such as `PLAN.md`.
    pub name: String,
    /// Its files.
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
        let changes = has_changes(raw, spec).then(|| {
            let since = raw.fill(spec.since);
            changes::in_store(raw.store(), |snapshot| match &*since {
                "" => base::find(snapshot),
                commit => base::of_commit(snapshot, commit),
            })
        });
        let changes = changes.transpose()?;
        let tree = match &changes {
            Some(changes) => Some(changes.snapshot.tree().to_owned()),
            None if with_tree => tree_id(raw.store(), None),
            None => None,
        };
        let name = shown(raw, spec);
        let changes = changes.as_ref().map(|found| found.text.as_str());
        let files = files(raw, spec, changes).map_err(|source| unreadable(source, &name))?;
        if files.is_empty() {
            return Err(RoundError::NoSubject {
                path: first(raw, spec),
            });
        }
        let text = joined(&raw.root(), &files);
        let text = String::from_utf8_lossy(&text).into_owned();
        let parts = files.into_iter();
        let parts = parts.map(|(path, bytes)| part(raw, path, bytes));
        Ok(Self {
            name,
            text,
            parts: parts.collect::<Result<_, _>>()?,
            tree,
        })
    }

    /// Returns the digest of the text.
    pub(super) fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    /// Returns the document under review, or an empty text if it is not a single document.
    pub(super) fn document(&self) -> &str {
        match &self.parts[..] {
            [part] if part.kind == PartKind::Document => &part.text,
            _ => "",
        }
    }

    /// Keeps the text in the loop's folder: changes as the copy that stops compare, a document below a line with its name, for
    /// reports.
    pub(super) fn keep(&self, raw: &Raw, run: &str) -> Result<(), RoundError> {
        let store = raw.store();
        match self.parts.iter().find(|part| part.kind == PartKind::Diff) {
            Some(changes) => store
                .replace(&copy_in(raw), changes.text.as_bytes())
                .map_err(io_error("could not write the copy of the changes")),
            None => {
                let named = format!("{}\n{}", self.name, self.text);
                let _ = store.replace(&kept_path(raw, run), named.as_bytes());
                Ok(())
            }
        }
    }
}

/// Makes a part of a file, unless the file is outside of the loop's root and the state folder: a reviewer that is a model would
/// send its text away.
fn part(raw: &Raw, path: Utf8PathBuf, bytes: Vec<u8>) -> Result<Part, RoundError> {
    let root = raw.root();
    if !path.starts_with(&root) && !path.starts_with(raw.store().folder()) {
        let root = raw.store().root().to_owned();
        return Err(RoundError::Outside { path, root });
    }
    let kind = match path == copy_in(raw) {
        true => PartKind::Diff,
        false => PartKind::Document,
    };
    Part::new(&root, path, bytes, kind)
}

/// Converts an error of the system about a file with this name.
pub(super) fn unreadable(source: io::Error, name: &str) -> RoundError {
    let untrusted = UntrustedError::of(&source).map(|error| error.path.clone());
    match untrusted {
        Some(path) => RoundError::Store(StoreError::Io {
            doing: "read",
            path,
            source,
        }),
        None => io_error(format!("could not read {name}"))(source),
    }
}

/// Returns the digest of a subject as it is now, or `None` if the first of its files is missing.
pub(crate) fn digest(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<Digest>> {
    let files = if_there(files(raw, spec, None))?.unwrap_or_default();
    Ok((!files.is_empty()).then(|| Digest::of(&joined(&raw.root(), &files))))
}

/// Returns the text of a subject as it is now, or `None` if the first of its files is missing.
///
/// # Errors
/// Returns an error if a file is not trusted, the system refuses, or the files are too many or too large together.
pub fn now(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<String>> {
    let files = if_there(files(raw, spec, None))?.unwrap_or_default();
    let text = joined(&raw.root(), &files);
    Ok((!files.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned()))
}

/// Sets the program's subjects in a loop if its phase asks for them.
pub fn tell(raw: &Raw, subjects: impl FnOnce() -> Result<Vec<Subject>, String>) {
    let spec = raw.table().phases[raw.phase()].review();
    if spec.is_some_and(|spec| spec.subject.contains(&PROGRAM)) {
        let _ = raw.told().subjects.set(subjects());
    }
}

/// Returns the name and the text of a run's document if they were kept and are as the journal noted them.
pub fn kept(raw: &Raw, run: &Run) -> Option<(String, String)> {
    // The run's id becomes a part of the file's name.
    let path = is_name(&run.began.run).then(|| kept_path(raw, &run.began.run))?;
    let named = raw.store().read(&path).and_then(crate::files::text).ok()?;
    let (name, text) = named.split_once('\n')?;
    (Digest::of(text.as_bytes()) == run.began.subject).then(|| (name.to_owned(), text.to_owned()))
}

fn kept_path(raw: &Raw, run: &str) -> Utf8PathBuf {
    let name = format!("reviewed-{run}.txt");
    raw.store().loop_folder(raw.id()).join(name)
}

/// Joins the texts of several files, each below its name.
fn joined<'t>(root: &Utf8Path, files: &'t [(Utf8PathBuf, Vec<u8>)]) -> Cow<'t, [u8]> {
    if let [(_, only)] = files {
        return Cow::Borrowed(only);
    }
    let mut text = Vec::new();
    for (path, bytes) in files {
        let name = text::shown(name_of(root, path));
        text.extend_from_slice(format!("=== {name} ===\n").as_bytes());
        text.extend_from_slice(bytes);
        if !bytes.ends_with(b"\n") {
            text.push(b'\n');
        }
    }
    Cow::Owned(text)
}
