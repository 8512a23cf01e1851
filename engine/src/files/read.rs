//! Reading a file that the user named. A pipe at the path does not block it.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;

use camino::Utf8Path;

/// The most bytes that are read of a file: no plan and no review is larger.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Opens a regular file for reading. Symlinks are followed.
pub fn open(path: &Utf8Path) -> io::Result<File> {
    let name = crate::text::printable(path);
    // Nonblocking: opening a pipe without a writer would wait forever.
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .map_err(|error| {
            let problem = format!("failed to open file `{name}`: {error}");
            io::Error::new(error.kind(), problem)
        })?;
    let (kind, why) = match file.metadata()? {
        found if found.is_file() => return Ok(file),
        found if found.is_dir() => (ErrorKind::IsADirectory, "a directory"),
        _ => (ErrorKind::InvalidInput, "not a regular file"),
    };
    Err(io::Error::new(kind, format!("{name} is {why}")))
}

/// Reads a regular file of at most [`MAX_BYTES`]. Symlinks are followed.
pub fn read(path: &Utf8Path) -> io::Result<Vec<u8>> {
    read_all(open(path)?, path, MAX_BYTES)
}

/// Reads a regular file of at most [`MAX_BYTES`] as text. Symlinks are followed.
pub fn read_to_string(path: &Utf8Path) -> io::Result<String> {
    text(read(path)?)
}

/// Converts bytes to text.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Reads an open file to its end, unless it is larger than `max_bytes`.
pub(super) fn read_all(file: File, path: &Utf8Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    // The size is checked first, because a sparse file of gigabytes costs nothing to make.
    if length <= max_bytes {
        bytes.reserve_exact(usize::try_from(length).unwrap_or_default() + 1);
        file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    }
    if length.max(bytes.len() as u64) > max_bytes {
        let problem = format!("{path} is larger than {max_bytes} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}
