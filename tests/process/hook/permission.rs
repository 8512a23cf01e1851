//! The PreToolUse hook permits the loop's commands, protects its state and leaves the rest.

use serde_json::{Value, json};

use crate::support::{Project, program};

/// Returns the hook's decision about a tool call, or an empty text.
fn decide(project: &Project, session: &str, tool: &str, input: &Value) -> String {
    let event = json!({
        "session_id": session, "cwd": project.root, "hook_event_name": "PreToolUse",
        "tool_name": tool, "tool_input": input,
    });
    let ran = project.hook("pre-tool-use", event).exits(0);
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    let answer = &answer["hookSpecificOutput"];
    if !ran.out.is_empty() {
        assert_eq!(answer["hookEventName"], "PreToolUse");
    }
    let decision = &answer["permissionDecision"];
    decision.as_str().unwrap_or_default().to_owned()
}

#[test]
fn calls_that_the_loop_asks_for_are_allowed() {
    let (project, id) = Project::reviewing(&[]);
    let program = program();
    let program = shlex::try_quote(program.to_str().unwrap()).unwrap();
    let bash = |command: &str| decide(&project, "s1", "Bash", &json!({ "command": command }));
    for call in [
        "status",
        &format!("review {id}"),
        &format!("mark-done {id}"),
    ] {
        assert_eq!(bash(&format!("{program} {call}")), "allow", "{call}");
    }
    for call in [
        format!("{program} cancel"),
        format!("{program} more 2"),
        format!("{program} review {id}; rm -rf src"),
        format!("{program} review {id} > PLAN.md"),
        format!("{program} review $(touch x)"),
        "/bin/ls".to_owned(),
        "claudex-loop-other review".to_owned(),
    ] {
        assert_eq!(bash(&call), "", "{call}");
    }

    let write = |tool: &str, path: &str| {
        let path = project.root.join(path);
        decide(&project, "s1", tool, &json!({ "file_path": path }))
    };
    assert_eq!(write("Write", "PLAN.md"), "allow");
    assert_eq!(write("Edit", "PLAN.md"), "allow");
    assert_eq!(write("Write", "src/main.rs"), "");
    assert_eq!(write("Write", "docs/../PLAN.md"), "");
    assert_eq!(
        write("Edit", &format!(".claude/claudex/{id}.state")),
        "deny"
    );
    assert_eq!(
        write("Write", &format!(".claude/claudex/{id}/journal.jsonl")),
        "deny"
    );

    // After the loop's end, its agent may read, but not write for it.
    project.run("cancel").exits(0);
    assert_eq!(bash(&format!("{program} status")), "allow");
    assert_eq!(write("Write", "PLAN.md"), "");

    // The loop belongs to another session.
    let status = json!({ "command": format!("{program} status") });
    assert_eq!(decide(&project, "s2", "Bash", &status), "");
    std::fs::remove_file(project.root.join("PLAN.md")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", project.root.join("PLAN.md")).unwrap();
    assert_eq!(write("Write", "PLAN.md"), "");
}

#[test]
fn name_is_allowed_if_it_finds_this_program() {
    let (project, _) = Project::reviewing(&[]);
    let status = json!({ "command": "claudex-loop status" });
    assert_eq!(decide(&project, "s1", "Bash", &status), "");

    let folder = project.home.join("bin");
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(program(), folder.join("claudex-loop")).unwrap();
    let path = folder.to_str().unwrap().to_owned();
    let found = project.with("PATH", &format!("{path}:/usr/bin"));
    assert_eq!(decide(&found, "s1", "Bash", &status), "allow");

    let first = found.root.join("node_modules");
    crate::support::write(&first.join("claudex-loop"), "");
    crate::support::executable(&first.join("claudex-loop"), "#!/bin/sh\n");
    let first = first.to_str().unwrap().to_owned();
    let mut hidden = found;
    for planted in [first.as_str(), "node_modules", ""] {
        hidden = hidden.with("PATH", &format!("{planted}:{path}"));
        assert_eq!(decide(&hidden, "s1", "Bash", &status), "", "{planted}");
    }
}
