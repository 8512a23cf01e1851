//! The number of reviews and of tasks, which the user decides.

use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::out;
use claudex_loop::text;

use super::Call;
use crate::files::name::Name;
use crate::files::tasks::Row;
use crate::typestate::Transition;

/// The most reviews per cycle, as for an edit of `max_reviews` by hand.
pub(super) const MAX_REVIEWS: u64 = 99;

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
pub(super) fn limit_reviews(mut call: Call) -> Result<Exit, Failure> {
    let count = take_number(&mut call)?;
    let held = call.open_for_person()?;
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
    let id = now.id();
    let limit = now.fields().max_reviews;
    let line = format!("Plan {id}: at most {limit} reviews per cycle.");
    if !is_grant {
        return call.print(&line);
    }
    out::line(&format!("{line}\n"));
    call.say(&now)
}

pub(super) fn add_task(call: &Call) -> Result<Exit, Failure> {
    let held = call.open_for_person()?;
    let directory = call.directory(&held)?;
    let last = directory.tasks.iter().map(|row| row.id).max();
    let row = last.map_or(1, |last| last + 1);
    let now = call.take(held, Transition::Add { row })?;
    let id = now.id();
    let total = now.fields().tasks_total;
    let file = Name::Task(row);
    call.print(&format!(
        "Plan {id} has {total} tasks now. Write row {row} of tasks.md, pending, and {file}."
    ))
}

/// Removes a task that was cancelled or postponed.
pub(super) fn drop_task(mut call: Call) -> Result<Exit, Failure> {
    let task = take_number(&mut call)?;
    let held = call.open_for_person()?;
    let directory = call.directory(&held)?;
    let id = held.id();
    let total = held.fields().tasks_total;
    let is_dropped = |row: &Row| row.id == task && !row.is_active();
    // A task that was dropped before is not counted any more.
    let is_counted = (directory.active().count() as u64) < total;
    if !is_counted || !directory.tasks.iter().any(is_dropped) {
        let problem = format!(
            "plan {id} counts no task {task} that is cancelled or postponed, among {total} tasks"
        );
        let help = "have its row of tasks.md say cancelled or postponed, then drop it";
        return Err(Failure::refuse(problem, help));
    }
    let now = call.take(held, Transition::Drop)?;
    let total = now.fields().tasks_total;
    out::line(&format!("Plan {} has {total} tasks now.\n", now.id()));
    call.say(&now)
}
