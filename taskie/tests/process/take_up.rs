//! Directories of the bash version are taken up in place, by the user only.

use claudex_testkit::has;
use serde_json::{Value, json};
use taskie::commands::normalize;
use taskie::files::Directory;

use crate::support::{ID, Project, start_plan, task_file};

fn project_with_plan(next_phase: &Value, besides: &[(&str, Value)]) -> Project {
    let project = Project::new();
    project.write(ID, "plan.md", "# Plan\n\n## Overview\n");
    project.tasks(ID, 3, 2);
    let failed = "A hole.\n\nVERDICT: FAIL\n";
    for (review, number) in [("plan", 1), ("plan", 2), ("tasks", 1), ("task-2-code", 3)] {
        project.write(ID, &format!("{review}-review-{number}.md"), failed);
        project.write(ID, &format!("{review}-post-review-{number}.md"), "Fixed.\n");
    }
    project.write(ID, "all-code-review-7.md", failed);
    let mut state = json!({
        "max_reviews": 6, "current_task": "2", "phase": "implementation", "next_phase": next_phase, "phase_iteration": 3,
        "review_model": "sonnet", "consecutive_clean": 0, "ours": {"kept": [1, 2.50, "x"]},
    });
    for (key, value) in besides {
        state[*key] = value.clone();
    }
    project.write(ID, "state.json", &format!("{state:#}\n"));
    project
}

#[test]
fn words_of_the_bash_version_are_read() {
    for (word, next, phase) in [
        (json!("code-review"), json!("code-review"), "before"),
        (json!("next-task"), json!("complete-task"), "before"),
        (json!("next-task-tdd"), json!("complete-task-tdd"), "before"),
        (json!("continue-plan"), Value::Null, "continue-plan"),
        (json!("add-task"), Value::Null, "add-task"),
        (Value::Null, Value::Null, "before"),
    ] {
        let state = json!({ "next_phase": word, "phase": "before", "current_task": "2" });
        let bytes = normalize(Some(state.to_string().as_bytes()), &Directory::default());
        let now: Value = serde_json::from_slice(&bytes.unwrap()).unwrap();
        let expected = json!({ "next_phase": next, "phase": phase, "current_task": 2 });
        assert_eq!(now, expected);
    }
}

#[test]
fn bash_directory_is_taken_up_by_user() {
    for (word, done) in [
        ("create-tasks", 2),
        ("post-code-review", 1),
        ("post-all-code-review", 2),
    ] {
        let besides = [("phase_iteration", Value::Null), ("theirs", Value::Null)];
        let project = project_with_plan(&json!(word), &besides);
        let file = project.dir(ID).join("state.json");
        let before = std::fs::read_to_string(&file).unwrap();
        let windows = format!("\u{feff}{}", before.replace('\n', "\r\n"));
        std::fs::write(&file, windows).unwrap();
        let refusal = project.agent(&["continue-plan", ID]).refusal();
        has(&refusal, "ask the user");
        project.person(&["continue-plan", ID]).done();

        let text = std::fs::read_to_string(&file).unwrap();
        let now: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        // During its review, the current task has no review yet.
        for (key, value) in [
            ("next_phase", json!(word)),
            ("current_task", json!(2)),
            ("tdd", json!(false)),
            ("phase_iteration", json!(0)),
            ("tasks_total", json!(3)),
            ("tasks_done", json!(done)),
            ("theirs", Value::Null),
            ("ours", json!({"kept": [1, 2.50, "x"]})),
        ] {
            assert_eq!(now[key], value, "{key}");
        }
        if word == "post-all-code-review" {
            assert_eq!(now["review_file"], 7);
        }
        // A second call changes nothing.
        project.person(&["continue-plan", ID]).done();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "{word}");
    }
}

#[test]
fn imported_state_counts_tasks() {
    let project = project_with_plan(&json!("post-code-review"), &[("current_task", 2.into())]);
    let file = project.dir(ID).join("state.json");
    project.person(&["import", file.to_str().unwrap()]).done();
    let now: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let counts = [&now["tasks_total"], &now["tasks_done"], &now["review_file"]];
    assert_eq!(counts, [3, 1, 3]);
}

#[test]
fn wrong_state_is_named_and_kept() {
    for (state, problem) in [
        ("<<<<<<< HEAD\n", "not a JSON object"),
        ("[]", "not a JSON object"),
        ("{\"next_phase\": 3}", "next_phase"),
        ("{\"next_phase\": \"code-reveiw\"}", "code-reveiw"),
        (
            "{\"next_phase\": \"new-plan\", \"current_task\": \"one\"}",
            "current_task",
        ),
        (
            "{\"next_phase\": \"new-plan\", \"max_reviews\": \"many\"}",
            "max_reviews",
        ),
        (
            "{\"machine\": \"another\", \"next_phase\": \"new-plan\"}",
            "another",
        ),
    ] {
        let project = Project::new();
        project.write(ID, "state.json", state);
        let call = project.person(&["continue-plan", ID]).0;
        assert_eq!(call.code, Some(1), "{call:?}");
        has(&(call.out + &call.err), problem);
        let kept = project.read("state.json");
        assert_eq!(kept, state);
        assert_eq!(project.ends(), "", "{state}");
    }
}

#[test]
fn plan_without_state_is_taken_up() {
    let project = Project::new();
    project.write(ID, "plan.md", "## Overview\n");
    project.tasks(ID, 2, 1);
    let second =
        task_file(2, "completed") + &task_file(2, "review-changes-requested").replace("2.1", "2.2");
    project.write(ID, "task-2.md", &second);
    let output = project.person(&["continue-plan"]).done();
    has(&output, "C26");
    assert_eq!(project.state(ID)["next_phase"], "complete-task");

    let project = Project::new();
    project.write(ID, "plan.md", "## Overview\n");
    let refusal = project.person(&["create-tasks", ID]).refusal();
    has(&refusal, "taskie continue-plan billing");
    let output = project.person(&["continue-plan"]).done();
    has(&output, "taskie pause billing && taskie create-tasks");
    assert_eq!(project.state(ID)["next_phase"], "plan-review");

    let project = Project::new();
    project.write(ID, "plan.md", "## Overview\n");
    project.tasks(ID, 2, 1);
    for arguments in [&["add", "."][..], &["commit", "--quiet", "-m", "task 1"]] {
        project.folder.tool("git").args(arguments).output().unwrap();
    }
    let output = project.person(&["continue-plan"]).done();
    assert!(!output.contains("S10"), "{output}");
    project.review(None).done();
    has(&project.prompt(), "+Part 1.");
}

#[test]
fn finished_plan_is_not_taken_up() {
    let project = project_with_plan(&json!("complete"), &[("phase", "all-code-review".into())]);
    let before = project.read("state.json");
    has(&project.person(&["continue-plan", ID]).done(), "C21");
    let after = project.read("state.json");
    assert_eq!(after, before);
}

#[test]
fn broken_state_is_restored_from_journal() {
    let project = project_with_plan(&json!("create-tasks"), &[]);
    project.person(&["continue-plan", ID]).done();
    let good = project.state(ID);
    project.write(ID, "state.json", "<<<<<<< HEAD\n");
    let next = project.person(&["next", ID]).done();
    has(&next, "C25");
    has(&next, "taskie resume billing");
    assert_eq!(project.read("state.json"), "<<<<<<< HEAD\n");
    project.person(&["resume", ID]).done();
    assert_eq!(project.state(ID), good);
}

#[test]
fn state_put_back_by_checkout_is_kept() {
    let project = start_plan();
    project.write(ID, "plan.md", "## Overview\n");
    let file = project.dir(ID).join("state.json");
    let old = std::fs::read_to_string(&file).unwrap();
    project.blocks();
    project.review(Some("High")).done();
    project.blocks();
    let newest = project.state(ID);
    let put_back = || std::fs::write(&file, &old).unwrap();

    put_back();
    let message = project.ends();
    for line in [message, project.person(&["status", ID]).done()] {
        has(
            &line,
            "the file was replaced, such as by a checkout or a pull",
        );
        has(&line, "taskie resume billing");
        has(
            &line,
            "\n    taskie import .taskie/plans/billing/state.json",
        );
    }
    project.person(&["continue-plan", ID]).refusal();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), old);

    let message = project.person(&["resume", ID]).done();
    has(&message, "Loop billing keeps its state");
    assert_eq!(project.state(ID), newest);

    // The folder is on another branch.
    let aside = project.root.join("aside");
    std::fs::rename(project.dir(ID), &aside).unwrap();
    has(&project.ends(), "is missing with its folder");
    std::fs::rename(&aside, project.dir(ID)).unwrap();
    let newer = project
        .read("state.json")
        .replace("\"revision\": ", "\"revision\": 9");
    project.write(ID, "state.json", &newer);
    has(&project.ends(), "the file was replaced");

    put_back();
    project.person(&["import", file.to_str().unwrap()]).done();
    assert_eq!(project.state(ID)["next_phase"], "new-plan");
    has(
        &project.person(&["journal", ID]).done(),
        "import by the user",
    );
    project.write(ID, "plan.md", "## Overview\n");
    has(&project.blocks(), "taskie review billing");
}
