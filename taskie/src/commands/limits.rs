//! The number of reviews and of tasks, which the user decides.

use claudex_loop::machine::Raw;
use claudex_loop::program::exit::{CommandResult, Failure};
use claudex_loop::program::out;
use claudex_loop::store::Entry;
use claudex_loop::text;

use super::Call;
use crate::files::name::Name;
use crate::files::tasks::Row;
use crate::typestate::Transition;
use crate::{Phase, work};

/// The most reviews per cycle, as for an edit of `max_reviews` by hand.
pub(super) const MAX_REVIEWS: u64 = 99;

/// The transitions that count the tasks.
const COUNTS: [&str; 3] = ["tasks_written", "begin_task", "addressed"];

/// Takes the number that is the first word of a call.
fn take_number(call: &mut Call) -> Result<u64, Failure> {
    let first = call.take_first();
    first.parse().map_err(|_| {
        let name = &call.name;
        let found = text::one_line(&first, 60);
        let problem = format!("{name} expects a number, found “{found}”");
        call.usage(problem, &format!("for example:\n    taskie {name} 3"))
    })
}

/// Changes the limit of reviews: grants N more, or sets it.
pub(super) fn limit_reviews(mut call: Call) -> CommandResult {
    let count = take_number(&mut call)?;
    let held = call.open_for_user()?;
    let is_grant = call.name == "more";
    let (limit, transition) = if is_grant {
        let limit = held.fields().max_reviews.saturating_add(count);
        (limit, Transition::Grant { reviews: count })
    } else {
        (count, Transition::Limit { count })
    };
    if limit > MAX_REVIEWS {
        let name = &call.name;
        let problem = format!(
            "a cycle has at most {MAX_REVIEWS} reviews, and {name} {count} asks for {limit}"
        );
        return Err(call.usage(problem, "nothing was changed; give a smaller number"));
    }
    let now = call.take(held, transition)?;
    let line = format!("Plan {}: max_reviews is {limit} now.", now.id());
    if !is_grant {
        return call.print(&line);
    }
    out::line(&format!("{line}\n"));
    call.print_instruction(&now)
}

pub(super) fn add_task(call: &Call) -> CommandResult {
    let held = call.open_for_user()?;
    let directory = call.directory(&held)?;
    // Without automation, nothing counts the rows.
    let is_counted = held.phase() != Phase::Standalone;
    if is_counted && work::lacks_row(held.raw(), &directory) {
        let id = held.id();
        let total = held.fields().tasks_total;
        let problem = format!(
            "plan {id} has {total} tasks, and tasks.md fewer that are pending or done: a row is missing"
        );
        let help = format!(
            "nothing was changed; have the missing row written first, or drop a task that is cancelled or postponed:\n    taskie drop-task K {id}"
        );
        return Err(Failure::refuse(problem, &help));
    }
    let last = directory
        .tasks
        .iter()
        .map(|row| row.id)
        .max()
        .unwrap_or_default();
    // Someone may have written its row already.
    let is_there = is_counted && directory.active().count() as u64 > held.fields().tasks_total;
    let row = if is_there { last } else { last + 1 };
    let now = call.take(held, Transition::Add { row })?;
    let id = now.id();
    let total = now.fields().tasks_total;
    let file = Name::Task(row);
    let next = if is_there {
        "tasks.md has its row already.".to_owned()
    } else {
        format!("Write row {row} of tasks.md, pending, and {file}.")
    };
    call.print(&format!("Plan {id} has {total} tasks now. {next}"))
}

/// Removes a task that was cancelled or postponed.
pub(super) fn drop_task(mut call: Call) -> CommandResult {
    let task = take_number(&mut call)?;
    let held = call.open_for_user()?;
    let directory = call.directory(&held)?;
    let id = held.id();
    let total = held.fields().tasks_total;
    let is_dropped = |row: &Row| row.id == task && !row.is_active();
    let lacks_row = work::lacks_row(held.raw(), &directory);
    if !lacks_row || was_dropped(held.raw(), task) || !directory.tasks.iter().any(is_dropped) {
        let problem = format!(
            "plan {id} counts no task {task} that is cancelled or postponed, among {total} tasks"
        );
        let help = "have its row of tasks.md say cancelled or postponed, then drop it";
        return Err(Failure::refuse(problem, help));
    }
    // It may have been counted: tasks_done then exceeds the rows, or it passed its review.
    let counted = held.fields().tasks_done;
    let rows = directory.done().count() as u64;
    let was_counted = rows < counted || work::tasks_by(held.raw(), &work::PASSES).contains(&task);
    let done = counted.saturating_sub(u64::from(was_counted));
    let now = call.take(held, Transition::Drop { task, done })?;
    let total = now.fields().tasks_total;
    out::line(&format!("Plan {} has {total} tasks now.\n", now.id()));
    call.print_instruction(&now)
}

/// Returns whether a task was dropped since the tasks were last counted.
fn was_dropped(raw: &Raw, task: u64) -> bool {
    let journal = raw.journal().unwrap_or_default();
    let changes = journal.iter().rev().filter_map(Entry::change);
    let mut uncounted = changes.take_while(|change| !COUNTS.contains(&&*change.what));
    uncounted.any(|change| {
        let args = change.args.as_ref().filter(|_| change.what == "drop");
        args.is_some_and(|args| args["task"] == task)
    })
}
