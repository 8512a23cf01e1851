//! The next step of a crashed or new session: the decision table C1 to C26 as one function of the state and the files. It moves
//! nothing.

use std::fmt;

use claudex_loop::machine::Raw;
use claudex_loop::text;

use crate::Phase;
use crate::context::{self, legal_words, parse_word, word};
use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::files::task::TaskFile;
use crate::files::tasks::{Row, Status};

/// The state, as far as the table reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// There is no state.json, or one that is no JSON object and has no journal.
    None,
    /// The file is no JSON object, and the journal has the last state.
    Broken,
    /// The file can be read.
    There(Fields),
}

/// The fields that the table reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    /// `next_phase`, or `None` for null.
    pub next_phase: Option<String>,
    /// `phase`
    pub phase: String,
    /// `current_task`, or `None` for null.
    pub current_task: Option<u64>,
}

impl Fields {
    fn new(at: Phase, phase: impl Into<String>, current_task: Option<u64>) -> Self {
        Self {
            next_phase: (at != Phase::Standalone).then(|| word(at).to_owned()),
            phase: phase.into(),
            current_task,
        }
    }
}

impl State {
    /// Returns the state of a loop.
    pub fn of(raw: &Raw) -> Self {
        let current_task = Some(raw.count("current_task")).filter(|task| *task > 0);
        Self::There(Fields::new(
            context::phase(raw),
            raw.text("phase"),
            current_task,
        ))
    }
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Answer the newest review, as this phase says.
    PostReview(Phase),
    /// End the turn: this review comes next.
    EndTurn(Phase),
    /// Write the plan, or continue from what is there.
    NewPlan,
    /// Write the tasks.
    CreateTasks,
    /// Do the next task.
    CompleteTask {
        /// The pending row with the lowest id, if there is one.
        task: Option<u64>,
        /// Test first.
        tdd: bool,
    },
    /// Continue a task.
    ContinueTask {
        /// The task, if it is known.
        task: Option<u64>,
        /// Whether a review follows.
        automated: bool,
    },
    /// Ask the user.
    Ask,
    /// Nothing: the plan is finished.
    Finished,
    /// Nothing: the word in `next_phase` is not known.
    Refuse,
    /// Offer the journal's last state.
    Restore,
}

/// A row of the table, and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// The row: `C1` to `C26`.
    pub row: &'static str,
    /// The next step.
    pub step: Step,
    /// The reason, as a sentence without its stop.
    pub why: String,
}

impl Next {
    fn new(row: &'static str, step: Step, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { row, step, why }
    }
}

/// The words in `phase` if a task was being done without automation.
const BY_HAND: [&str; 6] = [
    "implementation",
    "next-task",
    "next-task-tdd",
    "complete-task",
    "complete-task-tdd",
    "continue-task",
];

/// Returns the first row of the table that fits.
pub fn next(state: &State, files: &Directory) -> Next {
    match state {
        State::None => without_state(files),
        State::Broken => {
            let why = "state.json is no JSON object, and the journal has the last state";
            Next::new("C25", Step::Restore, why)
        }
        State::There(fields) => with_state(fields, files),
    }
}

fn with_state(fields: &Fields, files: &Directory) -> Next {
    let phase = fields.phase.as_str();
    let task = fields.current_task;
    let Some(next_phase) = &fields.next_phase else {
        return standalone(phase, task);
    };
    let Some(at) = parse_word(next_phase) else {
        let shown = text::one_line(next_phase, 60);
        let why = format!("next_phase is “{shown}”; {}", legal_words());
        return Next::new("C24", Step::Refuse, why);
    };
    let answer = |row| {
        Next::new(
            row,
            Step::PostReview(at),
            "the newest review is not answered yet",
        )
    };
    match at {
        Phase::PostPlanReview => answer("C1"),
        Phase::PostTasksReview => answer("C2"),
        Phase::PostCodeReview => answer("C3"),
        Phase::PostAllCodeReview => answer("C4"),
        Phase::PlanReview => plan_review(phase, files),
        Phase::TasksReview => tasks_review(phase, files),
        Phase::CodeReview => code_review(phase, task, files),
        Phase::AllCodeReview => all_code_review(phase, files),
        Phase::NewPlan => Next::new("C18", Step::NewPlan, "the plan is to be written"),
        Phase::CreateTasks => Next::new("C19", Step::CreateTasks, "the tasks are to be written"),
        Phase::CompleteTask | Phase::CompleteTaskTdd => {
            let task = files.next_task();
            let why = match task {
                Some(task) => format!("task {task} is the pending one with the lowest id"),
                None => "tasks.md has no pending task".to_owned(),
            };
            let tdd = at == Phase::CompleteTaskTdd;
            let why = format!("{next_phase} is next, and {why}");
            Next::new("C20", Step::CompleteTask { task, tdd }, why)
        }
        Phase::Complete => Next::new("C21", Step::Finished, "every task is done and reviewed"),
        Phase::Cancelled | Phase::Errored => {
            Next::new("C21", Step::Finished, format!("the plan is {next_phase}"))
        }
        // The bash version may write the name of a command here.
        Phase::Standalone => standalone(next_phase, task),
    }
}

fn standalone(phase: &str, task: Option<u64>) -> Next {
    if phase == "complete" {
        return Next::new("C21", Step::Finished, "every task is done and reviewed");
    }
    let why = |phase: &str| format!("there is no automation, and {phase} ran last");
    if BY_HAND.contains(&phase) {
        let automated = false;
        return Next::new("C22", Step::ContinueTask { task, automated }, why(phase));
    }
    let shown = text::one_line(phase, 60);
    Next::new("C23", Step::Ask, why(&format!("“{shown}”")))
}

fn end_turn(row: &'static str, review: Phase, why: impl Into<String>) -> Next {
    Next::new(row, Step::EndTurn(review), why)
}

/// Returns the row of a review whose newest review was answered, according to `phase`.
fn answered(row: &'static str, review: Phase, phase: &str) -> Option<Next> {
    let is_answered = phase.strip_prefix("post-") == Some(word(review));
    is_answered.then(|| end_turn(row, review, "the last review was answered"))
}

fn plan_review(phase: &str, files: &Directory) -> Next {
    answered("C5", Phase::PlanReview, phase).unwrap_or_else(|| {
        if files.has_complete_plan() {
            end_turn("C6", Phase::PlanReview, "plan.md is complete")
        } else {
            Next::new("C7", Step::NewPlan, "plan.md is not complete yet")
        }
    })
}

fn tasks_review(phase: &str, files: &Directory) -> Next {
    answered("C8", Phase::TasksReview, phase).unwrap_or_else(|| {
        if files.table().is_some() {
            end_turn("C9", Phase::TasksReview, "tasks.md has its rows")
        } else {
            let why = "tasks.md has no row that can be read";
            Next::new("C10", Step::CreateTasks, why)
        }
    })
}

fn code_review(phase: &str, task: Option<u64>, files: &Directory) -> Next {
    if let Some(answered) = answered("C11", Phase::CodeReview, phase) {
        return answered;
    }
    let Some((task, file)) = task.and_then(|task| Some((task, files.task(task)?))) else {
        let why = "no current task is known whose file has subtasks: which one is it";
        return Next::new("C12", Step::Ask, why);
    };
    if file.is_completed() {
        let why = format!("all subtasks of task {task} are completed");
        return end_turn("C13", Phase::CodeReview, why);
    }
    let why = format!(
        "{} of {} subtasks of task {task} are completed",
        file.completed(),
        file.subtasks.len()
    );
    Next::new("C14", continue_task(task), why)
}

fn continue_task(task: u64) -> Step {
    Step::ContinueTask {
        task: Some(task),
        automated: true,
    }
}

fn all_code_review(phase: &str, files: &Directory) -> Next {
    answered("C15", Phase::AllCodeReview, phase).unwrap_or_else(|| {
        let active = files.active().count();
        let done = files
            .rows()
            .filter(|row| row.status == Status::Done)
            .count();
        if active > 0 && done == active {
            let why = format!("all {active} tasks are done");
            end_turn("C16", Phase::AllCodeReview, why)
        } else {
            let why = format!("{done} of {active} tasks are done");
            Next::new("C17", Step::Ask, why)
        }
    })
}

/// Returns the next step of a plan without a state: that of the state that its files imply.
fn without_state(files: &Directory) -> Next {
    let (implied, why) = implied_fields(files);
    let step = match implied.current_task {
        Some(task) if implied.phase == "continue-task" => continue_task(task),
        _ => with_state(&implied, files).step,
    };
    Next::new("C26", step, format!("there is no state, and {why}"))
}

/// Returns the state that the files of a plan imply, and the reason.
pub fn implied_fields(files: &Directory) -> (Fields, String) {
    if files.tasks.is_none() && files.plan.is_some() {
        return implied_by_plan(files);
    }
    let is_begun = |file: &TaskFile| file.is_begun() && !file.is_completed();
    let in_progress = files.rows().find(|row| {
        let file = files.task(row.id);
        row.status == Status::Pending && file.is_some_and(is_begun)
    });
    if let Some(Row { id, .. }) = in_progress {
        let why = format!("task {id} is in progress");
        return (
            Fields::new(Phase::CompleteTask, "continue-task", Some(*id)),
            why,
        );
    }
    let is_unreviewed = |task: &u64| {
        let is_completed = files.task(*task).is_some_and(TaskFile::is_completed);
        is_completed && files.newest_review(Group::TaskCode(*task)).is_none()
    };
    if let Some(task) = files.active().find(is_unreviewed) {
        let why = format!("task {task} is done and not reviewed");
        return (
            Fields::new(Phase::CodeReview, "complete-task", Some(task)),
            why,
        );
    }
    let code_reviews = files.names().filter_map(|name| match name {
        Name::Review(Group::TaskCode(task), number) => Some((name, task, number)),
        _ => None,
    });
    let newest = code_reviews.max_by_key(|(name, _, number)| (files.modified(*name), *number));
    let verdict =
        newest.and_then(|(name, task, _)| Some((name, task, *files.verdicts.get(&name)?)));
    match verdict {
        Some((name, _, true)) => {
            let why = format!("the newest review, {name}, says PASS");
            (Fields::new(Phase::CompleteTask, "code-review", None), why)
        }
        Some((name, task, false)) => {
            let why = format!("the newest review, {name}, says FAIL");
            (
                Fields::new(Phase::PostCodeReview, "code-review", Some(task)),
                why,
            )
        }
        None if files.next_task().is_some()
            && files.rows().all(|row| row.status != Status::Done) =>
        {
            let why = "no task is begun".to_owned();
            (Fields::new(Phase::CompleteTask, "code-review", None), why)
        }
        None => {
            let why = "the files do not say how far the plan is".to_owned();
            (Fields::new(Phase::Standalone, "continue-plan", None), why)
        }
    }
}

/// Returns the state that is implied by a plan without tasks.
fn implied_by_plan(files: &Directory) -> (Fields, String) {
    let newest = files.newest_review(Group::Plan);
    let verdict = newest.and_then(|number| files.verdicts.get(&Name::Review(Group::Plan, number)));
    let (at, phase, why) = match verdict {
        Some(true) => (
            Phase::CreateTasks,
            "plan-review",
            "plan.md passed its review",
        ),
        Some(false) => (
            Phase::PostPlanReview,
            "plan-review",
            "the newest review of plan.md says FAIL",
        ),
        None if files.has_complete_plan() => (Phase::PlanReview, "new-plan", "plan.md is complete"),
        None => (Phase::NewPlan, "new-plan", "plan.md is not complete yet"),
    };
    (Fields::new(at, phase, None), why.to_owned())
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PostReview(phase) => {
                return write!(f, "{}: answer the newest review", word(*phase));
            }
            Self::EndTurn(review) => {
                return write!(f, "end the turn: {} comes next", word(*review));
            }
            Self::CompleteTask {
                task: Some(task),
                tdd,
            } => {
                let command = if *tdd {
                    "complete-task-tdd"
                } else {
                    "complete-task"
                };
                return write!(f, "{command}: do task {task} with all of its subtasks");
            }
            Self::ContinueTask { task, automated } => {
                let task = task.map_or("the task".to_owned(), |task| format!("task {task}"));
                let then = if *automated {
                    "then end the turn"
                } else {
                    "without automation"
                };
                return write!(f, "continue-task: go on with {task}, {then}");
            }
            Self::CompleteTask { task: None, .. } => {
                "end the turn if the last task is done; otherwise ask the user to add or drop one"
            }
            Self::NewPlan => "new-plan: write or finish plan.md",
            Self::CreateTasks => "create-tasks: write tasks.md and a file for each task",
            Self::Ask => "ask the user",
            Self::Finished => "nothing: the plan is finished",
            Self::Refuse => "nothing: fix next_phase in state.json",
            Self::Restore => "ask the user to restore the last state from the journal",
        })
    }
}
