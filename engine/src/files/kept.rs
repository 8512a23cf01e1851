//! A folder that is kept open between two uses of it.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::folder::Folder;

/// The folder that was opened last. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Kept(Arc<Mutex<Option<Folder>>>);

impl Kept {
    /// Returns the folder that was opened last, where its path still leads to it; else the one that is opened now.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn or_open(&self, open: impl FnOnce() -> io::Result<Folder>) -> io::Result<Folder> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = kept.as_ref().filter(|folder| folder.is_in_its_place()) {
            return Ok(folder.clone());
        }
        *kept = None;
        Ok(kept.insert(open()?).clone())
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn a_folder_is_opened_again_once_its_path_leads_elsewhere() {
        let made = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(made.path().canonicalize().unwrap()).unwrap();
        let (path, aside) = (root.join("state"), root.join("aside"));
        let kept = Kept::default();
        let open = || kept.or_open(|| Folder::open(&root)?.below("state"));
        assert!(open().is_err());
        std::fs::create_dir(&path).unwrap();
        open().unwrap().replace("a", b"1").unwrap();
        std::fs::rename(&path, &aside).unwrap();
        assert!(open().is_err());
        std::fs::create_dir(&path).unwrap();
        open().unwrap().replace("b", b"2").unwrap();
        assert!(path.join("b").exists() && !aside.join("b").exists());
        std::fs::remove_dir_all(&path).unwrap();
        std::os::unix::fs::symlink(&aside, &path).unwrap();
        assert!(open().is_err());
    }
}
