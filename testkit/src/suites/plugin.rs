//! Stale plugin files: the committed plugin is compared with the one that the program writes now.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::report::{Wrong, ensure};
use crate::walk::Walk;

/// The list of the files that were written.
const LIST: &str = ".claude-plugin/files.sha256";

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
    let lists = [committed, &written].map(|folder| fs::read_to_string(folder.join(LIST)));
    let lists = lists.map(Result::unwrap_or_default);
    let lines = lists.iter().flat_map(|list| list.lines());
    let mut names: BTreeSet<&str> = lines
        .filter_map(|line| Some(line.split_once("  ")?.1))
        .collect();
    names.insert(LIST);

    let is_stale = |name: &&&str| read(&committed.join(name)) != read(&written.join(name));
    let stale: Vec<_> = names.iter().filter(is_stale).collect();
    ensure!(
        stale.is_empty(),
        "stale, since the machine or a text of it has changed: {stale:?}"
    );
    let count = names.len();
    Ok(format!("{count} files are as the program writes them"))
}

/// Returns a file's bytes, and whether it is a program.
fn read(path: &Path) -> Option<(Vec<u8>, bool)> {
    let mode = path.metadata().ok()?.permissions().mode();
    Some((fs::read(path).ok()?, mode & 0o111 != 0))
}
