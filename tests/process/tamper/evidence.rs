//! Evidence edited or made up by hand.

use crate::support::Project;
use claudex_loop::review::Digest;
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
fn forged_findings_without_end_cost_stop_nothing() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let twin = project.findings(&id, 1).with_extension("json");
    let text = std::fs::read_to_string(&twin).unwrap();
    let mut many: serde_json::Value = serde_json::from_str(&text).unwrap();
    let finding = |number| json!({"id": format!("F{number}"), "severity": "high", "what": format!("w{number}")});
    many["findings"] = (0..60_000).map(finding).collect();
    let forged = many.to_string();
    std::fs::write(&twin, &forged).unwrap();
    let journal = project.folder().join(&id).join("journal.jsonl");
    let lines = std::fs::read_to_string(&journal).unwrap();
    let digest = |text: &str| Digest::of(text.as_bytes()).to_string();
    std::fs::write(&journal, lines.replace(&digest(&text), &digest(&forged))).unwrap();

    let begun = std::time::Instant::now();
    let reason = project.fire().blocked();
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
    assert!(
        reason.contains("round 1 of 3 is waiting for its review"),
        "{reason}"
    );
}

#[test]
fn forged_notes_without_end_cost_stop_one_line() {
    let (project, id) = Project::reviewing(&[]);
    let journal = project.folder().join(&id).join("journal.jsonl");
    let note = json!({"at": "2026-11-22T00:53:33Z", "note": "run-began", "data": {"run": "r1"}});
    let mut text = std::fs::read_to_string(&journal).unwrap();
    text += &format!("{note}\n").repeat(200_000);
    std::fs::write(&journal, &text).unwrap();

    let begun = std::time::Instant::now();
    let note = project.fire().approved();
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    assert!(note.contains("is full: it may have 12 MiB"), "{note}");
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), text);
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
