//! Stale plugin files: the committed plugin is compared with the one that the program writes now.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::report::{Wrong, ensure};
use crate::walk::Walk;

/// Writes the plugin again and compares it. Files that a user put beside the written ones are not compared.
pub(crate) fn run(walk: &Walk) -> Result<String, Wrong> {
    let Some(committed) = &walk.scratch.kit.plugin else {
        return Ok("left out: `Kit::plugin` names no folder".to_owned());
    };
    let project = &walk.scratch.project;
    let written = project.root().join("a \"new\" plugin");
    let output = project.person(&["plugin", "write", &written.to_string_lossy()])?;
    ensure!(
        output.code == Some(0),
        "the plugin cannot be written: {output}"
    );
    let mut names = Vec::new();
    collect(&written, Path::new(""), &mut names);
    let is_stale = |name: &&PathBuf| read(&committed.join(name)) != read(&written.join(name));
    let stale: Vec<_> = names.iter().filter(is_stale).collect();
    ensure!(
        stale.is_empty(),
        "stale, since the machine or a text of it has changed: {stale:?}"
    );
    let count = names.len();
    Ok(format!("{count} files are as the program writes them"))
}

/// Collects the paths of the files below a folder.
fn collect(top: &Path, below: &Path, names: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(top.join(below)).into_iter().flatten();
    for entry in entries.flatten() {
        let path = below.join(entry.file_name());
        if top.join(&path).is_dir() {
            collect(top, &path, names);
        } else {
            names.push(path);
        }
    }
}

/// Returns a file's bytes, and whether it is a program.
fn read(path: &Path) -> Option<(Vec<u8>, bool)> {
    let mode = path.metadata().ok()?.permissions().mode();
    Some((fs::read(path).ok()?, mode & 0o111 != 0))
}
