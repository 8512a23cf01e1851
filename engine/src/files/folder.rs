//! A folder that is held open: the one way to the files of a project and of a state folder.
//!
//! [`Folder::open`] opens a folder that the user chose. Each folder below it is opened from the one
//! above, without following symlinks. Only regular files are opened; no call waits for a pipe.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat, renameat_with};
use rustix::io::Errno;
use thiserror::Error;

use super::kill_point::{self, kill_point};

/// The permissions of a new folder, before the umask.
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);
/// The permissions of a folder that only its owner may use.
const PRIVATE_MODE: Mode = Mode::from_raw_mode(0o700);
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);

/// A folder that is held open. The names of its files are single names, never paths. A file or
/// folder of the wrong kind is an [`UntrustedError`].
#[derive(Debug, Clone)]
pub struct Folder {
    pub(super) fd: Arc<OwnedFd>,
    path: Utf8PathBuf,
}

/// The metadata of a file or folder. A symlink is described itself, not its target.
#[derive(Debug, Clone, Copy)]
pub struct FileInfo {
    /// The kind.
    pub kind: FileType,
    /// The size in bytes.
    pub size: u64,
    /// The time of the last change. A time before 1970 counts as 1970.
    pub modified: SystemTime,
    /// The permissions.
    pub mode: u32,
}

/// The remedy for a file or folder that is not used.
pub(crate) const UNTRUSTED_HELP: &str =
    "move it away, or put a file or folder of yours in its place";

/// The cause inside an [`io::Error`] of a [`Folder`]: a file or folder that is not used.
#[derive(Debug, Clone, Error)]
#[error("{path} is not trusted: {why}")]
pub struct UntrustedError {
    /// The file, or a folder above it.
    pub path: Utf8PathBuf,
    /// The reason, a sentence.
    pub why: &'static str,
}

impl From<Stat> for FileInfo {
    fn from(stat: Stat) -> Self {
        let seconds = stat.st_mtime.try_into().unwrap_or_default();
        let nanos = stat.st_mtime_nsec.try_into().unwrap_or_default();
        Self {
            kind: FileType::from_raw_mode(stat.st_mode),
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos),
            mode: stat.st_mode & 0o777,
        }
    }
}

impl UntrustedError {
    /// Returns the cause of this kind, if an error has one.
    pub fn from_io(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl Folder {
    /// Opens a folder by a canonical path or one that the user chose. Follows symlinks.
    pub fn open(path: &Utf8Path) -> io::Result<Self> {
        let path = match path.as_str() {
            "" => Utf8Path::new("."),
            _ => path,
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            fd: Arc::new(rustix::fs::open(path.as_str(), flags, Mode::empty())?),
            path: path.to_owned(),
        })
    }

    /// Returns the path at which it was opened, for messages.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Opens a folder below this one.
    pub fn subfolder(&self, path: impl AsRef<Utf8Path>) -> io::Result<Self> {
        self.walk(path.as_ref(), None)
    }

    /// Opens a folder below this one, and makes those that are missing.
    pub fn make_subfolder(&self, path: impl AsRef<Utf8Path>) -> io::Result<Self> {
        self.walk(path.as_ref(), Some(FOLDER_MODE))
    }

    /// Opens or makes a folder below this one, and closes it to other users.
    pub fn make_private(&self, path: impl AsRef<Utf8Path>) -> io::Result<Self> {
        self.walk(path.as_ref(), Some(PRIVATE_MODE))
    }

    /// Opens a folder. With a mode, makes missing ones; [`PRIVATE_MODE`] also closes existing ones.
    fn walk(&self, path: &Utf8Path, mode: Option<Mode>) -> io::Result<Self> {
        let mut at = self.clone();
        for component in path.components() {
            if component == Utf8Component::CurDir {
                continue;
            }
            let name = check_name(component.as_str())?;
            if let Some(mode) = mode {
                kill_point();
                match rustix::fs::mkdirat(&at.fd, name, mode) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let fd = at.open_as(name, flags, FileType::Directory)?;
            if mode == Some(PRIVATE_MODE) && rustix::fs::fstat(&fd)?.st_mode & 0o077 != 0 {
                kill_point();
                rustix::fs::fchmod(&fd, PRIVATE_MODE)?;
            }
            at = Self {
                fd: Arc::new(fd),
                path: at.path.join(name),
            };
        }
        Ok(at)
    }

    /// Opens the file or folder of a name, if it is of the kind `wanted`.
    fn open_as(&self, name: &str, flags: OFlags, wanted: FileType) -> io::Result<OwnedFd> {
        if flags.intersects(OFlags::RDWR | OFlags::WRONLY) {
            kill_point();
        }
        // Nonblocking: opening a pipe would wait for its other end.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.fd, check_name(name)?, flags, FILE_MODE);
        // Systems differ in the error for a symlink, a socket, or a pipe without a reader.
        let found = match &opened {
            Ok(fd) => Some(FileInfo::from(rustix::fs::fstat(fd)?)),
            Err(_) => self.metadata(name)?,
        };
        let why = match found.map(|found| found.kind) {
            Some(FileType::Symlink) => "it is a symlink",
            Some(kind) if kind != wanted && wanted == FileType::Directory => "it is not a folder",
            Some(kind) if kind != wanted => "it is not a regular file",
            _ => return Ok(opened?),
        };
        let path = self.path.join(name);
        let error = UntrustedError { path, why };
        Err(io::Error::new(ErrorKind::InvalidInput, error))
    }

    fn open_file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        Ok(self.open_as(name, flags, FileType::RegularFile)?.into())
    }

    /// Opens a regular file for reading.
    pub fn file(&self, name: &str) -> io::Result<File> {
        self.open_file(name, OFlags::RDONLY)
    }

    /// Opens a regular file for reading and writing. Makes it with mode 0600 if it is missing.
    pub fn file_or_new(&self, name: &str) -> io::Result<File> {
        self.open_file(name, OFlags::RDWR | OFlags::CREATE)
    }

    /// Opens a regular file for writing at its end. Makes it with mode 0600 if it is missing.
    pub fn file_to_append(&self, name: &str) -> io::Result<File> {
        self.open_file(name, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)
    }

    /// Makes a file with mode 0600.
    pub fn new_file(&self, name: &str) -> io::Result<File> {
        self.open_file(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
    }

    /// Reads a regular file of at most `max_bytes`.
    pub fn read(&self, name: &str, max_bytes: u64) -> io::Result<Vec<u8>> {
        super::read::read_all(self.file(name)?, &self.path.join(name), max_bytes)
    }

    /// Returns the metadata of a file or folder, or `None` if it is missing.
    pub fn metadata(&self, name: &str) -> io::Result<Option<FileInfo>> {
        let found = rustix::fs::statat(&self.fd, check_name(name)?, AtFlags::SYMLINK_NOFOLLOW);
        Ok(optional(found.map_err(io::Error::from))?.map(FileInfo::from))
    }

    /// Returns whether there is a file or folder of a name.
    pub fn has(&self, name: &str) -> bool {
        self.metadata(name).is_ok_and(|found| found.is_some())
    }

    /// Returns the entries of the folder, unordered. Leaves out names that are not UTF-8.
    pub fn list(&self) -> io::Result<Vec<(String, FileInfo)>> {
        let mut listed = Vec::new();
        for name in self.names()? {
            // A file may have been removed meanwhile.
            if let Some(found) = self.metadata(&name)? {
                listed.push((name, found));
            }
        }
        Ok(listed)
    }

    /// Returns the names in the folder, unordered. Leaves out names that are not UTF-8.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            names.extend(entry?.file_name().to_str().map(str::to_owned));
        }
        names.retain(|name| name != "." && name != "..");
        Ok(names)
    }

    /// Moves a file or folder to a name in another folder. A symlink is moved itself.
    pub fn rename(&self, name: &str, to: &Self, new: &str) -> io::Result<()> {
        self.rename_with(name, to, new, RenameFlags::empty())
    }

    pub(super) fn rename_with(
        &self,
        name: &str,
        to: &Self,
        new: &str,
        flags: RenameFlags,
    ) -> io::Result<()> {
        kill_point();
        let old = check_name(name)?;
        let new = check_name(new)?;
        Ok(renameat_with(&self.fd, old, &to.fd, new, flags)?)
    }

    /// Removes a file, or a symlink itself.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        self.unlink(name, AtFlags::empty())
    }

    /// Removes an empty folder.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        self.unlink(name, AtFlags::REMOVEDIR)
    }

    fn unlink(&self, name: &str, flags: AtFlags) -> io::Result<()> {
        kill_point();
        Ok(rustix::fs::unlinkat(&self.fd, check_name(name)?, flags)?)
    }

    /// Syncs the folder, so that new, renamed and removed names in it survive a power loss.
    pub fn sync(&self) -> io::Result<()> {
        kill_point::sync(&self.fd)
    }
}

/// Returns the value, or `None` if the file or folder is missing.
pub fn optional<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the name, or an error if it is a path, in which the system would follow symlinks.
pub(super) fn check_name(name: &str) -> io::Result<&str> {
    if name.is_empty() || name.contains('/') || matches!(name, "." | "..") {
        let problem = format!("`{name}` cannot name a file here");
        return Err(io::Error::new(ErrorKind::InvalidInput, problem));
    }
    Ok(name)
}
