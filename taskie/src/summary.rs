//! The program's extension for Taskie: the lines of `status`, and the next action.

use std::collections::BTreeMap;

use clap::{ArgMatches, Command};
use claudex_loop::machine::{LoopFacts as _, LoopHandle, Raw};
use claudex_loop::program::exit::CommandResult;
use claudex_loop::program::{Extension, NextAction, Program, Variables};

use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::next::{State, next};
use crate::stops::Taskie;
use crate::{Phase, commands, context, entered, stops};

impl Extension for Taskie {
    fn commands(&self) -> Vec<Command> {
        commands::all()
    }

    fn run(&self, program: &Program, name: &str, arguments: &ArgMatches) -> Option<CommandResult> {
        commands::run(program, name, arguments)
    }

    fn context(&self, held: &dyn LoopHandle) -> Variables {
        context::variables(held.raw())
    }

    fn on_enter(&self, held: &dyn LoopHandle) -> Result<Vec<String>, String> {
        entered::record(held.raw())
    }

    fn after_review(&self, held: &dyn LoopHandle) -> Vec<String> {
        let line = |choice: NextAction| format!("one review too many; you choose: {}", choice.next);
        choice_at_limit(held.raw()).map(line).into_iter().collect()
    }

    fn caveats(&self, held: &dyn LoopHandle) -> Vec<String> {
        let raw = held.raw();
        let directory = match stops::directory(raw) {
            Ok(directory) => directory,
            Err(problem) => return vec![problem],
        };
        let mut lines = Vec::new();
        let total = directory.active().count();
        if total > 0 {
            let done = directory.done().count();
            lines.push(format!("{done} of {total} tasks are done"));
        }
        let task = context::task(raw, &directory).unwrap_or_default();
        if let Some(file) = directory.task_files.get(&task) {
            let [completed, all] = [file.completed(), file.subtasks.len()];
            lines.push(format!(
                "{completed} of {all} subtasks of task {task} are completed"
            ));
        }
        lines.extend(reviews(raw, &directory));
        if context::phase(raw).review().is_some() {
            let [ended, limit] = cycle(raw);
            let clean = raw.count("consecutive_clean");
            lines.push(format!(
                "{ended} of at most {limit} reviews of this cycle have ended, and {clean} in a row say PASS"
            ));
        }
        // At a task, the next action names them.
        let refused = refused_commands(raw, &directory);
        let at = context::word(context::phase(raw));
        lines.extend(refused.filter(|_| !at.starts_with("complete-task")));
        lines
    }

    fn refusal_help(&self, held: &dyn LoopHandle, transition: &str) -> Option<String> {
        let raw = held.raw();
        let [ended, limit] = cycle(raw);
        let is_review = context::phase(raw).review().is_some();
        let is_early = is_review && transition == "accept" && ended < limit;
        let help = "nothing was changed; the reviews of this cycle are not used up yet";
        is_early.then(|| format!("{help} ({ended} of {limit})"))
    }

    // The engine knows more if a review may be running.
    fn next_action(&self, held: &dyn LoopHandle) -> Option<NextAction> {
        let raw = held.raw();
        let id = raw.id();
        let phase = context::phase(raw);
        let is_task = matches!(phase, Phase::CompleteTask | Phase::CompleteTaskTdd);
        let waits_for = match phase {
            Phase::NewPlan => "plan.md",
            Phase::CreateTasks => "tasks.md and the task files",
            Phase::Standalone => "you: automation is off",
            _ if is_task => "a task to be done",
            _ if context::review_to_answer(raw).is_some() => "the answer to the newest review",
            _ if phase.review().is_none() => return None,
            _ if raw.count("max_reviews") == 0 => "the end of the turn: this plan has no reviews",
            _ if let Some(choice) = choice_at_limit(raw) => return Some(choice),
            _ if !context::is_outdated(raw) => return None,
            _ => {
                return Some(NextAction::new(
                    "another review: what was reviewed changed after it passed",
                    format!("run the review again:\n    taskie review {id}"),
                ));
            }
        };
        let directory = stops::directory(raw).unwrap_or_default();
        let next = next(&State::read(raw, &directory), &directory);
        let mut step = format!("{}\n    /taskie:continue-plan {id}", next.step);
        if is_task {
            step.extend(refused_commands(raw, &directory).map(|line| format!("\n{line}")));
        }
        Some(NextAction {
            is_choice: phase == Phase::Standalone,
            ..NextAction::new(waits_for, step)
        })
    }
}

/// Returns the number of reviews of this cycle that have ended, and its limit.
fn cycle(raw: &Raw) -> [u64; 2] {
    ["phase_iteration", "cycle_limit"].map(|field| raw.count(field))
}

/// Returns the choice of the user if the reviews of this cycle are used up.
fn choice_at_limit(raw: &Raw) -> Option<NextAction> {
    let id = raw.id();
    let [ended, limit] = cycle(raw);
    let is_review = context::phase(raw).review().is_some();
    let is_used_up = is_review && raw.count("max_reviews") > 0 && ended >= limit;
    is_used_up.then(|| NextAction {
        waits_for: format!("you: the reviews of this cycle are used up ({limit} of {limit})"),
        next: format!(
            "more reviews, continue with the open findings, or end the automation:\n    /taskie:more N {id}\n    taskie more N {id}\n    taskie accept {id}\n    taskie pause {id}"
        ),
        is_choice: true,
    })
}

/// Returns a line that names the must-run commands that the user's configuration does not allow.
pub(crate) fn refused_commands(raw: &Raw, directory: &Directory) -> Option<String> {
    let permissions = raw.program_facts().permissions.get()?;
    let commands = directory.must_run(directory.active()).into_iter();
    let refused = commands.filter(|line| {
        !permissions.commands.contains_key(line) && !permissions.allow_commands.contains(line)
    });
    let refused: Vec<String> = refused.map(|line| format!("`{line}`")).collect();
    (!refused.is_empty()).then(|| {
        format!(
            "must-run commands that do not run, because allow_commands in your configuration does not list them: {}",
            refused.join(", ")
        )
    })
}

/// Returns a line such as `reviews of plan: 1 FAIL, 2 PASS; task-1-code: 1 PASS`.
fn reviews(raw: &Raw, directory: &Directory) -> Option<String> {
    let known = stops::known_reviews(&raw.journal().unwrap_or_default(), |_| true);
    let mut groups: BTreeMap<Group, Vec<String>> = BTreeMap::new();
    // In order of group and number.
    for name in known.into_iter().filter(|name| directory.has(*name)) {
        if let Name::Review(group, number) = name {
            let verdict = match directory.verdicts.get(&name) {
                Some(true) => "PASS",
                Some(false) => "FAIL",
                None => "without a verdict",
            };
            let reviews = groups.entry(group).or_default();
            reviews.push(format!("{number} {verdict}"));
        }
    }
    let lines = groups
        .iter()
        .map(|(group, reviews)| format!("{group}: {}", reviews.join(", ")));
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| format!("reviews of {}", lines.join("; ")))
}
