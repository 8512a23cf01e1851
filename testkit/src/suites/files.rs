//! Hostile files: whatever a cloned repository has in place of a file that a stop reads, the stop answers in time and
//! changes nothing outside.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{SESSION, feed, files, run as run_tool};
use crate::report::{Wrong, at, ensure};
use crate::scratch::{Loop, Scratch};
use crate::walk::Walk;

/// The time that a stop may take.
const STOP_TIMEOUT_SECONDS: &str = "30";

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
pub(crate) fn run(walk: &Walk) -> Result<String, Wrong> {
    let project = &walk.scratch.project;
    let mut states = walk.states.iter();
    let reviewed = states.position(|state| state.journal.is_reviewed);
    let index = reviewed.unwrap_or_default();
    walk.restore(index)?;
    project.stop()?;
    project.keep(walk.spare_copy())?;

    let mut tried = 0;
    for (what, place) in &places(&walk.scratch, &walk.states[index].held) {
        for (content, put) in CONTENTS {
            project.restore(walk.spare_copy())?;
            stop(&walk.scratch, place, put).map_err(at(format!("{content} in place of {what}")))?;
            tried += 1;
        }
    }
    Ok(format!(
        "a stop beside {tried} hostile files had one answer"
    ))
}

/// Returns the files and folders that a stop reads.
fn places(scratch: &Scratch, held: &Loop) -> [(&'static str, PathBuf); 8] {
    let program = scratch.kit.program.file_name().unwrap_or_default();
    let program = program.to_string_lossy();
    let name = scratch.machine.file["plugin"]["name"].as_str();
    let configuration = format!(".claude/{}.toml", name.unwrap_or(&program));
    [
        ("the state document", held.document.clone()),
        ("the journal", held.folder.join("journal.jsonl")),
        ("the lock", scratch.folder().join(".lock")),
        ("the review's lock", held.folder.join("run.lock")),
        ("the findings", held.folder.join("findings-round-1.json")),
        (
            "the project's configuration",
            scratch.project.root().join(configuration),
        ),
        ("the state folder", scratch.folder()),
        ("the loop's folder", held.folder.clone()),
    ]
}

fn stop(scratch: &Scratch, place: &Path, put: Content) -> Result<(), Wrong> {
    let outside = scratch.project.home().join("outside");
    fs::create_dir_all(place.parent().unwrap_or(place))?;
    // The former content goes out of the project, as the target of the link.
    if fs::rename(place, &outside).is_err() {
        fs::write(&outside, "mine\n")?;
    }
    put(place, &outside)?;
    let before = files(&outside);

    let mut command = scratch.project.tool("timeout");
    command.arg(STOP_TIMEOUT_SECONDS).arg(&scratch.kit.program);
    command.args(["hook", "stop"]);
    let event = scratch.project.event(SESSION).to_string();
    let output = feed(command, event.as_bytes())?;

    let is_decided = output.answer()?["decision"] == "approve" || output.holds()?;
    ensure!(is_decided, "expected a decision, found {output}");
    ensure!(
        files(&outside) == before,
        "a file out of the project was changed or removed"
    );
    Ok(())
}
