//! What a review reads: the files that a phase names, and the work tree's changes, as one text with one digest.
//!
//! A single file is reviewed as it is. Of several each stands below a line with its name, in the order of machine.toml, and those
//! that `*` or `{n}` stands for by name. The first has to be there; of the others, what is there. Changes are read from the copy that the last
//! run took, so that what was reviewed does not become another thing by what is changed afterwards. What the program gives stands where
//! machine.toml has `{program}`, and is part of the same text and digest.

use std::borrow::Cow;
use std::io;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::numbered::{NUMBER, between};
use super::runs::{Run, RunBegin};
use super::{Digest, Kind, ReviewSpec, Subject, copy, findings_json};
use crate::files::{MAX_BYTES, if_there};
use crate::machine::Raw;
use crate::text;

/// The subject that is the work tree's changes.
const CHANGES: &str = "{changes}";
/// The subject that the program gives.
const PROGRAM: &str = "{program}";
/// Limits the files that a subject has.
const MOST_FILES: usize = 1000;

/// One file of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its path from the loop's root, as people read it.
    pub name: String,
    /// What kind of text it is.
    pub kind: Kind,
    /// What stands in it.
    pub text: String,
}

/// Returns the text of a subject.
pub fn text_of(parts: &[Part]) -> String {
    let all = parts
        .iter()
        .map(|part| (part.name.as_str(), part.text.as_bytes()));
    String::from_utf8_lossy(&joined(&all.collect::<Vec<_>>())).into_owned()
}

/// Returns the digest of a subject as it is now; `None`: the first of its files is not there.
///
/// # Errors
/// One of its files is not trusted, or the system refuses; or they are too many, or too large together.
pub fn digest(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<Digest>> {
    bytes(raw, spec, Digest::of)
}

/// Returns the text of a subject as it is now; `None`: the first of its files is not there.
///
/// # Errors
/// See [`digest`].
pub fn now(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<String>> {
    bytes(raw, spec, |bytes| {
        String::from_utf8_lossy(bytes).into_owned()
    })
}

fn bytes<T>(raw: &Raw, spec: &ReviewSpec, made: impl Fn(&[u8]) -> T) -> io::Result<Option<T>> {
    let (files, root) = (
        if_there(files(raw, spec, None))?.unwrap_or_default(),
        raw.root(),
    );
    let all = files
        .iter()
        .map(|(path, bytes)| (name_of(&root, path), bytes.as_slice()));
    Ok((!files.is_empty()).then(|| made(&joined(&all.collect::<Vec<_>>()))))
}

/// Tells a loop what its program has reviewed, where its phase asks for that.
pub fn tell(raw: &Raw, subjects: impl FnOnce() -> Result<Vec<Subject>, String>) {
    let spec = raw.table().phases[raw.phase()].review;
    if spec.is_some_and(|spec| spec.subject.contains(&PROGRAM)) {
        let _ = raw.told().subjects.set(subjects());
    }
}

/// Keeps the text that a run reviews, below a line with its name, so that a report can say how it changed. Changes of a work tree are
/// not kept: they may be large, and the journal has what they were compared with.
pub(super) fn keep(raw: &Raw, spec: &ReviewSpec, began: &RunBegin, text: &str) -> io::Result<()> {
    if has_changes(raw, spec) {
        return Ok(());
    }
    let named = format!("{}\n{text}", shown(raw, spec));
    raw.store().replace(&kept_at(raw, began), named.as_bytes())
}

/// Returns the name of what a run reviewed and its text, where that was kept and is as the journal noted it.
pub fn kept(raw: &Raw, run: &Run) -> Option<(String, String)> {
    // Anyone can write a journal, and the run's id is part of the file's name.
    let path = findings_json::is_name(&run.began.run).then(|| kept_at(raw, &run.began))?;
    let named = raw.store().read(&path).and_then(crate::files::text).ok()?;
    let (name, text) = named.split_once('\n')?;
    (Digest::of(text.as_bytes()) == run.began.subject).then(|| (name.to_owned(), text.to_owned()))
}

fn kept_at(raw: &Raw, began: &RunBegin) -> Utf8PathBuf {
    let name = format!("reviewed-{}.txt", began.run);
    raw.store().loop_folder(raw.id()).join(name)
}

/// Returns whether the work tree's changes are reviewed, alone or besides files.
pub fn has_changes(raw: &Raw, spec: &ReviewSpec) -> bool {
    let copy = copy_in(raw);
    spec.subject
        .iter()
        .any(|one| *one == CHANGES || raw.path(one) == copy)
}

/// Returns what is reviewed, as people read it: `PLAN.md, tasks/task-*.md`.
pub fn shown(raw: &Raw, spec: &ReviewSpec) -> String {
    // Of several files only the first has to be there.
    let is_there = |(at, one): &(usize, &&str)| {
        *at == 0
            || [CHANGES, PROGRAM].contains(*one)
            || is_pattern(one)
            || raw.path(one).symlink_metadata().is_ok()
    };
    let subjects = spec.subject.iter().enumerate().filter(is_there);
    let shown = subjects.map(|(_, one)| match *one {
        CHANGES => "the work tree’s changes".to_owned(),
        PROGRAM => match raw.told().subjects.get() {
            Some(Ok(given)) => {
                let names = given.iter().map(|one| text::shown(one.name()));
                names.collect::<Vec<_>>().join(", ")
            }
            _ => "what the program gives".to_owned(),
        },
        one => text::shown(raw.fill(one)),
    });
    let shown: Vec<String> = shown.filter(|one| !one.is_empty()).collect();
    shown.join(", ")
}

/// Returns the first file that has to be there.
pub fn first(raw: &Raw, spec: &ReviewSpec) -> Utf8PathBuf {
    match spec.subject.first() {
        Some(&CHANGES) | None => copy_in(raw),
        Some(one) => raw.path(one),
    }
}

/// Returns where the copy of the changes lies.
pub(super) fn copy_in(raw: &Raw) -> Utf8PathBuf {
    raw.root().join(copy::copy_of(raw.store(), raw.id()))
}

/// Returns the name of a file as people read it.
pub(super) fn name_of<'p>(root: &Utf8Path, path: &'p Utf8Path) -> &'p str {
    path.strip_prefix(root).unwrap_or(path).as_str()
}

/// Joins the texts of several files, each below its name.
fn joined<'t>(files: &[(&str, &'t [u8])]) -> Cow<'t, [u8]> {
    if let [(_, only)] = files {
        return Cow::Borrowed(only);
    }
    let mut text = Vec::new();
    for (name, bytes) in files {
        text.extend_from_slice(format!("=== {} ===\n", text::shown(name)).as_bytes());
        text.extend_from_slice(bytes);
        if !bytes.ends_with(b"\n") {
            text.push(b'\n');
        }
    }
    Cow::Owned(text)
}

/// Returns the files of a subject that are there, each once; none where the first is not. The work tree's changes are those given, or
/// else the copy of them.
///
/// # Errors
/// One is not trusted, or the system refuses; or they are too many, or too large together.
pub(super) fn files(
    raw: &Raw,
    spec: &ReviewSpec,
    changes: Option<&str>,
) -> io::Result<Vec<(Utf8PathBuf, Vec<u8>)>> {
    let mut found = Found::default();
    for (at, template) in spec.subject.iter().enumerate() {
        match *template {
            CHANGES => found.path(raw, copy_in(raw), changes)?,
            PROGRAM => found.of_program(raw)?,
            _ if is_pattern(template) => found.pattern(raw, template)?,
            _ => found.path(raw, raw.path(template), changes)?,
        }
        if at == 0 && found.files.is_empty() {
            return match *template {
                PROGRAM => Err(io::Error::new(
                    io::ErrorKind::NotFound,
                    "nothing that the program gives is there",
                )),
                _ => Ok(Vec::new()),
            };
        }
    }
    Ok(found.files)
}

/// The files of a subject that were found so far.
#[derive(Default)]
struct Found {
    files: Vec<(Utf8PathBuf, Vec<u8>)>,
    bytes: u64,
}

impl Found {
    /// Adds a file, unless it is among them.
    fn add(&mut self, path: Utf8PathBuf, bytes: Vec<u8>) -> io::Result<()> {
        if self.files.iter().any(|(known, _)| *known == path) {
            return Ok(());
        }
        if self.files.len() == MOST_FILES {
            let problem = format!("there are more than {MOST_FILES} files to review");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        if bytes.len() as u64 > self.left() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes += bytes.len() as u64;
        self.files.push((path, bytes));
        Ok(())
    }

    /// Returns how many bytes there may be more.
    fn left(&self) -> u64 {
        MAX_BYTES - self.bytes
    }

    /// Adds a file, if it is there.
    fn path(&mut self, raw: &Raw, path: Utf8PathBuf, changes: Option<&str>) -> io::Result<()> {
        if let Some(changes) = changes.filter(|_| path == copy_in(raw)) {
            return self.add(path, changes.as_bytes().to_vec());
        }
        let (folder, name) = match if_there(raw.folder_at(&path))? {
            Some(found) => found,
            None => return Ok(()),
        };
        match if_there(folder.read(&name, self.left()))? {
            Some(bytes) => self.add(path, bytes),
            None => Ok(()),
        }
    }

    /// Adds what the program gives, as far as it is there.
    fn of_program(&mut self, raw: &Raw) -> io::Result<()> {
        let unsaid = Err("the program has not said what is reviewed".to_owned());
        let given = raw.told().subjects.get().unwrap_or(&unsaid);
        let given = given
            .as_ref()
            .map_err(|why| io::Error::other(text::one_line(why, 1000)))?;
        let root = raw.root();
        for one in given {
            let path = Utf8Path::new(one.name());
            if !path
                .components()
                .all(|part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir))
            {
                let problem = format!("{} is no path below the loop’s root", text::shown(path));
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
            match one {
                Subject::File(_) => self.path(raw, root.join(path), None)?,
                Subject::Text { text, .. } => {
                    self.add(root.join(path), text.clone().into_bytes())?
                }
            }
        }
        Ok(())
    }

    /// Adds the files that a pattern stands for, by name. A field's value is taken as it is, also where a `*` stands in it.
    fn pattern(&mut self, raw: &Raw, pattern: &str) -> io::Result<()> {
        let (folder, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
        let pieces: Vec<String> = name.split('*').map(|piece| raw.fill(piece)).collect();
        let ends = name
            .split_once(NUMBER)
            .map(|(before, after)| (raw.fill(before), raw.fill(after)));
        let path = raw.path(folder);
        let Some((folder, _)) = if_there(raw.folder_at(&path.join("*")))? else {
            return Ok(());
        };
        let mut names = folder.names()?;
        names.retain(|name| match &ends {
            Some((before, after)) => between(name, before, after).is_some(),
            None => fits(name, &pieces),
        });
        names.truncate(MOST_FILES + 1);
        names.sort();
        for name in names {
            if folder.look(&name)?.is_some_and(|found| found.is_file()) {
                let bytes = folder.read(&name, self.left())?;
                self.add(folder.path().join(name), bytes)?;
            }
        }
        Ok(())
    }
}

/// Returns whether a subject stands for several files.
fn is_pattern(subject: &str) -> bool {
    subject.contains('*') || subject.contains(NUMBER)
}

/// Returns whether a name has these pieces in their order, the first and the last at its ends.
fn fits(name: &str, pieces: &[String]) -> bool {
    let [first, middle @ .., last] = pieces else {
        return false;
    };
    let ends = name
        .strip_prefix(first.as_str())
        .and_then(|rest| rest.strip_suffix(last.as_str()));
    let Some(mut rest) = ends else { return false };
    middle.iter().all(|piece| {
        let after = rest
            .find(piece.as_str())
            .map(|at| &rest[at + piece.len()..]);
        rest = after.unwrap_or_default();
        after.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::{between, fits};

    #[test]
    fn a_number_stands_for_digits_alone() {
        let number = |name: &str| between(name, "task-", ".md");
        assert_eq!(["task-1.md", "task-20.md"].map(number), [Some(1), Some(20)]);
        for name in [
            "task-.md",
            "task-1-code-review-2.md",
            "task-x.md",
            "task-1.md.bak",
        ] {
            assert_eq!(number(name), None, "{name}");
        }
    }

    #[test]
    fn a_pattern_fits_by_its_pieces() {
        let fits = |name: &str, pattern: &str| {
            let pieces: Vec<String> = pattern.split('*').map(str::to_owned).collect();
            fits(name, &pieces)
        };
        for (name, pattern) in [
            ("task-1.md", "task-*.md"),
            ("task-.md", "task-*.md"),
            ("a-b-c", "a*b*c"),
            ("abc", "*"),
            ("aXbYc", "a*b*c"),
        ] {
            assert!(fits(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in [
            ("task.md", "task-*.md"),
            ("task-1.md.bak", "task-*.md"),
            ("aa", "a*a*a"),
            ("a-c-b", "a*b*c"),
        ] {
            assert!(!fits(name, pattern), "{name} {pattern}");
        }
    }
}
