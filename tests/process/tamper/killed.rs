//! What is killed, starved or locked out in the middle.

use crate::support::{Project, Stop, feed, tree, wait_for};
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
    assert!(
        note.contains(&id) && note.contains("was left as it is"),
        "{note}"
    );
    assert_eq!(tree(&project.folder()), before);

    let review = ["review", &id, "--reviewer", "fake-clean"];
    crate::support::Ran::of(project.on_a_full_disk(&review).output().unwrap()).exits(3);
    crate::support::Ran::of(project.on_a_full_disk(&["cancel", &id]).output().unwrap()).exits(1);
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.review(&id, "fake-clean").exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
    assert_eq!(project.replaced(&id), []);
}

#[test]
fn loop_on_a_full_file_system_goes_on_afterwards() {
    let (project, id) = Project::reviewing(&[]);
    let (before, journal) = (project.state(&id), project.journal(&id));
    let script = r#"
        set -e
        mkdir loops && cp -R .claude/claudex/. loops
        mount -t tmpfs -o size=1m none .claude/claudex || exit 9
        cp -R loops/. .claude/claudex
        head -c 2000000 /dev/zero > .claude/claudex/fill 2>/dev/null || true
        printf '%s' "$1" | claudex-loop hook stop
        echo
        claudex-loop cancel "$2" 2>&1 && exit 8
        rm .claude/claudex/fill
        cat ".claude/claudex/$2.state" ".claude/claudex/$2/journal.jsonl" > kept
        printf '%s' "$1" | claudex-loop hook stop
    "#;
    let input = json!({"session_id": "s1", "cwd": project.root}).to_string();
    let mount = [
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
    ];
    let mut command = project.shell("unshare", &[&mount[..], &[&input, &id]].concat());
    let Ok(ran) = command.output() else { return };
    if ran.status.code() == Some(9) || ran.stdout.is_empty() {
        // This system mounts nothing for a test; the limit of a file's size above shows the same.
        return;
    }
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let (full, free) = (said.lines().next().unwrap(), said.lines().last().unwrap());
    assert!(
        full.contains("\"approve\"") && full.contains("was left as it is"),
        "{full}"
    );
    assert!(free.contains("is waiting for its review"), "{free}");
    let kept = std::fs::read_to_string(project.root.join("kept")).unwrap();
    assert!(kept.starts_with(&before), "{kept}");
    let changes = kept
        .lines()
        .filter(|line| line.starts_with("{\"revision\":"));
    let before = journal.iter().filter(|line| line["revision"].is_u64());
    assert_eq!(changes.count(), before.count());
}
