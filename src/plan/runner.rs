//! The runner: a script beside the state file that runs the review of a round. Each round writes it
//! again.
//!
//! An agent runs it if its shell does not find the program by its name. It contains no path of the
//! plugin, whose folder changes with each update, and no text of the user.

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
/// Upper limit of continued loops whose findings a reviewer is shown.
const MAX_CONTINUED_LOOPS: usize = 10;

/// Returns the path of the runner, `<id>-runner.sh`.
pub fn path(raw: &Raw) -> Utf8PathBuf {
    raw.store().sidecar(raw.id(), "-runner.sh")
}

/// Returns the line with which the agent runs the review: the program, which the plugin's commands
/// permit, if the agent's shell finds it; else the runner, which works anywhere, but for which the
/// client asks its user.
///
/// A client puts the plugin's `bin/` on the PATH of its agent, not of its hooks, and only if a
/// shell can read its path.
pub fn line(raw: &Raw) -> String {
    let program = super::INFO.program;
    let is_on_path =
        || find_program(program, env::var_os("PATH").as_deref(), raw.store().root()).is_some();
    let plugin = || Some(Utf8PathBuf::from(env::var("CLAUDE_PLUGIN_ROOT").ok()?));
    let is_in_plugin = |plugin: &Utf8PathBuf| {
        !plugin.as_str().contains(['"', '\'', '$', '`'])
            && plugin.join("bin").join(program).is_file()
    };
    if Caller::from_env().inside && (is_on_path() || plugin().as_ref().is_some_and(is_in_plugin)) {
        format!("{program} review {}", raw.id())
    } else {
        format!("bash {}", quoted(path(raw).as_str()))
    }
}

/// Removes the runner, prompt and lock of a loop that is over. State, findings and journal stay.
///
/// # Errors
/// Returns an error if a file cannot be removed.
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

/// Writes the runner for the round that a loop is in.
///
/// # Errors
/// Returns an error if it cannot be written.
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

/// Returns the findings files of the loops that this one continues, oldest first.
pub fn history(held: &AnyLoop) -> Vec<Utf8PathBuf> {
    let (raw, fields) = (held.raw(), held.fields());
    let store = raw.store();
    let mut loops: Vec<Vec<Utf8PathBuf>> = Vec::new();
    let mut before = fields.continues.clone();
    // The limit also ends a circle.
    while loops.len() < MAX_CONTINUED_LOOPS
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
