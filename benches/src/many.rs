//! What a project with many finished loops costs, beside one with a single one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::pair::{Measure, Row, ratio};
use crate::stop::{hook, program, project};

/// How many loops have been finished.
const LOOPS: usize = 10_000;
/// How many calls are measured as one.
const CALLS: usize = 5;

pub(crate) fn rows() -> Vec<Measure> {
    let of = |name, commands: &'static [&'static [&'static str]]| -> Measure {
        (name, Box::new(move || beside_one(commands)))
    };
    vec![
        of("a stop after 10,000 finished loops", &[&["hook", "stop"]]),
        of(
            "a start and its end after 10,000 finished loops",
            &[&START, &["cancel"]],
        ),
        of("a status after 10,000 finished loops", &[&["status"]]),
        ("a list of 10,000 finished loops", Box::new(list)),
    ]
}

const START: [&str; 4] = ["start", "plan", "--from-draft", "a topic"];

fn run(root: &Path, commands: &[&[&str]]) {
    for arguments in commands {
        hook(root, Command::new(program()).args(*arguments));
    }
}

fn times(root: &Path, commands: &[&[&str]]) {
    (0..CALLS).for_each(|_| run(root, commands));
}

fn beside_one(commands: &[&[&str]]) -> Row {
    let (one, many) = (finished(1), finished(LOOPS));
    Row {
        beside: "the same after a single one".to_owned(),
        ratio: ratio(
            || times(many.path(), commands),
            || times(one.path(), commands),
        ),
        most: 1.5,
    }
}

fn list() -> Row {
    let many = finished(LOOPS);
    Row {
        beside: "0.15 s".to_owned(),
        ratio: ratio(
            || run(many.path(), &[&["list"]]),
            || std::thread::sleep(std::time::Duration::from_millis(150)),
        ),
        most: 1.0,
    }
}

/// Makes a project with so many finished loops: one that the program began and ended, and its copies under other ids, each with the
/// record that makes it this user's.
fn finished(loops: usize) -> tempfile::TempDir {
    let project = project();
    let root = project.path();
    fs::write(root.join("PLAN.md"), "# A plan\n").expect("the folder is ours");
    run(root, &[&START, &["cancel"]]);
    let folder = root.join(".claude/claudex");
    let records = root.join(".local/state/claudex-loop/loops");
    let found = |folder: &Path, ending: &str| -> PathBuf {
        let mut files = fs::read_dir(folder).expect("a folder").flatten();
        let file = files.find(|file| file.file_name().to_string_lossy().ends_with(ending));
        file.expect("a start wrote it").path()
    };
    let state = found(&folder, ".state");
    let id = state.file_stem().and_then(|id| id.to_str()).expect("an id");
    let record = fs::read_to_string(found(&records, ".json")).expect("a record");
    for number in 1..loops {
        let copy = format!("20260101-000000-{number:06x}");
        let parts =
            [folder.to_str().expect("UTF-8"), "plan", &copy].map(|part| format!("{part}\0"));
        let name: String = Sha256::digest(parts.concat())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        fs::create_dir(folder.join(&copy)).expect("a folder");
        let journal = format!("{id}/journal.jsonl");
        for (from, to) in [
            (state.clone(), folder.join(format!("{copy}.state"))),
            (
                folder.join(&journal),
                folder.join(&copy).join("journal.jsonl"),
            ),
        ] {
            let text = fs::read_to_string(from).expect("a file of the loop");
            fs::write(to, text.replace(id, &copy)).expect("its copy");
        }
        fs::write(
            records.join(format!("{name}.json")),
            record.replace(id, &copy),
        )
        .expect("its record");
    }
    // The first look makes the index.
    run(root, &[&["list"]]);
    project
}
