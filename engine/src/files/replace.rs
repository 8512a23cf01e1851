//! Replacing a file whole: a reader finds either the old or the new content, at any moment and
//! after any crash. A crash may leave a temporary file in the folder.

use std::fs::File;
use std::io;

use rustix::fs::{Mode, RenameFlags};

use super::folder::Folder;
use super::kill_point::{kill_point, sync, write_all};
use crate::digest::random_hex;

/// The beginning of the name of a temporary file.
pub const TEMPORARY: &str = ".loop-tmp-";

/// The new content of a file, with mode 0600 and not synced. Dropping it removes it.
#[derive(Debug)]
pub struct PreparedFile {
    folder: Folder,
    file: File,
    temporary: String,
}

impl Folder {
    /// Replaces or makes a file, mode 0600, or a symlink itself. The result survives a power loss.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let prepared = self.prepare(bytes)?;
        sync(&prepared.file)?;
        prepared.rename(name)?;
        self.sync()
    }

    /// Writes the new content of a file to a temporary one in this folder.
    pub fn prepare(&self, bytes: &[u8]) -> io::Result<PreparedFile> {
        let temporary = format!("{TEMPORARY}{}", random_hex::<16>()?);
        let mut prepared = PreparedFile {
            folder: self.clone(),
            file: self.new_file(&temporary)?,
            temporary,
        };
        write_all(&mut prepared.file, bytes)?;
        Ok(prepared)
    }
}

impl PreparedFile {
    /// Sets the permissions of the new file.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        kill_point();
        Ok(rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode))?)
    }

    /// Replaces a file of its folder by the new content.
    pub fn rename(mut self, name: &str) -> io::Result<()> {
        // ext4 would write out a file that is renamed over another, so the two are exchanged.
        let exchange = || {
            let flags = RenameFlags::EXCHANGE;
            (self.folder).rename_with(&self.temporary, &self.folder, name, flags)
        };
        // Some file systems cannot exchange.
        if exchange().is_ok() {
            if let Err(error) = self.folder.remove(&self.temporary) {
                // A folder had the name.
                exchange()?;
                return Err(error);
            }
        } else {
            self.folder.rename(&self.temporary, &self.folder, name)?;
        }
        self.temporary.clear();
        Ok(())
    }
}

impl Drop for PreparedFile {
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
        prepared.rename("two").unwrap();
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
        assert!(prepared.rename("state").is_err());
        assert!(folder.replace("no/such", b"new").is_err());
        assert_eq!(path.read_dir_utf8().unwrap().count(), 1);
    }
}
