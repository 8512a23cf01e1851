//! Deciding about a loop of any machine: finding it, resume, adopt, sweep. The machine's own verbs are next door.

use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;
use jiff::Timestamp;
use miette::Diagnostic;

use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::program::{App, Program};
use super::speaker::Speaker;
use super::stranded::{self, ends_anywhere};
use super::{attempts, locate, out, told, verbs};
use crate::drive::Held;
use crate::machine::raw::OpenError;
use crate::machine::{Actor, Raw, Table};
use crate::store::{Listed, LoopId, Store, StoreError};
use crate::text;

/// The folder that a call is made from.
///
/// # Errors
/// It is gone, or its path is not UTF-8.
pub fn here() -> Result<Utf8PathBuf, Failure> {
    locate::here().map_err(|error| {
        Failure::plain(
            Exit::Internal,
            "claudex::here",
            error.to_string(),
            "go to a folder that exists, and whose path is UTF-8",
        )
    })
}

/// Refuses to go on where a state folder above the working directory is there and not used: what it holds is not known then.
///
/// # Errors
/// There is one, or the working directory is gone.
pub fn all_usable(speaker: &Speaker) -> Result<(), Failure> {
    let stores = locate::stores(speaker.state, &[&here()?]);
    match stores.iter().find_map(Store::refusal) {
        Some(error) => Err(Failure::new(Exit::Refused, error)),
        None => Ok(()),
    }
}

/// The loop that a call is about: by id, or the active one.
///
/// # Errors
/// There is no such loop.
pub fn find(speaker: &Speaker, id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    let here = here()?;
    let found = match id {
        Some(id) => locate::by_id(speaker, &here, id),
        None => locate::active(speaker, &here),
    };
    found.map_err(|error| {
        let exit = if matches!(error, locate::NotFound::BadId { .. }) {
            Exit::Usage
        } else {
            Exit::Refused
        };
        Failure::new(exit, error)
    })
}

/// The loop that a look is about: by id, or the active one, or the newest that is over.
///
/// # Errors
/// There is no such loop, or more than one is active.
pub fn find_to_look(speaker: &Speaker, id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    let newest = |failure: Failure| {
        let loops = locate::loops(speaker.state, &here()?);
        let over = loops.iter().all(|(_, listed)| listed.terminal);
        match loops.into_iter().next() {
            Some((store, listed)) if id.is_none() && over => Ok((store, listed.id)),
            _ => Err(failure),
        }
    };
    find(speaker, id).or_else(newest)
}

/// The loop that a person means who names none: the active one of their session, else one of theirs that was swept, else
/// the one that is active.
///
/// # Errors
/// There is no such loop.
pub fn find_for(speaker: &Speaker, caller: &Caller) -> Result<(Store, LoopId), Failure> {
    let here = here()?;
    if let Some(session) = caller.session.as_deref() {
        let own = |listed: &Listed| listed.session.as_deref() == Some(session) && !listed.terminal;
        let active = locate::loops(speaker.state, &here);
        if let Some((store, listed)) = active.into_iter().find(|(_, listed)| own(listed)) {
            return Ok((store, listed.id));
        }
        for store in locate::stores(speaker.state, &[&here]) {
            if let Some(listed) = store.swept().into_iter().find(own) {
                return Ok((store, listed.id));
            }
        }
    }
    find(speaker, None)
}

/// Refuses a command that is a person's to an agent, and notes it in the loop that it was about, where there is one.
///
/// # Errors
/// The call comes from an agent.
pub fn person_only(speaker: &Speaker, actor: Actor, command: &str, id: Option<&str>) -> Result<(), Failure> {
    if actor == Actor::Person {
        return Ok(());
    }
    if let Ok((store, id)) = find(speaker, id) {
        store.log(&format!("{id} {command} refused: it came from an agent"));
        attempts::note(&store, &id, actor, command, "only for a person");
    }
    let program = speaker.program;
    let help = match speaker.plugin {
        Some(plugin) => format!(
            "ask the person to type /{plugin}:{command}, or to run in a terminal:\n    {program} {command}"
        ),
        None => format!("ask the person to run in a terminal:\n    {program} {command}"),
    };
    Err(Failure::plain(
        Exit::Refused,
        "claudex::person",
        format!("{command} is a person’s decision, and this call comes from an agent"),
        &help,
    ))
}

/// Tells what opening a loop for a change put right, and ends what a review or a command of it left running that was cut off.
pub fn tell_repairs(speaker: &Speaker, raw: &Raw) {
    let ended = raw.store().end_orphans(raw.id());
    if ended > 0 {
        out::note(&speaker.line(&format!(
            "loop {}: ended what a review or a command that was cut off had left running ({ended})",
            raw.id()
        )));
    }
    for repair in raw.repairs() {
        out::note(&speaker.line(&repair.to_string()));
    }
}

/// Brings a loop back that was swept; nothing where it was not.
///
/// # Errors
/// Another loop is active, or the store refused.
pub fn bring_back(store: &Store, id: &LoopId) -> Result<bool, Failure> {
    if !store.swept().iter().any(|listed| listed.id == *id) {
        return Ok(false);
    }
    store
        .bring_back(id)
        .map_err(|error| Failure::new(Exit::Refused, error))?;
    out::line(&format!(
        "Loop {id} was brought back from {}/swept",
        text::shown(store.folder())
    ));
    Ok(true)
}

/// Takes up a loop that was not started here, as a person decides. Does nothing to one that was.
///
/// # Errors
/// Another loop is active, the loop cannot be opened, or it cannot be recorded.
pub fn take_up(speaker: &Speaker, store: &Store, id: &LoopId, actor: Actor) -> Result<(), Failure> {
    let taken = store.take_up(id, &actor.to_string());
    if taken.map_err(|error| stranded::failure(speaker, OpenError::Store(error)))? {
        store.log(&format!("{id} taken up by {actor}"));
        out::line(&format!(
            "Loop {id} was taken up: it belongs to {} now.",
            store.root()
        ));
    }
    Ok(())
}

/// Takes a loop over into the caller's session; from a terminal no session is known, and the next one whose stop meets the
/// loop takes it.
///
/// # Errors
/// The loop is over, or the store refused.
pub fn adopt_held(raw: &Raw) -> Result<Exit, Failure> {
    let (store, id, actor) = (raw.store(), raw.id(), raw.actor());
    if told::phase(raw).terminal {
        return Err(Failure::plain(
            Exit::Refused,
            "claudex::adopt",
            format!("loop {id} is over"),
            &told::unchanged(raw),
        ));
    }
    let session = Caller::from_env().session.unwrap_or_else(|| UNKNOWN.to_owned());
    store
        .set_session(raw.record(), &session, "adopt", &actor.to_string())
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    store.log(&format!("{id} adopted by session {session}"));
    out::line(&if session == UNKNOWN {
        format!(
            "Loop {id} belongs to nobody now: the next session that ends a turn in this project takes it."
        )
    } else {
        format!("Loop {id} belongs to this session now.")
    });
    Ok(Exit::Complete)
}

/// Puts loops aside that show no sign of life.
///
/// # Errors
/// A folder cannot be locked.
pub fn sweep(speaker: &Speaker, older: Duration, dry_run: bool) -> Result<Exit, Failure> {
    let mut nothing = true;
    for store in locate::stores(speaker.state, &[&here()?]) {
        let swept = store
            .sweep(SystemTime::now(), older, dry_run)
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        let verb = if dry_run { "would be" } else { "was" };
        for id in swept.moved.iter().chain(&swept.would_move) {
            nothing = false;
            out::line(&format!(
                "Loop {id} {verb} moved to {}/swept; this brings it back:{}",
                text::shown(store.folder()),
                speaker.command(&format!("resume {id}"))
            ));
        }
        for path in &swept.foreign {
            nothing = false;
            out::line(&format!(
                "{} {verb} moved to {}/swept",
                text::shown(path),
                text::shown(store.folder())
            ));
        }
        for path in swept.strays.iter().chain(&swept.expired) {
            nothing = false;
            out::line(&format!("{} {verb} removed", text::shown(path)));
        }
    }
    if nothing {
        out::line("Nothing to sweep.");
    }
    Ok(Exit::Complete)
}

/// Opens a loop for a change, and tells what was put right.
pub(super) fn open<M: Program>(store: &Store, id: &LoopId, actor: Actor) -> Result<M::Any, Failure> {
    opened::<M>(M::open(store, id, actor))
}

/// A loop that was opened, with what was put right told.
pub(super) fn opened<M: Program>(opened: Result<M::Any, OpenError>) -> Result<M::Any, Failure> {
    let held = opened.map_err(|error| stranded::failure(&App::<M>::SPEAKER, error))?;
    tell_repairs(&App::<M>::SPEAKER, held.raw());
    Ok(held)
}

/// Whether a loop that could not be opened can be given up by this transition: the loop is another version's, so that no edge
/// of ours is its own, and the transition ends loops wherever they are. Nobody has to keep such a loop.
pub fn can_be_given_up<T>(opened: &Result<T, OpenError>, table: &Table, transition: &str) -> bool {
    matches!(opened, Err(OpenError::Store(StoreError::OtherGraph { .. }))) && ends_anywhere(table, transition)
}

/// Gives up a loop of another version of the machine: its files are moved aside.
///
/// # Errors
/// A review or a command of it is running, or the files cannot be moved.
pub fn give_up(store: &Store, id: &LoopId) -> Result<Exit, Failure> {
    let moved = store
        .give_up(id, Timestamp::now())
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let Some(folder) = moved else {
        return Err(Failure::plain(
            Exit::Refused,
            "claudex::give_up::running",
            format!("loop {id}: something that it began is running"),
            "wait for its end, then give the loop up; nothing was changed",
        ));
    };
    out::line(&format!(
        "Loop {id} was begun with another version of the machine. It was given up; its files were moved to {}",
        text::shown(folder)
    ));
    Ok(Exit::Complete)
}

/// Takes a loop over into this session.
pub(super) fn adopt<M: Program>(id: Option<&str>) -> Result<Exit, Failure> {
    let speaker = App::<M>::SPEAKER;
    let actor = Caller::from_env().actor(false);
    person_only(&speaker, actor, "adopt", id)?;
    let (store, id) = find(&speaker, id)?;
    take_up(&speaker, &store, &id, actor)?;
    adopt_held(open::<M>(&store, &id, actor)?.raw())
}

/// Lets a loop go on that was swept, or that waits where the machine has a transition `resume`.
pub(super) fn resume<M: Program>(id: Option<&str>) -> Result<Exit, Failure> {
    let speaker = App::<M>::SPEAKER;
    let caller = Caller::from_env();
    let actor = caller.actor(false);
    person_only(&speaker, actor, "resume", id)?;
    let (store, id) = match id {
        Some(id) => find(&speaker, Some(id))?,
        None => find_for(&speaker, &caller)?,
    };
    let brought_back = bring_back(&store, &id)?;
    let mut held = open::<M>(&store, &id, actor)?;
    let open_here = M::TABLE.edges_at("resume", held.raw().phase()).next().is_some();
    match M::plain("resume", id.to_string()).filter(|_| open_here) {
        Some(verb) => held = verbs::take::<M>(verb, held)?,
        None if brought_back => {}
        None => {
            return Err(Failure::plain(
                Exit::Refused,
                "claudex::resume",
                format!("loop {id} was not put aside"),
                &told::unchanged(held.raw()),
            ));
        }
    }
    let raw = held.raw();
    out::line(&format!(
        "Loop {id} goes on in phase {}. The next stop of its session drives it.",
        told::phase(raw).name
    ));
    let owner = text::one_line(&raw.text(speaker.state.fields.session), 200);
    if caller.session.is_some_and(|session| session != owner) {
        out::line(&format!(
            "It belongs to session {owner}; to take it over into this one:{}",
            speaker.command(&format!("adopt {id}"))
        ));
    }
    Ok(Exit::Complete)
}

/// What is wrong with a loop that cannot be opened, with what to do about it.
pub(super) fn with_help(error: &dyn Diagnostic) -> String {
    match error.help() {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    }
}
