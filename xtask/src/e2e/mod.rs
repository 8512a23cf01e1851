//! `cargo xtask e2e` plays the scenarios of `tests/e2e` with the real clients, against a model that
//! the scenarios script.

mod agent;
mod check;
mod clients;
mod conversation;
mod headless;
mod home;
mod launch;
mod leftovers;
mod pattern;
mod play;
mod report;
mod scenario;
mod server;
mod terminal;
mod words;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use miette::{Context as _, IntoDiagnostic as _, miette};

use clients::Pins;
use home::{PROGRAMS, Programs};
use play::Stage;
use report::Row;
use scenario::{Age, Scenario};

/// The options of `cargo xtask e2e`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Play only this scenario (the name of a file in tests/e2e/scenarios); can be repeated
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<String>,
    /// Play with this client only
    #[arg(long, value_enum)]
    client: Option<Age>,
    /// Keep each scenario's folder (home, project, logs)
    #[arg(long)]
    keep: bool,
    /// The number of scenarios played at once [default: one more than there are processors]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Use this release archive instead of one of the debug build
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    /// Draw the kept screens as FOLDER/NAME.svg
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
}

/// Plays the scenarios. The exit status is 0 if all of them passed.
pub(crate) fn run(options: &Options) -> miette::Result<ExitCode> {
    let root = crate::root()?;
    let suite = root.join("tests/e2e");
    let scenarios = scenario::all(&suite.join("scenarios"), &options.scenarios)?;
    let pins = Pins::read(&suite)?;
    let rows = rows(&scenarios, &pins, options.client);

    let target = crate::target()?;
    // Below no repository, since git and both clients look upwards.
    let folder = std::env::temp_dir().join(format!("claudex-e2e-{}", std::process::id()));
    fs_err::create_dir_all(&folder).into_diagnostic()?;
    let ours = build(&root, &target, &folder)?;
    let mut archive = None;
    if scenarios.iter().any(|scenario| scenario.released) {
        archive = Some(match &options.archive {
            Some(file) => fs_err::canonicalize(file).into_diagnostic()?,
            None => crate::dist::quick_archive(&root, &ours, &folder)?,
        });
    }
    let mut cast = Vec::new();
    for row in rows {
        let needs_codex = !row.scenario.codex.is_empty();
        let codex = needs_codex.then(|| clients::codex(&target, &pins.codex));
        let programs = Programs {
            claude: clients::claude_code(&target, row.version)?,
            codex: codex.transpose()?,
            ours: ours.clone(),
            archive: archive.clone(),
        };
        cast.push((row, programs));
    }

    let stage = Stage {
        root,
        folder,
        keep: options.keep,
        pictures: options.pictures.clone(),
    };
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = options.jobs.map_or(processors + 1, NonZero::get);
    let rows = play_all(&stage, cast, jobs);
    let passed = report::print_failures(&rows);
    if passed && !options.keep {
        let _ = fs_err::remove_dir_all(&stage.folder);
    }
    Ok(ExitCode::from(u8::from(!passed)))
}

/// Returns every scenario with each of its clients.
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

/// Plays the rows, `jobs` at once, and returns them as they end.
fn play_all<'a>(
    stage: &Stage,
    cast: Vec<(Row<'a>, Programs)>,
    jobs: usize,
) -> Vec<(Row<'a>, play::Outcome)> {
    let queue = Mutex::new(cast.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut done = Vec::new();
        while let Some((row, programs)) = next() {
            let outcome = stage.play(row.scenario, &programs, &row.label());
            report::print_end(&row, &outcome, stage.keep);
            done.push((row, outcome));
        }
        done
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let done = workers
            .into_iter()
            .map(|worker| worker.join().expect("no worker panics"));
        done.flatten().collect()
    })
}

/// Builds our programs and copies them, so that a later build does not change them meanwhile.
fn build(root: &Path, target: &Path, folder: &Path) -> miette::Result<PathBuf> {
    let packages = PROGRAMS.iter().flat_map(|name| ["--package", name]);
    let status = crate::cargo()
        .args(["build", "--quiet", "--bins"])
        .args(packages)
        .current_dir(root)
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    if !status.success() {
        return Err(miette!("{} do not build", PROGRAMS.join(" and ")));
    }
    let copies = folder.join("ours");
    fs_err::create_dir_all(&copies).into_diagnostic()?;
    for name in PROGRAMS {
        fs_err::copy(target.join("debug").join(name), copies.join(name)).into_diagnostic()?;
    }
    Ok(copies)
}
