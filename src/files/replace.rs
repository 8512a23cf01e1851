//! Replacing a file so that a reader, at any moment and after any crash, finds either the old or the new content.

use std::io::{self, Write as _};

use camino::Utf8Path;
use tempfile::NamedTempFile;

/// How the names of our temporary files begin; the sweep removes what a crash left of them.
pub(crate) const TEMPORARY: &str = ".claudex-tmp-";

/// Replaces the file at `path`, or creates it, with permissions 0600.
///
/// The content goes to a new file in the same folder, under a name that nobody can guess, is synced, and is renamed
/// over `path`; then the folder is synced.
///
/// - A crash before the rename leaves the old file whole, and maybe a stray temporary file.
/// - A crash between the rename and the last sync leaves, after a power loss, either the old or the new file whole.
/// - Once this returned `Ok`, the new file survives a power loss, as far as the disk honours syncs.
///
/// A symlink at `path` is itself replaced; what it points to is not touched.
///
/// # Errors
/// When a step fails. Only an error of the last sync comes after the rename.
pub fn replace(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    Prepared::new(path, bytes)?.rename()?;
    sync_folder_of(path)
}

/// The new content, synced beside the file that it will replace. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    path: &'a Utf8Path,
    file: NamedTempFile,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(path: &'a Utf8Path, bytes: &[u8]) -> io::Result<Self> {
        // Without further settings the file is made with create_new and 0600.
        let mut file = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .rand_bytes(16)
            .tempfile_in(folder_of(path))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        Ok(Self { path, file })
    }

    pub(crate) fn rename(self) -> io::Result<()> {
        self.file
            .persist(self.path)
            .map(drop)
            .map_err(|refused| refused.error)
    }
}

/// Makes a rename, a creation or a removal in the folder of `path` survive a power loss.
pub(crate) fn sync_folder_of(path: &Utf8Path) -> io::Result<()> {
    fs_err::File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Utf8Path) -> &Utf8Path {
    match path.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::folder;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let (_kept, folder) = folder();
        let path = folder.join("a b \"é'.state");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn what_a_symlink_points_to_is_not_touched() {
        let (_kept, folder) = folder();
        std::fs::write(folder.join("target"), "kept").unwrap();
        std::os::unix::fs::symlink("target", folder.join("link")).unwrap();
        replace(&folder.join("link"), b"new").unwrap();
        assert_eq!(std::fs::read(folder.join("target")).unwrap(), b"kept");
        assert!(!folder.join("link").is_symlink());
    }

    #[test]
    fn a_failed_replacement_leaves_the_old_file_and_no_stray() {
        let (_kept, folder) = folder();
        let path = folder.join("state");
        std::fs::create_dir(&path).unwrap();
        assert!(
            replace(&path, b"new").is_err(),
            "a folder cannot be replaced by a file"
        );
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        assert!(replace(&folder.join("no/such"), b"new").is_err());
    }
}
