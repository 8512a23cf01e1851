//! The decision table, row by row.

use std::fs;

use claudex_loop::files::Folder;
use taskie::files::Directory;
use taskie::next::{Fields, Next, State, next};

const TABLE: &str = "| Id | Status |\n|---|---|\n";
const PLAN: (&str, &str) = ("plan.md", "## Overview\n");
const KINDS: [&str; 4] = ["plan", "tasks", "code", "all-code"];

fn files(files: &[(&str, &str)]) -> Directory {
    let kept = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(kept.path().join(name), text).unwrap();
    }
    Directory::read(&Folder::open(kept.path().try_into().unwrap()).unwrap()).unwrap()
}

fn task(number: u64, statuses: &[&str]) -> String {
    let subtask = |(at, status): (usize, &&str)| {
        let at = at + 1;
        format!("### Subtask {number}.{at}: a\n- **Status**: {status}\n")
    };
    statuses.iter().enumerate().map(subtask).collect()
}

/// Returns a table with these rows, such as `1 done, 2 pending`.
fn table(rows: &str) -> String {
    let row = |row: &str| format!("| {} |\n", row.replace(' ', " | "));
    TABLE.to_owned() + &rows.split(", ").map(row).collect::<String>()
}

/// Checks the row and the step.
#[track_caller]
fn check(state: &State, all: &[(&str, &str)], expected: &str) -> Next {
    let found = next(state, &files(all));
    assert_eq!(format!("{} {}", found.row, found.step), expected);
    found
}

/// Checks the step of a state with these words in `next_phase` and `phase`.
#[track_caller]
fn at(words: [&str; 2], task: Option<u64>, all: &[(&str, &str)], expected: &str) -> Next {
    let [next_phase, phase] = words;
    let state = State::There(Fields {
        next_phase: Some(next_phase.to_owned()).filter(|word| word != "null"),
        phase: phase.to_owned(),
        current_task: task,
    });
    check(&state, all, expected)
}

#[test]
fn reviews_not_answered_are_answered() {
    for (row, kind) in ["C1", "C2", "C3", "C4"].into_iter().zip(KINDS) {
        let post = format!("post-{kind}-review");
        let answer = format!("{row} {post}: answer the newest review");
        at([&post, "anything"], None, &[], &answer);
    }
}

#[test]
fn answered_reviews_end_the_turn() {
    for (row, kind) in ["C5", "C8", "C11", "C15"].into_iter().zip(KINDS) {
        let review = format!("{kind}-review");
        let end = format!("{row} end the turn: {review} comes next");
        at([&review, &format!("post-{review}")], None, &[], &end);
    }
    // Another review's answer is none of this one's.
    let create = "C10 create-tasks: write tasks.md and a file for each task";
    at(["tasks-review", "post-plan-review"], None, &[], create);
}

#[test]
fn reviews_of_plan_and_tasks_need_documents() {
    let plan = ["plan-review", "new-plan"];
    let end = "C6 end the turn: plan-review comes next";
    at(plan, None, &[PLAN], end);
    let write = "C7 new-plan: write or finish plan.md";
    at(plan, None, &[("plan.md", "# Plan\n")], write);
    at(plan, None, &[], write);

    let tasks = ["tasks-review", "create-tasks"];
    let rows = table("1 pending");
    let end = "C9 end the turn: tasks-review comes next";
    at(tasks, None, &[("tasks.md", &rows)], end);
    let create = "C10 create-tasks: write tasks.md and a file for each task";
    at(tasks, None, &[("tasks.md", TABLE)], create);
    at(tasks, None, &[], create);
}

#[test]
fn review_of_code_needs_a_finished_task() {
    let code = ["code-review", "complete-task"];
    let all = ("task-2.md", &*task(2, &["completed", "completed"]));
    at(code, None, &[all], "C12 ask the user");
    at(code, Some(3), &[all], "C12 ask the user");
    let none = [("task-2.md", "# Nothing\n")];
    at(code, Some(2), &none, "C12 ask the user");
    let end = "C13 end the turn: code-review comes next";
    at(code, Some(2), &[all], end);
    for (statuses, why) in [
        (["completed", "pending"], "1 of 2 subtasks"),
        (["pending", "postponed"], "0 of 2 subtasks"),
    ] {
        let some = ("task-2.md", &*task(2, &statuses));
        let step = "C14 continue-task: go on with task 2, then end the turn";
        let found = at(code, Some(2), &[some], step);
        assert!(found.why.starts_with(why), "{found:?}");
    }
}

#[test]
fn review_of_all_code_needs_all_tasks_done() {
    let all = ["all-code-review", "code-review"];
    let done = table("1 done, 2 done, 3 cancelled");
    let end = "C16 end the turn: all-code-review comes next";
    at(all, Some(2), &[("tasks.md", &done)], end);
    let half = table("1 done, 2 pending");
    let found = at(all, Some(2), &[("tasks.md", &half)], "C17 ask the user");
    assert_eq!(found.why, "1 of 2 tasks are done");
    let none = table("3 cancelled");
    at(all, Some(2), &[("tasks.md", &none)], "C17 ask the user");
    at(all, Some(2), &[], "C17 ask the user");
}

#[test]
fn work_phases_are_the_work_itself() {
    let write = "C18 new-plan: write or finish plan.md";
    at(["new-plan", ""], None, &[], write);
    let create = "C19 create-tasks: write tasks.md and a file for each task";
    at(["create-tasks", ""], None, &[], create);
    let tasks = table("1 done, 7 pending, 4 pending, 2 postponed");
    for (word, command) in [
        ("complete-task", "complete-task"),
        ("complete-task-tdd", "complete-task-tdd"),
        ("next-task", "complete-task"),
        ("next-task-tdd", "complete-task-tdd"),
    ] {
        let step = format!("C20 {command}: do task 4 with all of its subtasks");
        at([word, ""], None, &[("tasks.md", &tasks)], &step);
        let step =
            "C20 end the turn if the last task is done; otherwise ask the user to add or drop one";
        at([word, ""], None, &[], step);
    }
}

#[test]
fn finished_plan_has_no_next_step() {
    let finished = "C21 nothing: the plan is finished";
    at(["complete", "all-code-review"], None, &[], finished);
    at(["null", "complete"], None, &[], finished);
    at(["cancelled", ""], None, &[], finished);
    at(["errored", ""], None, &[], finished);
}

#[test]
fn standalone_plan_goes_by_phase() {
    let by_hand =
        "implementation next-task next-task-tdd complete-task complete-task-tdd continue-task";
    for phase in by_hand.split(' ') {
        let step = "C22 continue-task: go on with task 5, without automation";
        at(["null", phase], Some(5), &[], step);
    }
    for words in [
        ["null", "plan-review"],
        ["null", ""],
        ["continue-plan", "next-task"],
        ["add-task", "next-task"],
    ] {
        at(words, None, &[], "C23 ask the user");
    }
}

#[test]
fn unknown_word_is_refused_with_legal_words() {
    let refuse = "C24 nothing: fix next_phase in state.json";
    let found = at(["code-reveiw", ""], None, &[], refuse);
    assert_eq!(
        found.why,
        "next_phase is “code-reveiw”; the legal words are null, new-plan, create-tasks, complete-task, complete-task-tdd, \
         plan-review, post-plan-review, tasks-review, post-tasks-review, code-review, post-code-review, all-code-review, \
         post-all-code-review, complete, cancelled, errored, next-task, next-task-tdd, continue-plan, add-task"
    );
    at(["standalone", ""], None, &[], refuse);
}

#[test]
fn broken_state_offers_the_last_one() {
    let restore = "C25 ask the user to restore the last state from the journal";
    check(&State::Broken, &[], restore);
}

#[test]
fn tasks_without_state_are_read() {
    let check = |all: &[(&str, &str)], step: &str| {
        check(&State::None, all, &format!("C26 {step}"));
    };
    let tasks = table("1 done, 2 pending");
    let one = task(1, &["completed"]);
    let two = task(2, &["completed", "pending"]);
    let some = [("tasks.md", &*tasks), ("task-1.md", &*one)];
    let in_progress = [&some[..], &[("task-2.md", &two)]].concat();
    let go_on = "continue-task: go on with task 2, then end the turn";
    check(&in_progress, go_on);
    check(&some, "end the turn: code-review comes next");
    let reviewed = |text| [&some[..], &[("task-1-code-review-1.md", text)]].concat();
    let next_task = "complete-task: do task 2 with all of its subtasks";
    check(&reviewed("Fine.\n\nVERDICT: PASS\n"), next_task);
    let answer = "post-code-review: answer the newest review";
    check(&reviewed("VERDICT: PASS\n\nVERDICT: FAIL\n"), answer);
    check(&reviewed("Fine.\n"), "ask the user");
    check(&[], "ask the user");

    let tasks = table("1 pending, 2 pending");
    let one = task(1, &["pending"]);
    let pending = [PLAN, ("tasks.md", &*tasks), ("task-1.md", &*one)];
    let begin = "complete-task: do task 1 with all of its subtasks";
    check(&pending, begin);
}

#[test]
fn plan_without_state_is_read() {
    let check = |all: &[(&str, &str)], step: &str| {
        check(&State::None, all, &format!("C26 {step}"));
    };
    let write = "new-plan: write or finish plan.md";
    check(&[("plan.md", "# Plan\n")], write);
    check(&[PLAN], "end the turn: plan-review comes next");
    let reviewed = |text| [PLAN, ("plan-review-1.md", text)];
    let create = "create-tasks: write tasks.md and a file for each task";
    check(&reviewed("VERDICT: PASS\n"), create);
    let answer = "post-plan-review: answer the newest review";
    check(&reviewed("VERDICT: FAIL\n"), answer);
}
