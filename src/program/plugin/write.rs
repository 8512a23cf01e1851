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
    let in_the_way = try_write(dir, files).map_err(|error| {
        let dir = text::shown(dir);
        let message = format!("the plugin cannot be written to {dir}: {error}");
        let help = "make the folder writable, or give another one";
        Failure::plain(Exit::Internal, message, help)
    })?;
    if in_the_way.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{} has files that an earlier write did not make, or that were changed since: {}; nothing was written",
        text::shown(dir),
        in_the_way.join(", ")
    );
    let help = "move them away, or give another folder; a change belongs into the machine file or the files that it names";
    Err(Failure::plain(Exit::Refused, message, help))
}

/// Writes the files, or returns those that are in the way.
fn try_write<'f>(dir: &Utf8Path, files: &'f Files) -> io::Result<Vec<&'f str>> {
    fs_err::create_dir_all(dir)?;
    let folder = Folder::open(dir)?;
    let list = read(&folder, LIST)?.unwrap_or_default();
    let list = String::from_utf8_lossy(&list);
    let listed: BTreeSet<&str> = list.lines().collect();

    let mut in_the_way: Vec<&str> = Vec::new();
    for (path, text) in files {
        let found = read(&folder, path)?.filter(|found| found != text.as_bytes());
        if found.is_some_and(|found| !listed.contains(&*entry(path, &found))) {
            in_the_way.push(path);
        }
    }
    if !in_the_way.is_empty() {
        return Ok(in_the_way);
    }

    let paths = list
        .lines()
        .filter_map(|line| Some(line.split_once("  ")?.1));
    for path in paths.filter(|path| !files.contains_key(*path)) {
        let found = read(&folder, path)?;
        if found.is_some_and(|found| listed.contains(&*entry(path, &found))) {
            let (below, name) = place(path);
            folder.below(below)?.remove(name)?;
        }
    }
    let mut entries = String::new();
    for (path, text) in files {
        put(&folder, path, text)?;
        entries += &(entry(path, text.as_bytes()) + "\n");
    }
    put(&folder, LIST, &entries)?;
    Ok(in_the_way)
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
    fn second_write_replaces_and_removes_its_files() {
        let (_kept, folder) = folder();
        let dir = folder.join("a new\" one/plugin");
        let first = [
            ("bin/it", "#!/bin/sh\n"),
            ("commands/old.md", "x"),
            ("README.md", "one"),
        ];
        write(&dir, &files(&first)).unwrap();
        fs_err::write(dir.join("tests.sh"), "the user's").unwrap();
        let second = [("bin/it", "#!/bin/sh\n:\n"), ("README.md", "two")];
        write(&dir, &files(&second)).unwrap();
        let text = |name: &str| fs_err::read_to_string(dir.join(name)).unwrap();
        assert_eq!(text("README.md"), "two");
        assert_eq!(text("tests.sh"), "the user's");
        assert!(!dir.join("commands/old.md").exists());
        let mode = |name: &str| dir.join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("bin/it"), 0o755);
        assert_eq!(mode("README.md"), 0o644);
    }

    #[test]
    fn changed_file_is_kept_and_nothing_is_written() {
        let (_kept, dir) = folder();
        let readme = dir.join("README.md");
        let text = || fs_err::read_to_string(&readme).unwrap();
        fs_err::write(&readme, "the user's").unwrap();
        let all = files(&[("bin/it", "#!/bin/sh\n"), ("README.md", "ours")]);
        assert_eq!(write(&dir, &all).unwrap_err().exit, Exit::Refused);
        assert!(!dir.join("bin").exists());

        fs_err::write(&readme, "ours").unwrap();
        write(&dir, &all).unwrap();
        fs_err::write(&readme, "changed").unwrap();
        let newer = files(&[("bin/it", "#!/bin/sh\n"), ("README.md", "newer")]);
        assert_eq!(write(&dir, &newer).unwrap_err().exit, Exit::Refused);
        assert_eq!(text(), "changed");

        // It is also kept if the plugin no longer has it.
        write(&dir, &files(&[("bin/it", "#!/bin/sh\n")])).unwrap();
        assert_eq!(text(), "changed");
    }

    #[test]
    fn nothing_is_written_through_link_or_outside() {
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
