//! `take-up`: continues from a state document of schema 2 that another program wrote. Only the user may;
//! keys that are not read here stay as they are.

use clap::ArgMatches;
use claudex_loop::machine::import::ImportError;
use claudex_loop::program::App as _;
use claudex_loop::program::caller::{Caller, UNKNOWN};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{locate, loops, out, start};
use claudex_loop::store::{MAX_BYTES, Store};
use claudex_loop::{Actor, Beginning, text};
use serde_json::{Value as Json, json};

use crate::contract::{self, Stage};
use crate::instruction::text_of;
use crate::state::{Keys, first_open};
use crate::typestate::{AnyLoop, Stages};

/// The state document, from the project's root.
const STATE: &str = "requirements/.requirements-state.local.md";

/// The maps and lists of schema 2. A null one is left out.
const NOT_NULL: &str =
    "mcp_availability stages user_decisions prd_sections rounds error_log model_failures";

/// A document of another program, as this program reads it.
#[derive(Debug)]
struct TakenUp<'d> {
    /// The keys of the frontmatter.
    keys: Keys,
    /// The text below the frontmatter.
    log: &'d str,
    /// The round.
    round: u32,
    /// The phase in which the pipeline begins.
    phase: &'static str,
}

/// Reads a document and moves it to the stage that comes next.
///
/// # Errors
/// Returns a sentence if the document cannot be taken up.
fn read(bytes: &[u8]) -> Result<TakenUp<'_>, String> {
    let document = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let document = document.strip_prefix('\u{feff}').unwrap_or(document);
    let mut keys = contract::frontmatter(document).ok_or("its frontmatter cannot be read")?;
    if keys.contains_key("loop") {
        return Err("it is a document of this program; use `stages import`".to_owned());
    }
    let get = |key: &str| keys.get(key).filter(|value| !value.is_null());
    let unexpected = |key: &str, legal: &str| {
        let found = match get(key) {
            Some(Json::String(word)) => word.clone(),
            Some(value) => value.to_string(),
            None => "missing".to_owned(),
        };
        let found = text::one_line(&text::shown(&found), 60);
        format!("its `{key}` is “{found}”; expected {legal}")
    };
    if get("schema_version").and_then(Json::as_u64) != Some(2) {
        return Err(unexpected("schema_version", "2"));
    }
    let stage = get("current_stage").map_or(Some(1), Json::as_u64);
    let stage = stage.and_then(Stage::of_number);
    let mut stage = stage.ok_or_else(|| unexpected("current_stage", "1 to 7"))?;
    let round = get("current_round").map_or(Some(1), Json::as_u64);
    let round = round.and_then(|round| u32::try_from(round.max(1)).ok());
    let round = round.ok_or_else(|| unexpected("current_round", "a number"))?;

    // The stages of the prose version also write the key of schema 1 under schema 2.
    let status_key = match get("stage_status") {
        Some(_) => "stage_status",
        None => "phase_status",
    };
    let status = get(status_key).map_or(Some("pending"), Json::as_str);
    let waits = get("waiting_for_user") == Some(&Json::Bool(true));
    let (status, phase) = match status.unwrap_or_default() {
        word if waits || word == "waiting_for_user" => ("waiting_for_user", "waiting"),
        "failed" if stage != Stage::Retrospective => ("failed", "failed"),
        "completed" => {
            let next = Stage::of_number(u64::from(stage.number()) + 1);
            stage = next.ok_or("the pipeline is over; there is nothing to continue")?;
            ("in_progress", "dispatched")
        }
        "pending" | "in_progress" | "failed" => ("in_progress", "dispatched"),
        _ => {
            let legal = "pending, in_progress, completed, failed or waiting_for_user";
            return Err(unexpected(status_key, legal));
        }
    };

    let waits = phase == "waiting";
    let has_reason = get("next_step").is_some();
    keys.retain(|key, value| !value.is_null() || NOT_NULL.split(' ').all(|name| name != key));
    keys.insert("current_stage".to_owned(), json!(stage.number()));
    keys.insert("stage_status".to_owned(), json!(status));
    keys.insert("current_round".to_owned(), json!(round));
    keys.insert("waiting_for_user".to_owned(), json!(waits));
    keys.insert(
        "pause_stage".to_owned(),
        json!(waits.then_some(stage.number())),
    );
    if waits && !has_reason {
        let reason = "The pipeline waited for you when it was taken up.";
        keys.insert("next_step".to_owned(), json!(reason));
    }
    Ok(TakenUp {
        keys,
        log: &document[contract::body_start(document)..],
        round,
        phase,
    })
}

/// Runs `take-up`.
pub(crate) fn take_up(info: &'static ProgramInfo, _: &ArgMatches) -> Result<Exit, Failure> {
    let caller = Caller::from_env();
    let actor = caller.actor(false);
    loops::person_only(info, actor, "take-up", None)?;
    let store = locate::for_start(info.state, &loops::here()?);
    let session = caller.session.unwrap_or_else(|| UNKNOWN.to_owned());
    let held = take(&store, session, actor)?;
    out::text(&text_of(&held));
    Ok(Exit::Complete)
}

/// Takes up the document of a project for a session.
fn take(store: &Store, session: String, actor: Actor) -> Result<AnyLoop, Failure> {
    let refused = |why: String| {
        let message = format!("{STATE} cannot be taken up: {why}");
        let help = "nothing was changed; fix the file, or move it aside and start again:\n    stages start --anew";
        Failure::plain(Exit::Refused, "claudex::take_up", message, help)
    };
    let path = store.root().join(STATE);
    let bytes = store
        .read(&path)
        .map_err(|error| refused(error.to_string()))?;
    if bytes.len() > MAX_BYTES {
        return Err(refused(format!("it has more than {MAX_BYTES} bytes")));
    }
    let mut read = read(&bytes).map_err(&refused)?;
    let open = first_open(store.root(), read.round, read.phase == "waiting");
    let own = json!({ "open": open, "stage_status": read.phase });
    read.keys.insert("loop".to_owned(), own);
    let yaml = serde_yaml::to_string(&read.keys).map_err(|error| refused(error.to_string()))?;
    let document = format!("---\n{yaml}---\n{}", read.log);
    let held = Stages::import(
        store,
        document.as_bytes(),
        path,
        Beginning::now(session),
        actor,
    );
    let held = held.map_err(|error| match error {
        ImportError::Start(error) => start::refused(Stages::INFO, error),
        error => refused(error.to_string()),
    })?;
    store.log(&format!("{} taken up by {actor}", held.id()));
    Ok(held)
}
