//! Review mode: it turns changes into findings and reports, and changes no byte of the project.

mod caveats;
mod changes;
mod hostile;
mod kills;
mod lifecycle;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Project, check_length, id_of, tree};

/// Returns a repository with one commit on `main`.
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

/// Returns a project with changes in which lint finds something.
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

/// Returns every file of the project except the loop's: the work tree and git's data.
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

/// Adds the reviewer `mine`, which always reports this finding.
fn answering(project: Project, finding: &Value) -> Project {
    let file = project.home.join("answer");
    let answer = json!({ "verdict": "findings", "findings": [finding] });
    std::fs::write(&file, answer.to_string()).unwrap();
    project.add_reviewer("mine", "/bin/cat", &[file.to_str().unwrap()]);
    project
}
