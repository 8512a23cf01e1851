//! The decision table, row by row.

use std::fs;

use claudex_loop::files::Folder;
use taskie::files::Directory;
use taskie::next::{Kind, Next, State, Step, WORDS, next};

const TABLE: &str =
    "| Id | Status | Priority | Description | Test strategy |\n|---|---|---|---|---|\n";

fn files(files: &[(&str, &str)]) -> Directory {
    let kept = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(kept.path().join(name), text).unwrap();
    }
    Directory::read(&Folder::open(kept.path().try_into().unwrap()).unwrap()).unwrap()
}

fn state(
    next_phase: impl Into<Option<&'static str>>,
    phase: &str,
    current_task: Option<u64>,
) -> State {
    State::There {
        next_phase: next_phase.into().map(str::to_owned),
        phase: phase.to_owned(),
        current_task,
    }
}

fn task(number: u64, statuses: &[&str]) -> String {
    let subtask = |(at, status): (usize, &&str)| {
        format!(
            "### Subtask {number}.{}: a\n- **Status**: {status}\n",
            at + 1
        )
    };
    statuses.iter().enumerate().map(subtask).collect()
}

fn table(rows: &[(u64, &str)]) -> String {
    let rows = rows
        .iter()
        .map(|(id, status)| format!("| {id} | {status} | low | a | b |\n"));
    TABLE.to_owned() + &rows.collect::<String>()
}

/// Checks the row and the step of a state.
fn row(state: &State, all: &[(&str, &str)], row: &str, step: Step) -> Next {
    let found = next(state, &files(all));
    assert_eq!((found.row, &found.step), (row, &step), "{found:?}");
    found
}

#[test]
fn c1_to_c4_answer_the_newest_review() {
    for (at, (kind, post)) in [
        (Kind::Plan, "post-plan-review"),
        (Kind::Tasks, "post-tasks-review"),
        (Kind::Code, "post-code-review"),
        (Kind::AllCode, "post-all-code-review"),
    ]
    .into_iter()
    .enumerate()
    {
        let c = format!("C{}", at + 1);
        row(
            &state(post, "anything", None),
            &[],
            &c,
            Step::PostReview(kind),
        );
    }
}

#[test]
fn c5_c8_c11_c15_end_the_turn_once_the_review_is_answered() {
    for ((kind, word), c) in Kind::ALL.into_iter().zip(["C5", "C8", "C11", "C15"]) {
        let answered = State::There {
            next_phase: Some(word.to_owned()),
            phase: format!("post-{word}"),
            current_task: None,
        };
        row(&answered, &[], c, Step::EndTurn(kind));
    }
    // Another review's answer is none of this one's.
    let other = state("tasks-review", "post-plan-review", None);
    row(&other, &[], "C10", Step::CreateTasks);
}

#[test]
fn c6_c7_look_at_the_plan() {
    let plan = state("plan-review", "new-plan", None);
    row(
        &plan,
        &[("plan.md", "## Overview\n")],
        "C6",
        Step::EndTurn(Kind::Plan),
    );
    row(&plan, &[("plan.md", "# Plan\n")], "C7", Step::NewPlan);
    row(&plan, &[], "C7", Step::NewPlan);
}

#[test]
fn c9_c10_look_at_the_tasks() {
    let tasks = state("tasks-review", "create-tasks", None);
    row(
        &tasks,
        &[("tasks.md", &table(&[(1, "pending")]))],
        "C9",
        Step::EndTurn(Kind::Tasks),
    );
    row(&tasks, &[("tasks.md", TABLE)], "C10", Step::CreateTasks);
    row(&tasks, &[], "C10", Step::CreateTasks);
}

#[test]
fn c12_c13_c14_look_at_the_current_task() {
    let code = |task| state("code-review", "complete-task", task);
    let all = ("task-2.md", &*task(2, &["completed", "completed"]));
    row(&code(None), &[all], "C12", Step::Ask);
    row(&code(Some(3)), &[all], "C12", Step::Ask);
    row(
        &code(Some(2)),
        &[("task-2.md", "# Nothing\n")],
        "C12",
        Step::Ask,
    );
    row(&code(Some(2)), &[all], "C13", Step::EndTurn(Kind::Code));
    for (statuses, said) in [
        (["completed", "pending"], "1 of 2 subtasks"),
        (["pending", "postponed"], "0 of 2 subtasks"),
    ] {
        let step = Step::ContinueTask {
            task: Some(2),
            automated: true,
        };
        let found = row(
            &code(Some(2)),
            &[("task-2.md", &task(2, &statuses))],
            "C14",
            step,
        );
        assert!(found.why.starts_with(said), "{found:?}");
    }
}

#[test]
fn c16_c17_look_at_all_tasks() {
    let all = state("all-code-review", "code-review", Some(2));
    let done = table(&[(1, "done"), (2, "done"), (3, "cancelled")]);
    row(
        &all,
        &[("tasks.md", &done)],
        "C16",
        Step::EndTurn(Kind::AllCode),
    );
    let found = row(
        &all,
        &[("tasks.md", &table(&[(1, "done"), (2, "pending")]))],
        "C17",
        Step::Ask,
    );
    assert_eq!(found.why, "1 of 2 tasks are done");
    row(
        &all,
        &[("tasks.md", &table(&[(3, "cancelled")]))],
        "C17",
        Step::Ask,
    );
    row(&all, &[], "C17", Step::Ask);
}

#[test]
fn c18_c19_c20_are_the_work_itself() {
    row(&state("new-plan", "", None), &[], "C18", Step::NewPlan);
    row(
        &state("create-tasks", "", None),
        &[],
        "C19",
        Step::CreateTasks,
    );
    let tasks = table(&[
        (1, "done"),
        (7, "pending"),
        (4, "pending"),
        (2, "postponed"),
    ]);
    for (word, tdd) in [
        ("complete-task", false),
        ("complete-task-tdd", true),
        ("next-task", false),
        ("next-task-tdd", true),
    ] {
        let step = |task| Step::CompleteTask { task, tdd };
        row(
            &state(word, "", None),
            &[("tasks.md", &tasks)],
            "C20",
            step(Some(4)),
        );
        row(&state(word, "", None), &[], "C20", step(None));
    }
}

#[test]
fn c21_is_finished() {
    for (word, phase) in [
        (Some("complete"), "all-code-review"),
        (None, "complete"),
        (Some("cancelled"), ""),
        (Some("errored"), ""),
    ] {
        row(&state(word, phase, None), &[], "C21", Step::Finished);
    }
}

#[test]
fn c22_c23_have_no_automation() {
    for phase in [
        "implementation",
        "next-task",
        "next-task-tdd",
        "complete-task",
        "complete-task-tdd",
        "continue-task",
    ] {
        let step = Step::ContinueTask {
            task: Some(5),
            automated: false,
        };
        row(&state(None, phase, Some(5)), &[], "C22", step);
    }
    for (word, phase) in [
        (None, "plan-review"),
        (None, ""),
        (Some("continue-plan"), "next-task"),
        (Some("add-task"), "next-task"),
    ] {
        row(&state(word, phase, None), &[], "C23", Step::Ask);
    }
}

#[test]
fn c24_names_the_word_and_those_that_are_legal() {
    let found = row(&state("code-reveiw", "", None), &[], "C24", Step::Refuse);
    assert!(found.why.contains("“code-reveiw”"), "{found:?}");
    assert!(
        WORDS.iter().all(|word| found.why.contains(word)),
        "{found:?}"
    );
    // And each of those is another row.
    for word in WORDS {
        assert_ne!(
            next(&state(word, "", None), &files(&[])).row,
            "C24",
            "{word}"
        );
    }
}

#[test]
fn c25_offers_the_last_state() {
    row(&State::Broken, &[], "C25", Step::Restore);
}

#[test]
fn c26_reads_the_files() {
    let tasks = table(&[(1, "done"), (2, "pending")]);
    let (one, two) = (task(1, &["completed"]), task(2, &["completed", "pending"]));
    let some = [("tasks.md", &*tasks), ("task-1.md", &*one)];
    let none = State::None;
    let in_progress = Step::ContinueTask {
        task: Some(2),
        automated: true,
    };
    row(
        &none,
        &[&some[..], &[("task-2.md", &two)]].concat(),
        "C26",
        in_progress,
    );
    row(&none, &some, "C26", Step::CodeReview(1));
    let reviewed = |said| [&some[..], &[("task-1-code-review-1.md", said)]].concat();
    let next_task = Step::CompleteTask {
        task: Some(2),
        tdd: false,
    };
    row(
        &none,
        &reviewed("Fine.\n\nVERDICT: PASS\n"),
        "C26",
        next_task,
    );
    row(
        &none,
        &reviewed("VERDICT: PASS\n\nVERDICT: FAIL\n"),
        "C26",
        Step::PostReview(Kind::Code),
    );
    row(&none, &reviewed("Fine.\n"), "C26", Step::Ask);
    row(&none, &[], "C26", Step::Ask);
}

#[test]
fn c26_goes_by_plan_alone_or_pending_tasks() {
    let none = State::None;
    let plan = ("plan.md", "## Overview\n");
    let reviewed = |said| [plan, ("plan-review-1.md", said)];
    row(&none, &[("plan.md", "# Plan\n")], "C26", Step::NewPlan);
    row(&none, &[plan], "C26", Step::EndTurn(Kind::Plan));
    let pass = reviewed("VERDICT: PASS\n");
    row(&none, &pass, "C26", Step::CreateTasks);
    let fail = reviewed("VERDICT: FAIL\n");
    row(&none, &fail, "C26", Step::PostReview(Kind::Plan));

    let first = Step::CompleteTask {
        task: Some(1),
        tdd: false,
    };
    let tasks = table(&[(1, "pending"), (2, "pending")]);
    let (one, two) = (task(1, &["pending"]), task(2, &["pending"]));
    let pending = [
        plan,
        ("tasks.md", &*tasks),
        ("task-1.md", &one),
        ("task-2.md", &two),
    ];
    row(&none, &pending, "C26", first);
}
