//! Loops that nobody started here, and what is believed of one that somebody did: they came in an archive, with a copied or
//! moved project, or from an earlier build. And what holds a stop up: it ends within its budget, with one line.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use claudex_testkit::has;
use serde_json::{Value, json};

use crate::support::{
    Background, Project, Ran, Stop, executable, path_without_clients, wait_for, write,
};

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
fn a_loop_of_an_earlier_build_is_adopted_once() {
    let (project, id) = Project::reviewing(&[]);
    for record in records(&project) {
        std::fs::remove_file(record).unwrap();
    }
    assert!(project.fire().approved().contains(&id));
    project.run(&["adopt", &id]).exits(0);
    project.review(&id, "lint").exits(0);
    project.fire().blocked();
    project.run(&["adopt", &id, "--yes"]).exits(0);
    project.run(&["cancel", &id]).exits(0);
    // One that is over is nobody's business, and stands in no start's way.
    for record in records(&project) {
        std::fs::remove_file(record).unwrap();
    }
    assert_eq!(project.fire().approved(), "");
    project.start(&[]);
}

#[test]
fn a_broken_state_without_a_journal_is_not_offered_to_be_taken_up() {
    for text in [&b"\xff\0"[..], b"phase: reviewing\nmachine: plan\n"] {
        let project = Project::new();
        let id = "20250101-000000-abcdef";
        std::fs::create_dir_all(project.folder()).unwrap();
        std::fs::write(project.state_path(id), text).unwrap();
        let note = project.fire().approved();
        assert!(!note.contains("adopt"), "{note}");
        has(&note, "has no journal");
        has(&note, "remove it");
        let ran = project.run(&["adopt", id]);
        assert_ne!(ran.code, 0);
        ran.says("has no journal").says("remove it");
        assert_eq!(std::fs::read(project.state_path(id)).unwrap(), text);
        project.start(&[]);
        assert_eq!(project.quarantine().len(), 1);
        assert!(!project.state_path(id).exists());
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

/// Does the work sixteen times at the same time.
fn at_once<T: Send>(work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let begin = std::sync::Barrier::new(16);
    let run = |number| {
        begin.wait();
        work(number)
    };
    std::thread::scope(|scope| {
        let run = &run;
        let all: Vec<_> = (0..16)
            .map(|number| scope.spawn(move || run(number)))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// Holds that a state home has so many records, each whole and its user's alone, and nothing else beside them.
#[track_caller]
fn has_records(state: &Path, count: usize) {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = state.join("claudex-loop/loops");
    let records = files(&folder);
    assert_eq!(records.len(), count, "{records:?}");
    for (path, bytes) in records {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(
            name.len() == 69 && name.ends_with(".json"),
            "a stray: {name}"
        );
        serde_json::from_slice::<Value>(&bytes).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    for folder in [folder.parent().unwrap(), &folder] {
        let mode = std::fs::metadata(folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

#[test]
fn sixteen_projects_at_once_lose_no_record_in_one_state_home() {
    let shared = tempfile::tempdir().unwrap();
    let state = shared.path().join("state");
    let home = state.to_str().unwrap();
    let projects: Vec<Project> = (0..16)
        .map(|_| Project::new().with("XDG_STATE_HOME", home))
        .collect();
    let ids = at_once(|number| {
        let id = projects[number].start(&[]);
        projects[number].plan("# Plan\n\nMove the queue.\n");
        projects[number].fire();
        id
    });
    has_records(&state, 16);
    // As after a move of the state home: all are taken up again at once, and driven.
    std::fs::remove_dir_all(state.join("claudex-loop")).unwrap();
    at_once(|number| {
        projects[number].run(&["adopt", &ids[number]]).exits(0);
        projects[number].fire();
    });
    has_records(&state, 16);
    for (project, id) in projects.iter().zip(&ids) {
        assert_eq!(project.field(id, "phase"), "reviewing");
        assert!(project.quarantine().is_empty());
    }
    at_once(|number| projects[number].run(&["rollback", "--yes"]).exits(0));
    has_records(&state, 0);
}

#[test]
fn sixteen_at_once_in_one_project_are_one_loop_with_one_record() {
    let project = Project::new();
    let state = project.home.join("state");
    let started = at_once(|_| project.run(&["start", "plan", "Move the queue"]));
    let started: Vec<&Ran> = started.iter().filter(|ran| ran.code == 0).collect();
    assert_eq!(started.len(), 1);
    let id = crate::support::id_of(started[0]);
    has_records(&state, 1);
    std::fs::remove_dir_all(state.join("claudex-loop")).unwrap();
    let adopted = at_once(|_| project.run(&["adopt", &id]).code);
    assert!(adopted.contains(&0), "{adopted:?}");
    has_records(&state, 1);
    let adoptions = project
        .changes(&id)
        .iter()
        .filter(|what| *what == "adopt")
        .count();
    assert!(adoptions >= 1, "{:?}", project.changes(&id));
    project.plan("# Plan\n\nMove the queue.\n");
    at_once(|_| project.fire());
    has_records(&state, 1);
    assert_eq!(project.field(&id, "phase"), "reviewing");
    let begun = project
        .changes(&id)
        .iter()
        .filter(|what| *what == "begin")
        .count();
    assert_eq!(begun, 1, "{:?}", project.changes(&id));
    assert!(project.quarantine().is_empty());
}

#[test]
fn a_line_of_a_version_that_nobody_used_here_ends_no_loop_in_silence() {
    let (project, id) = Project::reviewing(&[]);
    let journal = project.folder().join(&id).join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    for to in ["cancelled", "done"] {
        let last = text
            .lines()
            .rfind(|line| line.contains("\"revision\""))
            .unwrap();
        let mut line: Value = serde_json::from_str(last).unwrap();
        line["revision"] = json!(line["revision"].as_u64().unwrap() + 1);
        line["from"] = "reviewing".into();
        line["to"] = to.into();
        line["what"] = "skip".into();
        line["by"] = "engine".into();
        line["fields"]["phase"] = to.into();
        line["fields"]["revision"] = line["revision"].clone();
        line["fields"]["graph_hash"] = "0123456789abcdef".into();
        std::fs::write(&journal, format!("{text}{line}\n")).unwrap();
        let stop = project.fire();
        let note = stop.note.clone().unwrap_or_default();
        assert!(note.contains("taken out of the journal"), "{stop:?}");
        assert_eq!(project.field(&id, "phase"), "reviewing");
        assert!(!project.changes(&id).contains(&"skip".to_owned()));
        std::fs::write(&journal, &text).unwrap();
    }
}

#[test]
fn a_line_that_moves_the_loop_to_another_folder_is_taken_out() {
    let (project, id) = Project::reviewing(&[]);
    let journal = project.folder().join(&id).join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let last = text
        .lines()
        .rfind(|line| line.contains("\"revision\""))
        .unwrap();
    let mut line: Value = serde_json::from_str(last).unwrap();
    line["revision"] = json!(line["revision"].as_u64().unwrap() + 1);
    line["from"] = "reviewing".into();
    line["what"] = "adopt".into();
    line["fields"]["revision"] = line["revision"].clone();
    line["fields"]["repo_root"] = project.home.to_str().unwrap().into();
    std::fs::write(&journal, format!("{text}{line}\n")).unwrap();
    let note = project.fire().note.unwrap_or_default();
    has(&note, "taken out of the journal");
    assert_eq!(
        project.field(&id, "repo_root"),
        project.root.to_str().unwrap()
    );
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

#[test]
fn thousands_of_files_that_are_no_loops_of_ours_hold_no_stop() {
    let project = Project::new();
    std::fs::create_dir_all(project.folder()).unwrap();
    for number in 0..3_000 {
        let name = format!("20250101-000000-{number:06x}.state");
        std::fs::write(project.folder().join(name), b"\xff\0").unwrap();
    }
    let before = files(&project.root).len();
    let note = timed(|| project.fire()).approved();
    assert!(
        note.contains("so nothing was done") || note.contains("has no journal"),
        "{note}"
    );
    assert_eq!(files(&project.root).len(), before);
}

#[test]
fn hundreds_of_nested_state_folders_hold_no_stop() {
    let project = Project::without_git();
    let mut deep = project.root.clone();
    for _ in 0..400 {
        deep.push("d");
        std::fs::create_dir_all(deep.join(".claude/claudex")).unwrap();
        std::fs::write(
            deep.join(".claude/claudex/20250101-000000-abcdef.state"),
            b"\xff",
        )
        .unwrap();
    }
    let note = timed(|| project.fire_from(&deep, json!({"session_id": "s1"}))).approved();
    assert!(!note.is_empty());
}

#[test]
fn an_input_that_never_ends_holds_no_stop() {
    let project = Project::new();
    project.start(&[]);
    let begun = Instant::now();
    let mut command = project.command(&["hook", "stop"]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"{\"session_id\":").unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    drop(stdin);
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    let note = Stop::read(&ran).approved();
    has(&note, "input");
}

/// A stop whose input comes late and never ends.
fn fire_late(mut command: std::process::Command) -> Stop {
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    // It is no failure of the test's where the stop was faster.
    let _ = std::io::Write::write_all(&mut stdin, b"{\"session_id\": \"s1\"} ");
    let ran = Ran::of(child.wait_with_output().unwrap());
    drop(stdin);
    Stop::read(&ran)
}

#[test]
fn where_everything_is_slow_at_once_a_stop_ends_within_one_budget_and_says_so() {
    let (project, id) = Project::reviewing(&[]);
    for number in 0..300 {
        let name = format!("20250101-000000-{number:06x}.state");
        std::fs::write(project.folder().join(name), b"\xff\0").unwrap();
    }
    // An index whose bytes do not tell what is tracked, and a git that does not answer.
    project.git(&["add", "PLAN.md"]);
    project.git(&["update-index", "--index-version", "4"]);
    let (bin, asked) = (project.home.join("slow"), project.home.join("asked"));
    let script = format!(": >'{}'\nexec sleep 600", asked.display());
    executable(&bin.join("git"), &script);
    let held = hold(&project, &project.folder().join(".lock"));

    let mut slow = project.command(&["hook", "stop"]);
    slow.env(
        "PATH",
        format!("{}:{}", bin.display(), path_without_clients()),
    );
    let note = timed(|| fire_late(slow)).approved();
    assert!(asked.exists(), "git was not asked");
    has(&note, "a turn waits 5 s for loops at most");
    has(&note, "so nothing was done");
    has(&note, ".claude/claudex,");
    let note = timed(|| fire_late(project.command(&["hook", "stop"]))).approved();
    assert!(
        note.contains(".lock is still held") || note.contains("so nothing was done"),
        "{note}"
    );
    assert_eq!(note.lines().count(), 1, "{note}");
    assert_eq!(project.field(&id, "phase"), "reviewing");

    drop(held);
    project.fire().blocked();
}
