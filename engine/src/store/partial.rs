//! Single documents by path, for shell helpers: files that name no machine, made by hand or by older tools.
//!
//! No journal, no trust beyond "no symlink". A file of ours (one that names its machine) is refused by everything
//! that writes: it is changed through its [`Store`](super::Store). Writers hold the lock `.lock` beside the file.

use std::io::ErrorKind;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use super::document::{Document, DocumentError, MAX_BYTES, is_field_name};
use super::error::{SetError, StoreError, io_error};
use super::id::iso;
use super::lock::{PROJECT, with_lock};
use super::spec::{Form, StateSpec};
use super::value::{FieldValue as _, parse_plain};
use crate::files::Folder;

/// The field whose presence makes a file one of ours.
const MACHINE: &str = "machine";
const PHASE: &str = "phase";
const UPDATED: &str = "last_updated_at";
const EXTENSION: &str = "state";
const DEADLINE: Duration = Duration::from_secs(10);

/// Returns the value of a field, without quotes; `None` if it is not there.
///
/// # Errors
/// When the file is not there, is a symlink, or is no document.
pub fn read_field(path: &Utf8Path, field: &str) -> Result<Option<String>, StoreError> {
    Ok(plain(&read(&lines, path)?, field))
}

/// Does the same in a document of a machine.
///
/// # Errors
/// As [`read_field`].
pub fn read_field_of(
    spec: &StateSpec,
    path: &Utf8Path,
    field: &str,
) -> Result<Option<String>, StoreError> {
    Ok(plain(&read(&|bytes| spec.parse(bytes), path)?, field))
}

fn plain(document: &Document, field: &str) -> Option<String> {
    Some(document.get(field)?.to_plain().into_owned())
}

/// Reads a document of lines.
fn lines(bytes: &[u8]) -> Result<Document, DocumentError> {
    Form::Lines.parse(bytes)
}

/// Returns whether the document names a machine. What cannot be read names none.
pub fn is_ours(path: &Utf8Path) -> bool {
    read(&lines, path).is_ok_and(|document| document.get(MACHINE).is_some())
}

/// Sets a field: `true`, `false` and decimal numbers are written as such, anything else as text, quoted where it must be.
/// A field that is not there is added at the end.
///
/// The same write sets `last_updated_at` to now, and adds it where it is missing, so that after any set the file says
/// when; unless `last_updated_at` is the field.
///
/// # Errors
/// When the file is one of ours, is not there, is a symlink or no document, or cannot be written.
pub fn set_field(path: &Utf8Path, field: &str, text: &str) -> Result<(), SetError> {
    if !is_field_name(field) {
        return Err(SetError::Name {
            field: field.to_owned(),
        });
    }
    locked(path, |folder| {
        let mut document = read_foreign(folder, path)?;
        document.set(field, &parse_plain(text));
        Ok(write(folder, path, document, field != UPDATED)?)
    })
}

/// Sets `phase` to `to` if it is `from`, and `last_updated_at` to now in the same write. Says whether it was.
///
/// # Errors
/// As [`set_field`].
pub fn transition(path: &Utf8Path, from: &str, to: &str) -> Result<bool, SetError> {
    locked(path, |folder| {
        let mut document = read_foreign(folder, path)?;
        if document
            .get(PHASE)
            .is_none_or(|phase| phase.to_plain() != from)
        {
            return Ok(false);
        }
        document.set(PHASE, &to.into());
        write(folder, path, document, true)?;
        Ok(true)
    })
}

/// Replaces the file, whatever the bytes are. A reader sees the old file or the new one.
///
/// # Errors
/// When there is a file of ours or a symlink, or the file cannot be written.
pub fn state_write(path: &Utf8Path, bytes: &[u8]) -> Result<(), SetError> {
    locked(path, |folder| {
        match read_in(&lines, folder, path) {
            Err(error) if error.untrusted().is_some() => return Err(error.into()),
            read => refuse_ours(
                path,
                read.is_ok_and(|document| document.get(MACHINE).is_some()),
            )?,
        }
        let written = folder.replace(name(path), bytes);
        Ok(written.map_err(io_error("write", path))?)
    })
}

/// Returns the newest state file of a folder by time of modification, whatever its name or phase; the greater name of two
/// with the same time.
pub fn newest(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let files = Folder::open(folder).ok()?.list().ok()?;
    let files = files.into_iter().filter_map(|(name, found)| {
        let path = folder.join(name);
        let fits = found.is_file() && path.extension() == Some(EXTENSION);
        fits.then_some((found.modified(), path))
    });
    files.max().map(|(_, path)| path)
}

/// Opens the folder that a person or script named, symlinks followed.
fn folder(path: &Utf8Path) -> Result<Folder, StoreError> {
    Folder::open(path.parent().unwrap_or(path)).map_err(io_error("open", path))
}

fn name(path: &Utf8Path) -> &str {
    path.file_name().unwrap_or_default()
}

fn locked<R>(
    path: &Utf8Path,
    work: impl FnOnce(&Folder) -> Result<R, SetError>,
) -> Result<R, SetError> {
    let folder = folder(path)?;
    with_lock(&folder, PROJECT, DEADLINE, || work(&folder))?
}

/// What makes a document of bytes.
type Parse<'p> = &'p dyn Fn(&[u8]) -> Result<Document, DocumentError>;

fn read(parse: Parse<'_>, path: &Utf8Path) -> Result<Document, StoreError> {
    match folder(path) {
        Ok(folder) => read_in(parse, &folder, path),
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            Err(missing(path))
        }
        Err(error) => Err(error),
    }
}

fn missing(path: &Utf8Path) -> StoreError {
    StoreError::NotFound {
        archived: false,
        id: path.file_stem().unwrap_or_default().to_owned(),
        folder: path.parent().unwrap_or(Utf8Path::new(".")).to_owned(),
    }
}

fn read_in(parse: Parse<'_>, folder: &Folder, path: &Utf8Path) -> Result<Document, StoreError> {
    let bytes = match folder.read(name(path), MAX_BYTES as u64) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing(path)),
        other => other.map_err(io_error("read", path))?,
    };
    parse(&bytes).map_err(|error| StoreError::document("read", path.to_owned(), error))
}

fn read_foreign(folder: &Folder, path: &Utf8Path) -> Result<Document, SetError> {
    let document = read_in(&lines, folder, path)?;
    refuse_ours(path, document.get(MACHINE).is_some())?;
    Ok(document)
}

fn refuse_ours(path: &Utf8Path, ours: bool) -> Result<(), SetError> {
    if ours {
        return Err(SetError::Owned {
            field: path.to_string(),
            owner: "the machine that it names",
        });
    }
    Ok(())
}

fn write(
    folder: &Folder,
    path: &Utf8Path,
    mut document: Document,
    bump: bool,
) -> Result<(), StoreError> {
    if bump {
        document.set(UPDATED, &iso(Timestamp::now()).into());
    }
    let bytes = document.to_bytes();
    lines(&bytes).map_err(|error| StoreError::document("write", path.to_owned(), error))?;
    folder
        .replace(name(path), &bytes)
        .map_err(io_error("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::folder;

    fn file(text: &str) -> (tempfile::TempDir, Utf8PathBuf) {
        let (made, folder) = folder();
        let path = folder.join("a b.state");
        std::fs::write(&path, text).unwrap();
        (made, path)
    }

    #[test]
    fn a_field_is_set_in_place_and_the_time_with_it() {
        let (_kept, path) =
            file("phase: drafting\nlast_updated_at: 2020-01-01T00:00:00Z\nround: 1\n");
        set_field(&path, "round", "2").unwrap();
        set_field(&path, "topic", "a|b&c/d\n\"e\"").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("phase: drafting\nlast_updated_at: 20"),
            "{text}"
        );
        assert!(
            text.ends_with("\nround: 2\ntopic: \"a|b&c/d\\n\\\"e\\\"\"\n"),
            "{text}"
        );
        assert_ne!(
            read_field(&path, UPDATED).unwrap().unwrap(),
            "2020-01-01T00:00:00Z"
        );
        assert_eq!(
            read_field(&path, "topic").unwrap().unwrap(),
            "a|b&c/d\n\"e\""
        );
        assert_eq!(read_field(&path, "none").unwrap(), None);
        set_field(&path, UPDATED, "2021-01-01T00:00:00Z").unwrap();
        assert_eq!(
            read_field(&path, UPDATED).unwrap().unwrap(),
            "2021-01-01T00:00:00Z"
        );
    }

    #[test]
    fn a_transition_happens_only_from_its_phase() {
        let (_kept, path) = file("phase: drafting\n");
        assert!(!transition(&path, "reviewing", "done").unwrap());
        assert_eq!(
            std::fs::read(&path).unwrap(),
            b"phase: drafting\n",
            "a stale one writes nothing"
        );
        assert!(transition(&path, "drafting", "reviewing").unwrap());
        assert_eq!(read_field(&path, PHASE).unwrap().unwrap(), "reviewing");
        assert!(
            read_field(&path, UPDATED).unwrap().is_some(),
            "added in the same write"
        );
    }

    #[test]
    fn of_sixteen_transitions_one_wins() {
        let (_kept, path) = file("phase: drafting\n");
        let won = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| transition(&path, "drafting", "reviewing").unwrap()))
                .collect();
            tries
                .into_iter()
                .filter_map(|tried| tried.join().unwrap().then_some(()))
                .count()
        });
        assert_eq!(won, 1);
    }

    #[test]
    fn a_file_of_ours_is_read_and_never_written() {
        let (_kept, path) = file("phase: drafting\nmachine: plan\n");
        assert!(is_ours(&path));
        assert_eq!(read_field(&path, PHASE).unwrap().unwrap(), "drafting");
        assert!(matches!(
            set_field(&path, "x", "1"),
            Err(SetError::Owned { .. })
        ));
        assert!(matches!(
            transition(&path, "drafting", "done"),
            Err(SetError::Owned { .. })
        ));
        assert!(matches!(
            state_write(&path, b"phase: done\n"),
            Err(SetError::Owned { .. })
        ));
    }

    #[test]
    fn what_is_no_file_of_fields_is_an_error() {
        let (_kept, path) = file("\0\0");
        assert!(!is_ours(&path));
        assert!(matches!(
            set_field(&path, "x", "1"),
            Err(SetError::Store(StoreError::Io { .. }))
        ));
        state_write(&path, b"phase: x\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"phase: x\n");
        assert!(matches!(
            set_field(&path, "a: b", "1"),
            Err(SetError::Name { .. })
        ));
        assert!(matches!(
            read_field(&path.with_extension("no"), "x"),
            Err(StoreError::NotFound { .. })
        ));
        let link = path.with_file_name("link.state");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(
            read_field(&link, PHASE),
            Err(error) if error.untrusted().is_some()
        ));
        assert!(matches!(
            set_field(&link, PHASE, "y"),
            Err(SetError::Store(error)) if error.untrusted().is_some()
        ));
        assert!(matches!(
            state_write(&link, b""),
            Err(SetError::Store(error)) if error.untrusted().is_some()
        ));
        assert_eq!(read_field(&path, PHASE).unwrap().unwrap(), "x");
    }

    #[test]
    fn the_newest_file_is_found_whatever_it_is() {
        let (_kept, path) = file("phase: done\n");
        let folder = path.parent().unwrap();
        let older = folder.join("zz.state");
        std::fs::write(&older, "").unwrap();
        std::fs::write(folder.join("newer.txt"), "").unwrap();
        let past = std::time::SystemTime::now() - Duration::from_secs(100);
        std::fs::File::options()
            .write(true)
            .open(&older)
            .unwrap()
            .set_modified(past)
            .unwrap();
        assert_eq!(newest(folder).unwrap(), path);
        assert_eq!(newest(&folder.join("none")), None);
    }
}
