//! What a stop does where `machine.toml` leaves it to Rust: the structure rules, and whether the agent's work is there. An advance of
//! the agent's asks the same.

use std::time::{Duration, SystemTime};

use claudex_loop::behaviours::observe::{WaitForSeen, wait_for};
use claudex_loop::behaviours::{attempt, or_else, settle};
use claudex_loop::machine::Raw;
use claudex_loop::program::settings::Settings;
use claudex_loop::review::findings_file::bullet;
use claudex_loop::review::findings_json::FindingsJson;
use claudex_loop::review::{Subject, runs};
use claudex_loop::store::{ChangeEntry, Entry, FieldValue as _};
use claudex_loop::{Refusal, Refused, Step, git};
use serde_json::{Value as Json, json};

use crate::files::name::Name;
use crate::files::{Directory, Kind};
use crate::rules::{self, Coding, Context, Violation};
use crate::typestate::{
    CompleteTask, CompleteTaskTdd, CreateTasks, NewPlan, PostTasksReview, Standalone,
};
use crate::{AnyLoop, Loop, OnStop, Phase, context};

/// Notes a review that a person had made by hand: its `file` is a name in the plan's directory.
pub const BY_HAND: &str = "review-by-hand";

/// How long a stop waits for git.
const GIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Behaves as the machine file and this file say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Taskie;

type Stopped = Result<Step<AnyLoop>, Refused<AnyLoop>>;

/// Says how far the agent's work of a phase is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work<T> {
    /// Nothing was written since the phase was entered.
    Untouched,
    /// Something was, and it is not complete.
    Begun,
    /// It is complete.
    Complete(T),
}

/// Counts what the table of tasks has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The active tasks.
    pub total: u64,
    /// Those of them that are done.
    pub done: u64,
}

impl OnStop for Taskie {
    fn violations(&self, held: &AnyLoop) -> Vec<String> {
        match directory(held.raw()) {
            Ok(directory) => broken(held, &directory)
                .iter()
                .map(ToString::to_string)
                .collect(),
            Err(error) => vec![format!("The plan’s directory cannot be read: {error}.")],
        }
    }

    fn subjects(&self, held: &AnyLoop) -> Result<Vec<Subject>, String> {
        let raw = held.raw();
        let directory = directory(raw).map_err(|error| error.to_string())?;
        let file = |task| Subject::File(format!("{}/{}", context::dir(raw), Name::Task(task)));
        Ok(active(&directory).into_iter().map(file).collect())
    }

    fn verifies(&self, held: &AnyLoop) -> Result<Vec<String>, String> {
        let directory = directory(held.raw()).map_err(|error| error.to_string())?;
        let tasks = match held.phase() {
            Phase::CodeReview => vec![held.raw().count("current_task")],
            _ => active(&directory),
        };
        let mut commands = Vec::new();
        for command in tasks
            .into_iter()
            .filter_map(|task| directory.task(task))
            .flat_map(|file| file.must_run())
        {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        Ok(commands)
    }

    fn new_plan(&self, held: Loop<NewPlan>) -> Stopped {
        match seen(held.raw(), plan_written) {
            Err(refusal) => Err(Refused::new(held.into_any(), refusal)),
            Ok(Work::Untouched) => silent(held),
            Ok(Work::Begun) => settle(or_else(attempt(held), Loop::remind)),
            Ok(Work::Complete(())) => settle(or_else(attempt(held), Loop::planned)),
        }
    }

    fn create_tasks(&self, held: Loop<CreateTasks>) -> Stopped {
        match seen(held.raw(), tasks_written) {
            Err(refusal) => Err(Refused::new(held.into_any(), refusal)),
            Ok(Work::Untouched) => silent(held),
            Ok(Work::Begun) => settle(or_else(attempt(held), Loop::remind)),
            Ok(Work::Complete(counted)) => settle(or_else(attempt(held), |held| {
                held.tasks_written(counted.total, counted.done)
            })),
        }
    }

    fn complete_task(&self, held: Loop<CompleteTask>) -> Stopped {
        match seen(held.raw(), task_done) {
            Err(refusal) => Err(Refused::new(held.into_any(), refusal)),
            Ok(Work::Untouched) => silent(held),
            Ok(Work::Begun) => settle(or_else(attempt(held), Loop::remind)),
            Ok(Work::Complete(task)) => settle(or_else(attempt(held), |held| held.task_done(task))),
        }
    }

    fn complete_task_tdd(&self, held: Loop<CompleteTaskTdd>) -> Stopped {
        match seen(held.raw(), task_done) {
            Err(refusal) => Err(Refused::new(held.into_any(), refusal)),
            Ok(Work::Untouched) => silent(held),
            Ok(Work::Begun) => settle(or_else(attempt(held), Loop::remind)),
            Ok(Work::Complete(task)) => settle(or_else(attempt(held), |held| held.task_done(task))),
        }
    }

    fn post_tasks_review(&self, held: Loop<PostTasksReview>) -> Stopped {
        match tasks_answered(held.raw()) {
            Err(refusal) => Err(Refused::new(held.into_any(), refusal)),
            Ok(None) => settle(or_else(attempt(held), Loop::remind)),
            Ok(Some(counted)) => settle(or_else(attempt(held), |held| {
                held.tasks_addressed(counted.total, counted.done)
            })),
        }
    }

    fn standalone(&self, held: Loop<Standalone>) -> Stopped {
        silent(held)
    }
}

/// Lets the turn end without a word.
fn silent<L: Into<AnyLoop>>(held: L) -> Stopped {
    Ok(Step::Over(held.into()))
}

/// Reads the directory of a loop's plan.
///
/// # Errors
/// It is not trusted, or the system refuses.
pub fn directory(raw: &Raw) -> std::io::Result<Directory> {
    Directory::of_plan(&raw.root(), raw.id().as_str())
}

/// Returns the numbers of the active tasks.
fn active(directory: &Directory) -> Vec<u64> {
    let tasks = directory.table();
    let rows = tasks.iter().flat_map(|tasks| tasks.active());
    rows.map(|row| row.id).collect()
}

/// Returns what breaks a rule where a loop is. A plan that is being written need not be there.
pub fn broken(held: &AnyLoop, directory: &Directory) -> Vec<Violation> {
    let mut found = rules::violations(directory, &rules_of(held, directory, &[]));
    // The journal is read whole only where it may excuse what was found: a stop costs the same however old a plan is.
    if found
        .iter()
        .any(|violation| [6, 10].contains(&violation.rule))
    {
        let journal = held.raw().journal().unwrap_or_default();
        found = rules::violations(directory, &rules_of(held, directory, &journal));
    }
    found.retain(|violation| held.phase() != Phase::NewPlan || violation.rule != 1);
    found
}

/// Returns what the rules go by where a loop is. The tasks are counted when their review begins, so that none comes or goes unseen
/// from then on.
fn rules_of(held: &AnyLoop, directory: &Directory, journal: &[Entry]) -> Context {
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
        Phase::TasksReview | Phase::AllCodeReview | Phase::PostAllCodeReview => of(Some(0), false),
        Phase::CompleteTask | Phase::CompleteTaskTdd => of(None, false),
        // The table is nobody's to write here: a row that a person added is asked for once the next task is.
        Phase::CodeReview | Phase::PostCodeReview => of(
            Some(raw.count("current_task")),
            is_row_to_come(journal, directory),
        ),
        _ => None,
    };
    let by_hand = journal
        .iter()
        .filter_map(|entry| entry.noted::<Json>(BY_HAND));
    let by_hand = by_hand.filter_map(|note| Name::parse(note["file"].as_str()?));
    Context {
        coding,
        by_hand: by_hand.collect(),
    }
}

/// Returns whether a person added a task since tasks.md was written, in whole seconds as the journal has them.
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

/// Looks at the work of a loop's phase, which a stop takes only where something was written since the phase was entered: a file that was
/// there before is nobody's answer.
fn seen<T>(
    raw: &Raw,
    work: impl FnOnce(&Raw, &Directory) -> Option<Work<T>>,
) -> Result<Work<T>, Refusal> {
    let directory = directory(raw).map_err(|source| Refusal::Observe {
        what: crate::context::dir(raw),
        source,
    })?;
    let entered = entered_at(raw);
    let is_new = |(name, entry): (&String, &crate::files::Entry)| {
        let of_work = matches!(
            Name::parse(name),
            Some(Name::Plan | Name::Tasks | Name::Task(_))
        );
        of_work
            && entry.kind == Kind::File
            && entered.is_none_or(|entered| entry.modified >= entered)
    };
    match directory.entries.iter().any(is_new) {
        true => Ok(work(raw, &directory).unwrap_or(Work::Untouched)),
        false => Ok(Work::Untouched),
    }
}

/// Returns when a loop's phase was entered; `None`: an earlier version of the engine did that.
fn entered_at(raw: &Raw) -> Option<SystemTime> {
    let visit = raw.record().visit()?;
    let journal = raw.recent().ok()?;
    journal.iter().find_map(|entry| match entry {
        Entry::Change(change) if change.revision == visit => Some(change.at.into()),
        _ => None,
    })
}

/// Looks at plan.md; `None`: it is not there.
pub fn plan_written(_: &Raw, directory: &Directory) -> Option<Work<()>> {
    match directory.plan.as_ref()? {
        Ok(true) => Some(Work::Complete(())),
        Ok(false) | Err(_) => Some(Work::Begun),
    }
}

/// Looks at tasks.md, which needs a task that is to be done. That it is valid, the rules have said.
pub fn tasks_written(_: &Raw, directory: &Directory) -> Option<Work<Counted>> {
    directory.tasks.as_ref()?;
    Some(counted(directory).map_or(Work::Begun, Work::Complete))
}

/// Returns the number of tasks; `None`: the table cannot be read, or no task is to be done.
pub fn counted(directory: &Directory) -> Option<Counted> {
    let tasks = directory.table()?;
    tasks.next()?;
    Some(Counted {
        total: tasks.active().count() as u64,
        done: tasks.done().count() as u64,
    })
}

/// Looks for the task that was done since the last one passed its review: its row is done, and all of its subtasks are completed.
pub fn task_done(raw: &Raw, directory: &Directory) -> Option<Work<u64>> {
    directory.table()?;
    let task = newest_done(raw, directory);
    let task = task.filter(|task| {
        directory
            .task(*task)
            .is_some_and(|file| file.is_completed())
    });
    Some(task.map_or(Work::Begun, Work::Complete))
}

/// Returns the task whose row is done, and that was not reviewed yet.
pub fn newest_done(raw: &Raw, directory: &Directory) -> Option<u64> {
    let tasks = directory.table()?;
    if tasks.done().count() as u64 <= raw.count("tasks_done") {
        return None;
    }
    let reviewed = reviewed(raw);
    let modified = |id: u64| Some(directory.entries.get(&Name::Task(id).to_string())?.modified);
    let done = tasks.done().filter(|row| !reviewed.contains(&row.id));
    // Of tasks that were done before the plan was taken up nobody knows which were reviewed: the newest is the one.
    done.max_by_key(|row| (modified(row.id), row.id))
        .map(|row| row.id)
}

/// Returns the tasks that came to their review under this journal.
fn reviewed(raw: &Raw) -> Vec<u64> {
    let journal = raw.journal().unwrap_or_default();
    let changes = journal.iter().filter_map(Entry::change);
    let changes = changes.filter(|change| change.what == "task_done");
    let task = |change: &ChangeEntry| change.field("current_task")?.as_count();
    changes.filter_map(task).collect()
}

/// Looks for the answer to the newest review of the tasks, and counts them anew; `None`: it is not there.
///
/// # Errors
/// The directory cannot be read.
pub fn tasks_answered(raw: &Raw) -> Result<Option<Counted>, Refusal> {
    let answer = ".taskie/plans/{plan_id}/tasks-post-review-{review_file}.md";
    match wait_for(raw, answer, "")?.seen {
        WaitForSeen::Waiting => Ok(None),
        WaitForSeen::There => {
            let found = directory(raw).map_err(|source| Refusal::Observe {
                what: crate::context::dir(raw),
                source,
            })?;
            Ok(counted(&found))
        }
    }
}

/// Counts what is active and what has passed its review, in a plan that was taken up; `None`: the table cannot be read.
pub fn counted_on_import(directory: &Directory, next_phase: &str, current: u64) -> Option<Counted> {
    let tasks = directory.table()?;
    let under_review = ["code-review", "post-code-review"].contains(&next_phase);
    let done = tasks
        .done()
        .filter(|row| !(under_review && row.id == current));
    Some(Counted {
        total: tasks.active().count() as u64,
        done: done.count() as u64,
    })
}

/// Writes down what a document that was taken up does not say: how many tasks there are, and which review is to be answered. Once it
/// is there it does nothing.
///
/// # Errors
/// The directory cannot be read, or the store cannot write.
pub fn taken_up(held: &AnyLoop) -> Result<(), String> {
    let raw = held.raw();
    let journal = raw.journal().map_err(|error| error.to_string())?;
    if !matches!(journal.first(), Some(Entry::Change(change)) if change.what == "import") {
        return Ok(());
    }
    let directory = directory(raw).map_err(|error| error.to_string())?;
    let set = |field: &str, value: u64| {
        let set = raw
            .store()
            .set_field(raw.id(), field, Json::from(value), "person", true);
        set.map(drop).map_err(|error| error.to_string())
    };
    let word = crate::context::stored(held.phase());
    let counted = counted_on_import(&directory, word, raw.count("current_task"));
    if let Some(counted) =
        counted.filter(|counted| raw.count("tasks_total") == 0 && counted.total > 0)
    {
        set("tasks_total", counted.total)?;
        set("tasks_done", counted.done)?;
    }
    if let Some((group, 0)) = crate::context::newest(held) {
        let numbers = directory.names().filter_map(|name| match name {
            Name::Review(of, number) if of == group => Some(number),
            _ => None,
        });
        numbers
            .max()
            .map_or(Ok(()), |newest| set("review_file", newest))?;
    }
    Ok(())
}

/// Notes what a person accepts: what the newest review of a phase found.
fn accepted(raw: &Raw, phase: &str) -> Result<(), String> {
    let journal = raw.journal().map_err(|error| error.to_string())?;
    let last = journal.iter().rev().find_map(|entry| match entry {
        Entry::Change(change) if change.run.is_some() => Some(change),
        _ => None,
    });
    let Some(last) = last.filter(|change| change.from.as_deref() == Some(phase)) else {
        return Ok(());
    };
    let run = runs::read(&journal)
        .into_iter()
        .find(|run| last.run.as_ref() == Some(&run.began.run));
    let found = run.and_then(|run| FindingsJson::of_run(raw.store(), raw.id(), &run).ok()?);
    let open = found.iter().flat_map(|found| &found.findings.0).map(bullet);
    let noted = raw.store().note(
        raw.id(),
        "accepted",
        &json!({"open": open.collect::<Vec<_>>()}),
    );
    noted.map_err(|error| error.to_string())
}

/// Keeps the commit at which a task begins, since which its review is given the changes; what a person accepted; and what an import did
/// not say.
///
/// # Errors
/// The store cannot write it.
pub fn entered(held: &AnyLoop, _: &Settings) -> Result<Vec<String>, String> {
    let raw = held.raw();
    if raw.taken().is_none() {
        taken_up(held)?;
    }
    if let Some(edge) = raw.taken().filter(|edge| edge.transition == "accept") {
        accepted(raw, raw.table().phases[edge.from].stored)?;
    }
    let begins = raw.taken().is_some_and(|edge| edge.from != edge.to);
    if begins
        && matches!(held.phase(), Phase::CompleteTask | Phase::CompleteTaskTdd)
        && let Some(commit) = commit(raw)
    {
        let keep = |field: &str| {
            let set =
                raw.store()
                    .set_field(raw.id(), field, Json::from(commit.clone()), "hook", true);
            set.map(drop).map_err(|error| error.to_string())
        };
        keep("task_base")?;
        if raw.text("coding_base").is_empty() {
            keep("coding_base")?;
        }
    }
    Ok(Vec::new())
}

/// Returns the commit that is checked out; `None`: there is none, or git cannot tell.
fn commit(raw: &Raw) -> Option<String> {
    let arguments = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
    git::call(&raw.root(), &arguments, GIT_TIMEOUT).ok()
}
