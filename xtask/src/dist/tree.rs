//! Files on their way into an archive: sorted, of one time and of nobody, so that the same files are the same bytes.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use flate2::{Compression, GzBuilder};
use miette::IntoDiagnostic as _;
use tar::{Builder, EntryType, Header};

/// The time of every file: the first second of 2000. Some programs take an older one for a fault.
const TIME: u64 = 946_684_800;

/// What stands at a path.
#[derive(Debug)]
enum Content {
    /// A file, and whether it is a program.
    File(Vec<u8>, bool),
    /// The same file as at another path, which must come first in the order of paths.
    Same(String),
}

/// Files by their paths, below one folder.
#[derive(Debug)]
pub(super) struct Tree {
    folder: &'static str,
    files: BTreeMap<String, Content>,
}

impl Tree {
    /// Makes an empty one, which unpacks to a folder of this name.
    pub(super) fn new(folder: &'static str) -> Self {
        Self {
            folder,
            files: BTreeMap::new(),
        }
    }

    /// Adds a file of this text.
    pub(super) fn text(&mut self, path: &str, text: impl Into<String>) {
        self.put(path, text.into().into_bytes(), false);
    }

    /// Adds a file.
    pub(super) fn put(&mut self, path: &str, bytes: Vec<u8>, is_program: bool) {
        self.files
            .insert(path.to_owned(), Content::File(bytes, is_program));
    }

    /// Adds a second name of a file.
    pub(super) fn same(&mut self, path: &str, as_path: &str) {
        self.files
            .insert(path.to_owned(), Content::Same(as_path.to_owned()));
    }

    /// Adds a file, or a folder with all that it holds, from disk.
    pub(super) fn copy(&mut self, from: &Path, path: &str) -> miette::Result<()> {
        let found = fs_err::metadata(from).into_diagnostic()?;
        if found.is_dir() {
            for entry in fs_err::read_dir(from).into_diagnostic()? {
                let entry = entry.into_diagnostic()?;
                let name = entry.file_name();
                self.copy(&entry.path(), &format!("{path}/{}", name.to_string_lossy()))?;
            }
            return Ok(());
        }
        let is_program = found.permissions().mode() & 0o100 != 0;
        self.put(path, fs_err::read(from).into_diagnostic()?, is_program);
        Ok(())
    }

    /// Returns the archive: tar, compressed by gzip.
    pub(super) fn packed(&self, level: Compression) -> miette::Result<Vec<u8>> {
        self.write(level).into_diagnostic()
    }

    fn write(&self, level: Compression) -> io::Result<Vec<u8>> {
        let mut archive = Builder::new(GzBuilder::new().write(Vec::new(), level));
        for (path, content) in &self.files {
            let path = format!("{}/{path}", self.folder);
            let mut header = Header::new_gnu();
            header.set_mtime(TIME);
            header.set_uid(0);
            header.set_gid(0);
            match content {
                Content::File(bytes, is_program) => {
                    header.set_mode(if *is_program { 0o755 } else { 0o644 });
                    header.set_size(bytes.len() as u64);
                    archive.append_data(&mut header, path, bytes.as_slice())?;
                }
                Content::Same(other) => {
                    header.set_entry_type(EntryType::Link);
                    header.set_mode(0o755);
                    header.set_size(0);
                    archive.append_link(&mut header, path, format!("{}/{other}", self.folder))?;
                }
            }
        }
        archive.into_inner()?.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::new("top");
        tree.text("z.md", "text");
        tree.same("plugin/bin/it", "bin/it");
        tree.put("bin/it", b"#!/bin/sh\n".to_vec(), true);
        tree
    }

    #[test]
    fn the_same_files_are_the_same_bytes_whatever_their_times_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b");
        fs_err::create_dir(folder.path().join("a")).unwrap();
        let mut packed = Vec::new();
        for seconds in [1, 1_700_000_000] {
            fs_err::write(&file, "text").unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            fs_err::OpenOptions::new()
                .write(true)
                .open(&file)
                .unwrap()
                .into_file()
                .set_modified(time)
                .unwrap();
            let mut tree = tree();
            tree.copy(folder.path(), "copied").unwrap();
            packed.push(tree.packed(Compression::best()).unwrap());
        }
        assert_eq!(packed[0], packed[1]);
    }

    #[test]
    fn a_second_name_is_no_second_copy_and_programs_stay_programs() {
        let folder = tempfile::tempdir().unwrap();
        let packed = tree().packed(Compression::fast()).unwrap();
        tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()))
            .unpack(folder.path())
            .unwrap();
        let found = |path: &str| fs_err::metadata(folder.path().join("top").join(path)).unwrap();
        assert_eq!(found("bin/it").ino(), found("plugin/bin/it").ino());
        assert_eq!(found("bin/it").mode() & 0o777, 0o755);
        assert_eq!(found("z.md").mode() & 0o777, 0o644);
        assert_eq!(found("z.md").mtime() as u64, TIME);
    }
}
