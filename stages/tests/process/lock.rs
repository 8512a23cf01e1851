//! The lock that the prose version of the pipeline goes by, and what a person decides where another program's lies there.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Project, SESSION, STATE, summary};

const LOCK: &str = "requirements/.requirements-lock";
const SUMMARY: &str = "requirements/.stage-summaries/stage-1-summary.md";

/// Returns a lock whose last activity is so many seconds ago.
fn lock(seconds: i64) -> String {
    let ago =
        claudex_loop::Timestamp::from_second(claudex_loop::Timestamp::now().as_second() - seconds);
    let ago = ago.unwrap();
    format!("locked_at: {ago}\nworkflow_mode: requirements\nprd_mode: NEW\nlast_activity: {ago}\n")
}

/// Returns a project in which another program is at work, with its state and a summary or with its lock alone.
fn taken(has_state: bool) -> Project {
    let project = Project::empty();
    project.write(LOCK, &lock(60));
    if has_state {
        project.write(
            STATE,
            "---\nschema_version: 2\ncurrent_stage: 3\n---\n\n# Theirs\n",
        );
        project.write(
            SUMMARY,
            &summary(1, "completed", "  analysis_mode: rapid\n"),
        );
    }
    project
}

/// Returns every file of the requirements, by its path from there.
fn files(project: &Project) -> BTreeSet<String> {
    let (mut found, mut open) = (BTreeSet::new(), vec![String::new()]);
    while let Some(folder) = open.pop() {
        let there = std::fs::read_dir(project.root.join("requirements").join(&folder));
        for entry in there.into_iter().flatten().flatten() {
            let name = format!("{folder}{}", entry.file_name().to_str().unwrap());
            match entry.file_type().unwrap().is_dir() {
                true => open.push(format!("{name}/")),
                false => drop(found.insert(name)),
            }
        }
    }
    found
}

/// Has the agent start, and returns the question that it is given.
fn asked(project: &Project) -> Value {
    let said = project.agent(&["start"]).refused();
    let (_, block) = said.split_once("```json\n").expect(&said);
    let (block, _) = block.split_once("\n```").unwrap();
    let mut call: Value = serde_json::from_str(block).unwrap();
    call["questions"].take()
}

#[test]
fn a_lock_of_another_is_asked_about_before_a_pipeline_begins() {
    for (has_state, labels) in [
        (false, &["Show", "Start anew", "Leave"][..]),
        (true, &["Resume", "Show", "Start anew", "Leave"]),
    ] {
        let project = taken(has_state);
        let before = (files(&project), project.read(LOCK));
        let question = asked(&project);
        assert_eq!(question[0]["header"], "Lock");
        let options = question[0]["options"].as_array().unwrap().iter();
        assert!(options.map(|one| &one["label"]).eq(labels), "{question}");
        let said = project.person(&["start"]).refused();
        assert!(
            said.contains("\n            stages start --anew\n"),
            "{said}"
        );
        assert_eq!(
            said.contains("\n            stages take-up\n"),
            has_state,
            "{said}"
        );
        assert!(!said.contains("AskUserQuestion"), "{said}");
        // What a person decides is not an agent’s word.
        for command in [&["start", "--anew"][..], &["take-up"]] {
            let said = project.agent(command).refused();
            assert!(said.contains("person"), "{said}");
        }
        assert_eq!((files(&project), project.read(LOCK)), before);
    }
    // Nobody holds one that old.
    let project = Project::empty();
    project.write(LOCK, &lock(7_300));
    project.agent(&["start"]).done();
    // Nor is one of ours another’s, whose end was cut off before it was removed.
    let ours = project.read(LOCK);
    project.agent(&["cancel"]).done();
    project.write(LOCK, &ours);
    project.agent(&["start"]).done();
}

#[test]
fn who_leaves_or_is_shown_what_lies_there_changes_nothing() {
    let project = taken(true);
    let (question, before) = (asked(&project), files(&project));
    let said = project.choose(&question, "Leave");
    assert!(said.contains("nothing was started"), "{said}");
    let said = project.choose(&question, "Show");
    for shown in ["workflow_mode: requirements", "# Theirs", "Start anew"] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
    // Neither what was typed nor the answer to something else is one.
    assert_eq!(project.choose(&question, "Start over"), "");
    let mut other = question.clone();
    other[0]["question"] = json!("What now?");
    assert_eq!(project.choose(&other, "Start anew"), "");
    assert_eq!(files(&project), before);
    assert_eq!(asked(&project), question);
}

#[test]
fn who_resumes_goes_on_with_the_work_of_the_other() {
    let project = taken(true);
    let said = project.choose(&asked(&project), "Resume");
    assert!(
        said.contains("Stage 3, analysis-questions, round 1"),
        "{said}"
    );
    let next = project.next();
    assert_eq!(next["stage"], 3);
    assert!(
        next["tell"].to_string().contains("was taken over"),
        "{next}"
    );
    assert_eq!(
        project.stop(&json!({})).0,
        "block",
        "it belongs to the session"
    );
    let started = project.next()["open_since"].as_str().unwrap().to_owned();
    assert!(
        project
            .read(LOCK)
            .contains(&format!("locked_at: {started}\n"))
    );
}

#[test]
fn who_starts_anew_has_what_lies_there_moved_aside() {
    let moves = |project: &Project, start: &dyn Fn()| {
        let (before, texts) = (
            files(project),
            [STATE, LOCK, SUMMARY].map(|file| project.read(file)),
        );
        start();
        let moved = files(project);
        let aside: Vec<&str> = moved
            .iter()
            .filter_map(|name| name.strip_prefix("before-"))
            .collect();
        let (folder, _) = aside[0].split_once('/').unwrap();
        let names: BTreeSet<String> = aside
            .iter()
            .map(|name| name[folder.len() + 1..].to_owned())
            .collect();
        assert_eq!(names, before);
        let now = [STATE, LOCK, SUMMARY].map(|file| {
            project.read(&file.replace("requirements/", &format!("requirements/before-{folder}/")))
        });
        assert_eq!(now, texts);
    };
    // In the dialog: the agent starts after it.
    let project = taken(true);
    let question = asked(&project);
    // That program went on in the meantime.
    project.write(LOCK, &lock(1));
    moves(&project, &|| {
        let said = project.choose(&question, "Start anew");
        assert!(
            said.contains("moved to requirements/before-") && said.contains("stages start"),
            "{said}"
        );
    });
    project.agent(&["start"]).done();
    assert_eq!(project.choose(&question, "Start anew"), "", "it is decided");
    // In a terminal.
    let project = taken(true);
    moves(&project, &|| {
        drop(project.person(&["start", "--anew"]).done())
    });
    assert_eq!(project.next()["stage"], 1);
    // By the slash command.
    let project = taken(true);
    moves(&project, &|| {
        project.hook("prompt", &json!({
            "session_id": SESSION, "hook_event_name": "UserPromptSubmit", "prompt": "/stages:start --product-name Two words --anew",
            "cwd": project.root, "prompt_id": "1",
        }));
        project.agent(&["start", "--from-prompt"]).done();
    });
    assert_eq!(project.state("product_name"), "\"Two words\"");
    // One of ours is under way: it is not moved.
    let before = files(&project);
    let said = project.person(&["start", "--anew"]).refused();
    assert!(said.contains("already active"), "{said}");
    assert_eq!(files(&project), before);
    // A document of ours without a journal is one that lies there.
    project.person(&["rollback", "--yes"]).done();
    project.person(&["start", "--anew"]).done();
}

#[test]
fn a_lock_of_ours_is_refreshed_and_one_that_comes_beside_it_is_told_until_it_is_stale() {
    let project = Project::new();
    project.write(LOCK, &lock(7_000));
    let (theirs, next) = (project.read(LOCK), project.next());
    assert!(
        next["tell"].to_string().contains("another program works"),
        "{next}"
    );
    assert!(
        project
            .agent(&["status"])
            .done()
            .contains("another program works")
    );
    project.complete(1, "");
    assert_eq!(project.read(LOCK), theirs);
    // Nobody holds one that old.
    project.write(LOCK, &lock(7_300));
    let next = project.next();
    assert_eq!(next["tell"], Value::Null);
    let activity = || {
        let lock = project.read(LOCK);
        let last = lock
            .lines()
            .find_map(|line| line.strip_prefix("last_activity: "));
        last.unwrap().to_owned()
    };
    assert_eq!(activity(), project.state("updated"));
    let ours = project
        .read(LOCK)
        .replace(&activity(), "2026-01-01T00:00:00Z");
    project.write(LOCK, &ours);
    project.complete(2, "");
    assert_eq!(activity(), project.state("updated"));
    project.write(LOCK, &lock(10));
    project.agent(&["cancel"]).done();
    assert!(project.root.join(LOCK).exists());
}
