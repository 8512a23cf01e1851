//! Which of a session's loops its stops drive, where a machine has many: the one that was changed last, or that `use` chose.
//!
//! What was chosen holds until that loop is over or another one is chosen. It is kept in the user's own folder, per session
//! ([`Chosen`]): a repository cannot choose.

use std::cmp::Reverse;

use super::assembled::App;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::{locate, loops, messages, out};
use crate::behaviours::words;
use crate::hooks::seen::{Chosen, SessionRecord as _};
use crate::machine::LoopHandle as _;
use crate::store::{Active, Listed, LoopId, StateHome, Store};
use crate::text;

/// Returns whether a session may have several loops of a machine.
pub(super) fn has_many(info: &ProgramInfo) -> bool {
    info.state.active == Active::Many
}

/// Returns whether no session has taken a loop yet.
pub(super) fn is_nobodys(listed: &Listed) -> bool {
    matches!(listed.session.as_deref(), None | Some("" | UNKNOWN))
}

/// Puts loops of a session, and of nobody's, in the order in which its stops would drive them: those of nobody's behind its own. Where
/// the machine has many, the one that was chosen is the first, whosever it is, and the others follow as they were changed.
pub(super) fn order(info: &ProgramInfo, session: &str, loops: &mut [(Store, Listed)]) {
    if !has_many(info) {
        loops.sort_by_key(|(_, listed)| is_nobodys(listed));
        return;
    }
    let home = StateHome::of_user(info.program);
    let chosen = home.folder().and_then(|home| Chosen::of(session, home));
    let is_chosen = |(store, listed): &(Store, Listed)| {
        let is =
            |chosen: &Chosen| chosen.id == listed.id.as_str() && chosen.folder == store.folder();
        chosen.as_ref().is_some_and(is)
    };
    loops.sort_by_key(|one| (!is_chosen(one), is_nobodys(&one.1), Reverse(one.1.modified)));
}

/// Returns the loop that the stops of a session drive, of those that are under way.
pub(super) fn driven<'a>(
    info: &ProgramInfo,
    session: &str,
    active: &'a [(Store, Listed)],
) -> Option<&'a LoopId> {
    let own = active.iter().filter(|(_, listed)| {
        listed.session.as_deref() == Some(session)
            && !is_nobodys(listed)
            && listed.problem.is_none()
    });
    let mut own: Vec<(Store, Listed)> = own.cloned().collect();
    order(info, session, &mut own);
    let (_, first) = own.into_iter().next()?;
    let mut ids = active.iter().map(|(_, listed)| &listed.id);
    ids.find(|id| **id == first.id)
}

/// Says which loops a call could choose: those of its session and of nobody's, from a terminal all that are under way.
fn there_are(info: &ProgramInfo, caller: &Caller) -> Result<String, Failure> {
    let mut active = locate::active_loops(info.state, &loops::here()?);
    active.retain(|(_, listed)| match &caller.session {
        Some(session) => is_nobodys(listed) || listed.session.as_ref() == Some(session),
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
    let is_nobodys = [UNKNOWN, ""].contains(&owner.as_str());
    let session = match &caller.session {
        _ if messages::phase(raw).terminal => {
            let why = format!("loop {id} is over");
            return Err(refused(Exit::Refused, why, &there_are(info, &caller)?));
        }
        Some(session) => session.clone(),
        None if is_nobodys => {
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
