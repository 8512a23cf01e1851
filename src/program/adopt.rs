//! `adopt`: the user takes a loop over into this session.

use std::io::{self, BufRead, IsTerminal, Write};

use super::arguments::LoopArgs;
use super::builder::Program;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Ended, Exit, Failure};
use super::info::ProgramInfo;
use super::locate::{StateFolders, owner};
use super::session_start::{MAX_QUIET_TIME, is_for_any_session};
use super::{durations, loops, messages, out};
use crate::machine::{Actor, Raw};
use crate::store::LoopId;
use crate::text;

/// Takes a loop over into this session. Asks first if another session may be at work on it, but not after a slash command.
pub(super) fn adopt(program: &Program, target: &LoopArgs, yes: bool) -> Ended {
    let info = program.info;
    loops::person_only(info, target.actor(), "adopt", target.id.as_deref())?;
    let (store, id) = match target.id.as_deref() {
        None => loops::find_active(info)?,
        id => loops::find(info, id)?,
    };
    if !yes && !target.from_prompt {
        check_consent(info, &id)?;
    }
    let taken_over = store.take_over(&id, &Actor::Person.to_string());
    if taken_over.map_err(Failure::refusal)? {
        store.log(&format!("{id} taken over by the user"));
        let root = store.root();
        out::line(&format!(
            "Loop {id} was taken over: it belongs to {root} now."
        ));
    }
    let held = loops::open(program, &store, &id, Actor::Person)?;
    adopt_held(held.raw())?;
    messages::print_last(program, &*held);
    Ok(Exit::Complete)
}

/// Takes a loop over into the caller's session. A terminal has no session, so there the next session that ends a turn takes it.
///
/// # Errors
/// Returns an error if the loop is over or cannot be changed.
pub fn adopt_held(raw: &Raw) -> Result<(), Failure> {
    loops::check_active(raw)?;
    let store = raw.store();
    let id = raw.id();
    let session = Caller::from_env().session;
    let owner = session.as_deref().unwrap_or(UNKNOWN);
    store
        .set_session(raw.record(), owner, "adopt", &raw.actor().to_string())
        .map_err(Failure::internal)?;
    store.log(&format!("{id} adopted by session {owner}"));
    out::line(&match session {
        Some(_) => format!("Loop {id} belongs to this session now."),
        None => format!(
            "Loop {id} belongs to no session now: the next session that ends a turn in this project takes it."
        ),
    });
    Ok(())
}

/// Asks on the terminal; only a yes is one. Without a terminal, `problem` and `help` refuse the command.
pub(super) fn confirm(question: &str, problem: &str, help: &str) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::refuse(problem, help));
    }
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::refuse("you did not agree", "nothing was changed")),
    }
}

/// Asks before a loop is taken from a session that may still be at work on it.
///
/// # Errors
/// Returns an error if the user does not agree, or cannot be asked without a terminal.
pub fn check_consent(info: &ProgramInfo, id: &LoopId) -> Result<(), Failure> {
    let session = Caller::from_env().session;
    let mut active = StateFolders::find_here(info.state)?.active();
    active.retain(|(_, one)| {
        // One that was not started here is taken up from a copy, and no session waits for that.
        one.id == *id
            && one.problem.is_none()
            && owner(one).is_some()
            && one.session != session
            && !is_for_any_session(info, one)
    });
    let Some((_, listed)) = active.first() else {
        return Ok(());
    };
    let idle = listed.modified.elapsed().unwrap_or_default();
    if idle >= MAX_QUIET_TIME {
        return Ok(());
    }
    let owner = text::one_line(listed.session.as_deref().unwrap_or_default(), 100);
    let age = durations::elapsed(idle.as_secs());
    let risk =
        format!("session {owner} may be working on loop {id}: its last sign of life was {age} ago");
    let help = format!(
        "nothing was changed; if that session is over:\n    {} adopt {id} --yes",
        info.program
    );
    confirm(
        &format!("{risk}.\nTake the loop over?"),
        &format!("{risk}; you cannot be asked without a terminal"),
        &help,
    )
}
