//! The commands that begin work: in automation, and by hand.

use clap::ArgMatches;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{LoopArgs, out};
use serde_json::Value;

use super::{Call, by_hand, phase_word};
use crate::files::Directory;
use crate::typestate::{LeaveCommand, Verb};
use crate::{AnyLoop, Phase, stops, work};

/// Has the tasks written.
pub(super) fn create_tasks(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    begin(info, matches, Phase::CreateTasks, |_, _| {
        Ok(Verb::BeginTasks(LoopArgs::default()))
    })
}

/// Has a task done and reviewed.
pub(super) fn complete_task(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    begin(info, matches, Phase::CompleteTask, |call, held| {
        let (total, done) = counted(call, held)?;
        Ok(Verb::BeginTask {
            loop_args: LoopArgs::default(),
            total,
            done,
        })
    })
}

/// Has a task done test first, and reviewed.
pub(super) fn complete_task_tdd(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    begin(info, matches, Phase::CompleteTaskTdd, |call, held| {
        let (total, done) = counted(call, held)?;
        Ok(Verb::BeginTaskTdd {
            loop_args: LoopArgs::default(),
            total,
            done,
        })
    })
}

/// Goes into a work phase from standalone; one that the plan is in already says what it asks for.
fn begin(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
    phase: Phase,
    verb: impl Fn(&Call, &AnyLoop) -> Result<Verb, Failure>,
) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    let held = call.open(call.actor)?;
    if held.phase() == phase {
        return call.say(&held);
    }
    call.persons_only()?;
    if held.phase() != Phase::Standalone {
        return Err(elsewhere(&call, &held));
    }
    let verb = verb(&call, &held)?;
    let now = call.take(held, verb)?;
    call.say(&now)
}

/// Refuses a command that the plan is not at.
fn elsewhere(call: &Call, held: &AnyLoop) -> Failure {
    let (id, at) = (held.id(), phase_word(held.raw()));
    call.refused(
        format!("plan {id} is at {at}, and {} is not next", call.name),
        &format!("nothing was changed; what is next:\n    taskie next {id}"),
    )
}

fn directory(call: &Call, held: &AnyLoop) -> Result<Directory, Failure> {
    stops::directory(held.raw()).map_err(|error| {
        call.refused(
            format!("the plan’s directory cannot be read: {error}"),
            "see who owns it",
        )
    })
}

/// Returns the number of tasks of a plan that goes back into automation.
fn counted(call: &Call, held: &AnyLoop) -> Result<(u64, u64), Failure> {
    match work::counted(&directory(call, held)?) {
        Some(counted) => Ok((counted.total, counted.done)),
        None => Err(no_task(call, held)),
    }
}

fn no_task(call: &Call, held: &AnyLoop) -> Failure {
    let id = held.id();
    call.refused(
        format!("plan {id}: tasks.md has no pending task that can be read"),
        &format!("nothing was changed; what is wrong with it:\n    taskie check {id}"),
    )
}

/// Has a task done without reviews.
pub(super) fn next_task(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    leave(info, matches, LeaveCommand::NextTask, "")
}

/// Has a task done test first, without reviews.
pub(super) fn next_task_tdd(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    leave(info, matches, LeaveCommand::NextTaskTdd, ", test first")
}

fn leave(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
    command: LeaveCommand,
    how: &str,
) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    call.persons_only()?;
    let held = call.open(call.actor)?;
    let directory = directory(&call, &held)?;
    let Some(task) = directory
        .table()
        .and_then(|tasks| tasks.next())
        .map(|row| row.id)
    else {
        return Err(no_task(&call, &held));
    };
    let verb = Verb::Leave {
        loop_args: LoopArgs::default(),
        command,
        task,
    };
    let now = call.take(held, verb)?;
    out::line(&format!(
        "Plan {}: do task {task}{how}, without reviews. The automation is off.",
        now.id()
    ));
    Ok(Exit::Complete)
}

/// Goes on with the current task.
pub(super) fn continue_task(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    call.persons_only()?;
    let held = call.open(call.actor)?;
    mark(&call, &held)?;
    match crate::context::task(&held) {
        0 => out::line(&format!(
            "Plan {}: no task is under way; ask the user which one to continue.",
            held.id()
        )),
        task => out::line(&format!("Plan {}: go on with task {task}.", held.id())),
    }
    Ok(Exit::Complete)
}

/// Writes down what ran last: nothing depends on it, so that it is no edge.
fn mark(call: &Call, held: &AnyLoop) -> Result<(), Failure> {
    if held.phase().is_terminal() {
        return Err(elsewhere(call, held));
    }
    let (store, by) = (held.raw().store(), call.actor.to_string());
    let set = store.set_field(
        held.id(),
        "phase",
        Value::from(call.name.clone()),
        &by,
        true,
    );
    set.map(drop)
        .map_err(|error| Failure::new(Exit::Internal, error))
}

/// Has something reviewed: in automation the phase's own review, else by hand. What was typed in a client is told to run it: a review
/// takes longer than a slash command may.
pub(super) fn review(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    let held = call.open(call.actor)?;
    if !call.from_prompt
        && let Some(kind) = by_hand::kind(&call, &held)
    {
        mark(&call, &held)?;
        return by_hand::review(&call, &held, kind);
    }
    outside(&call, &held, |id| {
        format!(
            "Plan {id}: run this with a timeout of 600000 ms, then tell the user the findings:\n\n    taskie {} {id}",
            call.name
        )
    })
}

/// Deals with the newest review: in automation the phase's own work.
pub(super) fn post_review(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    let held = call.open(call.actor)?;
    outside(&call, &held, |id| {
        format!("Plan {id}: answer the newest review of that kind in the file beside it.")
    })
}

/// Says what a review's command means in automation, where it is the phase's own, and in standalone.
fn outside(call: &Call, held: &AnyLoop, said: impl Fn(&str) -> String) -> Result<Exit, Failure> {
    if phase_word(held.raw()) == call.name {
        return call.say(held);
    }
    call.persons_only()?;
    if held.phase() != Phase::Standalone {
        return Err(elsewhere(call, held));
    }
    mark(call, held)?;
    out::line(&said(held.id().as_str()));
    Ok(Exit::Complete)
}
