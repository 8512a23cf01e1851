//! What is killed, starved or locked out in the middle.

use crate::support::{Background, Project, Stop, descendants, feed, kill, tree, wait_for};
use serde_json::json;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn a_review_that_is_killed_is_taken_up_by_the_same_line() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, &["--reviewer", "fake-hang"]);
    let orphans = descendants(review.id());
    review.signal("KILL");
    assert_eq!(review.end().code, 128 + 9);

    // The reviewer may still be there; it holds nothing.
    let reason = project.fire().blocked();
    assert!(reason.contains("is waiting for its review"), "{reason}");
    let runner = project.folder().join(format!("{id}-runner.sh"));
    let mut shell = project.shell("sh", &[runner.to_str().unwrap(), "--reviewer", "fake-findings"]);
    crate::support::Ran::of(shell.output().unwrap())
        .exits(0)
        .says("high=1 medium=1 low=1");
    orphans.into_iter().for_each(kill);

    assert_eq!(project.runs(&id), 2);
    assert_eq!(
        project.field(&id, "failures"),
        "0",
        "a kill is no failure of the reviewer"
    );
    project.plan("# Plan, revised\n");
    assert!(project.fire().blocked().contains("round 2 of 3"));
    assert_eq!(project.quarantine(), []);
}

#[test]
fn a_stop_that_is_killed_at_any_moment_leaves_a_loop_that_the_next_stop_drives() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    let input = json!({"session_id": "s1", "cwd": project.root, "hook_event_name": "Stop"}).to_string();
    // How long an undisturbed stop takes here, to aim the kills at all of it.
    let begun = Instant::now();
    project.fire().blocked();
    let usual = begun.elapsed().max(Duration::from_millis(4));
    for kill_at in 0..24 {
        project.run(&["resume", &id]).exits(0);
        let before = project.journal(&id).len();
        let journal = project.folder().join(&id).join("journal.jsonl");
        let length = std::fs::metadata(&journal).unwrap().len();
        let mut command = project.command(&["hook", "stop"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
        if kill_at % 2 == 0 {
            while begun.elapsed() < usual * kill_at / 20 {
                std::hint::spin_loop();
            }
        } else {
            // At the moment that matters most: the journal has the change, the state file may not have it yet.
            while std::fs::metadata(&journal).unwrap().len() == length
                && begun.elapsed() < crate::support::PATIENCE
            {
                std::hint::spin_loop();
            }
        }
        let _ = child.kill();
        drop(Background::of(child));

        let stop = project.fire();
        assert_eq!(
            project.quarantine(),
            [],
            "a kill is no edit by hand: {:?}",
            stop.note
        );
        // Either the killed stop had not reminded yet, or it had and this one lets the turn end.
        let journal = project.journal(&id);
        let reminded = journal.len() - before;
        assert_eq!(reminded, 1, "once, whoever did it");
        let revisions: Vec<_> = journal
            .iter()
            .filter_map(|entry| entry["revision"].as_u64())
            .collect();
        assert!(
            revisions.iter().copied().eq(1..=revisions.len() as u64),
            "{revisions:?}"
        );
        assert_eq!(project.field(&id, "revision"), revisions.len().to_string());
        assert_eq!(project.field(&id, "reminders"), "1");
    }
    project.review(&id, "fake-clean").exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
    project.fire().approved();
    let temporary = |name: &str| name.starts_with(".loop-tmp-");
    let strays = tree(&project.folder())
        .iter()
        .filter(|(path, _)| path.file_name().unwrap().to_str().is_some_and(temporary))
        .count();
    assert!(strays <= 24, "at most one for each kill, for the sweep to remove");
}

#[test]
fn a_kill_before_anything_was_read_changes_nothing() {
    let (project, id) = Project::reviewing(&[]);
    let before = project.state(&id);
    let mut command = project.command(&["hook", "stop"]);
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let waiting = Background::of(child);
    waiting.signal("KILL");
    waiting.end();
    assert_eq!(project.state(&id), before);
    project.fire().blocked();
}

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
    let note = Stop::read(&feed(project.on_a_full_disk(&["hook", "stop"]), input.as_bytes())).approved();
    assert!(note.contains(&id) && note.contains("was left as it is"), "{note}");
    assert_eq!(tree(&project.folder()), before);

    let review = ["review", &id, "--reviewer", "fake-clean"];
    crate::support::Ran::of(project.on_a_full_disk(&review).output().unwrap()).exits(3);
    crate::support::Ran::of(project.on_a_full_disk(&["cancel", &id]).output().unwrap()).exits(1);
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.review(&id, "fake-clean").exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
    assert_eq!(project.quarantine(), []);
}
