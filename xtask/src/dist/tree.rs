//! Files on their way into an archive. They are sorted and have one time and no owner, so that the
//! same files make the same archive.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use flate2::{Compression, GzBuilder};
use miette::IntoDiagnostic as _;
use tar::{Builder, EntryType, Header};

/// The time of every file: the first second of 2000.
const MODIFIED_SECONDS: u64 = 946_684_800;

/// One entry of the archive.
#[derive(Debug)]
enum Entry {
    File {
        bytes: Vec<u8>,
        is_program: bool,
    },
    /// A hard link to another path, which must come first in the order of paths.
    Link(String),
}

/// Files by their paths, in one folder.
#[derive(Debug)]
pub(super) struct Tree {
    folder: &'static str,
    entries: BTreeMap<String, Entry>,
}

impl Tree {
    /// Creates an empty tree that unpacks to this folder.
    pub(super) fn new(folder: &'static str) -> Self {
        Self {
            folder,
            entries: BTreeMap::new(),
        }
    }

    /// Adds a file with this text.
    pub(super) fn text(&mut self, path: &str, text: impl Into<String>) {
        self.put(path, text.into().into_bytes(), false);
    }

    /// Adds a file.
    pub(super) fn put(&mut self, path: &str, bytes: Vec<u8>, is_program: bool) {
        let entry = Entry::File { bytes, is_program };
        self.entries.insert(path.to_owned(), entry);
    }

    /// Adds a hard link to the file at `target`.
    pub(super) fn link(&mut self, path: &str, target: &str) {
        let entry = Entry::Link(target.to_owned());
        self.entries.insert(path.to_owned(), entry);
    }

    /// Adds a file, or a folder with everything in it, from disk.
    pub(super) fn copy(&mut self, from: &Path, path: &str) -> miette::Result<()> {
        let found = fs_err::metadata(from).into_diagnostic()?;
        if !found.is_dir() {
            let is_program = found.permissions().mode() & 0o100 != 0;
            self.put(path, fs_err::read(from).into_diagnostic()?, is_program);
            return Ok(());
        }
        for entry in fs_err::read_dir(from).into_diagnostic()? {
            let entry = entry.into_diagnostic()?;
            let name = entry.file_name();
            self.copy(&entry.path(), &format!("{path}/{}", name.to_string_lossy()))?;
        }
        Ok(())
    }

    /// Returns the archive: a tar, compressed with gzip.
    pub(super) fn pack(&self, level: Compression) -> io::Result<Vec<u8>> {
        let mut archive = Builder::new(GzBuilder::new().write(Vec::new(), level));
        for (path, entry) in &self.entries {
            let path = format!("{}/{path}", self.folder);
            let mut header = Header::new_gnu();
            header.set_mtime(MODIFIED_SECONDS);
            header.set_uid(0);
            header.set_gid(0);
            match entry {
                Entry::File { bytes, is_program } => {
                    header.set_mode(if *is_program { 0o755 } else { 0o644 });
                    header.set_size(bytes.len() as u64);
                    archive.append_data(&mut header, path, bytes.as_slice())?;
                }
                Entry::Link(target) => {
                    header.set_entry_type(EntryType::Link);
                    header.set_mode(0o755);
                    header.set_size(0);
                    archive.append_link(&mut header, path, format!("{}/{target}", self.folder))?;
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

    #[test]
    fn unpacked_archive_has_modes_links_and_fixed_times() {
        let mut tree = Tree::new("top");
        tree.text("z.md", "text");
        tree.link("plugin/bin/it", "bin/it");
        tree.put("bin/it", b"#!/bin/sh\n".to_vec(), true);
        let packed = tree.pack(Compression::fast()).unwrap();
        assert_eq!(packed, tree.pack(Compression::fast()).unwrap());

        let folder = tempfile::tempdir().unwrap();
        tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()))
            .unpack(folder.path())
            .unwrap();
        let found = |path: &str| fs_err::metadata(folder.path().join("top").join(path)).unwrap();
        assert_eq!(found("bin/it").ino(), found("plugin/bin/it").ino());
        assert_eq!(found("bin/it").mode() & 0o777, 0o755);
        assert_eq!(found("z.md").mode() & 0o777, 0o644);
        assert_eq!(found("z.md").mtime() as u64, MODIFIED_SECONDS);
    }
}
