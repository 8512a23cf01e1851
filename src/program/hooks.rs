//! The hooks of a client: one JSON value in, one out, exit code 0.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

use super::app::Program;
use super::arguments::Hook;
use super::exit::{CommandResult, Exit};
use super::info::ProgramInfo;
use super::locate::Surroundings;
use super::settings::{self, Settings};
use super::shell::quote;
use super::{locate, out, permission, question_answer, session_start, stop};
use crate::hooks::input::{self, INPUT_TIMEOUT};
use crate::hooks::{HookOutput, Input, prompt};
use crate::text;

type Answer = fn(&Program, &Input, &Surroundings) -> HookOutput;

/// Answers a hook of the client. Prints nothing after an internal error.
pub(super) fn answer(program: &Program, hook: Hook) -> Exit {
    let surroundings = &Surroundings::from_env();
    let (event, answer): (_, Answer) = match hook {
        Hook::Stop => return stop::answer(program, surroundings),
        Hook::Prompt => ("UserPromptSubmit", keep_prompt),
        Hook::Answer => ("PostToolUse", question_answer::answer),
        Hook::SessionStart => ("SessionStart", session_start::answer),
        Hook::PreCompact => ("PreCompact", session_start::note_compaction),
        Hook::PreToolUse => ("PreToolUse", permission::answer),
    };
    let output = catch_unwind(AssertUnwindSafe(|| {
        let input = input::read(std::io::stdin(), INPUT_TIMEOUT).ok()?;
        Some(answer(program, &input, surroundings))
    }));
    if let Ok(Some(output)) = output {
        out::text(&output.to_json(event));
    }
    Exit::Complete
}

fn keep_prompt(program: &Program, input: &Input, surroundings: &Surroundings) -> HookOutput {
    let info = program.info;
    if let Err(error) = try_keep_prompt(info, input, surroundings) {
        out::note(&info.line(&text::one_line(&error, 300)));
    }
    HookOutput::default()
}

fn try_keep_prompt(
    info: &ProgramInfo,
    input: &Input,
    surroundings: &Surroundings,
) -> Result<(), String> {
    let (Some(home), Some(plugin)) = (info.home(), info.plugin) else {
        return Ok(());
    };
    let is_ours = prompt::store(input, plugin, &home)
        .map_err(|error| format!("cannot keep the command that was typed: {error}"))?;

    // A command may begin a review before the first stop. It reports unusable settings itself.
    if is_ours
        && let Some(session) = &input.session_id
        && let Some(folder) = surroundings.project.as_ref().or(surroundings.here.as_ref())
        && Settings::load(info, locate::nearest(info.state, folder).root()).is_ok()
    {
        settings::keep_environment(info, session).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Prints the hooks for `.claude/settings.json`. `asks` adds the hook on AskUserQuestion.
pub(super) fn print(info: &ProgramInfo, asks: bool) -> CommandResult {
    let path = std::env::current_exe().unwrap_or_default();
    let word = quote(path.to_str().unwrap_or(info.program));
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
