//! `adopt`: the user takes a loop over into this session.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::SystemTime;

use super::arguments::LoopArgs;
use super::builder::Program;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::session_start::{self, RECENT};
use super::{durations, last_message, locate, loops, messages, out};
use crate::machine::{Actor, Raw};
use crate::store::{Listed, LoopId};
use crate::text;

/// Takes a loop over into this session. Asks first if another session may be at work on it, but not after a slash command.
pub(super) fn adopt(program: &Program, target: &LoopArgs, yes: bool) -> Result<Exit, Failure> {
    let info = program.info;
    let (id, _) = loops::named_by_user(info, target, "adopt")?;
    let (store, id) = match &id {
        Some(id) => loops::find(info, Some(id))?,
        None => loops::find_active(info)?,
    };
    if !yes && !target.from_prompt && !is_consented(info, &id, &format!("adopt {id}"))? {
        out::line("Nothing was changed.");
        return Ok(Exit::Refused);
    }
    let taken = store.take_over(&id, &Actor::Person.to_string());
    if taken.map_err(|error| Failure::new(Exit::Refused, error))? {
        store.log(&format!("{id} taken over by the user"));
        let root = store.root();
        out::line(&format!(
            "Loop {id} was taken over: it belongs to {root} now."
        ));
    }
    let held = loops::open(program, &store, &id, Actor::Person)?;
    let exit = adopt_held(held.raw())?;
    last_message::print(program, &*held);
    Ok(exit)
}

/// Takes a loop over into the caller's session. A terminal has no session, so there the next session that ends a turn takes it.
///
/// # Errors
/// Returns an error if the loop is over or cannot be changed.
pub fn adopt_held(raw: &Raw) -> Result<Exit, Failure> {
    let store = raw.store();
    let id = raw.id();
    let actor = raw.actor();
    if messages::phase(raw).terminal {
        return Err(loops::over(raw));
    }
    let session = Caller::from_env()
        .session
        .unwrap_or_else(|| UNKNOWN.to_owned());
    store
        .set_session(raw.record(), &session, "adopt", &actor.to_string())
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    store.log(&format!("{id} adopted by session {session}"));
    out::line(&if session == UNKNOWN {
        format!(
            "Loop {id} belongs to no session now: the next session that ends a turn in this project takes it."
        )
    } else {
        format!("Loop {id} belongs to this session now.")
    });
    Ok(Exit::Complete)
}

/// Asks on the terminal; only a yes is one.
pub(super) fn confirm(question: &str) -> bool {
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// Asks whether a loop is taken from a session that may still be at work on it. `again` is the command as it is typed.
///
/// # Errors
/// There is no terminal to ask on.
pub fn is_consented(info: &ProgramInfo, id: &LoopId, again: &str) -> Result<bool, Failure> {
    let caller = Caller::from_env();
    let is_anothers = |listed: &Listed| {
        let owner = listed.session.as_deref();
        let is_own = [Some(UNKNOWN), Some(""), caller.session.as_deref(), None].contains(&owner);
        // One that was not started here is taken up from a copy, and no session waits for that.
        listed.id == *id
            && listed.ours
            && !is_own
            && !session_start::is_for_any_session(info, listed)
    };
    let active = locate::active_loops(info.state, &loops::here()?);
    let Some((_, listed)) = active.into_iter().find(|(_, listed)| is_anothers(listed)) else {
        return Ok(true);
    };
    let idle = SystemTime::now().duration_since(listed.modified);
    let idle = idle.unwrap_or_default();
    if idle >= RECENT {
        return Ok(true);
    }
    let owner = text::one_line(listed.session.as_deref().unwrap_or_default(), 100);
    let age = durations::elapsed(idle.as_secs());
    if !io::stdin().is_terminal() {
        return Err(Failure::plain(
            Exit::Refused,
            format!(
                "session {owner} may be at work on loop {id}: its last sign of life was {age} ago, and there is no terminal to ask on"
            ),
            &format!(
                "nothing was changed; if that session is over:\n    {} {again} --yes",
                info.program
            ),
        ));
    }
    Ok(confirm(&format!(
        "Session {owner} may be at work on loop {id}: its last sign of life was {age} ago.\nTake the loop over?"
    )))
}
