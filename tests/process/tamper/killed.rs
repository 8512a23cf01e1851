//! What is killed, starved or locked out in the middle.

use crate::support::{Project, Stop, feed, has, tree, wait_for};
use serde_json::json;
use std::time::Instant;

#[test]
fn a_lock_that_is_held_lets_the_turn_end_and_says_why() {
    let (project, id) = Project::reviewing(&[]);
    let before = project.state(&id);
    let lock = std::fs::File::options()
        .read(true)
        .write(true)
        .open(project.folder().join(".lock"))
        .unwrap();
    lock.lock().unwrap();
    let begun = Instant::now();
    let stop: Stop = project.fire();
    let note = stop.approved();
    assert!(note.contains("lock"), "{note}");
    assert!(
        begun.elapsed() < crate::support::PATIENCE,
        "well below the hook's own limit"
    );
    assert_eq!(project.state(&id), before);
    drop(lock);
    wait_for("the lock to be free", || project.fire().reason.is_some());
}

#[test]
fn on_a_full_disk_the_turn_ends_the_person_reads_why_and_nothing_is_lost() {
    let (project, id) = Project::reviewing(&[]);
    let before = tree(&project.folder());
    let input = json!({"session_id": "s1", "cwd": project.root}).to_string();
    let note = Stop::read(&feed(
        project.on_a_full_disk(&["hook", "stop"]),
        input.as_bytes(),
    ))
    .approved();
    has(&note, &id);
    has(&note, "was left as it is");
    assert_eq!(tree(&project.folder()), before);

    let review = ["review", &id, "--reviewer", "fake-clean"];
    crate::support::Ran::of(project.on_a_full_disk(&review).output().unwrap()).exits(3);
    crate::support::Ran::of(project.on_a_full_disk(&["cancel", &id]).output().unwrap()).exits(1);
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.review(&id, "fake-clean").exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
    assert_eq!(project.replaced(&id), []);
}
