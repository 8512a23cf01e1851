//! What a stop does if `machine.toml` leaves it to Rust: the structure rules, and whether the agent's work is there.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use claudex_loop::behaviours::{Attempt, attempt, or_else, settle};
use claudex_loop::machine::Raw;
use claudex_loop::review::Subject;
use claudex_loop::store::{Entry, FieldValue as _};
use claudex_loop::{Refusal, Refused, Step};
use serde_json::Value as Json;

use crate::entered::FOUND;
use crate::files::Directory;
use crate::files::name::Name;
use crate::rules::{self, Coding, Context, Violation};
use crate::typestate::{
    CompleteTask, CompleteTaskTdd, CreateTasks, NewPlan, PostAllCodeReview, PostCodeReview,
    PostPlanReview, PostTasksReview, Standalone,
};
use crate::{AnyLoop, Loop, OnStop, Phase, context, work};

/// Note of a review that the user had made by hand: its `file` is a name in the plan's directory.
pub const BY_HAND: &str = "review-by-hand";

/// The stop of a plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct Taskie;

type Stopped = Result<Step<AnyLoop>, Refused<AnyLoop>>;

impl OnStop for Taskie {
    fn violations(&self, held: &AnyLoop) -> Vec<String> {
        match directory(held.raw()) {
            Ok(directory) => broken(held, &directory)
                .iter()
                .map(ToString::to_string)
                .collect(),
            Err(error) => vec![format!("cannot read the plan’s directory: {error}")],
        }
    }

    fn subjects(&self, held: &AnyLoop) -> Result<Vec<Subject>, String> {
        let raw = held.raw();
        let directory = directory(raw).map_err(|error| error.to_string())?;
        let file = |task| Subject::File(format!("{}/{}", context::dir(raw), Name::Task(task)));
        Ok(directory.active().map(file).collect())
    }

    fn verifies(&self, held: &AnyLoop) -> Result<Vec<String>, String> {
        let directory = directory(held.raw()).map_err(|error| error.to_string())?;
        Ok(match held.phase() {
            Phase::CodeReview => directory.must_run([held.raw().count("current_task")]),
            _ => directory.must_run(directory.active()),
        })
    }

    fn new_plan(&self, held: Loop<NewPlan>) -> Stopped {
        stop(held.into())
    }

    fn create_tasks(&self, held: Loop<CreateTasks>) -> Stopped {
        stop(held.into())
    }

    fn complete_task(&self, held: Loop<CompleteTask>) -> Stopped {
        stop(held.into())
    }

    fn complete_task_tdd(&self, held: Loop<CompleteTaskTdd>) -> Stopped {
        stop(held.into())
    }

    fn post_plan_review(&self, held: Loop<PostPlanReview>) -> Stopped {
        stop(held.into())
    }

    fn post_tasks_review(&self, held: Loop<PostTasksReview>) -> Stopped {
        stop(held.into())
    }

    fn post_code_review(&self, held: Loop<PostCodeReview>) -> Stopped {
        stop(held.into())
    }

    fn post_all_code_review(&self, held: Loop<PostAllCodeReview>) -> Stopped {
        stop(held.into())
    }

    fn standalone(&self, held: Loop<Standalone>) -> Stopped {
        Ok(Step::Over(held.into()))
    }
}

/// Takes the transition of complete work, or reminds the agent of what is missing.
fn stop(held: AnyLoop) -> Stopped {
    let directory = match directory(held.raw()) {
        Ok(directory) => directory,
        Err(source) => {
            let what = context::dir(held.raw());
            return Err(Refused::new(held, Refusal::Observe { what, source }));
        }
    };
    let taken = match work::look(&held, &directory) {
        Ok(work) => work::take(held, work),
        Err(missing) if missing.reminds => return remind(held),
        Err(_) => return Ok(Step::Over(held)),
    };
    match taken {
        Ok(now) => settle(Attempt::<AnyLoop, AnyLoop>::Taken(now)),
        Err(refused) if refused.refusal.is_guard() => Ok(Step::Waits(refused.held)),
        Err(refused) => Err(refused),
    }
}

fn remind(held: AnyLoop) -> Stopped {
    match held {
        AnyLoop::NewPlan(held) => settle(or_else(attempt(held), Loop::remind)),
        AnyLoop::CreateTasks(held) => settle(or_else(attempt(held), Loop::remind)),
        AnyLoop::CompleteTask(held) => settle(or_else(attempt(held), Loop::remind)),
        AnyLoop::CompleteTaskTdd(held) => settle(or_else(attempt(held), Loop::remind)),
        AnyLoop::PostPlanReview(held) => settle(or_else(attempt(held), Loop::remind)),
        AnyLoop::PostTasksReview(held) => settle(or_else(attempt(held), Loop::remind)),
        AnyLoop::PostCodeReview(held) => settle(or_else(attempt(held), Loop::remind)),
        AnyLoop::PostAllCodeReview(held) => settle(or_else(attempt(held), Loop::remind)),
        held => Ok(Step::Over(held)),
    }
}

/// Reads the directory of a loop's plan.
///
/// # Errors
/// Returns an error if it is not trusted, or the system refuses.
pub fn directory(raw: &Raw) -> std::io::Result<Directory> {
    Directory::of_plan(&raw.root(), raw.id().as_str())
}

/// Returns what breaks a rule in the directory of a loop. While the plan is being written, plan.md may be missing.
pub fn broken(held: &AnyLoop, directory: &Directory) -> Vec<Violation> {
    let mut found = rules::violations(directory, &rules_of(held, directory, None));
    // The whole journal is read only if it may excuse a violation: a stop costs the same however old a plan is.
    if found
        .iter()
        .any(|violation| [6, 10].contains(&violation.rule))
    {
        let journal = held.raw().journal().unwrap_or_default();
        found = rules::violations(directory, &rules_of(held, directory, Some(&journal)));
    }
    found.retain(|violation| held.phase() != Phase::NewPlan || violation.rule != 1);
    found
}

/// Returns what the rules need to know of a loop. The tasks are counted when their review begins, so that from then on none
/// comes or goes unseen.
fn rules_of(held: &AnyLoop, directory: &Directory, journal: Option<&[Entry]>) -> Context {
    let raw = held.raw();
    let of = |current, added| {
        Some(Coding {
            total: raw.count("tasks_total"),
            done: raw.count("tasks_done"),
            current,
            added,
        })
    };
    let coding = match held.phase() {
        // The tasks are reviewed again after one was done.
        Phase::TasksReview if raw.count("reopened") > 0 => of(None, false),
        Phase::TasksReview | Phase::AllCodeReview | Phase::PostAllCodeReview => of(Some(0), false),
        Phase::CompleteTask | Phase::CompleteTaskTdd => of(None, false),
        // The agent may not write the table here: a row that the user added is asked for with the next task.
        Phase::CodeReview | Phase::PostCodeReview => of(
            Some(raw.count("current_task")),
            is_row_to_come(journal.unwrap_or_default(), directory),
        ),
        _ => None,
    };
    Context {
        coding,
        asked: journal.map(asked),
    }
}

/// Returns the reviews that the agent was asked to answer: those that led to a phase of answering, and those that were there
/// when the plan was taken up. One that was made by hand, forged or cut off, or that no longer counted, is none of them.
fn asked(journal: &[Entry]) -> BTreeSet<Name> {
    let of_change = |entry: &Entry| {
        let change = entry.change()?;
        let review = change.from.as_deref()?.strip_suffix("-review")?;
        let of = match review {
            "code" => format!("task-{}-code", change.field("current_task")?.as_count()?),
            _ => review.to_owned(),
        };
        let number = change.field("review_file")?.as_count()?;
        let is_asked = ["fail", "pass"].contains(&change.what.as_str());
        is_asked.then(|| Name::parse(&format!("{of}-review-{number}.md")))?
    };
    let found = journal
        .iter()
        .filter_map(|entry| entry.noted::<Json>(FOUND));
    let found = found.flat_map(|note| names(&note["files"]));
    journal.iter().filter_map(of_change).chain(found).collect()
}

/// Returns the reviews that count: those that the program ran, and those that were there when the plan was taken up.
pub fn known(journal: &[Entry]) -> BTreeSet<Name> {
    let of_note = |entry: &Entry| {
        let by_hand = entry.noted::<Json>(BY_HAND);
        let found = entry.noted::<Json>(FOUND);
        let one = by_hand.and_then(|note| Name::parse(note["file"].as_str()?));
        one.into_iter()
            .chain(found.into_iter().flat_map(|note| names(&note["files"])))
            .collect::<Vec<_>>()
    };
    let runs = claudex_loop::review::runs::read(journal).into_iter();
    let ran = runs.filter_map(|run| Name::parse(run.findings?.path.file_name()?));
    journal.iter().flat_map(of_note).chain(ran).collect()
}

fn names(files: &Json) -> Vec<Name> {
    let files = files.as_array().into_iter().flatten();
    files
        .filter_map(|file| Name::parse(file.as_str()?))
        .collect()
}

/// Returns whether the user added a task since tasks.md was written, in whole seconds as the journal has them.
fn is_row_to_come(journal: &[Entry], directory: &Directory) -> bool {
    let added = journal.iter().rev().find_map(|entry| match entry {
        Entry::Change(change) if change.what == "add" => Some(SystemTime::from(change.at)),
        _ => None,
    });
    let written = directory
        .entries
        .get("tasks.md")
        .map(|entry| entry.modified);
    matches!((added, written), (Some(added), Some(written)) if written < added + Duration::from_secs(1))
}
