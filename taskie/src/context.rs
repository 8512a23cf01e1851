//! The variables that messages have besides the fields: the plan's directory, the review to answer, the target of an advance.

use claudex_loop::Timestamp;
use claudex_loop::machine::Raw;
use claudex_loop::program::settings::Settings;
use claudex_loop::review::evidence;
use claudex_loop::store::FieldValue;

use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::typestate::TABLE;
use crate::{AnyLoop, Phase, stops, work};

/// Returns the variables.
pub fn of(
    held: &AnyLoop,
    _: &Settings,
    _: Timestamp,
) -> serde_json::Map<String, serde_json::Value> {
    let raw = held.raw();
    let path = |name: Name| format!("{}/{name}", dir(raw));
    let (review, answer) = newest(held).map_or_else(Default::default, |(group, number)| {
        (
            path(Name::Review(group, number)),
            path(Name::PostReview(group, number)),
        )
    });
    let target = target(held.phase()).map_or("", stored);
    let directory = stops::directory(raw).unwrap_or_default();
    let missing = work::look(held, &directory)
        .err()
        .filter(|missing| missing.reminds && held.phase() != Phase::NewPlan);
    let outdated = claudex_loop::program::messages::phase(raw)
        .review
        .is_some_and(|spec| evidence::is_outdated(raw, spec));
    let variables = [
        ("missing", missing.map(|missing| missing.what).into()),
        ("outdated", outdated.into()),
        ("dir", dir(raw).into()),
        ("review", review.into()),
        ("answer", answer.into()),
        ("target", target.into()),
        ("task", task(held).into()),
    ];
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Returns a plan's directory, from the project's root.
pub fn dir(raw: &Raw) -> String {
    format!(".taskie/plans/{}", raw.id())
}

/// Returns the phase that an agent's advance leads to; `None`: there is nothing to advance.
pub fn target(phase: Phase) -> Option<Phase> {
    Some(match phase {
        Phase::NewPlan | Phase::PostPlanReview => Phase::PlanReview,
        Phase::CreateTasks | Phase::PostTasksReview => Phase::TasksReview,
        Phase::CompleteTask | Phase::CompleteTaskTdd | Phase::PostCodeReview => Phase::CodeReview,
        Phase::PostAllCodeReview => Phase::AllCodeReview,
        _ => return None,
    })
}

/// Returns a phase as it stands in `next_phase`.
pub fn stored(phase: Phase) -> &'static str {
    let name: &str = phase.into();
    let mut phases = TABLE.phases.iter();
    let known = phases.find(|known| known.name == name);
    known.map_or("", |known| known.stored)
}

/// Returns the review that is to be answered in the loop's phase.
pub fn newest(held: &AnyLoop) -> Option<(Group, u64)> {
    let raw = held.raw();
    let group = match held.phase() {
        Phase::PostPlanReview => Group::Plan,
        Phase::PostTasksReview => Group::Tasks,
        Phase::PostCodeReview => Group::TaskCode(raw.count("current_task")),
        Phase::PostAllCodeReview => Group::AllCode,
        _ => return None,
    };
    let number = raw
        .record()
        .get("review_file")
        .and_then(FieldValue::as_count)?;
    Some((group, number))
}

/// Returns the number of the task that is under way, or next; 0: there is none.
pub fn task(held: &AnyLoop) -> u64 {
    let raw = held.raw();
    if !matches!(held.phase(), Phase::CompleteTask | Phase::CompleteTaskTdd) {
        return raw.count("current_task");
    }
    let directory = Directory::of_plan(&raw.root(), raw.id().as_str()).unwrap_or_default();
    let pending = || directory.table()?.next().map(|row| row.id);
    // One whose row says done and whose subtasks do not is still under way.
    work::newest_done(raw, &directory)
        .or_else(pending)
        .unwrap_or_default()
}
