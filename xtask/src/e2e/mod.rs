//! `cargo xtask e2e`: the scenarios of `tests/e2e` played by the real clients against a model that the scenarios script.
//!
//! One subject per file, in the order in which a run goes through them: `scenario` (the language), `clients` (the pinned
//! programs), `home` (a scenario's own world on disk), `server` (the model's service) with `agent` (what it answers) and
//! `conversation` (what was said; `story` tells it), `play` (the steps) with `headless` and `terminal` (the client without and with a screen),
//! `check` (what must be true), `report` (the table, and a failure's story).

mod agent;
mod check;
mod clients;
mod conversation;
mod headless;
mod home;
mod interactive;
mod launch;
mod leftovers;
mod play;
mod report;
mod scenario;
mod screen;
mod server;
mod story;
mod terminal;
mod words;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;

use clap::Args;
use miette::{Context as _, IntoDiagnostic as _, miette};

use clients::{Clients, Pins};
use home::{OURS, Programs};
use play::Stage;
use report::Row;
use scenario::{Age, Scenario};

/// What `cargo xtask e2e` can be asked.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Play these scenarios only (a file's name in tests/e2e/scenarios, without its ending); can be repeated
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<String>,
    /// Play with this client only
    #[arg(long, value_enum)]
    client: Option<Age>,
    /// Leave each scenario's folder (home, project, logs), and name it
    #[arg(long)]
    keep: bool,
    /// How many scenarios are played at once; the number of processors without it
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Play the scenarios of a release with this archive, which `cargo xtask dist` made; without it, with one of the debug build
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    /// Write the screens of tests/e2e/screens anew, as they are seen now
    #[arg(long)]
    overwrite_screens: bool,
    /// Draw the end of each kept screen, in its colours, as FOLDER/NAME.svg
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
}

/// Plays what was asked for. Exit status 0 where every scenario held.
///
/// # Errors
/// A file of the suite that cannot be used, a client that cannot be installed, our own program that does not build.
pub(crate) fn run(options: &Options) -> miette::Result<ExitCode> {
    let root = crate::root()?;
    let suite = root.join("tests/e2e");
    let scenarios = scenario::all(&suite.join("scenarios"), &options.scenarios)?;
    let pins = Pins::read(&suite)?;
    let rows = rows(&scenarios, &pins, options.client);
    if rows.is_empty() {
        return Err(miette!(
            help = "`clients` in the scenario's file says which play it",
            "none of these scenarios is played with that client"
        ));
    }

    let target = crate::target()?;
    let clients = Clients::below(&target);
    // Short, since sockets lie below it; and below no repository, since git and both clients look upwards.
    let folder = std::env::temp_dir().join(format!("claudex-e2e-{}", std::process::id()));
    fs_err::create_dir_all(&folder).into_diagnostic()?;
    let ours = build(&root, &target, &folder)?;
    let archive = || match &options.archive {
        Some(file) => fs_err::canonicalize(file).into_diagnostic(),
        None => crate::dist::quick_archive(&root, &ours, &folder),
    };
    let is_released = scenarios.iter().any(|scenario| scenario.released);
    let archive = is_released.then(archive).transpose()?;
    let codex = scenarios.iter().any(|scenario| scenario.codex.is_some());
    let codex = codex.then(|| clients.codex(pins.codex())).transpose()?;
    let programs = |row: &Row<'_>| -> miette::Result<Programs> {
        Ok(Programs {
            claude: clients.claude_code(row.version)?,
            codex: row.scenario.codex.as_ref().and(codex.clone()),
            ours: ours.clone(),
            archive: archive.clone().filter(|_| row.scenario.released),
        })
    };
    let mut cast = Vec::new();
    for row in rows {
        let programs = programs(&row)?;
        cast.push((row, programs));
    }

    let stage = Stage {
        root,
        folder,
        keep: options.keep,
        overwrite_screens: options.overwrite_screens,
        pictures: options.pictures.clone(),
    };
    let jobs = options
        .jobs
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, NonZero::get);
    let rows = play_all(&stage, cast, jobs);
    let well = report::all(&rows, options.keep);
    if well && !options.keep {
        // It lies in the temporary folder, if it cannot be removed.
        let _ = fs_err::remove_dir_all(&stage.folder);
    }
    Ok(if well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Returns every scenario with each client that plays it.
fn rows<'a>(scenarios: &'a [Scenario], pins: &'a Pins, only: Option<Age>) -> Vec<Row<'a>> {
    scenarios
        .iter()
        .flat_map(|scenario| scenario.clients.iter().map(move |age| (scenario, *age)))
        .filter(|(_, age)| only.is_none_or(|only| only == *age))
        .map(|(scenario, age)| Row {
            scenario,
            age,
            version: pins.claude_code(age),
        })
        .collect()
}

/// Plays them, `jobs` at once, each with its programs. What came of them, in their order.
fn play_all<'a>(
    stage: &Stage,
    cast: Vec<(Row<'a>, Programs)>,
    jobs: usize,
) -> Vec<(Row<'a>, play::Outcome)> {
    let queue = Mutex::new(cast.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let next = lock(&queue).next();
                    let Some((index, (row, programs))) = next else {
                        break;
                    };
                    let outcome = stage.play(row.scenario, &programs, row.age, &row.label());
                    report::ended(&row, &outcome);
                    lock(&done).push((index, (row, outcome)));
                }
            });
        }
    });
    let mut done = std::mem::take(&mut *lock(&done));
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, it)| it).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Builds our programs, and copies them: a build that somebody starts meanwhile must not change them under a running client.
fn build(root: &Path, target: &Path, folder: &Path) -> miette::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let packages = OURS.iter().flat_map(|name| ["--package", name]);
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--bins"])
        .args(packages)
        .current_dir(root)
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    if !status.success() {
        return Err(miette!("{} do not build", OURS.join(" and ")));
    }
    let copies = folder.join("ours");
    fs_err::create_dir_all(&copies).into_diagnostic()?;
    for name in OURS {
        fs_err::copy(target.join("debug").join(name), copies.join(name)).into_diagnostic()?;
    }
    Ok(copies)
}
