//! Trouble in real use: dead sessions, agents that cut corners, interrupted reviews.

use std::path::Path;
use std::time::{Duration, SystemTime};

use claudex_testkit::has;
use serde_json::json;

use crate::seed::in_review;
use crate::support::{ID, Project, Ran, task_file};

/// Types a slash command in another session.
fn other_session(project: &Project, prompt_id: &str, command: &str, words: &str) -> Ran {
    let input = json!({
        "session_id": "other", "hook_event_name": "UserPromptSubmit", "cwd": project.root,
        "prompt": format!("/taskie:{command} {words}"), "prompt_id": prompt_id,
    });
    let hook = project.folder.hook("prompt", input.to_string().as_bytes());
    Ran(hook.unwrap()).done();
    let arguments = [command, "--from-prompt"];
    Ran(project.folder.agent_of("other", &arguments).unwrap())
}

fn age(folder: &Path) {
    let then = SystemTime::now() - Duration::from_secs(24 * 3600);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            age(&path);
        }
        let file = std::fs::File::open(&path).unwrap();
        file.set_modified(then).unwrap();
    }
}

/// Reviews the phase with a PASS, and ends the turn.
fn pass(project: &Project) {
    project.blocks();
    project.review(None).done();
    project.ends();
}

fn next_phase(project: &Project) -> String {
    project.state(ID)["next_phase"].as_str().unwrap().to_owned()
}

/// Returns a project in the review of its plan, with a limit of reviews per cycle.
fn planned(max_reviews: u64) -> Project {
    let project = Project::new();
    let words = format!("max_reviews={max_reviews} {ID}");
    project.slash("new-plan", &words).done();
    project.write(ID, "plan.md", "## Overview\n");
    project
}

/// Returns a project at its first task, which needs only one PASS.
fn at_task() -> Project {
    let project = planned(1);
    pass(&project);
    project.tasks(ID, 2, 0);
    pass(&project);
    assert_eq!(next_phase(&project), "complete-task");
    project
}

#[test]
fn continued_plan_belongs_to_new_session() {
    let project = planned(4);
    let message = other_session(&project, "1", "continue-plan", ID).refusal();
    has(
        &message,
        "session kit-session may be working on loop billing",
    );
    has(&message, "taskie adopt billing");
    other_session(&project, "1", "plan-review", ID).refusal();
    age(&project.root.join(".taskie"));
    let message = other_session(&project, "2", "continue-plan", ID).done();
    has(&message, "Loop billing belongs to this session now.");
    let stop = json!({ "session_id": "other", "hook_event_name": "Stop", "cwd": project.root });
    let stop = project.folder.hook("stop", stop.to_string().as_bytes());
    has(&stop.unwrap().out, "taskie review billing");
}

#[test]
fn pass_beyond_limit_changes_nothing() {
    let besides = json!({ "max_reviews": 2, "phase_iteration": 2, "consecutive_clean": 1 });
    let project = in_review("plan-review", true, &besides);
    let before = project.state(ID);
    project.review(None).done();
    project.ends();
    assert_eq!(project.state(ID), before);
}

#[test]
fn list_counts_findings_of_newest_review() {
    let project = planned(4);
    project.blocks();
    project.review(Some("High")).done();
    has(&project.person(&["list"]).done(), "1/0/0");
}

#[test]
fn each_review_has_its_own_prompt() {
    for (review, looks_for) in [
        ("plan-review", "Scope creep"),
        ("tasks-review", "Testability"),
        ("code-review", "Shortcuts"),
        ("all-code-review", "Dead code"),
    ] {
        let project = in_review(review, true, &json!({}));
        project.review(None).done();
        has(&project.prompt(), looks_for);
    }
}

#[test]
fn task_without_code_is_not_done() {
    let project = at_task();
    project.tasks(ID, 2, 1);
    std::fs::remove_file(project.root.join("part-1.txt")).unwrap();
    has(
        &project.blocks(),
        "no file of the project has changed since it began",
    );
    has(&project.ends(), "write the code of task 1");
    assert_eq!(next_phase(&project), "complete-task");
}

#[test]
fn failed_task_is_reviewed_again_after_pause() {
    let project = at_task();
    project.tasks(ID, 2, 1);
    project.blocks();
    project.review(Some("High")).done();
    project.blocks();
    project.person(&["pause", ID]).done();
    has(&project.slash("complete-task", "").done(), "task 1");
    project.blocks();
    assert_eq!(next_phase(&project), "code-review");
    // Without automation, nothing is left to do but the review of all code.
    project.person(&["pause", ID]).done();
    project.tasks(ID, 3, 3);
    let row = project
        .read("tasks.md")
        .replace("| 1 | done", "| 1 | cancelled");
    project.write(ID, "tasks.md", &row);
    project.person(&["complete-task", ID]).done();
    assert_eq!(next_phase(&project), "all-code-review");
}

#[test]
fn task_after_dropped_one_is_reviewed() {
    let project = at_task();
    project.tasks(ID, 2, 1);
    pass(&project);
    project.tasks(ID, 2, 2);
    let row = project
        .read("tasks.md")
        .replace("| 1 | done", "| 1 | cancelled");
    project.write(ID, "tasks.md", &row);
    project.person(&["drop-task", "1"]).done();
    project.blocks();
    assert_eq!(next_phase(&project), "code-review");
}

#[test]
fn task_of_denied_agent_is_not_done() {
    // The client denies every permission: the agent writes nothing and only ends its turns.
    let project = at_task();
    for _ in 0..4 {
        project.stop();
    }
    project.agent(&["review"]).refusal();
    let refusal = project.agent(&["advance", "code-review"]).refusal();
    has(&refusal, "no finished task is waiting for review");
    project.ends();
    assert_eq!(next_phase(&project), "complete-task");
}

#[test]
fn idle_agent_is_reminded_once() {
    let project = Project::new();
    let words = "fix the parser; $(touch x) `y`\n\"z\"";
    project.slash("new-plan", words).done();
    has(&project.blocks(), "$(touch x) `y`");
    has(&project.ends(), "waits for plan.md");
    let id = "fix-the-parser-touch-x-y-z";
    assert_eq!(project.state(id)["next_phase"], "new-plan");
}

#[test]
fn must_run_command_that_is_not_allowed_is_named() {
    let project = planned(0);
    // Without reviews, the stop that finds the plan skips its review as well.
    has(&project.ends(), "create-tasks");
    project.tasks(ID, 1, 0);
    has(&project.ends(), "does not list them: ‘test -e README.md’");
    project.tasks(ID, 1, 1);
    has(&project.ends(), "does not list them: ‘test -e README.md’");
    assert_eq!(next_phase(&project), "complete");
}

#[test]
fn more_reviews_are_granted_by_slash_command() {
    let besides = json!({ "max_reviews": 2, "phase_iteration": 2, "consecutive_clean": 0 });
    let project = in_review("plan-review", true, &besides);
    has(
        &project.slash("continue-plan", ID).done(),
        "belongs to this session now",
    );
    let message = project.slash("more", &format!("2 {ID}")).done();
    has(&message, "review 3 of at most 4");
}

#[test]
fn changed_work_after_pass_is_reviewed_again() {
    let project = at_task();
    project.tasks(ID, 2, 1);
    project.blocks();
    for file in ["part-1.txt", ".taskie/plans/billing/task-1.md"] {
        project.review(None).done();
        let path = project.root.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text + "\nAnd more.\n").unwrap();
        let (_, message) = project.stop();
        has(&message, "taskie review billing");
        assert_eq!(next_phase(&project), "code-review", "{file}");
    }
    project.review(None).done();
    project.ends();
    assert_eq!(project.state(ID)["current_task"], 1);
    assert_eq!(next_phase(&project), "complete-task");
}

#[test]
fn plan_changed_after_its_pass_is_reviewed_again() {
    let project = planned(1);
    project.blocks();
    project.review(None).done();
    let input = project.folder.home().join("stop.json");
    std::fs::write(&input, r#"{"session_id":"kit-session"}"#).unwrap();
    project.folder.keep(0).unwrap();
    // Wherever the stop after the PASS is killed.
    for kill_at in 1.. {
        project.folder.restore(0).unwrap();
        let mut stop = project.folder.command(&["hook", "stop"]);
        stop.env("CLAUDEX_KILL_AT", kill_at.to_string());
        stop.stdin(std::fs::File::open(&input).unwrap());
        if stop.output().unwrap().status.success() {
            break;
        }
        project.write(ID, "plan.md", "## Overview\n\nAnd more.\n");
        project.tasks(ID, 1, 0);
        project.stop();
        assert_eq!(next_phase(&project), "plan-review", "{kill_at}");
    }
}

#[test]
fn task_changed_after_its_pass_is_reviewed_again() {
    let project = at_task();
    project.tasks(ID, 2, 1);
    let task = task_file(1, "completed").replace("test -e README.md", "true");
    project.write(ID, "task-1.md", &task);
    has(
        &project.blocks(),
        "task-1.md changed after it passed its review",
    );
    assert_eq!(next_phase(&project), "tasks-review");
    project.review(None).done();
    project.ends();
    has(&project.blocks(), "taskie review billing");
    assert_eq!(next_phase(&project), "code-review");
}

#[test]
fn plan_that_keeps_changing_asks_the_user() {
    let project = at_task();
    project.tasks(ID, 2, 1);
    let change = |text: &str| {
        let task = task_file(1, "completed").replace("test -e README.md", text);
        project.write(ID, "task-1.md", &task);
    };
    for time in 0..10 {
        change(&format!("echo {time}"));
        pass(&project);
    }
    change("true");
    has(&project.blocks(), "/taskie:resume billing");
    let next = project.person(&["next", ID]).done();
    has(
        &next,
        "ask the user to have the plan and its tasks reviewed again",
    );
    has(&next, "taskie resume billing");
    project.person(&["resume", ID]).done();
    pass(&project);
    project.blocks();
    assert_eq!(next_phase(&project), "code-review");
}

#[test]
fn tracked_files_of_the_plan_are_no_changes() {
    let project = at_task();
    project.tasks(ID, 2, 1);
    project.blocks();
    project.review(None).done();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        assert!(
            git.args(arguments)
                .current_dir(&project.root)
                .status()
                .unwrap()
                .success()
        );
    };
    git(&["add", "-A"]);
    git(&["commit", "-qm", "the review"]);
    project.ends();
    assert_eq!(next_phase(&project), "complete-task");
}

#[test]
fn rows_may_change_while_the_tasks_are_reviewed() {
    let project = planned(1);
    pass(&project);
    project.tasks(ID, 2, 0);
    project.blocks();
    project.tasks(ID, 3, 0);
    project.review(None).done();
    project.ends();
    project.person(&["check", ID]).done();
    project.tasks(ID, 4, 0);
    has(&project.blocks(), "ask the user to run /taskie:add-task");
    has(
        &project.person(&["add-task", ID]).done(),
        "has 4 tasks now. tasks.md has its row already.",
    );
    project.person(&["check", ID]).done();
}

#[test]
fn code_committed_while_planning_is_reviewed() {
    let project = planned(1);
    project.commit("early", "early.txt", "Too early.\n");
    pass(&project);
    project.tasks(ID, 1, 0);
    pass(&project);
    project.tasks(ID, 1, 1);
    for _ in ["code-review", "all-code-review"] {
        pass(&project);
        has(&project.prompt(), "+Too early.");
        assert!(!project.prompt().contains("+++ b/.taskie/"));
    }
    assert_eq!(next_phase(&project), "complete");
}

#[test]
fn edited_limit_counts_from_next_cycle() {
    let project = planned(4);
    project.blocks();
    let file = project.dir(ID).join("state.json");
    let state = std::fs::read_to_string(&file).unwrap();
    let edited = state.replace("\"max_reviews\": 4", "\"max_reviews\": 1");
    std::fs::write(file, edited).unwrap();
    has(&project.blocks(), "taskie review billing");
    let journal = project.person(&["status", ID]).done();
    has(&journal, "0 of at most 4 reviews");
    project.review(None).done();
    project.blocks();
    assert_eq!(next_phase(&project), "post-plan-review");
}

#[test]
fn plan_moved_in_with_older_time_counts() {
    let project = planned(4);
    age(&project.dir(ID));
    has(&project.blocks(), "taskie review billing");
}

#[test]
fn unknown_plan_name_is_refused() {
    let project = planned(4);
    for command in ["next", "check"] {
        for name in ["biling", "no plan", "x!"] {
            project.person(&[command, name]).refusal();
        }
    }
}
