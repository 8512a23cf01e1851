//! The next step of a crashed or new session: the decision table C1 to C26. It moves nothing.

use claudex_loop::machine::Raw;
use claudex_loop::text;
use serde::Serialize;

use crate::Phase;
use crate::context::{self, legal_words, parse_word, word};
use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::files::task::TaskFile;

/// The state, as far as the table reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// No state.json, or one that is not a JSON object and has no journal.
    None,
    /// The file is no JSON object, and the journal has the last state.
    Broken,
    /// The file can be read.
    There(Fields),
}

/// The fields that the table reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
    pub fn read(raw: &Raw) -> Self {
        let current_task = Some(raw.count("current_task")).filter(|task| *task > 0);
        let phase = raw.text("phase");
        Self::There(Fields::new(context::phase(raw), phase, current_task))
    }
}

/// A row of the table, and the step that follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// The row: `C1` to `C26`.
    pub row: &'static str,
    /// The next step, as an instruction for the agent.
    pub step: String,
    /// The reason, as a sentence without its stop.
    pub why: String,
}

impl Next {
    fn new(row: &'static str, step: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            row,
            step: step.into(),
            why: why.into(),
        }
    }

    /// Returns whether the user has to decide first.
    pub fn asks(&self) -> bool {
        self.step == ASK
    }
}

const ASK: &str = "ask the user";
const NEW_PLAN: &str = "new-plan: write or finish plan.md";
const CREATE_TASKS: &str = "create-tasks: write tasks.md and a file for each task";
const FINISHED: &str = "nothing: the plan is finished";

/// Returns the first row of the table that fits.
pub fn next(state: &State, files: &Directory) -> Next {
    match state {
        State::None => without_state(files),
        State::Broken => {
            let step = "ask the user to restore the last state from the journal";
            let why = "state.json is not a JSON object, and the journal has the last state";
            Next::new("C25", step, why)
        }
        State::There(fields) => with_state(fields, files),
    }
}

fn with_state(fields: &Fields, files: &Directory) -> Next {
    let Some(next_phase) = &fields.next_phase else {
        return standalone(&fields.phase, fields.current_task);
    };
    let Some(at) = parse_word(next_phase) else {
        let shown_word = text::one_line(next_phase, 60);
        let why = format!("next_phase is “{shown_word}”; {}", legal_words());
        return Next::new("C24", "nothing: fix next_phase in state.json", why);
    };
    let answer = |row| {
        let step = format!("{}: answer the newest review", word(at));
        Next::new(row, step, "the newest review is not answered yet")
    };
    let review = |row, why| Next::new(row, end_turn(at), why);
    let is_answered = fields.phase.strip_prefix("post-") == Some(word(at));
    let answered = "the last review was answered";
    match at {
        Phase::PostPlanReview => answer("C1"),
        Phase::PostTasksReview => answer("C2"),
        Phase::PostCodeReview => answer("C3"),
        Phase::PostAllCodeReview => answer("C4"),
        Phase::PlanReview if is_answered => review("C5", answered),
        Phase::PlanReview if files.has_complete_plan() => review("C6", "plan.md is complete"),
        Phase::PlanReview => Next::new("C7", NEW_PLAN, "plan.md is not complete yet"),
        Phase::TasksReview if is_answered => review("C8", answered),
        Phase::TasksReview if !files.tasks.is_empty() => review("C9", "tasks.md has its rows"),
        Phase::TasksReview => {
            Next::new("C10", CREATE_TASKS, "tasks.md has no row that can be read")
        }
        Phase::CodeReview if is_answered => review("C11", answered),
        Phase::CodeReview => code_review(fields.current_task, files),
        Phase::AllCodeReview if is_answered => review("C15", answered),
        Phase::AllCodeReview => all_code_review(files),
        Phase::NewPlan => Next::new("C18", NEW_PLAN, "the plan is to be written"),
        Phase::CreateTasks => Next::new("C19", CREATE_TASKS, "the tasks are to be written"),
        Phase::CompleteTask | Phase::CompleteTaskTdd => complete_task(at, next_phase, files),
        Phase::Complete => Next::new("C21", FINISHED, "every task is done and reviewed"),
        Phase::Cancelled | Phase::Errored => {
            Next::new("C21", FINISHED, format!("the plan is {next_phase}"))
        }
        // The bash version may write the name of a command here.
        Phase::Standalone => standalone(next_phase, fields.current_task),
    }
}

fn code_review(task: Option<u64>, files: &Directory) -> Next {
    let file = task.and_then(|task| files.task_files.get(&task));
    let Some((task, file)) = task.zip(file) else {
        let why = "no current task is known whose file has subtasks: which one is it";
        return Next::new("C12", ASK, why);
    };
    let completed = file.completed();
    let total = file.subtasks.len();
    if completed == total {
        let why = format!("all subtasks of task {task} are completed");
        return Next::new("C13", end_turn(Phase::CodeReview), why);
    }
    let why = format!("{completed} of {total} subtasks of task {task} are completed");
    Next::new("C14", continue_task(task), why)
}

fn all_code_review(files: &Directory) -> Next {
    let active = files.active().count();
    let done = files.done().count();
    if active > 0 && done == active {
        let why = format!("all {active} tasks are done");
        return Next::new("C16", end_turn(Phase::AllCodeReview), why);
    }
    Next::new("C17", ASK, format!("{done} of {active} tasks are done"))
}

fn complete_task(at: Phase, next_phase: &str, files: &Directory) -> Next {
    let Some(task) = files.next_task() else {
        let step =
            "end the turn if the last task is done; otherwise ask the user to add or drop one";
        let why = format!("{next_phase} is next, and tasks.md has no pending task");
        return Next::new("C20", step, why);
    };
    let step = format!("{}: do task {task} with all of its subtasks", word(at));
    let why =
        format!("{next_phase} is next, and task {task} is the pending one with the lowest id");
    Next::new("C20", step, why)
}

fn standalone(phase: &str, task: Option<u64>) -> Next {
    match phase {
        "complete" => Next::new("C21", FINISHED, "every task is done and reviewed"),
        // A task was being done without automation.
        "implementation" | "next-task" | "next-task-tdd" | "complete-task"
        | "complete-task-tdd" | "continue-task" => {
            let task = task.map_or("the task".to_owned(), |task| format!("task {task}"));
            let step = format!("continue-task: go on with {task}, without automation");
            Next::new(
                "C22",
                step,
                format!("automation is off, and {phase} ran last"),
            )
        }
        _ => {
            let shown_word = text::one_line(phase, 60);
            let why = format!("automation is off, and “{shown_word}” ran last");
            Next::new("C23", ASK, why)
        }
    }
}

fn end_turn(review: Phase) -> String {
    format!("end the turn: {} comes next", word(review))
}

fn continue_task(task: u64) -> String {
    format!("continue-task: go on with task {task}, then end the turn")
}

/// Returns the next step of a plan without a state: that of the state that its files imply.
fn without_state(files: &Directory) -> Next {
    let (implied, why) = implied_fields(files);
    let mut next = with_state(&implied, files);
    let task = implied.current_task;
    if let Some(task) = task.filter(|_| implied.phase == "continue-task") {
        next.step = continue_task(task);
    }
    next.row = "C26";
    next.why = format!("the plan has no state, and {why}");
    next
}

/// Returns the state that the files of a plan imply, and the reason.
pub fn implied_fields(files: &Directory) -> (Fields, String) {
    let state = |at, phase: &str, task, why: &str| (Fields::new(at, phase, task), why.to_owned());
    if !files.has(Name::Tasks) && files.has(Name::Plan) {
        let newest = files.newest_review(Group::Plan);
        let review = newest.map(|number| Name::Review(Group::Plan, number));
        let verdict = review.and_then(|review| files.verdicts.get(&review));
        let phase = verdict.map_or("new-plan", |_| "plan-review");
        let (at, why) = match verdict {
            Some(true) => (Phase::CreateTasks, "plan.md passed its review"),
            Some(false) => (Phase::PostPlanReview, "plan.md failed its review"),
            None if files.has_complete_plan() => (Phase::PlanReview, "plan.md is complete"),
            None => (Phase::NewPlan, "plan.md is not complete yet"),
        };
        return state(at, phase, None, why);
    }
    let is_begun = |file: &TaskFile| file.is_begun() && !file.is_completed();
    let task_file = |task: &u64| files.task_files.get(task);
    let mut pending = files.pending();
    if let Some(task) = pending.find(|task| task_file(task).is_some_and(is_begun)) {
        let why = format!("task {task} is in progress");
        return state(Phase::CompleteTask, "continue-task", Some(task), &why);
    }
    let is_unreviewed = |task: &u64| {
        task_file(task).is_some_and(TaskFile::is_completed)
            && files.newest_review(Group::TaskCode(*task)).is_none()
    };
    if let Some(task) = files.active().find(is_unreviewed) {
        let why = format!("task {task} is done and not reviewed");
        return state(Phase::CodeReview, "complete-task", Some(task), &why);
    }
    let code_reviews = files.names().filter_map(|name| match name {
        Name::Review(Group::TaskCode(task), number) => Some((name, task, number)),
        _ => None,
    });
    let newest = code_reviews.max_by_key(|(name, _, number)| (files.modified(*name), *number));
    let verdict = newest.and_then(|(name, task, _)| Some((task, *files.verdicts.get(&name)?)));
    let is_underway = files.next_task().is_none() || files.done().next().is_some();
    let (at, task, why) = match verdict {
        Some((_, true)) => (Phase::CompleteTask, None, "the newest review says PASS"),
        Some((task, false)) => {
            let why = "the newest review says FAIL";
            (Phase::PostCodeReview, Some(task), why)
        }
        None if is_underway => {
            let why = "the files do not say how far the plan is";
            return state(Phase::Standalone, "continue-plan", None, why);
        }
        None => (Phase::CompleteTask, None, "no task is begun"),
    };
    state(at, "code-review", task, why)
}
