//! Taskie's own: what its files hold. Everything else stands in `taskie.toml`.

use std::fs;

use claudex_loop::behaviours::{attempt, or_else, settle};
use claudex_loop::machine::Raw;
use claudex_loop::{Refused, Step};
use taskie::{AnyLoop, CompleteTask, CompleteTaskTdd, CreateTasks, Loop, OnStop};

#[derive(Debug, Clone, Copy)]
struct Taskie;

type Stopped = Result<Step<AnyLoop>, Refused<AnyLoop>>;

impl OnStop for Taskie {
    fn violations(&self, held: &AnyLoop) -> Vec<String> {
        let folder = held.raw().path(FOLDER);
        let names = fs::read_dir(&folder).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let strange = names.filter(|name| !is_known(name));
        let mut all: Vec<String> = strange
            .map(|name| format!("{name} does not belong here."))
            .collect();
        let files = rows(held.raw()).into_iter().filter(Row::is_active);
        let files = files.map(|row| format!("task-{}.md", row.id));
        all.extend(
            files
                .filter(|file| !folder.join(file).exists())
                .map(|file| format!("{file} is missing.")),
        );
        all.sort();
        all
    }

    fn create_tasks(&self, held: Loop<CreateTasks>) -> Stopped {
        let active = rows(held.raw()).iter().filter(|row| row.is_active()).count() as u64;
        let attempt = or_else(attempt(held), |held| held.tasks_written(active));
        settle(or_else(attempt, Loop::remind))
    }

    fn complete_task(&self, held: Loop<CompleteTask>) -> Stopped {
        settle(match done(held.raw()) {
            Some(task) => or_else(attempt(held), |held| held.task_done(task)),
            None => or_else(attempt(held), Loop::remind),
        })
    }

    fn complete_task_tdd(&self, held: Loop<CompleteTaskTdd>) -> Stopped {
        settle(match done(held.raw()) {
            Some(task) => or_else(attempt(held), |held| held.task_done(task)),
            None => or_else(attempt(held), Loop::remind),
        })
    }
}

const FOLDER: &str = ".taskie/plans/{plan_id}";

/// A row of tasks.md.
struct Row {
    id: u64,
    status: String,
}

impl Row {
    fn is_active(&self) -> bool {
        ["pending", "done"].contains(&self.status.as_str())
    }
}

/// Returns the rows of tasks.md; none where it is not there, or is no table.
fn rows(raw: &Raw) -> Vec<Row> {
    let text = fs::read_to_string(raw.path(FOLDER).join("tasks.md")).unwrap_or_default();
    let cells = text
        .lines()
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let row = |cells: Vec<&str>| {
        let (id, status) = (cells.get(1)?.parse().ok()?, (*cells.get(2)?).to_owned());
        Some(Row { id, status })
    };
    cells.filter_map(row).collect()
}

/// Returns the task that was done last, where it was not reviewed yet.
fn done(raw: &Raw) -> Option<u64> {
    let all: Vec<Row> = rows(raw).into_iter().filter(|row| row.status == "done").collect();
    let more = all.len() as u64 > raw.count("tasks_done");
    all.last().filter(|_| more).map(|row| row.id)
}

/// Returns whether a plan's folder has files of this name: numbers count as `K`.
fn is_known(name: &str) -> bool {
    let mut plain = String::new();
    for letter in name.chars() {
        match letter.is_ascii_digit() {
            true if plain.ends_with('K') => {}
            true => plain.push('K'),
            false => plain.push(letter),
        }
    }
    let of = |stem: &str| [format!("{stem}-review-K.md"), format!("{stem}-post-review-K.md")];
    let reviews = ["plan", "design", "tasks", "task-K", "task-K-code", "all-code"]
        .iter()
        .flat_map(|stem| of(stem));
    ["state.json", "plan.md", "design.md", "tasks.md", "task-K.md"].contains(&plain.as_str())
        || reviews.into_iter().any(|known| known == plain)
}

claudex_loop::main!(taskie, Taskie);
