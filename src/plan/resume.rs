//! `run --resume`: which loop `run` goes on with, and the line that does it.

use std::fmt::Display;

use camino::{Utf8Path, Utf8PathBuf};
use clap::ArgMatches;
use claudex_loop::Actor;
use claudex_loop::program::caller::{Caller, RUN, UNKNOWN};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::{App as _, LoopArgs, NextAction};
use claudex_loop::program::{locate, loops, shell};
use claudex_loop::store::Entry;
use claudex_loop::text;
use serde_json::{Map, Value as Json};

use super::driver::JobError;
use super::typestate::Plan;
use super::{AnyLoop, INFO, Verb, reviews_changes};

/// The flags that whoever goes on gives again, by argument.
const AGAIN: [&str; 4] = ["reviewer", "drafter", "timeout", "idle_timeout"];
/// The note of them, for whoever looks from another terminal.
const GIVEN: &str = "given";

/// Flags that whoever goes on gives again, as they were given: the value, or `true` where a message cannot show it.
pub type Given = Map<String, Json>;

/// Returns the flags that were given on a command line. A message has no quotes that a shell takes, so a value that needs some is
/// left out.
pub fn given(matches: &ArgMatches) -> Given {
    let value = |name: &str| {
        let raw = matches.try_get_raw(name).ok().flatten()?.next()?;
        let value = raw.to_str().filter(|value| shell::quoted(value) == *value);
        Some((name.to_owned(), value.map_or(Json::Bool(true), Json::from)))
    };
    AGAIN.into_iter().filter_map(value).collect()
}

/// Returns the flags that were given when `run` took the loop of this journal last.
pub fn noted(journal: &[Entry]) -> Given {
    (journal.iter().rev())
        .find_map(|entry| entry.noted(GIVEN))
        .unwrap_or_default()
}

/// Notes the flags that are given now.
pub fn note(held: &AnyLoop, given: &Given) {
    let raw = held.raw();
    if *given != noted(&raw.journal().unwrap_or_default())
        && let Err(error) = raw.store().note(raw.id(), GIVEN, given)
    {
        // The line that goes on lacks them then.
        raw.store()
            .log(&format!("{} could not note {GIVEN}: {error}", raw.id()));
    }
}

/// Returns the flag with its value as it is typed again, where a message can show it.
pub fn typed(given: &Given, name: &str) -> Option<String> {
    // A journal can be written by others.
    let value = given
        .get(name)?
        .as_str()
        .filter(|value| shell::quoted(value) == *value)?;
    Some(format!(" --{} {value}", name.replace('_', "-")))
}

/// Returns the line that goes on with a loop, and what has to be given besides.
fn line(id: impl Display, given: &Given) -> String {
    let (mut line, mut besides) = (format!("claudex-loop run --resume {id}"), String::new());
    for name in AGAIN.into_iter().filter(|name| given.contains_key(*name)) {
        match typed(given, name) {
            Some(typed) => line += &typed,
            None => besides += &format!("\nwith the same --{}", name.replace('_', "-")),
        }
    }
    line + &besides
}

/// Says how to go on with a loop of `run`, as it was gone on with before.
pub fn go_on(held: &AnyLoop) -> String {
    let given = noted(&held.raw().journal().unwrap_or_default());
    format!("go on with it:\n    {}", line(held.id(), &given))
}

/// Opens the loop that `run` began and that is not over, and brings it back where it was put aside. A review of changes that no
/// session has taken up is taken over: it was started in a terminal, and ends there.
///
/// # Errors
/// There is no such loop, it is over, it is a session's, or its review is running.
pub fn held(id: &str) -> Result<AnyLoop, Failure> {
    let (store, id) = loops::find(INFO, Some(id))?;
    let refused = |problem: String, help: String| {
        let problem = format!("run does not go on with loop {id}: {problem}");
        Err(Failure::plain(
            Exit::Refused,
            "claudex::run::resume",
            problem,
            &help,
        ))
    };
    let is_a_sessions = |session: &str| {
        let owner = match session {
            UNKNOWN => {
                "no session has taken it up yet, and the next one that ends a turn here does"
                    .to_owned()
            }
            session => format!(
                "it is session {}’s, whose stops drive it",
                text::one_line(session, 80)
            ),
        };
        let help = format!("where it is, and what comes next:\n    claudex-loop status {id}");
        refused(owner, help)
    };
    if let Some(archived) = store.archived().into_iter().find(|one| one.id == id) {
        match archived.session.as_deref() {
            Some(RUN) => store
                .unarchive(&id)
                .map_err(|error| Failure::new(Exit::Refused, error))?,
            session => return is_a_sessions(session.unwrap_or(UNKNOWN)),
        };
    }
    let held = AnyLoop::open(&store, &id, Actor::Hook)
        .map_err(|error| Failure::new(Exit::Refused, error))?;
    let session = held.header().session;
    if is_nobodys_review(&held) && !store.is_running(&id) {
        let raw = held.raw();
        let taken = store.set_session(raw.record(), RUN, "adopt", &Actor::Person.to_string());
        taken.map_err(|error| Failure::new(Exit::Internal, error))?;
        return AnyLoop::open(&store, &id, Actor::Hook)
            .map_err(|error| Failure::new(Exit::Refused, error));
    }
    match held.phase() {
        phase if phase.is_terminal() => refused(
            format!("it is over ({phase})"),
            format!("what happened:\n    claudex-loop journal {id}"),
        ),
        _ if session != RUN => is_a_sessions(&session),
        _ if store.is_running(&id) => refused(
            "its review is running in another process".to_owned(),
            format!("follow it:\n    claudex-loop review {id} --follow"),
        ),
        _ if held.fields().failures > 0 && Caller::from_env().actor(false) == Actor::Person => {
            tried_anew(&held)
        }
        _ => Ok(held),
    }
}

/// Lets a reviewer that failed be tried as often as before: a person has the loop go on.
fn tried_anew(held: &AnyLoop) -> Result<AnyLoop, Failure> {
    let (store, id) = (held.raw().store(), held.id());
    let open =
        |actor| AnyLoop::open(store, id, actor).map_err(|error| Failure::new(Exit::Refused, error));
    let verb = Verb::Resume(LoopArgs::default());
    let resumed = Plan::take(verb, open(Actor::Person)?).map_err(JobError::from);
    resumed
        .map_err(|error| Failure::new(Exit::Refused, error))
        .and_then(|_| open(Actor::Hook))
}

/// Returns whether a loop reviews changes, is not over, and belongs to no session.
fn is_nobodys_review(held: &AnyLoop) -> bool {
    let is_nobodys = [UNKNOWN, ""].contains(&held.header().session.as_str());
    is_nobodys && reviews_changes(held) && !held.phase().is_terminal()
}

/// Says what comes next in a loop of a terminal that is not being reviewed: one of `run`, whose drafter is at work or where nobody is,
/// or a review of changes.
pub fn next_action(held: &AnyLoop) -> Option<NextAction> {
    let id = held.id();
    if held.phase().is_terminal() || held.raw().store().is_running(id) {
        return None;
    }
    if held.header().session == RUN {
        let next = format!("where that was interrupted, {}", go_on(held));
        return Some(NextAction::new("its run", next));
    }
    let next = format!("have it reviewed and ended here:\n    claudex-loop run --resume {id}");
    is_nobodys_review(held)
        .then(|| NextAction::new("its review, or a session that takes it up", next))
}

/// Refuses the verb by which sessions go on to a loop of `run`, which no session drives.
///
/// # Errors
/// It is one.
pub fn not_a_sessions(held: &mut AnyLoop, verb: &Verb) -> Result<(), Failure> {
    let id = held.id();
    if !matches!(verb, Verb::Resume { .. })
        || held.header().session != RUN
        || held.phase().is_terminal()
    {
        return Ok(());
    }
    Err(Failure::plain(
        Exit::Refused,
        "claudex::run::resume",
        format!("loop {id} is one that `run` drives, and no session does"),
        &format!(
            "to {}\nto have a session take it over:{}",
            go_on(held),
            INFO.command(&format!("adopt {id}"))
        ),
    ))
}

/// Says how to go on with a loop of `run` that another one is refused for, or to give it up.
pub fn in_the_way(id: &str) -> Option<String> {
    let active = locate::active_loops(INFO.state, &locate::here().ok()?);
    let (store, listed) = active
        .into_iter()
        .find(|(_, listed)| listed.id.as_str() == id)?;
    (listed.session.as_deref() == Some(RUN)).then(|| {
        let line = line(id, &noted(&store.journal(&listed.id).unwrap_or_default()));
        format!("to go on with it:\n    {line}\nto give it up:\n    claudex-loop cancel {id}")
    })
}

/// Says why `run` came to no end with a loop that is kept in the project at `root`, and the line that goes on with it.
pub fn kept(
    exit: Exit,
    code: &str,
    why: &str,
    id: &str,
    given: &Given,
    root: &Utf8Path,
) -> Failure {
    let is_here = |here: Utf8PathBuf| locate::root(INFO.state, &here) == root;
    let place = match locate::here().is_ok_and(is_here) {
        true => String::new(),
        false => format!(", in {}", text::shown(root)),
    };
    Failure::plain(
        exit,
        code,
        format!("{why}; loop {id} is kept, with the rounds that are finished"),
        &format!("to go on with it{place}:\n    {}", line(id, given)),
    )
}
