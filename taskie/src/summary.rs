//! What `status` shows of a plan: tasks, subtasks, reviews with their verdicts, what the plan waits for and what comes next.

use std::collections::BTreeMap;

use claudex_loop::machine::Raw;
use claudex_loop::program::NextAction;
use claudex_loop::program::settings::Settings;
use claudex_loop::review::evidence;

use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::next::{State, next};
use crate::{AnyLoop, Phase, context, stops};

/// Returns the lines.
pub fn of(held: &AnyLoop, _: &Settings) -> Vec<String> {
    let raw = held.raw();
    let Ok(directory) = stops::directory(raw) else {
        return vec!["cannot read the plan’s directory".to_owned()];
    };
    let mut lines = tasks(held, &directory);
    lines.extend(reviews(raw, &directory));
    lines.extend(cycle(raw));
    lines.extend(not_run(raw, &directory));
    lines
}

/// Returns a line that names the must-run commands that the user's configuration does not allow.
pub fn not_run(raw: &Raw, directory: &Directory) -> Option<String> {
    let permissions = raw.told().permissions.get()?;
    let mut lines = directory.must_run(directory.active());
    lines.retain(|line| {
        !permissions.commands.contains_key(line) && !permissions.allow_commands.contains(line)
    });
    let lines: Vec<String> = lines.iter().map(|line| format!("`{line}`")).collect();
    (!lines.is_empty()).then(|| {
        format!(
            "must-run commands that do not run, because allow_commands in your configuration does not list them: {}",
            lines.join(", ")
        )
    })
}

/// Returns what a plan waits for and what comes next, or `None` if the engine knows better: a review may be running.
pub fn next_action(held: &AnyLoop) -> Option<NextAction> {
    let raw = held.raw();
    let id = held.id();
    let ended = raw.count("phase_iteration");
    let most = raw.count("cycle_limit");
    let is_review = matches!(
        held.phase(),
        Phase::PlanReview | Phase::TasksReview | Phase::CodeReview | Phase::AllCodeReview
    );
    let waits_for = match held.phase() {
        _ if is_review && raw.count("max_reviews") == 0 => {
            "the end of the turn: this plan has no reviews"
        }
        _ if is_review && ended < most => {
            return is_outdated(raw).then(|| {
                NextAction::new(
                    "another review: what was reviewed changed after it passed",
                    format!("run the review again:\n    taskie review {id}"),
                )
            });
        }
        _ if is_review => {
            return Some(NextAction::new(
                format!("you: all {most} reviews of this cycle are used up"),
                format!(
                    "more reviews, or go on with the findings that are open:\n    /taskie:more N {id}\n    taskie more N {id}\n    taskie accept {id}"
                ),
            ));
        }
        Phase::NewPlan => "plan.md",
        Phase::CreateTasks => "tasks.md and the task files",
        Phase::CompleteTask | Phase::CompleteTaskTdd => "a task to be done",
        Phase::PostPlanReview
        | Phase::PostTasksReview
        | Phase::PostCodeReview
        | Phase::PostAllCodeReview => "the answer to the newest review",
        Phase::Standalone => "you: automation is off",
        _ => return None,
    };
    let directory = stops::directory(raw).unwrap_or_default();
    let next = next(&state(held), &directory);
    let mut step = format!(
        "{} ({})\n    /taskie:continue-plan {id}",
        next.step, next.row
    );
    if matches!(held.phase(), Phase::CompleteTask | Phase::CompleteTaskTdd) {
        step.extend(not_run(raw, &directory).map(|line| format!("\n{line}")));
    }
    Some(NextAction::new(waits_for, step))
}

fn is_outdated(raw: &Raw) -> bool {
    let spec = claudex_loop::program::messages::phase(raw).review;
    spec.is_some_and(|spec| evidence::is_outdated(raw, spec))
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
fn reviews(raw: &Raw, directory: &Directory) -> Vec<String> {
    let known = stops::known(&raw.journal().unwrap_or_default());
    let mut groups: BTreeMap<Group, Vec<u64>> = BTreeMap::new();
    for name in directory.names().filter(|name| known.contains(name)) {
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
            raw.count("cycle_limit"),
            raw.count("consecutive_clean")
        )
    })
}
