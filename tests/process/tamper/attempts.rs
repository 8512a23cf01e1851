//! What is tried on a loop and refused, or undone, is in its journal.

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
fn the_journal_of_a_loop_that_is_over_stays_as_it_is() {
    let (project, id) = Project::reviewing(&[]);
    project.run(&["cancel", &id]).exits(0);
    let before = project.journal(&id);
    project.run_in_session("s1", &["mark-done", &id]).exits(1);
    project.run_in_session("s1", &["adopt", &id]).exits(1);
    assert_eq!(project.journal(&id), before);
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
fn agent_may_not_shorten_time_limits() {
    let (project, id) = Project::reviewing(&[]);
    for flag in ["--timeout", "--idle-timeout"] {
        let review = ["review", &id, flag, "1s"];
        let said = "an agent may not shorten the user’s time limits";
        project.answers_in("s1", &review, 1, said);
    }
    assert_eq!(project.runs(&id), 0);
    project
        .run(&["review", &id, "--timeout", "20s", "--idle-timeout", "20s"])
        .exits(0);
}

#[test]
fn who_reviews_is_not_the_agents_to_say() {
    let (project, id) = Project::reviewing(&[]);
    project
        .run_in_session("s1", &["review", &id, "--reviewer", "fake-clean"])
        .exits(1)
        .says("the user chooses the reviewer");
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
