//! Stale plugin files: the committed plugin is compared with the one that the program writes now.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::Wrong;
use crate::project::files;
use crate::run::Loop;

/// The list of the files that were written.
const LIST: &str = ".claude-plugin/files.sha256";

/// Writes the plugin again and compares it.
pub(crate) fn run(held: &mut Loop<'_>) -> Result<Option<String>, Wrong> {
    let (setup, project) = (held.setup, &held.project);
    let Some(folder) = &setup.kit.plugin else {
        return Ok(None);
    };
    held.path = vec![folder.display().to_string()];
    let again = project.root().join("a \"new\" plugin");
    let said = project.person(&["plugin", "write", &again.to_string_lossy()])?;
    if said.code != Some(0) {
        return Err(format!("it cannot be written: {}", said.short()).into());
    }
    let (committed, written) = (below(folder), below(&again));
    // Files that a user put beside them are not listed.
    let list = committed
        .get(LIST)
        .map(|(_, bytes)| String::from_utf8_lossy(bytes));
    let list = list.unwrap_or_default();
    let listed = list
        .lines()
        .filter_map(|line| Some(line.split_once("  ")?.1));
    let names: BTreeSet<&str> = listed.chain(written.keys().map(String::as_str)).collect();
    let stale = names
        .into_iter()
        .filter(|name| committed.get(*name) != written.get(*name));
    match stale.collect::<Vec<_>>() {
        stale if stale.is_empty() => {
            let said = format!("{} files are as the program writes them", written.len());
            Ok(Some(said))
        }
        stale => {
            Err(format!("stale, since the machine or a text of it has changed: {stale:?}").into())
        }
    }
}

/// Returns the files below a folder: path, whether it is a program, bytes.
fn below(folder: &Path) -> BTreeMap<String, (bool, Vec<u8>)> {
    let file = |(path, bytes): (PathBuf, Option<Vec<u8>>)| {
        let is_program = path
            .metadata()
            .is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
        let name = path
            .strip_prefix(folder)
            .ok()?
            .to_string_lossy()
            .into_owned();
        Some((name, (is_program, bytes?)))
    };
    files(folder).into_iter().filter_map(file).collect()
}
