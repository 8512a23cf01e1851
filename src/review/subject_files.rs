//! The files of a subject: named files, those that a pattern matches, the copy of the changes, and those that the program provides.

use std::io;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::changes;
use super::findings_file::{NUMBER, number_in};
use crate::files::{MAX_BYTES, if_there};
use crate::machine::table::{ReviewSpec, Subject};
use crate::machine::{LoopFacts as _, Raw};
use crate::text;

/// The subject that is the work tree's changes.
const CHANGES: &str = "{changes}";
/// The subjects that the program provides.
pub(super) const PROGRAM: &str = "{program}";
/// The most files of a subject.
const MAX_FILES: usize = 1000;

/// Returns whether the work tree's changes are reviewed, alone or with files.
pub fn has_changes(raw: &Raw, spec: &ReviewSpec) -> bool {
    let copy = copy_in(raw);
    let mut subjects = spec.subject.iter();
    subjects.any(|one| *one == CHANGES || raw.path(one) == copy)
}

/// Returns the name of the subject: `PLAN.md, tasks/task-*.md`.
pub fn shown(raw: &Raw, spec: &ReviewSpec) -> String {
    // Only the first of several files is required.
    let is_shown = |(at, one): &(usize, &&str)| {
        *at == 0
            || [CHANGES, PROGRAM].contains(*one)
            || is_pattern(one)
            || raw.path(one).symlink_metadata().is_ok()
    };
    let subjects = spec.subject.iter().enumerate().filter(is_shown);
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

/// Returns the first file, which is required.
pub(super) fn first(raw: &Raw, spec: &ReviewSpec) -> Utf8PathBuf {
    match spec.subject.first() {
        Some(&CHANGES) | None => copy_in(raw),
        Some(one) => raw.path(one),
    }
}

/// Returns the path of the copy of the changes.
pub(super) fn copy_in(raw: &Raw) -> Utf8PathBuf {
    raw.root().join(changes::copy_path(raw.store(), raw.id()))
}

/// Returns the name of a file as people read it.
pub(super) fn name_of<'p>(root: &Utf8Path, path: &'p Utf8Path) -> &'p str {
    path.strip_prefix(root).unwrap_or(path).as_str()
}

/// Returns the files of a subject that exist, each once, or none if the first one is missing. `changes` replaces the copy of the
/// work tree's changes.
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
            let problem = "nothing that the program gives is there";
            return match *template {
                PROGRAM => Err(io::Error::new(io::ErrorKind::NotFound, problem)),
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
    /// Adds a file, unless it was added before.
    fn add(&mut self, path: Utf8PathBuf, bytes: Vec<u8>) -> io::Result<()> {
        if self.files.iter().any(|(known, _)| *known == path) {
            return Ok(());
        }
        if self.files.len() == MAX_FILES || bytes.len() as u64 > self.left() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes += bytes.len() as u64;
        self.files.push((path, bytes));
        Ok(())
    }

    /// Returns the bytes that the files may still have.
    fn left(&self) -> u64 {
        MAX_BYTES - self.bytes
    }

    /// Adds a file, if it is there.
    fn path(&mut self, raw: &Raw, path: Utf8PathBuf, changes: Option<&str>) -> io::Result<()> {
        if let Some(changes) = changes.filter(|_| path == copy_in(raw)) {
            return self.add(path, changes.as_bytes().to_vec());
        }
        let Some((folder, name)) = if_there(raw.folder_at(&path))? else {
            return Ok(());
        };
        match if_there(folder.read(&name, self.left()))? {
            Some(bytes) => self.add(path, bytes),
            None => Ok(()),
        }
    }

    /// Adds the files and texts that the program provides, if they exist.
    fn of_program(&mut self, raw: &Raw) -> io::Result<()> {
        let unset = Err("the program has not said what is reviewed".to_owned());
        let given = raw.told().subjects.get().unwrap_or(&unset);
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

    /// Adds the files that match a pattern, by name. A `*` in the value of a field is no pattern.
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
            Some((before, after)) => number_in(name, before, after).is_some(),
            None => fits(name, &pieces),
        });
        names.truncate(MAX_FILES + 1);
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

/// Returns whether a subject is a pattern for several files.
fn is_pattern(subject: &str) -> bool {
    subject.contains('*') || subject.contains(NUMBER)
}

/// Returns whether a name has these pieces in this order, the first and the last at its ends.
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
    use super::fits;

    #[test]
    fn pattern_matches_pieces_in_order() {
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
