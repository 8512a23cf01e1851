//! `cargo xtask e2e` plays the scenarios of `tests/e2e` with the real clients, against a model that
//! the scenarios script.

mod agent;
mod check;
mod clients;
mod conversation;
mod home;
mod leftovers;
mod pattern;
mod play;
mod process;
mod scenario;
mod server;
mod session;
mod terminal;
mod words;

use std::io::Write as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

use clap::Args;
use miette::IntoDiagnostic as _;

use clients::Pins;
use home::{PROGRAMS, Programs};
use play::{Outcome, Stage};
use scenario::{Age, Scenario};

/// The options of `cargo xtask e2e`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Play only this scenario (the name of a file in tests/e2e/scenarios); can be repeated
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<String>,
    /// Keep each scenario's folder (home, project, logs)
    #[arg(long)]
    keep: bool,
    /// Use this release archive instead of one of the debug build
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    /// Draw the kept screens as FOLDER/NAME.svg
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
}

/// One scenario with one client.
#[derive(Debug)]
struct Row<'a> {
    scenario: &'a Scenario,
    /// The name of the row, and of its folder.
    label: String,
    programs: Programs,
}

/// Plays the scenarios. The exit status is 0 if all of them passed.
pub(crate) fn run(options: &Options) -> miette::Result<ExitCode> {
    let root = crate::root()?;
    let suite = root.join("tests/e2e");
    let scenarios = scenario::all(&suite.join("scenarios"), &options.scenarios)?;
    let target = crate::target()?;
    // Below no repository, since git and both clients look upwards.
    let folder = std::env::temp_dir().join(format!("claudex-e2e-{}", std::process::id()));
    let ours = build(&root, &target, &folder)?;
    let archive = match &options.archive {
        Some(file) => fs_err::canonicalize(file).into_diagnostic()?,
        None => folder.join("release.tar.gz"),
    };
    if options.archive.is_none() && scenarios.iter().any(|scenario| scenario.released) {
        crate::dist::pack(&root, &ours, "", "gzip -1", &archive)?;
    }

    let pins = Pins::read(&suite)?;
    let mut rows = Vec::new();
    for scenario in &scenarios {
        let clients = scenario.clients.as_deref().unwrap_or(&[Age::Newest]);
        for age in clients {
            let codex = (!scenario.codex.is_empty()).then(|| clients::codex(&target, &pins.codex));
            rows.push(Row {
                scenario,
                label: format!("{}-{age:?}", scenario.name).to_lowercase(),
                programs: Programs {
                    claude: clients::claude_code(&target, &pins.claude_code[age])?,
                    codex: codex.transpose()?,
                    ours: ours.clone(),
                    archive: archive.clone(),
                },
            });
        }
    }
    let stage = Stage {
        root,
        folder,
        keep: options.keep,
        pictures: options.pictures.clone(),
    };
    let passed = play_all(&stage, &rows);
    if passed && !options.keep {
        let _ = fs_err::remove_dir_all(&stage.folder);
    }
    Ok(ExitCode::from(u8::from(!passed)))
}

/// Plays the rows in parallel, and prints their ends, then failures. Returns whether all passed.
fn play_all(stage: &Stage, rows: &[Row<'_>]) -> bool {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let queue = Mutex::new(rows.iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut failures = Vec::new();
        while let Some(row) = next() {
            let outcome = stage.play(row);
            print_end(row, &outcome, stage.keep);
            if let Err(error) = &outcome.result {
                failures.push(failure(row, &outcome, error));
            }
        }
        failures
    };
    let failures: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..=processors).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(ScopedJoinHandle::join);
        ended
            .flat_map(|failures| failures.expect("no scenario panics"))
            .collect()
    });
    let [played, failed] = [rows.len(), failures.len()];
    let text = failures.concat();
    let _ = writeln!(std::io::stdout(), "{text}{played} played, {failed} failed");
    failures.is_empty()
}

fn print_end(row: &Row<'_>, outcome: &Outcome, keep: bool) {
    let result = if outcome.result.is_ok() {
        "ok"
    } else {
        "FAILED"
    };
    let seconds = outcome.took.as_secs_f64();
    print_note(&format!("{result:<6} {seconds:>6.1} s  {}", row.label));
    if keep {
        print_note(&format!("{:>17}{}", "", outcome.folder.display()));
    }
}

fn failure(row: &Row<'_>, outcome: &Outcome, error: &miette::Report) -> String {
    let label = &row.label;
    let doc = &row.scenario.doc;
    let conversation = outcome.conversation.render();
    let folder = outcome.folder.display();
    format!("\n==== {label}\n{doc}\n\n{conversation}\n-- error\n{error:#}\n-- folder: {folder}\n")
}

fn print_note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Builds our programs and copies them, so that a later build does not change them meanwhile.
fn build(root: &Path, target: &Path, folder: &Path) -> miette::Result<PathBuf> {
    let packages = PROGRAMS.iter().flat_map(|name| ["--package", name]);
    let mut build = crate::cargo();
    build
        .args(["build", "--quiet", "--bins"])
        .args(packages)
        .current_dir(root);
    crate::output(&mut build)?;
    let copies = folder.join("ours");
    fs_err::create_dir_all(&copies).into_diagnostic()?;
    for name in PROGRAMS {
        fs_err::copy(target.join("debug").join(name), copies.join(name)).into_diagnostic()?;
    }
    Ok(copies)
}
