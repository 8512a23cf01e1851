//! The runner: a file beside the state that each round writes anew. The prompt beside it is the review's.
//!
//! It is what an agent has to run, where its shell does not find the program by its name. It holds no path of the plugin, whose folder changes with each
//! update, and no text of the user's.

use std::{env, io};

use camino::Utf8PathBuf;
use serde::Serialize;

use super::AnyLoop;
use claudex_loop::machine::{Actor, Raw};
use claudex_loop::message::{Message, Render as _};
use claudex_loop::process::environment::find_program;
use claudex_loop::program::caller::Caller;
use claudex_loop::program::shell::quoted;
use claudex_loop::review::findings_json;
use claudex_loop::review::personas::Personas;
use claudex_loop::store::{LoopId, StoreError};
use claudex_loop::text;

/// The runner script.
const RUNNER: Message = Message {
    name: "runner.sh",
    text: include_str!("messages/runner.sh"),
};
/// Most loops that are looked through for findings, each the one that the other goes on from.
const CHAIN: usize = 10;

/// `<id>-runner.sh`
pub fn path(raw: &Raw) -> Utf8PathBuf {
    raw.store().sidecar(raw.id(), "-runner.sh")
}

/// Returns the line with which the agent runs the review: the program itself, which the plugin's commands permit, where the agent's shell
/// finds it; else the runner, which works anywhere, but which the client asks its user about.
///
/// A client puts the plugin's `bin/` on its agent's PATH, not on its hooks', and only where no shell would stumble over its path.
pub fn line(raw: &Raw) -> String {
    let program = super::INFO.program;
    let is_on_path =
        || find_program(program, env::var_os("PATH").as_deref(), raw.store().root()).is_some();
    let plugin = || Some(Utf8PathBuf::from(env::var("CLAUDE_PLUGIN_ROOT").ok()?));
    let is_brought_along = |plugin: &Utf8PathBuf| {
        !plugin.as_str().contains(['"', '\'', '$', '`'])
            && plugin.join("bin").join(program).is_file()
    };
    if Caller::from_env().inside
        && (is_on_path() || plugin().as_ref().is_some_and(is_brought_along))
    {
        format!("{program} review {}", raw.id())
    } else {
        format!("bash {}", quoted(path(raw).as_str()))
    }
}

/// Removes what a loop that is over needs no more: runner, prompt and lock. State, findings and journal stay.
///
/// # Errors
/// A file cannot be removed.
pub fn clear(raw: &Raw) -> Result<(), StoreError> {
    raw.store()
        .clear(raw.id(), &["-runner.sh", "-prompt.txt", ".lock"])
}

#[derive(Serialize)]
struct RunnerFacts {
    id: String,
    mode: String,
    round: u64,
    max_rounds: u64,
    persona: String,
    root: String,
    state_dir: Option<String>,
    binary: String,
}

/// Writes it for the round that a loop is in.
///
/// # Errors
/// It cannot be written.
pub fn write(held: &AnyLoop, personas: &Personas) -> Result<(), StoreError> {
    let (raw, fields) = (held.raw(), held.fields());
    let spec = raw.store().spec();
    let folder = raw.store().folder();
    let usual = raw.store().root().join(spec.folder) == *folder;
    let binary = std::env::current_exe()
        .ok()
        .and_then(|path| path.into_os_string().into_string().ok());
    let facts = RunnerFacts {
        id: held.id().to_string(),
        mode: held.header().mode.unwrap_or_default(),
        round: fields.round,
        max_rounds: fields.max_rounds,
        persona: text::one_line(&personas.of_round(fields.round).label, 100),
        root: quoted(raw.store().root().as_str()),
        state_dir: (!usual).then(|| quoted(folder.as_str())),
        binary: quoted(binary.as_deref().unwrap_or("claudex-loop")),
    };
    let failed = |source| StoreError::Io {
        doing: "write",
        path: path(raw),
        source,
    };
    let script = RUNNER
        .render(&facts)
        .map_err(|error| failed(io::Error::other(error)))?;
    raw.store()
        .write_beside(raw.id(), "-runner.sh", script.as_bytes())
}

/// Returns the findings files of the loops that this one goes on from, oldest first.
pub fn history(held: &AnyLoop) -> Vec<Utf8PathBuf> {
    let (raw, fields) = (held.raw(), held.fields());
    let store = raw.store();
    let mut loops: Vec<Vec<Utf8PathBuf>> = Vec::new();
    let mut before = fields.continues.clone();
    // A chain that an edited file bends into a ring ends here too.
    while loops.len() < CHAIN
        && let Ok(id) = LoopId::parse(&before, store.spec().ids)
        && let Ok(earlier) = AnyLoop::open(store, &id, Actor::Person)
    {
        let rounds = 1..=earlier.fields().round;
        loops.push(
            rounds
                .map(|round| findings_json::findings_path(store, &id, round))
                .collect(),
        );
        before = earlier.fields().continues.clone();
    }
    loops.into_iter().rev().flatten().collect()
}
