//! Whether the commands that the machine's phases run are configured, and installed.

use std::collections::BTreeSet;

use camino::Utf8Path;

use super::{Check, Problem};
use crate::program::info::ProgramInfo;
use crate::program::settings::{Settings, user_path};

/// Checks each command that a phase runs, once, in the order of the phases.
pub(super) fn checks(info: &ProgramInfo, settings: &Settings, root: &Utf8Path) -> Vec<Check> {
    let mut seen = BTreeSet::new();
    let behaviours = info
        .table
        .phases
        .iter()
        .filter_map(|phase| phase.on_stop.as_ref());
    behaviours
        .filter(|behaviour| behaviour.name == "run")
        .filter_map(|behaviour| behaviour.parameter("command"))
        .filter(|name| seen.insert(*name))
        .map(|name| Check::required("run", command(name, settings, root)))
        .collect()
}

fn command(name: &str, settings: &Settings, root: &Utf8Path) -> Result<String, Problem> {
    let file = user_path().map_or_else(
        |_| "your configuration".to_owned(),
        |path| path.into_string(),
    );
    match settings.commands.get(name) {
        Some(command) if command.is_installed(root) => {
            Ok(format!("{name} runs {}", command.program))
        }
        Some(command) => Err(Problem::new(
            format!(
                "{name}: its program {} is not installed, or not in PATH outside of the project",
                command.program
            ),
            format!("install it, or name another in [commands.{name}] of {file}"),
        )),
        None => Err(Problem::new(
            format!("{name} is not configured, and a loop waits where it is to run"),
            format!("add [commands.{name}] with its program to {file}"),
        )),
    }
}
