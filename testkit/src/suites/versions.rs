//! A loop of a version that the program does not know is left as it is, and the person reads why.

use std::fs;
use std::io;
use std::path::Path;

use claudex_build::model::Held;

use super::input::answer;
use super::refusals::unchanged;
use crate::error::{Failure, Suite};
use crate::kit::Setup;
use crate::project::files;
use crate::report::Report;
use crate::runs::Loop;
use crate::search::Way;

/// A version that no machine has.
const UNKNOWN: &str = "00ff00ff00ff00ff";

/// Has a loop be of an unknown version, and stops.
pub(crate) fn run(setup: &Setup, way: &Way, report: &mut Report) -> Result<(), Failure> {
    if setup.machine.holder(Held::GraphHash).is_none() {
        let why =
            "the machine keeps no graph hash: a field with `holds = \"graph-hash\"` tells its versions apart";
        report.left_out.push((Suite::Migrations, why.to_owned()));
        return Ok(());
    }
    let held = Loop::begin(setup, way)?;
    let system = |error: io::Error| fail(&held, error.to_string());
    held.project.stop().map_err(system)?;
    let hash = claudex_build::graph_hash(&setup.machine);
    let shapes = held
        .project
        .root()
        .join(&setup.machine.state.folder.value)
        .join("machines");
    for (path, bytes) in [held.project.root(), held.project.home()]
        .iter()
        .flat_map(|folder| files(folder))
    {
        if path.starts_with(&shapes) {
            continue;
        }
        renamed(&path, bytes, &hash).map_err(system)?;
    }
    if shapes.is_dir() {
        fs::remove_dir_all(&shapes).map_err(system)?;
    }
    let said = unchanged(&held, "a stop in a loop of an unknown version", || {
        held.project.stop()
    });
    let said = said.map_err(|failure| Failure {
        suite: Suite::Migrations,
        ..failure
    })?;
    let answered = answer(&said).map_err(|what| fail(&held, what))?;
    if answered["decision"] != "approve" || answered["systemMessage"].as_str().is_none_or(str::is_empty) {
        return Err(fail(
            &held,
            format!("the turn was to end with a line for the person: {}", said.short()),
        ));
    }
    report.tried.push((
        Suite::Migrations,
        "a loop of an unknown version is left as it is".to_owned(),
    ));
    Ok(())
}

/// Has a file name another version.
fn renamed(path: &Path, bytes: Option<Vec<u8>>, hash: &str) -> io::Result<()> {
    match bytes.map(String::from_utf8) {
        Some(Ok(text)) if text.contains(hash) => fs::write(path, text.replace(hash, UNKNOWN)),
        _ => Ok(()),
    }
}

fn fail(held: &Loop<'_>, what: String) -> Failure {
    held.failure(
        Suite::Migrations,
        what,
        "refuse a version that no `[[migrations]]` entry takes, and change nothing",
    )
}
