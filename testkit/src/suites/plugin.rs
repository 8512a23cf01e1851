//! The committed plugin is what the program writes now, file by file.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::error::{Failure, Suite};
use crate::kit::Setup;
use crate::project::{Files, files};
use crate::report::Report;
use crate::search::Way;

/// The list of what a write made.
const LIST: &str = ".claude-plugin/files.sha256";

/// Writes the plugin anew and compares it.
pub(crate) fn run(setup: &Setup, _: &Way, report: &mut Report) -> Result<(), Failure> {
    let Some(folder) = &setup.given.plugin else {
        if setup.machine.plugin.is_some() {
            let why = "say with `Kit::plugin` where it is committed";
            report.left_out.push((Suite::Plugin, why.to_owned()));
        }
        return Ok(());
    };
    let fail = |what: String| {
        let help = "write it anew with `<program> plugin write`, and read the difference";
        setup.failure(Suite::Plugin, &folder.display().to_string(), what, help)
    };
    let project = setup.project().map_err(|error| fail(error.to_string()))?;
    let again = project.root().join("a \"new\" plugin");
    let said = project.person(&["plugin", "write", &again.to_string_lossy()]);
    let said = said.map_err(|error| fail(error.to_string()))?;
    if said.code != Some(0) {
        return Err(fail(format!("it cannot be written: {}", said.short())));
    }
    let (committed, written) = (below(folder), below(&again));
    // What a person put beside them is in no list.
    let list = committed
        .get(LIST)
        .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
    let list = list.unwrap_or_default();
    let listed = list
        .lines()
        .filter_map(|line| Some(line.split_once("  ")?.1.to_owned()));
    let names: BTreeSet<String> = listed.chain(written.keys().cloned()).collect();
    let stale: Vec<String> = names
        .into_iter()
        .filter(|name| committed.get(name) != written.get(name))
        .collect();
    if !stale.is_empty() {
        return Err(fail(format!(
            "stale, since the machine or a text of it has changed: {stale:?}"
        )));
    }
    report.tried.push((
        Suite::Plugin,
        format!("{} files are as the program writes them", written.len()),
    ));
    Ok(())
}

/// Returns the files below a folder: path, whether it is a program, bytes.
fn below(folder: &Path) -> std::collections::BTreeMap<String, (bool, Vec<u8>)> {
    let all: Files = files(folder);
    let file = |(path, bytes): (std::path::PathBuf, Option<Vec<u8>>)| {
        let is_program = path
            .metadata()
            .is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
        let name = path.strip_prefix(folder).ok()?.to_string_lossy().into_owned();
        Some((name, (is_program, bytes?)))
    };
    all.into_iter().filter_map(file).collect()
}
