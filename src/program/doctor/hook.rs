//! The Stop hook's way, with a stand-in for the client: a stop in a folder of our own, where there is no loop.

use std::path::Path;

use camino::Utf8Path;
use serde_json::Value;

use super::{Check, Problem, child, launcher};
use crate::program::info::ProgramInfo;

const REMEDY: &str =
    "install the program and the plugin again; if it stays, report it with this output";

/// Checks that a stop without a loop lets the turn end and makes nothing.
pub(super) fn check(info: &ProgramInfo, root: &Utf8Path) -> Check {
    let through = through(info, root);
    let stopped = folder().and_then(|folder| {
        let (decision, said) = stop(info, folder.path(), root)?;
        if decision != "approve" {
            return Err(format!("a stop without a loop gave {decision}: {said}"));
        }
        match folder.path().join(info.state.folder).exists() {
            true => Err("a stop without a loop made a folder".to_owned()),
            false => Ok(format!(
                "a stop without a loop lets the turn end, {through}"
            )),
        }
    });
    Check::required(
        "hook",
        stopped.map_err(|what| Problem::new(format!("{what} ({through})"), REMEDY)),
    )
}

/// Says which way the stops of these checks take.
pub fn through(info: &ProgramInfo, root: &Utf8Path) -> &'static str {
    match launcher::stop_script(info, root) {
        Some(_) => "through the plugin's script",
        None => "without the plugin",
    }
}

/// Makes a folder of our own for a check: no repository above it is taken for the project.
///
/// # Errors
/// The system refuses: the sentence says why.
pub fn folder() -> Result<tempfile::TempDir, String> {
    let folder = tempfile::Builder::new()
        .prefix("loop-doctor")
        .tempdir()
        .map_err(|error| format!("no temporary folder: {error}"))?;
    std::fs::create_dir(folder.path().join(".git"))
        .map_err(|error| format!("no temporary folder: {error}"))?;
    Ok(folder)
}

/// Prepares a call of this program in that folder. What it leaves in the user's own folders goes with the folder.
///
/// # Errors
/// The system does not say where this program lies.
pub fn call(
    arguments: &[&str],
    folder: &Path,
    root: &Utf8Path,
) -> Result<std::process::Command, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    let mut command = child::command(&program, arguments, folder, root);
    command.env("XDG_STATE_HOME", folder.join("state"));
    Ok(command)
}

/// Has the Stop hook answer in that folder, through the plugin's script where there is one. Returns the decision, and its reason or
/// note.
///
/// # Errors
/// The hook did not answer as hooks do: the sentence says how.
pub fn stop(
    info: &ProgramInfo,
    folder: &Path,
    root: &Utf8Path,
) -> Result<(String, String), String> {
    let command = match launcher::stop_script(info, root) {
        Some(script) => {
            let program =
                std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
            let mut command = child::command(Path::new("/bin/sh"), &[], folder, root);
            command.arg(script);
            command.env(launcher::named(info), program);
            command.env("XDG_STATE_HOME", folder.join("state"));
            command
        }
        None => call(&["hook", "stop"], folder, root)?,
    };
    let input = serde_json::json!({
        "session_id": "doctor", "hook_event_name": "Stop", "cwd": folder.to_str(), "stop_hook_active": false
    });
    decision(&child::run(command, &input.to_string())?)
}

/// Reads the decision and its reason or note out of the one JSON object that a hook prints.
fn decision(output: &child::Answer) -> Result<(String, String), String> {
    if !output.status.success() {
        return Err(format!("the hook ended with {}", output.status));
    }
    let answer: Value = serde_json::from_str(&output.out)
        .map_err(|error| format!("the hook printed no single JSON value: {error}"))?;
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    let decision = text("decision").ok_or("the hook printed no decision")?;
    Ok((
        decision,
        text("reason")
            .or_else(|| text("systemMessage"))
            .unwrap_or_default(),
    ))
}
