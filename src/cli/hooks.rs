//! `stop`, `session-start`, `prompt` and `answer`: what Claude Code's hooks call. They always exit 0.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::app::{answer, hooks};
use claudex_loop::hook::answers::Told;
use claudex_loop::hook::input::{self, ReadLimits};
use claudex_loop::hook::prompt;
use claudex_loop::plan::caller::Caller;
use claudex_loop::plan::interview;
use claudex_loop::plan::locate::{self, SPEAKER};
use claudex_loop::plan::settings::Settings;
use claudex_loop::plan::stop::{self, Surroundings};
use claudex_loop::plan::typestate::Plan;
use claudex_loop::store::StateHome;
use claudex_loop::text;
use jiff::Timestamp;

use super::exit::{Exit, Failure};
use super::out;

/// The Stop hook.
pub(crate) fn stop() -> Exit {
    let here = Surroundings::from_env();
    hooks::stop(&SPEAKER, &here.budget, |input| {
        stop::decide(input, &here, Timestamp::now())
    })
}

/// The hook at the start of a session.
pub(crate) fn session_start() -> Exit {
    let here = Surroundings::from_env();
    hooks::session_start(&here.budget, |input| {
        stop::at_session_start(input, &here, Timestamp::now())
    })
}

/// The prompt hooks: keep what was typed after one of our commands. Says nothing: what they print reaches the model.
pub(crate) fn prompt() -> Exit {
    let kept = std::panic::catch_unwind(|| {
        let Ok(input) = input::read(io::stdin(), ReadLimits::default()) else {
            return;
        };
        let Some(base) = state_home() else {
            return;
        };
        let failed = |error: &dyn std::fmt::Display| {
            out::note(&format!("claudex: {}", text::one_line(&error.to_string(), 300)));
        };
        match prompt::store(&input, Timestamp::now(), &base) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return failed(&error),
        }
        // A command may begin a review before the first stop. A fault in the files is said by the command.
        let here = Surroundings::from_env();
        let folder = here.project.or(here.here);
        if let (Some(session), Some(folder)) = (&input.session_id, folder) {
            let root = locate::root(&folder);
            if let Ok(settings) = Settings::load(&root)
                && let Err(error) = settings.keep_seen(session, &root)
            {
                failed(&error);
            }
        }
    });
    let _ = kept;
    Exit::Complete
}

/// The hook on AskUserQuestion: takes the answers of an interview into the topic, or the answer to the question of a phase.
pub(crate) fn answer() -> Exit {
    let here = Surroundings::from_env();
    hooks::answer(&here.budget, |input| match interview::take(input, &here) {
        told if told == Told::default() => answer::take::<Plan>(&SPEAKER, input, &here),
        told => told,
    })
}

/// The person's own folder for what the prompt hooks keep.
fn state_home() -> Option<Utf8PathBuf> {
    StateHome::of_user().folder().map(Utf8Path::to_owned)
}

/// Takes what was typed after a command of this session; None: nothing was stored. Once taken it is gone.
pub(crate) fn take(command: &str, caller: &Caller) -> Result<Option<String>, Failure> {
    let (Some(base), Some(session)) = (state_home(), caller.session.as_deref()) else {
        return Ok(None);
    };
    prompt::take(session, command, Timestamp::now(), &base)
        .map(|prompt| prompt.map(|prompt| prompt.arguments))
        .map_err(|error| Failure::new(Exit::Internal, error))
}

/// `--from-prompt` without a stored prompt.
pub(crate) fn nothing_stored() -> Failure {
    Failure::plain(
        Exit::Usage,
        "claudex::prompt::none",
        "no arguments of this command are stored for this session".to_owned(),
        "type the slash command itself (it keeps them for ten minutes), or give the arguments here instead of --from-prompt. Where that is \
         what was typed, the client runs no hook of this plugin: claudex-loop doctor says why",
    )
}
