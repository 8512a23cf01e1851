//! Loops without the user's seal: they came in an archive or with a copied project. And the user's key.

use std::path::{Path, PathBuf};

use claudex_testkit::has;

use crate::support::{Project, write};

/// Reads the files below a folder with their bytes, the links with nothing.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

/// Copies the loop's files of one project into another, as an archive brings them, with changes to every text.
fn unpack(from: &Project, into: &Project, change: impl Fn(&str) -> String) {
    for (path, bytes) in files(&from.folder()) {
        let to = into
            .folder()
            .join(path.strip_prefix(from.folder()).unwrap());
        write(&to, change(&String::from_utf8(bytes).unwrap()));
    }
}

#[test]
fn a_loop_from_an_archive_is_named_in_one_line_and_nothing_is_written() {
    let theirs = Project::new();
    let id = theirs.start(&[]);
    let project = Project::new();
    let home = project.home.to_str().unwrap().to_owned();
    write(&project.home.join(".bashrc"), "# mine\n");
    unpack(&theirs, &project, |text| {
        text.replace(theirs.root.to_str().unwrap(), &home)
            .replace("PLAN.md", ".bashrc")
    });
    let before = (files(&project.root), files(&project.home));
    for _ in 0..2 {
        let note = project.fire().approved();
        has(&note, &id);
        has(&note, "is not yours");
        has(&note, &format!("claudex-loop adopt {id}"));
        assert!(!note.contains('`'), "{note}");
    }
    assert_eq!((files(&project.root), files(&project.home)), before);
    // Other commands say the same, and change nothing.
    for command in [
        &["review", &id][..],
        &["mark-done", &id],
        &["cancel", &id],
        &["more", &id, "--rounds", "1"],
        &["resume", &id],
    ] {
        let ran = project.run(command);
        assert_ne!(ran.code, 0, "{command:?}");
        ran.says("is not yours")
            .says(&format!("claudex-loop adopt {id}"));
    }
    project.run(&["list"]).exits(0).says("is not yours");
    project.run(&["status"]).exits(0).says("is not yours");
    let start = project.run(&["start", "plan", "x"]).exits(1);
    start.says("is not yours").says("claudex-loop rollback");
    let in_root = |files: Vec<(PathBuf, Vec<u8>)>| -> Vec<(PathBuf, Vec<u8>)> {
        // A start locks the folder and keeps it out of git; both are its own files.
        let own =
            [".lock", ".start.lock", ".gitignore", "log"].map(|name| project.folder().join(name));
        files
            .into_iter()
            .filter(|(path, _)| !own.contains(path))
            .collect()
    };
    assert_eq!(in_root(files(&project.root)), in_root(before.0));
    project.run_in_session("s1", &["adopt", &id]).exits(1);
    project.run(&["rollback", "--yes"]).exits(0);
    project.start(&[]);
}

#[test]
fn moved_project_goes_on() {
    let (mut project, id) = Project::reviewing(&[]);
    let to = project.root.with_file_name("elsewhere");
    std::fs::rename(&project.root, &to).unwrap();
    project.root = to;
    project.review(&id, "lint").exits(0);
    project.fire().blocked();
    assert!(project.replaced(&id).is_empty());
}

#[test]
fn copied_project_is_taken_over_by_its_user() {
    let (mut project, id) = Project::reviewing(&[]);
    let from = project.root.clone();
    let to = from.with_file_name("elsewhere");
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([&from, &to])
        .status();
    assert!(copied.unwrap().success());
    project.root = to.clone();
    has(&project.fire().approved(), "this folder is a copy of");
    project.answers(&["adopt", &id], 0, "was taken over");
    assert_eq!(project.field(&id, "repo_root"), to.to_str().unwrap());
    assert!(project.changes(&id).contains(&"adopt".to_owned()));
    project.review(&id, "lint").exits(0);
    project.fire().blocked();

    // The loop that was copied goes on, too.
    project.root = from;
    project.review(&id, "lint").exits(0);
    project.fire().blocked();
}

#[test]
fn start_without_state_home_names_it_and_leaves_nothing() {
    let project = Project::new();
    let state = project.home.join("state");
    write(&state, "no folder");
    let before = files(&project.root);
    let ran = project.run(&["start", "plan", "x"]).exits(3);
    ran.says(state.to_str().unwrap());
    assert_eq!(files(&project.root), before);
    let project = Project::new()
        .with("XDG_STATE_HOME", "here")
        .with("HOME", "not/absolute");
    let ran = project.run(&["start", "plan", "x"]).exits(3);
    ran.says("HOME is relative and XDG_STATE_HOME is relative");
    assert!(!project.root.join("here").exists() && !project.root.join("not").exists());
    assert!(!project.folder().exists());
}

#[test]
fn start_makes_key_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    project.start(&[]);
    let key = std::fs::metadata(project.state_home().join("key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_journal_of_another_folder_in_the_place_of_a_loops_own_is_left_alone() {
    let (project, id) = Project::reviewing(&[]);
    let (root, home) = (
        project.root.to_str().unwrap(),
        project.home.to_str().unwrap(),
    );
    for path in [
        project.folder().join(&id).join("journal.jsonl"),
        project.state_path(&id),
    ] {
        let text = std::fs::read_to_string(&path).unwrap();
        has(&text, root);
        std::fs::write(&path, text.replace(root, home)).unwrap();
    }
    let before = files(&project.root);
    assert!(project.fire().approved().contains("is not yours"));
    assert_eq!(files(&project.root), before);
}
