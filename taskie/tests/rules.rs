//! S1 to S10, a case each and one with all.

use std::collections::BTreeSet;
use std::fs;

use claudex_loop::files::Folder;
use taskie::files::Directory;
use taskie::files::name::{Group, Name};
use taskie::rules::{Coding, Context, violations};

const TABLE: &str =
    "| Id | Status | Priority | Description | Test strategy |\n|---|---|---|---|---|\n";
const SUBTASK: &str = "### Subtask 1.1: all of it\n- **Status**: completed\n";

/// Returns what breaks a rule in a directory with these files; a name that ends in `/` is a folder.
fn broken_in(files: &[(&str, &str)], context: &Context) -> Vec<String> {
    let kept = tempfile::tempdir().unwrap();
    for (name, text) in files {
        match name.strip_suffix('/') {
            Some(folder) => fs::create_dir(kept.path().join(folder)).unwrap(),
            None => fs::write(kept.path().join(name), text).unwrap(),
        }
    }
    let folder = Folder::open(kept.path().try_into().unwrap()).unwrap();
    let directory = Directory::read(&folder).unwrap();
    violations(&directory, context)
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// The same with plan.md and nothing else besides.
fn broken(files: &[(&str, &str)]) -> Vec<String> {
    broken_in(
        &[&[("plan.md", "# Plan\n")], files].concat(),
        &Context::default(),
    )
}

fn coding(table: &str, total: u64, done: u64, current: Option<u64>) -> Vec<String> {
    let context = Context {
        coding: Some(Coding {
            total,
            done,
            current,
            added: false,
        }),
        ..Context::default()
    };
    let second = SUBTASK.replace("1.1", "2.1");
    let files = [
        ("plan.md", "# Plan\n"),
        ("tasks.md", table),
        ("task-1.md", SUBTASK),
        ("task-2.md", &second),
    ];
    broken_in(&files, &context)
}

#[test]
fn a_directory_as_it_should_be_breaks_none() {
    let table = format!("{TABLE}| 1 | done | low | a | b |\n| 2 | postponed | low | a | b |\n");
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
    assert_eq!(broken(&files), [""; 0]);
}

#[test]
fn s1_a_plan_has_its_plan() {
    assert_eq!(
        broken_in(&[], &Context::default()),
        ["S1 plan.md: it is missing; write it"]
    );
}

#[test]
fn s2_only_the_names_of_a_plan_hidden_ones_too() {
    assert_eq!(
        broken(&[(".notes", ""), ("task-01.md", "")]),
        [
            "S2 .notes: a plan has no file of this name; move it out of the plan’s directory",
            "S2 task-01.md: a plan has no file of this name; move it out of the plan’s directory",
        ]
    );
}

#[test]
fn s3_nothing_is_nested() {
    assert_eq!(
        broken(&[("drafts/", "")]),
        ["S3 drafts: it is a folder; move it out of the plan’s directory"]
    );
}

#[test]
fn s4_a_review_has_what_it_reviews() {
    let of = |review: &str, document: &str| {
        format!(
            "S4 {review}: {document}, which it reviews, is missing; write that, or remove the review"
        )
    };
    assert_eq!(
        broken(&[
            ("design-review-1.md", ""),
            ("task-3-code-review-1.md", ""),
            ("tasks-review-1.md", "")
        ]),
        [
            of("design-review-1.md", "design.md"),
            of("task-3-code-review-1.md", "task-3.md"),
            of("tasks-review-1.md", "tasks.md"),
        ]
    );
}

#[test]
fn s5_an_answer_has_its_review() {
    assert_eq!(
        broken(&[
            ("plan-review-1.md", ""),
            ("plan-post-review-1.md", ""),
            ("plan-post-review-2.md", "")
        ]),
        [
            "S5 plan-post-review-2.md: plan-review-2.md, which it answers, is missing; name it after the review that it answers"
        ]
    );
}

#[test]
fn s6_every_review_but_the_newest_has_its_answer() {
    let table = format!("{TABLE}| 1 | done | low | a | b |\n");
    let files = [
        ("plan.md", "# Plan\n"),
        ("tasks.md", &table),
        ("task-1.md", SUBTASK),
        ("plan-review-9.md", ""),
        ("plan-review-10.md", ""),
        ("task-1-review-1.md", ""),
        ("task-1-code-review-1.md", ""),
    ];
    let answer = "a newer review is there, and this one has no answer; write plan-post-review-9.md";
    assert_eq!(
        broken_in(&files, &Context::default()),
        [format!("S6 plan-review-9.md: {answer}")]
    );
    // A review that was made by hand or cut off needs no answer, and asks for none of an older one.
    for number in [9, 10] {
        let context = Context {
            asked: Some(BTreeSet::from([Name::Review(Group::Plan, number)])),
            ..Context::default()
        };
        assert_eq!(broken_in(&files, &context), [""; 0], "{number}");
    }
}

#[test]
fn s7_task_files_and_rows_belong_together() {
    let table = format!("{TABLE}| 1 | pending | low | a | b |\n| 2 | cancelled | low | a | b |\n");
    assert_eq!(
        broken(&[("tasks.md", &table)]),
        ["S7 tasks.md: task 1 is pending, and task-1.md is missing; write it"]
    );
    assert_eq!(
        broken(&[("task-1.md", SUBTASK)]),
        ["S7 task-1.md: tasks.md is missing; write it, with a row for each task"]
    );
}

#[test]
fn s8_the_table_is_one() {
    assert_eq!(
        broken(&[("tasks.md", "| Id |\n")]),
        [
            "S8 tasks.md:1: tasks.md is one table and nothing else; move it to plan.md or a task file",
            "S8 tasks.md: there is no table; write one with the columns | Id | Status | Priority | Description | Test strategy |",
        ]
    );
}

#[test]
fn s9_a_task_has_subtasks_with_statuses() {
    let table = format!("{TABLE}| 1 | pending | low | a | b |\n");
    assert_eq!(
        broken(&[("tasks.md", &table), ("task-1.md", "# Nothing\n")]),
        [
            "S9 task-1.md: it has no subtask; write ### Subtask 1.1: title, with a bullet - **Status**: pending below"
        ]
    );
}

#[test]
fn s9_files_beyond_limit_are_not_read() {
    let table = format!("{TABLE}| 1 | pending | low | a | b |\n");
    let large = "x".repeat(1024 * 1024);
    let names: Vec<String> = (1..=9).map(|task| format!("task-{task}.md")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), &*large)).collect();
    files.push(("tasks.md", &table));
    let broken = broken(&files);
    let told = "the files of the plan are larger than 8388608 bytes together; shorten them";
    let unread = broken.iter().filter(|line| line.ends_with(told)).count();
    assert_eq!((unread, broken.len()), (2, 9), "{broken:?}");
}

#[test]
fn s10_the_table_agrees_with_the_state_while_coding() {
    let (one, both) = (
        "| 1 | done | low | a | b |\n",
        "| 2 | done | low | a | b |\n",
    );
    let pending = "| 2 | pending | low | a | b |\n";
    let half = format!("{TABLE}{one}{pending}");
    // The task that is being done may be done by now; the one under review as well.
    for (done, current) in [(1, None), (0, None), (0, Some(1)), (1, Some(2))] {
        assert_eq!(coding(&half, 2, done, current), [""; 0], "{done}");
    }
    let passed =
        "1 tasks are done, and 0 have passed their review; a task is done once it has its own turn";
    assert_eq!(
        coding(&half, 2, 0, Some(2)),
        [format!("S10 tasks.md: {passed}")]
    );
    let ahead =
        "2 tasks are done, and 0 have passed their review; a task is done once it has its own turn";
    assert_eq!(
        coding(&format!("{TABLE}{one}{both}"), 2, 0, None),
        [format!("S10 tasks.md: {ahead}")]
    );
    assert_eq!(
        coding(&half, 3, 1, None),
        [
            "S10 tasks.md: 2 tasks are pending or done, and the plan has 3; put the table back: the user adds and drops tasks"
        ]
    );
}

#[test]
fn s10_waits_for_the_row_of_a_task_that_a_person_added() {
    let table = format!("{TABLE}| 1 | done | low | a | b |\n| 2 | pending | low | a | b |\n");
    let second = SUBTASK.replace("1.1", "2.1");
    let files = [
        ("plan.md", "# Plan\n"),
        ("tasks.md", &*table),
        ("task-1.md", SUBTASK),
        ("task-2.md", &second),
    ];
    for (total, broken) in [(3, 0), (2, 0), (1, 1)] {
        let coding = Some(Coding {
            total,
            done: 1,
            current: Some(2),
            added: true,
        });
        let context = Context {
            coding,
            ..Context::default()
        };
        assert_eq!(broken_in(&files, &context).len(), broken, "{total}");
    }
}

#[test]
fn all_violations_are_named_at_once() {
    let table = format!("{TABLE}| 1 | done | low | a | b |\n| 4 | pending | low | a | b |\n");
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
    let coding = Some(Coding {
        total: 1,
        done: 1,
        current: None,
        added: false,
    });
    let rules = |files: &[(&str, &str)]| -> Vec<String> {
        let context = Context {
            coding,
            ..Context::default()
        };
        let said = broken_in(files, &context);
        said.iter()
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        rules(&files),
        ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S9", "S10"]
    );
    let mut broken_table = files;
    broken_table[6].1 = "Nothing.\n";
    assert_eq!(
        rules(&broken_table),
        ["S1", "S2", "S3", "S4", "S5", "S6", "S8", "S8", "S9"]
    );
}
