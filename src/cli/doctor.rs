//! `doctor`: is everything there that a loop needs? Each check with its remedy.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::hook::Decision;
use claudex_loop::plan::settings::Settings;
use claudex_loop::plan::stop::{self, Surroundings};
use claudex_loop::plan::typestate::STATE;
use claudex_loop::plan::{locate, reviewers};
use claudex_loop::store;
use jiff::Timestamp;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::out;

#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    required: bool,
    ok: bool,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'static str>,
}

impl Check {
    fn of(name: &'static str, required: bool, result: Result<String, String>, remedy: &'static str) -> Self {
        let ok = result.is_ok();
        let found = result.unwrap_or_else(|problem| problem);
        Self {
            name,
            required,
            ok,
            found,
            remedy: (!ok).then_some(remedy),
        }
    }
}

/// Runs the checks; exit 1 when a required one fails.
pub(crate) fn doctor(json: bool) -> Result<Exit, Failure> {
    let here = super::here()?;
    let checks = [
        Check::of(
            "binary",
            true,
            Ok(format!("claudex-loop {}", env!("CARGO_PKG_VERSION"))),
            "",
        ),
        Check::of(
            "git",
            false,
            git(),
            "install git: without it the state folder is the folder that start runs in",
        ),
        Check::of(
            "state folder",
            true,
            writable(&here),
            "make the project's folder writable, or set CLAUDEX_STATE_DIR to one that is",
        ),
        Check::of(
            "locks",
            true,
            locks(),
            "set CLAUDEX_STATE_DIR to a folder on a local file system",
        ),
        Check::of(
            "hook",
            true,
            hook(),
            "reinstall claudex-loop; if it stays, report it with this output",
        ),
        Check::of(
            "loops",
            false,
            loops(&here),
            "`claudex-loop list` names the files; `claudex-loop journal <id>` tells what happened",
        ),
        Check::of(
            "reviewer",
            true,
            reviewer(),
            "set CLAUDEX_REVIEWER to a reviewer that exists, or unset it",
        ),
        Check::of(
            "limits",
            true,
            limits(),
            "unset the variable, or give it a positive integer",
        ),
    ];
    let failed = checks.iter().any(|check| check.required && !check.ok);
    if json {
        out::json(&checks);
    } else {
        for check in &checks {
            let sign = match (check.ok, check.required) {
                (true, _) => "ok  ",
                (false, true) => "FAIL",
                (false, false) => "warn",
            };
            out::line(&format!("{sign}  {:<13} {}", check.name, check.found));
            if let Some(remedy) = check.remedy {
                out::line(&format!("      {:<13} -> {remedy}", ""));
            }
        }
    }
    Ok(if failed { Exit::Refused } else { Exit::Complete })
}

fn git() -> Result<String, String> {
    let output = Command::new("git")
        .arg("--version")
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether the folder that a start would use can be written, without making it.
fn writable(here: &Utf8Path) -> Result<String, String> {
    let store = store::for_start(&STATE, here, locate::state_dir().as_deref());
    let existing = store
        .folder()
        .ancestors()
        .find(|folder| folder.is_dir())
        .unwrap_or(here);
    tempfile::tempfile_in(existing).map_err(|error| format!("{existing} cannot be written: {error}"))?;
    let note = if store.folder().is_dir() {
        ""
    } else {
        " (made by the first start)"
    };
    Ok(format!("{}{note}", store.folder()))
}

/// Whether two handles of one lock file exclude each other here.
fn locks() -> Result<String, String> {
    let folder = scratch()?;
    let path = utf8(folder.path())?.join("run.lock");
    let inner = store::RunLock::try_hold(&path, |_| store::RunLock::is_held(&path))
        .map_err(|error| error.to_string())?;
    match inner {
        Some(true) if !store::RunLock::is_held(&path) => Ok("file locks exclude and are released".to_owned()),
        _ => Err("file locks do not exclude here".to_owned()),
    }
}

/// A stop of a project without loops: approved, and nothing made.
fn hook() -> Result<String, String> {
    let folder = scratch()?;
    let path = utf8(folder.path())?;
    let input = claudex_loop::hook::input::read(&b"{}"[..], claudex_loop::hook::input::ReadLimits::default())
        .map_err(|error| error.to_string())?;
    let surroundings = Surroundings {
        project: Some(path.clone()),
        here: Some(path.clone()),
        reviewer_child: false,
    };
    let decision = stop::decide(&input, &surroundings, Timestamp::now());
    let untouched = std::fs::read_dir(&path)
        .map_err(|error| error.to_string())?
        .next()
        .is_none();
    match decision {
        Decision::Approve { .. } if untouched => {
            Ok("a stop without a loop is approved, and nothing is made".to_owned())
        }
        decision => Err(format!("a stop without a loop gave {decision:?}")),
    }
}

fn loops(here: &Utf8Path) -> Result<String, String> {
    let loops = locate::loops(here);
    let broken: Vec<_> = loops
        .iter()
        .filter(|(_, listed)| listed.problem.is_some())
        .collect();
    let active = loops
        .iter()
        .filter(|(_, listed)| listed.problem.is_none() && !listed.terminal)
        .count();
    match broken.first() {
        Some((_, listed)) => Err(format!(
            "{} of {} cannot be read, such as {}",
            broken.len(),
            loops.len(),
            listed.path
        )),
        None => Ok(format!("{} in this project, {active} active", loops.len())),
    }
}

fn reviewer() -> Result<String, String> {
    let settings = settings()?;
    reviewers::choose(None, &settings)
        .map(|chosen| chosen.shown)
        .map_err(|error| error.to_string())
}

fn limits() -> Result<String, String> {
    let stale = settings()?.stale_after;
    Ok(format!(
        "loops are swept after {} minutes without a sign of life",
        stale.as_secs() / 60
    ))
}

fn settings() -> Result<Settings, String> {
    let here = locate::here().map_err(|error| error.to_string())?;
    Settings::load(&locate::root(&here)).map_err(|error| error.to_string())
}

fn scratch() -> Result<tempfile::TempDir, String> {
    tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))
}

fn utf8(path: &std::path::Path) -> Result<Utf8PathBuf, String> {
    Utf8PathBuf::from_path_buf(path.to_owned()).map_err(|path| format!("{} is not UTF-8", path.display()))
}
