//! Each of the seventeen commands in automation and in standalone: what it changes of the eight keys, and nothing else.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{ID, Project, coding, names, standalone};

const REVIEWS: [&str; 8] = [
    "plan-review",
    "tasks-review",
    "code-review",
    "all-code-review",
    "post-plan-review",
    "post-tasks-review",
    "post-code-review",
    "post-all-code-review",
];

/// Types a command, and compares the keys that it changed.
fn changes(project: &Project, command: &str, words: &str, changed: &[(&str, Value)]) {
    let mut expected = project.state(ID);
    let said = project.slash(command, words);
    for (key, value) in changed {
        expected[*key] = value.clone();
    }
    assert_eq!(
        project.state(ID).to_string(),
        expected.to_string(),
        "{command}: {said:?}"
    );
    // What is done, is said; what is refused, names the next step.
    let said = said.0.out + &said.0.err;
    assert!(said.contains(ID), "{command}: {said}");
}

#[test]
fn in_standalone() {
    let null = || Value::Null;
    let at = |phase: &str| vec![("phase", json!(phase))];
    let left = |command: &str| {
        vec![
            ("phase", json!(command)),
            ("current_task", json!(2)),
            ("next_phase", null()),
        ]
    };
    let into = |phase: &str| vec![("next_phase", json!(phase)), ("phase_iteration", json!(0))];
    let mut all: Vec<(&str, Vec<(&str, Value)>)> = vec![
        ("new-plan", vec![]),
        ("continue-plan", vec![]),
        ("create-tasks", into("create-tasks")),
        ("complete-task", into("complete-task")),
        ("complete-task-tdd", into("complete-task-tdd")),
        ("next-task", left("next-task")),
        ("next-task-tdd", left("next-task-tdd")),
        ("continue-task", at("continue-task")),
        ("add-task", vec![("current_task", json!(4))]),
    ];
    all.extend(REVIEWS.map(|review| (review, at(review))));
    are_all(all.iter().map(|(command, _)| *command));
    for (command, changed) in all {
        changes(&standalone(), command, words(command), &changed);
    }
}

#[test]
fn in_automation() {
    let left = |command: &str| {
        vec![
            ("phase", json!(command)),
            ("current_task", json!(2)),
            ("next_phase", Value::Null),
            ("phase_iteration", Value::Null),
        ]
    };
    let mut all: Vec<(&str, Vec<(&str, Value)>)> = vec![
        ("new-plan", vec![]),
        ("continue-plan", vec![]),
        ("create-tasks", vec![]),
        ("complete-task", vec![]),
        ("complete-task-tdd", vec![]),
        ("next-task", left("next-task")),
        ("next-task-tdd", left("next-task-tdd")),
        ("continue-task", vec![("phase", json!("continue-task"))]),
        ("add-task", vec![("current_task", json!(4))]),
    ];
    // None of them is due at a task: none inside automation changes anything.
    all.extend(REVIEWS.map(|review| (review, vec![])));
    are_all(all.iter().map(|(command, _)| *command));
    for (command, changed) in all {
        changes(&coding(), command, words(command), &changed);
    }
}

fn words(command: &str) -> &'static str {
    match command {
        "new-plan" => "billing again",
        _ => "with care",
    }
}

fn are_all<'a>(commands: impl Iterator<Item = &'a str>) {
    let files = names(std::path::Path::new("messages/commands"));
    let files: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.strip_suffix(".md"))
        // It is tried where the reviews are used up.
        .filter(|command| *command != "more")
        .collect();
    assert_eq!(commands.collect::<BTreeSet<_>>(), files);
}

#[test]
fn plans_that_begin_at_once_have_names_of_their_own() {
    let project = Project::new();
    let begin = |_| {
        let mut command = project
            .folder
            .command(&["new-plan", "max_reviews=3 Sort lines"]);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let begun: Vec<_> = (0..6).map(begin).collect();
    for one in begun {
        let output = one.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let plans = names(&project.root.join(".taskie/plans"));
    let mut expected: Vec<String> = (2..=6).map(|at| format!("sort-lines-{at}")).collect();
    expected.push("sort-lines".to_owned());
    expected.sort();
    assert_eq!(plans, expected);
    for plan in plans {
        assert_eq!(names(&project.dir(&plan)), ["state.json"]);
        let now = project.state(&plan);
        assert_eq!(
            (&now["max_reviews"], &now["next_phase"]),
            (&json!(3), &json!("new-plan"))
        );
        project.person(&["next", &plan]).done();
    }
}
