//! The hooks of a client: one JSON value in, one out, exit code 0. The Stop hook is in `stop`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::locate;
use super::out;
use super::settings::Settings;
use super::shell::quote;
use super::surroundings::Surroundings;
use crate::hooks::input::{self, INPUT_TIMEOUT};
use crate::hooks::{HookOutput, Input, Permission, prompt};
use crate::store::StateHome;
use crate::text;

/// Reads the input of a hook and answers it. Returns nothing after a fault of ours.
fn guarded<T: Default>(answer: impl FnOnce(&Input) -> T) -> T {
    let answer =
        AssertUnwindSafe(|| Some(answer(&input::read(std::io::stdin(), INPUT_TIMEOUT).ok()?)));
    catch_unwind(answer).ok().flatten().unwrap_or_default()
}

/// Answers a hook on an event such as `SessionStart`.
pub(super) fn answer(event: &'static str, answer: impl FnOnce(&Input) -> HookOutput) {
    out::text(&guarded(answer).to_json(event));
}

/// Answers the PreToolUse hook. Prints nothing if the client is to decide as usual.
pub(super) fn permit(decide: impl FnOnce(&Input) -> Option<Permission>) {
    if let Some(permission) = guarded(decide) {
        out::text(&permission.to_json());
    }
}

/// Answers the prompt hooks: keeps the text typed after one of our commands. Prints nothing on stdout, which reaches the model.
pub(super) fn prompt(info: &'static ProgramInfo, surroundings: &Surroundings) {
    guarded(|input| {
        if let Err(error) = keep_prompt(info, surroundings, input) {
            out::note(&info.line(&text::one_line(&error, 300)));
        }
    });
}

/// Keeps a typed command, and the session's environment.
fn keep_prompt(
    info: &'static ProgramInfo,
    surroundings: &Surroundings,
    input: &Input,
) -> Result<(), String> {
    let home = StateHome::of_user(info.program);
    let (Some(home), Some(plugin)) = (home.folder(), info.plugin) else {
        return Ok(());
    };
    let is_ours = prompt::store(input, plugin, home)
        .map_err(|error| format!("cannot keep the command that was typed: {error}"))?;

    // A command may begin a review before the first stop. It reports unusable settings itself.
    let folder = surroundings.project.as_ref().or(surroundings.here.as_ref());
    let (true, Some(session), Some(folder)) = (is_ours, &input.session_id, folder) else {
        return Ok(());
    };
    match Settings::load(info, &locate::root(info.state, folder)) {
        Ok(settings) => settings
            .keep_seen(session)
            .map_err(|error| error.to_string()),
        Err(_) => Ok(()),
    }
}

/// Prints the hooks of this program, for `.claude/settings.json`. `asks` adds the hook on AskUserQuestion.
pub(super) fn print(info: &ProgramInfo, asks: bool, by_name: bool) -> Result<Exit, Failure> {
    let file = std::env::current_exe().ok();
    let path = file.and_then(|file| file.into_os_string().into_string().ok());
    let name = Some(info.program.to_owned());
    let call = if by_name { name } else { path };
    let program = call.ok_or_else(|| {
        Failure::with_help(
            Exit::Internal,
            "the path of this program is unknown or not UTF-8".to_owned(),
            "put the program on the PATH, and use --by-name",
        )
    })?;
    let word = quote(&program);
    let call = |verb: &str| json!({"type": "command", "command": format!("{word} hook {verb}")});
    let mut hooks = json!({
        "Stop": [{"hooks": [call("stop")]}],
        "SessionStart": [{"hooks": [call("session-start")]}],
        "PreCompact": [{"hooks": [call("pre-compact")]}],
        "PreToolUse": [{"matcher": "Bash|Edit|Write", "hooks": [call("pre-tool-use")]}],
    });
    if asks {
        hooks["PostToolUse"] = json!([{"matcher": "AskUserQuestion", "hooks": [call("answer")]}]);
    }
    out::json(&json!({ "hooks": hooks }));
    Ok(Exit::Complete)
}
