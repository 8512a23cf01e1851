//! Evidence edited or made up by hand.

use std::time::Instant;

use claudex_loop::review::Digest;
use serde_json::{Value, json};

use crate::support::{Project, has};

/// Changes the findings that a loop counts, and returns their text before and after.
fn forge(project: &Project, id: &str, change: impl Fn(&mut Value)) -> (String, String) {
    let twin = project.findings(id, 1).with_extension("json");
    let text = std::fs::read_to_string(&twin).unwrap();
    let mut findings = serde_json::from_str(&text).unwrap();
    change(&mut findings);
    std::fs::write(&twin, findings.to_string()).unwrap();
    (text, findings.to_string())
}

/// A stop that must be soon done.
#[track_caller]
fn fire_in_time(project: &Project) -> String {
    let begun = Instant::now();
    let reason = project.fire().blocked();
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
    reason
}

const WAITS: &str = "round 1 of 3 is waiting for its review";

#[test]
fn findings_edited_into_clean_are_no_evidence() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    forge(&project, &id, |findings| {
        findings["verdict"] = json!("clean");
        findings["findings"] = json!([]);
    });
    let why = "not those of its run any more";
    project.answers(&format!("mark-done {id}"), 1, why);
    has(&project.fire().blocked(), WAITS);

    project.review(&id, "fake-findings").exits(0);
    assert_eq!(project.runs(&id), 2, "the round is reviewed again");
    project.mark_done(&id, Some("on purpose"));
}

#[test]
fn endless_forged_findings_cost_a_stop_nothing() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let (text, forged) = forge(&project, &id, |findings| {
        let finding = |number| json!({"id": format!("F{number}"), "severity": "high", "what": format!("w{number}")});
        findings["findings"] = (0..60_000).map(finding).collect();
    });
    has(&fire_in_time(&project), WAITS);

    // With a journal that fits, the loop is not the user's any more.
    let journal = project.folder().join(&id).join("journal.jsonl");
    let digest = |text: &str| Digest::from_bytes(text.as_bytes()).to_string();
    let lines = std::fs::read_to_string(&journal)
        .unwrap()
        .replace(&digest(&text), &digest(&forged));
    std::fs::write(&journal, &lines).unwrap();
    has(
        &project.fire().approved(),
        "a line of its journal was changed",
    );
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), lines);
}

#[test]
fn findings_of_another_loop_are_no_evidence() {
    let (project, first) = Project::reviewing(&[]);
    project.review(&first, "fake-clean").exits(0);
    project.run(&format!("cancel {first}")).exits(0);
    let second = project.start(&["--from-draft"]);
    project.fire().blocked();
    for end in ["md", "json"] {
        let [from, to] = [&first, &second].map(|id| project.findings(id, 1).with_extension(end));
        std::fs::copy(from, to).unwrap();
    }
    project.answers(&format!("mark-done {second}"), 1, "was not reviewed yet");
}
