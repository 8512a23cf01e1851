//! `run --resume`: the loops that it can resume, and the command line that resumes one.

use clap::ArgMatches;
use claudex_loop::Actor;
use claudex_loop::program::caller::{Caller, RUN, UNKNOWN};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::{LoopArgs, NextAction, TypedApp as _};
use claudex_loop::program::{locate, loops, shell};
use claudex_loop::store::{Entry, LoopId, Store};
use claudex_loop::text;

use super::typestate::Plan;
use super::{AnyLoop, INFO, Phase, Verb, reviews_changes};

/// The arguments that a resumed run needs again.
const REPEATED: [&str; 4] = ["reviewer", "drafter", "timeout", "idle_timeout"];
/// The journal's note of these flags, for someone who looks from another terminal.
const FLAGS_NOTE: &str = "flags";

/// Returns the flags of a command line that a resumed run needs again, as a message shows them
/// behind the command. It has no quotes of a shell, so a flag whose value needs some is only named,
/// below the command.
pub fn flags(matches: &ArgMatches) -> Vec<String> {
    let flag = |name: &str| {
        let value = matches.try_get_raw(name).ok().flatten()?.next()?;
        let plain = value
            .to_str()
            .filter(|value| shell::quoted(value) == *value);
        let name = name.replace('_', "-");
        Some(match plain {
            Some(value) => format!(" --{name} {value}"),
            None => format!("\nwith the same --{name}"),
        })
    };
    let mut flags: Vec<String> = REPEATED.into_iter().filter_map(flag).collect();
    flags.sort_by_key(|flag| flag.starts_with('\n'));
    flags
}

/// Returns the flags that the journal notes last.
pub fn noted_flags(journal: &[Entry]) -> Vec<String> {
    let mut entries = journal.iter().rev();
    entries
        .find_map(|entry| entry.noted(FLAGS_NOTE))
        .unwrap_or_default()
}

/// Records the flags in the journal if they have changed.
pub fn note_flags(held: &AnyLoop, flags: &[String]) {
    let raw = held.raw();
    if *flags != noted_flags(&raw.journal().unwrap_or_default())
        && let Err(error) = raw.store().note(raw.id(), FLAGS_NOTE, &flags)
    {
        raw.store()
            .log(&format!("{} cannot note the flags: {error}", raw.id()));
    }
}

/// Returns the command line that resumes a loop.
fn command_line(id: &str, journal: &[Entry]) -> String {
    let flags = noted_flags(journal).concat();
    format!("claudex-loop run --resume {id}{flags}")
}

/// Says how to resume a loop of `run`, also from another folder.
pub fn help(held: &AnyLoop) -> String {
    let raw = held.raw();
    let root = raw.store().root();
    let is_here = loops::here().is_ok_and(|here| locate::root(INFO.state, &here) == root);
    let place = match is_here {
        true => String::new(),
        false => format!(", in {}", text::shown(root)),
    };
    let line = command_line(raw.id().as_str(), &raw.journal().unwrap_or_default());
    format!("to go on with it{place}:\n    {line}")
}

/// Returns the failure of a run that did not end its loop. The help resumes it.
pub fn kept_failure(held: &AnyLoop, exit: Exit, problem: &str) -> Failure {
    let problem = problem.trim_end_matches(['.', ' ']);
    let id = held.id();
    let message = format!("{problem}; loop {id} is kept, with the rounds that are finished");
    Failure::plain(exit, "claudex::run::kept", message, &help(held))
}

/// Returns the phase of a loop that is over on disk.
pub fn ended_phase(store: &Store, id: &LoopId) -> Option<Phase> {
    let held = AnyLoop::open(store, id, Actor::Hook).ok()?;
    Some(held.phase()).filter(|phase| phase.is_terminal())
}

/// Opens a loop of `run` that is not over. An archived one is brought back. A review of changes
/// that no session has taken up becomes one of `run`: it was started in a terminal, and ends there.
///
/// # Errors
/// Returns an error if there is no such loop, it is over, a session drives it, or its review is
/// running.
pub fn open(id: &str) -> Result<AnyLoop, Failure> {
    let (store, id) = loops::find(INFO, Some(id))?;
    let archived = store.archived().into_iter().find(|one| one.id == id);
    if let Some(archived) = archived {
        let session = archived.session.as_deref().unwrap_or(UNKNOWN);
        if session != RUN {
            return Err(driven_by_session(&id, session));
        }
        store.unarchive(&id).map_err(failure)?;
    }

    let open_as = |actor| AnyLoop::open(&store, &id, actor).map_err(failure);
    let held = open_as(Actor::Hook)?;
    let session = held.header().session;
    if held.phase().is_terminal() {
        let problem = format!("it is over ({})", held.phase());
        return Err(refused(&id, &problem, "what happened", "journal"));
    }
    if session != RUN && !is_unowned_review(&held) {
        return Err(driven_by_session(&id, &session));
    }
    if store.is_running(&id) {
        let problem = "its review is running in another process";
        return Err(refused(&id, problem, "follow it", "review --follow"));
    }

    if session != RUN {
        let person = Actor::Person.to_string();
        store
            .set_session(held.raw().record(), RUN, "adopt", &person)
            .map_err(failure)?;
    } else if held.fields().failures > 0 && Caller::from_env().actor(false) == Actor::Person {
        // The reviewer gets all its attempts again, as after `resume`.
        let verb = Verb::Resume(LoopArgs::default());
        if let Err(error) = Plan::take(verb, open_as(Actor::Person)?) {
            let problem = error.to_string();
            return Err(refused(&id, &problem, "what happened", "journal"));
        }
    } else {
        return Ok(held);
    }
    open_as(Actor::Hook)
}

fn failure(error: impl miette::Diagnostic) -> Failure {
    Failure::new(Exit::Refused, error)
}

fn refused(id: &LoopId, problem: &str, purpose: &str, command: &str) -> Failure {
    let message = format!("run does not go on with loop {id}: {problem}");
    let help = format!("{purpose}:\n    claudex-loop {command} {id}");
    Failure::plain(Exit::Refused, "claudex::run::resume", message, &help)
}

fn driven_by_session(id: &LoopId, session: &str) -> Failure {
    let problem = match session {
        UNKNOWN => {
            "no session has taken it up yet, and the next one that ends a turn here does".to_owned()
        }
        session => format!("session {} drives it", text::one_line(session, 80)),
    };
    refused(id, &problem, "to see where it is", "status")
}

/// Returns whether a loop reviews changes, is not over, and belongs to no session.
fn is_unowned_review(held: &AnyLoop) -> bool {
    let is_unowned = [UNKNOWN, ""].contains(&held.header().session.as_str());
    is_unowned && reviews_changes(held) && !held.phase().is_terminal()
}

/// Returns what comes next in a loop that is driven from a terminal and is not being reviewed.
pub fn next_action(held: &AnyLoop) -> Option<NextAction> {
    let id = held.id();
    if held.phase().is_terminal() || held.raw().store().is_running(id) {
        return None;
    }
    if held.header().session == RUN {
        let next = format!("if its run was interrupted, {}", help(held));
        return Some(NextAction::new("its run", next));
    }
    let next = format!("to have it reviewed here:\n    claudex-loop run --resume {id}");
    is_unowned_review(held)
        .then(|| NextAction::new("its review, or a session that takes it up", next))
}

/// Refuses `resume` for a loop of `run`, which no session drives.
///
/// # Errors
/// Returns an error if the verb is `resume` and the loop is one of `run`.
pub fn refuse_session_resume(held: &mut AnyLoop, verb: &Verb) -> Result<(), Failure> {
    let id = held.id();
    let is_run = held.header().session == RUN && !held.phase().is_terminal();
    if !is_run || !matches!(verb, Verb::Resume { .. }) {
        return Ok(());
    }
    let adopt = INFO.command(&format!("adopt {id}"));
    Err(Failure::plain(
        Exit::Refused,
        "claudex::run::resume",
        format!("loop {id} belongs to `run`; a session does not drive it"),
        &format!("{}\nto have a session take it over:{adopt}", help(held)),
    ))
}

/// Says how to resume or cancel a loop of `run` because of which another one cannot start.
pub fn in_the_way(id: &str) -> Option<String> {
    let active = locate::active_loops(INFO.state, &loops::here().ok()?);
    let (store, listed) = active
        .into_iter()
        .find(|(_, listed)| listed.id.as_str() == id)?;
    let is_run = listed.session.as_deref() == Some(RUN);
    is_run.then(|| {
        let line = command_line(id, &store.journal(&listed.id).unwrap_or_default());
        format!("to go on with it:\n    {line}\nto give it up:\n    claudex-loop cancel {id}")
    })
}
