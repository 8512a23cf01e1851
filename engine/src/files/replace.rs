//! Replacing a file whole: a reader finds either the old or the new content, at any moment and after any crash.
//!
//! The content goes to a new file in a folder of the same file system, under a name that nobody can guess, and is renamed over
//! the old one. A crash before the rename leaves the old file, and maybe the temporary one.

use std::fs::File;
use std::io::{self, Write as _};

use rustix::fs::{Mode, RenameFlags};
use rustix::io::Errno;

use super::folder::{Folder, single};
use super::kill_point::kill_point;

/// The beginning of the name of a temporary file.
pub const TEMPORARY: &str = ".loop-tmp-";

/// The new content of a file, with mode 0600 and not synced. Dropping it removes it.
#[derive(Debug)]
pub struct Prepared<'f> {
    folder: &'f Folder,
    file: File,
    temporary: String,
}

impl Folder {
    /// Replaces a file, or makes it, with mode 0600. A symlink is replaced itself. After `Ok` the new content survives a power
    /// loss.
    ///
    /// # Errors
    /// Returns an error if a step fails. Only an error of the last sync comes after the rename.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let prepared = self.prepare(bytes)?;
        prepared.sync()?;
        prepared.rename(self, name)?;
        self.sync()
    }

    /// Writes the new content of a file to a temporary one in this folder.
    pub fn prepare(&self, bytes: &[u8]) -> io::Result<Prepared<'_>> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let temporary = format!("{TEMPORARY}{:032x}", u128::from_be_bytes(random));
        let mut prepared = Prepared {
            folder: self,
            file: self.new_file(&temporary)?,
            temporary,
        };
        kill_point();
        prepared.file.write_all(bytes)?;
        Ok(prepared)
    }
}

impl Prepared<'_> {
    /// Sets the permissions of the new file.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        kill_point();
        Ok(rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode))?)
    }

    /// Syncs the content.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Renames it over a file of a folder.
    pub fn rename(mut self, to: &Folder, name: &str) -> io::Result<()> {
        self.folder.rename(&self.temporary, to, name)?;
        self.temporary.clear();
        Ok(())
    }

    /// Renames it to a name in its own folder, unless something stands there, which then stays.
    pub fn rename_new(mut self, name: &str) -> io::Result<()> {
        match self.rename_with(self.folder, name, RenameFlags::NOREPLACE) {
            Ok(()) => self.temporary.clear(),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Exchanges it with a file of a folder, and removes the old one. File systems begin to write out a file that is renamed
    /// over another, so that a power loss leaves no empty one. That takes time, which a file that can be made again saves.
    pub fn exchange(self, to: &Folder, name: &str) -> io::Result<()> {
        let is_file = to.look(name)?.is_some_and(|found| found.is_file());
        if is_file && self.rename_with(to, name, RenameFlags::EXCHANGE).is_ok() {
            // Dropping this removes the old file, which has the temporary name now.
            return Ok(());
        }
        self.rename(to, name)
    }

    fn rename_with(&self, to: &Folder, name: &str, flags: RenameFlags) -> Result<(), Errno> {
        let name = single(name).map_err(|_| Errno::INVAL)?;
        kill_point();
        rustix::fs::renameat_with(&self.folder.fd, &self.temporary, &to.fd, name, flags)
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        if !self.temporary.is_empty() {
            let _ = self.folder.remove(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::store::testing::folder;

    #[test]
    fn replace_leaves_the_new_file_alone() {
        let (_kept, path) = folder();
        let folder = Folder::open(&path).unwrap();
        let name = "a b \"é'.state";
        folder.replace(name, b"one").unwrap();
        folder.replace(name, b"two").unwrap();
        let file = path.join(name);
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(path.read_dir_utf8().unwrap().count(), 1);
    }

    #[test]
    fn symlink_is_replaced_and_its_target_kept() {
        let (_kept, path) = folder();
        let folder = Folder::open(&path).unwrap();
        std::fs::write(path.join("target"), "kept").unwrap();
        for link in ["one", "two"] {
            std::os::unix::fs::symlink("target", path.join(link)).unwrap();
        }
        folder.replace("one", b"new").unwrap();
        let prepared = folder.prepare(b"new").unwrap();
        prepared.exchange(&folder, "two").unwrap();
        assert_eq!(std::fs::read(path.join("target")).unwrap(), b"kept");
        assert!(!path.join("one").is_symlink() && !path.join("two").is_symlink());
    }

    #[test]
    fn folder_is_not_replaced_and_no_stray_left() {
        let (_kept, path) = folder();
        let folder = Folder::open(&path).unwrap();
        std::fs::create_dir(path.join("state")).unwrap();
        assert!(folder.replace("state", b"new").is_err());
        let prepared = folder.prepare(b"new").unwrap();
        assert!(prepared.exchange(&folder, "state").is_err());
        assert!(folder.replace("no/such", b"new").is_err());
        assert_eq!(path.read_dir_utf8().unwrap().count(), 1);
    }
}
