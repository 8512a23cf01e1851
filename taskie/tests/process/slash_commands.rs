//! The seventeen commands in automation and standalone, and the keys that each changes.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::seed::REVIEWS;
use crate::support::{ID, Project, coding, names, standalone};

/// Types a command, and compares the keys that it changed.
fn check(project: &Project, command: &str, changed: &Value) {
    let mut expected = project.state(ID);
    let words = match command {
        "new-plan" => "billing again",
        _ => "with care",
    };
    for group in ["plan", "tasks", "all-code"] {
        project.write(ID, &format!("{group}-review-1.md"), "VERDICT: FAIL\n");
    }
    let output = project.slash(command, words).0;
    for (key, value) in changed.as_object().unwrap() {
        expected[key] = value.clone();
    }
    let now = project.state(ID);
    assert_eq!(
        now.to_string(),
        expected.to_string(),
        "{command}: {output:?}"
    );
    // The output names the plan, even if the command is refused.
    let output = output.out + &output.err;
    assert!(output.contains(ID), "{command}: {output}");
}

#[test]
fn commands_change_their_keys_only() {
    let none = json!({});
    let left = |command: &str| json!({ "phase": command, "current_task": 2, "next_phase": null });
    let leaves = |command: &str| {
        let mut left = left(command);
        left["phase_iteration"] = Value::Null;
        left
    };
    let into = |phase: &str| json!({ "next_phase": phase, "phase_iteration": 0 });
    let ran = |command: &str| json!({ "phase": command });
    let added = json!({ "current_task": 4 });
    let mut all = vec![
        ("new-plan", none.clone(), none.clone()),
        ("continue-plan", none.clone(), none.clone()),
        ("create-tasks", into("create-tasks"), none.clone()),
        ("complete-task", into("complete-task"), none.clone()),
        ("complete-task-tdd", into("complete-task-tdd"), none.clone()),
        ("next-task", left("next-task"), leaves("next-task")),
        (
            "next-task-tdd",
            left("next-task-tdd"),
            leaves("next-task-tdd"),
        ),
        ("continue-task", ran("continue-task"), ran("continue-task")),
        ("add-task", added.clone(), added),
        // No task is under way.
        ("post-code-review", none.clone(), none.clone()),
    ];
    // At a task no review is due: in automation none of these changes anything.
    let post = ["plan", "tasks", "all-code"].map(|group| format!("post-{group}-review"));
    for review in REVIEWS.into_iter().chain(post.iter().map(String::as_str)) {
        all.push((review, ran(review), none.clone()));
    }
    let commands = names(std::path::Path::new("messages/commands"));
    assert_eq!(commands.len(), all.len() + 1, "all but more are here");
    for (command, in_standalone, in_automation) in all {
        check(&standalone(), command, &in_standalone);
        check(&coding(), command, &in_automation);
    }
}

#[test]
fn plans_begun_at_once_have_own_names() {
    let project = Project::new();
    let begin = |_| {
        let words = ["new-plan", "max_reviews=3 Sort lines"];
        let mut command = project.folder.command(&words);
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    let begun: Vec<_> = (0..4).map(begin).collect();
    for mut one in begun {
        assert!(one.wait().unwrap().success());
    }
    let plans = names(&project.root.join(".taskie/plans"));
    let expected = ["sort-lines", "sort-lines-2", "sort-lines-3", "sort-lines-4"];
    assert_eq!(plans, expected);
    for plan in plans {
        assert_eq!(names(&project.dir(&plan)), ["state.json"]);
        assert_eq!(project.state(&plan)["max_reviews"], 3);
    }
}
