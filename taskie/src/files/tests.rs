//! What the files of a plan say, and what is wrong with those that say nothing.

use std::os::unix::ffi::OsStrExt as _;

use claudex_loop::files::Folder;
use tempfile::TempDir;

use super::name::{Group, Name};
use super::task::TaskFile;
use super::tasks::Tasks;
use super::{Directory, MOST, is_complete};

const TABLE: &str =
    "| Id | Status | Priority | Description | Test strategy |\n|---|---|---|---|---|\n";

fn told<T: std::fmt::Debug>(parsed: super::Parsed<T>) -> Vec<String> {
    parsed
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn of_table(rows: &str) -> Vec<String> {
    told(Tasks::parse("tasks.md", &format!("{TABLE}{rows}")))
}

fn folder(files: &[(&str, &[u8])]) -> (TempDir, Folder) {
    let kept = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(kept.path().join(name), bytes).unwrap();
    }
    let folder = Folder::open(kept.path().try_into().unwrap()).unwrap();
    (kept, folder)
}

#[test]
fn names_are_read_and_written_the_same() {
    for name in [
        "state.json",
        "plan.md",
        "design.md",
        "tasks.md",
        "task-12.md",
        "plan-review-1.md",
        "design-post-review-2.md",
        "task-3-review-4.md",
        "task-3-code-post-review-10.md",
        "all-code-review-1.md",
    ] {
        assert_eq!(
            Name::parse(name).map(|name| name.to_string()).as_deref(),
            Some(name)
        );
    }
    let review = Name::Review(Group::TaskCode(3), 10);
    assert_eq!(Name::parse("task-3-code-review-10.md"), Some(review));
    for name in [
        "notes.md",
        ".hidden",
        "PLAN.md",
        "plan",
        "task-.md",
        "task-0.md",
        "task-01.md",
        "task-x.md",
        "task-+1.md",
        "plan-review.md",
        "plan-review-1",
        "plan-review-.md",
        "post-plan-review-1.md",
        "task-99999999999999999999.md",
        "all-code-review-1.md.bak",
    ] {
        assert_eq!(Name::parse(name), None, "{name}");
    }
}

#[test]
fn a_table_is_read_by_its_columns() {
    let text = "| Prerequisites | status | Id | Priority | Test strategy | Description |\n|--|--|--|--|--|--|\n\
                | – | pending | 7 | high | unit | The `parser` |\n| 7 | done | 2 | low | none | **Docs** |\n";
    let tasks = Tasks::parse("tasks.md", text).unwrap();
    assert_eq!(tasks.next().map(|row| row.id), Some(7));
    assert_eq!(tasks.row(7).unwrap().description, "The parser");
    assert_eq!(tasks.done().map(|row| row.id).collect::<Vec<_>>(), [2]);
    let windows = text.replace('\n', "\r\n");
    assert_eq!(Tasks::parse("tasks.md", &windows).unwrap(), tasks);
}

#[test]
fn a_table_says_with_lines_what_is_wrong_with_it() {
    assert_eq!(
        of_table(
            "| 1 | doing | low | a | b |\n| x | done | urgent | a | b |\n| 1 | | low | a | b |\n"
        ),
        [
            "tasks.md:3: the status is “doing”; write one of pending, done, cancelled, postponed",
            "tasks.md:4: the id is “x”; write a whole number from 1",
            "tasks.md:5: the id 1 stands twice; give each task its own",
            "tasks.md:5: the status is missing; write one of pending, done, cancelled, postponed",
        ]
    );
    assert_eq!(
        of_table("| 1 | done | low | a | b |\n| 1 | done | low | a | b |\n"),
        ["tasks.md:4: the id 1 stands twice; give each task its own"]
    );
    assert_eq!(
        of_table(""),
        ["tasks.md:1: the table has no row; write one for each task"]
    );
    assert_eq!(
        told(Tasks::parse("tasks.md", "")),
        [
            "tasks.md: there is no table; write one with the columns | Id | Status | Priority | Description | Test strategy |"
        ]
    );
    assert_eq!(
        told(Tasks::parse(
            "tasks.md",
            "# Tasks\n\n| Id | Id |\n|---|---|\n| 1 | 2 |\n"
        )),
        [
            "tasks.md:1: tasks.md is one table and nothing else; move it to plan.md or a task file",
            "tasks.md:3: the column Id stands twice; remove one",
            "tasks.md:3: there is no column Status; add it",
        ]
    );
    let two = format!("{TABLE}| 1 | done | low | a | b |\n\n{TABLE}| 2 | done | low | a | b |\n");
    assert_eq!(
        told(Tasks::parse("tasks.md", &two)),
        [
            "tasks.md:5: a second table: tasks.md is one table and nothing else; move it to plan.md or a task file"
        ]
    );
}

const TASK: &str = "# Task 2\n\nWhat it is for.\n\n### Subtask 2.1: the parser\n\n\
    - **Short description**: reads the table\n  and says where\n- **Status**: completed\n- **Must-run commands**:\n  - `cargo test`\n  \
    - `cargo clippy`, then `cargo test`\n- **Acceptance criteria**:\n  - one\n    - **Status**: nested\n  - two\n\n\
    ### Subtask 2.2: the docs\n- **Status**: awaiting-review\n- **Must-run commands**: `make docs`\n  `make links`\n\n### Notes\n- **Status**: any\n";

#[test]
fn a_task_file_is_read_with_nested_bullets() {
    let file = TaskFile::parse("task-2.md", 2, TASK).unwrap();
    let [first, second] = &*file.subtasks else {
        panic!("{file:?}")
    };
    assert_eq!((first.number, first.title.as_str()), (1, "the parser"));
    assert_eq!(
        (first.status.word(), second.status.word()),
        ("completed", "awaiting-review")
    );
    assert_eq!(first.fields[0].value, "reads the table\nand says where");
    assert_eq!(first.fields[3].value, "one\nStatus: nested\ntwo");
    assert_eq!((file.completed(), file.is_completed()), (1, false));
    assert_eq!(
        file.must_run(),
        ["cargo test", "cargo clippy", "make docs", "make links"]
    );
    assert_eq!(
        TaskFile::parse("task-2.md", 2, &TASK.replace('\n', "\r\n")).unwrap(),
        file
    );
}

/// Returns the must-run commands of a field with this value.
fn must_run(value: &str) -> Vec<String> {
    let text =
        format!("### Subtask 1.1: a\n- **Status**: pending\n- **Must-run commands**: {value}\n");
    TaskFile::parse("task-1.md", 1, &text).unwrap().must_run()
}

#[test]
fn must_run_commands_are_spans_and_fences_only() {
    for none in [
        "",
        "none",
        "None.",
        "–",
        "make check",
        "none; `make` is not there",
        "(`make` later)",
    ] {
        assert_eq!(must_run(none), [""; 0], "{none}");
    }
    for (value, commands) in [
        ("`make`", &["make"][..]),
        ("Run `make`, then `make check`.", &["make", "make check"]),
        (
            "`sh count.sh` (prints `0 failing`; input in `data`)",
            &["sh count.sh"],
        ),
        (
            "`make` (prints `ok`) and `make check`",
            &["make", "make check"],
        ),
        ("`make` must print `0 failing`", &["make"]),
        (
            "\n  - `make`: no `FAIL`\n  - `make check`",
            &["make", "make check"],
        ),
        (
            "\n  ```sh\n  # all\n  make\n  $ make check\n  ```\n  It prints `ok`.",
            &["make", "make check"],
        ),
    ] {
        assert_eq!(must_run(value), commands, "{value}");
    }
}

#[test]
fn headings_are_accepted_as_people_write_them() {
    let text = "# Task 2: all\n\n## Subtasks\n\n## Subtask 2.1: high\n- **Status**: pending\n\n\
                #### Subtask 2.2\n- **Status**: pending\n\n### Subtask 2.3 – dash\n- **Status**: completed\n";
    let file = TaskFile::parse("task-2.md", 2, text).unwrap();
    let titles: Vec<_> = file.subtasks.iter().map(|one| &*one.title).collect();
    assert_eq!(titles, ["high", "", "dash"]);
}

#[test]
fn digest_ignores_how_far_a_task_is() {
    let digest = |text: &str| TaskFile::parse("task-2.md", 2, text).unwrap().digest();
    let reviewed = digest(TASK);
    let done = TASK.replace("awaiting-review", "completed");
    assert_eq!(digest(&done), reviewed);
    assert_ne!(digest(&TASK.replace("make docs", "true")), reviewed);
}

#[test]
fn a_task_file_says_with_lines_what_is_wrong_with_it() {
    let text = "### Subtask 3.1: another task's\n- **Status**: pending\n\n\
                ### Subtask 2.3: a\n- **Status**: Completed\n\n### Subtask 2.4: b\n";
    assert_eq!(
        told(TaskFile::parse("task-2.md", 2, text)),
        [
            "task-2.md:1: “Subtask 3.1: another task's” is no subtask of task 2; write ### Subtask 2.1: title",
            "task-2.md:5: the status of subtask 2.3 is “Completed”; write one of pending, awaiting-review, \
             review-changes-requested, completed, postponed",
            "task-2.md:7: the status of subtask 2.4 is missing; write one of pending, awaiting-review, review-changes-requested, \
             completed, postponed",
        ]
    );
    assert_eq!(
        told(TaskFile::parse("task-2.md", 2, "# Nothing\n")),
        [
            "task-2.md: it has no subtask; write ### Subtask 2.1: title, with a bullet - **Status**: pending below"
        ]
    );
}

#[test]
fn the_marks_of_a_merge_are_named_and_nothing_else_is_read() {
    let marked = format!(
        "{TABLE}<<<<<<< HEAD\n| 1 | done | low | a | b |\n=======\n| 1 | what | low | a | b |\n>>>>>>> theirs\n"
    );
    let mark = "a merge left its mark here; resolve the conflict";
    assert_eq!(
        told(Tasks::parse("tasks.md", &marked)),
        [format!("tasks.md:3: {mark}"), format!("tasks.md:7: {mark}")]
    );
    assert_eq!(
        told(TaskFile::parse(
            "task-1.md",
            1,
            "<<<<<<< HEAD\n### Subtask 1.1: a\n"
        )),
        [format!("task-1.md:1: {mark}")]
    );
}

#[test]
fn a_plan_is_complete_with_an_overview_or_fifty_lines() {
    assert!(is_complete("# Plan\r\n\r\n## Overview\r\n"));
    assert!(!is_complete("# Plan\n### Overview\n"));
    assert!(is_complete(&"line\n".repeat(50)));
    assert!(!is_complete(&"line\n".repeat(49)));
}

#[test]
fn a_directory_is_read_with_byte_order_marks_and_nothing_too_large() {
    let table = format!("\u{feff}{TABLE}| 1 | done | low | a | b |\n").replace('\n', "\r\n");
    let large = vec![b'x'; usize::try_from(MOST).unwrap() * 10];
    let (_kept, folder) = folder(&[
        ("tasks.md", table.as_bytes()),
        ("plan.md", b"\xef\xbb\xbf## Overview\n"),
        ("task-1.md", &large),
        ("task-2.md", b"one\ntwo \xff\n"),
    ]);
    let directory = Directory::read(&folder).unwrap();
    assert_eq!(directory.table().unwrap().rows.len(), 1);
    assert!(directory.has_complete_plan());
    let of = |number: u64| told(directory.task_files[&number].clone());
    assert_eq!(
        of(1),
        ["task-1.md: it is larger than 1048576 bytes; shorten it"]
    );
    assert_eq!(of(2), ["task-2.md:2: it is no UTF-8; save it as UTF-8"]);
}

#[test]
fn a_name_that_is_no_text_counts() {
    let (kept, folder) = folder(&[("plan.md", b"")]);
    let name = std::ffi::OsStr::from_bytes(b"\xff.md");
    std::fs::write(kept.path().join(name), "").unwrap();
    let directory = Directory::read(&folder).unwrap();
    assert_eq!(
        directory.entries.keys().collect::<Vec<_>>(),
        ["plan.md", "\u{fffd}.md"]
    );
}

#[test]
fn a_large_table_costs_no_more_than_its_size() {
    let rows: String = (1..=20_000)
        .map(|id| format!("| {id} | done | low | a | |\n"))
        .collect();
    let begun = std::time::Instant::now();
    let table = format!("{TABLE}{rows}");
    assert_eq!(Tasks::parse("tasks.md", &table).unwrap().rows.len(), 20_000);
    let wrong = table.replace("done", "what");
    assert_eq!(Tasks::parse("tasks.md", &wrong).unwrap_err().len(), 20_000);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn a_plan_that_is_not_there_is_an_empty_directory() {
    let kept = tempfile::tempdir().unwrap();
    let directory = Directory::of_plan(kept.path().try_into().unwrap(), "billing").unwrap();
    assert!(directory.entries.is_empty());
}
