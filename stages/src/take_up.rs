//! State documents of schema 2 without a journal: `take-up` continues them, and `start --anew`
//! moves them aside. Only the user may. Keys that are not read here stay as they are.

use std::io;

use camino::Utf8Path;
use claudex_loop::files::{Folder, optional};
use claudex_loop::program::exit::{CommandResult, Exit, Failure};
use claudex_loop::program::start::StartRequest;
use claudex_loop::program::{Program, import, locate, loops, out};
use claudex_loop::store::{IdForm, ListedLoop, LoopId, Store};
use claudex_loop::{Timestamp, text};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::contract::{self, Stage, problem_of, unquote};
use crate::state::{merge, new_dispatch};
use crate::typestate::{INFO, StageStatus};

/// The state document, from the project's root.
const STATE: &str = "requirements/.requirements-state.local.md";

/// The keys of schema 2 that decide where the pipeline continues.
#[derive(Deserialize)]
struct Schema2 {
    schema_version: u64,
    current_stage: Option<u64>,
    current_round: Option<u32>,
    stage_status: Option<StageStatus>,
    /// The key of schema 1, which the prose version also writes under schema 2.
    phase_status: Option<StageStatus>,
    waiting_for_user: Option<bool>,
    next_step: Option<String>,
}

/// Returns the document of a pipeline that continues another program's, or the reason against it.
fn convert(bytes: &[u8], root: &Utf8Path) -> Result<Vec<u8>, String> {
    let text = str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let document = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut keys = contract::frontmatter(document).ok_or("its frontmatter cannot be read")?;
    // A document of this program whose journal is missing.
    if keys.contains_key("loop") {
        return Ok(bytes.to_vec());
    }
    let plain = unquote(&Json::Object(keys.clone()));
    let known: Schema2 = serde_json::from_value(plain)
        .map_err(|error| text::one_line(&text::printable(problem_of(&error)), 200))?;
    if known.schema_version != 2 {
        let version = known.schema_version;
        return Err(format!("its `schema_version` is {version}, expected 2"));
    }
    let number = known.current_stage.unwrap_or(1);
    let unknown = || format!("its `current_stage` is {number}, expected 1 to 7");
    let mut stage = Stage::from_number(number).ok_or_else(unknown)?;

    let status = known.stage_status.or(known.phase_status);
    let waits = known.waiting_for_user == Some(true) || status == Some(StageStatus::WaitingForUser);
    let (status, phase) = match status {
        _ if waits => ("waiting_for_user", "waiting"),
        Some(StageStatus::Failed) if stage != Stage::Retrospective => ("failed", "failed"),
        Some(StageStatus::Completed) => {
            let next = Stage::from_number(number + 1);
            stage = next.ok_or("the pipeline is over")?;
            ("in_progress", "dispatched")
        }
        _ => ("in_progress", "dispatched"),
    };
    keys.retain(|_, value| !value.is_null());
    let round = known.current_round.unwrap_or(1).max(1);
    let default = "The pipeline waited for you when it was taken up.".to_owned();
    let reason = known.next_step.or(waits.then_some(default));
    let mut open = new_dispatch(root, round);
    open.re_entry = waits;
    let changes = json!({
        "current_stage": stage.number(),
        "stage_status": status,
        "current_round": round,
        "waiting_for_user": waits,
        "pause_stage": waits.then_some(stage.number()),
        "next_step": reason,
        "loop": { "open": open, "stage_status": phase },
    });
    let keys = merge([Json::Object(keys), changes]);
    let yaml = serde_yaml::to_string(&keys).map_err(|error| error.to_string())?;
    let log = &document[contract::body_start(document)..];
    Ok(format!("---\n{yaml}---\n{log}").into_bytes())
}

/// Continues from the document of another program.
pub(crate) fn take_up(program: &Program) -> CommandResult {
    let store = locate::for_start(program.info.state, &loops::current_folder()?);
    if let Some(own) = own_pipeline(&store).filter(|own| !own.terminal) {
        let message = format!("pipeline {} is under way here", own.id);
        let help = format!("for the instruction, run:{}", INFO.command("next"));
        return Err(Failure::refuse(message, &help));
    }
    if let Some(failure) = archived_owner(&store).and_then(|_| unknown_document()) {
        return Err(failure);
    }
    let hint = |why| format!("{why} (`stages start --anew` moves it aside)");
    let convert = |bytes: Vec<u8>| convert(&bytes, store.root()).map_err(hint);
    import::import(program, "take-up", &store.root().join(STATE), convert)
}

/// Returns this program's pipeline in the project: the active one, or else one that has ended.
fn own_pipeline(store: &Store) -> Option<ListedLoop> {
    let is_own = |one: &ListedLoop| store.loop_folder(&one.id).exists();
    store.list().filter(is_own).max_by_key(|one| !one.terminal)
}

/// Returns the archived pipeline to which the state document belongs.
fn archived_owner(store: &Store) -> Option<LoopId> {
    let bytes = store.read(&store.root().join(STATE)).ok()?;
    let document = store.spec().parse(&bytes).ok()?;
    let id = LoopId::parse(&document.text(store.spec().fields.id)?, IdForm::Stamp).ok()?;
    store.has_archived(&id).then_some(id)
}

/// Returns the error for a document that has no journal, if there is one.
pub(crate) fn unknown_document() -> Option<Failure> {
    let store = locate::for_start(INFO.state, &loops::current_folder().ok()?);
    let file = store.root().join(STATE);
    if own_pipeline(&store).is_some() || !file.exists() {
        return None;
    }
    let name = text::printable(file);
    let [take_up, anew] = ["take-up", "start --anew"].map(|words| INFO.command(words));
    if let Some(id) = archived_owner(&store) {
        let message = format!("{name} belongs to pipeline {id}, which is in the archive");
        let resume = INFO.command(&format!("resume {id}"));
        let help = format!("to bring it back:{resume}\nto move it aside and start again:{anew}");
        return Some(Failure::refuse(message, &help));
    }
    let message = format!("{name} has no journal, so no start made it here");
    let help = format!("to continue it:{take_up}\nto move it aside and start again:{anew}");
    Some(Failure::refuse(message, &help))
}

/// Moves existing files aside if `--anew` asks for it and no pipeline of this program is active.
/// Without `--anew`, refuses a document that has no journal.
pub(crate) fn before_start(request: &StartRequest<'_>) -> Result<(), Failure> {
    let store = request.store;
    if !request.flag("anew") {
        return unknown_document().map_or(Ok(()), Err);
    }
    if own_pipeline(store).is_some_and(|own| !own.terminal) {
        return Ok(());
    }
    loops::check_person(INFO, "start --anew", None)?;

    let moved = move_aside(store.root()).map_err(|error| {
        let message = format!("cannot move the earlier state and summaries aside: {error}");
        let help = "nothing was started; make the folder requirements writable and start again";
        Failure::with_help(Exit::Internal, message, help)
    })?;
    if let Some(folder) = moved {
        let line = format!("the earlier state and summaries were moved to requirements/{folder}.");
        out::note(&INFO.line(&line));
    }
    Ok(())
}

/// Moves the state document and the summaries to a dated folder and returns its name.
fn move_aside(root: &Utf8Path) -> io::Result<Option<String>> {
    let Some(folder) = optional(Folder::open(root)?.subfolder("requirements"))? else {
        return Ok(None);
    };
    let mut moved = vec![".stage-summaries", ".requirements-state.local.md"];
    moved.retain(|name| folder.has(name));
    if moved.is_empty() {
        return Ok(None);
    }
    let name = Timestamp::now()
        .strftime("before-%Y%m%dT%H%M%S%3fZ")
        .to_string();
    let aside = folder.make_subfolder(&name)?;
    for name in moved {
        folder.rename(name, &aside, name)?;
    }
    Ok(Some(name))
}
