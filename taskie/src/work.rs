//! The agent's work in a phase, and the transition that follows. Stops and `advance` call this.

use claudex_loop::Refused;
use claudex_loop::digest::sha256;
use claudex_loop::machine::Raw;
use claudex_loop::review::round::RoundError;
use claudex_loop::review::subject::SubjectText;
use claudex_loop::store::{ChangeEntry, Entry, to_count};
use claudex_loop::text;

use crate::files::Directory;
use crate::files::name::Name;
use crate::files::task::TaskFile;
use crate::typestate::{CODE_REVIEW_REVIEW, PLAN_REVIEW_REVIEW, Transition};
use crate::{AnyLoop, Phase, context};

/// Work that is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Whether the agent is reminded of it; otherwise the turn ends in silence.
    pub(crate) reminds: bool,
    /// The missing part, as half a sentence.
    pub(crate) what: String,
}

const NO_PENDING_TASK: &str = "tasks.md must have a pending task";

/// Returns the next transition if the work of the phase is complete, or else the missing part.
pub(crate) fn transition(raw: &Raw, directory: &Directory) -> Result<Transition, Missing> {
    match context::phase(raw) {
        Phase::NewPlan if directory.has_complete_plan() => Ok(Transition::Planned),
        Phase::NewPlan => missing(true, "plan.md must have a heading ## Overview, or 50 lines"),
        Phase::CreateTasks if directory.next_task().is_none() => {
            missing(directory.has(Name::Tasks), NO_PENDING_TASK)
        }
        Phase::CreateTasks if changed_file(raw, directory).is_some() => reopen(raw),
        Phase::CreateTasks => Ok(Transition::TasksWritten {
            total: directory.active().count() as u64,
            done: directory.done().count() as u64,
        }),
        Phase::CompleteTask | Phase::CompleteTaskTdd => task(raw, directory),
        _ => answer(raw, directory),
    }
}

fn missing(reminds: bool, what: impl Into<String>) -> Result<Transition, Missing> {
    Err(Missing {
        reminds,
        what: what.into(),
    })
}

/// Repeats the review of a changed plan or task.
fn reopen(raw: &Raw) -> Result<Transition, Missing> {
    if is_reopened_too_often(raw) {
        let problem = format!(
            "the plan or a task changed again after its review; ask the user to have it reviewed once more: /taskie:resume {}",
            raw.id()
        );
        return missing(true, problem);
    }
    Ok(Transition::Reopen)
}

/// Returns whether only the user may have the plan or a task reviewed again: `machine.toml` limits
/// the repeated reviews, and `resume` grants more.
pub(crate) fn is_reopened_too_often(raw: &Raw) -> bool {
    let mut open = raw.open_edges().into_iter();
    !open.any(|edge| edge.transition == "reopen")
}

/// Looks for the task that was done since the previous one passed its review.
fn task(raw: &Raw, directory: &Directory) -> Result<Transition, Missing> {
    let newest = newest_done(raw, directory);
    let file = |task: Option<u64>| directory.task_files.get(&task?);
    let Some((task, file)) = newest.zip(file(newest)) else {
        let is_begun = file(context::task(raw, directory)).is_some_and(TaskFile::is_begun);
        return missing(
            newest.is_some() || is_begun,
            "no finished task is waiting for review; complete all subtasks of a task and set its row to done",
        );
    };
    if let Some(open) = file.open_subtask() {
        let status = open.status_name();
        let heading = text::one_line(&open.heading, 60);
        let problem =
            format!("the row of task {task} is done, and “{heading}” is {status}; complete it");
        return missing(true, problem);
    }
    if changed_file(raw, directory).is_some() {
        return reopen(raw);
    }
    if has_code(raw) {
        return Ok(Transition::TaskDone { task });
    }
    missing(
        true,
        format!(
            "task {task} is marked as done, and no file of the project has changed since it began; write its code, or ask the user to run taskie drop-task {task} once its row says cancelled"
        ),
    )
}

/// Returns whether tasks.md has fewer active tasks than the loop counts: a row is missing, or the
/// user has not dropped its task yet.
pub(crate) fn lacks_row(raw: &Raw, directory: &Directory) -> bool {
    (directory.active().count() as u64) < raw.count("tasks_total")
}

/// Returns whether a file outside of the plans has changed since the current task began. A tree
/// that cannot be compared counts as changed: the review then names the problem.
pub(crate) fn has_code(raw: &Raw) -> bool {
    let read = SubjectText::read(raw, &CODE_REVIEW_REVIEW, false);
    !matches!(read, Err(RoundError::Nothing { .. }))
}

fn answer(raw: &Raw, directory: &Directory) -> Result<Transition, Missing> {
    let Some((group, number)) = context::review_to_answer(raw) else {
        return missing(false, "there is nothing to advance here");
    };
    let answer = Name::PostReview(group, number);
    let found = directory.entries.get(&answer.to_string());
    if found.is_none_or(|found| found.size == 0) {
        let problem = format!("the newest review has no answer yet; write {answer}");
        return missing(true, problem);
    }
    let total = directory.active().count() as u64;
    if total == 0 && context::phase(raw) == Phase::PostTasksReview {
        return missing(true, NO_PENDING_TASK);
    }
    Ok(Transition::Addressed { total })
}

/// Takes a transition of the agent's work. Skips the review after it if the plan has none.
pub(crate) fn take(held: AnyLoop, transition: Transition) -> Result<AnyLoop, Refused<AnyLoop>> {
    let now = held.take_transition(transition)?;
    if now.phase().review().is_some() && now.fields().max_reviews == 0 {
        return now.take_transition(Transition::Skip);
    }
    Ok(now)
}

/// Returns the task whose row is done and that has not passed its review.
pub(crate) fn newest_done(raw: &Raw, directory: &Directory) -> Option<u64> {
    if directory.done().count() as u64 <= raw.count("tasks_done") {
        return None;
    }
    // Reviews before the plan was taken up are unknown: the newest file counts.
    let passed = tasks_by(raw, &PASSES);
    let unreviewed = directory.done().filter(|id| !passed.contains(id));
    unreviewed.max_by_key(|id| (directory.modified(Name::Task(*id)), *id))
}

/// The transitions by which a task leaves its review for good.
pub(crate) const PASSES: [&str; 3] = ["passed", "accept", "skip"];

/// Returns the tasks whose code review was begun or ended by one of these transitions.
pub(crate) fn tasks_by(raw: &Raw, transitions: &[&str]) -> Vec<u64> {
    let is_of_code = |phase: &Option<String>| phase.as_deref() == Some("code-review");
    let journal = raw.journal().unwrap_or_default();
    let changes = journal.iter().filter_map(Entry::change);
    let changes = changes.filter(|change| {
        transitions.contains(&&*change.what) && (is_of_code(&change.from) || is_of_code(&change.to))
    });
    let task = |change: &ChangeEntry| to_count(change.field("current_task")?);
    changes.filter_map(task).collect()
}

/// Returns the number of active tasks, and of those that are done, but for those whose review was
/// begun and not passed: the automation was ended meanwhile, and continues there.
pub(crate) fn count_reviewed(raw: &Raw, directory: &Directory) -> (u64, u64) {
    let passed = tasks_by(raw, &PASSES);
    let mut begun = tasks_by(raw, &["task_done"]);
    begun.retain(|task| !passed.contains(task));
    let done = directory.done().filter(|task| !begun.contains(task));
    (directory.active().count() as u64, done.count() as u64)
}

/// Returns the digests of the plan and of its tasks, for the field `reviewed`.
pub(crate) fn reviewed_digests(directory: &Directory) -> String {
    let mut all = vec![directory.plan_digest()];
    let digest = |id: u64| Some(format!("{id}:{}", directory.task_files.get(&id)?.digest()));
    all.extend(directory.active().filter_map(digest));
    all.join(" ")
}

/// Returns the digest of the plan in the evidence of its last PASS, or `None` if the user has
/// accepted the plan since, or skipped its review.
fn passed_plan(raw: &Raw) -> Option<String> {
    let journal = raw.journal().ok()?;
    let mut changes = journal.iter().rev().filter_map(Entry::change);
    let left = changes.find(|change| {
        change.from.as_deref() == Some("plan-review")
            && change.to.as_deref() == Some("create-tasks")
    })?;
    let evidence = left.evidence.as_ref()?;
    evidence["subject"].as_str().map(str::to_owned)
}

/// Returns the name of a file that differs from its reviewed text. New tasks do not count.
pub(crate) fn changed_file(raw: &Raw, directory: &Directory) -> Option<String> {
    let plan = || "plan.md or design.md".to_owned();
    // A kill may have kept this digest out of the field.
    if context::phase(raw) == Phase::CreateTasks
        && let Some(reviewed) = passed_plan(raw)
    {
        let read = SubjectText::read(raw, &PLAN_REVIEW_REVIEW, false);
        let is_same = read.is_ok_and(|read| sha256(&read.text) == reviewed);
        return (!is_same).then(plan);
    }
    let current = reviewed_digests(directory);
    let reviewed = raw.text("reviewed");
    let changed = reviewed.split_whitespace().find(|entry| {
        let name = entry.split_inclusive(':').next().unwrap_or_default();
        let mut current = current.split(' ');
        current.any(|now| now.starts_with(name) && now != *entry)
    });
    let task = |name: &str| name.parse().ok().map(|task| Name::Task(task).to_string());
    let (name, _) = changed?.split_once(':')?;
    Some(task(name).unwrap_or_else(plan))
}
