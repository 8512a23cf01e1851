//! The interview: answers of the client's dialog reach the topic byte for byte, once, and nothing else does.

use serde_json::{Value, json};

use crate::support::{Project, Ran, feed, id_of};

const SCOPE: &str = "What belongs to it?";
const LIMITS: &str = "What limits it?";
const FEARS: &str = "What do you fear?";

/// The event as 2.1.330 sends it.
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

/// A loop of session `s1` in drafting.
fn drafting(flags: &[&str]) -> (Project, String) {
    let project = Project::new();
    let started = project.run_in_session(
        "s1",
        &[&["start", "plan"], flags, &["Move the queue"]].concat(),
    );
    let id = id_of(&started.exits(0));
    (project, id)
}

/// Runs the hook and checks what holds for each call: exit 0, nothing on stderr, at most one JSON object on one line.
#[track_caller]
fn answer(project: &Project, mut input: Value) -> Option<Value> {
    if input.is_object() && input.get("cwd").is_none() {
        input["cwd"] = project.root.to_str().unwrap().into();
    }
    read(&project.run_with_stdin(&["hook", "answer"], input.to_string().as_bytes()))
}

#[track_caller]
fn read(ran: &Ran) -> Option<Value> {
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.matches('\n').count() <= 1, "{ran:?}");
    (!ran.out.is_empty()).then(|| serde_json::from_str(&ran.out).unwrap())
}

#[test]
fn the_answers_stand_in_the_topic_as_a_persons_one_change() {
    let (project, id) = drafting(&[]);
    let told = answer(
        &project,
        event(
            "s1",
            &json!({SCOPE: "Only the API", LIMITS: "a, \"own, text\"", FEARS: "Data loss"}),
        ),
    );
    assert_eq!(
        project.field(&id, "topic"),
        "Move the queue; Scope: Only the API; Constraints: a, \"own, text\"; Worries: Data loss"
    );
    assert_eq!(project.field(&id, "interview_used"), "true");
    let context = &told.unwrap()["hookSpecificOutput"]["additionalContext"];
    assert_eq!(
        context,
        &json!(format!(
            "claudex: the answers are in the topic of loop {id}."
        ))
    );
    let journal = project.journal(&id);
    let last = journal.last().unwrap();
    assert_eq!(
        (&last["what"], &last["by"]),
        (&json!("interview"), &json!("person"))
    );
    assert_eq!(project.field(&id, "phase"), "drafting");
    project.plan("# Plan\n\nMove the queue.\n");
    project.fire().blocked();
    assert_eq!(
        project.field(&id, "phase"),
        "reviewing",
        "the loop goes on as ever"
    );
}

#[test]
fn hostile_answers_arrive_byte_for_byte() {
    for typed in [
        "it's \"quoted\" $(touch pwned) `touch pwned` ; Scope: fake",
        "line one\nline two\r\nthree\rfour\ttab",
        "phase: done\n---\nrevision: 9",
        "\u{202e}bidi\u{2066} \u{1b}[31mred \u{7f}\u{0} 計画 😀 \u{2028}",
        "  blanks at both ends  ",
        "\\n \\u0041 %s {{ id }} {% raw %}",
    ] {
        let (project, id) = drafting(&[]);
        answer(&project, event("s1", &json!({ FEARS: typed })));
        assert_eq!(
            project.field(&id, "topic"),
            format!("Move the queue; Worries: {typed}")
        );
        assert!(!project.root.join("pwned").exists());
        assert_eq!(project.field(&id, "phase"), "drafting");
        project
            .run(&["status"])
            .exits(0)
            .says("Move the queue; Worries:");
        project.fire().blocked();
    }
}

#[test]
fn what_is_too_long_is_left_out_and_said() {
    let (project, id) = drafting(&[]);
    let told = answer(
        &project,
        event("s1", &json!({ SCOPE: "x".repeat(1024 * 1024) })),
    )
    .unwrap();
    assert_eq!(project.field(&id, "topic"), "Move the queue");
    assert_eq!(project.field(&id, "interview_used"), "false");
    let note = told["systemMessage"].as_str().unwrap();
    assert!(note.contains("the limit is 65536"), "{note}");
    // A shorter one is still taken.
    answer(
        &project,
        event("s1", &json!({ SCOPE: "x".repeat(60 * 1024) })),
    );
    assert_eq!(project.field(&id, "interview_used"), "true");
}

#[test]
fn a_second_interview_changes_nothing() {
    let (project, id) = drafting(&[]);
    answer(&project, event("s1", &json!({ SCOPE: "first" }))).unwrap();
    let before = project.state(&id);
    assert_eq!(
        answer(&project, event("s1", &json!({ SCOPE: "second" }))),
        None
    );
    assert_eq!(project.state(&id), before);
}

#[test]
fn only_the_own_plan_loop_in_drafting_takes_answers() {
    let yes = json!({ SCOPE: "yes" });
    let (project, id) = drafting(&[]);
    let before = project.state(&id);
    let with = |name: &str, value: Value| {
        let mut input = event("s1", &yes);
        input[name] = value;
        input
    };
    for input in [
        event("s2", &yes),
        with("session_id", json!("unknown")),
        with("session_id", json!(null)),
        with("agent_id", json!("a1")),
        with("hook_event_name", json!("PreToolUse")),
        with("tool_name", json!("Bash")),
        with("tool_response", json!("User declined")),
        with("tool_response", json!({"questions": [], "answers": yes})),
        event("s1", &json!({})),
        event("s1", &json!([SCOPE])),
        json!({}),
    ] {
        assert_eq!(answer(&project, input.clone()), None, "{input}");
    }
    for bytes in [&b""[..], b"not json", b"[]", b"\xff\xfe{"] {
        assert_eq!(
            read(&project.run_with_stdin(&["hook", "answer"], bytes)),
            None
        );
    }
    let mut input = event("s1", &yes);
    input["cwd"] = project.root.to_str().unwrap().into();
    let mut child = project.command(&["hook", "answer"]);
    child.env("CLAUDEX_REVIEWER_CHILD", "1");
    assert_eq!(
        read(&feed(child, input.to_string().as_bytes())),
        None,
        "a reviewer's"
    );
    assert_eq!(project.state(&id), before);

    let (project, id) = drafting(&["--interviewed"]);
    assert_eq!(answer(&project, event("s1", &yes)), None);
    assert_eq!(project.field(&id, "topic"), "Move the queue");

    let (project, id) = drafting(&[]);
    project.plan("# Plan\n\nMove the queue.\n");
    project.fire().blocked();
    assert_eq!(
        answer(&project, event("s1", &yes)),
        None,
        "the rounds have begun"
    );
    assert_eq!(project.field(&id, "topic"), "Move the queue");

    let project = Project::new();
    let id = project.start(&[]);
    assert_eq!(
        answer(&project, event("s1", &yes)),
        None,
        "a loop of nobody"
    );
    assert_eq!(project.field(&id, "session_id"), "unknown");
}

#[test]
fn the_start_says_whether_an_interview_is_to_be_held() {
    let line = "Interview: to be held first";
    for (typed, due) in [
        ("a topic", true),
        ("--skip-interview a topic", false),
        ("--interviewed a topic", false),
        ("--from-draft a topic", false),
    ] {
        let project = Project::new();
        project.plan("# Plan\n");
        let prompt = json!({"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt_id": "p1",
                            "prompt": format!("/claudex:plan {typed}")});
        project
            .run_with_stdin(&["hook", "prompt"], prompt.to_string().as_bytes())
            .exits(0);
        let started = project
            .run_in_session("s1", &["start", "plan", "--from-prompt"])
            .exits(0);
        assert_eq!(started.out.contains(line), due, "{typed}: {}", started.out);
        // The command has the agent ask about a plan that is there, by this line.
        let is_told = started.out.contains("\nNote: there is an existing PLAN.md");
        assert_eq!(
            is_told,
            !typed.starts_with("--from-draft"),
            "{typed}: {}",
            started.out
        );
    }
    let command = include_str!("../../plugin/commands/plan.md");
    assert!(command.contains(&format!("`{line}`")), "{command}");
    assert!(
        command.contains("begins `Note: there is an existing`"),
        "{command}"
    );
    let (project, _) = (Project::new(), ());
    let started = project.run(&["start", "plan", "a topic"]).exits(0);
    assert!(
        !started.out.contains(line),
        "in a terminal there is no dialog: {}",
        started.out
    );
}
