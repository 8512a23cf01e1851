//! Reading a file that someone else wrote: a plan, a findings file. Whatever stands at the path, it is not waited for.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;

use camino::Utf8Path;

/// The largest file that is read: more is no plan and no review.
pub const MOST: u64 = 64 * 1024 * 1024;

/// Returns the bytes of a regular file, through symlinks: for files that the person names. A pipe or a device is refused at
/// once: opening a pipe that nobody writes to would hang for ever, and a device may never end.
///
/// # Errors
/// It is not there, is no regular file, is larger than 64 MiB, or the system refuses.
pub fn read(path: &Utf8Path) -> io::Result<Vec<u8>> {
    let (file, found) = open(path)?;
    all(file, found.len(), path, MOST)
}

/// Opens a regular file for reading, through symlinks. It never waits for a pipe.
///
/// # Errors
/// Returns an error if there is no regular file, or the system refuses.
pub fn open(path: &Utf8Path) -> io::Result<(File, Metadata)> {
    let named = |error: io::Error| {
        let path = crate::text::shown(path);
        io::Error::new(
            error.kind(),
            format!("failed to open file `{path}`: {error}"),
        )
    };
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .map_err(named)?;
    let found = file.metadata()?;
    let refused = |kind, why| {
        Err(io::Error::new(
            kind,
            format!("{} is {why}", crate::text::shown(path)),
        ))
    };
    if found.is_dir() {
        return refused(ErrorKind::IsADirectory, "a directory");
    }
    if !found.is_file() {
        return refused(ErrorKind::InvalidInput, "no regular file");
    }
    Ok((file, found))
}

/// Reads an open file, of which `length` bytes were found, to its end, unless it is larger than `most` bytes.
pub(super) fn all(file: File, length: u64, path: &Utf8Path, most: u64) -> io::Result<Vec<u8>> {
    let large = || {
        let why = format!("{path} is larger than {most} bytes");
        io::Error::new(ErrorKind::FileTooLarge, why)
    };
    // Before anything is read: a sparse file of gigabytes costs nobody anything to make.
    if length > most {
        return Err(large());
    }
    // One call, and one more that finds the end.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(large());
    }
    Ok(bytes)
}

/// The same as [`read`] as text.
///
/// # Errors
/// As [`read`], and where it is not UTF-8.
pub fn read_to_string(path: &Utf8Path) -> io::Result<String> {
    text(read(path)?)
}

/// Takes bytes as text.
///
/// # Errors
/// They are not UTF-8.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}
