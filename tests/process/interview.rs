//! The interview: answers of the client's dialog become the topic, byte for byte and once.

use serde_json::{Value, json};

use crate::support::{Project, feed, has, id_of};

const SCOPE: &str = "What belongs to it?";
const LIMITS: &str = "What limits it?";
const FEARS: &str = "What do you fear?";

/// The event of client 2.1.330.
fn event(session: &str, answers: &Value) -> Value {
    let question = |text: &str, header: &str, several: bool| {
        json!({"question": text, "header": header, "multiSelect": several,
               "options": [{"label": "a", "description": "x"}, {"label": "b", "description": "y"}]})
    };
    let questions = json!([
        question(SCOPE, "Scope", false),
        question(LIMITS, "Constraints", true),
        question(FEARS, "Worries", false)
    ]);
    json!({
        "session_id": session, "hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion",
        "tool_input": {"questions": questions, "answers": answers, "annotations": {}},
        "tool_response": {"questions": questions, "answers": answers, "annotations": {}},
        "tool_use_id": "toolu_1", "duration_ms": 1
    })
}

/// Returns a loop of session `s1` in drafting.
fn drafting(flags: &str) -> (Project, String) {
    let project = Project::new();
    let line = format!("start plan {flags} Move the queue");
    let id = id_of(&project.run_in_session("s1", &line).exits(0));
    (project, id)
}

#[track_caller]
fn answer(project: &Project, event: Value) -> Value {
    project.hook("answer", event).hook_answer()
}

#[test]
fn answers_are_one_change_of_the_topic() {
    let (project, id) = drafting("");
    let fears = "it's $(touch pwned)\r\n\u{202e}計画 😀 {{ id }} ";
    let answers = json!({SCOPE: "Only the API", LIMITS: "a, \"own, text\"", FEARS: fears});
    let output = answer(&project, event("s1", &answers));
    let topic = "Move the queue; Scope: Only the API; Constraints: a, \"own, text\"; Worries: ";
    assert_eq!(project.field(&id, "topic"), format!("{topic}{fears}"));
    assert!(!project.root.join("pwned").exists());
    assert_eq!(project.field(&id, "interview_used"), "true");
    let context = format!("claudex: the answers are in the topic of loop {id}.");
    assert_eq!(output["hookSpecificOutput"]["additionalContext"], context);
    let journal = project.journal(&id);
    let last = journal.last().unwrap();
    assert_eq!([&last["what"], &last["by"]], ["interview", "person"]);
    project.answers("status", 0, "Move the queue; Scope:");

    // A second interview changes nothing, and the loop continues.
    let before = project.state(&id);
    let second = event("s1", &json!({ SCOPE: "second" }));
    assert_eq!(answer(&project, second), Value::Null);
    assert_eq!(project.state(&id), before);
    project.plan("# Plan\n\nMove the queue.\n");
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn only_own_loop_in_drafting_takes_answers() {
    let yes = json!({ SCOPE: "yes" });
    let with = |name: &str, value: Value| {
        let mut input = event("s1", &yes);
        input[name] = value;
        input
    };
    let (project, id) = drafting("");
    let before = project.state(&id);
    for input in [
        event("s2", &yes),
        with("session_id", json!("unknown")),
        with("session_id", json!(null)),
        with("agent_id", json!("a1")),
        with("tool_name", json!("Bash")),
        with("tool_response", json!("User declined")),
        event("s1", &json!([SCOPE])),
        json!({}),
    ] {
        assert_eq!(answer(&project, input.clone()), Value::Null, "{input}");
    }
    let mut child = project.command("hook answer");
    child.env("CLAUDEX_REVIEWER_CHILD", "1");
    let input = with("cwd", project.root.to_str().unwrap().into());
    let ran = feed(child, input.to_string().as_bytes());
    assert_eq!(ran.hook_answer(), Value::Null, "a reviewer's");
    assert_eq!(project.state(&id), before);

    // An interviewed loop, one with a round, and one of no session.
    let interviewed = drafting("--interviewed");
    let begun = drafting("");
    begun.0.plan("# Plan\n\nMove the queue.\n");
    begun.0.fire().blocked();
    let unowned = Project::new();
    let unowned_id = unowned.start(&[]);
    for (project, id) in [interviewed, begun, (unowned, unowned_id)] {
        assert_eq!(answer(&project, event("s1", &yes)), Value::Null);
        assert_eq!(project.field(&id, "topic"), "Move the queue");
    }
}

#[test]
fn start_says_whether_to_interview_first() {
    let line = "Interview: to be held first";
    for (flags, is_due) in [
        ("", true),
        ("--skip-interview", false),
        ("--interviewed", false),
        ("--from-draft", false),
    ] {
        let project = Project::new();
        project.plan("# Plan\n");
        let prompt = format!("/claudex:plan {flags} topic");
        let started = project.slash("s1", &prompt, "start plan").exits(0).out;
        assert_eq!(started.contains(line), is_due, "{flags}: {started}");
        // The command tells the agent to ask about an existing plan because of this line.
        let is_told = started.contains("\nNote: there is an existing PLAN.md");
        assert_eq!(is_told, flags != "--from-draft", "{flags}: {started}");
    }
    let command = include_str!("../../plugin/commands/plan.md");
    has(command, &format!("`{line}`"));
    has(command, "begins `Note: there is an existing`");
    let started = Project::new().run("start plan topic").exits(0).out;
    assert!(
        !started.contains(line),
        "a terminal has no dialog: {started}"
    );
}
