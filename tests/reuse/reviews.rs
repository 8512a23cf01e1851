//! What a machine can say of its reviews: several files and the work tree's changes, who reviews by turns, a findings file for each
//! review with words of its own, and that a reviewer has to have read what it judges.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::project::Project;

const MACHINE: &str = r#"name = "cutting"
messages = "messages"

[modes.cutting]
start = "tasks"

[fields]
HELD
answered = { holds = "findings" }
base     = { type = "text", at_start = "optional" }
model    = { one_of = ["opus", "sonnet"] }
round    = { type = "count", initial = 1 }
misses   = { type = "count" }

[phases.tasks.on_stop.review]
subject       = ["tasks.md", "task-*.md"]
round         = "round"
reviewer      = "claude"
model         = "{model}"
prompt        = "tasks.md"
blocking      = "medium"
findings_file = "reviews/tasks-review-{n}.md"
verdicts      = ["PASS", "FAIL"]
clean         = "pass"
findings      = "fail"
nothing       = "miss"
failed        = "miss"

[phases.answering]
on_stop = { wait-for = { file = "reviews/tasks-post-review-{answered}.md", there = "addressed", waiting = "miss" } }

[phases.code.on_stop.review]
subject  = ["task-1.md", "{changes}"]
since    = "{base}"
round    = "round"
reviewer = ["claude", "{model}"]
earlier  = "fresh"
clean    = "pass"
findings = "miss"
nothing  = "miss"
failed   = "miss"

[phases.done]
terminal = true

[[transitions.pass]]
from     = "tasks"
to       = "code"
requires = "settled"
set      = { round = 1 }

[[transitions.pass]]
from     = "code"
to       = "done"
requires = "settled"

[[transitions.fail]]
from     = "tasks"
to       = "answering"
requires = "reviewed"
set      = { model = "next(model)" }

[[transitions.addressed]]
from = "answering"
to   = "tasks"
when = "round < 9"
set  = { round = "round + 1" }

[[transitions.miss]]
from = "*"
to   = "same"
when = "misses < 9"
set  = { misses = "misses + 1" }

[[transitions.leave]]
from = "*"
to   = "done"
by   = ["person"]
"#;

/// A project with tasks in it, a repository, and a client that answers with the events in a file.
fn project() -> (Project, String) {
    let prompt = ("tasks.md", "Read {{ subject }} in round {{ round }}.\n");
    let project = Project::new("cutting", MACHINE, &[prompt], "");
    let client = project.outside().join("claude");
    let answer = project.outside().join("answer");
    let script = format!(
        "#!/bin/sh\ncat > {told:?}\necho \"$*\" > {called:?}\ncat {answer:?}\n",
        told = project.outside().join("told"),
        called = project.outside().join("called"),
    );
    fs::write(&client, script).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    project.write(
        ".config/claudex-loop/config.toml",
        &format!("[reviewers.claude]\nprogram = {client:?}\n"),
    );
    for (name, text) in [
        ("tasks.md", "Two.\n"),
        ("task-1.md", "First.\n"),
        ("task-2.md", "Second.\n"),
    ] {
        project.write(name, text);
    }
    fs::remove_dir(project.root.join(".git")).unwrap();
    project.write(".gitignore", ".cutting/\n.config/\nreviews/\n");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
        let output = command
            .args(arguments)
            .current_dir(&project.root)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "first"]);
    let base = git(&["rev-parse", "HEAD"]);
    project.run(&["start", "--base", &base], "");
    (project, base)
}

/// Lets the client open these, and find these.
fn answer(project: &Project, opened: &[&str], severities: &[&str]) {
    let tools = opened.iter().map(
        |path| json!({"type": "tool_use", "name": "Read", "input": {"file_path": project.root.join(path)}}),
    );
    let tools: Vec<Value> = tools.collect();
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

#[test]
fn several_files_are_one_subject_and_each_review_has_a_file_of_its_own() {
    let (project, _) = project();
    answer(&project, &["task-2.md"], &["medium"]);
    let said = project.run(&["review"], "");
    assert!(said.contains("reviewer: claude (auto, opus)"), "{said}");
    assert!(said.contains("reviews/tasks-review-1.md"), "{said}");
    let called = fs::read_to_string(project.outside().join("called")).unwrap();
    assert!(called.contains("--model opus"), "{called}");
    let told = fs::read_to_string(project.outside().join("told")).unwrap();
    assert!(
        told.starts_with("Read tasks.md, task-*.md in round 1."),
        "{told}"
    );
    let first = project.read("reviews/tasks-review-1.md");
    assert!(first.ends_with("\nVERDICT: FAIL\n"), "{first}");

    assert_eq!(project.stop(), "answering");
    project.write("reviews/tasks-post-review-1.md", "Done.\n");
    assert_eq!(project.stop(), "tasks");
    // A person wrote one by hand: it keeps its name.
    project.write("reviews/tasks-review-7.md", "Mine.\n");
    answer(&project, &["tasks.md"], &["low"]);
    let said = project.run(&["review"], "");
    assert!(said.contains("reviewer: claude (auto, sonnet)"), "{said}");
    let eighth = project.read("reviews/tasks-review-8.md");
    assert!(eighth.ends_with("\nVERDICT: PASS\n"), "{eighth}");
    assert_eq!(project.read("reviews/tasks-review-7.md"), "Mine.\n");
    assert_eq!(project.read("reviews/tasks-review-1.md"), first);

    // Any of the files is part of what was reviewed.
    project.write("task-2.md", "Second, changed.\n");
    assert_eq!(project.stop(), "answering", "what was reviewed has changed");
}

#[test]
fn a_verdict_without_a_look_at_the_subject_is_none() {
    let (project, _) = project();
    for opened in [&[][..], &["README.md"]] {
        answer(&project, opened, &[]);
        let (succeeded, said) = project.try_run(&["review"], "");
        assert!(!succeeded, "{said}");
        let what = "it was given without opening tasks.md, task-*.md";
        assert!(
            said.contains("unreadable: ") && said.contains(what),
            "{said}"
        );
    }
    assert!(!project.root.join("reviews").exists());
    answer(&project, &["task-1.md"], &[]);
    project.run(&["review"], "");
    assert!(
        project
            .read("reviews/tasks-review-1.md")
            .ends_with("No substantive findings.\n\nVERDICT: PASS\n")
    );
    assert_eq!(project.stop(), "code");
}

#[test]
fn changes_are_reviewed_since_a_commit_with_the_task_that_they_are_for() {
    let (project, base) = project();
    answer(&project, &["task-1.md"], &[]);
    project.run(&["review"], "");
    assert_eq!(project.stop(), "code");
    project.write("new.txt", "Made for the first task.\n");
    answer(&project, &[], &["low"]);
    let said = project.run(&["review"], "");
    assert!(said.contains("findings-round-1.md"), "{said}");
    let told = fs::read_to_string(project.outside().join("told")).unwrap();
    for part in [
        "=== task-1.md ===\nFirst.\n",
        "+Made for the first task.",
        &base[..12],
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    // The first phase's findings of round 1 are kept.
    let kept = |folder: &std::path::Path| {
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        names
            .filter(|name| name.starts_with("findings-r1-"))
            .count()
    };
    let folder = project.root.join(".cutting").join(project.status("id"));
    assert_eq!(kept(&folder), 2, "{folder:?}");
    assert_eq!(project.stop(), "code", "a low finding blocks here");
}
