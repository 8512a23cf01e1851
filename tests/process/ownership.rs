//! Loops that nobody started here, and what is believed of one that somebody did: they came in an archive, with a copied or
//! moved project, or from an earlier build. And what holds a stop up: it ends within its budget, with one line.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use claudex_testkit::has;

use crate::support::{Background, Project, wait_for, write};

/// Bounds what took seconds or minutes, also on a busy machine.
const SOON: Duration = Duration::from_secs(10);

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

fn records(project: &Project) -> Vec<PathBuf> {
    let folder = project.home.join("state/claudex-loop/loops");
    files(&folder).into_iter().map(|(path, _)| path).collect()
}

/// Returns the file of the record that knows a loop of this id in this project, there or not.
fn record_of(project: &Project, id: &str) -> PathBuf {
    record_file(project, &project.field(id, "machine"), id)
}

pub(crate) fn record_file(project: &Project, machine: &str, id: &str) -> PathBuf {
    use sha2::Digest as _;
    let folder = project.folder();
    let mut digest = sha2::Sha256::new();
    for part in [folder.to_str().unwrap(), machine, id] {
        digest.update(part);
        digest.update([0]);
    }
    let name: String = digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    project
        .home
        .join(format!("state/claudex-loop/loops/{name}.json"))
}

fn timed<T>(work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    done
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
        has(&note, "was not started here");
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
        ran.says("was not started here")
            .says(&format!("claudex-loop adopt {id}"));
    }
    project.run(&["list"]).exits(0).says("was not started here");
    project
        .run(&["status"])
        .exits(0)
        .says("was not started here");
    let start = project.run(&["start", "plan", "x"]).exits(1);
    start
        .says("was not started here")
        .says("claudex-loop rollback");
    let in_root = |files: Vec<(PathBuf, Vec<u8>)>| -> Vec<(PathBuf, Vec<u8>)> {
        // A start locks the folder and keeps it out of git; both are its own files.
        let own = [".lock", ".gitignore", "log"].map(|name| project.folder().join(name));
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
fn a_copied_project_and_a_moved_one_are_taken_up_by_a_person() {
    for moved in [false, true] {
        let (mut project, id) = Project::reviewing(&[]);
        let from = project.root.clone();
        let to = from.with_file_name("elsewhere");
        if moved {
            std::fs::rename(&from, &to).unwrap();
        } else {
            let copied = std::process::Command::new("cp")
                .arg("-a")
                .args([&from, &to])
                .status();
            assert!(copied.unwrap().success());
        }
        project.root = to.clone();
        assert!(project.fire().approved().contains("was not started here"));
        // The record of another loop does not serve for this one, under whatever name it stands.
        let own = record_of(&project, &id);
        std::fs::copy(&records(&project)[0], &own).unwrap();
        assert!(project.fire().approved().contains("was not started here"));
        std::fs::remove_file(&own).unwrap();
        assert_eq!(records(&project).len(), 1);
        project.run(&["adopt", &id]).exits(0).says("was taken up");
        assert!(own.exists(), "the name is the one that was tried");
        assert_eq!(records(&project).len(), 2);
        assert_eq!(project.field(&id, "repo_root"), to.to_str().unwrap());
        let changes = project.changes(&id);
        assert!(
            changes.iter().filter(|what| *what == "adopt").count() >= 1,
            "{changes:?}"
        );
        project.review(&id, "lint").exits(0);
        project.fire().blocked();
        assert!(project.quarantine().is_empty());
    }
}

#[test]
fn where_no_record_can_be_written_a_start_names_the_folder_and_leaves_nothing() {
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
fn a_start_records_for_its_user_alone_and_a_rollback_takes_it_back() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    project.start(&[]);
    let records_now = records(&project);
    assert_eq!(records_now.len(), 1);
    let mode = std::fs::metadata(&records_now[0])
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    project.run(&["rollback", "--yes"]).exits(0);
    assert!(records(&project).is_empty());
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
    assert!(project.fire().approved().contains("was not started here"));
    assert_eq!(files(&project.root), before);
}

/// Holds a shared lock on a file, as anyone who may read it can take.
fn hold(project: &Project, path: &Path) -> Background {
    let said = project.home.join("held");
    let hold = "exec 9<\"$1\"; flock -s 9; : > \"$2\"; sleep 60";
    let arguments = [
        "-c",
        hold,
        "sh",
        path.to_str().unwrap(),
        said.to_str().unwrap(),
    ];
    let held = Background::of(project.shell("sh", &arguments).spawn().unwrap());
    wait_for("a lock that is held", || said.exists());
    held
}

#[test]
fn a_lock_that_is_held_costs_a_stop_its_budget_once() {
    let project = Project::new();
    let mut ids = Vec::new();
    for _ in 0..6 {
        let id = project.start(&[]);
        project.run(&["cancel", &id]).exits(0);
        ids.push(id);
    }
    for id in &ids {
        std::fs::write(project.state_path(id), b"\xff").unwrap();
        let journal = project.folder().join(id).join("journal.jsonl");
        std::fs::remove_file(journal).unwrap();
    }
    // Else nobody looks at what is over.
    std::fs::remove_dir_all(project.home.join("state/claudex-loop/active")).unwrap();
    let _held = hold(&project, &project.folder().join(".lock"));
    let note = timed(|| project.fire()).approved();
    has(&note, ".lock is still held");
    assert_eq!(note.lines().count(), 1, "{note}");
}
