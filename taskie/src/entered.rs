//! What happens once a phase was entered: the commits at which work began, what passed its review, and what an import does not say.

use std::time::Duration;

use claudex_loop::git;
use claudex_loop::machine::Raw;
use claudex_loop::program::settings::Settings;
use claudex_loop::review::findings_file::bullet;
use claudex_loop::review::findings_json::FindingsJson;
use claudex_loop::review::runs;
use claudex_loop::store::Entry;
use serde_json::{Value as Json, json};

use crate::files::Directory;
use crate::files::name::Name;
use crate::work::Counted;
use crate::{AnyLoop, Phase, context, reviewed, stops, summary};

/// Note of the reviews that were there when a plan was taken up.
pub const FOUND: &str = "reviews-found";

/// How long a stop waits for git.
const GIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Keeps what a phase needs to know of the moment at which it was entered, and returns sentences for the user when the plan is
/// over.
///
/// # Errors
/// Returns an error if the store cannot write.
pub fn entered(held: &AnyLoop, _: &Settings) -> Result<Vec<String>, String> {
    let raw = held.raw();
    let Some(edge) = raw.taken() else {
        if held.phase() == Phase::NewPlan && raw.text("coding_base").is_empty() {
            set(raw, "coding_base", commit(raw))?;
        }
        taken_up(held)?;
        return Ok(Vec::new());
    };
    let from = raw.table().phases[edge.from].stored;
    if edge.transition == "accept" {
        accepted(raw, from)?;
    }
    let directory = stops::directory(raw).map_err(|error| error.to_string())?;
    match (from, edge.transition) {
        ("plan-review", "passed" | "accept") => set(raw, "reviewed", reviewed::plan(&directory))?,
        ("tasks-review", "passed" | "accept") => {
            set(raw, "reviewed", reviewed::digests(&directory))?;
        }
        (_, "skip") if !raw.text("reviewed").is_empty() => set(raw, "reviewed", String::new())?,
        _ => {}
    }
    let begins_task = edge.from != edge.to
        && matches!(held.phase(), Phase::CompleteTask | Phase::CompleteTaskTdd);
    if begins_task {
        begin_task(raw, from)?;
    }
    let is_complete = held.phase() == Phase::Complete;
    let not_run = summary::not_run(raw, &directory).filter(|_| is_complete);
    Ok(not_run.into_iter().collect())
}

/// Keeps the commit since which the review of a task is given the changes. The first task begins with the plan, so that code
/// that was committed while planning is reviewed, too. A task that goes on keeps its commit.
fn begin_task(raw: &Raw, from: &str) -> Result<(), String> {
    let mut plan_base = raw.text("coding_base");
    if plan_base.is_empty() {
        plan_base = commit(raw);
        set(raw, "coding_base", plan_base.clone())?;
    }
    let task_base = raw.text("task_base");
    if task_base.is_empty() {
        set(raw, "task_base", plan_base)
    } else if ["standalone", "tasks-review"].contains(&from) {
        Ok(())
    } else {
        set(raw, "task_base", commit(raw))
    }
}

fn set(raw: &Raw, field: &str, value: impl Into<Json>) -> Result<(), String> {
    let set = raw
        .store()
        .set_field(raw.id(), field, value.into(), "hook", true);
    set.map(drop).map_err(|error| error.to_string())
}

/// Returns the commit that is checked out, or only zeros if there is none.
fn commit(raw: &Raw) -> String {
    let arguments = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
    git::call(&raw.root(), &arguments, GIT_TIMEOUT).unwrap_or_else(|_| "0".repeat(40))
}

/// Counts the tasks of a plan that is taken up: those that are active and those that passed their review. Returns `None` if the
/// table cannot be read.
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

/// Writes down what the document of a plan that was taken up does not say: how many tasks there are, how many reviews the cycle
/// has, which reviews were there, and which one is to be answered. Does nothing if that is written down.
///
/// # Errors
/// Returns an error if the directory cannot be read, or the store cannot write.
pub fn taken_up(held: &AnyLoop) -> Result<(), String> {
    let raw = held.raw();
    let journal = raw.journal().map_err(|error| error.to_string())?;
    let is_import =
        matches!(journal.first(), Some(Entry::Change(change)) if change.what == "import");
    let is_noted = |entry: &Entry| entry.noted::<Json>(FOUND).is_some();
    if !is_import || journal.iter().any(is_noted) {
        return Ok(());
    }
    let directory = stops::directory(raw).map_err(|error| error.to_string())?;
    let word = context::stored(held.phase());
    let counted = counted_on_import(&directory, word, raw.count("current_task"));
    if let Some(counted) = counted.filter(|counted| counted.total > 0) {
        set(raw, "tasks_total", counted.total)?;
        set(raw, "tasks_done", counted.done)?;
    }
    for limit in ["cycle_limit", "first_limit"] {
        set(raw, limit, raw.count("max_reviews"))?;
    }
    let reviews: Vec<Name> = directory
        .names()
        .filter(|name| matches!(name, Name::Review(..)))
        .collect();
    if let Some((group, 0)) = context::newest(held) {
        let numbers = reviews.iter().filter_map(|name| match name {
            Name::Review(of, number) if *of == group => Some(*number),
            _ => None,
        });
        numbers
            .max()
            .map_or(Ok(()), |newest| set(raw, "review_file", newest))?;
    }
    let files: Vec<String> = reviews.iter().map(ToString::to_string).collect();
    let noted = raw
        .store()
        .note(raw.id(), FOUND, &json!({ "files": files }));
    noted.map_err(|error| error.to_string())
}

/// Notes what the user accepts: the findings of the newest review of a phase.
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
