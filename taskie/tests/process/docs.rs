//! The commands of docs/taskie.md work, and each permits its next steps.

use std::path::Path;

use serde_json::json;

use crate::documents::{check_marketplace, commands, read};
use crate::seed::in_review;
use crate::support::{ID, Project, coding, names, standalone, start_plan};

/// Returns a project in which a command of the page can run.
fn project_for(verb: &str) -> Project {
    match verb {
        "new-plan" => Project::new(),
        "advance" => {
            let project = start_plan();
            project.write(ID, "plan.md", "## Overview\n");
            project
        }
        "review" => in_review("plan-review", true, &json!({})),
        verb if verb.starts_with("post-") => in_review(verb, true, &json!({ "current_task": 1 })),
        "more" | "max-reviews" | "accept" => {
            in_review("plan-review", true, &json!({ "max_reviews": 2 }))
        }
        "verify" => {
            let project = in_review("code-review", true, &json!({}));
            project.allow("test -e README.md");
            project
        }
        "add-task" | "use" | "pause" => coding(),
        "drop-task" => {
            let project = coding();
            let table = project
                .read("tasks.md")
                .replace("| 3 | pending |", "| 3 | postponed |");
            project.write(ID, "tasks.md", &table);
            project
        }
        _ => standalone(),
    }
}

#[test]
fn commands_of_document_work() {
    let all = commands(&read("docs/taskie.md"), &["taskie ", "/taskie:"], true);
    assert!(all.len() > 35, "{all:#?}");
    for command in all {
        let command = command
            .replace(
                "[max_reviews=N] [tdd=true] <description>",
                "max_reviews=2 hello",
            )
            .replace(" N", " 2")
            .replace(" K", " 3")
            .replace("TARGET", "plan-review")
            .replace("<plan>", ID)
            .replace("[plan]", ID);
        let words: Vec<&str> = command.split(' ').collect();
        let slash = words[0].strip_prefix("/taskie:");
        let verb = slash.unwrap_or_else(|| words[1]);
        let project = project_for(verb);
        project.says(None);
        let run = match slash {
            Some(verb) => project.slash(verb, &words[1..].join(" ")),
            None if ["advance", "review", "use"].contains(&verb) => project.agent(&words[1..]),
            None => project.person(&words[1..]),
        };
        assert!(!run.done().is_empty(), "{command}");
    }
}

#[test]
fn marketplace_has_plugin() {
    check_marketplace("taskie");
}

#[test]
fn commands_permit_their_next_steps() {
    let ends = ["cancel.md", "doctor.md", "rollback.md"];
    let by_hand = ["next-task.md", "next-task-tdd.md"];
    for name in names(&Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/commands")) {
        let text = read(&format!("taskie/plugin/commands/{name}"));
        let head = text.split("---\n").nth(1).unwrap();
        let mut lines = head.lines();
        // A client ignores a head that is not YAML, and so the command's permissions.
        for line in lines.clone() {
            let (_, value) = line.split_once(": ").unwrap();
            assert!(value.starts_with('\'') || !value.contains(": "), "{line}");
        }
        let rules = lines.find(|line| line.starts_with("allowed-tools: "));
        let permits = |rule: &str| rules.is_some_and(|rules| rules.contains(rule));
        let continues = !ends.contains(&&*name);
        assert_eq!(permits("Edit(/.taskie/plans/*/*.md)"), continues, "{name}");
        assert_eq!(permits("Bash(taskie next:*)"), continues, "{name}");
        assert_eq!(permits("Bash(taskie check:*)"), continues, "{name}");
        let advances = continues && !by_hand.contains(&&*name);
        assert_eq!(permits("Bash(taskie advance:*)"), advances, "{name}");
        assert_eq!(permits("Bash(taskie review:*)"), advances, "{name}");
    }
}
