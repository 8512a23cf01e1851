//! The agent's work in a phase: whether it is complete, and the transition that follows. A stop and `advance` both call this module.

use claudex_loop::Refused;
use claudex_loop::machine::Raw;
use claudex_loop::review::changes::ChangesError;
use claudex_loop::review::round::RoundError;
use claudex_loop::review::subject::SubjectText;
use claudex_loop::store::{ChangeEntry, Entry, FieldValue as _};

use crate::files::Directory;
use crate::files::name::Name;
use crate::files::task::TaskFile;
use crate::typestate::CODE_REVIEW_REVIEW;
use crate::{AnyLoop, Phase, context, reviewed};

/// Work that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The plan is written.
    Plan,
    /// The tasks are written.
    Tasks(Counted),
    /// The task of this number is done.
    Task(u64),
    /// The newest review is answered.
    Answer,
    /// The newest review of the tasks is answered. There are so many active tasks now.
    TasksAnswer(u64),
    /// The plan or a task changed after it passed its review.
    Changed,
}

/// Work that is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Whether the agent is reminded of it; otherwise the turn ends in silence.
    pub reminds: bool,
    /// The missing part, as half a sentence.
    pub what: String,
}

/// The number of tasks in tasks.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The active tasks.
    pub total: u64,
    /// The active tasks that are done.
    pub done: u64,
}

/// Looks at the work of a plan's phase.
///
/// # Errors
/// Returns an error if the work is not complete, or the phase has none.
pub fn look(raw: &Raw, directory: &Directory) -> Result<Work, Missing> {
    match context::phase(raw) {
        Phase::NewPlan if directory.has_complete_plan() => Ok(Work::Plan),
        Phase::NewPlan => missing(true, "plan.md must have a heading ## Overview, or 50 lines"),
        Phase::CreateTasks => match counted(directory) {
            Some(_) if reviewed::is_changed(raw, directory) => Ok(Work::Changed),
            Some(counted) => Ok(Work::Tasks(counted)),
            None => missing(
                directory.tasks.is_some(),
                "tasks.md must have a pending task",
            ),
        },
        Phase::CompleteTask | Phase::CompleteTaskTdd => task(raw, directory),
        _ => answer(raw, directory),
    }
}

fn missing(reminds: bool, what: impl Into<String>) -> Result<Work, Missing> {
    Err(Missing {
        reminds,
        what: what.into(),
    })
}

/// Looks for the task that was done since the last one passed its review.
fn task(raw: &Raw, directory: &Directory) -> Result<Work, Missing> {
    let newest = newest_done(raw, directory);
    let file = |task: &u64| directory.task(*task);
    let Some(task) = newest.filter(|task| file(task).is_some_and(TaskFile::is_completed)) else {
        let is_begun = context::task(raw)
            .and_then(|task| file(&task))
            .is_some_and(TaskFile::is_begun);
        return missing(
            newest.is_some() || is_begun,
            "no finished task is waiting for review; complete all subtasks of a task and set its row to done",
        );
    };
    if reviewed::is_changed(raw, directory) {
        return Ok(Work::Changed);
    }
    if has_code(raw) {
        return Ok(Work::Task(task));
    }
    missing(
        true,
        format!(
            "task {task} is marked as done, and no file of the project has changed since it began; write its code"
        ),
    )
}

/// Returns whether a file outside of the plans has changed since the task under way began. What cannot be compared counts as
/// changed: the review then names the problem.
fn has_code(raw: &Raw) -> bool {
    let read = SubjectText::read(raw, &CODE_REVIEW_REVIEW, false);
    !matches!(read, Err(RoundError::Changes(ChangesError::Nothing { .. })))
}

/// Looks for the answer to the newest review.
fn answer(raw: &Raw, directory: &Directory) -> Result<Work, Missing> {
    let Some((group, number)) = context::review_to_answer(raw) else {
        return missing(false, "there is nothing to advance here");
    };
    let answer = Name::PostReview(group, number);
    if !directory.has(answer) {
        let what = format!("the newest review has no answer yet; write {answer}");
        return missing(true, what);
    }
    match directory.table() {
        _ if context::phase(raw) != Phase::PostTasksReview => Ok(Work::Answer),
        Some(tasks) => Ok(Work::TasksAnswer(tasks.active().count() as u64)),
        None => missing(true, "tasks.md must have a pending task"),
    }
}

/// Takes the transition that follows from complete work. If the plan has no reviews, the review that it leads to is skipped.
///
/// # Errors
/// Returns an error if the transition is refused.
pub fn take(held: AnyLoop, work: Work) -> Result<AnyLoop, Refused<AnyLoop>> {
    let now = match (held, work) {
        (AnyLoop::NewPlan(held), Work::Plan) => done(held.planned()),
        (AnyLoop::CreateTasks(held), Work::Changed) => done(held.reopen()),
        (AnyLoop::CreateTasks(held), Work::Tasks(Counted { total, done: all })) => {
            done(held.tasks_written(total, all))
        }
        (AnyLoop::CompleteTask(held), Work::Changed) => done(held.reopen()),
        (AnyLoop::CompleteTaskTdd(held), Work::Changed) => done(held.reopen()),
        (AnyLoop::CompleteTask(held), Work::Task(task)) => done(held.task_done(task)),
        (AnyLoop::CompleteTaskTdd(held), Work::Task(task)) => done(held.task_done(task)),
        (AnyLoop::PostPlanReview(held), Work::Answer) => done(held.addressed()),
        (AnyLoop::PostCodeReview(held), Work::Answer) => done(held.addressed()),
        (AnyLoop::PostAllCodeReview(held), Work::Answer) => done(held.addressed()),
        (AnyLoop::PostTasksReview(held), Work::TasksAnswer(total)) => {
            done(held.tasks_addressed(total))
        }
        (held, _) => return Ok(held),
    }?;
    if now.raw().count("max_reviews") > 0 {
        return Ok(now);
    }
    match now {
        AnyLoop::PlanReview(held) => done(held.skip()),
        AnyLoop::TasksReview(held) => done(held.skip()),
        AnyLoop::CodeReview(held) => done(held.skip()),
        AnyLoop::AllCodeReview(held) => done(held.skip()),
        now => Ok(now),
    }
}

fn done<L: Into<AnyLoop>, N: Into<AnyLoop>>(
    taken: Result<N, Refused<L>>,
) -> Result<AnyLoop, Refused<AnyLoop>> {
    match taken {
        Ok(now) => Ok(now.into()),
        Err(refused) => Err(refused.map(Into::into)),
    }
}

/// Returns the number of tasks, or `None` if the table cannot be read or has no pending task.
pub fn counted(directory: &Directory) -> Option<Counted> {
    directory.next_task()?;
    let tasks = directory.table()?;
    Some(Counted {
        total: tasks.active().count() as u64,
        done: tasks.done().count() as u64,
    })
}

/// Returns the task whose row is done and that was not reviewed yet.
pub fn newest_done(raw: &Raw, directory: &Directory) -> Option<u64> {
    let tasks = directory.table()?;
    if tasks.done().count() as u64 <= raw.count("tasks_done") {
        return None;
    }
    let journal = raw.journal().unwrap_or_default();
    let changes = journal.iter().filter_map(Entry::change);
    let came_to_review = changes.filter(|change| change.what == "task_done");
    let task = |change: &ChangeEntry| change.field("current_task")?.as_count();
    let reviewed: Vec<u64> = came_to_review.filter_map(task).collect();
    let done = tasks.done().map(|row| row.id);
    // Nobody knows which tasks were reviewed before the plan was taken up: the newest file is the one.
    done.filter(|id| !reviewed.contains(id))
        .max_by_key(|id| (directory.modified(Name::Task(*id)), *id))
}
