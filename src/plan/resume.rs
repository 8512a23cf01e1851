//! `run --resume`: the loops that it can resume, and how other commands name it.

use claudex_loop::program::caller::{Caller, RUN, UNKNOWN};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::{LoopArgs, NextAction};
use claudex_loop::program::{locate, loops};
use claudex_loop::{Actor, Store, text};

use super::{AnyLoop, INFO, Phase, Verb, reviews_changes};

/// Returns how to resume a loop of `run`, also from another folder.
pub(super) fn help(held: &AnyLoop) -> String {
    let root = held.raw().store().root();
    let place = match loops::here() {
        Ok(here) if locate::root(INFO.state, &here) == root => String::new(),
        _ => format!(", in {}", text::shown(root)),
    };
    format!(
        "to go on with it{place}:\n    claudex-loop run --resume {}\ngive its flags again, such as --reviewer and --drafter",
        held.id()
    )
}

/// Returns the failure of a run that did not end its loop, or whose loop another process has ended.
pub(super) fn failure(held: &AnyLoop, exit: Exit, problem: &str) -> Failure {
    let id = held.id();
    if let Some(phase) = ended_phase(held) {
        let message = format!("loop {id} is {phase}: another process ended it");
        let help = format!("what happened:\n    claudex-loop journal {id}");
        return Failure::refuse(message, &help);
    }
    let problem = problem.trim_end_matches(['.', ' ']);
    let message = format!("{problem}; loop {id} is kept, with the rounds that are finished");
    Failure::with_help(exit, message, &help(held))
}

/// Returns the phase of a loop that is over on disk.
pub(super) fn ended_phase(held: &AnyLoop) -> Option<Phase> {
    let held = AnyLoop::open(held.raw().store(), held.id(), Actor::Hook).ok()?;
    Some(held.phase()).filter(|phase| phase.is_terminal())
}

/// Opens a loop of `run` that is not over. An archived one is brought back. A review of changes that no session has taken up
/// becomes one of `run`: it was started in a terminal, and ends there.
pub(super) fn open(id: &str) -> Result<AnyLoop, Failure> {
    let (store, id) = loops::find(INFO, Some(id))?;
    let open = |store: &Store, actor| AnyLoop::open(store, &id, actor).map_err(Failure::refusal);
    let held = open(&loops::place_of(&store, &id), Actor::Hook)?;
    let session = held.raw().record().session().unwrap_or_default();
    let problem = match session.as_str() {
        _ if held.phase().is_terminal() => Some(format!("it is over ({})", held.phase())),
        _ if store.is_running(&id) => Some("its review is running in another process".to_owned()),
        _ if session == RUN || is_unowned_review(&held) => None,
        UNKNOWN => Some(
            "no session has taken it up yet, and the next one that ends a turn here does"
                .to_owned(),
        ),
        session => Some(format!("session {} drives it", text::one_line(session, 80))),
    };
    if let Some(problem) = problem {
        let message = format!("run does not go on with loop {id}: {problem}");
        let help = format!("to see where it is:\n    claudex-loop status {id}");
        return Err(Failure::refuse(message, &help));
    }

    if store.has_archived(&id) {
        store.unarchive(&id).map_err(Failure::refusal)?;
    }
    let held = open(&store, Actor::Person)?;
    if session != RUN {
        let person = Actor::Person.to_string();
        store
            .set_session(held.raw().record(), RUN, "adopt", &person)
            .map_err(Failure::refusal)?;
    } else if held.fields().failures > 0 && Caller::from_env().actor(false) == Actor::Person {
        // The reviewer gets all its attempts again, as after `resume`.
        let resumed = held.take(Verb::Resume(LoopArgs::default()));
        drop(resumed.map_err(|error| Failure::refusal(*error.refusal))?);
    }
    open(&store, Actor::Hook)
}

/// Returns whether a loop reviews changes, is not over, and belongs to no session.
fn is_unowned_review(held: &AnyLoop) -> bool {
    let is_unowned = loops::owner(held.raw()).is_none();
    is_unowned && reviews_changes(held.raw()) && !held.phase().is_terminal()
}

/// Returns what comes next in a loop that is driven from a terminal and is not being reviewed.
pub(super) fn next_action(held: &AnyLoop) -> Option<NextAction> {
    let id = held.id();
    if held.phase().is_terminal() || held.raw().store().is_running(id) {
        return None;
    }
    if super::is_of_run(held.raw()) {
        let next = format!("if its run was interrupted, {}", help(held));
        return Some(NextAction::new("its run", next));
    }
    let next = format!("to have it reviewed here:\n    claudex-loop run --resume {id}");
    is_unowned_review(held)
        .then(|| NextAction::new("its review, or a session that takes it up", next))
}

/// Refuses `resume` for a loop of `run`, which no session drives.
pub(super) fn refuse_session_resume(held: &AnyLoop, verb: &Verb) -> Result<(), Failure> {
    let id = held.id();
    let is_active_run = super::is_of_run(held.raw()) && !held.phase().is_terminal();
    if !is_active_run || !matches!(verb, Verb::Resume { .. }) {
        return Ok(());
    }
    let adopt = INFO.command(&format!("adopt {id}"));
    Err(Failure::refuse(
        format!("loop {id} belongs to `run`; a session does not drive it"),
        &format!("{}\nto have a session take it over:{adopt}", help(held)),
    ))
}
