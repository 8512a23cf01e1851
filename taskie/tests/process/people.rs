//! What people type: each of the seventeen commands, in automation and standalone, and the limits.

use claudex_testkit::has;

use crate::support::{ID, Project, coding, standalone};

fn next_phase(project: &Project) -> String {
    project.state(ID)["next_phase"]
        .as_str()
        .unwrap_or("null")
        .to_owned()
}

#[test]
fn a_row_that_is_done_before_its_subtasks_is_still_under_way() {
    let project = coding();
    project.tasks(ID, 3, 2);
    project.write(
        ID,
        "task-2.md",
        &crate::support::task_file(2, "awaiting-review"),
    );
    let said = project.blocks();
    has(&said, "do task 2");
    let said = project.agent(&["advance", "code-review"]).refused();
    has(&said, "complete all subtasks of a task");
    project.write(ID, "task-2.md", &crate::support::task_file(2, "completed"));
    project.agent(&["advance", "code-review"]).done();
    assert_eq!(project.state(ID)["current_task"], 2);
}

#[test]
fn a_plan_that_is_over_stays_as_it_is() {
    let project = standalone();
    project.person(&["cancel", ID]).done();
    let before = project.state(ID);
    for command in [
        "continue-task",
        "next-task",
        "create-tasks",
        "add-task",
        "plan-review",
    ] {
        project.person(&[command, ID]).refused();
    }
    for command in ["more", "max-reviews", "drop-task"] {
        project.person(&[command, "2", ID]).refused();
    }
    assert_eq!(project.state(ID), before);
}

#[test]
fn reviews_are_the_automations_own() {
    let project = Project::new();
    project.slash("new-plan", ID).done();
    project.write(ID, "plan.md", "## Overview\n");
    project.blocks();
    let before = project.state(ID);
    let said = project.slash("plan-review", "").done();
    has(&said, "taskie review billing");
    project.slash("tasks-review", "").refused();
    project.slash("post-plan-review", "").refused();
    assert_eq!(project.state(ID), before);
    project.review(Some("High")).done();
    project.blocks();
    let said = project.slash("post-plan-review", "").done();
    has(&said, "plan-post-review-1.md");
}

#[test]
fn a_review_by_hand_takes_the_next_number_and_is_nobodys_to_answer() {
    let project = standalone();
    project.person(&["next-task", ID]).done();
    project.write(ID, "plan-review-1.md", "VERDICT: FAIL\n");
    project.write(ID, "plan-post-review-1.md", "Mended.\n");
    std::fs::write(project.root.join("README.md"), "Changed.\n").unwrap();
    for (command, file, shows) in [
        ("plan-review", "plan-review-2.md", "## Overview"),
        ("plan-review", "plan-review-3.md", "## Overview"),
        ("tasks-review", "tasks-review-1.md", "Subtask 3.1"),
        ("code-review", "task-2-code-review-1.md", "+Changed."),
        ("all-code-review", "all-code-review-1.md", "+Changed."),
    ] {
        project.says(Some("High"));
        let said = project.person(&[command, ID]).done();
        has(&said, "FAIL");
        has(&said, "There is a hole");
        let text = std::fs::read_to_string(project.dir(ID).join(file)).unwrap();
        assert!(text.ends_with("\nVERDICT: FAIL\n"), "{text}");
        let prompt = project.prompt();
        has(&prompt, shows);
        let now = project.state(ID);
        assert_eq!(
            (&now["phase"], &now["next_phase"]),
            (&command.into(), &serde_json::Value::Null)
        );
    }
    // None of them is the automation's to answer, and none lets it go on; its copy of the changes is left alone.
    let copy = project
        .root
        .join(".taskie/engine")
        .join(ID)
        .join("changes.diff");
    assert!(
        copy.parent().unwrap().is_dir() && !copy.exists(),
        "{}",
        copy.display()
    );
    assert_eq!(
        project.person(&["check", ID]).done(),
        "The files of plan billing are in order.\n"
    );
    project.reviewer("exit 1\n");
    let said = project.person(&["plan-review", ID]);
    assert_eq!(said.0.code, Some(5), "{said:?}");
    assert!(!project.names(ID).contains(&"plan-review-4.md".to_owned()));
    // Typed in a client, it names the line to run.
    let said = project.slash("plan-review", "").done();
    has(&said, "taskie plan-review billing");
}

#[test]
fn reviews_end_at_their_limit_and_a_person_goes_on() {
    for way in ["more", "max-reviews", "accept"] {
        let project = Project::new();
        project.slash("new-plan", "max_reviews=1 billing").done();
        project.write(ID, "plan.md", "## Overview\n");
        project.blocks();
        project.review(Some("High")).done();
        project.blocks();
        project.write(ID, "plan-post-review-1.md", "Mended.\n");
        let said = project.blocks();
        has(&said, "taskie more N billing");
        has(&said, "taskie accept billing");
        let before = project.state(ID);
        project.ends();
        assert_eq!(project.state(ID), before);
        match way {
            "accept" => project.person(&["accept", ID]),
            way => project.person(&[way, "2", ID]),
        }
        .done();
        match way {
            "accept" => {
                assert_eq!(next_phase(&project), "create-tasks");
                let journal = project.person(&["journal", ID]).done();
                has(
                    &journal,
                    "accepted {\"open\":[\"There is a hole (mend it)\"]}",
                );
            }
            _ => assert!(project.blocks().contains("taskie review billing")),
        }
    }
}

#[test]
fn tasks_come_and_go_by_a_person_alone() {
    let project = coding();
    let said = project.slash("add-task", "another part").done();
    has(&said, "row 4");
    has(&said, "task-4.md");
    has(&said, "another part");
    // No task was under way.
    assert_eq!(project.state(ID)["current_task"], 4);
    let said = project.blocks();
    has(&said, "S10");
    project.tasks(ID, 4, 1);
    let said = project.person(&["check", ID]).done();
    assert_eq!(said, "The files of plan billing are in order.\n");
    for task in ["1", "3", "9"] {
        project.person(&["drop-task", task, ID]).refused();
    }
    let table = std::fs::read_to_string(project.dir(ID).join("tasks.md")).unwrap();
    let postponed = table.replace("| 3 | pending |", "| 3 | postponed |");
    project.write(ID, "tasks.md", &postponed);
    let said = project.person(&["check", ID]);
    assert!(
        said.0.out.contains("S10") && said.0.code == Some(1),
        "{said:?}"
    );
    project.person(&["drop-task", "3", ID]).done();
    project.person(&["check", ID]).done();
    // It was dropped already.
    project.person(&["drop-task", "3", ID]).refused();
    // Those that are left are dropped as well: what is done is reviewed as a whole.
    project.write(
        ID,
        "tasks.md",
        &table.replace("| pending |", "| cancelled |"),
    );
    project.person(&["drop-task", "2", ID]).done();
    project.person(&["drop-task", "4", ID]).done();
    assert_eq!(next_phase(&project), "all-code-review");
    project.person(&["check", ID]).done();
    let said = project.person(&["next", ID]).done();
    has(&said, "C16");
}

#[test]
fn next_and_check_look_as_json_too() {
    let project = standalone();
    let next: serde_json::Value =
        serde_json::from_str(&project.person(&["next", ID, "--json"]).done()).unwrap();
    assert_eq!(
        (&next["plan"], &next["row"]),
        (&"billing".into(), &"C23".into())
    );
    let check: serde_json::Value =
        serde_json::from_str(&project.person(&["check", ID, "--json"]).done()).unwrap();
    assert_eq!(check["violations"], serde_json::json!([]));
}

#[test]
fn status_fits_one_screen_without_forged_reviews() {
    let project = Project::new();
    project.write(ID, "plan.md", "## Overview\n");
    project.tasks(ID, 3, 1);
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
    let shown = project.person(&["status", ID]).done();
    for part in [
        "1 of 3 tasks are done",
        "0 of 1 subtasks of task 2",
        "reviews of plan: 1 FAIL, 2 PASS\n",
        "reviews of task-1-code: 1 PASS; task-2-code: 1 PASS; ",
        "waits for: a task to be done",
        "complete-task: do task 2 with all of its subtasks (C20)\n    /taskie:continue-plan billing",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    assert!(shown.lines().count() <= 42, "{shown}");
    let json: serde_json::Value =
        serde_json::from_str(&project.person(&["status", ID, "--json"]).done()).unwrap();
    assert!(json.to_string().contains("1 of 3 tasks are done"), "{json}");
}

#[test]
fn of_several_plans_a_command_names_one() {
    let project = Project::new();
    let said = project.person(&["status"]).done();
    has(&said, "/taskie:new-plan\n    taskie new-plan");
    for description in ["one", "two", "one"] {
        project.person(&["new-plan", description]).done();
    }
    let said = project.person(&["continue-plan"]).refused();
    assert!(
        ["one", "two", "one-2"].iter().all(|id| said.contains(id)),
        "{said}"
    );
    let said = project.person(&["continue-plan", "two"]).done();
    assert!(said.contains("Plan two") && said.contains("C18"), "{said}");
    // The session's own is the one that is meant in it.
    project.slash("new-plan", "three").done();
    let said = project.slash("continue-plan", "").done();
    has(&said, "Plan three");
    let said = project.slash("continue-plan", "one-2").done();
    has(&said, "Plan one-2");
    // It is this session's now, and the newest, until another one is continued.
    has(
        &project.slash("continue-plan", "three").done(),
        "Plan three",
    );
    project.write("three", "plan.md", "## Overview\n");
    project.blocks();
    project.review(None).done();
    assert!(project.dir("three").join("plan-review-1.md").exists());
}

#[test]
fn the_ground_rules_stand_in_one_place() {
    let project = Project::new();
    let said = project.agent(&["ground-rules"]).done();
    assert_eq!(said, include_str!("../../messages/ground-rules.md"));
    let commands = crate::support::names(std::path::Path::new("messages/commands"));
    assert_eq!(commands.len(), 18);
    for command in commands {
        let text = std::fs::read_to_string(format!("messages/commands/{command}")).unwrap();
        let name = command.strip_suffix(".md").unwrap();
        has(
            &text,
            &format!("!`taskie ground-rules; taskie {name} --from-prompt 2>&1 || true`"),
        );
        has(&text, "disable-model-invocation: true");
        assert!(!text.contains("$ARGUMENTS"), "{text}");
    }
}

#[test]
fn use_chooses_the_plan_that_stops_drive() {
    let project = Project::new();
    for id in ["first", "second"] {
        project.slash("new-plan", id).done();
        project.write(id, "plan.md", "## Overview\n");
    }
    project.agent(&["use", "first"]).done();
    has(&project.blocks(), "taskie review first");
    project.agent(&["use", "second"]).done();
    has(&project.blocks(), "taskie review second");
}
