//! Evidence that is edited or forged by hand.

use std::time::Instant;

use serde_json::json;

use crate::support::{Project, has};

#[test]
fn findings_edited_into_clean_stay_open() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let file = project.findings(&id, 1);
    std::fs::write(&file, "# Round 1 findings\n\nNo substantive findings.\n").unwrap();
    let clean = json!({"verdict": "clean", "findings": []}).to_string();
    std::fs::write(file.with_extension("json"), clean).unwrap();
    let why = "findings are open (high=1 medium=1 low=1)";
    project.answers(&format!("mark-done {id}"), 1, why);
    has(&project.fire().blocked(), "high=1 medium=1 low=1");
}

#[test]
fn findings_edited_in_the_journal_are_refused() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let journal = project.folder().join(&id).join("journal.jsonl");
    let lines = std::fs::read_to_string(&journal).unwrap();
    let finding = r#"{"id":"F9","severity":"low","what":"w"},"#.repeat(60_000);
    let verdict = "\"verdict\":[";
    let forged = lines.replace(verdict, &format!("{verdict}{finding}"));
    assert_ne!(forged, lines);
    std::fs::write(&journal, &forged).unwrap();
    let begun = Instant::now();
    has(&project.fire().approved(), "is not yours");
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), forged);
}

#[test]
fn endless_forged_notes_do_not_exist() {
    let (project, id) = Project::reviewing(&[]);
    let journal = project.folder().join(&id).join("journal.jsonl");
    let note = json!({"at": "2026-11-22T00:53:33Z", "note": "run-began", "data": {"run": "r1"}});
    let ours = std::fs::read_to_string(&journal).unwrap();
    let forged = ours.clone() + &format!("{note}\n").repeat(200_000);
    std::fs::write(&journal, forged).unwrap();
    let begun = Instant::now();
    project.fire().blocked();
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
    let text = std::fs::read_to_string(&journal).unwrap();
    assert!(text.starts_with(&ours) && !text.contains("r1"));
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
