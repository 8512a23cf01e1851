//! A loop follows its session through a compaction that gives the session a new id.

use std::env;

use camino::Utf8PathBuf;

use super::builder::Program;
use super::info::ProgramInfo;
use super::locate::{StateFolders, Surroundings};
use crate::hooks::seen::{Compacted, Seen, SessionRecord as _};
use crate::hooks::{HookOutput, Input};
use crate::machine::Actor;
use crate::store::{LoopId, StateHome};

/// The variable with the client's process id. The plugin's hooks set it if the client does not.
const CLIENT: &str = "CLAUDE_PID";

/// Returns the user's folder of the program, the input's session, and its client's process id.
fn identify(info: &ProgramInfo, input: &Input) -> Option<(Utf8PathBuf, String, String)> {
    let home = StateHome::of_user(info.program).folder()?.to_owned();
    Some((home, input.session_id.clone()?, env::var(CLIENT).ok()?))
}

/// Notes, before a compaction, which session is compacted, if it has a loop here.
pub(super) fn note(program: &Program, input: &Input, surroundings: &Surroundings) -> HookOutput {
    let info = program.info;
    if let Some((home, session, client)) = identify(info, input)
        && let Some((store, id)) = surroundings.folders(info, input).owned(&session).first()
        && let Err(error) = (Compacted { session }).keep(&client, &home)
    {
        store.log(&format!("{id} cannot note the compaction: {error}"));
    }
    HookOutput::default()
}

/// Takes the loops of the session that this client has just compacted over into the session that goes on. Returns them.
pub(super) fn follow(
    program: &Program,
    input: &Input,
    folders: &StateFolders,
) -> Option<Vec<LoopId>> {
    let (home, session, client) = identify(program.info, input)?;
    let before = Compacted::load(&client, &home)?.session;
    if before == session {
        return None;
    }
    let mut followed = Vec::new();
    for (store, id) in folders.owned(&before) {
        // The next stop reports a loop that cannot be opened.
        let Ok(held) = program.app.open(&store, &id, Actor::Hook) else {
            continue;
        };
        match store.set_session(held.raw().record(), &session, "adopt", "hook") {
            Ok(_) => followed.push(id),
            Err(error) => store.log(&format!("{id} cannot follow its session: {error}")),
        }
    }
    // The record of the session follows, too. Without it the next stop makes a new one.
    let _ = Seen::load(&before, &home).map(|seen| seen.keep(&session, &home));
    Some(followed)
}
