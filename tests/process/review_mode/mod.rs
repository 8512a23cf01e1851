//! Review mode: changes in, findings and reports out, and not a byte of the project touched on the way.

mod changes;
mod ends;
mod hostile;
mod killed;
mod way;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Project, check_length, id_of, tree};

/// A repository with one commit on `main`.
fn project() -> Project {
    let project = Project::without_git();
    project.git(&["init", "--quiet", "-b", "main"]);
    write(&project, "src/a b.js", "one();\ntwo();\nthree();\n");
    write(&project, "notes.md", "notes\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "--quiet", "-m", "first"]);
    project
}

fn write(project: &Project, path: &str, text: &str) {
    let file = project.root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// A project with changes that lint has something to say about.
fn changed_project() -> Project {
    let project = project();
    write(
        &project,
        "src/a b.js",
        "one();\ndebugger;\ntwo();\nthree();\n",
    );
    write(&project, "it's \"new\".py", "x = 1\n<<<<<<< HEAD\ny = 2\n");
    project
}

#[track_caller]
fn start(project: &Project, arguments: &[&str]) -> String {
    let ran = project
        .run(&[&["start", "review"], arguments].concat())
        .exits(0);
    check_length(&ran.out);
    id_of(&ran)
}

fn read(project: &Project, path: &str) -> String {
    std::fs::read_to_string(project.root.join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file of the project but the loop's own, with its bytes: the work tree, and git's index, refs and objects.
fn theirs(project: &Project) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let our_folders = [project.root.join(".claude"), project.root.join("reviews")];
    let mut files = tree(&project.root);
    files.retain(|(path, _)| {
        !our_folders
            .iter()
            .any(|our_folders| path.starts_with(our_folders))
    });
    files
}

/// The project with the reviewer `mine`, which always answers with this finding.
fn answering(project: Project, finding: &Value) -> Project {
    let file = project.home.join("answer");
    let answer = json!({ "verdict": "findings", "findings": [finding] });
    std::fs::write(&file, answer.to_string()).unwrap();
    project.add_reviewer("mine", "/bin/cat", &[file.to_str().unwrap()]);
    project
}
