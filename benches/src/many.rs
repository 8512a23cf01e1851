//! Calls in a project with many finished loops, compared with a single one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::pair::{Measure, Row, ratio};
use crate::seal::rewrite_journal;
use crate::stop::{hook, program, project};

const LOOP_COUNT: usize = 10_000;
/// The number of loops that are copied before the next start.
const LOOPS_BETWEEN_STARTS: usize = 20;
/// The number of calls that are measured as one.
const CALL_COUNT: usize = 5;

pub(crate) fn rows() -> Vec<Measure> {
    vec![("a stop after 10,000 finished loops", Box::new(beside_one))]
}

const START: [&str; 4] = ["start", "plan", "--from-draft", "a topic"];

fn run(root: &Path, commands: &[&[&str]]) {
    for arguments in commands {
        hook(root, Command::new(program()).args(*arguments));
    }
}

fn beside_one() -> Row {
    let single = finished(1);
    let many = finished(LOOP_COUNT);
    let times = |project: &TempDir| {
        (0..CALL_COUNT).for_each(|_| run(project.path(), &[&["hook", "stop"]]));
    };
    Row {
        beside: "the same after a single one".to_owned(),
        ratio: ratio(|| times(&many), || times(&single)),
        most: 1.2,
    }
}

/// Makes a project with `loops` finished loops: one that the program ran, and copies with other ids
/// and new seals. The starts between them archive most, as in years of use: a folder that held them
/// all at once would stay slow to read.
fn finished(loops: usize) -> TempDir {
    let project = project();
    let root = project.path();
    fs::write(root.join("PLAN.md"), "# A plan\n").expect("the folder is ours");
    run(root, &[&START, &["cancel"]]);
    let folder = root.join(".claude/claudex");
    let home = root.join(".local/state/claudex-loop");
    let mut files = fs::read_dir(&folder).expect("a folder").flatten();
    let state = files
        .find(|file| file.file_name().to_string_lossy().ends_with(".state"))
        .expect("a start wrote it")
        .path();
    let id = state.file_stem().and_then(|id| id.to_str()).expect("an id");
    let project_id = fs::read_to_string(folder.join("project")).expect("a start wrote it");
    let marks = home.join("marks").join(project_id.trim());
    let read = |path: PathBuf| fs::read_to_string(path).expect("a file of the loop");
    let mark = read(format!("{}-{id}", marks.display()).into());
    let files = ["ID.state", "ID/journal.jsonl"];
    let texts = files.map(|file| (file, read(folder.join(file.replace("ID", id)))));
    for number in 1..loops {
        let copy = format!("20260101-000000-{number:06x}");
        fs::create_dir(folder.join(&copy)).expect("a folder");
        for (file, text) in &texts {
            let to = folder.join(file.replace("ID", &copy));
            fs::write(to, text.replace(id, &copy)).expect("its copy");
        }
        rewrite_journal(&folder, &home, &copy, str::to_owned).expect("its seals");
        fs::write(format!("{}-{copy}", marks.display()), &mark).expect("its mark");
        if number % LOOPS_BETWEEN_STARTS == 0 {
            run(root, &[&START, &["cancel"]]);
        }
    }
    run(root, &[&START, &["cancel"]]);
    project
}
