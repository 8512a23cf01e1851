//! Directories that the bash version wrote are taken up where they stand, by a person only.

use claudex_testkit::has;
use serde_json::{Value, json};
use taskie::commands::normalized;
use taskie::files::Directory;

use crate::support::{ID, Project, task_file};

fn written(next_phase: &Value, besides: &[(&str, Value)]) -> Project {
    let project = Project::new();
    project.write(ID, "plan.md", "# Plan\n\n## Overview\n");
    project.tasks(ID, 3, 2);
    for review in ["plan", "tasks", "task-2-code"] {
        for number in 1..=3 {
            project.write(
                ID,
                &format!("{review}-review-{number}.md"),
                "A hole.\n\nVERDICT: FAIL\n",
            );
            project.write(
                ID,
                &format!("{review}-post-review-{number}.md"),
                "Mended.\n",
            );
        }
    }
    project.write(ID, "all-code-review-7.md", "A hole.\n\nVERDICT: FAIL\n");
    let mut state = json!({
        "max_reviews": 6, "current_task": "2", "phase": "implementation", "next_phase": next_phase, "phase_iteration": 3,
        "review_model": "sonnet", "consecutive_clean": 0, "ours": {"kept": [1, 2.50, "x"]},
    });
    for (key, value) in besides {
        state[*key] = value.clone();
    }
    let text = format!("{state:#}\n");
    project.write(ID, "state.json", &text);
    project
}

#[test]
fn words_of_the_bash_version_are_read() {
    for (word, next, phase) in [
        (json!("code-review"), json!("code-review"), "implementation"),
        (json!("next-task"), json!("complete-task"), "implementation"),
        (
            json!("next-task-tdd"),
            json!("complete-task-tdd"),
            "implementation",
        ),
        (json!("continue-plan"), Value::Null, "continue-plan"),
        (json!("add-task"), Value::Null, "add-task"),
        (Value::Null, Value::Null, "implementation"),
    ] {
        let state = json!({ "next_phase": word, "phase": "implementation", "current_task": "2" });
        let bytes = normalized(Some(state.to_string().as_bytes()), &Directory::default());
        let now: Value = serde_json::from_slice(&bytes.unwrap()).unwrap();
        let expected = json!({ "next_phase": next, "phase": phase, "current_task": 2 });
        assert_eq!(now, expected);
    }
}

#[test]
fn directory_of_the_bash_version_is_taken_up_by_a_person() {
    for (word, done) in [
        ("create-tasks", 2),
        ("post-code-review", 1),
        ("post-all-code-review", 2),
    ] {
        let project = written(&json!(word), &[]);
        let said = project.agent(&["continue-plan", ID]).refused();
        assert!(said.contains("person"), "{said}");
        project.person(&["continue-plan", ID]).done();
        let now = project.state(ID);
        assert_eq!(
            (&now["next_phase"], &now["current_task"], &now["tdd"]),
            (&json!(word), &json!(2), &json!(false))
        );
        let text = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        // The current task was not reviewed yet while its review is under way.
        assert_eq!(
            (&whole["tasks_total"], &whole["tasks_done"]),
            (&json!(3), &json!(done)),
            "{word}"
        );
        assert_eq!(whole["ours"], json!({"kept": [1, 2.50, "x"]}));
        if word == "post-all-code-review" {
            assert_eq!(whole["review_file"], 7);
        }
        // Once more it moves nothing.
        project.person(&["continue-plan", ID]).done();
        let again = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
        assert_eq!(again, text, "{word}");
    }
}

#[test]
fn what_is_null_outside_of_a_cycle_begins_anew() {
    let project = written(
        &json!("create-tasks"),
        &[("phase_iteration", Value::Null), ("theirs", Value::Null)],
    );
    project.person(&["continue-plan", ID]).done();
    assert_eq!(project.state(ID)["phase_iteration"], 0);
    let text = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
    assert!(text.contains("\"theirs\": null"), "{text}");
}

#[test]
fn an_import_counts_as_taking_up_does() {
    let project = written(&json!("post-code-review"), &[("current_task", 2.into())]);
    let file = project.dir(ID).join("state.json");
    project.person(&["import", file.to_str().unwrap()]).done();
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(
        (
            &whole["tasks_total"],
            &whole["tasks_done"],
            &whole["review_file"]
        ),
        (&json!(3), &json!(1), &json!(3))
    );
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_changed() {
    for (state, said) in [
        ("<<<<<<< HEAD\n", "no JSON object"),
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
        let call = project.person(&["continue-plan", ID]);
        assert_eq!(call.0.code, Some(1), "{call:?}");
        assert!((call.0.out + &call.0.err).contains(said), "{state}");
        assert_eq!(
            std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap(),
            state
        );
        assert_eq!(project.ends(), "", "{state}");
    }
}

#[test]
fn a_plan_without_a_state_is_taken_up_by_its_files() {
    let project = Project::new();
    project.write(ID, "plan.md", "## Overview\n");
    project.tasks(ID, 2, 1);
    let second =
        task_file(2, "completed") + &task_file(2, "review-changes-requested").replace("2.1", "2.2");
    project.write(ID, "task-2.md", &second);
    let said = project.person(&["continue-plan"]).done();
    assert!(said.contains("C26"), "{said}");
    assert_eq!(project.state(ID)["next_phase"], "complete-task");
}

#[test]
fn the_state_may_have_windows_lines_and_a_byte_order_mark() {
    let project = written(&json!("create-tasks"), &[]);
    let text = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
    project.write(
        ID,
        "state.json",
        &format!("\u{feff}{}", text.replace('\n', "\r\n")),
    );
    project.person(&["continue-plan", ID]).done();
    assert_eq!(project.state(ID)["next_phase"], "create-tasks");
}

#[test]
fn what_is_over_is_not_taken_up() {
    let project = written(&json!("complete"), &[("phase", "all-code-review".into())]);
    let before = std::fs::read(project.dir(ID).join("state.json")).unwrap();
    let said = project.person(&["continue-plan", ID]).done();
    assert!(said.contains("C21"), "{said}");
    let after = std::fs::read(project.dir(ID).join("state.json")).unwrap();
    assert_eq!(after, before);
}

#[test]
fn a_broken_state_under_a_journal_is_offered_its_last_one() {
    let project = written(&json!("create-tasks"), &[]);
    project.person(&["continue-plan", ID]).done();
    let good = project.state(ID);
    project.write(ID, "state.json", "<<<<<<< HEAD\n");
    let said = project.person(&["next", ID]).done();
    assert!(
        said.contains("C25") && said.contains("taskie resume billing"),
        "{said}"
    );
    assert_eq!(
        std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap(),
        "<<<<<<< HEAD\n"
    );
    project.person(&["resume", ID]).done();
    assert_eq!(project.state(ID), good);
}

#[test]
fn state_put_back_by_checkout_is_taken_as_asked() {
    let project = Project::new();
    project.slash("new-plan", ID).done();
    project.write(ID, "plan.md", "## Overview\n");
    let file = project.dir(ID).join("state.json");
    let old = std::fs::read_to_string(&file).unwrap();
    project.blocks();
    project.review(Some("High")).done();
    project.blocks();
    let newest = project.state(ID);
    let put_back = || std::fs::write(&file, &old).unwrap();

    put_back();
    let said = project.ends();
    for told in [said, project.person(&["status", ID]).done()] {
        has(&told, "the file was put back, such as by a checkout");
        has(&told, "taskie resume billing");
        has(&told, "taskie import ");
    }
    project.person(&["continue-plan", ID]).refused();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), old);

    let said = project.person(&["resume", ID]).done();
    has(&said, "Loop billing keeps its state");
    assert_eq!(project.state(ID), newest);

    put_back();
    project.person(&["import", file.to_str().unwrap()]).done();
    assert_eq!(project.state(ID)["next_phase"], "new-plan");
    has(
        &project.person(&["journal", ID]).done(),
        "import by a person",
    );
    project.write(ID, "plan.md", "## Overview\n");
    has(&project.blocks(), "taskie review billing");
}
