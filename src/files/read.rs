//! Reading a file that someone else wrote: a plan, a findings file. Whatever stands at the path, it is not waited for.

use std::io::{self, ErrorKind, Read as _};

use camino::Utf8Path;
use fs_err::os::unix::fs::OpenOptionsExt as _;

/// The largest file that is read: more is no plan and no review.
const MOST: u64 = 64 * 1024 * 1024;

/// The bytes of a regular file, through symlinks. A pipe or a device is refused at once: opening a pipe that nobody writes to
/// would hang for ever, and a device may never end.
///
/// # Errors
/// It is not there, is no regular file, is larger than 64 MiB, or the system refuses.
pub fn read(path: &Utf8Path) -> io::Result<Vec<u8>> {
    let file = fs_err::OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
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
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return refused(ErrorKind::FileTooLarge, "larger than 64 MiB");
    }
    Ok(bytes)
}

/// The same as text.
///
/// # Errors
/// As [`read`], and where it is not UTF-8.
pub fn read_to_string(path: &Utf8Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}
