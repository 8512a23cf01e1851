//! The stops that `machine.toml` leaves to Rust: the structure rules, and the agent's work.

use std::collections::BTreeSet;

use claudex_loop::behaviours::try_in_turn;
use claudex_loop::machine::Raw;
use claudex_loop::review::Subject;
use claudex_loop::review::runs::{self, Run};
use claudex_loop::store::Entry;
use claudex_loop::{Refused, Step};
use serde_json::Value as Json;

use crate::files::name::Name;
use crate::files::{Directory, Problem};
use crate::rules::{self, TaskCounts};
use crate::typestate::{
    CompleteTask, CompleteTaskTdd, CreateTasks, NewPlan, PostAllCodeReview, PostCodeReview,
    PostPlanReview, PostTasksReview, Standalone, Transition,
};
use crate::{AnyLoop, Loop, OnStop, Phase, context, work};

/// The note of the reviews that existed when a plan was taken up, by their file names.
pub(crate) const FOUND: &str = "reviews-found";

/// The stop handler of a plan.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Taskie;

type StopResult = Result<Step<AnyLoop>, Refused<AnyLoop>>;

/// Declares the stops of the phases in which the agent works.
macro_rules! stops {
    ($($name:ident: $phase:ident,)+) => {
        $(fn $name(&self, held: Loop<$phase>) -> StopResult {
            stop(held.into())
        })+
    };
}

impl OnStop for Taskie {
    fn violations(&self, held: &AnyLoop) -> Vec<String> {
        let raw = held.raw();
        match directory(raw).map(|directory| violations(raw, &directory)) {
            Ok(found) => found.iter().map(ToString::to_string).collect(),
            Err(problem) => vec![problem],
        }
    }

    fn subjects(&self, held: &AnyLoop) -> Result<Vec<Subject>, String> {
        let directory = directory(held.raw())?;
        let file = |task| Subject {
            name: format!("{}/{}", context::dir(held.raw()), Name::Task(task)),
            text: None,
        };
        Ok(directory.active().map(file).collect())
    }

    fn verifies(&self, held: &AnyLoop) -> Result<Vec<String>, String> {
        let directory = directory(held.raw())?;
        Ok(match held.phase() {
            Phase::CodeReview => directory.must_run([held.raw().count("current_task")]),
            _ => directory.must_run(directory.active()),
        })
    }

    stops! {
        new_plan: NewPlan,
        create_tasks: CreateTasks,
        complete_task: CompleteTask,
        complete_task_tdd: CompleteTaskTdd,
        post_plan_review: PostPlanReview,
        post_tasks_review: PostTasksReview,
        post_code_review: PostCodeReview,
        post_all_code_review: PostAllCodeReview,
    }

    fn standalone(&self, held: Loop<Standalone>) -> StopResult {
        Ok(Step::Over(held.into()))
    }
}

/// Takes the transition of complete work, or reminds the agent of missing files.
fn stop(held: AnyLoop) -> StopResult {
    // An unreadable directory breaks a rule, so no stop gets here.
    let directory = directory(held.raw()).unwrap_or_default();
    let transition = match work::transition(held.raw(), &directory) {
        Ok(transition) => transition,
        Err(missing) if missing.reminds => Transition::Remind,
        Err(_) => return Ok(Step::Over(held)),
    };
    try_in_turn(held, &[&|held| work::take(held, transition.clone())])
}

pub(crate) fn directory(raw: &Raw) -> Result<Directory, String> {
    Directory::read_plan(&raw.root(), raw.id().as_str())
}

/// Returns the violations in the directory of a loop. A plan being written needs no plan.md.
pub(crate) fn violations(raw: &Raw, directory: &Directory) -> Vec<Problem> {
    let coding = task_counts(raw);
    let mut found = rules::violations(directory, coding, None);
    // The whole journal is read only if it may excuse a violation, to keep old plans fast.
    if found.iter().any(|violation| violation.rule == 6) {
        // Only the reviews that the agent had to answer: none by hand, forged or cut off.
        let journal = raw.journal().unwrap_or_default();
        let changes = journal.iter().filter_map(Entry::change);
        let asking = changes.filter(|change| ["fail", "pass"].contains(&change.what.as_str()));
        let ids: BTreeSet<&String> = asking.filter_map(|change| change.run.as_ref()).collect();
        let to_answer = known_reviews(&journal, |run| ids.contains(&run.began.run));
        found = rules::violations(directory, coding, Some(&to_answer));
    }
    found.retain(|violation| context::phase(raw) != Phase::NewPlan || violation.rule != 1);
    found
}

/// Returns the counts of the tasks, from the beginning of their review on.
fn task_counts(raw: &Raw) -> Option<TaskCounts> {
    let current = match context::phase(raw) {
        Phase::AllCodeReview | Phase::PostAllCodeReview => Some(0),
        Phase::CompleteTask | Phase::CompleteTaskTdd => None,
        Phase::CodeReview | Phase::PostCodeReview => Some(raw.count("current_task")),
        _ => return None,
    };
    Some(TaskCounts {
        total: raw.count("tasks_total"),
        done: raw.count("tasks_done"),
        current,
        reviewed: raw.count("current_task"),
    })
}

/// Returns the reviews of these runs, and those that existed when the plan was taken up.
pub(crate) fn known_reviews(journal: &[Entry], counts: impl Fn(&Run) -> bool) -> BTreeSet<Name> {
    let name = |run: Run| Name::parse(run.ended.findings?.path.file_name()?);
    let runs = runs::read(journal).into_iter().filter(counts);
    let mut notes = journal.iter().rev();
    let note: Option<Json> = notes.find_map(|entry| entry.note_data(FOUND));
    let files = note.and_then(|note| note["files"].as_array().cloned());
    let found = files.into_iter().flatten();
    let found_names = found.filter_map(|file| Name::parse(file.as_str()?));
    runs.filter_map(name).chain(found_names).collect()
}
