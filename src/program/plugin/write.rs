//! Writes a plugin's folder and loses no file of the user's.
//!
//! `.claude-plugin/files.sha256` lists the files of a write, in the form of `sha256sum`. A file in the way is replaced only
//! if it still has the digest in that list. A file that the plugin no longer has is removed on the same condition.

use std::collections::BTreeMap;
use std::io;

use camino::Utf8Path;

use super::Files;
use crate::digest::sha256;
use crate::files::{self, Folder, if_there};
use crate::program::exit::{Exit, Failure};
use crate::text;

/// The list of the written files, with their digests.
const LIST: &str = ".claude-plugin/files.sha256";

/// Digests by path.
type Digests = BTreeMap<String, String>;

/// Writes the files and their list into a folder, which is created if necessary.
pub(super) fn write(dir: &Utf8Path, files: &Files) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::plain(
            Exit::Internal,
            "claudex::plugin::write",
            format!(
                "the plugin cannot be written to {}: {error}",
                text::shown(dir)
            ),
            "make the folder writable, or give another one",
        )
    };
    fs_err::create_dir_all(dir).map_err(failed)?;
    let folder = Folder::open(dir).map_err(failed)?;
    let wanted: Digests = files
        .iter()
        .map(|(path, text)| (path.clone(), sha256(text)))
        .collect();
    let listed = read(&folder, LIST).map_err(failed)?;
    let before = listed.map_or_else(|| Some(Digests::new()), |bytes| parsed(&bytes));
    let mut in_the_way: Vec<&str> = Vec::new();
    if before.is_none() {
        in_the_way.push(LIST);
    }
    let before = before.unwrap_or_default();
    for (path, digest) in &wanted {
        let found = digest_at(&folder, path).map_err(failed)?;
        if found.is_some_and(|found| found != *digest && before.get(path) != Some(&found)) {
            in_the_way.push(path);
        }
    }
    if !in_the_way.is_empty() {
        return Err(Failure::plain(
            Exit::Refused,
            "claudex::plugin::in_the_way",
            format!(
                "{} has files that an earlier write did not make, or that were changed since: {}; nothing was written",
                text::shown(dir),
                in_the_way.join(", ")
            ),
            "move them away, or give another folder; a change belongs into the machine file or the files that it names",
        ));
    }
    for (path, digest) in before
        .iter()
        .filter(|(path, _)| !wanted.contains_key(*path))
    {
        if digest_at(&folder, path).map_err(failed)?.as_ref() == Some(digest) {
            let (below, name) = place(path);
            let below = folder.below(below).map_err(failed)?;
            below.remove(name).map_err(failed)?;
        }
    }
    for (path, text) in files {
        put(&folder, path, text).map_err(failed)?;
    }
    let lines = wanted
        .iter()
        .map(|(path, digest)| format!("{digest}  {path}\n"));
    put(&folder, LIST, &lines.collect::<String>()).map_err(failed)
}

/// Splits a path into its folder and its name.
fn place(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Writes a file atomically. A script is made executable.
fn put(folder: &Folder, path: &str, text: &str) -> io::Result<()> {
    let (below, name) = place(path);
    let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
    let below = folder.make(below)?;
    let prepared = below.prepare(text.as_bytes())?;
    prepared.set_mode(mode)?;
    prepared.sync()?;
    prepared.rename(name)?;
    below.sync()
}

/// Reads a file, or returns `None` if it does not exist.
fn read(folder: &Folder, path: &str) -> io::Result<Option<Vec<u8>>> {
    let (below, name) = place(path);
    let read = folder
        .below(below)
        .and_then(|below| below.read(name, files::MAX_BYTES));
    if_there(read)
}

fn digest_at(folder: &Folder, path: &str) -> io::Result<Option<String>> {
    Ok(read(folder, path)?.map(sha256))
}

/// Parses a list, or returns `None` if it is not one of ours.
fn parsed(bytes: &[u8]) -> Option<Digests> {
    let text = std::str::from_utf8(bytes).ok()?;
    let line = |line: &str| {
        let (digest, path) = line.split_once("  ")?;
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then(|| (path.to_owned(), digest.to_owned()))
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use camino::Utf8PathBuf;

    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let made = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(made.path().to_owned()).unwrap();
        (made, path)
    }

    fn files(all: &[(&str, &str)]) -> Files {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        all.iter().map(owned).collect()
    }

    #[test]
    fn a_second_write_replaces_what_the_first_made_and_removes_what_is_gone() {
        let (_kept, folder) = folder();
        let dir = folder.join("a new\" one/plugin");
        write(
            &dir,
            &files(&[
                ("bin/it", "#!/bin/sh\n"),
                ("commands/old.md", "x"),
                ("README.md", "one"),
            ]),
        )
        .unwrap();
        fs_err::write(dir.join("tests.sh"), "a person's").unwrap();
        write(
            &dir,
            &files(&[("bin/it", "#!/bin/sh\n:\n"), ("README.md", "two")]),
        )
        .unwrap();
        assert_eq!(
            fs_err::read_to_string(dir.join("README.md")).unwrap(),
            "two"
        );
        assert!(!dir.join("commands/old.md").exists());
        assert_eq!(
            fs_err::read_to_string(dir.join("tests.sh")).unwrap(),
            "a person's"
        );
        let mode = |name: &str| dir.join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("bin/it"), mode("README.md")), (0o755, 0o644));
    }

    #[test]
    fn a_file_of_a_person_is_never_replaced_and_then_nothing_is_written() {
        let (_kept, dir) = folder();
        fs_err::write(dir.join("README.md"), "a person's").unwrap();
        let all = files(&[("bin/it", "#!/bin/sh\n"), ("README.md", "ours")]);
        assert_eq!(write(&dir, &all).unwrap_err().exit, Exit::Refused);
        assert!(!dir.join("bin").exists());
        // The same bytes are nobody's loss.
        fs_err::write(dir.join("README.md"), "ours").unwrap();
        write(&dir, &all).unwrap();
        // What was made by a write and changed by a person is a person's.
        fs_err::write(dir.join("README.md"), "changed").unwrap();
        let newer = files(&[("bin/it", "#!/bin/sh\n"), ("README.md", "newer")]);
        assert_eq!(write(&dir, &newer).unwrap_err().exit, Exit::Refused);
        assert_eq!(
            fs_err::read_to_string(dir.join("README.md")).unwrap(),
            "changed"
        );
        // Also where the plugin no longer has it.
        write(&dir, &files(&[("bin/it", "#!/bin/sh\n")])).unwrap();
        assert_eq!(
            fs_err::read_to_string(dir.join("README.md")).unwrap(),
            "changed"
        );
    }

    #[test]
    fn nothing_is_written_or_removed_through_a_link_or_outside_of_the_folder() {
        let (_kept, folder) = folder();
        let dir = folder.join("plugin");
        fs_err::create_dir_all(folder.join("elsewhere")).unwrap();
        fs_err::create_dir_all(&dir).unwrap();
        std::os::unix::fs::symlink(folder.join("elsewhere"), dir.join("bin")).unwrap();
        assert!(write(&dir, &files(&[("bin/it", "x")])).is_err());
        assert_eq!(
            fs_err::read_dir(folder.join("elsewhere")).unwrap().count(),
            0
        );
        fs_err::remove_file(dir.join("bin")).unwrap();
        fs_err::write(folder.join("kept"), "kept").unwrap();
        fs_err::create_dir_all(dir.join(".claude-plugin")).unwrap();
        fs_err::write(dir.join(LIST), format!("{}  ../kept\n", sha256("kept"))).unwrap();
        assert!(write(&dir, &files(&[("README.md", "x")])).is_err());
        assert!(folder.join("kept").exists());
    }

    #[test]
    fn a_list_that_is_none_of_ours_is_in_the_way() {
        let (_kept, dir) = folder();
        fs_err::create_dir_all(dir.join(".claude-plugin")).unwrap();
        fs_err::write(dir.join(LIST), "notes of a person\n").unwrap();
        assert_eq!(
            write(&dir, &files(&[("README.md", "x")])).unwrap_err().exit,
            Exit::Refused
        );
        assert!(!dir.join("README.md").exists());
    }
}
