//! Whatever stands in the place of a file that a stop reads: it has one answer, in time, and changes nothing of others.

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use super::input::answer;
use crate::error::{Failure, Suite};
use crate::folders::{self, Healthy};
use crate::kit::Setup;
use crate::project::{feed, files};
use crate::report::Report;
use crate::runs::Loop;
use crate::search::Way;

/// How long a stop may take, in seconds: a hook that hangs is worse than one that fails.
const PATIENCE: &str = "30";

/// Makes a stop in every hostile folder.
pub(crate) fn run(setup: &Setup, way: &Way, report: &mut Report, failures: &mut Vec<Failure>) {
    let cases = folders::cases();
    let parts: usize = std::thread::available_parallelism().map_or(2, |all| all.get() * 2);
    let mut tried = 0;
    let ended: Vec<_> = std::thread::scope(|scope| {
        let cases = &cases;
        let work = (0..parts)
            .map(|part| scope.spawn(move || stops(setup, way, cases.iter().skip(part).step_by(parts))));
        let work: Vec<_> = work.collect();
        let broke = || {
            setup.failure(
                Suite::Folders,
                "the kit itself",
                "it panicked".to_owned(),
                "see what it says above",
            )
        };
        work.into_iter()
            .map(|one| one.join().unwrap_or_else(|_| Err(broke())))
            .collect()
    });
    for one in ended {
        match one {
            Ok(count) => tried += count,
            Err(failure) => failures.push(failure),
        }
    }
    report.tried.push((
        Suite::Folders,
        format!("a stop in {tried} hostile folders had one answer"),
    ));
    let skipped = cases.len() - tried;
    if skipped > 0 {
        report.left_out.push((
            Suite::Folders,
            format!("{skipped} folders that this user may not make, or behind a failure"),
        ));
    }
}

fn stops<'c>(
    setup: &Setup,
    way: &Way,
    cases: impl Iterator<Item = &'c folders::Case>,
) -> Result<usize, Failure> {
    let mut held = Loop::begin(setup, way)?;
    let system = |held: &Loop<'_>, error: std::io::Error| fail(held, error.to_string());
    way.steps.iter().try_for_each(|step| held.step(step))?;
    held.project.stop().map_err(|error| system(&held, error))?;
    let healthy = healthy(&held);
    held.project.keep().map_err(|error| system(&held, error))?;
    let event = held.project.event(crate::project::SESSION).to_string();
    let mut tried = 0;
    for case in cases {
        held.project.restore().map_err(|error| system(&held, error))?;
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
                command
                    .args(["unshare", "-Urm", "sh", "-c", &script, "sh"])
                    .arg(&healthy.root)
                    .arg(&program)
            }
        };
        let said = feed(command, event.as_bytes()).map_err(|error| system(&held, error))?;
        let answered = answer(&said).map_err(|what| fail(&held, what))?;
        if !["approve", "block"]
            .iter()
            .any(|decision| answered["decision"] == **decision)
        {
            return Err(fail(
                &held,
                format!("a stop decides, whatever it finds: {}", said.short()),
            ));
        }
        if is_special(&place) != special || files(&healthy.outside()) != outside {
            return Err(fail(
                &held,
                "what is not ours was changed or taken away".to_owned(),
            ));
        }
        tried += 1;
    }
    held.project.restore().map_err(|error| system(&held, error))?;
    Ok(tried)
}

fn healthy(held: &Loop<'_>) -> Healthy {
    let machine = &held.setup.machine;
    let program = held
        .project
        .program()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let plugin = machine
        .plugin
        .as_ref()
        .map_or(&program, |plugin| &plugin.name.value)
        .clone();
    let root = held.project.root();
    let document = held.document_path();
    Healthy {
        id: held.id.clone(),
        folder: machine.state.folder.value.clone(),
        document: document
            .strip_prefix(&root)
            .unwrap_or(&document)
            .to_string_lossy()
            .into_owned(),
        names: (program, plugin),
        home: held.project.home(),
        root,
    }
}

/// Returns whether what stands there is of a kind that is never ours to read or to take away.
fn is_special(place: &Path) -> bool {
    let kind = std::fs::symlink_metadata(place).map(|found| found.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_symlink())
}

fn fail(held: &Loop<'_>, what: String) -> Failure {
    held.failure(
        Suite::Folders,
        what,
        "let the turn end with one line, and leave what stands there as it is",
    )
}
