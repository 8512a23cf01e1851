//! The hooks of a client: one JSON value in, one out, exit code 0.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

use super::app::Program;
use super::exit::{CommandResult, Exit};
use super::info::ProgramInfo;
use super::{caller, out, permission, question_answer, session_start, settings, stop};
use crate::hooks::input::{self, INPUT_TIMEOUT};
use crate::hooks::{HookOutput, Input, prompt};
use crate::text;

pub(super) type Answer = fn(&Program, &Input) -> Option<HookOutput>;

/// The hooks except `stop`, by the names of their scripts: the client's event and the answer.
pub(super) const HOOKS: [(&str, &str, Answer); 5] = [
    ("prompt", "UserPromptSubmit", keep_prompt),
    ("answer", "PostToolUse", question_answer::answer),
    ("session-start", "SessionStart", session_start::answer),
    ("pre-compact", "PreCompact", session_start::note_compaction),
    ("pre-tool-use", "PreToolUse", permission::answer),
];

/// Answers a hook of the client, if there is one of this name. Prints nothing after an internal
/// error.
pub(super) fn answer(program: &Program, name: &str) -> Option<Exit> {
    if name == "stop" {
        return Some(stop::answer(program));
    }
    let (_, event, answer) = HOOKS.iter().find(|(known, ..)| *known == name)?;
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
    Some(Exit::Complete)
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
