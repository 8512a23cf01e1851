//! `use`: the user chooses which loop the stops of a session drive.

use super::builder::Program;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::{loops, messages, out};
use crate::hooks::seen::{Chosen, SessionRecord as _};
use crate::store::StateHome;
use crate::text;

/// Makes the stops of a session drive a loop: of this session, or, from a terminal, of the session that has the loop.
pub(super) fn choose(program: &Program, id: &str) -> Result<Exit, Failure> {
    let info = program.info;
    let caller = Caller::from_env();
    let (store, id) = loops::find(info, Some(id))?;
    let held = loops::open(program, &store, &id, caller.actor(false))?;
    let raw = held.raw();
    if messages::phase(raw).terminal {
        return Err(loops::over(raw));
    }
    let owner = raw.text(info.state.fields.session);
    let session = match &caller.session {
        Some(session) => session.clone(),
        None if [UNKNOWN, ""].contains(&owner.as_str()) => {
            let why = format!("loop {id} belongs to no session yet");
            let help =
                "there is nothing to choose: the first session that ends a turn here takes it";
            return Err(Failure::plain(Exit::Refused, why, help));
        }
        None => owner,
    };
    let home = StateHome::of_user(info.program);
    let home = home
        .checked()
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let chosen = Chosen {
        folder: store.folder().to_owned(),
        id: id.to_string(),
    };
    chosen.keep(&session, home).map_err(|error| {
        let why = format!("which loop session {session} drives cannot be kept: {error}");
        Failure::plain(
            Exit::Internal,
            why,
            "make the folder writable for you alone, and try again",
        )
    })?;
    store.log(&format!("{id} chosen for the stops of session {session}"));
    out::line(&format!(
        "The stops of {} drive loop {id} now, until it is over or another one is chosen.",
        match caller.session {
            Some(_) => "this session".to_owned(),
            None => format!("session {}", text::one_line(&session, 200)),
        }
    ));
    Ok(Exit::Complete)
}
