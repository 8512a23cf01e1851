//! `advance TARGET [PLAN]`: the agent's one way on. It takes the transition that a stop would take, where the work is there.

use claudex_loop::Actor;
use claudex_loop::Refused;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{attempts, loops, messages, out};

use clap::ArgMatches;

use super::{Call, phase_word, shown};
use crate::context::{self, stored};
use crate::files::Directory;
use crate::files::name::Name;
use crate::next::WORDS;
use crate::stops::{self, Work};
use crate::typestate::TABLE;
use crate::{AnyLoop, Phase};

/// Advances.
pub(super) fn advance(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    // The seed's names of the work targets.
    let target = match call.first.as_str() {
        "next-task" => "complete-task",
        "next-task-tdd" => "complete-task-tdd",
        target => target,
    };
    if !WORDS.contains(&target) {
        let what = format!("“{}” is no word of next_phase", shown(target));
        return Err(call.usage(what, &format!("they are {}", WORDS.join(", "))));
    }
    let held = call.open(Actor::Hook)?;
    let (store, id, by) = (
        held.raw().store().clone(),
        held.id().clone(),
        call.caller.actor(false),
    );
    let now = held.phase();
    if phase_word(held.raw()) == target {
        out::line(&format!("Plan {id} is at {target} already."));
        return call.say(&held);
    }
    let refused = |why: String| {
        attempts::note(&store, &id, by, &format!("advance {target}"), &why);
        call.refused(
            format!("plan {id} cannot go on to {target}: {why}"),
            &instead(now, target, id.as_str()),
        )
    };
    if context::target(now).map(stored) != Some(target) {
        let at = phase_word(held.raw());
        return Err(refused(format!(
            "it is at {at}, from where no advance leads there"
        )));
    }
    let settings = loops::settings(info, store.root(), None)?;
    let _ = held
        .raw()
        .told()
        .permissions
        .set(settings.permissions(Actor::Hook));
    let directory = stops::directory(held.raw())
        .map_err(|error| refused(format!("its directory cannot be read: {error}")))?;
    let broken = stops::broken(&held, &directory);
    if !broken.is_empty() {
        let all: Vec<String> = broken.iter().map(|one| format!("- {one}")).collect();
        return Err(refused(format!(
            "its directory breaks the rules:\n{}",
            all.join("\n")
        )));
    }
    match step(held, &directory) {
        Ok(Ok(now)) => {
            store.log(&format!(
                "{id} advance by {by}: now {}",
                messages::phase(now.raw()).name
            ));
            call.entered(&now)?;
            call.say(&now)
        }
        Ok(Err(why)) => Err(refused(why)),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// Takes the transition where the work is there; else says what is missing.
fn step(held: AnyLoop, directory: &Directory) -> Result<Result<AnyLoop, String>, Refused<AnyLoop>> {
    let missing = |what: &str| Ok(Err(what.to_owned()));
    let answer = context::newest(&held).map(|(group, number)| Name::PostReview(group, number));
    let answered = answer.is_some_and(|answer| directory.has(answer));
    match held {
        AnyLoop::NewPlan(held) => match stops::plan_written(held.raw(), directory) {
            Some(Work::Complete(())) => done(held.planned()),
            _ => missing("plan.md is not complete: it has neither ## Overview nor 50 lines"),
        },
        AnyLoop::CreateTasks(held) => match stops::tasks_written(held.raw(), directory) {
            Some(Work::Complete(counted)) => done(held.tasks_written(counted.total, counted.done)),
            _ => missing("tasks.md is missing, or has no pending task"),
        },
        AnyLoop::CompleteTask(held) => match stops::task_done(held.raw(), directory) {
            Some(Work::Complete(task)) => done(held.task_done(task)),
            _ => missing(UNDONE),
        },
        AnyLoop::CompleteTaskTdd(held) => match stops::task_done(held.raw(), directory) {
            Some(Work::Complete(task)) => done(held.task_done(task)),
            _ => missing(UNDONE),
        },
        AnyLoop::PostTasksReview(held) => match stops::tasks_answered(held.raw()) {
            Err(refusal) => Err(Refused::new(held.into_any(), refusal)),
            Ok(Some(counted)) => done(held.tasks_addressed(counted.total, counted.done)),
            Ok(None) => missing(UNANSWERED),
        },
        AnyLoop::PostPlanReview(held) if answered => done(held.addressed()),
        AnyLoop::PostCodeReview(held) if answered => done(held.addressed()),
        AnyLoop::PostAllCodeReview(held) if answered => done(held.addressed()),
        AnyLoop::PostPlanReview(_) | AnyLoop::PostCodeReview(_) | AnyLoop::PostAllCodeReview(_) => {
            missing(UNANSWERED)
        }
        _ => missing("nothing is to be done here by an advance"),
    }
}

const UNDONE: &str = "no task was done since the last one was reviewed: its row is done, and all of its subtasks are completed";
const UNANSWERED: &str = "the newest review is not answered yet";

fn done<L: Into<AnyLoop>, N: Into<AnyLoop>>(
    taken: Result<N, Refused<L>>,
) -> Result<Result<AnyLoop, String>, Refused<AnyLoop>> {
    match taken {
        Ok(now) => Ok(Ok(now.into())),
        Err(refused) => Err(refused.map(Into::into)),
    }
}

/// Says from where a target would be legal, and what leads on from here.
fn instead(now: Phase, target: &str, id: &str) -> String {
    let phases = TABLE
        .phases
        .iter()
        .filter_map(|phase| phase.name.parse().ok());
    let from = phases
        .filter(|from| context::target(*from).map(stored) == Some(target))
        .map(stored);
    let from: Vec<&str> = from.collect();
    let legal = match from.is_empty() {
        true => format!("no advance leads to {target}: reviews or a person do"),
        false => format!("an advance to {target} is legal from {}", from.join(", ")),
    };
    let here = match context::target(now) {
        Some(next) => {
            format!(
                "once the work is there:\n    {} advance {} {id}",
                TABLE.state.program,
                stored(next)
            )
        }
        None => format!("what is next here:\n    {} next {id}", TABLE.state.program),
    };
    format!("nothing was changed; {legal}; {here}")
}
