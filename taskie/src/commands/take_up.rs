//! Takes up a directory that the bash version wrote, or a fresh clone.

use claudex_loop::Refusal;
use claudex_loop::program::exit::Failure;
use claudex_loop::program::{loops, open_error};
use claudex_loop::store::{LoopId, MAX_DOCUMENT_BYTES, Store};
use serde_json::{Map, Value as Json, json};

use super::Call;
use crate::context::{parse_word, word};
use crate::files::Directory;
use crate::next::{Fields, State, implied_fields};
use crate::{AnyLoop, Phase, entered};

/// Reads the fields of a document that the table needs. A file that is no JSON object has no state.
pub(super) fn state(bytes: &[u8]) -> State {
    let Some(document) = object(bytes) else {
        return State::None;
    };
    let text = |key: &str| document.get(key).and_then(Json::as_str).map(str::to_owned);
    State::There(Fields {
        next_phase: text("next_phase"),
        phase: text("phase").unwrap_or_else(|| "new-plan".to_owned()),
        current_task: document.get("current_task").and_then(number),
        ..Fields::default()
    })
}

/// Reads a JSON object, or returns `None` if the bytes are something else or too large.
fn object(bytes: &[u8]) -> Option<Map<String, Json>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_small = bytes.len() <= MAX_DOCUMENT_BYTES;
    serde_json::from_slice(bytes).ok().filter(|_| is_small)
}

/// Reads a number. It may be written as text.
fn number(value: &Json) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns the document in the machine's words. Without one, the files imply its state.
pub fn normalize(bytes: Option<&[u8]>, files: &Directory) -> Result<Vec<u8>, String> {
    let mut document = match bytes {
        None if files.entries.is_empty() => {
            return Err("its directory is not there, or is empty".to_owned());
        }
        None => json!(implied_fields(files).0),
        Some(bytes) => object(bytes).map(Json::Object).ok_or(
            "state.json is not a JSON object of at most 1 MiB; fix it, or move it away: then the files say where the plan is",
        )?,
    };
    let mut next_phase = document["next_phase"].take();
    match next_phase.as_str().and_then(parse_word) {
        Some(Phase::Standalone) => document["phase"] = next_phase.take(),
        Some(at) => next_phase = word(at).into(),
        None => {}
    }
    document["next_phase"] = next_phase;
    if let Some(task) = document.get("current_task").and_then(number) {
        document["current_task"] = task.into();
    }
    serde_json::to_vec_pretty(&document).map_err(|error| error.to_string())
}

/// Takes up a plan's directory, as the user decides.
pub(super) fn take_up(
    call: &Call,
    store: &Store,
    id: &LoopId,
    files: &Directory,
) -> Result<AnyLoop, Failure> {
    loops::check_person(call.program.info, &call.name, None)?;
    let path = store.path_of(id);
    let refused = |why: String| {
        let help = format!("nothing was changed; see what is wrong:\n    taskie check {id}");
        Failure::refuse(format!("plan {id} cannot be taken up: {why}"), &help)
    };
    let bytes = claudex_loop::files::optional(store.read(&path))
        .map_err(|error| refused(error.to_string()))?;
    let document = normalize(bytes.as_deref(), files).map_err(&refused)?;
    let beginning = call.caller.beginning(Some(id.clone()));
    let imported = AnyLoop::import(store, &document, path, beginning, call.actor);
    let held = imported.map_err(|error| match error {
        Refusal::Unfit(why) => refused(why),
        error => open_error::failure(call.program.info, error),
    })?;
    store.log(&format!("{id} taken up by {}", call.actor));
    entered::record_taken_up(held.raw()).map_err(refused)?;
    AnyLoop::open(store, id, call.actor).map_err(Failure::refusal)
}
