//! The agent goes on by `advance` alone, and past no review.

use claudex_testkit::has;
use serde_json::json;

use crate::support::{ID, Project};

fn started() -> Project {
    let project = Project::new();
    project.slash("new-plan", ID).done();
    project
}

#[test]
fn an_advance_needs_the_work_and_says_what_is_missing() {
    let project = started();
    let said = project.agent(&["advance", "plan-review"]).refused();
    has(&said, "plan.md must have a heading ## Overview");
    has(&said, "from new-plan, post-plan-review");
    project.write(ID, "plan.md", "## Overview\n");
    project.write(ID, "notes.md", "Mine.\n");
    let said = project.agent(&["advance", "plan-review"]).refused();
    has(&said, "S2 notes.md");
    std::fs::remove_file(project.dir(ID).join("notes.md")).unwrap();
    let said = project
        .agent(&["advance", "plan-review", "biling"])
        .refused();
    has(&said, "biling");
    assert_eq!(project.state(ID)["next_phase"], "new-plan");
    let said = project.agent(&["advance", "plan-review", ID]).done();
    has(&said, "taskie review billing");
    // Once more is never wrong.
    let said = project.agent(&["advance", "plan-review"]).done();
    has(&said, "already");
    assert_eq!(project.state(ID)["next_phase"], "plan-review");
}

#[test]
fn no_advance_leads_past_a_review() {
    let project = started();
    project.write(ID, "plan.md", "## Overview\n");
    project.blocks();
    let before = project.state(ID);
    for target in [
        "create-tasks",
        "complete",
        "complete-task",
        "next-task",
        "post-plan-review",
        "tasks-review",
    ] {
        let said = project.agent(&["advance", target]).refused();
        assert!(said.contains("it is at plan-review"), "{target}: {said}");
        assert!(said.contains("taskie next billing"), "{target}: {said}");
    }
    let said = project.agent(&["advance", "plan_review"]);
    assert_eq!(said.0.code, Some(2), "{said:?}");
    assert_eq!(project.state(ID), before);
    // What was tried stands in the journal.
    let journal = project.person(&["journal", ID]).done();
    has(&journal, "advance create-tasks");
}

#[test]
fn the_agent_decides_nothing_that_is_the_persons() {
    let project = started();
    let before = project.state(ID);
    for line in [
        &["more", "3"][..],
        &["max-reviews", "0"],
        &["accept"],
        &["pause"],
        &["add-task"],
        &["drop-task", "1"],
        &["next-task"],
        &["continue-task"],
        &["create-tasks"],
        &["plan-review"],
        &["post-code-review"],
        &["new-plan", "another"],
    ] {
        let said = project.agent(line).refused();
        assert!(
            said.contains("user") || said.contains("cannot"),
            "{line:?}: {said}"
        );
        // What the person is told to type is there.
        for typed in said.split("/taskie:").skip(1) {
            let name = typed
                .split(|c: char| c != '-' && !c.is_alphabetic())
                .next()
                .unwrap();
            let file = format!("{}/plugin/commands/{name}.md", env!("CARGO_MANIFEST_DIR"));
            assert!(std::fs::exists(file).unwrap(), "{line:?}: {said}");
        }
    }
    assert_eq!(project.state(ID), before);
}

#[test]
fn a_sly_agent_gets_nowhere() {
    let project = started();
    project.write(ID, "plan.md", "## Overview\n");
    project.blocks();
    // It writes the review itself, and the state.
    project.write(ID, "plan-review-1.md", "Fine.\n\nVERDICT: PASS\n");
    let edited = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
    let edited = edited
        .replace("\"plan-review\"", "\"create-tasks\"")
        .replace("\"max_reviews\": 8", "\"max_reviews\": 0");
    project.write(ID, "state.json", &edited);
    project.stop();
    assert_eq!(project.state(ID)["next_phase"], "plan-review");
    assert_eq!(project.state(ID)["max_reviews"], 8);
    // The next review takes the next number, and writes over nothing.
    project.review(None).done();
    assert_eq!(
        std::fs::read_to_string(project.dir(ID).join("plan-review-1.md")).unwrap(),
        "Fine.\n\nVERDICT: PASS\n"
    );
    assert!(project.names(ID).contains(&"plan-review-2.md".to_owned()));
}

#[test]
fn an_edit_of_the_limit_is_taken_over_where_it_may_be() {
    let project = started();
    for (edit, now) in [(3, 3), (0, 3), (100, 3), (99, 99)] {
        let text = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
        let current = project.state(ID)["max_reviews"].to_string();
        project.write(
            ID,
            "state.json",
            &text.replace(
                &format!("\"max_reviews\": {current}"),
                &format!("\"max_reviews\": {edit}"),
            ),
        );
        project.stop();
        assert_eq!(project.state(ID)["max_reviews"], json!(now), "{edit}");
    }
    project.person(&["max-reviews", "0", ID]).done();
    assert_eq!(project.state(ID)["max_reviews"], 0);
}

#[test]
fn violations_are_named_all_at_once_and_the_turn_ends_at_last() {
    let project = started();
    project.write(ID, "a.txt", "");
    project.write(ID, "b.txt", "");
    for _ in 0..3 {
        let said = project.blocks();
        assert!(said.starts_with("taskie billing"), "{said}");
        has(&said, "a.txt");
        has(&said, "b.txt");
    }
    let said = project.ends();
    has(&said, "S2 a.txt: ");
    has(&said, "; S2 b.txt: ");
    has(&said, ". To continue it:");
}
