//! The whole way of a plan, with a FAIL and two PASS in each of the four cycles.

use claudex_testkit::has;
use serde_json::json;

use crate::support::Project;

const ID: &str = "fix-the-parser";

/// Goes through a cycle: FAIL, PASS, PASS, each but the last with its answer.
fn cycle(project: &Project, review: &str) {
    for (at, severity) in [(1, Some("High")), (2, None), (3, None)] {
        assert!(
            project.blocks().contains(&format!("taskie review {ID}")),
            "{review} {at}"
        );
        project.review(severity).done();
        assert!(
            project
                .names(ID)
                .contains(&format!("{review}-review-{at}.md")),
            "{review} {at}"
        );
        if at == 3 {
            break;
        }
        let said = project.blocks();
        let (verdict, answer) = (
            if at == 1 { "FAIL" } else { "PASS" },
            format!("{review}-post-review-{at}.md"),
        );
        assert!(said.contains(verdict) && said.contains(&answer), "{said}");
        project.write(ID, &answer, "Mended.\n");
        // An advance and a stop lead to the same place.
        if at == 1 {
            let target = project.state(ID)["next_phase"]
                .as_str()
                .unwrap()
                .strip_prefix("post-")
                .unwrap()
                .to_owned();
            project.agent(&["advance", &target]).done();
        } else {
            project.blocks();
        }
    }
    let said = project.ends();
    assert!(said.starts_with("taskie: loop"), "{said}");
}

/// Takes a plan from new-plan to complete.
fn to_complete(project: &Project) {
    // The agent is reminded once, whether it wrote nothing or half of the plan.
    assert!(project.blocks().contains("plan.md"));
    project.write(ID, "plan.md", "# Plan\n");
    assert!(project.ends().contains("waits for plan.md"));
    project.write(ID, "plan.md", "# Plan\n\n## Overview\n");
    cycle(project, "plan");
    assert_eq!(project.state(ID)["next_phase"], "create-tasks");

    project.tasks(ID, 2, 0);
    cycle(project, "tasks");
    assert_eq!(project.state(ID)["next_phase"], "complete-task");

    for task in [1, 2] {
        assert_eq!(project.ends(), "", "{task}");
        project.commit("part", "part.txt", &format!("Part {task}.\n"));
        project.tasks(ID, 2, task);
        cycle(project, &format!("task-{task}-code"));
    }
    assert_eq!(project.state(ID)["next_phase"], "all-code-review");
    cycle(project, "all-code");
    assert_eq!(
        project.state(ID).to_string(),
        json!({
            "max_reviews": 5, "current_task": 2, "phase": "all-code-review", "next_phase": "complete", "phase_iteration": 3,
            "review_model": "sonnet", "consecutive_clean": 2, "tdd": false,
        })
        .to_string()
    );
}

#[test]
fn a_plan_goes_all_the_way() {
    let project = Project::new();
    let said = project
        .slash(
            "new-plan",
            "max_reviews=5 tdd=true fix the parser; $(touch x) `y`\n\"z\"",
        )
        .done();
    has(&said, "new-plan");
    let text =
        std::fs::read_to_string(project.dir("fix-the-parser-touch-x-y-z").join("state.json"));
    let text = text.unwrap();
    has(&text, "fix the parser; $(touch x) `y`\\n\\\"z\\\"");
    project
        .person(&["cancel", "fix-the-parser-touch-x-y-z"])
        .done();

    project
        .slash("new-plan", "max_reviews=5 fix the parser")
        .done();
    assert_eq!(
        project.state(ID).to_string(),
        json!({
            "max_reviews": 5, "current_task": null, "phase": "new-plan", "next_phase": "new-plan", "phase_iteration": 0,
            "review_model": "opus", "consecutive_clean": 0, "tdd": false,
        })
        .to_string()
    );
    to_complete(&project);
    assert_eq!(
        project.person(&["check", ID]).done(),
        format!("The files of plan {ID} are in order.\n")
    );
    let said = project.person(&["next", ID]).done();
    has(&said, "C21");
    reported(&project);
}

/// Any program has a report; where each review starts clean, no finding is said to be carried.
fn reported(project: &Project) {
    let json = project.person(&["report", ID, "--format", "json"]).done();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["loop"]["machine"], "taskie");
    assert_eq!(report["runs"].as_array().unwrap().len(), 15);
    let findings = report["findings"].as_array().unwrap();
    let phases: Vec<_> = findings
        .iter()
        .map(|one| one["phase"].as_str().unwrap())
        .collect();
    assert_eq!(
        phases,
        [
            "plan-review",
            "tasks-review",
            "code-review",
            "code-review",
            "all-code-review"
        ]
    );
    assert!(
        findings.iter().all(|one| one["standing"].is_null()),
        "{json}"
    );
    let page = project.person(&["report", ID]).done();
    has(&page, "There is a hole");
    has(&page, "code-review");
}

#[test]
fn keys_of_others_in_the_state_survive_a_cycle() {
    let project = Project::new();
    let others = json!({"zeta": {"deep": [1, 2.50, null, "é"]}, "alpha": "kept", "omega": []});
    let mut state = json!({
        "max_reviews": 5, "phase": "new-plan", "next_phase": "new-plan", "phase_iteration": 0, "review_model": "opus",
        "consecutive_clean": 0, "tdd": false,
    });
    let known = state.as_object_mut().unwrap();
    known.extend(others.as_object().unwrap().clone());
    project.write(ID, "state.json", &format!("{state:#}\n"));
    project.person(&["continue-plan", ID]).done();
    project.write(ID, "plan.md", "# Plan\n\n## Overview\n");
    cycle(&project, "plan");

    let text = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
    let whole: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    for (key, value) in others.as_object().unwrap() {
        assert_eq!(whole.get(key), Some(value), "{text}");
    }
    let keys: Vec<&String> = whole.keys().take(8).collect();
    assert_eq!(
        keys,
        [
            "max_reviews",
            "current_task",
            "phase",
            "next_phase",
            "phase_iteration",
            "review_model",
            "consecutive_clean",
            "tdd"
        ]
    );
}
