//! Directories that the bash version wrote are taken up where they stand, by a person only.

use serde_json::{Value, json};

use crate::support::{ID, Project, task_file};

fn written(next_phase: &Value, besides: &[(&str, Value)]) -> Project {
    let project = Project::new();
    project.write(ID, "plan.md", "# Plan\n\n## Overview\n");
    project.tasks(ID, 3, 2);
    for review in ["plan", "tasks", "task-2-code"] {
        for number in 1..=3 {
            project.write(
                ID,
                &format!("{review}-review-{number}.md"),
                "A hole.\n\nVERDICT: FAIL\n",
            );
            project.write(
                ID,
                &format!("{review}-post-review-{number}.md"),
                "Mended.\n",
            );
        }
    }
    project.write(ID, "all-code-review-7.md", "A hole.\n\nVERDICT: FAIL\n");
    let mut state = json!({
        "max_reviews": 6, "current_task": "2", "phase": "implementation", "next_phase": next_phase, "phase_iteration": 3,
        "review_model": "sonnet", "consecutive_clean": 0, "ours": {"kept": [1, 2.50, "x"]},
    });
    for (key, value) in besides {
        state[*key] = value.clone();
    }
    let text = format!("{state:#}\n");
    project.write(ID, "state.json", &text);
    project
}

#[test]
fn every_word_of_the_bash_version_is_taken_up() {
    for (word, phase) in [
        (json!("new-plan"), json!("new-plan")),
        (json!("plan-review"), json!("plan-review")),
        (json!("post-plan-review"), json!("post-plan-review")),
        (json!("create-tasks"), json!("create-tasks")),
        (json!("tasks-review"), json!("tasks-review")),
        (json!("post-tasks-review"), json!("post-tasks-review")),
        (json!("complete-task"), json!("complete-task")),
        (json!("complete-task-tdd"), json!("complete-task-tdd")),
        (json!("next-task"), json!("complete-task")),
        (json!("next-task-tdd"), json!("complete-task-tdd")),
        (json!("code-review"), json!("code-review")),
        (json!("post-code-review"), json!("post-code-review")),
        (json!("all-code-review"), json!("all-code-review")),
        (json!("post-all-code-review"), json!("post-all-code-review")),
        (json!("continue-plan"), Value::Null),
        (json!("add-task"), Value::Null),
        (Value::Null, Value::Null),
    ] {
        let project = written(&word, &[]);
        let said = project.agent(&["continue-plan", ID]).refused();
        assert!(said.contains("person"), "{said}");
        project.person(&["continue-plan", ID]).done();
        let now = project.state(ID);
        assert_eq!(
            (&now["next_phase"], &now["current_task"], &now["tdd"]),
            (&phase, &json!(2), &json!(false)),
            "{word}"
        );
        let text = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        if let Some(word @ ("continue-plan" | "add-task")) = word.as_str() {
            assert_eq!(whole["phase"], word);
        } else {
            assert_eq!(whole["phase"], "implementation");
        }
        // The current task was not reviewed yet while its review is under way.
        let done =
            if ["code-review", "post-code-review"].contains(&word.as_str().unwrap_or_default()) {
                1
            } else {
                2
            };
        assert_eq!(
            (&whole["tasks_total"], &whole["tasks_done"]),
            (&json!(3), &json!(done)),
            "{word}"
        );
        assert_eq!(whole["ours"], json!({"kept": [1, 2.50, "x"]}));
        if phase == "post-all-code-review" {
            assert_eq!(whole["review_file"], 7);
        }
        let keys: Vec<&String> = whole.as_object().unwrap().keys().take(8).collect();
        assert_eq!(keys.last().unwrap().as_str(), "tdd");
        // Once more it moves nothing.
        project.person(&["continue-plan", ID]).done();
        assert_eq!(
            std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap(),
            text,
            "{word}"
        );
    }
}

#[test]
fn what_is_null_outside_of_a_cycle_begins_anew() {
    for word in ["new-plan", "create-tasks", "complete-task", "code-review"] {
        let project = written(
            &json!(word),
            &[("phase_iteration", Value::Null), ("theirs", Value::Null)],
        );
        project.person(&["continue-plan", ID]).done();
        assert_eq!(project.state(ID)["phase_iteration"], 0, "{word}");
        let text = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
        assert!(text.contains("\"theirs\": null"), "{text}");
    }
}

#[test]
fn an_import_counts_as_taking_up_does() {
    let project = written(&json!("post-code-review"), &[("current_task", 2.into())]);
    let file = project.dir(ID).join("state.json");
    project.person(&["import", file.to_str().unwrap()]).done();
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(
        (
            &whole["tasks_total"],
            &whole["tasks_done"],
            &whole["review_file"]
        ),
        (&json!(3), &json!(1), &json!(3))
    );
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_changed() {
    for (state, said) in [
        ("{", "no JSON object"),
        ("[]", "no JSON object"),
        ("{\"next_phase\": 3}", "neither a word nor null"),
        ("{\"next_phase\": \"code-reveiw\"}", "code-reveiw"),
        (
            "{\"next_phase\": \"new-plan\", \"max_reviews\": \"many\"}",
            "max_reviews",
        ),
        (
            "{\"next_phase\": \"new-plan\", \"review_model\": \"haiku\"}",
            "review_model",
        ),
        (
            "{\"next_phase\": \"new-plan\", \"current_task\": \"one\"}",
            "current_task",
        ),
        (
            "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs\n",
            "no JSON object",
        ),
        (
            "{\"machine\": \"another\", \"next_phase\": \"new-plan\"}",
            "another",
        ),
    ] {
        let project = Project::new();
        project.write(ID, "state.json", state);
        let call = project.person(&["continue-plan", ID]);
        assert_eq!(call.0.code, Some(1), "{call:?}");
        assert!((call.0.out + &call.0.err).contains(said), "{state}");
        assert_eq!(
            std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap(),
            state
        );
        assert_eq!(project.ends(), "", "{state}");
    }
}

#[test]
fn a_plan_without_a_state_is_taken_up_by_its_files() {
    for (statuses, next) in [
        (["completed", "pending"], "code-review"),
        (["completed", "review-changes-requested"], "complete-task"),
    ] {
        let project = Project::new();
        project.write(ID, "plan.md", "## Overview\n");
        project.tasks(ID, 2, 1);
        let second = task_file(2, "completed") + &task_file(2, statuses[1]).replace("2.1", "2.2");
        project.write(ID, "task-2.md", &second);
        if statuses[1] == "pending" {
            project.write(ID, "task-2.md", &task_file(2, "pending"));
        }
        let said = project.person(&["continue-plan"]).done();
        assert!(said.contains("C26"), "{said}");
        assert_eq!(project.state(ID)["next_phase"], next, "{statuses:?}");
    }
}

#[test]
fn the_state_may_have_windows_lines_and_a_byte_order_mark() {
    let project = written(&json!("create-tasks"), &[]);
    let text = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
    project.write(
        ID,
        "state.json",
        &format!("\u{feff}{}", text.replace('\n', "\r\n")),
    );
    project.person(&["continue-plan", ID]).done();
    assert_eq!(project.state(ID)["next_phase"], "create-tasks");
}

#[test]
fn what_is_over_is_not_taken_up() {
    for (word, phase) in [
        (json!("complete"), "all-code-review"),
        (Value::Null, "complete"),
    ] {
        let project = written(&word, &[("phase", phase.into())]);
        let before = std::fs::read(project.dir(ID).join("state.json")).unwrap();
        let said = project.person(&["continue-plan", ID]).done();
        assert!(said.contains("C21"), "{said}");
        assert_eq!(
            std::fs::read(project.dir(ID).join("state.json")).unwrap(),
            before
        );
    }
}

#[test]
fn a_broken_state_under_a_journal_is_offered_its_last_one() {
    let project = written(&json!("create-tasks"), &[]);
    project.person(&["continue-plan", ID]).done();
    let good = project.state(ID);
    project.write(ID, "state.json", "<<<<<<< HEAD\n");
    let said = project.person(&["next", ID]).done();
    assert!(
        said.contains("C25") && said.contains("taskie resume billing"),
        "{said}"
    );
    assert_eq!(
        std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap(),
        "<<<<<<< HEAD\n"
    );
    project.person(&["resume", ID]).done();
    assert_eq!(project.state(ID), good);
}
