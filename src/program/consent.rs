//! Questions in the terminal before a command that the user or another session may regret.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::SystemTime;

use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::session_start::{self, RECENT};
use super::{durations, locate, loops};
use crate::store::{Listed, LoopId};
use crate::text;

/// Asks on the terminal; only a yes is one.
pub(super) fn asked(question: &str) -> bool {
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// Asks whether a loop is taken from a session that may still be at work on it. `again` is the command as it is typed.
///
/// # Errors
/// There is no terminal to ask on.
pub fn to_take_over(info: &ProgramInfo, id: &LoopId, again: &str) -> Result<bool, Failure> {
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
            "claudex::adopt::consent",
            format!(
                "session {owner} may be at work on loop {id}: its last sign of life was {age} ago, and there is no terminal to ask on"
            ),
            &format!(
                "nothing was changed; if that session is over:\n    {} {again} --yes",
                info.program
            ),
        ));
    }
    Ok(asked(&format!(
        "Session {owner} may be at work on loop {id}: its last sign of life was {age} ago.\nTake the loop over?"
    )))
}
