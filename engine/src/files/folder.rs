//! A folder that is held open, and the files in it: the one way to a file of ours.
//!
//! [`Folder::open`] opens a folder that the person chose. Every folder below it is opened from the one above it, one name at
//! a time, and no symlink is followed on the way, so that nothing which a repository or an archive brought leads elsewhere:
//! neither when it is opened nor, since it is held open, afterwards. What is no regular file or folder of this user's is
//! refused with an [`UntrustedError`].

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, RenameFlags, Stat};
use rustix::io::Errno;

use super::checks::{Distrust, UntrustedError};
use super::kill_point::kill_point;

/// Begins the names of our temporary files; the sweep removes what a crash left of them.
pub const TEMPORARY: &str = ".loop-tmp-";

/// Holds this user’s id, asked for once: every file that is opened is compared with it.
static OWN: LazyLock<u32> = LazyLock::new(|| rustix::process::geteuid().as_raw());

/// A folder that is held open. Names of its files are single names, never paths.
#[derive(Debug, Clone)]
pub struct Folder {
    fd: Arc<OwnedFd>,
    path: Utf8PathBuf,
}

/// What stands under a name, itself and not what a symlink points to.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    stat: Stat,
}

impl Found {
    /// Returns whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind() == FileType::RegularFile
    }

    /// Returns whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.kind() == FileType::Directory
    }

    /// Returns whether it is a symlink.
    pub fn is_symlink(&self) -> bool {
        self.kind() == FileType::Symlink
    }

    fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    /// Returns its size in bytes.
    pub fn size(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or_default()
    }

    /// Returns when it was last modified; a time before 1970 is 1970.
    pub fn modified(&self) -> SystemTime {
        time(self.stat.st_mtime, self.stat.st_mtime_nsec)
    }

    /// Returns whether other users may read it, write it or look into it.
    pub fn is_open_to_others(&self) -> bool {
        Mode::from_raw_mode(self.stat.st_mode).intersects(Mode::RWXG | Mode::RWXO)
    }

    /// Returns its permissions.
    fn mode(&self) -> RawMode {
        self.stat.st_mode & 0o777
    }

    /// Returns what an open file or folder is.
    ///
    /// # Errors
    /// The system refuses.
    pub fn of(open: impl AsFd) -> io::Result<Self> {
        let stat = rustix::fs::fstat(open)?;
        Ok(Self { stat })
    }

    /// Returns whether it is this open file.
    pub fn is(&self, file: &File) -> bool {
        let place = |found: &Self| (found.stat.st_dev, found.stat.st_ino);
        Self::of(file).is_ok_and(|open| place(&open) == place(self))
    }

    /// Returns why it cannot be the file, or the folder, that is wanted.
    fn distrust(&self, wanted: FileType) -> Option<Distrust> {
        let own = *OWN;
        match self.kind() {
            FileType::Symlink => Some(Distrust::Symlink),
            kind if kind != wanted && wanted == FileType::Directory => Some(Distrust::NoFolder),
            kind if kind != wanted => Some(Distrust::NoFile),
            _ if self.stat.st_uid != own => Some(Distrust::OtherOwner {
                uid: self.stat.st_uid,
                own,
            }),
            _ => None,
        }
    }
}

impl Folder {
    /// Opens a folder by a path that the person chose, or that is canonical. Symlinks on the way to it are followed.
    ///
    /// # Errors
    /// It is not there, is no folder, or the system refuses.
    pub fn open(path: &Utf8Path) -> io::Result<Self> {
        let path = if path.as_str().is_empty() {
            Utf8Path::new(".")
        } else {
            path
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(Self {
            fd: Arc::new(rustix::fs::open(path.as_str(), flags, Mode::empty())?),
            path: path.to_owned(),
        })
    }

    /// Returns where it was found, for messages.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Returns whether its path leads to it, as a folder of this user's.
    pub(super) fn is_in_its_place(&self) -> bool {
        let now = rustix::fs::lstat(self.path.as_str()).map(|stat| Found { stat });
        let place = |found: &Found| (found.stat.st_dev, found.stat.st_ino);
        now.is_ok_and(|now| {
            let is_it = self.found().is_ok_and(|open| place(&open) == place(&now));
            is_it && now.distrust(FileType::Directory).is_none()
        })
    }

    /// Opens a folder below this one.
    ///
    /// # Errors
    /// It is not there, or it or a folder on the way to it is not trusted.
    pub fn below(&self, path: impl AsRef<Utf8Path>) -> io::Result<Self> {
        self.walk(path.as_ref(), None, false)
    }

    /// Does the same, and closes the folder, and those on the way to it, to other users.
    ///
    /// # Errors
    /// See [`Folder::below`].
    pub fn below_private(&self, path: impl AsRef<Utf8Path>) -> io::Result<Self> {
        self.walk(path.as_ref(), None, true)
    }

    /// Opens a folder below this one, and makes it, and those on the way to it, where they are not there.
    ///
    /// # Errors
    /// See [`Folder::below`]; or it cannot be made.
    pub fn make(&self, path: impl AsRef<Utf8Path>) -> io::Result<Self> {
        self.walk(path.as_ref(), Some(0o777), false)
    }

    /// The same with folders that no other user may look into. One that is there already is closed to them.
    ///
    /// # Errors
    /// See [`Folder::make`].
    pub fn make_private(&self, path: impl AsRef<Utf8Path>) -> io::Result<Self> {
        self.walk(path.as_ref(), Some(0o700), true)
    }

    fn walk(&self, path: &Utf8Path, make: Option<u32>, close: bool) -> io::Result<Self> {
        let mut below: Option<Self> = None;
        for component in path.components() {
            let name = match component {
                Utf8Component::CurDir => continue,
                other => other.as_str(),
            };
            let at = below.as_ref().unwrap_or(self);
            if let Some(mode) = make {
                kill_point();
                match rustix::fs::mkdirat(&at.fd, single(name)?, Mode::from_raw_mode(mode)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let (fd, found) = at.open_as(name, flags, FileType::Directory)?;
            if close && found.is_open_to_others() {
                kill_point();
                rustix::fs::fchmod(&fd, Mode::from_raw_mode(0o700))?;
            }
            let (fd, path) = (Arc::new(fd), at.path.join(name));
            below = Some(Self { fd, path });
        }
        Ok(below.unwrap_or_else(|| self.clone()))
    }

    /// Tries whether files can be made here. Nothing is left.
    pub fn try_out(&self) -> io::Result<()> {
        self.prepare("tried", b"").map(drop)
    }

    /// Refuses a folder that other users may look into.
    pub fn check_closed(&self) -> io::Result<()> {
        if self.found()?.is_open_to_others() {
            let (path, why) = (self.path.clone(), Distrust::OpenToOthers);
            return Err(UntrustedError { path, why }.into());
        }
        Ok(())
    }

    /// Returns what the folder itself is.
    pub fn found(&self) -> io::Result<Found> {
        Found::of(&self.fd)
    }

    /// Opens what stands under a name if it is what is wanted and this user's. Nothing is waited for, as the opening of a
    /// pipe would.
    fn open_as(&self, name: &str, flags: OFlags, wanted: FileType) -> io::Result<(OwnedFd, Found)> {
        let untrusted = |why| UntrustedError {
            path: self.path.join(name),
            why,
        };
        if flags.intersects(OFlags::RDWR | OFlags::WRONLY) {
            kill_point();
        }
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.fd, single(name)?, flags, Mode::from_raw_mode(0o600)) {
            Ok(fd) => {
                let found = Found::of(&fd)?;
                match found.distrust(wanted) {
                    Some(why) => Err(untrusted(why).into()),
                    None => Ok((fd, found)),
                }
            }
            // Systems differ in what they say of a symlink, a socket, a pipe without a reader.
            Err(refused) => match self.look(name)?.and_then(|found| found.distrust(wanted)) {
                Some(why) => Err(untrusted(why).into()),
                None => Err(refused.into()),
            },
        }
    }

    /// Returns what stands under a name, and `None` where nothing does.
    ///
    /// # Errors
    /// The system refuses.
    pub fn look(&self, name: &str) -> io::Result<Option<Found>> {
        match rustix::fs::statat(&self.fd, single(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Found { stat })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether something stands under a name, whatever it is.
    pub fn has(&self, name: &str) -> bool {
        self.look(name).is_ok_and(|found| found.is_some())
    }

    /// Lists what stands in the folder, without names that are not UTF-8, in no order.
    ///
    /// # Errors
    /// The system refuses.
    pub fn list(&self) -> io::Result<Vec<(String, Found)>> {
        let mut listed = Vec::new();
        for name in self.names(|_| true)? {
            // What was removed in the meantime is not there.
            if let Some(found) = self.look(&name)? {
                listed.push((name, found));
            }
        }
        Ok(listed)
    }

    /// Lists those names in the folder that are wanted, as [`Folder::list`] does, and looks at none of them.
    ///
    /// # Errors
    /// The system refuses.
    pub fn names(&self, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name().to_str().unwrap_or("..");
            if !matches!(name, "." | "..") && is_wanted(name) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// It is not there, is not trusted, or the system refuses.
    pub fn file(&self, name: &str) -> io::Result<File> {
        self.file_as(name, OFlags::RDONLY).map(|(file, _)| file)
    }

    /// Does the same, and says what it is.
    pub fn found_file(&self, name: &str) -> io::Result<(File, Found)> {
        self.file_as(name, OFlags::RDONLY)
    }

    /// Opens a regular file for reading and writing.
    ///
    /// # Errors
    /// See [`Folder::file`].
    pub fn file_to_change(&self, name: &str) -> io::Result<File> {
        self.file_as(name, OFlags::RDWR).map(|(file, _)| file)
    }

    /// Opens a regular file for reading and writing, and makes it with permissions 0600 where it is not there.
    ///
    /// # Errors
    /// See [`Folder::file`].
    pub fn file_or_new(&self, name: &str) -> io::Result<File> {
        self.file_as(name, OFlags::RDWR | OFlags::CREATE)
            .map(|(file, _)| file)
    }

    /// Opens a regular file for writing at its end, and makes it with permissions 0600 where it is not there. Says what it is.
    ///
    /// # Errors
    /// See [`Folder::file`].
    pub fn file_to_append(&self, name: &str) -> io::Result<(File, Found)> {
        self.file_as(name, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)
    }

    fn file_as(&self, name: &str, flags: OFlags) -> io::Result<(File, Found)> {
        let (fd, found) = self.open_as(name, flags, FileType::RegularFile)?;
        Ok((fd.into(), found))
    }

    /// Reads a regular file of at most `most` bytes.
    ///
    /// # Errors
    /// See [`Folder::file`]; a file that is larger is not read.
    pub fn read(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        let (file, found) = self.found_file(name)?;
        super::read::all(file, found.size(), &self.path.join(name), most)
    }

    /// Replaces a file, or makes it, so that a reader finds the old content or the new one. See [`replace`](super::replace).
    ///
    /// # Errors
    /// When a step fails. Only an error of the last sync comes after the rename.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let prepared = self.prepare(name, bytes)?;
        prepared.sync()?;
        prepared.rename()?;
        self.sync()
    }

    /// The same with these permissions, and not 0600.
    ///
    /// # Errors
    /// See [`Folder::replace`].
    pub fn replace_with_mode(&self, name: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
        let prepared = self.prepare(name, bytes)?;
        let mode = Mode::from_raw_mode(mode);
        kill_point();
        rustix::fs::chmodat(&self.fd, &prepared.temporary, mode, AtFlags::empty())?;
        prepared.sync()?;
        prepared.rename()?;
        self.sync()
    }

    /// Writes the new content of a file beside it. Not synced.
    pub fn prepare(&self, name: &str, bytes: &[u8]) -> io::Result<Prepared<'_>> {
        single(name)?;
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let temporary = format!("{TEMPORARY}{:032x}", u128::from_be_bytes(random));
        let mut prepared = Prepared {
            folder: self,
            to: None,
            name: name.to_owned(),
            file: self.new_file(&temporary)?,
            temporary,
        };
        kill_point();
        prepared.file.write_all(bytes)?;
        Ok(prepared)
    }

    /// Writes the new content of a file of another folder here, so that nothing but the file is ever seen there. It keeps the
    /// permissions of the old one; a new one has 0644.
    pub fn prepare_for(&self, to: Self, name: &str, bytes: &[u8]) -> io::Result<Prepared<'_>> {
        let mode = to.look(name)?.map_or(0o644, |found| found.mode());
        let mut prepared = self.prepare(name, bytes)?;
        kill_point();
        rustix::fs::fchmod(&prepared.file, Mode::from_raw_mode(mode))?;
        prepared.to = Some(to);
        Ok(prepared)
    }

    /// Makes a file that must not be there yet, with permissions 0600.
    pub fn new_file(&self, name: &str) -> io::Result<File> {
        self.file_as(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
            .map(|(file, _)| file)
    }

    /// Moves what stands under a name into another folder, under a name there. A symlink is moved as one.
    ///
    /// # Errors
    /// The system refuses.
    pub fn rename(&self, name: &str, to: &Self, new: &str) -> io::Result<()> {
        kill_point();
        Ok(rustix::fs::renameat(
            &self.fd,
            single(name)?,
            &to.fd,
            single(new)?,
        )?)
    }

    /// Removes a file, or a symlink itself.
    ///
    /// # Errors
    /// It is not there, is a folder, or the system refuses.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        kill_point();
        Ok(rustix::fs::unlinkat(
            &self.fd,
            single(name)?,
            AtFlags::empty(),
        )?)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// It is not there, is not empty, or the system refuses.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        kill_point();
        Ok(rustix::fs::unlinkat(
            &self.fd,
            single(name)?,
            AtFlags::REMOVEDIR,
        )?)
    }

    /// Removes what stands under a name: a folder with all that is in it, symlinks themselves. It is no error if nothing does,
    /// or if someone else removes it meanwhile.
    ///
    /// # Errors
    /// The system refuses; what was removed before that is gone.
    pub fn remove_tree(&self, name: &str) -> io::Result<()> {
        let removed = match self.look(name)? {
            None => return Ok(()),
            Some(found) if !found.is_folder() => self.remove(name),
            Some(_) => self.below(name).and_then(|below| {
                for (name, _) in below.list()? {
                    below.remove_tree(&name)?;
                }
                self.remove_folder(name)
            }),
        };
        if_there(removed).map(drop)
    }

    /// Makes what was renamed, made or removed in the folder survive a power loss.
    ///
    /// # Errors
    /// The system refuses.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }
}

/// The new content of a file, beside the one that it will replace. Dropping it removes it.
#[derive(Debug)]
pub struct Prepared<'f> {
    folder: &'f Folder,
    /// The folder of the one that it will replace; `None` where that is the same.
    to: Option<Folder>,
    name: String,
    file: File,
    temporary: String,
}

impl Prepared<'_> {
    /// Makes the content survive a power loss.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Puts it in the old one's place without a wait: where a file is renamed over another, file systems begin to write it out, so
    /// that a power loss leaves no empty file. Who can make the content anew swaps the two instead.
    pub fn swap(mut self) -> io::Result<()> {
        let (fd, to) = (&self.folder.fd, &self.to.as_ref().unwrap_or(self.folder).fd);
        let name = single(&self.name)?;
        let exchange =
            || rustix::fs::renameat_with(fd, &self.temporary, to, name, RenameFlags::EXCHANGE);
        kill_point();
        // There is none yet, or the file system cannot.
        if exchange().is_err() {
            return self.rename();
        }
        // What bears the other name now is the old one. A folder cannot be removed so, nor replaced.
        if self.folder.remove(&self.temporary).is_err() {
            exchange()?;
            return self.rename();
        }
        self.temporary.clear();
        Ok(())
    }

    /// Puts it in its place unless something stands there, which then stays.
    pub fn rename_new(mut self) -> io::Result<()> {
        let (fd, name) = (&self.folder.fd, single(&self.name)?);
        kill_point();
        match rustix::fs::renameat_with(fd, &self.temporary, fd, name, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => Ok(()),
            renamed => {
                renamed?;
                self.temporary.clear();
                Ok(())
            }
        }
    }

    /// Puts it in the old one's place.
    pub fn rename(mut self) -> io::Result<()> {
        let to = self.to.as_ref().unwrap_or(self.folder);
        self.folder.rename(&self.temporary, to, &self.name)?;
        self.temporary.clear();
        Ok(())
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        if !self.temporary.is_empty() {
            let _ = self.folder.remove(&self.temporary);
        }
    }
}

/// Returns the value, or `None` where the file or folder is not there.
///
/// # Errors
/// Any other error.
pub fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns a time of the system's; one before 1970 is 1970.
fn time(seconds: impl TryInto<u64>, nanos: impl TryInto<u32>) -> SystemTime {
    let since = Duration::new(
        seconds.try_into().unwrap_or_default(),
        nanos.try_into().unwrap_or_default(),
    );
    SystemTime::UNIX_EPOCH + since
}

/// Refuses what is no single name: the system would follow symlinks in it.
fn single(name: &str) -> io::Result<&str> {
    if name.is_empty() || name.contains('/') || matches!(name, "." | "..") {
        return Err(no_name(name));
    }
    Ok(name)
}

pub(super) fn no_name(path: &str) -> io::Error {
    io::Error::new(
        ErrorKind::InvalidInput,
        format!("`{path}` is no name of a file here"),
    )
}
