//! The commands of docs/stages.md work.

use crate::documents::{check_marketplace, commands, read};
use crate::support::{Project, Ran};

fn asking() -> Project {
    let project = Project::at(2);
    project.report("failed", "").done();
    project
}

fn run(command: &str) -> Ran {
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    match *words.first().unwrap() {
        "answer" => asking().person(&["answer", "Retry"]),
        "pause" => asking().person(&words),
        "resume" => {
            let project = asking();
            project.person(&["pause"]).done();
            project.person(&words)
        }
        "take-up" | "start" => {
            let project = Project::empty();
            let state = "---\nschema_version: 2\ncurrent_stage: 3\nstage_status: pending\ncurrent_round: 1\n---\n";
            project.write(crate::support::STATE, state);
            project.person(&words)
        }
        "report" => {
            let project = Project::at(2);
            project.summary("completed", "");
            project.agent(&words)
        }
        "validate" => {
            let project = Project::at(1);
            project.write("requirements/draft/idea.md", "It sells.\n");
            let flags = "  analysis_mode: standard\n  prd_mode: NEW\n  panel_preset: product\n  panel_members_count: 3\n";
            project.summary("completed", flags);
            project.agent(&words)
        }
        _ => Project::at(2).person(&words),
    }
}

#[test]
fn documented_commands_run() {
    let all = commands(&read("docs/stages.md"), &["stages "], false);
    assert!(all.len() >= 15, "{all:#?}");
    for command in all {
        let message = run(&command).done();
        assert!(!message.is_empty(), "{command}");
    }
}

#[test]
fn plugin_has_its_marketplace_name() {
    check_marketplace("stages");
}
