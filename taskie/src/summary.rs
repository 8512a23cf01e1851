//! What `status` says of a plan besides every machine's: tasks, subtasks, reviews with their verdicts; and what it waits for and what comes next.

use std::collections::BTreeMap;

use claudex_loop::machine::Raw;
use claudex_loop::program::NextAction;
use claudex_loop::program::settings::Settings;

use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::next::{State, next};
use crate::{AnyLoop, Phase, context, stops};

/// Returns the lines.
pub fn of(held: &AnyLoop, _: &Settings) -> Vec<String> {
    let raw = held.raw();
    let Ok(directory) = stops::directory(raw) else {
        return vec!["the plan’s directory cannot be read".to_owned()];
    };
    let mut lines = tasks(held, &directory);
    lines.extend(reviews(&directory));
    lines.extend(cycle(raw));
    lines
}

/// Says what a plan waits for and what comes next, by the row of the table; of a review the engine knows better, while one may run.
pub fn next_action(held: &AnyLoop) -> Option<NextAction> {
    let (raw, id) = (held.raw(), held.id());
    let (ended, most) = (raw.count("phase_iteration"), raw.count("max_reviews"));
    let waits_for = match held.phase() {
        Phase::PlanReview | Phase::TasksReview | Phase::CodeReview | Phase::AllCodeReview
            if ended < most =>
        {
            return None;
        }
        Phase::PlanReview | Phase::TasksReview | Phase::CodeReview | Phase::AllCodeReview
            if most == 0 =>
        {
            "the turn to end: no reviews are wanted".to_owned()
        }
        Phase::PlanReview | Phase::TasksReview | Phase::CodeReview | Phase::AllCodeReview => {
            let ways = format!(
                "more reviews, or on with what is open:\n    taskie more N {id}\n    taskie accept {id}"
            );
            return Some(NextAction::new(
                format!("a person: {ended} of {most} reviews of this cycle are used up"),
                ways,
            ));
        }
        Phase::NewPlan => "plan.md to be complete".to_owned(),
        Phase::CreateTasks => "tasks.md and its task files to be written".to_owned(),
        Phase::CompleteTask | Phase::CompleteTaskTdd => "a task to be done".to_owned(),
        Phase::PostPlanReview
        | Phase::PostTasksReview
        | Phase::PostCodeReview
        | Phase::PostAllCodeReview => "the newest review to be answered".to_owned(),
        Phase::Standalone => "a person: there is no automation".to_owned(),
        Phase::Complete | Phase::Cancelled | Phase::Errored => return None,
    };
    let directory = stops::directory(raw).unwrap_or_default();
    let next = next(&state(held), &directory);
    let step = format!(
        "{} ({})\n    /taskie:continue-plan {id}",
        next.step, next.row
    );
    Some(NextAction::new(waits_for, step))
}

/// Returns the state of a loop, as the table reads it.
pub fn state(held: &AnyLoop) -> State {
    let raw = held.raw();
    let word = context::stored(held.phase()).to_owned();
    State::There {
        next_phase: (held.phase() != Phase::Standalone).then_some(word),
        phase: raw.text("phase"),
        current_task: Some(raw.count("current_task")).filter(|task| *task > 0),
    }
}

fn tasks(held: &AnyLoop, directory: &Directory) -> Vec<String> {
    let Some(tasks) = directory.table() else {
        return Vec::new();
    };
    let (active, done) = (tasks.active().count(), tasks.done().count());
    let mut lines = vec![format!("{done} of {active} tasks are done")];
    let task = context::task(held);
    if let Some(file) = directory.task(task) {
        lines.push(format!(
            "{} of {} subtasks of task {task} are completed",
            file.completed(),
            file.subtasks.len()
        ));
    }
    lines
}

/// Returns a line for each group, `reviews of plan: 1 FAIL, 2 PASS`; one for those of all tasks, of which there may be many.
fn reviews(directory: &Directory) -> Vec<String> {
    let mut groups: BTreeMap<Group, Vec<u64>> = BTreeMap::new();
    for name in directory.names() {
        if let Name::Review(group, number) = name {
            groups.entry(group).or_default().push(number);
        }
    }
    let line = |(group, mut numbers): (Group, Vec<u64>)| {
        numbers.sort_unstable();
        let said = numbers.into_iter().map(|number| {
            let verdict = match directory.verdicts.get(&Name::Review(group, number)) {
                Some(true) => "PASS",
                Some(false) => "FAIL",
                None => "without a verdict",
            };
            format!("{number} {verdict}")
        });
        format!("{group}: {}", said.collect::<Vec<_>>().join(", "))
    };
    let of_task = |(group, _): &(Group, _)| matches!(group, Group::Task(_) | Group::TaskCode(_));
    let (tasks, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(of_task);
    let tasks = tasks.into_iter().map(line).collect::<Vec<_>>().join("; ");
    let lines = others
        .into_iter()
        .map(line)
        .chain([tasks])
        .filter(|line| !line.is_empty());
    lines.map(|line| format!("reviews of {line}")).collect()
}

/// Says how far a cycle is; nothing outside of one.
fn cycle(raw: &Raw) -> Option<String> {
    let word = claudex_loop::program::messages::phase(raw).stored;
    let in_cycle = word.ends_with("-review");
    in_cycle.then(|| {
        format!(
            "{} of at most {} reviews of this cycle have ended, and {} in a row say PASS",
            raw.count("phase_iteration"),
            raw.count("max_reviews"),
            raw.count("consecutive_clean")
        )
    })
}
