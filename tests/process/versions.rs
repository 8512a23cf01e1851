//! Loops that another version of the machine began, as a client and a person see them; and `machine diff`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::support::Project;

fn hash_of(shape: &str) -> String {
    let digest = Sha256::digest(shape.as_bytes());
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The shape of our own machine, and where a start wrote it.
fn own(project: &Project, id: &str) -> (String, PathBuf) {
    let hash = project.field(id, "graph_hash");
    let path = project.folder().join(format!("machines/{hash}.json"));
    (std::fs::read_to_string(&path).unwrap(), path)
}

/// Makes a loop one that a machine with another shape wrote: as if a version of long ago had begun it. Returns its hash.
fn age(project: &Project, id: &str, edits: &[(&str, &str)]) -> String {
    let (mut shape, path) = own(project, id);
    let ours = hash_of(&shape);
    for (from, to) in edits {
        assert_eq!(shape.matches(from).count(), 1, "{from}\n{shape}");
        shape = shape.replace(from, to);
    }
    let theirs = hash_of(&shape);
    std::fs::write(path.with_file_name(format!("{theirs}.json")), &shape).unwrap();
    let records = project.home.join("state/claudex-loop/loops");
    let records = std::fs::read_dir(records)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let records = records.filter(|path| std::fs::read_to_string(path).unwrap().contains(id));
    let documents = [
        project.state_path(id),
        project.folder().join(id).join("journal.jsonl"),
    ];
    for path in documents.into_iter().chain(records) {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(&ours));
        std::fs::write(&path, text.replace(&ours, &theirs)).unwrap();
    }
    theirs
}

/// A machine without this field.
const YOUNGER: (&str, &str) = (
    "{\"name\":\"stalls\",\"kind\":\"count\",\"initial\":0,\"owned\":true},\n",
    "",
);
/// A machine with a phase that ours does not have.
const LONGER: (&str, &str) = (
    "{\"name\":\"done\",",
    "{\"name\":\"waiting\",\"stored\":\"waiting\",\"terminal\":false},\n{\"name\":\"done\",",
);

#[test]
fn a_start_keeps_the_shape_of_its_machine_where_git_does_not_see_it() {
    let project = Project::new();
    let id = project.start(&[]);
    let (shape, path) = own(&project, &id);
    assert_eq!(hash_of(&shape), project.field(&id, "graph_hash"));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let status = project
        .shell("git", &["status", "--porcelain"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
    project.answers(&["machine", "show"], 0, &project.field(&id, "graph_hash"));
}

#[test]
fn a_stop_of_our_own_version_does_not_read_the_shapes() {
    let (project, id) = Project::reviewing(&[]);
    let (_, path) = own(&project, &id);
    std::fs::remove_file(&path).unwrap();
    // Who opened this to read it would wait for ever.
    project
        .shell("mkfifo", &[path.to_str().unwrap()])
        .status()
        .unwrap();
    assert!(project.fire().blocked().contains("waiting for its review"));
}

#[test]
fn a_loop_of_a_version_that_is_safe_goes_on_and_becomes_ours() {
    let (project, id) = Project::reviewing(&[]);
    let theirs = age(&project, &id, &[YOUNGER]);
    project.run(&["status", &id]).exits(0).says("reviewing");
    assert_eq!(
        project.field(&id, "graph_hash"),
        theirs,
        "looking changes nothing"
    );
    project.edit(&id, "round: 1", "round: 2");
    let stop = project.fire();
    assert!(
        stop.note
            .clone()
            .unwrap_or_default()
            .contains("edited by hand")
    );
    assert!(stop.blocked().contains("waiting for its review"));
    let (shape, _) = own(&project, &id);
    assert_eq!(project.field(&id, "graph_hash"), hash_of(&shape));
    assert_ne!(hash_of(&shape), theirs);
    project.run(&["cancel", &id]).exits(0).says("cancelled");
    assert_eq!(project.changes(&id).last().unwrap(), "cancel");
}

#[test]
fn a_loop_of_a_version_that_cannot_go_on_lets_the_turn_end_and_may_be_given_up() {
    let (project, id) = Project::reviewing(&[]);
    let theirs = age(&project, &id, &[LONGER]);
    let ours = hash_of(&{
        let fresh = Project::new();
        let id = fresh.start(&[]);
        own(&fresh, &id).0
    });
    let before = project.state(&id);
    for _ in 0..2 {
        let note = project.fire().approved();
        for part in [
            theirs.as_str(),
            ours.as_str(),
            "`plan`",
            "the phase `waiting` was removed",
            &format!("give it up (its files are kept):\n    claudex-loop cancel {id}"),
        ] {
            assert!(note.contains(part), "{part}: {note}");
        }
    }
    project.run(&["list"]).exits(0).says("waiting` was removed");
    project
        .run(&["status", &id])
        .says("the phase `waiting` was removed");
    project
        .run(&["mark-done", &id])
        .exits(3)
        .says("the phase `waiting` was removed")
        .says("machine diff")
        .says("[[migrations]]")
        .says("or give it up (its files are kept):")
        .says(&format!("        claudex-loop cancel {id}"));
    project.answers(&["start", "plan", "another"], 1, "already active");
    assert_eq!(project.state(&id), before, "nothing was changed");

    project.answers_in("s1", &["cancel", &id], 0, "rolled-back");
    assert!(!project.state_path(&id).exists());
    let kept: Vec<_> = std::fs::read_dir(project.folder().join("rolled-back"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(
        std::fs::read_to_string(kept[0].join(format!("{id}.state"))).unwrap(),
        before
    );
    project.start(&[]);
}

#[test]
fn a_loop_whose_version_is_not_known_is_refused_readably_and_rolled_back() {
    let (project, id) = Project::reviewing(&[]);
    let theirs = age(&project, &id, &[YOUNGER]);
    let path = project.folder().join(format!("machines/{theirs}.json"));
    for (bytes, said) in [
        (
            Some(&b"{\"shape\":1}\x1b[2J\xff"[..]),
            "its digest is not its name",
        ),
        (None, "is missing"),
    ] {
        std::fs::remove_file(&path).unwrap();
        if let Some(bytes) = bytes {
            std::fs::write(&path, bytes).unwrap();
        }
        let note = project.fire().approved();
        assert!(note.contains(said) && !note.contains('\x1b'), "{note}");
        project.run(&["list"]).exits(0).says(said);
    }
    project.run(&["rollback", "--yes"]).exits(0);
    assert!(!project.state_path(&id).exists());
    project.start(&[]);
}

#[test]
fn a_loop_that_was_over_by_another_version_troubles_nobody() {
    let (project, id) = Project::reviewing(&[]);
    project.run(&["cancel", &id]).exits(0);
    age(&project, &id, &[LONGER]);
    assert_eq!(project.fire().approved(), "");
    project.start(&[]);
    project.run(&["list"]).exits(0).says("waiting` was removed");
}

// --- machine diff --------------------------------------------------------------------------------------------------

fn files(project: &Project, edits: &[(&str, &str)]) {
    let ours = include_str!("../../machine.toml");
    std::fs::write(project.root.join("old.toml"), ours).unwrap();
    let mut new = ours.to_owned();
    for (from, to) in edits {
        assert!(new.contains(from), "{from}");
        new = new.replace(from, to);
    }
    std::fs::write(project.root.join("new.toml"), new).unwrap();
}

#[test]
fn diff_says_what_is_safe_and_exits_0() {
    let project = Project::new();
    files(&project, &[]);
    let same = project
        .run(&["machine", "diff", "old.toml", "new.toml"])
        .exits(0);
    assert!(
        same.out.contains("The machines are the same"),
        "{}",
        same.out
    );
    project.answers(
        &["machine", "diff", "old.toml"],
        0,
        "The machines are the same",
    );
    files(
        &project,
        &[(
            "max_rounds       = { type = \"count\", initial = 3",
            "max_rounds = { type = \"count\", initial = 4",
        )],
    );
    project
        .run(&["machine", "diff", "old.toml", "new.toml"])
        .exits(0)
        .says("- the field `max_rounds` begins as 4, no longer as 3")
        .says("Loops on disk go on as they are.");
}

#[test]
fn the_entry_that_diff_prints_makes_the_change_go_through() {
    let project = Project::new();
    files(
        &project,
        &[
            ("drafting", "writing"),
            ("max-reached", "out-of-rounds"),
            ("failures", "faults"),
        ],
    );
    let ran = project
        .run(&["machine", "diff", "old.toml", "new.toml"])
        .exits(7)
        .says("needs a migration:")
        .says("the phase `drafting` was removed");
    let (_, entry) = ran.out.split_once("\n[[migrations]]").unwrap();
    let new = project.root.join("new.toml");
    let text = std::fs::read_to_string(&new).unwrap() + "\n\n[[migrations]]" + entry;
    std::fs::write(&new, text).unwrap();
    project.run(&["machine", "check", "new.toml"]).exits(0);
    let after = project
        .run(&["machine", "diff", "old.toml", "new.toml"])
        .exits(0)
        .says("migrated:")
        .says("an entry of `[[migrations]]` says how loops go on")
        .says("Loops on disk are migrated when they are opened.");
    assert!(!after.out.contains("needs a migration"), "{}", after.out);
}

#[test]
fn diff_exits_8_where_loops_cannot_go_on_and_prints_json() {
    let project = Project::new();
    files(&project, &[("\".claude/claudex\"", "\".claude/other\"")]);
    let ran = project
        .run(&["machine", "diff", "--json", "old.toml", "new.toml"])
        .exits(8);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["verdict"], "breaks");
    assert_eq!(json["new"]["file"], "new.toml");
    assert_eq!(json["old"]["graph_hash"].as_str().unwrap().len(), 16);
    assert_eq!(json["differences"][0]["verdict"], "breaks");
    assert_eq!(
        json["differences"][0]["what"],
        "the state folder `.claude/claudex` is `.claude/other` now"
    );
}

#[test]
fn diff_takes_the_shape_that_a_state_folder_keeps() {
    let (project, id) = Project::reviewing(&[]);
    let theirs = age(&project, &id, &[LONGER]);
    let path = format!(".claude/claudex/machines/{theirs}.json");
    project
        .run(&["machine", "diff", &path])
        .exits(7)
        .says("the phase `waiting` was removed")
        .says(&format!("from = \"{theirs}\""));
}

#[test]
fn diff_refuses_what_is_no_machine() {
    let project = Project::new();
    files(&project, &[("to   = \"cancelled\"", "to = \"canceled\"")]);
    project
        .run(&["machine", "diff", "old.toml", "new.toml"])
        .exits(1)
        .says("did you mean `cancelled`");
    project.run(&["machine", "diff", "none.toml"]).exits(2);
    for bytes in [&b"{}"[..], b"", b"\x1b]0;x\x07", b"[[[[[[", b"\xff"] {
        std::fs::write(project.root.join("x.json"), bytes).unwrap();
        let ran = project.run(&["machine", "diff", "x.json"]).exits(1);
        assert!(!ran.err.contains("\x1b]"), "{}", ran.err);
    }
    std::fs::create_dir(project.root.join("folder.json")).unwrap();
    project.run(&["machine", "diff", "folder.json"]).exits(2);
}
