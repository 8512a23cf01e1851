//! The decision table and the structure rules: `fixtures/rows.txt`, `fixtures/violations.txt`.

use std::collections::BTreeSet;
use std::fs;

use claudex_loop::files::Folder;
use taskie::files::Directory;
use taskie::files::name::{Group, Name};
use taskie::next::{Fields, State, next};
use taskie::rules::{TaskCounts, violations};

/// Reads a directory with these files, such as `tasks.md 1 done; task-1.md completed; drafts/`.
fn directory(files: &str) -> Directory {
    let kept = tempfile::tempdir().unwrap();
    for file in files.split("; ").filter(|file| !file.is_empty()) {
        let (name, text) = file.split_once(' ').unwrap_or((file, ""));
        let path = kept.path().join(name);
        if name.ends_with('/') {
            fs::create_dir(path).unwrap();
            continue;
        }
        let number = name
            .strip_prefix("task-")
            .and_then(|rest| rest.strip_suffix(".md"));
        let raw = || text.replace("\\n", "\n") + "\n";
        let text = match number {
            _ if text.starts_with(['#', '|']) => raw(),
            _ if name == "tasks.md" => table(text),
            Some(number) if !number.contains('-') => task(number, text),
            _ => raw(),
        };
        fs::write(path, text).unwrap();
    }
    Directory::read(&Folder::open(kept.path().try_into().unwrap()).unwrap()).unwrap()
}

/// Returns a table with these rows, such as `1 done, 2 pending`.
fn table(rows: &str) -> String {
    let row = |row: &str| format!("| {} |\n", row.replace(' ', " | "));
    let rows = rows.split(", ").filter(|row| !row.is_empty());
    format!(
        "| Id | Status |\n|---|---|\n{}",
        rows.map(row).collect::<String>()
    )
}

/// Returns the file of a task whose subtasks have these statuses.
fn task(number: &str, statuses: &str) -> String {
    let subtask = |(at, status): (usize, &str)| {
        format!(
            "### Subtask {number}.{}: a\n- **Status**: {status}\n",
            at + 1
        )
    };
    statuses
        .split_whitespace()
        .enumerate()
        .map(subtask)
        .collect()
}

/// Returns the cases of a fixture, each with its parts.
fn cases(fixture: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = fixture.lines().filter(|line| line.contains(" => "));
    lines
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(" => ").collect())
}

fn state(words: &str) -> State {
    let words: Vec<&str> = words.split(' ').collect();
    match words[..] {
        ["none"] => State::None,
        ["broken"] => State::Broken,
        [next_phase, phase, task, ref unreviewed @ ..] => State::There(Fields {
            next_phase: Some(next_phase.to_owned()).filter(|word| word != "null"),
            phase: phase.to_owned(),
            current_task: task.parse().ok(),
            unreviewed: unreviewed.first().and_then(|task| task.parse().ok()),
            ..Fields::default()
        }),
        _ => panic!("{words:?}"),
    }
}

#[test]
fn rows_follow_from_state_and_files() {
    let mut rows = Vec::new();
    for case in cases(include_str!("fixtures/rows.txt")) {
        let next = next(&state(case[0]), &directory(case[1]));
        assert_eq!(format!("{} {}", next.row, next.step), case[2], "{case:?}");
        let why = case.get(3).copied().unwrap_or_default();
        assert!(next.why.starts_with(why), "{case:?}: {}", next.why);
        rows.push(next.row);
    }
    rows.dedup();
    assert_eq!(rows.len(), 26);
}

fn violations_of(
    files: &str,
    coding: Option<TaskCounts>,
    asked: Option<&BTreeSet<Name>>,
) -> String {
    let violations = violations(&directory(files), coding, asked);
    let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn violations_are_named_with_fix() {
    for case in cases(include_str!("fixtures/violations.txt")) {
        let files = format!("plan.md # Plan; {}", case[0]);
        let lines = case[1].trim_start_matches("nothing");
        let expected = lines.replace("\\n", "\n");
        assert_eq!(violations_of(&files, None, None), expected, "{case:?}");
    }
}

#[test]
fn all_violations_are_named_at_once() {
    let files = "notes.txt; drafts/; design-review-1.md; all-code-post-review-1.md; tasks-review-1.md; \
                 tasks-review-2.md; tasks.md 1 done, 4 pending; task-1.md";
    let coding = TaskCounts {
        total: 1,
        done: 1,
        current: None,
        reviewed: 0,
    };
    let violations = violations(&directory(files), Some(coding), None);
    let rules: Vec<u8> = violations.iter().map(|one| one.rule).collect();
    assert_eq!(rules, [1, 2, 3, 4, 5, 6, 7, 9, 10]);
}

#[test]
fn reviews_by_hand_need_no_answer() {
    // They also ask for no answer to an older one.
    for number in [9, 10] {
        let to_answer = BTreeSet::from([Name::Review(Group::Plan, number)]);
        let files = "plan.md # Plan; plan-review-9.md; plan-review-10.md";
        assert_eq!(violations_of(files, None, Some(&to_answer)), "", "{number}");
    }
}

#[test]
fn table_agrees_with_counts() {
    let half = "tasks.md 1 done, 2 pending";
    let passed = "S10 tasks.md: 1 tasks are done, and 0 have passed their review; do one task per turn: set the others back to pending";
    let ahead = "S10 tasks.md: 2 tasks are done, and 0 have passed their review; do one task per turn: set the others back to pending";
    let reopened =
        "S10 tasks.md: 1 tasks are done, and 2 have passed their review; set row 2 back to done";
    let lost = "S10 tasks.md: 2 tasks are pending or done, and the plan has 3; put the missing row back, or write that of the task that the user added: the user drops tasks";
    let added = "S10 tasks.md: 2 tasks are pending or done, and the plan has 1; take the other rows out, or ask the user to run /taskie:add-task for each";
    for (table, total, done, current, expected) in [
        // The current task may already be done; so may the one under review.
        (half, 2, 1, None, ""),
        (half, 2, 0, None, ""),
        (half, 2, 0, Some(1), ""),
        (half, 2, 1, Some(2), ""),
        // If the user adds a task during a review, its row may follow later.
        (half, 3, 1, Some(2), ""),
        (half, 2, 0, Some(2), passed),
        (half, 2, 2, None, reopened),
        ("tasks.md 1 done, 2 done", 2, 0, None, ahead),
        (half, 3, 1, None, lost),
        (half, 1, 1, Some(2), added),
    ] {
        let files = format!("plan.md # Plan; {table}; task-1.md completed; task-2.md completed");
        let coding = TaskCounts {
            total,
            done,
            current,
            reviewed: 2,
        };
        assert_eq!(violations_of(&files, Some(coding), None), expected);
    }
}
