//! What is edited by hand, broken or killed: it is found out, nothing is lost, and the loop goes on.

mod support;

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use support::{Background, Project, Stop, descendants, feed, kill, tree, wait_for};

// --- the state file edited by hand -------------------------------------------------------------------------------

#[test]
fn a_field_of_the_machine_edited_by_hand_is_set_back_and_the_person_is_told() {
    for (field, from, to) in [
        ("phase", "phase: reviewing", "phase: done"),
        ("phase", "phase: reviewing", "phase: summarizing"),
        ("phase", "phase: reviewing", "phase: nonsense"),
        ("round", "round: 1", "round: 2"),
        ("max_rounds", "max_rounds: 3", "max_rounds: 99"),
        (
            "decision_signal",
            "decision_signal: none",
            "decision_signal: no-material-findings",
        ),
        ("reminders", "reminders: 0", "reminders: -1"),
        ("failures", "failures: 0", "failures: \"two\""),
        ("revision", "\nrevision: ", "\nrevision: 9"),
    ] {
        let (project, id) = Project::reviewing(&[]);
        let before = project.field(&id, field);
        project.edit(&id, from, to);
        let edited = std::fs::read(project.state_path(&id)).unwrap();

        let stop = project.fire();
        let note = stop.note.clone().unwrap_or_default();
        assert!(
            note.contains("edited by hand") && note.contains(field),
            "the person reads which field: {note}"
        );
        let quarantine = project.quarantine();
        assert_eq!(quarantine.len(), 1, "{quarantine:?}");
        let (path, bytes) = &quarantine[0];
        assert_eq!(bytes, &edited, "its bytes are kept");
        assert!(
            note.contains(path.file_name().unwrap().to_str().unwrap()),
            "and where: {note}"
        );

        assert!(
            stop.blocked().contains("waiting for its review"),
            "{field}: the journal's state goes on"
        );
        if field != "reminders" && field != "revision" {
            assert_eq!(project.field(&id, field), before);
        }
        assert_eq!(project.field(&id, "phase"), "reviewing");
        project.fire().approved();
        assert_eq!(project.quarantine().len(), 1, "it is told once");
    }
}

#[test]
fn verbs_and_status_find_an_edit_out_as_well() {
    let (project, id) = Project::reviewing(&[]);
    project.edit(
        &id,
        "decision_signal: none",
        "decision_signal: no-material-findings",
    );
    project.run(&["mark-done", &id]).exits(1).says("edited by hand");
    assert_eq!(project.field(&id, "decision_signal"), "none");

    project.edit(&id, "phase: reviewing", "phase: cancelled");
    project.run(&["status"]).exits(0).says("edited by hand");
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.edit(&id, "phase: reviewing", "phase: done");
    project
        .run(&["start", "plan", "x"])
        .exits(1)
        .says("already active");
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn what_the_machine_does_not_own_may_be_edited() {
    let project = Project::new();
    let id = project.start(&[]);
    project.edit(&id, "topic: \"Move the queue\"", "topic: \"Move both queues\"");
    let text = format!("# a comment\n{}my_note: keep me\n", project.state(&id));
    std::fs::write(project.state_path(&id), text).unwrap();
    project.fire().blocked();
    let text = project.state(&id);
    assert!(
        text.starts_with("# a comment\n") && text.contains("\nmy_note: keep me\n"),
        "{text}"
    );
    assert!(text.contains("\ntopic: \"Move both queues\"\n"), "{text}");
    assert_eq!(project.quarantine(), []);
}

#[test]
fn a_state_file_that_is_broken_or_gone_is_rebuilt_from_the_journal() {
    let broken: [&[u8]; 5] = [
        b"",
        b"\0\0\0\0",
        b"phase: [\n",
        b"\xff\xfe\xfd",
        b"{\"phase\": \"done\"}",
    ];
    for bytes in broken {
        let (project, id) = Project::reviewing(&[]);
        let whole = project.state(&id);
        std::fs::write(project.state_path(&id), bytes).unwrap();
        let stop = project.fire();
        let note = stop.note.clone().unwrap_or_default();
        assert!(note.contains("rebuilt"), "{bytes:?}: {note}");
        stop.blocked();
        assert_eq!(project.quarantine()[0].1, bytes);
        let revision = |text: &str| support::yaml(text)["revision"].as_u64().unwrap();
        assert_eq!(
            revision(&project.state(&id)),
            revision(&whole) + 1,
            "and it went on"
        );
    }

    let (project, id) = Project::reviewing(&[]);
    std::fs::remove_file(project.state_path(&id)).unwrap();
    project.run(&["status"]).exits(0);
    project.run(&["resume", &id]).exits(0);
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn a_broken_state_file_without_a_journal_is_set_aside_with_its_name_and_the_reason() {
    let project = Project::new();
    let id = "20261122-010203-0a1b2c";
    std::fs::create_dir_all(project.folder()).unwrap();
    std::fs::write(project.state_path(id), b"\0 no state at all").unwrap();
    let note = project.fire().approved();
    assert!(note.contains(&format!("{id}.state")), "which file: {note}");
    let quarantine = project.quarantine();
    assert_eq!(quarantine.len(), 1);
    assert_eq!(quarantine[0].1, b"\0 no state at all");
    assert!(!project.state_path(id).exists());
    assert_eq!(project.fire().approved(), "", "it is told once");
    project.start(&[]);
}

#[test]
fn what_is_put_right_beside_ones_own_loop_is_told_as_well() {
    let (project, id) = Project::reviewing(&[]);
    let other = "20261122-010203-0a1b2c";
    std::fs::write(project.state_path(other), b"\0").unwrap();
    let stop = project.fire();
    let note = stop.note.clone().unwrap_or_default();
    assert!(
        note.contains(&format!("{other}.state")) && note.contains("quarantine"),
        "{note}"
    );
    assert!(stop.blocked().contains(&id), "and the own loop goes on");
    assert_eq!(
        project.fire().note.unwrap_or_default().matches(other).count(),
        0,
        "once"
    );

    std::fs::write(project.state_path(&id), b"\0").unwrap();
    assert_eq!(
        project.fire_as("another session").approved(),
        "",
        "it is not theirs"
    );
    let note = project.fire().note.unwrap_or_default();
    assert!(note.contains("rebuilt"), "its own session is told: {note}");
}

#[test]
fn a_start_that_sets_a_broken_state_aside_says_so() {
    let project = Project::new();
    let id = "20261122-010203-0a1b2c";
    std::fs::create_dir_all(project.folder()).unwrap();
    std::fs::write(project.state_path(id), b"\0").unwrap();
    project
        .run(&["start", "plan", "x"])
        .exits(0)
        .says(&format!("{id}.state"))
        .says("quarantine");
}

#[test]
fn a_state_file_of_ours_without_its_journal_is_never_driven() {
    let (project, id) = Project::reviewing(&[]);
    std::fs::remove_file(project.folder().join(&id).join("journal.jsonl")).unwrap();
    let before = project.state(&id);
    for _ in 0..2 {
        let note = project.fire().approved();
        assert!(note.contains("journal"), "{note}");
    }
    project.run(&["mark-done", &id]).exits(3).says("journal");
    project.run(&["review", &id, "--reviewer", "fake:clean"]).exits(3);
    assert_eq!(project.state(&id), before);

    // It does not keep the next loop from being started, and it is not lost.
    project.start(&[]);
    assert!(
        project
            .quarantine()
            .iter()
            .any(|(_, bytes)| bytes == before.as_bytes()),
        "{:?}",
        project.quarantine()
    );
}

#[test]
fn a_state_that_git_tracks_drives_nobody() {
    let (project, id) = Project::reviewing(&[]);
    project.git(&["add", "--force", ".claude"]);
    let before = project.state(&id);
    let note = project.fire().approved();
    assert!(note.contains("git tracks it"), "{note}");
    assert_eq!(project.state(&id), before);
}

#[test]
fn a_state_that_is_a_symlink_drives_nobody() {
    let (project, id) = Project::reviewing(&[]);
    let elsewhere = project.home.join("elsewhere");
    std::fs::rename(project.state_path(&id), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, project.state_path(&id)).unwrap();
    let before = std::fs::read(&elsewhere).unwrap();
    let note = project.fire().approved();
    assert!(note.contains("symlink"), "{note}");
    assert_eq!(std::fs::read(&elsewhere).unwrap(), before);
}

// --- evidence edited by hand -------------------------------------------------------------------------------------

#[test]
fn findings_edited_into_a_better_verdict_are_no_evidence() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:findings").exits(0);
    let twin = project.findings(&id, 1).with_extension("json");
    let text = std::fs::read_to_string(&twin).unwrap();
    let mut clean: serde_json::Value = serde_json::from_str(&text).unwrap();
    clean["verdict"] = json!("clean");
    clean["findings"] = json!([]);
    std::fs::write(&twin, clean.to_string()).unwrap();

    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("not those of its run any more");
    let reason = project.fire().blocked();
    assert!(
        reason.contains("round 1 of 3 is waiting for its review"),
        "{reason}"
    );
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.review(&id, "fake:findings").exits(0);
    assert_eq!(project.runs(&id), 2, "the round is reviewed anew");
    project.mark_done(&id, Some("on purpose"));
}

#[test]
fn the_findings_for_people_are_no_evidence_either_way() {
    let (project, id) = Project::reviewing(&[]);
    std::fs::write(
        project.findings(&id, 1),
        "# Round 1 findings\n\nNo substantive findings.\n",
    )
    .unwrap();
    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("was not reviewed yet");

    project.review(&id, "fake:findings").exits(0);
    std::fs::write(
        project.findings(&id, 1),
        "# Round 1 findings\n\nNo substantive findings.\n",
    )
    .unwrap();
    project.run(&["mark-done", &id]).exits(1).says("high=1 medium=1");
    assert!(!project.fire().blocked().contains("plan loop complete"));
}

#[test]
fn findings_of_another_loop_are_no_evidence() {
    let (project, first) = Project::reviewing(&[]);
    project.review(&first, "fake:clean").exits(0);
    project.run(&["cancel", &first]).exits(0);
    let second = project.start(&["--from-draft"]);
    project.fire().blocked();
    for name in ["findings-round-1.md", "findings-round-1.json"] {
        let folder = project.folder();
        std::fs::copy(folder.join(&first).join(name), folder.join(&second).join(name)).unwrap();
    }
    project
        .run(&["mark-done", &second])
        .exits(1)
        .says("was not reviewed yet");
}

#[test]
fn a_journal_with_a_forged_run_for_the_old_round_proves_nothing_for_this_one() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:low").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    assert_eq!(project.field(&id, "round"), "2");
    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("round 2 was not reviewed yet");
}

#[test]
fn a_torn_last_line_of_the_journal_is_cut_and_the_loop_goes_on() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.folder().join(&id).join("journal.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"revision\":99,\"at\":\"2026-");
    std::fs::write(&path, bytes).unwrap();
    project.fire().blocked();
    assert_eq!(project.changes(&id).last().unwrap(), "remind");
}

// --- helpers that would go past the machine ----------------------------------------------------------------------

#[test]
fn a_field_that_the_machine_owns_is_not_set_by_a_helper() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.state_path(&id);
    let path = path.to_str().unwrap();
    let before = project.state(&id);
    for (field, value) in [
        ("phase", "done"),
        ("round", "2"),
        ("max_rounds", "9"),
        ("decision_signal", "no-material-findings"),
        ("reminders", "0"),
        ("failures", "0"),
        ("max_failures", "9"),
        ("plan", "another.md"),
        ("plan_before", "0"),
        ("revision", "1"),
        ("machine", "other"),
        ("graph_hash", "0"),
        ("review_id", "20261122-010203-0a1b2c"),
        ("repo_root", "/"),
        ("session_id", "s2"),
    ] {
        project
            .run(&["state", "set", path, field, value])
            .exits(1)
            .says(field);
        assert_eq!(project.state(&id), before, "{field}");
    }
    project.run(&["state", "set", path, "topic", "another"]).exits(0);
    assert_eq!(project.field(&id, "topic"), "another");
    assert_eq!(
        project.changes(&id).last().unwrap(),
        "set-field",
        "the rest is journaled"
    );
    assert_eq!(project.quarantine(), []);
    project.fire().blocked();
    assert_eq!(project.quarantine(), [], "and it is no edit by hand");
}

#[test]
fn with_optional_evidence_a_helper_may_set_what_the_seeds_scripts_set_but_never_the_phase() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.state_path(&id);
    let path = path.to_str().unwrap();
    let project = project.with("CLAUDEX_EVIDENCE", "optional");
    project.run(&["state", "set", path, "phase", "done"]).exits(1);
    project
        .run(&["state", "set", path, "decision_signal", "no-material-findings"])
        .exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
}

#[test]
fn a_helper_moves_a_loop_along_declared_edges_that_need_no_evidence() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.state_path(&id);
    let path = path.to_str().unwrap();
    let before = (project.state(&id), project.journal(&id));
    for (from, to) in [
        ("reviewing", "done"),
        ("reviewing", "drafting"),
        ("reviewing", "summarizing"),
        ("reviewing", "errored"),
        ("reviewing", "nonsense"),
        ("drafting", "reviewing"),
        ("drafting", "cancelled"),
        ("", ""),
    ] {
        project.run(&["state", "move", path, from, to]).exits(1);
        assert_eq!(
            (project.state(&id), project.journal(&id)),
            before,
            "{from} -> {to}"
        );
    }
    project
        .run(&["state", "move", path, "reviewing", "cancelled"])
        .exits(0);
    assert_eq!(project.field(&id, "phase"), "cancelled");
    assert_eq!(project.changes(&id).last().unwrap(), "cancel");
}

#[test]
fn a_loop_of_ours_is_not_written_whole() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.state_path(&id);
    let before = project.state(&id);
    project
        .run_with_stdin(&["state", "write", path.to_str().unwrap()], b"phase: done\n")
        .exits(1);
    assert_eq!(project.state(&id), before);
}

#[test]
fn a_loop_that_is_over_is_not_cancelled_and_no_byte_changes() {
    type Bring = fn(&Project, &str);
    let over: [(&str, Bring); 3] = [
        ("done", |project, id| {
            project.review(id, "fake:clean").exits(0);
            project.fire().blocked();
            project.fire().approved();
        }),
        ("cancelled", |project, id| {
            project.run(&["cancel", id]).exits(0);
        }),
        ("errored", |project, id| {
            for _ in 0..3 {
                project.review(id, "fake:crash").exits(5);
                project.fire();
            }
        }),
    ];
    for (phase, bring_there) in over {
        let (project, id) = Project::reviewing(&[]);
        bring_there(&project, &id);
        assert_eq!(project.field(&id, "phase"), phase);
        let bytes = || {
            let journal = project.folder().join(&id).join("journal.jsonl");
            [
                std::fs::read(project.state_path(&id)).unwrap(),
                std::fs::read(journal).unwrap(),
            ]
        };
        let before = bytes();
        project.run(&["cancel", &id]).exits(1).says("cancel");
        project.run(&["mark-done", &id]).exits(1);
        assert!(bytes() == before, "{phase}");
        project.fire().approved();
        assert!(bytes() == before, "{phase}");
    }
}

// --- killed ------------------------------------------------------------------------------------------------------

#[test]
fn a_review_that_is_killed_is_taken_up_by_the_same_line() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, &["--reviewer", "fake:hang"]);
    let orphans = descendants(review.id());
    review.signal("KILL");
    assert_eq!(review.end().code, 128 + 9);

    // The reviewer may still be there; it holds nothing.
    let reason = project.fire().blocked();
    assert!(reason.contains("is waiting for its review"), "{reason}");
    let runner = project.folder().join(format!("{id}-runner.sh"));
    let mut shell = project.shell("sh", &[runner.to_str().unwrap(), "--reviewer", "fake:findings"]);
    support::Ran::of(shell.output().unwrap())
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
        let mut command = project.command(&["stop"]);
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
            while std::fs::metadata(&journal).unwrap().len() == length && begun.elapsed() < support::PATIENCE
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
    project.review(&id, "fake:clean").exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
    project.fire().approved();
    let temporary = |name: &str| name.starts_with(".claudex-tmp-");
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
    let mut command = project.command(&["stop"]);
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
        begun.elapsed() < support::PATIENCE,
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
    let note = Stop::read(&feed(project.on_a_full_disk(&["stop"]), input.as_bytes())).approved();
    assert!(note.contains(&id) && note.contains("was left as it is"), "{note}");
    assert_eq!(tree(&project.folder()), before);

    let review = ["review", &id, "--reviewer", "fake:clean"];
    support::Ran::of(project.on_a_full_disk(&review).output().unwrap()).exits(3);
    support::Ran::of(project.on_a_full_disk(&["cancel", &id]).output().unwrap()).exits(1);
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.review(&id, "fake:clean").exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
    assert_eq!(project.quarantine(), []);
}
