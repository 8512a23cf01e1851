//! `use`: the user chooses which loop the stops of a session drive.

use super::app::App;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::session_loops::is_unowned;
use super::{locate, loops, messages, out};
use crate::behaviours::words;
use crate::hooks::seen::{Chosen, SessionRecord as _};
use crate::machine::LoopHandle as _;
use crate::store::StateHome;
use crate::text;

/// Says which loops a call could choose: those of its session and of nobody's, from a terminal all that are under way.
fn there_are(info: &ProgramInfo, caller: &Caller) -> Result<String, Failure> {
    let mut active = locate::active_loops(info.state, &loops::here()?);
    active.retain(|(_, listed)| match &caller.session {
        Some(session) => is_unowned(listed) || listed.session.as_ref() == Some(session),
        None => true,
    });
    let program = info.program;
    if active.is_empty() {
        return Ok(format!(
            "there is none to choose; those that there are:\n    {program} list"
        ));
    }
    let lines: Vec<String> = active
        .iter()
        .map(|(_, listed)| format!("{program} use {}", listed.id))
        .collect();
    Ok(format!("name one:{}", words::lines(&lines)))
}

/// Has the stops of a session drive a loop: of this session, or, from a terminal, of the one that has the loop.
pub(super) fn choose<M: App>(id: Option<&str>) -> Result<Exit, Failure> {
    let info = M::INFO;
    let caller = Caller::from_env();
    let refused = |exit, why: String, help: &str| Failure::plain(exit, "claudex::use", why, help);
    let Some(id) = id else {
        let why = "which loop is to be driven?".to_owned();
        return Err(refused(Exit::Usage, why, &there_are(info, &caller)?));
    };
    let found = locate::by_id(info, &loops::here()?, id).map_err(|error| {
        let exit = match error {
            locate::NotFound::BadId { .. } => Exit::Usage,
            _ => Exit::Refused,
        };
        (exit, error.to_string())
    });
    let (store, id) = match found {
        Ok(found) => found,
        Err((exit, why)) => return Err(refused(exit, why, &there_are(info, &caller)?)),
    };
    let held = loops::open::<M>(&store, &id, caller.actor(false))?;
    let raw = held.raw();
    let owner = raw.text(info.state.fields.session);
    let is_unowned = [UNKNOWN, ""].contains(&owner.as_str());
    let session = match &caller.session {
        _ if messages::phase(raw).terminal => {
            let why = format!("loop {id} is over");
            return Err(refused(Exit::Refused, why, &there_are(info, &caller)?));
        }
        Some(session) => session.clone(),
        None if is_unowned => {
            let help = "nothing has to be chosen: the first session that ends a turn here takes it";
            return Err(refused(
                Exit::Refused,
                format!("loop {id} belongs to no session yet"),
                help,
            ));
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
        refused(
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
