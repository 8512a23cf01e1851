//! The hooks of a client: one JSON value in, one out, exit code 0. The Stop hook is in `stop`.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::locate;
use super::out;
use super::settings::Settings;
use super::shell::quoted;
use super::surroundings::Surroundings;
use super::turn_end;
use crate::hooks::input::{self, INPUT_TIMEOUT};
use crate::hooks::{HookOutput, Input, prompt};
use crate::store::{Budget, StateHome};
use crate::text;

/// Answers a hook on an event such as `SessionStart`. Says nothing if something went wrong on our side.
pub fn answer(
    event: &'static str,
    budget: &Budget,
    tell: impl FnOnce(&Input) -> HookOutput,
) -> Exit {
    let told = catch_unwind(AssertUnwindSafe(|| {
        read(budget).map(|input| tell(&input)).unwrap_or_default()
    }));
    out::text(&told.unwrap_or_default().to_json(event));
    Exit::Complete
}

/// Answers the prompt hooks: keeps what was typed after one of our commands. Says nothing: what they print reaches the model.
pub fn prompt(info: &'static ProgramInfo, surroundings: &Surroundings) -> Exit {
    let kept = catch_unwind(AssertUnwindSafe(|| {
        let Ok(input) = input::read(io::stdin(), INPUT_TIMEOUT) else {
            return;
        };
        let home = StateHome::of_user(info.program);
        let (Some(home), Some(plugin)) = (home.folder(), info.plugin) else {
            return;
        };
        let failed = |error: &dyn std::fmt::Display| {
            out::note(&info.line(&text::one_line(&error.to_string(), 300)));
        };
        let stored = prompt::store(&input, plugin, home);
        // A session without a loop leaves no trace.
        if matches!(stored, Ok(true)) || !surroundings.stores(info, &input).is_empty() {
            turn_end::record_prompt(info, &input);
        }
        match stored {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                return failed(&format!("cannot keep the command that was typed: {error}"));
            }
        }
        // A command may begin a review before the first stop. A fault in the files is said by the command.
        let folder = surroundings.project.as_ref().or(surroundings.here.as_ref());
        if let (Some(session), Some(folder)) = (&input.session_id, folder) {
            let root = locate::root(info.state, folder);
            if let Ok(settings) = Settings::load(info, &root)
                && let Err(error) = settings.keep_seen(session)
            {
                failed(&error);
            }
        }
    }));
    let _ = kept;
    Exit::Complete
}

/// Reads the client's input, within the time that the call has left.
pub(super) fn read(budget: &Budget) -> serde_json::Result<Input> {
    budget.wait(INPUT_TIMEOUT, |timeout| input::read(io::stdin(), timeout))
}

/// The hooks as a settings file has them, calling a program by this path or name. The one on AskUserQuestion is for
/// machines that ask.
pub fn settings(program: &str, asks: bool) -> Value {
    let call = |verb: &str| json!({"type": "command", "command": format!("{} hook {verb}", quoted(program))});
    let mut hooks = json!({
        "Stop": [{"hooks": [call("stop")]}],
        "SessionStart": [{"hooks": [call("session-start")]}],
        "PreCompact": [{"hooks": [call("pre-compact")]}],
    });
    if asks {
        hooks["PostToolUse"] = json!([{"matcher": "AskUserQuestion", "hooks": [call("answer")]}]);
    }
    json!({ "hooks": hooks })
}

/// Prints the hooks of this program, for `.claude/settings.json` or a plugin's `hooks/hooks.json`.
///
/// # Errors
/// The system does not say where this program lies.
pub fn print(info: &ProgramInfo, asks: bool, by_name: bool) -> Result<Exit, Failure> {
    let program = if by_name {
        info.program.to_owned()
    } else {
        own_path()?
    };
    out::json(&settings(&program, asks));
    Ok(Exit::Complete)
}

fn own_path() -> Result<String, Failure> {
    let unknown = |problem: String| {
        Failure::plain(
            Exit::Internal,
            "claudex::hooks::path",
            problem,
            "put the program on the PATH, and take the hooks with --by-name",
        )
    };
    let path = std::env::current_exe().map_err(|error| {
        unknown(format!(
            "the system does not say where this program lies: {error}"
        ))
    })?;
    path.into_os_string()
        .into_string()
        .map_err(|path| unknown(format!("the path {} is not UTF-8", path.to_string_lossy())))
}
