//! `use`: the user chooses which loop the stops of a session drive.

use super::builder::Program;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::session_loops::is_unowned;
use super::{locate, loops, messages, out};
use crate::hooks::seen::{Chosen, SessionRecord as _};
use crate::store::StateHome;
use crate::text;

/// Makes the stops of a session drive a loop: of this session, or, from a terminal, of the session that has the loop.
pub(super) fn choose(program: &Program, id: Option<&str>) -> Result<Exit, Failure> {
    let info = program.info;
    let caller = Caller::from_env();
    let refused = |exit, why: String, help: &str| Failure::plain(exit, why, help);
    let Some(id) = id else {
        let why = "no loop was given".to_owned();
        return Err(refused(Exit::Usage, why, &list_choices(info, &caller)?));
    };
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
            return Err(refused(Exit::Refused, why, help));
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

/// Returns the loops that a call can choose: those of its session and those without one, or all from a terminal.
fn list_choices(info: &ProgramInfo, caller: &Caller) -> Result<String, Failure> {
    let mut active = locate::active_loops(info.state, &loops::here()?);
    active.retain(|(_, listed)| match &caller.session {
        Some(session) => is_unowned(listed) || listed.session.as_ref() == Some(session),
        None => true,
    });
    let program = info.program;
    let commands: Vec<String> = active
        .iter()
        .map(|(_, listed)| format!("{program} use {}", listed.id))
        .collect();
    Ok(if commands.is_empty() {
        format!(
            "no loop is active; to see all:{}",
            text::command_lines(&[format!("{program} list")])
        )
    } else {
        format!("choose one:{}", text::command_lines(&commands))
    })
}
