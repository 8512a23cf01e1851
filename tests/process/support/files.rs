//! Files that a test writes or reads.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::feed;

pub(crate) fn yaml(text: &str) -> serde_yaml::Mapping {
    serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

/// Returns every file below a folder with its bytes, and every folder, to compare two states.
pub(crate) fn tree(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tree(&path));
            found.push((path, None));
        } else {
            let bytes = std::fs::read(&path).ok();
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

/// Copies whole folders, with links and times, into another folder.
pub(crate) fn copy_into(folders: &[&Path], into: &Path) {
    let copied = Command::new("cp")
        .arg("-a")
        .args(folders)
        .arg(into)
        .status();
    assert!(copied.unwrap().success());
}

/// Writes a file, and the folders above it.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Writes a shell script, and the folders above it. Another process writes it: a child that another
/// test forks meanwhile would keep our own file open, so that nobody could run it.
pub(crate) fn executable(path: &Path, script: &str) {
    write(path, "");
    let mut writer = Command::new("/bin/sh");
    writer
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(path);
    feed(writer, format!("#!/bin/sh\n{script}\n").as_bytes()).exits(0);
}

/// Sets a file's time of modification this far into the past.
pub(crate) fn age(path: &Path, by: Duration) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - by).unwrap();
}
