//! Where a crashed or new session takes up: the decision table C1 to C26 as one function of the state and the files. It moves nothing.

use std::fmt;

use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::files::task::Status as SubtaskStatus;
use crate::files::tasks::Status;

/// The state, as far as the table reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// There is no state.json, or one that is no JSON object and has no journal.
    None,
    /// It is no JSON object, and the journal has the last state.
    Broken,
    /// It is there.
    There {
        /// `next_phase`; `None`: null.
        next_phase: Option<String>,
        /// `phase`
        phase: String,
        /// `current_task`; `None`: null.
        current_task: Option<u64>,
    },
}

/// The four kinds of reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of the plan.
    Plan,
    /// Of the tasks.
    Tasks,
    /// Of the current task's code.
    Code,
    /// Of all code.
    AllCode,
}

impl Kind {
    /// Lists them, each with the word of its phase.
    pub const ALL: [(Self, &str); 4] = [
        (Self::Plan, "plan-review"),
        (Self::Tasks, "tasks-review"),
        (Self::Code, "code-review"),
        (Self::AllCode, "all-code-review"),
    ];

    /// Returns the word of its phase.
    pub fn word(self) -> &'static str {
        let [plan, tasks, code, all_code] = Self::ALL.map(|(_, word)| word);
        match self {
            Self::Plan => plan,
            Self::Tasks => tasks,
            Self::Code => code,
            Self::AllCode => all_code,
        }
    }

    fn of(word: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, known)| *known == word).map(|(kind, _)| kind)
    }
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Deal with the newest review of this kind.
    PostReview(Kind),
    /// End the turn: the review of this kind comes next.
    EndTurn(Kind),
    /// Write the plan, or go on with what is there.
    NewPlan,
    /// Write the tasks.
    CreateTasks,
    /// Do the next task; `None`: no row is pending.
    CompleteTask {
        /// The pending row with the lowest id.
        task: Option<u64>,
        /// Test first.
        tdd: bool,
    },
    /// Go on with this task; `None`: the current one is not known.
    ContinueTask {
        /// The task.
        task: Option<u64>,
        /// Whether a review follows.
        automated: bool,
    },
    /// Have this task's code reviewed.
    CodeReview(u64),
    /// Ask the user.
    Ask,
    /// Nothing: it is finished.
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
    /// What is to be done.
    pub step: Step,
    /// Why, as a sentence without its stop.
    pub why: String,
}

impl Next {
    fn new(row: &'static str, step: Step, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { row, step, why }
    }
}

/// The words that `next_phase` may be.
pub const WORDS: [&str; 19] = [
    "plan-review",
    "tasks-review",
    "code-review",
    "all-code-review",
    "post-plan-review",
    "post-tasks-review",
    "post-code-review",
    "post-all-code-review",
    "new-plan",
    "create-tasks",
    "complete-task",
    "complete-task-tdd",
    "next-task",
    "next-task-tdd",
    "continue-plan",
    "add-task",
    "complete",
    "cancelled",
    "errored",
];

/// Lists what `phase` is where a task was being done without automation.
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
    let (word, phase, task) = match state {
        State::None => return from_files(files),
        State::Broken => {
            return Next::new(
                "C25",
                Step::Restore,
                "state.json is no JSON object, and the journal has the last state",
            );
        }
        State::There {
            next_phase,
            phase,
            current_task,
        } => (next_phase.as_deref(), phase.as_str(), *current_task),
    };
    match word {
        None => standalone(phase, task),
        // The bash version lets them stand there.
        Some(word @ ("continue-plan" | "add-task")) => standalone(word, task),
        Some("new-plan") => Next::new("C18", Step::NewPlan, "the plan is to be written"),
        Some("create-tasks") => Next::new("C19", Step::CreateTasks, "the tasks are to be written"),
        Some(word @ ("complete-task" | "next-task")) => of_task(word, false, files),
        Some(word @ ("complete-task-tdd" | "next-task-tdd")) => of_task(word, true, files),
        Some("complete") => Next::new("C21", Step::Finished, "every task is done and reviewed"),
        Some(word @ ("cancelled" | "errored")) => {
            Next::new("C21", Step::Finished, format!("the plan is {word}"))
        }
        Some(word) => match (
            Kind::of(word),
            word.strip_prefix("post-").and_then(Kind::of),
        ) {
            (Some(kind), _) => of_review(kind, phase, task, files),
            (_, Some(kind)) => Next::new(
                ["C1", "C2", "C3", "C4"][kind as usize],
                Step::PostReview(kind),
                "the newest review is not answered yet",
            ),
            _ => {
                let shown = claudex_loop::text::one_line(&claudex_loop::text::shown(word), 60);
                let why = format!(
                    "next_phase is “{shown}”; the legal words are null, {}",
                    WORDS.join(", ")
                );
                Next::new("C24", Step::Refuse, why)
            }
        },
    }
}

fn standalone(phase: &str, task: Option<u64>) -> Next {
    if phase == "complete" {
        return Next::new("C21", Step::Finished, "every task is done and reviewed");
    }
    if BY_HAND.contains(&phase) {
        let step = Step::ContinueTask {
            task,
            automated: false,
        };
        return Next::new(
            "C22",
            step,
            format!("there is no automation, and {phase} ran last"),
        );
    }
    let shown = claudex_loop::text::one_line(&claudex_loop::text::shown(phase), 60);
    Next::new(
        "C23",
        Step::Ask,
        format!("there is no automation, and “{shown}” ran last"),
    )
}

fn of_task(word: &str, tdd: bool, files: &Directory) -> Next {
    let task = files
        .table()
        .and_then(|tasks| tasks.next())
        .map(|row| row.id);
    let why = match task {
        Some(task) => {
            format!("{word} is next, and task {task} is the pending one with the lowest id")
        }
        None => format!("{word} is next, and tasks.md has no pending task"),
    };
    Next::new("C20", Step::CompleteTask { task, tdd }, why)
}

fn of_review(kind: Kind, phase: &str, task: Option<u64>, files: &Directory) -> Next {
    let end = |row, why: String| Next::new(row, Step::EndTurn(kind), why);
    let answered = phase
        .strip_prefix("post-")
        .is_some_and(|of| of == kind.word());
    let fixed = "the last review was answered".to_owned();
    match kind {
        Kind::Plan if answered => end("C5", fixed),
        Kind::Plan if files.has_complete_plan() => end("C6", "plan.md is complete".to_owned()),
        Kind::Plan => Next::new("C7", Step::NewPlan, "plan.md is not complete yet"),
        Kind::Tasks if answered => end("C8", fixed),
        Kind::Tasks if files.table().is_some() => end("C9", "tasks.md has its rows".to_owned()),
        Kind::Tasks => Next::new(
            "C10",
            Step::CreateTasks,
            "tasks.md has no row that can be read",
        ),
        Kind::Code if answered => end("C11", fixed),
        Kind::Code => match task.and_then(|task| Some((task, files.task(task)?))) {
            None => Next::new(
                "C12",
                Step::Ask,
                "no current task is known whose file has subtasks: which one is it",
            ),
            Some((task, file)) if file.is_completed() => {
                end("C13", format!("all subtasks of task {task} are completed"))
            }
            Some((task, file)) => Next::new(
                "C14",
                Step::ContinueTask {
                    task: Some(task),
                    automated: true,
                },
                format!(
                    "{} of {} subtasks of task {task} are completed",
                    file.completed(),
                    file.subtasks.len()
                ),
            ),
        },
        Kind::AllCode if answered => end("C15", fixed),
        Kind::AllCode => {
            let active = files.table().map_or(0, |tasks| tasks.active().count());
            let done = files.table().map_or(0, |tasks| tasks.done().count());
            match active > 0 && done == active {
                true => end("C16", format!("all {active} tasks are done")),
                false => Next::new(
                    "C17",
                    Step::Ask,
                    format!("{done} of {active} tasks are done"),
                ),
            }
        }
    }
}

/// Returns the next step of a plan that has no state, by its files.
fn from_files(files: &Directory) -> Next {
    let found = |step, why: String| Next::new("C26", step, format!("there is no state, and {why}"));
    if files.tasks.is_none() && files.plan.is_some() {
        return from_plan(files);
    }
    let rows = || files.table().into_iter().flat_map(|tasks| &tasks.rows);
    let begun = |task: u64| {
        files.task(task).is_some_and(|file| {
            let begun = file
                .subtasks
                .iter()
                .any(|one| one.status != SubtaskStatus::Pending);
            begun && !file.is_completed()
        })
    };
    if let Some(row) = rows()
        .filter(|row| row.status == Status::Pending)
        .find(|row| begun(row.id))
    {
        let step = Step::ContinueTask {
            task: Some(row.id),
            automated: true,
        };
        return found(step, format!("task {} is in progress", row.id));
    }
    let code_reviews = files.names().filter_map(|name| match name {
        Name::Review(Group::TaskCode(task), number) => Some((task, number)),
        _ => None,
    });
    let code_reviews: Vec<(u64, u64)> = code_reviews.collect();
    let is_unreviewed = |task: u64| {
        let done = files.task(task).is_some_and(|file| file.is_completed());
        done && !code_reviews.iter().any(|(of, _)| *of == task)
    };
    if let Some(row) = rows()
        .filter(|row| row.is_active())
        .find(|row| is_unreviewed(row.id))
    {
        return found(
            Step::CodeReview(row.id),
            format!("task {} is done and not reviewed", row.id),
        );
    }
    let modified = |(task, number): &(u64, u64)| {
        let name = Name::Review(Group::TaskCode(*task), *number).to_string();
        (
            files.entries.get(&name).map(|entry| entry.modified),
            *number,
        )
    };
    let newest = code_reviews.into_iter().max_by_key(modified);
    let verdict = newest.and_then(|(task, number)| {
        let name = Name::Review(Group::TaskCode(task), number);
        Some((name, *files.verdicts.get(&name)?))
    });
    match verdict {
        Some((name, true)) => {
            let task = files
                .table()
                .and_then(|tasks| tasks.next())
                .map(|row| row.id);
            let step = Step::CompleteTask { task, tdd: false };
            found(step, format!("the newest review, {name}, says PASS"))
        }
        Some((name, false)) => found(
            Step::PostReview(Kind::Code),
            format!("the newest review, {name}, says FAIL"),
        ),
        None => match rows().filter(|row| row.is_active()).map(|row| row.id).min() {
            Some(task) if rows().all(|row| row.status != Status::Done) => found(
                Step::CompleteTask {
                    task: Some(task),
                    tdd: false,
                },
                "no task is begun".to_owned(),
            ),
            _ => Next::new(
                "C26",
                Step::Ask,
                "there is no state, and the files do not say how far the plan is",
            ),
        },
    }
}

/// Returns the next step of a plan that has no state and no tasks yet.
fn from_plan(files: &Directory) -> Next {
    let reviews = files.names().filter_map(|name| match name {
        Name::Review(Group::Plan, number) => Some(number),
        _ => None,
    });
    let newest = reviews
        .max()
        .map(|number| Name::Review(Group::Plan, number));
    let verdict = newest.and_then(|name| files.verdicts.get(&name));
    let (step, why) = match verdict {
        Some(true) => (Step::CreateTasks, "plan.md passed its review"),
        Some(false) => (
            Step::PostReview(Kind::Plan),
            "the newest review of plan.md says FAIL",
        ),
        None if files.has_complete_plan() => (Step::EndTurn(Kind::Plan), "plan.md is complete"),
        None => (Step::NewPlan, "plan.md is not complete yet"),
    };
    Next::new("C26", step, format!("there is no state, and {why}"))
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = |task: &Option<u64>| match task {
            Some(task) => format!("task {task}"),
            None => "the task".to_owned(),
        };
        match self {
            Self::PostReview(kind) => {
                write!(f, "post-{}: answer the newest review", kind.word())
            }
            Self::EndTurn(kind) => write!(f, "end the turn: {} comes next", kind.word()),
            Self::NewPlan => write!(f, "new-plan: write or finish plan.md"),
            Self::CreateTasks => write!(f, "create-tasks: write tasks.md and a file for each task"),
            Self::CompleteTask { task: None, .. } => {
                write!(
                    f,
                    "end the turn if the last task is done; otherwise ask the user to add or drop one"
                )
            }
            Self::CompleteTask {
                task: Some(task),
                tdd,
            } => {
                let tdd = if *tdd { "-tdd" } else { "" };
                write!(
                    f,
                    "complete-task{tdd}: do task {task} with all of its subtasks"
                )
            }
            Self::ContinueTask {
                task: of,
                automated: true,
            } => {
                write!(
                    f,
                    "continue-task: go on with {}, then end the turn",
                    task(of)
                )
            }
            Self::ContinueTask {
                task: of,
                automated: false,
            } => {
                write!(
                    f,
                    "continue-task: go on with {}, without automation",
                    task(of)
                )
            }
            Self::CodeReview(task) => write!(f, "code-review: have task {task} reviewed"),
            Self::Ask => write!(f, "ask the user"),
            Self::Finished => write!(f, "nothing: the plan is finished"),
            Self::Refuse => write!(f, "nothing: fix next_phase in state.json"),
            Self::Restore => write!(f, "ask the user to restore the last state from the journal"),
        }
    }
}
