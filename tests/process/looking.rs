//! Looking at loops and putting them away: status, list, journal, personas, doctor, rollback. A look changes nothing.

use crate::support::{Project, tree};
use serde_json::Value;

#[test]
fn status_tells_where_the_loop_is() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake:findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    let before = tree(&project.folder());
    let ran = project.run(&["status"]).exits(0);
    let value = |name: &str| {
        let line = ran
            .out
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}:")));
        line.unwrap_or_else(|| panic!("{name}: {}", ran.out))
            .trim()
            .to_owned()
    };
    assert_eq!(value("review_id"), id);
    assert_eq!(value("mode"), "plan");
    assert_eq!(value("phase"), "reviewing");
    assert!(value("round").starts_with("2 of 2"), "{}", ran.out);
    assert_eq!(value("topic"), "Move the queue");
    assert_eq!(value("decision"), "none");
    assert!(value("elapsed").ends_with('s'), "{}", ran.out);
    assert!(
        value("next").contains(&format!("claudex-loop review {id}")),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .contains("- Round 1 (Senior-engineer review): high=1 medium=1 low=1\n"),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .contains("- Round 2 (Security and data-integrity review): no findings file\n"),
        "{}",
        ran.out
    );
    let json: Value = serde_json::from_str(&project.run(&["status", "--json"]).exits(0).out).unwrap();
    assert_eq!(json["loops"][0]["review_id"], id);
    assert_eq!(tree(&project.folder()), before, "a look changes nothing");
}

#[test]
fn status_shows_the_active_loop_before_a_newer_one_that_is_over_and_the_newest_where_none_is() {
    let project = Project::new();
    let over = project.start(&[]);
    project.run(&["cancel", &over]).exits(0);
    project.run(&["status"]).exits(0).says(&over).says("cancelled");
    let active = project.start(&[]);
    let file = std::fs::File::options()
        .append(true)
        .open(project.state_path(&over))
        .unwrap();
    file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60))
        .unwrap();
    let ran = project.run(&["status"]).exits(0).says(&active);
    assert!(!ran.out.contains(&over), "{}", ran.out);
}

#[test]
fn status_exits_with_0_whatever_lies_in_the_state_folder() {
    let project = Project::new();
    std::fs::create_dir_all(project.folder()).unwrap();
    for (name, bytes) in [
        ("20261122-010203-0a1b2c.state", &b"\0"[..]),
        ("by hand.state", b"phase: drafting\n"),
        ("20261122-010203-0a1b2d.state", b"phase: done\nmachine: plan\n"),
        ("20261122-010203-0a1b2e.state", b"phase: done\nmachine: another\n"),
    ] {
        std::fs::write(project.folder().join(name), bytes).unwrap();
        project.run(&["status"]).exits(0);
        project.run(&["list"]).exits(0);
    }
}

#[test]
fn list_names_every_loop_and_json_is_all_there_is() {
    let project = Project::new();
    let first = project.start(&[]);
    project.run(&["cancel", &first]).exits(0);
    let second = project.start(&[]);
    crate::support::age(&project.state_path(&second), std::time::Duration::from_secs(3600));
    let third = project.start(&[]);
    project
        .run(&["list"])
        .exits(0)
        .says(&format!("{first}  cancelled"))
        .says(&format!("{third}  drafting"));
    let rows: Value = serde_json::from_str(&project.run(&["list", "--json"]).exits(0).out).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 3);
    let swept: Vec<_> = rows.iter().filter(|row| row["swept"] == true).collect();
    assert_eq!(swept[0]["review_id"], second);
}

#[test]
fn the_journal_tells_change_by_change_what_happened() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:findings").exits(0);
    project.mark_done(&id, Some("a \u{1b}[31mreason"));
    let ran = project.run(&["journal", &id]).exits(0);
    assert_eq!(ran.out.lines().count(), project.journal(&id).len());
    assert!(!ran.out.contains('\u{1b}'));
    for text in [
        "start by person",
        "begin by hook drafting -> reviewing",
        "mark_done by person in reviewing",
        "run-ended",
    ] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
    let json = project.run(&["journal", &id, "--json"]).exits(0).out;
    for line in json.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    project.run(&["journal", "20261122-010203-0a1b2c"]).exits(1);
    project.run(&["journal", "../x"]).exits(2);
}

#[test]
fn personas_are_listed_by_round() {
    let out = Project::new().run(&["personas"]).exits(0).out;
    let rounds: Vec<_> = out.lines().filter(|line| line.starts_with("Round ")).collect();
    assert_eq!(
        rounds,
        [
            "Round 1: Senior-engineer review",
            "Round 2: Security and data-integrity review",
            "Round 3 and later: Ops and SRE review"
        ]
    );
}

#[test]
fn doctor_exits_with_1_when_a_required_check_fails_and_makes_nothing() {
    let project = Project::new();
    let before = tree(&project.root);
    project.run(&["doctor"]).exits(0);
    let checks: Value = serde_json::from_str(&project.run(&["doctor", "--json"]).exits(0).out).unwrap();
    assert!(
        checks.as_array().unwrap().iter().all(|check| check["ok"] == true),
        "{checks}"
    );
    assert_eq!(tree(&project.root), before);
    let project = project.with("CLAUDEX_REVIEWER", "nobody");
    let ran = project
        .run(&["doctor"])
        .exits(1)
        .says("FAIL  reviewer")
        .says("->");
    assert!(ran.out.contains("`nobody` is no reviewer"), "{}", ran.out);
}

#[test]
fn rollback_takes_everything_of_every_loop_and_keeps_the_log_and_the_bytes() {
    let (project, first) = Project::reviewing(&[]);
    project.review(&first, "fake:findings").exits(0);
    let findings = std::fs::read(project.findings(&first, 1)).unwrap();
    project.run(&["cancel", &first]).exits(0);
    let second = project.start(&[]);
    project
        .run(&["rollback", "--yes"])
        .exits(0)
        .says(&first)
        .says(&second);
    for entry in std::fs::read_dir(project.folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            ["log", ".lock", ".gitignore", "rolled-back"].contains(&name.as_str()),
            "{name}"
        );
    }
    let moved = tree(&project.folder().join("rolled-back"));
    assert!(moved.iter().any(|(_, bytes)| bytes.as_ref() == Some(&findings)));
    assert_eq!(project.fire().approved(), "");
    project
        .run(&["rollback", "--yes"])
        .exits(0)
        .says("no claudex loops");
    project.start(&[]);
}

#[test]
fn git_does_not_see_the_state_folder() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:findings").exits(0);
    let mut git = project.shell("git", &["status", "--porcelain", "--untracked-files=all"]);
    let ran = crate::support::Ran::of(git.output().unwrap()).exits(0);
    assert_eq!(ran.out, "?? PLAN.md\n");
}

#[test]
fn rollback_waits_for_a_review_that_is_running() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, &["--reviewer", "fake:hang"]);
    let before = project.state(&id);
    project.run(&["rollback", "--yes"]).exits(1).says(&id);
    assert_eq!(project.state(&id), before, "nothing was moved");
    drop(review);
    crate::support::wait_for("the end of the review", || {
        project.run(&["rollback", "--yes"]).code == 0
    });
    assert!(!project.state_path(&id).exists());
}

#[test]
fn a_start_in_the_way_of_a_loop_that_cannot_be_driven_names_a_way_that_works() {
    let project = Project::new();
    std::fs::create_dir_all(project.folder()).unwrap();
    let foreign = project.folder().join("20250101-000000-abcdef.state");
    std::fs::write(
        &foreign,
        "mode: plan\nphase: reviewing\ntopic: \"x\"\nround: 1\nmax_rounds: 3\n",
    )
    .unwrap();
    let refused = project.run(&["start", "plan", "topic"]).exits(1);
    assert!(refused.err.contains("already active"), "{}", refused.err);
    assert!(
        refused.err.contains("claudex-loop rollback") && !refused.err.contains("claudex-loop cancel"),
        "cancel could not open it: {}",
        refused.err
    );
    project.run(&["rollback", "--yes"]).exits(0);
    project.run(&["start", "plan", "topic"]).exits(0);
}
