//! Whatever stands in the place of a file that a stop reads: it has one answer, in time, and changes nothing of others.

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::input::answer;
use super::{at_once, workers};
use crate::error::{Failure, Suite, Wrong};
use crate::folders::{self, Case, Healthy};
use crate::kit::Setup;
use crate::project::{SESSION, feed, files};
use crate::report::Report;
use crate::runs::Loop;
use crate::search::Way;

/// How long a stop may take, in seconds: a hook that hangs is worse than one that fails.
const PATIENCE: &str = "30";

/// Makes a stop in every hostile folder.
pub(crate) fn run(setup: &Setup, way: &Way, report: &mut Report, failures: &mut Vec<Failure>) {
    let cases = folders::cases();
    let (next, tried) = (AtomicUsize::new(0), AtomicUsize::new(0));
    at_once(&vec![(); workers()], failures, |()| {
        let mut held = Loop::begin(setup, way)?;
        held.promise(Suite::Folders, |held| {
            stops(held, way, &cases, (&next, &tried))
        })
    });
    let tried = tried.into_inner();
    let said = format!("a stop in {tried} hostile folders had one answer");
    report.tried(Suite::Folders, said);
    let skipped = cases.len() - tried;
    if skipped > 0 {
        let why = format!("{skipped} folders that this user may not make, or behind a failure");
        report.left_out(Suite::Folders, why);
    }
}

/// Takes case by case, as long as there are any that nobody has taken.
fn stops(
    held: &mut Loop<'_>,
    way: &Way,
    cases: &[Case],
    (next, tried): (&AtomicUsize, &AtomicUsize),
) -> Result<(), Wrong> {
    way.steps.iter().try_for_each(|step| held.step(step))?;
    held.project.stop()?;
    let healthy = healthy(held);
    held.project.keep()?;
    let event = held.project.event(SESSION).to_string();
    while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
        held.project.restore()?;
        held.path = vec![case.name.clone()];
        let Some(place) = case.make(&healthy) else {
            continue;
        };
        let (special, outside) = (is_special(&place), files(&healthy.outside()));
        let program = held.project.program().to_string_lossy().into_owned();
        let mut command = held.project.tool("timeout");
        command.arg(PATIENCE);
        match case.before {
            "" => command.args([&program, "hook", "stop"]),
            before => {
                let script = format!("root=$1; {before} && cd / && exec \"$2\" hook stop");
                let shell = command.args(["unshare", "-Urm", "sh", "-c", &script, "sh"]);
                shell.arg(&healthy.root).arg(&program)
            }
        };
        let said = feed(command, event.as_bytes())?;
        let decision = &answer(&said)?["decision"];
        if *decision != "approve" && *decision != "block" {
            return Err(format!("a stop decides, whatever it finds: {}", said.short()).into());
        }
        if is_special(&place) != special || files(&healthy.outside()) != outside {
            return Err("what is not ours was changed or taken away"
                .to_owned()
                .into());
        }
        tried.fetch_add(1, Ordering::Relaxed);
    }
    Ok(held.project.restore()?)
}

fn healthy(held: &Loop<'_>) -> Healthy {
    let machine = &held.setup.machine;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let program = held.project.program().file_name().unwrap_or_default();
    let program = text(Path::new(program));
    let plugin = machine
        .plugin
        .as_ref()
        .map(|plugin| plugin.name.value.clone());
    let (root, document) = (held.project.root(), held.document_path());
    Healthy {
        id: held.id.clone(),
        folder: machine.state.folder.value.clone(),
        document: text(document.strip_prefix(&root).unwrap_or(&document)),
        names: (program.clone(), plugin.unwrap_or(program)),
        home: held.project.home(),
        root,
    }
}

/// Returns whether what stands there is of a kind that is never ours to read or to take away.
fn is_special(place: &Path) -> bool {
    let kind = std::fs::symlink_metadata(place).map(|found| found.file_type());
    kind.is_ok_and(|kind| {
        kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_symlink()
    })
}
