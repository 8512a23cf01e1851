//! Loops without the user's seal, from an archive or a copied project, and the user's key.

use crate::support::{Project, has, lacks, tree, write};

/// Copies a loop's files into another project, as an archive does, with changes to each text.
fn unpack(from: &Project, into: &Project, change: impl Fn(&str) -> String) {
    for (path, bytes) in tree(&from.folder()) {
        let to = into
            .folder()
            .join(path.strip_prefix(from.folder()).unwrap());
        if let Some(bytes) = bytes {
            write(&to, change(&String::from_utf8(bytes).unwrap()));
        }
    }
}

#[test]
fn loop_from_an_archive_is_left_alone() {
    let theirs = Project::new();
    let id = theirs.start(&[]);
    let project = Project::new();
    let home = project.home.to_str().unwrap().to_owned();
    write(&project.home.join(".bashrc"), "# mine\n");
    unpack(&theirs, &project, |text| {
        let text = text.replace(theirs.root.to_str().unwrap(), &home);
        text.replace("PLAN.md", ".bashrc")
    });
    let before = (tree(&project.root), tree(&project.home));
    let adopt = format!("claudex-loop adopt {id}");
    for _ in 0..2 {
        let note = project.fire().approved();
        has(&note, &id);
        has(&note, "is not yours");
        has(&note, &adopt);
        lacks(&note, "`");
    }
    assert_eq!((tree(&project.root), tree(&project.home)), before);
    // Other commands print the same, and change nothing.
    for verb in ["review", "mark-done", "cancel", "more", "resume"] {
        let ran = project.run(&[verb, &id]);
        assert_ne!(ran.code, 0, "{verb}");
        ran.says("is not yours").says(&adopt);
    }
    project.answers("adopt", 1, &adopt);
    project.answers("list", 0, "is not yours");
    project.answers("status", 0, "is not yours");
    let ran = project.run("start plan x").exits(1);
    let archive = format!("archive {id}");
    ran.says("is not yours").says(&archive);
    // A start locks the folder and keeps it out of git.
    let our_files =
        [".lock", ".start.lock", ".gitignore", "log"].map(|name| project.folder().join(name));
    let mut after = tree(&project.root);
    after.retain(|(path, _)| !our_files.contains(path));
    let mut before = before.0;
    before.retain(|(path, _)| !our_files.contains(path));
    assert_eq!(after, before);
    project.answers_in("s1", &format!("adopt {id}"), 1, "");
    project.answers(&archive, 0, "was moved to");
    project.start(&[]);
}

#[test]
fn copied_project_is_taken_over_by_its_user() {
    let (mut project, id) = Project::reviewing(&[]);
    let from = project.root.clone();
    let to = from.with_file_name("elsewhere");
    let mut copy = std::process::Command::new("cp");
    let copied = copy.arg("-a").args([&from, &to]).status();
    assert!(copied.unwrap().success());
    project.root = to.clone();
    has(&project.fire().approved(), "this folder is a copy of");
    project.answers(&format!("adopt {id}"), 0, "was taken over");
    assert_eq!(project.field(&id, "repo_root"), to.to_str().unwrap());
    assert!(project.changes(&id).contains(&"adopt".to_owned()));

    // Both continue.
    for root in [to, from] {
        project.root = root;
        project.review(&id, "lint").exits(0);
        project.fire().blocked();
    }
}

#[test]
fn start_without_state_home_names_it() {
    let project = Project::new();
    let state = project.home.join("state");
    write(&state, "no folder");
    let before = tree(&project.root);
    project.answers("start plan x", 3, state.to_str().unwrap());
    assert_eq!(tree(&project.root), before);
    let project = Project::new()
        .with("XDG_STATE_HOME", "here")
        .with("HOME", "not/absolute");
    let before = tree(&project.root);
    let why = "neither HOME nor XDG_STATE_HOME is an absolute path; set HOME to your home folder";
    project.answers("start plan x", 3, why);
    assert_eq!(tree(&project.root), before);
}
