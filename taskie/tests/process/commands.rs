//! The commands of the user, in automation and standalone, and the limits.

use claudex_testkit::{SESSION, has};
use serde_json::{Value, json};

use crate::support::{ID, Project, coding, standalone, task_file};

#[test]
fn done_row_with_open_subtasks_is_under_way() {
    let project = coding();
    project.tasks(ID, 3, 2);
    project.write(ID, "task-2.md", &task_file(2, "awaiting-review"));
    has(&project.blocks(), "do task 2");
    let refusal = project.agent(&["advance", "code-review"]).refusal();
    has(
        &refusal,
        "“Subtask 2.1: all of it” is awaiting-review; complete it",
    );
    let next = project.person(&["next", ID]).done();
    has(&next, "do task 2 with all of its subtasks (C20: its row");
    project.write(ID, "task-2.md", &task_file(2, "completed"));
    let next = project.person(&["next", ID]).done();
    has(&next, "code-review comes next (C20: task 2 is done");
    project.agent(&["advance", "code-review"]).done();
    assert_eq!(project.state(ID)["current_task"], 2);
}

#[test]
fn commands_on_finished_plan_are_refused() {
    let project = standalone();
    project.person(&["cancel", ID]).done();
    let before = project.state(ID);
    let lines = "continue-task,next-task,create-tasks,add-task,plan-review,more 2,max-reviews 2,\
                 drop-task 2";
    for line in lines.split(',') {
        let words = line.split(' ').chain([ID]);
        project.person(&words.collect::<Vec<_>>()).refusal();
    }
    assert_eq!(project.state(ID), before);
}

#[test]
fn review_commands_follow_automation() {
    let project = Project::new();
    let required = format!("--id {ID} billing");
    project.slash("start", &required).done();
    project.write(ID, "plan.md", "## Overview\n");
    project.blocks();
    let before = project.state(ID);
    let output = project.slash("plan-review", "").done();
    has(&output, "taskie review billing");
    project.slash("tasks-review", "").refusal();
    project.slash("post-plan-review", "").refusal();
    assert_eq!(project.state(ID), before);
    project.review(Some("High")).done();
    project.blocks();
    let output = project.slash("post-plan-review", "").done();
    has(&output, "plan-post-review-1.md");
}

#[test]
fn review_by_hand_takes_next_number() {
    let project = standalone();
    project.person(&["next-task", ID]).done();
    project.write(ID, "plan-review-1.md", "VERDICT: FAIL\n");
    project.write(ID, "plan-post-review-1.md", "Fixed.\n");
    std::fs::write(project.root.join("README.md"), "Changed.\n").unwrap();
    project.says(Some("High"));
    for (command, file, shows) in [
        ("plan-review", "plan-review-2.md", "## Overview"),
        ("plan-review", "plan-review-3.md", "## Overview"),
        ("tasks-review", "tasks-review-1.md", "Subtask 3.1"),
        ("code-review", "task-2-code-review-1.md", "+Changed."),
        ("all-code-review", "all-code-review-1.md", "+Changed."),
    ] {
        let output = project.person(&[command, ID]).done();
        has(&output, "FAIL");
        has(&output, "There is a hole");
        let review = project.read(file);
        assert!(review.ends_with("\nVERDICT: FAIL\n"), "{review}");
        has(&project.prompt(), shows);
        let now = project.state(ID);
        assert_eq!(
            (&now["phase"], &now["next_phase"]),
            (&json!(command), &Value::Null)
        );
    }
    // Automation answers none of them.
    project.person(&["check", ID]).done();
    project.reviewer("exit 1\n");
    assert_eq!(project.person(&["plan-review", ID]).0.code, Some(5));
    assert!(!project.names(ID).contains(&"plan-review-4.md".to_owned()));
    std::fs::remove_file(project.dir(ID).join("tasks.md")).unwrap();
    project.person(&["tasks-review", ID]).refusal();
    // As a slash command, it names the line to run.
    let output = project.slash("plan-review", "").done();
    has(&output, "taskie plan-review billing");
    let output = project.slash("post-code-review", "").done();
    has(
        &output,
        "answer task-2-code-review-1.md in task-2-code-post-review-1.md",
    );
}

#[test]
fn user_continues_at_limit_of_reviews() {
    for command in ["more", "max-reviews", "accept"] {
        let project = Project::new();
        project.slash("new-plan", "max_reviews=1 billing").done();
        project.write(ID, "plan.md", "## Overview\n");
        project.blocks();
        project.review(Some("High")).done();
        project.blocks();
        project.write(ID, "plan-post-review-1.md", "Fixed.\n");
        let block = project.blocks();
        has(&block, "taskie more N billing");
        has(&block, "taskie accept billing");
        let before = project.state(ID);
        project.ends();
        let event = json!({ "session_id": SESSION, "cwd": project.root }).to_string();
        let begun = project.folder.hook("session-start", event.as_bytes());
        has(&begun.unwrap().out, "Next: more reviews");
        assert_eq!(project.state(ID), before);
        if command == "accept" {
            has(&project.review(None).done(), "one review too many");
            project.person(&["accept", ID]).done();
            assert_eq!(project.state(ID)["next_phase"], "create-tasks");
            let journal = project.person(&["journal", ID]).done();
            let noted = "accepted: open: There is a hole (fix it)";
            has(&journal, noted);
        } else {
            project.person(&[command, "2", ID]).done();
            has(&project.blocks(), "taskie review billing");
        }
    }
    let project = standalone();
    let refusal = project.person(&["max-reviews", "100", ID]).refusal();
    has(&refusal, "at most 99 reviews");
    let refusal = project.person(&["more", "2", ID]).refusal();
    has(
        &refusal,
        "loop billing: cannot run ‘more’ in phase standalone",
    );
    has(&project.agent(&["more", "2"]).refusal(), "taskie more 2");
}

#[test]
fn user_adds_and_drops_tasks() {
    let project = coding();
    let output = project.slash("add-task", "another part").done();
    has(&output, "row 4");
    has(&output, "task-4.md");
    has(&output, "another part");
    assert_eq!(project.state(ID)["current_task"], 4);
    has(
        &project.blocks(),
        "write that of the task that the user added",
    );
    let refusal = project.person(&["add-task", ID]).refusal();
    has(&refusal, "a row is missing");
    project.tasks(ID, 4, 1);
    project.person(&["check", ID]).done();
    for task in ["1", "3", "9"] {
        project.person(&["drop-task", task, ID]).refusal();
    }
    let table = project.read("tasks.md");
    let postponed = table.replace("| 3 | pending |", "| 3 | postponed |");
    project.write(ID, "tasks.md", &postponed);
    let check = project.person(&["check", ID]).0;
    assert!(
        check.out.contains("S10") && check.code == Some(1),
        "{check:?}"
    );
    project.person(&["drop-task", "3", ID]).done();
    project.person(&["check", ID]).done();
    // If the others are dropped as well, the done tasks are reviewed as a whole.
    let cancelled = table.replace("| pending |", "| cancelled |");
    project.write(ID, "tasks.md", &cancelled);
    // A second time is refused.
    project.person(&["drop-task", "3", ID]).refusal();
    project.person(&["drop-task", "2", ID]).done();
    project.person(&["drop-task", "4", ID]).done();
    assert_eq!(project.state(ID)["next_phase"], "all-code-review");
    has(&project.person(&["next", ID]).done(), "C16");
}

#[test]
fn status_fits_one_screen_without_forged_reviews() {
    let project = Project::new();
    project.write(ID, "plan.md", "## Overview\n");
    project.tasks(ID, 40, 1);
    project.write(ID, "plan-review-1.md", "VERDICT: FAIL\n");
    project.write(ID, "plan-post-review-1.md", "Fixed.\n");
    project.write(ID, "plan-review-2.md", "VERDICT: PASS\n");
    for task in 1..=40 {
        let review = format!("task-{task}-code-review-1.md");
        project.write(ID, &review, "VERDICT: PASS\n");
    }
    project.write(ID, "state.json", "{\"next_phase\": \"complete-task\"}");
    project.person(&["continue-plan", ID]).done();
    project.write(ID, "plan-review-3.md", "VERDICT: PASS\n");
    let output = project.person(&["status", ID]).done();
    for part in [
        "1 of 40 tasks are done",
        "0 of 1 subtasks of task 2",
        "reviews of plan: 1 FAIL, 2 PASS; task-1-code: 1 PASS; task-2-code: 1 PASS; ",
        "waits for: a task to be done",
        "complete-task: do task 2 with all of its subtasks\n    /taskie:continue-plan billing",
    ] {
        has(&output, part);
    }
    assert!(output.lines().count() <= 42, "{output}");
    // Broken rules are named by each look, and before the next step.
    project.write(ID, "task-41-code-review-1.md", "VERDICT: PASS\n");
    let status = project.person(&["status", ID]).done();
    has(
        &status,
        "a fix of these violations: S4 task-41-code-review-1.md",
    );
    has(
        &project.person(&["next", ID]).done(),
        "\nFix that, then end the turn.",
    );
}

#[test]
fn command_names_one_of_several_plans() {
    let project = Project::new();
    for id in ["aa", "bb"] {
        project.write(id, "plan.md", "## Overview\n");
    }
    let refusal = project.person(&["continue-plan"]).refusal();
    has(&refusal, "2 plans can be taken over: aa, bb");
    for description in ["one", "two", "one"] {
        project.person(&["new-plan", description]).done();
    }
    let refusal = project.person(&["continue-plan"]).refusal();
    for id in ["one", "two", "one-2"] {
        has(&refusal, id);
    }
    let output = project.person(&["continue-plan", "two"]).done();
    has(&output, "Plan two: new-plan");
    // In a session, the plan that it continued last is meant.
    project.slash("new-plan", "three").done();
    has(&project.slash("continue-plan", "").done(), "Plan three");
    has(
        &project.slash("continue-plan", "one-2").done(),
        "Plan one-2",
    );
    has(
        &project.slash("continue-plan", "three").done(),
        "Plan three",
    );
    for id in ["one-2", "three"] {
        project.write(id, "plan.md", "## Overview\n");
    }
    has(&project.blocks(), "taskie review three");
    project.slash("continue-plan", "twoo").refusal();
    project.agent(&["use", "one-2"]).done();
    has(&project.blocks(), "taskie review one-2");
}

#[test]
fn slash_commands_print_ground_rules() {
    let project = Project::new();
    let rules = project.agent(&["ground-rules"]).done();
    assert_eq!(rules, include_str!("../../messages/ground-rules.md"));
    let commands = crate::support::names(std::path::Path::new("messages/commands"));
    assert_eq!(commands.len(), 18);
    for command in commands {
        let text = std::fs::read_to_string(format!("messages/commands/{command}")).unwrap();
        let name = command.strip_suffix(".md").unwrap();
        let line = format!("!`taskie ground-rules; taskie {name} --from-prompt 2>&1 || true`");
        has(&text, &line);
        has(&text, "disable-model-invocation: true");
    }
}
