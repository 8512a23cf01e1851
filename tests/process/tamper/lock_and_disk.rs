//! A held lock and a full disk.

use std::time::Instant;

use serde_json::json;

use crate::support::{Project, Ran, Stop, WAIT_TIMEOUT, feed, has, tree, wait_for};

#[test]
fn held_lock_lets_the_turn_end() {
    let (project, id) = Project::reviewing(&[]);
    let before = project.state(&id);
    let lock = project.folder().join(".lock");
    let lock = std::fs::File::options()
        .read(true)
        .write(true)
        .open(lock)
        .unwrap();
    lock.lock().unwrap();
    let begun = Instant::now();
    has(&project.fire().approved(), "lock");
    assert!(
        begun.elapsed() < WAIT_TIMEOUT,
        "well below the hook's own limit"
    );
    assert_eq!(project.state(&id), before);
    drop(lock);
    wait_for("the lock to be free", || project.fire().reason.is_some());
}

#[test]
fn full_disk_ends_the_turn_and_loses_nothing() {
    let (project, id) = Project::reviewing(&[]);
    let before = tree(&project.folder());
    let input = json!({"session_id": "s1", "cwd": project.root}).to_string();
    let stop = project.on_a_full_disk(&["hook", "stop"]);
    let note = Stop::read(&feed(stop, input.as_bytes())).approved();
    has(&note, &id);
    has(&note, "was left as it is");
    assert_eq!(tree(&project.folder()), before);

    let starved = |line: &[&str], code: i32| {
        Ran::new(project.on_a_full_disk(line).output().unwrap()).exits(code);
    };
    starved(&["review", &id, "--reviewer", "fake-clean"], 3);
    starved(&["cancel", &id], 1);
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.review(&id, "fake-clean").exits(0);
    has(&project.fire().blocked(), "plan loop complete");
    assert_eq!(project.replaced(&id), []);
}
