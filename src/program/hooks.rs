//! The hooks of a client: one JSON value in, one out, exit code 0.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

use super::app::Program;
use super::arguments::Hook;
use super::exit::{CommandResult, Exit};
use super::info::ProgramInfo;
use super::{caller, out, permission, question_answer, session_start, settings, stop};
use crate::hooks::input::{self, INPUT_TIMEOUT};
use crate::hooks::{HookOutput, Input, prompt};
use crate::text;

type Answer = fn(&Program, &Input) -> Option<HookOutput>;

/// Answers a hook of the client. Prints nothing after an internal error.
pub(super) fn answer(program: &Program, hook: Hook) -> Exit {
    let (event, answer): (_, Answer) = match hook {
        Hook::Stop => return stop::answer(program),
        Hook::Prompt => ("UserPromptSubmit", keep_prompt),
        Hook::Answer => ("PostToolUse", question_answer::answer),
        Hook::SessionStart => ("SessionStart", session_start::answer),
        Hook::PreCompact => ("PreCompact", session_start::note_compaction),
        Hook::PreToolUse => ("PreToolUse", permission::answer),
    };
    let output = catch_unwind(AssertUnwindSafe(|| {
        let input = input::read(std::io::stdin(), INPUT_TIMEOUT).ok()?;
        if caller::is_in_reviewer() {
            return None;
        }
        answer(program, &input)
    }));
    if let Ok(Some(output)) = output {
        out::text(&output.to_json(event));
    }
    Exit::Complete
}

fn keep_prompt(program: &Program, input: &Input) -> Option<HookOutput> {
    let info = program.info;
    let stored = prompt::store(input, info.plugin?, &info.home()?);
    let kept = stored.and_then(|is_ours| match &input.session_id {
        // The command may begin a review before the first stop.
        Some(session) if is_ours => settings::keep_environment(info, session),
        _ => Ok(()),
    });
    if let Err(error) = kept {
        let line = format!("cannot keep the command that was typed: {error}");
        out::note(&info.line(&text::one_line(&line, 300)));
    }
    None
}

/// Prints the hooks for `.claude/settings.json`. `asks` adds the hook on AskUserQuestion.
pub(super) fn print(info: &ProgramInfo, asks: bool) -> CommandResult {
    let path = std::env::current_exe().unwrap_or_default();
    let word = text::shell_word(path.to_str().unwrap_or(info.program));
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
