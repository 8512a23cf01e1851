//! Declared reviews: several files and the work tree's changes, alternating reviewers, own findings
//! files, and a reviewer that must read its subject.

use claudex_testkit::has;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::project::Project;

/// Returns a repository with tasks and a client that prints the events in a file; its commit.
fn project() -> (Project, String) {
    let project = Project::new("cutting", "");
    let [client, answer, told, called] =
        ["claude", "answer", "told", "called"].map(|name| project.outside().join(name));
    let script = format!("#!/bin/sh\ncat > {told:?}\necho \"$*\" > {called:?}\ncat {answer:?}\n");
    fs::write(&client, script).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    let configuration = format!("[reviewers.claude]\nprogram = {client:?}\n");
    project.write(".config/claudex-loop/config.toml", &configuration);
    project.write(".gitignore", ".cutting/\n.config/\n.local/\nreviews/\n");
    project.write("tasks.md", "Two.\n");
    project.write("task-1.md", "First.\n");
    project.write("task-2.md", "Second.\n");
    let base = project.commit();
    project.run(&format!("start --base {base}"));
    (project, base)
}

/// Reviews with a client that opens these files and finds these severities. Returns the output.
fn review(project: &Project, opened: &[&str], severities: &[&str]) -> String {
    answer(project, opened, severities);
    project.run("review")
}

fn answer(project: &Project, opened: &[&str], severities: &[&str]) {
    let tool = |path: &&str| json!({"type": "tool_use", "name": "Read", "input": {"file_path": project.root.join(path)}});
    let tools: Vec<Value> = opened.iter().map(tool).collect();
    let finding = |severity: &&str| {
        json!({"id": null, "severity": severity, "what": format!("something {severity}"), "recommendation": null,
            "file": null, "line": null, "patch": null})
    };
    let findings: Vec<Value> = severities.iter().map(finding).collect();
    let verdict = if findings.is_empty() {
        "clean"
    } else {
        "findings"
    };
    let events = [
        json!({"type": "assistant", "message": {"content": tools}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "",
            "structured_output": {"verdict": verdict, "findings": findings}}),
    ];
    let lines = events.map(|event| format!("{event}\n"));
    fs::write(project.outside().join("answer"), lines.concat()).unwrap();
}

/// Returns the client's stdin, or its arguments.
fn read_note(project: &Project, name: &str) -> String {
    fs::read_to_string(project.outside().join(name)).unwrap()
}

#[test]
fn several_files_are_one_subject() {
    let (project, _) = project();
    let message = review(&project, &["task-2.md"], &["medium"]);
    has(&message, "reviewer: claude (auto, opus)");
    assert!(message.contains("reviews/tasks-review-1.md"), "{message}");
    assert!(read_note(&project, "called").contains("--model opus"));
    assert!(read_note(&project, "told").starts_with("Read tasks.md, task-*.md in round 1."));
    let first = project.read("reviews/tasks-review-1.md");
    assert!(first.ends_with("\nVERDICT: FAIL\n"), "{first}");

    assert_eq!(project.stop(), "answering");
    project.write("reviews/tasks-post-review-1.md", "Done.\n");
    assert_eq!(project.stop(), "tasks");
    // The user wrote one by hand, which keeps its name.
    project.write("reviews/tasks-review-7.md", "Mine.\n");
    let message = review(&project, &["tasks.md"], &["low"]);
    has(&message, "reviewer: claude (auto, sonnet)");
    let eighth = project.read("reviews/tasks-review-8.md");
    assert!(eighth.ends_with("\nVERDICT: PASS\n"), "{eighth}");
    assert_eq!(project.read("reviews/tasks-review-7.md"), "Mine.\n");
    assert_eq!(project.read("reviews/tasks-review-1.md"), first);

    // Each of the files is part of the reviewed subject.
    project.write("task-2.md", "Second, changed.\n");
    assert_eq!(project.stop(), "answering", "what was reviewed has changed");
}

#[test]
fn changes_are_reviewed_with_their_task() {
    let (project, base) = project();
    review(&project, &["task-1.md"], &[]);
    let clean = project.read("reviews/tasks-review-1.md");
    let end = "No substantive findings.\n\nVERDICT: PASS\n";
    assert!(clean.ends_with(end), "{clean}");
    assert_eq!(project.stop(), "code");
    project.write("new.txt", "Made for the first task.\n");
    let message = review(&project, &[], &["low"]);
    assert!(message.contains("findings-round-1.md"), "{message}");
    let output = read_note(&project, "told");
    for part in [
        "=== task-1.md ===\nFirst.\n",
        "+Made for the first task.",
        &base[..12],
    ] {
        assert!(output.contains(part), "{part} in {output}");
    }
    // The first phase's findings of round 1 are also in the journal.
    let journal = project.loop_folder(".cutting").join("journal.jsonl");
    let journal = fs::read_to_string(journal).unwrap();
    assert_eq!(journal.matches("\"verdict\":[").count(), 2, "{journal}");
    assert_eq!(project.stop(), "code", "a low finding blocks here");
}
