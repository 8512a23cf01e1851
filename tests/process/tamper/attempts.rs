//! The journal has refused and undone attempts on a loop.

use serde_json::Value;

use crate::support::{Project, has};

/// Returns the data of the notes of one kind.
fn notes(project: &Project, id: &str, kind: &str) -> Vec<Value> {
    let journal = project.journal(id).into_iter();
    let notes = journal.filter(|entry| entry["note"] == kind);
    notes.map(|entry| entry["data"].clone()).collect()
}

#[test]
fn refused_verb_is_journaled_with_its_reason() {
    let (project, id) = Project::reviewing(&[]);
    project.answers_in("s1", &format!("mark-done {id}"), 1, "");
    project.run(&format!("more {id}")).exits(1);
    let refused = notes(&project, &id, "refused");
    let tried = refused.iter().map(|data| [&data["by"], &data["tried"]]);
    assert_eq!(
        tried.collect::<Vec<_>>(),
        [["agent", "mark-done"], ["person", "more"]]
    );
    has(
        refused[0]["why"].as_str().unwrap(),
        "round 1 was not reviewed yet",
    );
    let line = "refused mark-done by the agent: ‘mark-done’ is not possible";
    project.answers(&format!("journal {id}"), 0, line);
}

#[test]
fn findings_no_review_wrote_prove_nothing() {
    let (project, id) = Project::reviewing(&[]);
    let clean = "# Round 1 findings\n\nNo substantive findings.\n";
    std::fs::write(project.findings(&id, 1), clean).unwrap();
    project.fire().blocked();
    let why = "round 1 was not reviewed yet";
    project.answers(&format!("mark-done {id}"), 1, why);
}

#[test]
fn agents_own_environment_waives_nothing() {
    let (project, id) = Project::reviewing(&[]);
    let project = project.with("CLAUDEX_EVIDENCE", "optional");
    let path = project.state_path(&id);
    let mark_done = format!("mark-done {id}");
    project.answers_in("s1", &mark_done, 1, "was not reviewed yet");
    let word = "no-material-findings";
    let set = [
        "state",
        "set",
        path.to_str().unwrap(),
        "decision_signal",
        word,
    ];
    project.answers_in("s1", &set, 1, "");
    assert_eq!(project.field(&id, "decision_signal"), "none");
    let project = project.configured("evidence = \"optional\"\n");
    project.answers_in("s1", &mark_done, 0, "");
    assert_eq!(project.field(&id, "decision_signal"), word);
}

#[test]
fn agent_may_not_choose_the_reviewer() {
    let (project, id) = Project::reviewing(&[]);
    let review = format!("review {id}");
    let forged = format!("{review} --reviewer fake-clean");
    project.answers_in("s1", &forged, 1, "the user chooses the reviewer");
    assert_eq!(project.runs(&id), 0);
    let refused = notes(&project, &id, "refused");
    assert_eq!(
        refused.last().unwrap()["tried"],
        "review --reviewer fake-clean"
    );
    // The user may, and an agent may name the user's reviewer.
    project.run(&review).exits(0);
    let (project, id) = Project::reviewing(&[]);
    let project = project.configured("reviewer = \"lint\"\n");
    project.answers_in("s1", &format!("review {id} --reviewer lint"), 0, "");
    assert_eq!(project.runs(&id), 1);
}

#[test]
fn edit_by_hand_is_undone_and_told_once() {
    let (project, id) = Project::reviewing(&[]);
    project.edit(&id, "phase: reviewing", "phase: done");
    let stop = project.fire();
    let undone = "the state was edited by hand (phase); the edit was undone";
    has(stop.note.as_deref().unwrap(), undone);
    has(&stop.blocked(), "waiting for its review");
    assert_eq!(project.field(&id, "phase"), "reviewing");
    project.fire().approved();
    assert_eq!(project.replaced(&id).len(), 1);
}
