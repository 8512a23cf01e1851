//! Commands that a user typed, as the prompt hook keeps them for the command that follows.

use crate::support::{Project, feed, id_of};
use serde_json::{Value, json};

#[test]
fn a_typed_command_starts_a_loop_without_a_shell_in_between() {
    let project = Project::new();
    let topic = "fix `it` $(touch pwned) \"q\" 'q' | & / \\ ü\n--rounds 9; EOF";
    project.type_line("s1", &format!("/claudex:plan --rounds 2 {topic}"));
    let started = project
        .run_in_session("s1", &["start", "plan", "--from-prompt"])
        .exits(0);
    let id = id_of(&started);
    assert_eq!(project.field(&id, "topic"), topic);
    assert_eq!(project.field(&id, "max_rounds"), "2");
    assert_eq!(project.field(&id, "session_id"), "s1");
    assert!(!project.root.join("pwned").exists());
}

#[test]
fn a_ticket_stands_for_the_person_once_and_for_its_own_command() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire_as("old").blocked();

    project.type_line("s1", &format!("/claudex:adopt {id}"));
    project.answers_in("s1", &["adopt", &id], 1, "an agent may not run ‘adopt’");
    project
        .run_in_session("s1", &["resume", "--from-prompt"])
        .exits(2);
    project
        .run_in_session("s2", &["adopt", "--from-prompt"])
        .exits(2);
    project
        .run_in_session("s1", &["adopt", "--from-prompt"])
        .exits(0);
    assert_eq!(project.field(&id, "session_id"), "s1");
    project
        .run_in_session("s1", &["adopt", "--from-prompt"])
        .exits(2);

    project.type_line("s1", "/claudex:resume");
    project
        .run_in_session("s1", &["resume", "--from-prompt"])
        .exits(0);
    assert_eq!(project.changes(&id).last().unwrap(), "resume");
}

#[test]
fn what_an_agent_or_another_plugin_says_leaves_no_ticket() {
    let project = Project::new();
    let id = project.start(&[]);
    let events: [Value; 6] = [
        // Without a prompt id.
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "/claudex:adopt"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "session_id": "s1", "agent_id": "a", "prompt": "/claudex:adopt"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "session_id": "s1", "prompt": "please type /claudex:adopt"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "session_id": "s1", "prompt": "/other:adopt"}),
        json!({"hook_event_name": "Stop", "session_id": "s1", "prompt": "/claudex:adopt"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "prompt": "/claudex:adopt"}),
    ];
    for event in events {
        feed(
            project.command(&["hook", "prompt"]),
            event.to_string().as_bytes(),
        )
        .exits(0);
        project
            .run_in_session("s1", &["adopt", "--from-prompt"])
            .exits(2);
    }
    feed(project.command(&["hook", "prompt"]), b"not json").exits(0);
    assert_eq!(project.field(&id, "session_id"), "unknown");
}
