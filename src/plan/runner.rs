//! The runner: a script beside the state file that runs a round's review. Each round rewrites it.
//!
//! An agent runs it if its shell does not find the program. It has no text of the user and no path
//! of the plugin, whose folder changes with each update.

use std::{env, iter};

use camino::Utf8PathBuf;
use serde_json::json;

use super::AnyLoop;
use claudex_loop::machine::{Actor, Raw};
use claudex_loop::message::{Message, Render as _};
use claudex_loop::process::environment::find_program;
use claudex_loop::program::caller::Caller;
use claudex_loop::review::findings_file::findings_path;
use claudex_loop::review::personas::{machine_personas, persona};
use claudex_loop::store::LoopId;
use claudex_loop::{template, text};

const RUNNER: Message = template!("messages/runner.sh");
/// The end of the runner's name after the loop's id.
const SUFFIX: &str = "-runner.sh";
/// The most continued loops whose findings a reviewer gets.
const MAX_CONTINUED_LOOPS: usize = 10;

/// Returns the agent's command for the review: the program, which the plugin's commands permit, if
/// the agent's shell finds it; else the runner, for which the client asks its user.
///
/// Only agents have the plugin's `bin/` on their PATH, and only if a shell can read its path.
pub(super) fn line(raw: &Raw) -> String {
    let program = super::INFO.program;
    let folders = env::var_os("PATH");
    let is_on_path = || find_program(program, folders.as_deref(), raw.store().root()).is_some();
    let is_in_plugin = || {
        let plugin = env::var("CLAUDE_PLUGIN_ROOT").unwrap_or_default();
        let file = Utf8PathBuf::from(&plugin).join("bin").join(program);
        !plugin.is_empty() && !plugin.contains(['"', '\'', '$', '`']) && file.is_file()
    };
    if Caller::from_env().inside && (is_on_path() || is_in_plugin()) {
        format!("{program} review {}", raw.id())
    } else {
        let runner = raw.store().sidecar(raw.id(), SUFFIX);
        format!("bash {}", text::shell_word(&text::escape_hidden(runner)))
    }
}

pub(super) fn write(held: &AnyLoop) -> Result<(), String> {
    let raw = held.raw();
    let store = raw.store();
    let fields = held.fields();
    let persona = persona(machine_personas(raw.table()), fields.round);
    let is_usual = store.root().join(store.spec().folder) == *store.folder();
    let binary = env::current_exe().unwrap_or_default().into_os_string();
    let script = RUNNER.render(&json!({
        "id": held.id().as_str(),
        "mode": held.raw().record().mode(),
        "round": fields.round,
        "max_rounds": fields.max_rounds,
        "persona": text::one_line(persona.label, 100),
        "root": text::shell_word(store.root().as_str()),
        "state_dir": (!is_usual).then(|| text::shell_word(store.folder().as_str())),
        "binary": text::shell_word(binary.to_str().unwrap_or("claudex-loop")),
    }));
    let script = script.map_err(|error| error.to_string())?;
    store
        .write_beside(raw.id(), SUFFIX, script.as_bytes())
        .map_err(|error| error.to_string())
}

/// Returns the findings files of the loops that this one continues, oldest first.
pub(super) fn history(held: &AnyLoop) -> Vec<Utf8PathBuf> {
    let store = held.raw().store();
    let continued = |held: &AnyLoop| {
        let id = LoopId::parse(&held.fields().continues, store.spec().ids).ok()?;
        AnyLoop::open(store, &id, Actor::Person).ok()
    };
    // The limit also ends a circle.
    let loops = iter::successors(continued(held), continued).take(MAX_CONTINUED_LOOPS);
    let mut files = Vec::new();
    for earlier in loops {
        let rounds = (1..=earlier.fields().round).rev();
        files.extend(rounds.map(|round| findings_path(store, earlier.id(), round)));
    }
    files.reverse();
    files
}
