//! docs/stages.md says what is there: each of its commands is run here.

use std::collections::BTreeSet;
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

use crate::support::{Project, Said};

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

/// Returns the command lines of a document: what begins with the program, on a line of a block.
fn commands(markdown: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut in_block = false;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        let text = match &event {
            Event::Start(Tag::CodeBlock(_)) => {
                in_block = true;
                continue;
            }
            Event::End(TagEnd::CodeBlock) => {
                in_block = false;
                continue;
            }
            Event::Text(text) if in_block => text,
            _ => continue,
        };
        for line in text.lines() {
            let line = line.split_once("  #").map_or(line, |(line, _)| line).trim();
            if line.starts_with("stages ") {
                found.insert(line.to_owned());
            }
        }
    }
    found
}

/// Returns a pipeline whose second stage has failed, and asks.
fn asking() -> Project {
    let project = Project::at(2);
    project.report("failed", "").done();
    project
}

fn run(command: &str) -> Said {
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
            let state =
                "---\nschema_version: 2\ncurrent_stage: 3\nstage_status: pending\ncurrent_round: 1\n---\n";
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
        "demo" => Project::empty().person(&words),
        _ => Project::at(2).person(&words),
    }
}

#[test]
fn every_command_of_the_document_runs() {
    let all = commands(&read("docs/stages.md"));
    assert!(all.len() >= 15, "{all:#?}");
    for command in all {
        let said = run(&command).done();
        assert!(!said.is_empty(), "{command}");
    }
}

#[test]
fn the_plugin_is_installed_by_the_name_that_the_marketplace_has() {
    let marketplace: Value = serde_json::from_str(&read(".claude-plugin/marketplace.json")).unwrap();
    let plugins = marketplace["plugins"].as_array().unwrap();
    let ours = plugins.iter().find(|plugin| plugin["name"] == "stages").unwrap();
    assert_eq!(ours["source"], "./stages/plugin");
    let line = format!("/plugin install stages@{}", marketplace["name"].as_str().unwrap());
    assert!(read("docs/stages.md").contains(&line), "{line}");
}
