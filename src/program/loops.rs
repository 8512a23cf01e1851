//! Deciding about a loop of any machine: finding it, resume, adopt, sweep. The machine's own verbs are next door.

use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use miette::Diagnostic;

use super::arguments::Target;
use super::assembled::{App, Program};
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::incompatible::{self, ends_anywhere};
use super::info::ProgramInfo;
use super::settings::Settings;
use super::verb_args::LoopArgs;
use super::{
    attempts, chosen, consent, locate, messages, next_action, out, pause, rounds, session_start,
    typed, verbs,
};
use crate::behaviours::words;
use crate::machine::LoopHandle;
use crate::machine::raw::OpenError;
use crate::machine::{Actor, Raw, Table};
use crate::store::{Listed, LoopId, Store};
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
pub fn all_usable(info: &ProgramInfo) -> Result<(), Failure> {
    let stores = locate::stores(info.state, &[&here()?]);
    match stores.iter().find_map(Store::refusal) {
        Some(error) => Err(Failure::new(Exit::Refused, error)),
        None => Ok(()),
    }
}

/// The loop that a call is about: by id, or the active one.
///
/// # Errors
/// There is no such loop.
pub fn find(info: &ProgramInfo, id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    let here = here()?;
    let found = match id {
        Some(id) => locate::by_id(info, &here, id),
        None => locate::active(info, &here),
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
pub fn find_to_look(info: &ProgramInfo, id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    let newest = |failure: Failure| {
        let here = here()?;
        if id.is_some() || !locate::active_loops(info.state, &here).is_empty() {
            return Err(failure);
        }
        let last = locate::last_over(info.state, &here);
        last.map(|(store, listed)| (store, listed.id))
            .ok_or(failure)
    };
    find(info, id).or_else(newest)
}

/// The loop that a person means who names none: the active one of their session, of several the one that its stops drive, else an archived one of theirs, else
/// the one that is active.
///
/// # Errors
/// There is no such loop.
pub fn find_for(info: &ProgramInfo, caller: &Caller) -> Result<(Store, LoopId), Failure> {
    let here = here()?;
    if let Some(session) = caller.session.as_deref() {
        let own = |listed: &Listed| listed.session.as_deref() == Some(session) && !listed.terminal;
        let mut active = locate::active_loops(info.state, &here);
        active.retain(|(_, listed)| own(listed));
        chosen::order(info, session, &mut active);
        if let Some((store, listed)) = active.into_iter().next() {
            return Ok((store, listed.id));
        }
        for store in locate::stores(info.state, &[&here]) {
            if let Some(listed) = store.archived().into_iter().find(own) {
                return Ok((store, listed.id));
            }
        }
    }
    find(info, None)
}

/// Finds the loop of a call: by the id that it names, else the one that the caller means.
///
/// # Errors
/// There is no such loop.
pub(super) fn find_called(
    info: &ProgramInfo,
    id: Option<&str>,
    caller: &Caller,
) -> Result<(Store, LoopId), Failure> {
    match id {
        Some(_) => find(info, id),
        None => find_for(info, caller),
    }
}

/// Refuses a command that is a person's to an agent, and notes it in the loop that it was about, where there is one. `command` is
/// what is typed.
///
/// # Errors
/// The call comes from an agent.
pub fn person_only(
    info: &ProgramInfo,
    actor: Actor,
    command: &str,
    id: Option<&str>,
) -> Result<(), Failure> {
    if actor == Actor::Person {
        return Ok(());
    }
    let name = command.split(' ').next().unwrap_or(command);
    if let Ok((store, id)) = find(info, id) {
        store.log(&format!("{id} {name} refused: it came from an agent"));
        attempts::note(&store, &id, actor, name, "only for a person");
    }
    let place = match info.slash(command) {
        Some(_) => "run one of these, the second one in a terminal",
        None => "run in a terminal",
    };
    let help = format!("ask the person to {place}:{}", info.command(command));
    Err(Failure::plain(
        Exit::Refused,
        "claudex::person",
        format!("{name} is a person’s decision, and this call comes from an agent"),
        &help,
    ))
}

/// Refuses an agent a change of another session's loop, and notes the attempt there.
///
/// # Errors
/// Returns an error if `actor` is an agent and the loop belongs to another session.
pub fn own_session(info: &ProgramInfo, raw: &Raw, actor: Actor) -> Result<(), Failure> {
    let owner = raw.text(info.state.fields.session);
    let is_own = Caller::from_env().session.as_ref() == Some(&owner);
    if actor != Actor::Agent || is_own || [UNKNOWN, ""].contains(&owner.as_str()) {
        return Ok(());
    }
    let id = raw.id();
    attempts::note(raw.store(), id, actor, "a change", "of another session");
    Err(Failure::plain(
        Exit::Refused,
        "claudex::session",
        format!("loop {id} belongs to another session"),
        &format!(
            "a person takes it over:{}",
            info.command(&format!("adopt {id}"))
        ),
    ))
}

/// Prints what opening a loop for a change repaired.
pub fn tell_repairs(info: &ProgramInfo, raw: &Raw) {
    for repair in raw.repairs() {
        out::note(&info.line(&repair.to_string()));
    }
}

/// Brings an archived loop back. Returns whether it was one.
///
/// # Errors
/// Another loop is active, or the store refused.
pub fn bring_back(store: &Store, id: &LoopId) -> Result<bool, Failure> {
    if !store.has_archived(id) {
        return Ok(false);
    }
    store
        .unarchive(id)
        .map_err(|error| Failure::new(Exit::Refused, error))?;
    out::line(&format!(
        "Loop {id} was brought back from {}/archive",
        text::shown(store.folder())
    ));
    Ok(true)
}

/// Writes the document of a loop again if it was put back, such as by a checkout.
fn write_again(info: &ProgramInfo, store: &Store, id: &LoopId) -> Result<(), Failure> {
    let kept = store.render_again(id);
    let failed = |error| incompatible::failure(info, OpenError::Store(error));
    if let Some(kept) = kept.map_err(failed)? {
        out::line(&format!(
            "Loop {id} keeps its state: {} was written again, and the file that was there is kept as {}",
            text::shown(store.path_of(id)),
            text::shown(&kept)
        ));
    }
    Ok(())
}

/// Takes over a loop that does not have the user's seal. Does nothing to one that has it.
///
/// # Errors
/// Another loop is active, or the loop cannot be read or written.
pub fn take_over(store: &Store, id: &LoopId, actor: Actor) -> Result<(), Failure> {
    let taken = store.take_over(id, &actor.to_string());
    if taken.map_err(|error| Failure::new(Exit::Refused, error))? {
        store.log(&format!("{id} taken over by {actor}"));
        out::line(&format!(
            "Loop {id} was taken over: it belongs to {} now.",
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
    if messages::phase(raw).terminal {
        return Err(over("claudex::adopt", raw));
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
            "Loop {id} belongs to nobody now: the next session that ends a turn in this project takes it."
        )
    } else {
        format!("Loop {id} belongs to this session now.")
    });
    Ok(Exit::Complete)
}

/// Archives loops that nobody touched for this long.
///
/// # Errors
/// The working directory is not known.
pub fn sweep(info: &ProgramInfo, older: Duration, dry_run: bool) -> Result<Exit, Failure> {
    let mut nothing = true;
    for store in locate::stores(info.state, &[&here()?]) {
        let now = SystemTime::now();
        let (ids, verb) = match dry_run {
            true => (store.stale(now, older), "would be"),
            false => (store.archive_stale(now, older), "was"),
        };
        for id in ids {
            nothing = false;
            out::line(&format!(
                "Loop {id} {verb} moved to {}/archive; this brings it back:{}",
                text::shown(store.folder()),
                info.command(&format!("resume {id}"))
            ));
        }
    }
    if nothing {
        out::line("Nothing to archive.");
    }
    Ok(Exit::Complete)
}

/// Opens a loop for a change, and tells what was put right.
pub(super) fn open<M: App>(store: &Store, id: &LoopId, actor: Actor) -> Result<M::Any, Failure> {
    opened::<M>(M::open(store, id, actor))
}

/// A loop that was opened, with what was put right told.
pub(super) fn opened<M: App>(opened: Result<M::Any, OpenError>) -> Result<M::Any, Failure> {
    let held = opened.map_err(|error| incompatible::failure(M::INFO, error))?;
    tell_repairs(M::INFO, held.raw());
    own_session(M::INFO, held.raw(), held.raw().actor())?;
    Ok(held)
}

/// Returns whether this transition gives up a loop that could not be opened: its phase or a field is not one of this version of
/// the machine, and the transition ends loops in any phase.
pub fn can_be_given_up<T>(opened: &Result<T, OpenError>, table: &Table, transition: &str) -> bool {
    matches!(
        opened,
        Err(OpenError::Phase { .. } | OpenError::Field { .. })
    ) && ends_anywhere(table, transition)
}

/// Archives a loop that this version of the machine cannot open.
///
/// # Errors
/// A review or a command of it is running, or the files cannot be moved.
pub fn give_up(store: &Store, id: &LoopId) -> Result<Exit, Failure> {
    store
        .archive(id)
        .map_err(|error| Failure::new(Exit::Refused, error))?;
    out::line(&format!(
        "Loop {id} was given up; its files were moved to {}/archive/{id}",
        text::shown(store.folder())
    ));
    Ok(Exit::Complete)
}

/// Returns what a command was given: an id typed here, or what its prompt hook stored, whether `--adopt` was typed there, and who
/// stands behind it.
pub(super) fn named(
    info: &ProgramInfo,
    target: &Target,
    command: &str,
) -> Result<(Option<String>, bool, Actor), Failure> {
    let caller = Caller::from_env();
    if !target.from_prompt {
        return Ok((target.id.clone(), false, caller.actor(false)));
    }
    let typed = typed::taken(info, command, &caller)?;
    let words = typed.split_whitespace();
    let (flags, id): (Vec<&str>, Vec<&str>) =
        words.partition(|word| ["--adopt", "--yes"].contains(word));
    let id = Some(id.join(" ")).filter(|id| !id.is_empty());
    Ok((id, flags.contains(&"--adopt"), caller.actor(true)))
}

/// Returns the id that a look is about: typed here, or after one of these slash commands. A look needs no person behind it, so
/// that nothing was stored means that nothing was typed.
pub(super) fn asked(
    info: &ProgramInfo,
    target: &Target,
    commands: &[&str],
) -> Result<Option<String>, Failure> {
    if !target.from_prompt {
        return Ok(target.id.clone());
    }
    let caller = Caller::from_env();
    for command in commands {
        if let Some(typed) = typed::take(info, command, &caller)? {
            return Ok(Some(typed.trim().to_owned()).filter(|id| !id.is_empty()));
        }
    }
    Ok(None)
}

/// Loads the settings of a project for a command about a loop of this session, and prints what is ignored in its file.
///
/// # Errors
/// Returns an error if they cannot be used.
pub fn settings(
    info: &'static ProgramInfo,
    root: &Utf8Path,
    session: Option<&str>,
) -> Result<Settings, Failure> {
    let settings = Settings::for_call(info, root, &Caller::from_env(), session)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    for line in &settings.ignored {
        out::note(line);
    }
    Ok(settings)
}

/// Loads the settings of the project of the working directory.
pub(super) fn settings_here(info: &'static ProgramInfo) -> Result<Settings, Failure> {
    settings(info, &locate::root(info.state, &here()?), None)
}

/// Takes a loop over into this session. Asks first where another one may be at work on it; whoever typed the slash command has said it.
pub(super) fn adopt<M: App>(
    program: &Program<M>,
    target: &Target,
    yes: bool,
) -> Result<Exit, Failure> {
    let info = program.info;
    let (id, _, actor) = named(info, target, "adopt")?;
    person_only(info, actor, "adopt", id.as_deref())?;
    let (store, id) = find(info, id.as_deref())?;
    if !yes && !target.from_prompt && !consent::to_take_over(info, &id, &format!("adopt {id}"))? {
        out::line("Nothing was changed.");
        return Ok(Exit::Refused);
    }
    take_over(&store, &id, actor)?;
    let held = open::<M>(&store, &id, actor)?;
    let exit = adopt_held(held.raw())?;
    say_again(program, &held);
    Ok(exit)
}

/// Hands a session what the loop said last, where its next stop would not: that was said to another one, or to a conversation
/// that was cut short.
fn say_again<M: App>(program: &Program<M>, held: &M::Any) {
    // What was said in such a phase is all that there is to do in it.
    let is_last_word = messages::phase(held.raw())
        .on_stop
        .as_ref()
        .is_some_and(|on_stop| ["approve", "ask"].contains(&on_stop.name));
    if !is_last_word || Caller::from_env().session.is_none() {
        return;
    }
    if let Some(text) = session_start::again(program, held, Timestamp::now()) {
        out::text(&format!("\n{text}\n"));
    }
}

/// Returns the error of a command for a loop that is over.
pub(super) fn over(code: &'static str, raw: &Raw) -> Failure {
    let why = format!("loop {} is over", raw.id());
    Failure::plain(Exit::Refused, code, why, &messages::unchanged(raw))
}

/// Lets a loop go on that was put aside, or that waits where the machine has a transition `resume`. One that no session had in its
/// hands is this session's then.
pub(super) fn resume<M: App>(
    program: &Program<M>,
    target: &Target,
    adopt: bool,
    yes: bool,
) -> Result<Exit, Failure> {
    let info = program.info;
    let caller = Caller::from_env();
    let (id, typed, actor) = named(info, target, "resume")?;
    let adopt = adopt || typed;
    person_only(info, actor, "resume", id.as_deref())?;
    let (store, id) = match id {
        Some(id) => find(info, Some(&id))?,
        None => find_for(info, &caller)?,
    };
    let again = format!("resume {id} --adopt");
    if adopt && !yes && !target.from_prompt && !consent::to_take_over(info, &id, &again)? {
        out::line("Nothing was changed.");
        return Ok(Exit::Refused);
    }
    let settings = settings(info, store.root(), None)?;
    bring_back(&store, &id)?;
    write_again(info, &store, &id)?;
    let mut held = open::<M>(&store, &id, actor)?;
    if pause::set(&store, &id, false)? {
        out::line(&format!("Loop {id} is no longer paused."));
    }
    program.prepare(&held, &settings, actor);
    let phase = messages::phase(held.raw());
    let adopt = adopt || messages::is_nobodys(M::TABLE, held.raw().phase());
    let open_here = M::TABLE
        .edges_at("resume", held.raw().phase())
        .next()
        .is_some();
    match M::plain("resume", LoopArgs::with_id(id.as_str())).filter(|_| open_here || phase.terminal)
    {
        Some(verb) => held = verbs::take::<M>(program, verb, held, &settings)?,
        None if phase.terminal => {
            return Err(over("claudex::resume", held.raw()));
        }
        None => {
            let next = next_action::of(program, &held);
            out::line(&format!(
                "Loop {id} is in phase {} and waits for {}\nNext: {}",
                phase.name, next.waits_for, next.next
            ));
            whose(info, held.raw(), &caller, adopt)?;
            say_again(program, &held);
            return Ok(Exit::Complete);
        }
    }
    let raw = held.raw();
    let round = messages::phase(raw)
        .review
        .filter(|spec| !spec.is_numbered())
        .map(|spec| rounds::of_most(raw, spec));
    out::line(&format!(
        "Loop {id} goes on in phase {}{}.",
        messages::phase(raw).name,
        round.map(|round| format!(", {round}")).unwrap_or_default()
    ));
    whose(info, raw, &caller, adopt)
}

/// Says whose stops drive a loop that goes on, after it was taken over where that is wanted.
fn whose(info: &ProgramInfo, raw: &Raw, caller: &Caller, adopt: bool) -> Result<Exit, Failure> {
    let id = raw.id();
    let owner = text::one_line(&raw.text(info.state.fields.session), 200);
    if adopt && caller.session.as_ref() != Some(&owner) {
        return adopt_held(raw);
    }
    let whose = match &caller.session {
        _ if [UNKNOWN, ""].contains(&owner.as_str()) => {
            "It belongs to nobody: the next session that ends a turn in this project takes it."
                .to_owned()
        }
        Some(session) if *session == owner => "The next stop of this session drives it.".to_owned(),
        Some(_) => format!(
            "It belongs to session {owner}; to take it over into this one:{}",
            info.command(&format!("adopt {id}"))
        ),
        None => format!(
            "The stops of session {owner} drive it. To hand it to the next session that ends a turn in this project:{}",
            words::lines(&[format!("{} resume {id} --adopt", info.program)])
        ),
    };
    out::line(&whose);
    Ok(Exit::Complete)
}

/// What is wrong with a loop that cannot be opened, with what to do about it.
pub(super) fn with_help(error: &dyn Diagnostic) -> String {
    match error.help() {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    }
}
