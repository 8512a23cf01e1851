//! S1 to S10, a case each and one with all.

use std::collections::BTreeSet;
use std::fs;

use claudex_loop::files::Folder;
use taskie::files::Directory;
use taskie::files::name::{Group, Name};
use taskie::rules::{Coding, violations};

const TABLE: &str = "| Id | Status |\n|---|---|\n";
const SUBTASK: &str = "### Subtask 1.1: all of it\n- **Status**: completed\n";
const PLAN: (&str, &str) = ("plan.md", "# Plan\n");

/// Reads a directory with these files; a name that ends in `/` is a folder.
fn directory(files: &[(&str, &str)]) -> Directory {
    let kept = tempfile::tempdir().unwrap();
    for (name, text) in files {
        match name.strip_suffix('/') {
            Some(folder) => fs::create_dir(kept.path().join(folder)).unwrap(),
            None => fs::write(kept.path().join(name), text).unwrap(),
        }
    }
    Directory::read(&Folder::open(kept.path().try_into().unwrap()).unwrap()).unwrap()
}

/// Checks what breaks a rule in a directory with plan.md and these files.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let directory = directory(&[&[PLAN], files].concat());
    let found = violations(&directory, None, None);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn complete_directory_breaks_no_rule() {
    let table = format!("{TABLE}| 1 | done |\n| 2 | postponed |\n");
    let files = [
        ("state.json", "{}"),
        ("design.md", ""),
        ("tasks.md", &table),
        ("task-1.md", SUBTASK),
        ("plan-review-1.md", ""),
        ("plan-post-review-1.md", ""),
        ("plan-review-2.md", ""),
        ("design-review-1.md", ""),
        ("task-1-code-review-1.md", ""),
        ("all-code-review-1.md", ""),
    ];
    check(&files, &[]);
}

#[test]
fn s1_missing_plan_is_named() {
    let found = violations(&directory(&[]), None, None);
    assert_eq!(found[0].to_string(), "S1 plan.md: it is missing; write it");
}

#[test]
fn s2_unknown_and_hidden_names_are_named() {
    let problem = "a plan has no file of this name; move it out of the plan’s directory";
    for name in [".notes", "task-01.md"] {
        check(&[(name, "")], &[&format!("S2 {name}: {problem}")]);
    }
}

#[test]
fn s3_folders_are_named() {
    let problem = "S3 drafts: it is a folder; move it out of the plan’s directory";
    check(&[("drafts/", "")], &[problem]);
}

#[test]
fn s4_reviews_without_documents_are_named() {
    for (review, document) in [
        ("design-review-1.md", "design.md"),
        ("task-3-code-review-1.md", "task-3.md"),
        ("tasks-review-1.md", "tasks.md"),
    ] {
        let problem = "to which it belongs, is missing; write that, or remove the review";
        check(
            &[(review, "")],
            &[&format!("S4 {review}: {document}, {problem}")],
        );
    }
}

#[test]
fn s5_answers_without_reviews_are_named() {
    check(
        &[("plan-review-1.md", ""), ("plan-post-review-2.md", "")],
        &[
            "S5 plan-post-review-2.md: plan-review-2.md, to which it belongs, is missing; name it after the review that it answers",
        ],
    );
}

#[test]
fn s6_older_reviews_without_answers_are_named() {
    let table = format!("{TABLE}| 1 | done |\n");
    let files = [
        PLAN,
        ("tasks.md", &*table),
        ("task-1.md", SUBTASK),
        ("plan-review-9.md", ""),
        ("plan-review-10.md", ""),
        ("task-1-review-1.md", ""),
        ("task-1-code-review-1.md", ""),
    ];
    check(
        &files[1..],
        &[
            "S6 plan-review-9.md: a newer review is there, and this one has no answer; write plan-post-review-9.md",
        ],
    );
    // A review that was made by hand or cut off needs no answer, and asks for none of an older one.
    for number in [9, 10] {
        let asked = BTreeSet::from([Name::Review(Group::Plan, number)]);
        let found = violations(&directory(&files), None, Some(&asked));
        assert_eq!(found, [], "{number}");
    }
}

#[test]
fn s7_rows_and_task_files_need_each_other() {
    let table = format!("{TABLE}| 1 | pending |\n| 2 | cancelled |\n");
    check(
        &[("tasks.md", &table)],
        &["S7 tasks.md: task-1.md is missing, and its row is pending or done; write it"],
    );
    check(
        &[("task-1.md", SUBTASK)],
        &[
            "S7 task-1.md: tasks.md, to which it belongs, is missing; write it, with a row for each task",
        ],
    );
}

#[test]
fn s8_text_beside_the_table_is_named() {
    check(
        &[("tasks.md", "| Id |\n")],
        &[
            "S8 tasks.md:1: tasks.md is one table and nothing else; move it to plan.md or a task file",
        ],
    );
}

#[test]
fn s9_files_beyond_limit_are_not_read() {
    let large = "x".repeat(1024 * 1024);
    let names: Vec<String> = (1..=9).map(|task| format!("task-{task}.md")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), &*large)).collect();
    files.push(("tasks.md", "| Id | Status |\n|---|---|\n| 1 | pending |\n"));
    let found = violations(&directory(&files), None, None);
    let unread = "larger than 8388608 bytes together; shorten it";
    let unread = found.iter().filter(|one| one.what.ends_with(unread));
    assert_eq!(unread.count(), 2, "{found:?}");
}

#[test]
fn s10_table_agrees_with_counts() {
    let count = |rows: [&str; 2], total, done, current| {
        let table = format!("{TABLE}| 1 | {} |\n| 2 | {} |\n", rows[0], rows[1]);
        let second = SUBTASK.replace("1.1", "2.1");
        let files = [
            PLAN,
            ("tasks.md", &*table),
            ("task-1.md", SUBTASK),
            ("task-2.md", &second),
        ];
        let coding = Coding {
            total,
            done,
            current,
        };
        let found = violations(&directory(&files), Some(coding), None);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        found.join("\n")
    };
    let half = ["done", "pending"];
    // The task that is being done may be done by now; the one under review as well.
    for (done, current) in [(1, None), (0, None), (0, Some(1)), (1, Some(2))] {
        assert_eq!(count(half, 2, done, current), "", "{done}");
    }
    // The row of a task that the user adds during a review may follow.
    assert_eq!(count(half, 3, 1, Some(2)), "");
    let passed = "S10 tasks.md: 1 tasks are done, and 0 have passed their review; a task is done once it has its own turn";
    assert_eq!(count(half, 2, 0, Some(2)), passed);
    let ahead = "S10 tasks.md: 2 tasks are done, and 0 have passed their review; a task is done once it has its own turn";
    assert_eq!(count(["done", "done"], 2, 0, None), ahead);
    let lost = "S10 tasks.md: 2 tasks are pending or done, and the plan has 3; put the table back: the user adds and drops tasks";
    assert_eq!(count(half, 3, 1, None), lost);
    let added = "S10 tasks.md: 2 tasks are pending or done, and the plan has 1; put the table back: the user adds and drops tasks";
    assert_eq!(count(half, 1, 1, Some(2)), added);
}

#[test]
fn all_violations_are_named_at_once() {
    let table = format!("{TABLE}| 1 | done |\n| 4 | pending |\n");
    let files = [
        ("notes.txt", ""),
        ("drafts/", ""),
        ("design-review-1.md", ""),
        ("all-code-post-review-1.md", ""),
        ("tasks-review-1.md", ""),
        ("tasks-review-2.md", ""),
        ("tasks.md", &table),
        ("task-1.md", "# Nothing\n"),
    ];
    let coding = Coding {
        total: 1,
        done: 1,
        current: None,
    };
    let found = violations(&directory(&files), Some(coding), None);
    let rules: Vec<u8> = found.iter().map(|one| one.rule).collect();
    assert_eq!(rules, [1, 2, 3, 4, 5, 6, 7, 9, 10]);
}
