//! Takes up a directory that the bash version wrote, or a fresh clone: its state as the machine reads it, and what only we count.

use camino::Utf8Path;
use claudex_loop::machine::import::ImportError;
use claudex_loop::program::TypedApp as _;
use claudex_loop::program::exit::Failure;
use claudex_loop::program::start;
use claudex_loop::program::{locate, loops};
use claudex_loop::store::{LoopId, MAX_BYTES};
use claudex_loop::{Beginning, text};
use serde_json::{Map, Value as Json, json};

use super::Call;
use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::next::{Kind, State, Step, WORDS, next};
use crate::typestate::Taskie;
use crate::{AnyLoop, entered};

/// Reads a document as far as the table needs it. What is no JSON object is no state.
pub(super) fn state(bytes: &[u8]) -> State {
    let Some(document) = object(bytes) else {
        return State::None;
    };
    let text = |key: &str| document.get(key).and_then(Json::as_str).map(str::to_owned);
    State::There {
        next_phase: text("next_phase"),
        phase: text("phase").unwrap_or_else(|| "new-plan".to_owned()),
        current_task: document.get("current_task").and_then(number),
    }
}

/// Reads a JSON object; `None`: it is none, or too large.
fn object(bytes: &[u8]) -> Option<Map<String, Json>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.len() > MAX_BYTES {
        return None;
    }
    serde_json::from_slice(bytes).ok()
}

/// Reads a number, also one that stands as text.
fn number(value: &Json) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns the document that is taken up: words of the bash version as the machine has them, and the tasks counted. Without a document
/// it follows from the files.
///
/// # Errors
/// A sentence says why it cannot be taken up.
pub fn normalized(bytes: Option<&[u8]>, files: &Directory) -> Result<Vec<u8>, String> {
    let mut document = match bytes {
        None => from_files(files)?,
        Some(bytes) => object(bytes).ok_or_else(|| {
            "state.json is no JSON object of at most 1 MiB; mend it, or move it away: then the files say where the plan is".to_owned()
        })?,
    };
    let word = match document.get("next_phase") {
        None | Some(Json::Null) => None,
        Some(Json::String(word)) => Some(word.clone()),
        Some(_) => return Err("next_phase in state.json is neither a word nor null".to_owned()),
    };
    let word = match word.as_deref() {
        Some("next-task") => Some("complete-task".to_owned()),
        Some("next-task-tdd") => Some("complete-task-tdd".to_owned()),
        Some(word @ ("continue-plan" | "add-task")) => {
            document.insert("phase".to_owned(), json!(word));
            None
        }
        Some(word) if !WORDS.contains(&word) => {
            let word = text::one_line(&text::shown(word), 60);
            return Err(format!(
                "next_phase in state.json is “{word}”; the legal words are null, {}",
                WORDS.join(", ")
            ));
        }
        word => word.map(str::to_owned),
    };
    let is_over = matches!(word.as_deref(), Some("complete" | "cancelled" | "errored"));
    let is_finished = word.is_none() && document.get("phase") == Some(&json!("complete"));
    if is_over || is_finished {
        return Err("the plan is over; there is nothing to go on with".to_owned());
    }
    if let Some(task) = document.get("current_task").filter(|task| task.is_string()) {
        let task = number(task).ok_or("current_task in state.json is no number")?;
        document.insert("current_task".to_owned(), json!(task));
    }
    let current = document
        .get("current_task")
        .and_then(number)
        .unwrap_or_default();
    if let Some(counted) =
        entered::counted_on_import(files, word.as_deref().unwrap_or_default(), current)
    {
        document.insert("tasks_done".to_owned(), json!(counted.done));
        document.insert("tasks_total".to_owned(), json!(counted.total));
    }
    document.insert(
        "next_phase".to_owned(),
        word.map_or(Json::Null, Json::String),
    );
    serde_json::to_vec_pretty(&document).map_err(|error| error.to_string())
}

/// Returns the state of a plan that has none, from its files.
fn from_files(files: &Directory) -> Result<Map<String, Json>, String> {
    if files.entries.is_empty() {
        return Err("its directory is not there, or is empty".to_owned());
    }
    let found = next(&State::None, files);
    let (word, phase, task) = match found.step {
        Step::NewPlan => (Some("new-plan"), "new-plan", None),
        Step::EndTurn(Kind::Plan) => (Some("plan-review"), "new-plan", None),
        Step::PostReview(Kind::Plan) => (Some("post-plan-review"), "plan-review", None),
        Step::CreateTasks => (Some("create-tasks"), "plan-review", None),
        Step::ContinueTask { task, .. } => (Some("complete-task"), "continue-task", task),
        Step::CodeReview(task) => (Some("code-review"), "complete-task", Some(task)),
        Step::CompleteTask { .. } => (Some("complete-task"), "code-review", None),
        Step::PostReview(Kind::Code) => (
            Some("post-code-review"),
            "code-review",
            newest_code_review(files),
        ),
        _ => (None, "continue-plan", None),
    };
    let document = json!({
        "max_reviews": 8, "current_task": task, "phase": phase, "next_phase": word, "phase_iteration": word.map(|_| 0),
        "review_model": "opus", "consecutive_clean": 0, "tdd": false,
    });
    match document {
        Json::Object(document) => Ok(document),
        _ => Ok(Map::new()),
    }
}

/// Returns the task whose code was reviewed last.
fn newest_code_review(files: &Directory) -> Option<u64> {
    let reviews = files.names().filter_map(|name| match name {
        Name::Review(Group::TaskCode(task), _) => {
            Some((files.entries.get(&name.to_string())?.modified, task))
        }
        _ => None,
    });
    reviews.max().map(|(_, task)| task)
}

/// Takes a plan's directory up, as the user decides.
pub(super) fn take_up(
    call: &Call,
    root: &Utf8Path,
    id: &LoopId,
    files: &Directory,
) -> Result<AnyLoop, Failure> {
    loops::person_only(call.info, call.actor, &call.name, None)?;
    let store = locate::for_start(call.info.state, root);
    let path = store.path_of(id);
    let refused = |why: String| {
        call.refused(
            format!("plan {id} cannot be taken up: {why}"),
            &format!(
                "nothing was changed; what is wrong with the directory:\n    taskie check {id}"
            ),
        )
    };
    let bytes = claudex_loop::files::if_there(store.read(&path))
        .map_err(|error| refused(error.to_string()))?;
    let document = normalized(bytes.as_deref(), files).map_err(&refused)?;
    let how = Beginning {
        id: Some(id.clone()),
        ..Beginning::now(
            call.caller
                .session
                .clone()
                .unwrap_or_else(|| "unknown".to_owned()),
        )
    };
    let held = Taskie::import(&store, &document, path, how, call.actor);
    let held = held.map_err(|error| match error {
        ImportError::Start(error) => start::refused(call.info, error),
        error => refused(error.to_string()),
    })?;
    store.log(&format!("{id} taken up by {}", call.actor));
    entered::taken_up(&held).map_err(refused)?;
    AnyLoop::open(&store, id, call.actor)
        .map_err(|error| claudex_loop::program::incompatible::failure(call.info, error))
}
