//! Takes up a state document of schema 2 that this program did not write, or that came with a clone. Only the user may; keys that are not
//! read here stay as they are.

use clap::ArgMatches;
use claudex_loop::machine::import::ImportError;
use claudex_loop::program::App as _;
use claudex_loop::program::caller::{Caller, UNKNOWN};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{locate, loops, out, start};
use claudex_loop::store::{MAX_BYTES, Store};
use claudex_loop::{Actor, Beginning, text};
use serde_json::Value as Json;

use crate::contract::{self, Stage};
use crate::instruction::text_of;
use crate::state::{Open, first_open};
use crate::typestate::{AnyLoop, Stages};

/// The state document, from the project's root.
const STATE: &str = "requirements/.requirements-state.local.md";

/// Lists the words of a stage's status.
const STATUSES: [&str; 5] = [
    "pending",
    "in_progress",
    "completed",
    "failed",
    "waiting_for_user",
];

/// Lists the maps and lists of schema 2, each with what stands where it is null.
const NONE: [(&str, &str); 7] = [
    ("mcp_availability", "{}"),
    ("stages", "{}"),
    ("user_decisions", "{}"),
    ("prd_sections", "{}"),
    ("rounds", "[]"),
    ("error_log", "[]"),
    ("model_failures", "[]"),
];

/// Returns the document as this program reads it, at the stage that is to be done.
///
/// # Errors
/// Returns a sentence that says why it cannot be taken up.
pub fn normalized(bytes: &[u8]) -> Result<TakenUp, String> {
    let document = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let document = document.strip_prefix('\u{feff}').unwrap_or(document);
    let keys = contract::frontmatter(document).ok_or("its frontmatter cannot be read")?;
    if keys.contains_key("loop") {
        return Err("it is a document of this program; take it up with `stages import`".to_owned());
    }
    let get = |key: &str| keys.get(key).filter(|value| !value.is_null());
    let word = |key: &str| {
        get(key).map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        })
    };
    let unexpected = |key: &str, legal: &str| {
        let found = word(key).unwrap_or_else(|| "missing".to_owned());
        let found = text::one_line(&text::shown(&found), 60);
        format!("its `{key}` is “{found}”; expected {legal}")
    };
    if get("schema_version").and_then(Json::as_u64) != Some(2) {
        return Err(unexpected("schema_version", "2"));
    }
    let stage = get("current_stage").map_or(Some(1), Json::as_u64);
    let stage = stage
        .and_then(Stage::of_number)
        .ok_or_else(|| unexpected("current_stage", "1 to 7"))?;

    // The stages of the prose version write the key of schema 1 under schema 2, too.
    let status_key = match get("stage_status") {
        Some(_) => "stage_status",
        None => "phase_status",
    };
    let status = word(status_key).unwrap_or_else(|| "pending".to_owned());
    if !STATUSES.contains(&status.as_str()) {
        return Err(unexpected(status_key, &STATUSES.join(", ")));
    }
    let round = get("current_round")
        .map_or(Some(1), Json::as_u64)
        .and_then(|round| u32::try_from(round.max(1)).ok())
        .ok_or_else(|| unexpected("current_round", "a number"))?;

    let waits = status == "waiting_for_user" || get("waiting_for_user") == Some(&Json::Bool(true));
    let (stage, status) = match (waits, status.as_str()) {
        (true, _) => (stage, "waiting_for_user"),
        (false, "failed") if stage != Stage::Retrospective => (stage, "failed"),
        // After a completed stage the next one begins.
        (false, "completed") => {
            let next = Stage::of_number(u64::from(stage.number()) + 1);
            (
                next.ok_or("it is over; there is nothing to go on with")?,
                "in_progress",
            )
        }
        (false, _) => (stage, "in_progress"),
    };
    let pause = match waits {
        true => stage.number().to_string(),
        false => "null".to_owned(),
    };
    let mut changed = document.to_owned();
    for (key, value) in [
        ("current_stage", stage.number().to_string()),
        ("stage_status", status.to_owned()),
        ("current_round", round.to_string()),
        ("waiting_for_user", waits.to_string()),
        ("pause_stage", pause),
    ] {
        changed = set(&changed, key, &value);
    }
    for (key, none) in NONE {
        if keys.get(key).is_some_and(Json::is_null) {
            changed = set(&changed, key, none);
        }
    }
    if waits && get("next_step").is_none() {
        changed = set(&changed, "next_step", "It waited when it was taken up.");
    }
    Ok(TakenUp {
        document: changed,
        round,
        waits,
    })
}

/// Holds a document as this program reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenUp {
    /// The document.
    pub document: String,
    /// The round.
    pub round: u32,
    /// Says that it waits for the person.
    pub waits: bool,
}

impl TakenUp {
    /// Returns the document with what is noted of its dispatch, which begins now.
    ///
    /// # Errors
    /// Never: data of this program can be written.
    pub fn opened(&self, open: &Open) -> Result<String, serde_json::Error> {
        let lines = format!("\n  open: {}", serde_json::to_string(open)?);
        Ok(set(&self.document, "loop", &lines))
    }
}

/// Returns a document with a key of its frontmatter's first level set; one that is not there stands last.
fn set(document: &str, key: &str, value: &str) -> String {
    let end = if document.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let mut lines: Vec<String> = document.split_inclusive('\n').map(str::to_owned).collect();
    let fence = lines
        .iter()
        .skip(1)
        .position(|line| line.trim_end() == "---")
        .map_or(lines.len(), |at| at + 1);
    let is_it = |line: &String| {
        line.strip_prefix(key)
            .is_some_and(|rest| rest.starts_with(':'))
    };
    let gap = if value.starts_with('\n') { "" } else { " " };
    let written = format!("{key}:{gap}{value}");
    match lines[..fence].iter().position(is_it) {
        Some(at) => {
            let comment = lines[at].find(" #").map_or(String::new(), |from| {
                lines[at][from..].trim_end().to_owned()
            });
            lines[at] = written + &comment + end;
        }
        None => lines.insert(fence, written + end),
    }
    lines.concat()
}

/// Takes the document of this project up.
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

/// Takes the document of a project up for a session.
fn take(store: &Store, session: String, actor: Actor) -> Result<AnyLoop, Failure> {
    let refused = |why: String| {
        let message = format!("{STATE} cannot be taken up: {why}");
        let help = "nothing was changed; fix it, or have it moved aside and begin anew:\n    stages start --anew";
        Failure::plain(Exit::Refused, "claudex::take_up", message, help)
    };
    let path = store.root().join(STATE);
    let bytes = store
        .read(&path)
        .map_err(|error| refused(error.to_string()))?;
    if bytes.len() > MAX_BYTES {
        return Err(refused(format!("it has more than {MAX_BYTES} bytes")));
    }
    let read = normalized(&bytes).map_err(&refused)?;
    let open = first_open(store.root(), read.round, read.waits);
    let document = read
        .opened(&open)
        .map_err(|error| refused(error.to_string()))?;
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
