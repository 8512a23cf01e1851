//! A loop of a version that the program does not know is left as it is, and the person reads why.

use std::fs;

use claudex_build::model::Held;

use super::Said;
use super::input::answer;
use super::refusals::unchanged;
use crate::error::Wrong;
use crate::project::{files, remove};
use crate::runs::Loop;
use crate::search::Way;

/// A version that no machine has.
const UNKNOWN: &str = "00ff00ff00ff00ff";

/// Has a loop be of an unknown version, whose shape is nowhere, and stops.
pub(crate) fn run(held: &mut Loop<'_>, _: &Way) -> Result<Said, Wrong> {
    if held.setup.machine.holder(Held::GraphHash).is_none() {
        let why =
            "the machine keeps no graph hash: a field with `holds = \"graph-hash\"` tells its versions apart";
        return Ok(Said::LeftOut(why));
    }
    held.project.stop()?;
    let hash = claudex_build::graph_hash(&held.setup.machine);
    let folder = held.project.root().join(&held.setup.machine.state.folder.value);
    remove(&folder.join("machines"))?;
    for (path, bytes) in files(held.project.top()) {
        match bytes.map(String::from_utf8) {
            Some(Ok(text)) if text.contains(&hash) => fs::write(path, text.replace(&hash, UNKNOWN))?,
            _ => {}
        }
    }
    let said = unchanged(held, "a stop in a loop of an unknown version", || {
        held.project.stop()
    })?;
    let answered = answer(&said)?;
    if answered["decision"] != "approve" || answered["systemMessage"].as_str().is_none_or(str::is_empty) {
        return Err(format!("the turn was to end with a line for the person: {}", said.short()).into());
    }
    Ok(Said::Tried(
        "a loop of an unknown version is left as it is".to_owned(),
    ))
}
