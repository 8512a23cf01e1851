//! Hostile files: whatever a cloned repository has in place of a file that a stop reads, the stop answers in time and
//! changes nothing outside.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::Setup;
use crate::project::{SESSION, feed, files, run as run_tool};
use crate::report::{Wrong, at, ensure};
use crate::scratch::{Loop, first_start};

/// The time that a stop may take.
const STOP_TIMEOUT_SECONDS: &str = "30";
/// The number of the copy of the healthy project.
const COPY: usize = 0;

/// Puts something in a place that is free. A file or folder out of the project is at the second path.
type Content = fn(&Path, &Path) -> io::Result<()>;

const CONTENTS: [(&str, Content); 5] = [
    ("a pipe", |place, _| {
        run_tool(Command::new("mkfifo").arg(place))
    }),
    ("a link out", |place, outside| symlink(outside, place)),
    ("a folder", |place, _| fs::create_dir(place)),
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

/// Makes a stop in every case of the table, behind a review if one was reached: then every file exists.
pub(super) fn run(setup: &Setup) -> Result<String, Wrong> {
    let mut states = setup.walk()?.states.iter();
    let reviewed = states.find(|state| state.journal.is_reviewed);
    let path = reviewed.map_or(vec![first_start(setup)], |state| state.path.clone());
    let held = Loop::begin(setup, &path)?;
    held.project.stop()?;
    held.project.keep(COPY)?;

    let mut tried = 0;
    for (what, place) in &places(&held) {
        for (content, put) in CONTENTS {
            held.project.restore(COPY)?;
            stop(&held, place, put).map_err(at(format!("{content} in place of {what}")))?;
            tried += 1;
        }
    }
    Ok(format!(
        "a stop beside {tried} hostile files had one answer"
    ))
}

/// Returns the files and folders that a stop reads.
fn places(held: &Loop<'_>) -> [(&'static str, PathBuf); 8] {
    let folder = held.folder().join(&held.id);
    let plugin = held.setup.machine.plugin.as_ref();
    let program = held.setup.kit.program.file_name().unwrap_or_default();
    let name = plugin.and_then(|plugin| plugin.name.clone());
    let name = name.unwrap_or_else(|| program.to_string_lossy().into_owned());
    let configuration = held.project.root().join(format!(".claude/{name}.toml"));
    [
        ("the state document", held.document.clone()),
        ("the journal", folder.join("journal.jsonl")),
        ("the lock", held.folder().join(".lock")),
        ("the review's lock", folder.join("run.lock")),
        ("the findings", folder.join("findings-round-1.json")),
        ("the project's configuration", configuration),
        ("the state folder", held.folder()),
        ("the loop's folder", folder),
    ]
}

fn stop(held: &Loop<'_>, place: &Path, put: Content) -> Result<(), Wrong> {
    let outside = held.project.home().join("outside");
    fs::create_dir_all(place.parent().unwrap_or(place))?;
    // What stands there goes out of the project, as the target of the link.
    if fs::rename(place, &outside).is_err() {
        fs::write(&outside, "mine\n")?;
    }
    put(place, &outside)?;
    let before = files(&outside);

    let mut command = held.project.tool("timeout");
    command
        .arg(STOP_TIMEOUT_SECONDS)
        .arg(&held.setup.kit.program);
    command.args(["hook", "stop"]);
    let event = held.project.event(SESSION).to_string();
    let output = feed(command, event.as_bytes())?;

    let is_decided = output.answer()?["decision"] == "approve" || output.holds()?;
    ensure!(is_decided, "expected a decision, found {output}");
    ensure!(
        files(&outside) == before,
        "a file out of the project was changed or removed"
    );
    Ok(())
}
