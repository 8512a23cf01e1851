//! The decision table C1 to C26: the next step of a crashed or new session. It changes nothing.

use claudex_loop::machine::Raw;
use claudex_loop::message::{Message, Render as _};
use claudex_loop::text;
use serde::Serialize;
use serde_json::json;

use crate::context::{self, legal_words, parse_word, word};
use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::files::task::TaskFile;
use crate::{Phase, work};

/// The state as the table reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// No state.json, or one that is not a JSON object and has no journal.
    None,
    /// The file is no JSON object. The journal has the last state.
    Broken,
    /// The file can be read.
    There(Fields),
}

/// The fields that the table reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Fields {
    /// `next_phase`, or `None` for null.
    pub next_phase: Option<String>,
    /// `phase`
    pub phase: String,
    /// `current_task`, or `None` for null.
    pub current_task: Option<u64>,
    /// The task whose row is done but that has no review yet, if the plan has a journal.
    #[serde(skip)]
    pub unreviewed: Option<u64>,
    /// Whether no file of the project has changed since that task began.
    #[serde(skip)]
    pub is_without_code: bool,
    /// Whether the plan or a task changed after its review, which was repeated too often.
    #[serde(skip)]
    pub changed_again: bool,
    /// Whether tasks.md has fewer tasks than the journal counts.
    #[serde(skip)]
    pub lacks_row: bool,
}

impl Fields {
    fn new(at: Phase, phase: impl Into<String>, current_task: Option<u64>) -> Self {
        Self {
            next_phase: (at != Phase::Standalone).then(|| word(at).to_owned()),
            phase: phase.into(),
            current_task,
            ..Self::default()
        }
    }
}

impl State {
    /// Returns the state of a loop with these files.
    pub fn read(raw: &Raw, files: &Directory) -> Self {
        let current_task = Some(raw.count("current_task")).filter(|task| *task > 0);
        let phase = raw.text("phase");
        let unreviewed = work::newest_done(raw, files);
        Self::There(Fields {
            unreviewed,
            is_without_code: unreviewed.is_some() && !work::has_code(raw),
            lacks_row: work::lacks_row(raw, files),
            changed_again: work::is_reopened_too_often(raw)
                && work::changed_file(raw, files).is_some(),
            ..Fields::new(context::phase(raw), phase, current_task)
        })
    }
}

/// A row of the table, and the step that follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// The row: `C1` to `C26`.
    pub row: &'static str,
    /// The next step, as an instruction for the agent.
    pub step: String,
    /// The reason, as a sentence without a full stop.
    pub why: String,
    /// The commands with which the user continues, if the user has to decide first.
    pub commands: String,
}

const ROWS: &str = include_str!("next.txt");

impl Next {
    /// Creates the step of a line of the table.
    fn new(key: &'static str, fields: &Fields, files: &Directory) -> Self {
        let next_phase = fields.next_phase.as_deref().unwrap_or_default();
        let task =
            |task: Option<u64>| task.map_or("the task".to_owned(), |id| format!("task {id}"));
        let file = fields.current_task.and_then(|id| files.task_files.get(&id));
        let facts = json!({
            "at": parse_word(next_phase).map(word),
            "next_phase": text::one_line(next_phase, 60),
            "last": text::one_line(last_phase(fields), 60),
            "task": task(fields.current_task),
            "pending": task(files.next_task()),
            "has_pending": files.next_task().is_some(),
            "unreviewed": task(fields.unreviewed),
            "completed": file.map(TaskFile::completed),
            "subtasks": file.map(|file| file.subtasks.len()),
            "done": files.done().count(),
            "active": files.active().count(),
            "words": legal_words(),
        });
        let mut lines = ROWS.lines().filter_map(|line| line.split_once(": "));
        let text = lines.find_map(|(row, line)| (row == key).then_some(line));
        let name = "next.txt";
        let mut parts = text.unwrap_or_default().split(" | ");
        let mut render = || {
            let text = parts.next().unwrap_or_default();
            Message { name, text }.render(&facts).unwrap_or_default()
        };
        Self {
            row: key.trim_end_matches(char::is_lowercase),
            step: render(),
            why: render(),
            commands: render(),
        }
    }
}

/// Returns the first matching row of the table.
pub fn next(state: &State, files: &Directory) -> Next {
    match state {
        State::None => without_state(files),
        State::Broken => Next::new("C25", &Fields::default(), files),
        State::There(fields) => Next::new(key(fields, files), fields, files),
    }
}

/// Returns the last phase. As the next one, the bash version may write the name of a command.
fn last_phase(fields: &Fields) -> &str {
    let next_phase = fields.next_phase.as_deref();
    let command = next_phase.filter(|next| parse_word(next) == Some(Phase::Standalone));
    command.unwrap_or(&fields.phase)
}

/// Returns the first line of the table that matches a state.
fn key(fields: &Fields, files: &Directory) -> &'static str {
    let next_phase = fields.next_phase.as_deref();
    let Some(at) = next_phase.map_or(Some(Phase::Standalone), parse_word) else {
        return "C24";
    };
    let is_answered = fields.phase.strip_prefix("post-") == Some(word(at));
    let active = files.active().count();
    let file = |task: Option<u64>| files.task_files.get(&task?);
    match at {
        Phase::PostPlanReview => "C1",
        Phase::PostTasksReview => "C2",
        Phase::PostCodeReview => "C3",
        Phase::PostAllCodeReview => "C4",
        Phase::PlanReview if is_answered => "C5",
        Phase::PlanReview if files.has_complete_plan() => "C6",
        Phase::PlanReview => "C7",
        Phase::TasksReview if is_answered => "C8",
        Phase::TasksReview if !files.tasks.is_empty() => "C9",
        Phase::TasksReview => "C10",
        Phase::CodeReview if is_answered => "C11",
        Phase::CodeReview => match file(fields.current_task) {
            None => "C12",
            Some(file) if file.is_completed() => "C13",
            Some(_) => "C14",
        },
        Phase::AllCodeReview if is_answered => "C15",
        Phase::AllCodeReview if active > 0 && files.done().count() == active => "C16",
        Phase::AllCodeReview => "C17",
        Phase::NewPlan => "C18",
        Phase::CreateTasks if fields.changed_again => "C19again",
        Phase::CreateTasks => "C19",
        Phase::CompleteTask | Phase::CompleteTaskTdd => match file(fields.unreviewed) {
            Some(file) if !file.is_completed() => "C20open",
            Some(_) if fields.changed_again => "C20again",
            Some(_) if fields.is_without_code => "C20same",
            Some(_) => "C20done",
            None if files.next_task().is_some() => "C20",
            None if fields.lacks_row => "C20row",
            None => "C20none",
        },
        Phase::Complete => "C21",
        Phase::Cancelled => "C21ended",
        Phase::Errored => "C21errored",
        Phase::Standalone => match last_phase(fields) {
            "complete" => "C21",
            // A task was in progress without automation.
            "implementation" | "next-task" | "next-task-tdd" | "complete-task"
            | "complete-task-tdd" | "continue-task" => "C22",
            _ => "C23",
        },
    }
}

/// Returns the next step of a plan without a state, which its files imply.
fn without_state(files: &Directory) -> Next {
    let (implied, why) = implied_fields(files);
    let goes_on = implied.phase == "continue-task";
    let key = if goes_on { "C14" } else { key(&implied, files) };
    Next {
        row: "C26",
        why: format!("the plan has no state, and {why}"),
        ..Next::new(key, &implied, files)
    }
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
