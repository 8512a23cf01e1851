//! What is tried on a loop and refused, or undone, is in its journal.

use std::fs::OpenOptions;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::support::Project;

/// The notes of one kind, their data alone.
fn notes(project: &Project, id: &str, kind: &str) -> Vec<Value> {
    let mut journal = project.journal(id);
    journal.retain(|entry| entry["note"] == kind);
    journal
        .into_iter()
        .map(|entry| entry["data"].clone())
        .collect()
}

fn append(project: &Project, id: &str, line: &str) {
    let path = project.folder().join(id).join("journal.jsonl");
    let mut journal = OpenOptions::new().append(true).open(path).unwrap();
    writeln!(journal, "{line}").unwrap();
}

#[test]
fn a_refused_verb_is_journaled_with_who_tried_what_and_why_not() {
    let (project, id) = Project::reviewing(&[]);
    project.run_in_session("s1", &["mark-done", &id]).exits(1);
    project.run(&["more", &id]).exits(1);
    let refused = notes(&project, &id, "refused");
    assert_eq!(refused.len(), 2);
    assert_eq!(
        (&refused[0]["by"], &refused[0]["tried"]),
        (&json!("agent"), &json!("mark-done"))
    );
    let why = refused[0]["why"].as_str().unwrap();
    assert!(why.contains("round 1 was not reviewed yet"), "{why}");
    assert_eq!(
        (&refused[1]["by"], &refused[1]["tried"]),
        (&json!("person"), &json!("more"))
    );
    project
        .run(&["journal", &id])
        .exits(0)
        .says("refused mark-done by the agent: ‘mark_done’ is not open");
}

#[test]
fn a_persons_commands_are_journaled_when_an_agent_tries_them() {
    let (project, id) = Project::reviewing(&[]);
    for command in [
        &["adopt", &id][..],
        &["resume", &id],
        &["rollback", "--yes"],
    ] {
        project.run_in_session("s1", command).exits(1);
    }
    let tried: Vec<_> = notes(&project, &id, "refused")
        .into_iter()
        .map(|data| data["tried"].clone())
        .collect();
    assert_eq!(tried, [json!("adopt"), json!("resume"), json!("rollback")]);
}

#[test]
fn the_same_attempt_is_noted_once_between_two_changes() {
    let (project, id) = Project::reviewing(&[]);
    for _ in 0..3 {
        project.run_in_session("s1", &["mark-done", &id]).exits(1);
    }
    assert_eq!(notes(&project, &id, "refused").len(), 1);
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    project.run_in_session("s1", &["mark-done", &id]).exits(1);
    assert_eq!(notes(&project, &id, "refused").len(), 2);
}

#[test]
fn a_journal_cannot_be_filled_with_attempts() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.state_path(&id);
    let path = path.to_str().unwrap();
    for number in 0..110 {
        let to = format!("phase-{number}");
        project
            .run(&["state", "move", path, "reviewing", &to])
            .exits(1);
    }
    let refused = notes(&project, &id, "refused");
    assert_eq!(refused.len(), 100);
    assert_eq!(
        refused[99],
        json!({"why": "99 notes like this were written; further ones are not"})
    );
    project.answers(&["state", "get", path, "phase"], 0, "reviewing");
}

#[test]
fn the_journal_of_a_loop_that_is_over_stays_as_it_is() {
    let (project, id) = Project::reviewing(&[]);
    project.run(&["cancel", &id]).exits(0);
    let before = project.journal(&id);
    project.run_in_session("s1", &["mark-done", &id]).exits(1);
    project.run_in_session("s1", &["adopt", &id]).exits(1);
    assert_eq!(project.journal(&id), before);
}

#[test]
fn an_edit_by_hand_is_journaled_when_it_is_undone() {
    let (project, id) = Project::reviewing(&[]);
    project.edit(&id, "round: 1", "round: 3");
    project.fire().blocked();
    let healed = notes(&project, &id, "healed");
    assert_eq!(healed.len(), 1);
    assert_eq!(healed[0]["fields"], "round");
    let what = healed[0]["what"].as_str().unwrap();
    assert!(
        what.starts_with("the state was edited by hand (round)"),
        "{what}"
    );
}

#[test]
fn findings_that_no_review_wrote_are_journaled_by_the_stop() {
    let (project, id) = Project::reviewing(&[]);
    std::fs::write(project.findings(&id, 1), "No substantive findings.\n").unwrap();
    project.fire().blocked();
    let unexplained = notes(&project, &id, "unexplained");
    assert_eq!(unexplained.len(), 1);
    assert_eq!(unexplained[0]["file"], "findings-round-1.md");
    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("findings-round-1.md is there, and no review of this loop wrote it");
}

#[test]
fn a_change_that_no_transition_makes_is_taken_out_of_the_journal() {
    type Forge = fn(&mut Value);
    let forgeries: [(&str, Forge); 5] = [
        ("an end that no edge leads to", |line| {
            line["what"] = json!("finish");
            line["to"] = json!("done");
            line["fields"]["phase"] = json!("done");
        }),
        ("an edge of another transition", |line| {
            line["what"] = json!("revise");
            line["to"] = json!("done");
            line["fields"]["phase"] = json!("done");
        }),
        ("an edge without its evidence", |line| {
            line["what"] = json!("mark_done");
            line["fields"]["decision_signal"] = json!("no-material-findings");
        }),
        ("a change of another phase than the last one's", |line| {
            line["what"] = json!("finish");
            line["from"] = json!("summarizing");
            line["to"] = json!("done");
            line["fields"]["phase"] = json!("done");
        }),
        ("another loop's", |line| {
            line["what"] = json!("cancel");
            line["to"] = json!("cancelled");
            line["fields"]["phase"] = json!("cancelled");
            line["fields"]["review_id"] = json!("20260101-000000-000000");
        }),
    ];
    for (what, forge) in forgeries {
        let (project, id) = Project::reviewing(&[]);
        let state = project.state(&id);
        let mut line = project.journal(&id).pop().unwrap();
        let next = line["revision"].as_u64().unwrap() + 1;
        line["revision"] = json!(next);
        line["fields"]["revision"] = json!(next);
        line["from"] = json!("reviewing");
        line.as_object_mut().unwrap().remove("evidence");
        forge(&mut line);
        append(&project, &id, &line.to_string());
        project.answers(&["list", "--json"], 0, "\"phase\": \"reviewing\"");
        project.fire().blocked();
        assert_eq!(notes(&project, &id, "healed").len(), 1, "{what}");
        assert_eq!(project.field(&id, "phase"), "reviewing", "{what}");
        assert_eq!(project.field(&id, "decision_signal"), "none", "{what}");
        assert!(state.contains("phase: reviewing"));
        let kept = project.quarantine();
        assert!(
            kept.iter()
                .any(|(path, _)| path.to_string_lossy().contains("journal.jsonl")),
            "{what}: the forged line is kept"
        );
    }
}

#[test]
fn an_agents_own_environment_waives_nothing_and_the_persons_file_does() {
    let (project, id) = Project::reviewing(&[]);
    let project = project.with("CLAUDEX_EVIDENCE", "optional");
    let path = project.state_path(&id);
    let path = path.to_str().unwrap();
    project.answers_in("s1", &["mark-done", &id], 1, "was not reviewed yet");
    project
        .run_in_session(
            "s1",
            &[
                "state",
                "set",
                path,
                "decision_signal",
                "no-material-findings",
            ],
        )
        .exits(1);
    assert_eq!(project.field(&id, "decision_signal"), "none");
    let project = project.configured("evidence = \"optional\"\n");
    project.run_in_session("s1", &["mark-done", &id]).exits(0);
    assert_eq!(
        project.field(&id, "decision_signal"),
        "no-material-findings"
    );
}

#[test]
fn who_reviews_is_not_the_agents_to_say() {
    let (project, id) = Project::reviewing(&[]);
    project
        .run_in_session("s1", &["review", &id, "--reviewer", "fake-clean"])
        .exits(1)
        .says("who reviews is a person’s choice");
    assert_eq!(project.runs(&id), 0);
    assert_eq!(
        notes(&project, &id, "refused")[0]["tried"],
        "review --reviewer fake-clean"
    );
    let project = project.configured("reviewer = \"lint\"\n");
    project
        .run_in_session("s1", &["review", &id, "--reviewer", "lint"])
        .exits(0);
    assert_eq!(project.runs(&id), 1);
}
