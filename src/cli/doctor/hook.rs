//! The Stop hook's whole way, with a stand-in for the client: a folder of our own, a loop in it, three stops.

use std::path::Path;

use camino::Utf8Path;
use serde_json::Value;

use super::{Check, Problem, child, launcher};

const REMEDY: &str = "install the program and the plugin again; if it stays, report it with this output";

/// A stop without a loop lets the turn end and makes nothing; with a loop that waits for its plan it holds the turn, and
/// after the plan was written it asks for the review.
pub(super) fn check(root: &Utf8Path) -> Check {
    let script = launcher::stop_script(root);
    let through = if script.is_some() {
        "through the plugin's script"
    } else {
        "without the plugin"
    };
    let result = round_trip(script.as_deref(), root)
        .map(|()| format!("three stops were answered as they should be, {through}"))
        .map_err(|what| Problem::new(format!("{what} ({through})"), REMEDY));
    Check::required("hook", result)
}

fn round_trip(script: Option<&Path>, root: &Utf8Path) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    let folder = tempfile::Builder::new()
        .prefix("claudex-doctor")
        .tempdir()
        .map_err(|error| format!("no temporary folder: {error}"))?;
    let folder = folder.path();
    // So that no repository above the temporary folder is taken for the project.
    std::fs::create_dir(folder.join(".git")).map_err(|error| format!("no temporary folder: {error}"))?;
    // What the loop leaves in the user's own folders goes with ours.
    let state = folder.join("state");
    let stop = || {
        let mut command = match script {
            Some(script) => {
                let mut command = child::command(Path::new("/bin/sh"), &[], folder, root);
                command.arg(script);
                command.env("CLAUDEX_LOOP_BIN", &program);
                command
            }
            None => child::command(&program, &["stop"], folder, root),
        };
        command.env("XDG_STATE_HOME", &state);
        let input = serde_json::json!({
            "session_id": "doctor", "hook_event_name": "Stop", "cwd": folder.to_str(), "stop_hook_active": false
        });
        decision(child::run(command, &input.to_string())?)
    };
    let (first, said) = stop()?;
    if first != "approve" {
        return Err(format!("a stop without a loop gave {first}: {said}"));
    }
    if folder.join(".claude").exists() {
        return Err("a stop without a loop made a folder".to_owned());
    }
    let mut start = child::command(&program, &["start", "plan", "doctor's own"], folder, root);
    start.env("XDG_STATE_HOME", &state);
    let started = child::run(start, "")?;
    if !started.status.success() {
        return Err(format!(
            "a loop in a folder of our own did not start: {}",
            started.err
        ));
    }
    let (second, said) = stop()?;
    if second != "block" || !said.contains("PLAN.md") {
        return Err(format!(
            "a stop before the plan was written gave {second}: {said}"
        ));
    }
    std::fs::write(folder.join("PLAN.md"), "# Plan\n").map_err(|error| format!("PLAN.md: {error}"))?;
    let (third, said) = stop()?;
    if third != "block" || !said.contains("claudex-loop review") {
        return Err(format!("a stop after the plan was written gave {third}: {said}"));
    }
    Ok(())
}

/// The decision and its reason or note, out of the one JSON object that a hook prints.
fn decision(output: child::Answer) -> Result<(String, String), String> {
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
