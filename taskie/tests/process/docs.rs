//! docs/taskie.md says what is there: its table is the program's, its commands are run here, and its tests exist.

use std::path::Path;

use serde_json::{Value, json};

use crate::documents::{check_marketplace, commands, read};
use crate::seed::in_review;
use crate::support::{ID, Project, Said, coding, names, standalone};

/// Returns a project whose reviews are used up.
fn used_up() -> Project {
    in_review("plan-review", true, &json!({ "max_reviews": 2 }))
}

fn code_review() -> Project {
    let project = in_review("code-review", true, &json!({}));
    project.configure("\n[commands.check]\nprogram = \"true\"\n");
    let task = std::fs::read_to_string(project.dir(ID).join("task-1.md")).unwrap();
    project.write(
        ID,
        "task-1.md",
        &task.replace("`test -e README.md`", "`check`"),
    );
    project
}

/// Runs a command of the document where it can be run, and returns what it said with the `next_phase` after it.
fn run(command: &str) -> (Said, Value) {
    let filled = [
        ("N", "2"),
        ("K", "3"),
        ("TARGET", "plan-review"),
        ("<plan>", ID),
        ("[plan]", ID),
    ];
    let fill = |word: &str| {
        let known = filled.iter().find(|(name, _)| *name == word);
        known.map_or(word, |(_, value)| value).to_owned()
    };
    let words = command.replace(
        "[max_reviews=N] [tdd=true] <description>",
        "max_reviews=2 tdd=true say hello",
    );
    let words: Vec<String> = words.split_whitespace().map(fill).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let verb = words[0]
        .strip_prefix("/taskie:")
        .unwrap_or_else(|| words[1]);
    let project = match verb {
        "new-plan" | "demo" => Project::new(),
        "advance" => {
            let project = Project::new();
            project.slash("new-plan", ID).done();
            project.write(ID, "plan.md", "## Overview\n");
            project
        }
        "review" => in_review("plan-review", true, &json!({})),
        "more" | "max-reviews" | "accept" => used_up(),
        "verify" => code_review(),
        "add-task" | "use" | "pause" => coding(),
        "drop-task" => {
            let project = coding();
            let tasks = project.dir(ID).join("tasks.md");
            let table = std::fs::read_to_string(&tasks).unwrap();
            std::fs::write(tasks, table.replace("| 3 | pending |", "| 3 | postponed |")).unwrap();
            project
        }
        _ => standalone(),
    };
    project.says(None);
    let said = match words.split_first() {
        Some((&"taskie", rest)) if ["advance", "review", "use"].contains(&verb) => {
            project.agent(rest)
        }
        Some((&"taskie", rest)) => project.person(rest),
        Some((_, rest)) => project.slash(verb, &rest.join(" ")),
        None => unreachable!(),
    };
    let state = match verb {
        "new-plan" | "demo" => Value::Null,
        _ => project.state(ID)["next_phase"].clone(),
    };
    (said, state)
}

#[test]
fn every_command_of_the_document_does_what_it_says() {
    let all = commands(&read("docs/taskie.md"), &["taskie ", "/taskie:"], true);
    assert!(all.len() > 35, "{all:#?}");
    for command in all {
        let (said, next_phase) = run(&command);
        let said = said.done();
        let verb = command
            .strip_prefix("/taskie:")
            .or(command.strip_prefix("taskie "));
        let verb = verb
            .unwrap_or_default()
            .split(' ')
            .next()
            .unwrap_or_default();
        match verb {
            "create-tasks" | "complete-task" | "complete-task-tdd" => {
                assert_eq!(next_phase, verb, "{command}: {said}")
            }
            "accept" => assert_eq!(next_phase, "create-tasks", "{command}: {said}"),
            "advance" => assert_eq!(next_phase, "plan-review", "{command}: {said}"),
            "pause" | "next-task" | "next-task-tdd" => {
                assert_eq!(next_phase, Value::Null, "{command}: {said}")
            }
            "next" | "continue-plan" => assert!(said.contains("C23"), "{command}: {said}"),
            "status" => assert!(said.contains("1 of 3 tasks are done"), "{command}: {said}"),
            "add-task" => assert!(said.contains("4 tasks now"), "{command}: {said}"),
            "drop-task" => assert!(said.contains("2 tasks now"), "{command}: {said}"),
            "more" => assert!(said.contains("4 reviews per cycle"), "{command}: {said}"),
            "max-reviews" => assert!(said.contains("2 reviews per cycle"), "{command}: {said}"),
            "verify" => assert!(said.contains("passed"), "{command}: {said}"),
            _ => assert!(!said.is_empty(), "{command}"),
        }
    }
}

#[test]
fn tests_that_the_document_names_exist() {
    let (document, tests) = (read("docs/taskie.md"), read("taskie/tests/process/seed.rs"));
    let words = document.split('`');
    let named: Vec<&str> = words.filter(|word| word.starts_with("issue_")).collect();
    assert_eq!(named.len(), 8);
    for name in named {
        assert!(tests.contains(&format!("fn {name}()")), "{name}");
    }
}

#[test]
fn the_plugin_is_installed_by_the_name_that_the_marketplace_has() {
    check_marketplace("taskie");
}

#[test]
fn every_command_after_which_a_plan_goes_on_permits_what_it_asks_for() {
    let permits = |command: &str, rule: &str| {
        let text = read(&format!("taskie/plugin/commands/{command}"));
        let mut head = text.split("---\n").nth(1).unwrap().lines();
        head.any(|line| line.starts_with("allowed-tools: ") && line.contains(rule))
    };
    let ends = ["cancel.md", "doctor.md", "rollback.md"];
    let by_hand = ["next-task.md", "next-task-tdd.md"];
    for name in names(&Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/commands")) {
        for rule in [
            "Edit(/.taskie/plans/*/*.md)",
            "Bash(taskie next:*)",
            "Bash(taskie check:*)",
        ] {
            assert_eq!(
                permits(&name, rule),
                !ends.contains(&&*name),
                "{name}: {rule}"
            );
        }
        for rule in ["Bash(taskie advance:*)", "Bash(taskie review:*)"] {
            let goes_on = !ends.contains(&&*name) && !by_hand.contains(&&*name);
            assert_eq!(permits(&name, rule), goes_on, "{name}: {rule}");
        }
    }
}

#[test]
fn the_help_fits_a_screen() {
    let help = Project::new().person(&["--help"]).done();
    assert!(help.lines().count() <= 45, "{help}");
    let (groups, _) = help.split_once("\nOptions:\n").unwrap();
    assert!(
        groups.contains("\nIn Claude Code: new-plan, continue-plan, "),
        "{groups}"
    );
}

#[test]
fn the_head_of_every_command_can_be_read_as_yaml() {
    // Where it cannot, a client drops all of it without a word, and with it what the command permits.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/commands");
    for name in names(&folder) {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let head = text.split("---\n").nth(1).unwrap();
        for line in head.lines() {
            let (_, value) = line.split_once(": ").unwrap();
            assert!(
                value.starts_with('\'') || !value.contains(": "),
                "{name}: {line}"
            );
        }
    }
}
