//! The work on entering a phase: the commits at which work began, and the files that passed.

use std::time::Duration;

use claudex_loop::git;
use claudex_loop::machine::Raw;
use claudex_loop::review::findings_file::bullet;
use claudex_loop::review::runs;
use claudex_loop::store::Entry;
use serde_json::{Value as Json, json};

use crate::files::name::Name;
use crate::stops::FOUND;
use crate::{Phase, context, stops, summary, work};

/// The time limit for git, also during a stop.
pub(crate) const GIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Records the entry into a phase. Returns sentences for the user if the plan has ended.
pub(crate) fn record(raw: &Raw) -> Result<Vec<String>, String> {
    let phase = context::phase(raw);
    let Some(edge) = raw.last_edge() else {
        if phase == Phase::NewPlan && raw.text("coding_base").is_empty() {
            set(raw, "coding_base", commit(raw))?;
        }
        record_taken_up(raw)?;
        return Ok(Vec::new());
    };
    let from = raw.table().phases[edge.from].name;
    if edge.transition == "accept" {
        note_accepted(raw, from)?;
    }
    let directory = stops::directory(raw)?;
    match (from, edge.transition) {
        ("plan-review", "passed" | "accept") => {
            set(raw, "reviewed", directory.plan_digest())?;
        }
        ("tasks-review", "passed" | "accept") => {
            set(raw, "reviewed", work::reviewed_digests(&directory))?;
            // The table may have changed during its review.
            let total = directory.active().count() as u64;
            if total != raw.count("tasks_total") {
                set(raw, "tasks_total", total)?;
            }
        }
        (_, "skip") if !raw.text("reviewed").is_empty() => set(raw, "reviewed", "")?,
        _ => {}
    }
    let is_task = matches!(phase, Phase::CompleteTask | Phase::CompleteTaskTdd);
    // A kill may have cut the entry short.
    if is_task && (edge.from != edge.to || raw.text("task_base").is_empty()) {
        begin_task(raw, from)?;
    }
    let not_run = summary::refused_commands(raw, &directory).filter(|_| phase == Phase::Complete);
    Ok(not_run.into_iter().collect())
}

/// Records the commit at which a task began. The first task begins with the plan, so that code that
/// was committed while planning is reviewed. A continued task keeps its commit.
fn begin_task(raw: &Raw, from: &str) -> Result<(), String> {
    let mut plan_base = raw.text("coding_base");
    if plan_base.is_empty() {
        plan_base = commit(raw);
        set(raw, "coding_base", plan_base.clone())?;
    }
    if raw.text("task_base").is_empty() {
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

/// Returns the current commit, or only zeros if there is none.
fn commit(raw: &Raw) -> String {
    find_commit(raw, "HEAD").unwrap_or_else(no_commit)
}

fn no_commit() -> String {
    "0".repeat(40)
}

fn find_commit(raw: &Raw, revision: &str) -> Option<String> {
    let command = format!("rev-parse --verify --quiet {revision}^{{commit}}");
    git::call(&raw.root(), &command, GIT_TIMEOUT).ok()
}

/// Returns the commit before the first one with plan.md, or only zeros if that has none before it.
/// Returns `None` if git does not have the file.
fn plan_began(raw: &Raw) -> Option<String> {
    let command = format!("rev-list HEAD -- {}/{}", context::dir(raw), Name::Plan);
    let commits = git::call(&raw.root(), &command, GIT_TIMEOUT).ok()?;
    let first = commits.lines().next_back()?;
    Some(find_commit(raw, &format!("{first}^")).unwrap_or_else(no_commit))
}

/// Records the facts that the document of a taken-up plan lacks: the counts of tasks and reviews,
/// the existing reviews, and the review to answer. Does so once.
pub(crate) fn record_taken_up(raw: &Raw) -> Result<(), String> {
    let journal = raw.journal().map_err(|error| error.to_string())?;
    let first = journal.first().and_then(Entry::change);
    let is_import = first.is_some_and(|change| change.what == "import");
    let is_noted = |entry: &Entry| entry.note_data::<Json>(FOUND).is_some();
    if !is_import || journal.iter().any(is_noted) {
        return Ok(());
    }
    let directory = stops::directory(raw)?;
    let phase = context::phase(raw);
    let is_under_review = matches!(phase, Phase::CodeReview | Phase::PostCodeReview);
    let current = raw.count("current_task");
    let has_passed = |id: &u64| !(is_under_review && *id == current);
    let total = directory.active().count() as u64;
    if total > 0 {
        let passed = directory.done().filter(has_passed).count() as u64;
        set(raw, "tasks_total", total)?;
        set(raw, "tasks_done", passed)?;
    }
    for limit in ["cycle_limit", "first_limit"] {
        set(raw, limit, raw.count("max_reviews"))?;
    }
    for base in ["coding_base", "task_base"] {
        let id = raw.text(base);
        let is_id = !id.is_empty() && id.bytes().all(|digit| digit.is_ascii_hexdigit());
        if (!is_id || find_commit(raw, &id).is_none())
            && let Some(began) = plan_began(raw)
        {
            set(raw, base, began)?;
        }
    }
    if let Some((group, 0)) = context::review_to_answer(raw)
        && let Some(newest) = directory.newest_review(group)
    {
        set(raw, "review_file", newest)?;
    }
    let is_review = |name: &Name| matches!(name, Name::Review(..));
    let reviews = directory.names().filter(is_review);
    let files: Vec<String> = reviews.map(|name| name.to_string()).collect();
    let noted = raw.note(FOUND, &json!({ "files": files }));
    noted.map_err(|error| error.to_string())
}

/// Records the findings of the newest review of a phase, which the user accepts.
fn note_accepted(raw: &Raw, phase: &str) -> Result<(), String> {
    let journal = raw.journal().map_err(|error| error.to_string())?;
    let mut changes = journal.iter().rev().filter_map(Entry::change);
    let last = changes.find(|change| change.run.is_some());
    let Some(last) = last.filter(|change| change.from.as_deref() == Some(phase)) else {
        return Ok(());
    };
    let mut runs = runs::read(&journal).into_iter();
    let run = runs.find(|run| last.run.as_ref() == Some(&run.began.run));
    let findings = run.iter().flat_map(|run| run.findings());
    let open: Vec<String> = findings.map(bullet).collect();
    let noted = raw.note("accepted", &json!({ "open": open }));
    noted.map_err(|error| error.to_string())
}
