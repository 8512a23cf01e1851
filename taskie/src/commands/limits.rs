//! The number of reviews and of tasks, which the user decides.

use clap::ArgMatches;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{LoopArgs, out};

use super::{Call, phase_word, shown};
use crate::files::name::Name;
use crate::files::tasks::Status;
use crate::typestate::Verb;
use crate::{AnyLoop, Phase, stops};

/// Most reviews per cycle, as for an edit of `max_reviews` by hand.
pub(super) const MOST: u64 = 99;

/// Reads the number of a call: of a slash command it stands before the other words.
fn number(call: &mut Call) -> Result<u64, Failure> {
    if call.first.is_empty() {
        let words = call.words.clone();
        let (first, rest) = words
            .trim()
            .split_once(char::is_whitespace)
            .unwrap_or((words.trim(), ""));
        (call.first, call.words) = (first.to_owned(), rest.to_owned());
    }
    call.first.parse().map_err(|_| {
        let what = format!(
            "{} expects a number, found “{}”",
            call.name,
            shown(&call.first)
        );
        call.usage(what, &format!("for example:\n    taskie {} 3", call.name))
    })
}

/// Grants further reviews.
pub(super) fn more(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (call, now) = limited(info, matches, |reviews| Verb::Grant {
        loop_args: LoopArgs::default(),
        reviews,
    })?;
    out::line("");
    call.say(&now)
}

/// Sets the limit of reviews.
pub(super) fn max_reviews(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let limit = |count| Verb::Limit {
        loop_args: LoopArgs::default(),
        count,
    };
    limited(info, matches, limit).map(|_| Exit::Complete)
}

/// Takes a transition that changes the limit of reviews, and says what it is now.
fn limited(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
    verb: fn(u64) -> Verb,
) -> Result<(Call, AnyLoop), Failure> {
    let mut call = Call::of(info, matches)?;
    let count = number(&mut call)?;
    call.persons_only()?;
    let held = call.open(call.actor)?;
    let sum = match call.name.as_str() {
        "more" => held.fields().max_reviews.saturating_add(count),
        _ => count,
    };
    if sum > MOST {
        return Err(call.usage(
            format!(
                "a cycle has at most {MOST} reviews, and {} {count} asks for {sum}",
                call.name
            ),
            "nothing was changed; give a smaller number",
        ));
    }
    let now = call.take(held, verb(count))?;
    let most = now.fields().max_reviews;
    out::line(&format!(
        "Plan {}: at most {most} reviews per cycle.",
        now.id()
    ));
    Ok((call, now))
}

/// Has one task more.
pub(super) fn add_task(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    call.persons_only()?;
    let held = call.open(call.actor)?;
    let can_add = matches!(
        held.phase(),
        Phase::Standalone
            | Phase::CompleteTask
            | Phase::CompleteTaskTdd
            | Phase::CodeReview
            | Phase::PostCodeReview
            | Phase::AllCodeReview
            | Phase::PostAllCodeReview
    );
    if !can_add {
        let at = phase_word(held.raw());
        let help = "nothing was changed; add it once the tasks have passed their review";
        return Err(call.refused(
            format!("cannot add a task now: plan {} is at {at}", held.id()),
            help,
        ));
    }
    let directory = stops::directory(held.raw());
    let rows = directory
        .ok()
        .and_then(|directory| Some(directory.table()?.rows.iter().map(|row| row.id).max()));
    let next = rows.flatten().unwrap_or_default() + 1;
    let now = call.take(
        held,
        Verb::Add {
            loop_args: LoopArgs::default(),
            row: next,
        },
    )?;
    out::line(&format!(
        "Plan {} has {} tasks now. Write row {next} of tasks.md, pending, and {}.",
        now.id(),
        now.fields().tasks_total,
        Name::Task(next)
    ));
    Ok(Exit::Complete)
}

/// Has one task fewer.
pub(super) fn drop_task(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let mut call = Call::of(info, matches)?;
    let task = number(&mut call)?;
    call.persons_only()?;
    let held = call.open(call.actor)?;
    let directory = stops::directory(held.raw()).unwrap_or_default();
    let id = held.id().clone();
    let total = held.fields().tasks_total;
    let tasks = format!(".taskie/plans/{id}/tasks.md");
    let row = directory.table().and_then(|table| table.row(task));
    let Some(row) = row else {
        let help = format!("nothing was changed; its tasks are in {tasks}");
        return Err(call.refused(format!("plan {id} has no task {task}"), &help));
    };
    match row.status {
        Status::Done => {
            return Err(call.refused(
                format!("task {task} of plan {id} is done"),
                "nothing was changed",
            ));
        }
        Status::Pending => {
            let help = format!("have its row of {tasks} say cancelled or postponed, then drop it");
            return Err(call.refused(format!("task {task} of plan {id} is pending"), &help));
        }
        Status::Cancelled | Status::Postponed => {}
    }
    // Else the directory would break rule S10 from now on.
    let active = directory.table().map_or(0, |table| table.active().count());
    if u64::try_from(active).unwrap_or(u64::MAX) >= total {
        let help = format!("nothing was changed; {tasks} has {active} active rows");
        return Err(call.refused(
            format!("plan {id} counts {total} tasks, without task {task}"),
            &help,
        ));
    }
    let now = call.take(held, Verb::Drop(LoopArgs::default()))?;
    out::line(&format!(
        "Plan {id} has {} tasks now.\n",
        now.fields().tasks_total
    ));
    call.say(&now)
}
