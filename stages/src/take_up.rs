//! Taking up a state document that this program did not write: of schema 1 or 2, or from a clone. A person decides it; what is not read
//! here stays as it is.

use clap::ArgMatches;
use claudex_loop::machine::import::ImportError;
use claudex_loop::program::CommandLine as _;
use claudex_loop::program::caller::{Caller, UNKNOWN};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{locate, loops, out, start};
use claudex_loop::store::{MAX_BYTES, Store};
use claudex_loop::{Actor, Beginning, text};
use serde_json::Value as Json;

use crate::contract::{self, Round, Stage};
use crate::instruction::text_of;
use crate::lock;
use crate::state::{Open, first_open};
use crate::typestate::{AnyLoop, Stages};

/// The state document, from the project's root.
const STATE: &str = "requirements/.requirements-state.local.md";

/// Lists the words of `current_phase` of schema 1, each with its stage.
pub const PHASES: [(&str, Stage); 13] = [
    ("INIT", Stage::Setup),
    ("INITIALIZATION", Stage::Setup),
    ("WORKSPACE_INIT", Stage::Setup),
    ("ANALYSIS_MODE_SELECTION", Stage::Setup),
    ("RESEARCH_DISCOVERY", Stage::Research),
    ("RESEARCH_ANALYSIS", Stage::Research),
    ("DEEP_ANALYSIS", Stage::AnalysisQuestions),
    ("QUESTION_GENERATION", Stage::AnalysisQuestions),
    ("USER_RESPONSE", Stage::ResponseAnalysis),
    ("RESPONSE_ANALYSIS", Stage::ResponseAnalysis),
    ("VALIDATION", Stage::ValidationGeneration),
    ("PRD_GENERATION", Stage::ValidationGeneration),
    ("COMPLETE", Stage::Completion),
];

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

/// Returns the document as this program reads it: schema 2, at the stage that is to be done.
///
/// # Errors
/// A sentence says why it cannot be taken up.
pub fn normalized(bytes: &[u8]) -> Result<TakenUp, String> {
    let document = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let document = document.strip_prefix('\u{feff}').unwrap_or(document);
    let keys = contract::frontmatter_of(document).ok_or("its frontmatter cannot be read")?;
    let get = |key: &str| keys.get(key).filter(|value| !value.is_null());
    let word = |key: &str| {
        get(key).map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        })
    };
    let named = |key: &str, what: &str, legal: &str| {
        format!(
            "its `{key}` is “{}”; the legal words are {legal}",
            text::one_line(&text::shown(what), 60)
        )
    };
    if keys.contains_key("loop") {
        return Err("it is a document of this program; take it up with `stages import`".to_owned());
    }
    let is_old = match get("schema_version").map(Json::as_u64) {
        None | Some(Some(1)) => true,
        Some(Some(2)) => false,
        _ => {
            return Err(named(
                "schema_version",
                &word("schema_version").unwrap_or_default(),
                "1, 2",
            ));
        }
    };
    let stage = if is_old {
        let phase = word("current_phase").unwrap_or_else(|| "INIT".to_owned());
        let known = PHASES.iter().find(|(known, _)| *known == phase);
        let legal = || PHASES.map(|(word, _)| word).join(", ");
        known
            .ok_or_else(|| named("current_phase", &phase, &legal()))?
            .1
    } else {
        let number = get("current_stage").map_or(Some(1), Json::as_u64);
        let stage = number.and_then(Stage::of_number);
        stage.ok_or_else(|| {
            named(
                "current_stage",
                &word("current_stage").unwrap_or_default(),
                "1 to 7",
            )
        })?
    };
    let [status_key, round_key] = if is_old {
        ["phase_status", "question_round"]
    } else {
        ["stage_status", "current_round"]
    };
    // The stages of the prose version go on to write the old key under schema 2.
    let status = word(status_key).or_else(|| word("phase_status"));
    let status = status.unwrap_or_else(|| "pending".to_owned());
    if !STATUSES.contains(&status.as_str()) {
        return Err(named(status_key, &status, &STATUSES.join(", ")));
    }
    let round = get(round_key).map_or(Some(1), Json::as_u64);
    let round = round
        .and_then(|round| Round::new(u32::try_from(round.max(1)).ok()?))
        .ok_or_else(|| named(round_key, &word(round_key).unwrap_or_default(), "numbers"))?;
    let waits = status == "waiting_for_user" || get("waiting_for_user") == Some(&Json::Bool(true));
    let (stage, status) = match (waits, status.as_str()) {
        (true, _) => (stage, "waiting_for_user"),
        (false, "failed") if stage != Stage::Retrospective => (stage, "failed"),
        // A stage that is completed has the next one begin.
        (false, "completed") => {
            let next = Stage::of_number(u64::from(stage.number()) + 1);
            (
                next.ok_or("it is over; there is nothing to go on with")?,
                "in_progress",
            )
        }
        (false, _) => (stage, "in_progress"),
    };
    let pause = if waits {
        stage.number().to_string()
    } else {
        "null".to_owned()
    };
    let mut changed = document.to_owned();
    for (old, key, value) in [
        ("schema_version", "schema_version", "2".to_owned()),
        ("current_phase", "current_stage", stage.number().to_string()),
        ("phase_status", "stage_status", status.to_owned()),
        ("question_round", "current_round", round.get().to_string()),
        ("waiting_for_user", "waiting_for_user", waits.to_string()),
        ("pause_stage", "pause_stage", pause),
    ] {
        let old = if is_old { old } else { key };
        changed = set(&changed, old, key, &value);
    }
    for (key, none) in NONE {
        if keys.get(key).is_some_and(Json::is_null) {
            changed = set(&changed, key, key, none);
        }
    }
    if waits && get("next_step").is_none() {
        changed = set(
            &changed,
            "next_step",
            "next_step",
            "It waited when it was taken up.",
        );
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
    pub round: Round,
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
        Ok(set(&self.document, "loop", "loop", &lines))
    }
}

/// Returns a document with a key of its frontmatter's first level set; one that is not there stands last.
fn set(document: &str, old: &str, key: &str, value: &str) -> String {
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
        line.strip_prefix(old)
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

/// Takes the document of a project up for a session. The lock of another program goes: a person decided it.
pub(crate) fn take(store: &Store, session: String, actor: Actor) -> Result<AnyLoop, Failure> {
    let refused = |why: String| {
        let message = format!("{STATE} cannot be taken up: {why}");
        let help = "nothing was changed; mend it, or have it moved aside and begin anew:\n    stages start --anew";
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
    let mut open = first_open(store.root(), read.round, read.waits);
    open.tell.extend(lock::taken_over(store.root()));
    let document = read
        .opened(&open)
        .map_err(|error| refused(error.to_string()))?;
    let held = Stages::import(
        document.as_bytes(),
        path,
        store,
        Beginning::now(session),
        actor,
    );
    let held = held.map_err(|error| match error {
        ImportError::Start(error) => start::refused(Stages::INFO, error),
        error => refused(error.to_string()),
    })?;
    store.log(&format!("{} taken up by {actor}", held.id()));
    lock::remove(store.root());
    Ok(held)
}
