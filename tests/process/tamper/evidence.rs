//! Evidence edited or made up by hand.

use crate::support::Project;
use serde_json::json;

#[test]
fn findings_edited_into_a_better_verdict_are_no_evidence() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let twin = project.findings(&id, 1).with_extension("json");
    let text = std::fs::read_to_string(&twin).unwrap();
    let mut clean: serde_json::Value = serde_json::from_str(&text).unwrap();
    clean["verdict"] = json!("clean");
    clean["findings"] = json!([]);
    std::fs::write(&twin, clean.to_string()).unwrap();

    project.answers(&["mark-done", &id], 1, "not those of its run any more");
    let reason = project.fire().blocked();
    assert!(
        reason.contains("round 1 of 3 is waiting for its review"),
        "{reason}"
    );
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.review(&id, "fake-findings").exits(0);
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
    project.answers(&["mark-done", &id], 1, "was not reviewed yet");

    project.review(&id, "fake-findings").exits(0);
    std::fs::write(
        project.findings(&id, 1),
        "# Round 1 findings\n\nNo substantive findings.\n",
    )
    .unwrap();
    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("high=1 medium=1");
    assert!(!project.fire().blocked().contains("plan loop complete"));
}

#[test]
fn findings_of_another_loop_are_no_evidence() {
    let (project, first) = Project::reviewing(&[]);
    project.review(&first, "fake-clean").exits(0);
    project.run(&["cancel", &first]).exits(0);
    let second = project.start(&["--from-draft"]);
    project.fire().blocked();
    for name in ["findings-round-1.md", "findings-round-1.json"] {
        let folder = project.folder();
        std::fs::copy(
            folder.join(&first).join(name),
            folder.join(&second).join(name),
        )
        .unwrap();
    }
    project.answers(&["mark-done", &second], 1, "was not reviewed yet");
}

#[test]
fn a_journal_with_a_forged_run_for_the_old_round_proves_nothing_for_this_one() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-low").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    assert_eq!(project.field(&id, "round"), "2");
    project.answers(&["mark-done", &id], 1, "round 2 was not reviewed yet");
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

#[test]
fn a_line_forged_in_mid_journal_is_found_before_the_loop_is_over() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.folder().join(&id).join("journal.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let first = text.split_inclusive('\n').next().unwrap();
    std::fs::write(&path, [first, &text].concat()).unwrap();
    let forged = project.run(&["journal", &id, "--verify"]).exits(1);
    forged
        .says("lines that nobody can read, or that no change made: 2")
        .says(&id);
    project.run(&["doctor"]).says("or that no change made: 2");
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    assert_eq!(
        project.field(&id, "phase"),
        "summarizing",
        "a stop reads the end alone"
    );

    let note = project.fire().approved();
    assert!(
        note.contains("was taken out of the journal") && note.contains(" (1 line); "),
        "{note}"
    );
    assert_eq!(
        project.field(&id, "phase"),
        "summarizing",
        "nothing else was done"
    );
    assert_eq!(project.quarantine().len(), 1);
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    let verified = project.run(&["journal", &id, "--verify"]).exits(0);
    verified.says("each change follows from the one before it");
}

#[test]
fn a_forged_round_that_nobody_counts_to_costs_a_command_nothing() {
    for (round, is_read) in [
        ("999999999", true),
        ("9007199254740991", true),
        ("18446744073709551615", false),
    ] {
        let (project, id) = Project::reviewing(&[]);
        let path = project.folder().join(&id).join("journal.jsonl");
        for (file, field) in [(path, "\"round\":"), (project.state_path(&id), "\nround: ")] {
            let text = std::fs::read_to_string(&file).unwrap();
            let (before, after) = text.rsplit_once(&format!("{field}1")).unwrap();
            std::fs::write(&file, format!("{before}{field}{round}{after}")).unwrap();
        }
        if is_read {
            project.review(&id, "fake-clean").exits(0);
        }
        project.run(&["status", &id]).exits(0);
        project.fire().blocked();
        assert_eq!(
            project.field(&id, "round"),
            if is_read { round } else { "1" }
        );
    }
}
