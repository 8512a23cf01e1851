//! The agent's work in a phase: whether it is complete, and the transition that follows. A stop and `advance` both go through here.

use claudex_loop::Refused;
use claudex_loop::machine::Raw;
use claudex_loop::review::changes::ChangesError;
use claudex_loop::review::round::RoundError;
use claudex_loop::review::subject::SubjectText;
use claudex_loop::store::{ChangeEntry, Entry, FieldValue as _};

use crate::files::Directory;
use crate::files::name::Name;
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
pub fn look(held: &AnyLoop, directory: &Directory) -> Result<Work, Missing> {
    let raw = held.raw();
    let missing = |reminds: bool, what: &str| {
        Err(Missing {
            reminds,
            what: what.to_owned(),
        })
    };
    match held.phase() {
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
        Phase::CompleteTask | Phase::CompleteTaskTdd => task(held, directory),
        Phase::PostPlanReview
        | Phase::PostTasksReview
        | Phase::PostCodeReview
        | Phase::PostAllCodeReview => answer(held, directory),
        _ => missing(false, "there is nothing to advance here"),
    }
}

/// Looks for the task that was done since the last one passed its review.
fn task(held: &AnyLoop, directory: &Directory) -> Result<Work, Missing> {
    let raw = held.raw();
    let newest = newest_done(raw, directory);
    let is_completed = |task: &u64| {
        let file = directory.task(*task);
        file.is_some_and(|file| file.is_completed())
    };
    let Some(task) = newest.filter(is_completed) else {
        let current = directory.task(context::task(held));
        let begun = current.is_some_and(|file| file.is_begun());
        return Err(Missing {
            reminds: newest.is_some() || begun,
            what: "no finished task is waiting for review; complete all subtasks of a task and set its row to done"
                .to_owned(),
        });
    };
    if reviewed::is_changed(raw, directory) {
        return Ok(Work::Changed);
    }
    match has_code(raw) {
        true => Ok(Work::Task(task)),
        false => Err(Missing {
            reminds: true,
            what: format!(
                "task {task} is marked as done, and no file of the project has changed since it began; write its code"
            ),
        }),
    }
}

/// Returns whether a file outside of the plans has changed since the task under way began. What cannot be compared counts as
/// changed: the review then names the problem.
fn has_code(raw: &Raw) -> bool {
    let read = SubjectText::read(raw, &CODE_REVIEW_REVIEW, false);
    !matches!(read, Err(RoundError::Changes(ChangesError::Nothing { .. })))
}

fn answer(held: &AnyLoop, directory: &Directory) -> Result<Work, Missing> {
    let name = context::newest(held).map(|(group, number)| Name::PostReview(group, number));
    let missing = |what: String| Missing {
        reminds: true,
        what,
    };
    match name {
        Some(name) if !directory.has(name) => Err(missing(format!(
            "the newest review has no answer yet; write {name}"
        ))),
        Some(_) if held.phase() == Phase::PostTasksReview => match directory.table() {
            Some(tasks) => Ok(Work::TasksAnswer(tasks.active().count() as u64)),
            None => Err(missing("tasks.md must have a pending task".to_owned())),
        },
        Some(_) => Ok(Work::Answer),
        None => Err(missing("there is no review to answer".to_owned())),
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
    let tasks = directory.table()?;
    tasks.next()?;
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
    let task = |change: &ChangeEntry| change.field("current_task")?.as_count();
    let came_to_review = |change: &&ChangeEntry| change.what == "task_done";
    let reviewed: Vec<u64> = changes.filter(came_to_review).filter_map(task).collect();
    let modified = |id: u64| Some(directory.entries.get(&Name::Task(id).to_string())?.modified);
    let done = tasks.done().filter(|row| !reviewed.contains(&row.id));
    // Nobody knows which tasks were reviewed before the plan was taken up: the newest file is the one.
    done.max_by_key(|row| (modified(row.id), row.id))
        .map(|row| row.id)
}
