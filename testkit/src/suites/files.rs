//! Hostile files: whatever a cloned repository has in place of a file that a stop reads, the stop answers in time and
//! changes nothing outside.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::input::{answer, holds};
use crate::error::{Failure, Suite, Wrong};
use crate::kit::Setup;
use crate::project::{SESSION, done, feed, files, remove};
use crate::report::Report;
use crate::run::{Loop, Move};

/// How long a stop may take.
const STOP_TIMEOUT_SECONDS: &str = "30";
/// The number of the copy of the healthy project.
const COPY: usize = 0;

type Place = fn(&Loop<'_>) -> PathBuf;
/// Puts something in a place. What it moves or links out of the project is at the second path.
type Content = fn(&Path, &Path) -> io::Result<()>;

const FILES: [(&str, Place); 6] = [
    ("the state document", |held| held.document_path()),
    ("the journal", |held| loop_file(held, "journal.jsonl")),
    ("the lock", |held| held.folder().join(".lock")),
    ("the review's lock", |held| loop_file(held, "run.lock")),
    ("the findings", |held| {
        loop_file(held, "findings-round-1.json")
    }),
    ("the project's configuration", |held| {
        let program = held.project.program().file_name().unwrap_or_default();
        let name = program.to_string_lossy().into_owned();
        let name = held.setup.machine.plugin.clone().unwrap_or(name);
        held.project.root().join(format!(".claude/{name}.toml"))
    }),
];

const FOLDERS: [(&str, Place); 2] = [
    ("the state folder", |held| held.folder()),
    ("the loop's folder", |held| loop_file(held, "")),
];

const IN_FILES: [(&str, Content); 5] = [
    ("a pipe", |place, _| {
        remove(place)?;
        done(Command::new("mkfifo").arg(place))
    }),
    ("a link out", link_out),
    ("a folder", |place, _| {
        remove(place)?;
        fs::create_dir(place)
    }),
    ("a gigabyte of zeros", |place, _| {
        fs::File::create(place)?.set_len(1 << 30)
    }),
    ("a mebibyte of brackets", |place, _| {
        let begin = match place.extension().and_then(|is| is.to_str()) {
            Some("toml") => "x = ",
            Some("json" | "jsonl") => "{\"x\":",
            _ => "x: ",
        };
        fs::write(place, begin.to_owned() + &"[".repeat(1 << 20))
    }),
];

const IN_FOLDERS: [(&str, Content); 3] = [
    ("a file", |place, _| {
        remove(place)?;
        fs::write(place, "")
    }),
    ("a link out", link_out),
    ("10,000 files", |place, _| {
        let name = |n: usize| place.join(format!("20250101-000000-{n:06x}.state"));
        fs::write(name(0), "phase: done\n")?;
        // Links to one file are made in a fraction of the time.
        (1..10_000).try_for_each(|n| fs::hard_link(name(0), name(n)))
    }),
];

/// Makes a stop in every case of the table, behind a review if one was reached: then every file exists.
pub(crate) fn run(
    setup: &Setup,
    reviewed: Option<Vec<Move>>,
    report: &mut Report,
    failures: &mut Vec<Failure>,
) {
    let path = reviewed.unwrap_or_else(|| vec![Move::Start(0)]);
    let begun = Loop::begin(setup, &path);
    match begun.and_then(|mut held| held.promise(Suite::Files, stops)) {
        Ok(tried) => {
            let said = format!("a stop beside {tried} hostile files had one answer");
            report.tried.push((Suite::Files, said));
        }
        Err(failure) => failures.push(failure),
    }
}

fn stops(held: &mut Loop<'_>) -> Result<usize, Wrong> {
    held.project.stop()?;
    held.project.keep(COPY)?;
    let mut tried = 0;
    for (places, contents) in [(&FILES[..], &IN_FILES[..]), (&FOLDERS, &IN_FOLDERS)] {
        for (what, place) in places {
            for (content, put) in contents {
                held.path = vec![format!("{content} in place of {what}")];
                held.project.restore(COPY)?;
                stop(held, &place(held), *put)?;
                tried += 1;
            }
        }
    }
    Ok(tried)
}

fn stop(held: &Loop<'_>, place: &Path, put: Content) -> Result<(), Wrong> {
    let outside = held.project.home().join("outside");
    fs::create_dir_all(place.parent().unwrap_or(place))?;
    put(place, &outside)?;
    let (special, before) = (is_special(place), files(&outside));

    let mut command = held.project.tool("timeout");
    command
        .arg(STOP_TIMEOUT_SECONDS)
        .arg(held.project.program());
    command.args(["hook", "stop"]);
    let event = held.project.event(SESSION).to_string();
    let said = feed(command, event.as_bytes())?;

    let answer = answer(&said)?;
    if answer["decision"] != "approve" && !holds(&answer) {
        return Err(format!("expected a decision, found {}", said.short()).into());
    }
    if is_special(place) != special || files(&outside) != before {
        return Err("a file of others was changed or removed".to_owned().into());
    }
    Ok(())
}

fn loop_file(held: &Loop<'_>, name: &str) -> PathBuf {
    let path = held.folder().join(&held.id).join(name);
    // Without the slash that an empty name leaves at the end.
    path.components().collect()
}

/// Moves what stands there out of the project, and links to it.
fn link_out(place: &Path, outside: &Path) -> io::Result<()> {
    if fs::rename(place, outside).is_err() {
        fs::write(outside, "mine\n")?;
    }
    symlink(outside, place)
}

/// Whether something stands there that a stop must never read or remove.
fn is_special(place: &Path) -> bool {
    let kind = fs::symlink_metadata(place).map(|found| found.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_symlink())
}
