//! Writes a plugin's folder and loses no file of the user's.
//!
//! `.claude-plugin/files.sha256` lists the files of a write, in the form of `sha256sum`. A file in the way is replaced only
//! if it still is as listed. A file that the plugin no longer has is removed on the same condition.

use std::collections::BTreeSet;
use std::io;

use camino::Utf8Path;

use super::Files;
use crate::digest::sha256;
use crate::files::{self, Folder, if_there};
use crate::program::exit::{Exit, Failure};
use crate::text;

/// The list of the written files.
const LIST: &str = ".claude-plugin/files.sha256";

/// Writes the files and their list into a folder, which is created if necessary.
pub(super) fn write(dir: &Utf8Path, files: &Files) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let dir = text::shown(dir);
        let message = format!("the plugin cannot be written to {dir}: {error}");
        let help = "make the folder writable, or give another one";
        Failure::plain(Exit::Internal, "claudex::plugin::write", message, help)
    };
    fs_err::create_dir_all(dir).map_err(failed)?;
    let folder = Folder::open(dir).map_err(failed)?;
    let list = read(&folder, LIST).map_err(failed)?.unwrap_or_default();
    let list = String::from_utf8_lossy(&list);
    let listed: BTreeSet<&str> = list.lines().collect();

    let mut in_the_way: Vec<&str> = Vec::new();
    for (path, text) in files {
        let found = read(&folder, path).map_err(failed)?;
        let found = found.filter(|found| found != text.as_bytes());
        if found.is_some_and(|found| !listed.contains(&*entry(path, &found))) {
            in_the_way.push(path);
        }
    }
    if !in_the_way.is_empty() {
        let message = format!(
            "{} has files that an earlier write did not make, or that were changed since: {}; nothing was written",
            text::shown(dir),
            in_the_way.join(", ")
        );
        let help = "move them away, or give another folder; a change belongs into the machine file or the files that it names";
        let code = "claudex::plugin::in_the_way";
        return Err(Failure::plain(Exit::Refused, code, message, help));
    }

    let paths = list
        .lines()
        .filter_map(|line| Some(line.split_once("  ")?.1));
    for path in paths.filter(|path| !files.contains_key(*path)) {
        let found = read(&folder, path).map_err(failed)?;
        if found.is_some_and(|found| listed.contains(&*entry(path, &found))) {
            let (below, name) = place(path);
            let removed = folder.below(below).and_then(|below| below.remove(name));
            removed.map_err(failed)?;
        }
    }
    for (path, text) in files {
        put(&folder, path, text).map_err(failed)?;
    }
    let entries = files
        .iter()
        .map(|(path, text)| entry(path, text.as_bytes()) + "\n");
    put(&folder, LIST, &entries.collect::<String>()).map_err(failed)
}

/// Returns the line of a file in the list.
fn entry(path: &str, bytes: &[u8]) -> String {
    format!("{}  {path}", sha256(bytes))
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
    let folder = folder.below(below);
    if_there(folder.and_then(|below| below.read(name, files::MAX_BYTES)))
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
}
