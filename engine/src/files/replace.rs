//! Replacing a file so that a reader, at any moment and after any crash, finds either the old or the new content.

use std::io;

use camino::Utf8Path;

use super::folder::Folder;

/// Replaces the file at `path`, or creates it, with permissions 0600.
///
/// The content goes to a new file in the same folder, under a name that nobody can guess, is synced, and is renamed
/// over `path`; then the folder is synced.
///
/// - A crash before the rename leaves the old file whole, and maybe a stray temporary file.
/// - A crash between the rename and the last sync leaves, after a power loss, either the old or the new file whole.
/// - Once this returned `Ok`, the new file survives a power loss, as far as the disk honours syncs.
///
/// A symlink at `path` is itself replaced; what it points to is not touched. On the way to it symlinks are followed: it is a
/// path that the person named. What lies in a project or a state folder is replaced by [`Folder::replace`].
///
/// # Errors
/// When a step fails. Only an error of the last sync comes after the rename.
pub fn replace(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    let folder = Folder::open(path.parent().unwrap_or(path))?;
    folder.replace(path.file_name().unwrap_or_default(), bytes)
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
