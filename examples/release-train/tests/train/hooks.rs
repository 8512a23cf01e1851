//! The hooks: what is set up, whom they concern, and what the doctor finds.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{SESSION, Yard, decision, feed};

const QUESTION: &str = "Roll 1.0 out to everyone?";

#[test]
fn the_hooks_that_are_printed_run_as_they_are_and_the_doctor_finds_them() {
    let yard = Yard::new();
    let said = yard.run(&["doctor"]);
    assert_eq!(said.code, Some(0), "{}", said.out);
    assert!(
        said.out.contains("our plugin is not installed"),
        "{}",
        said.out
    );

    // The program may lie anywhere: its path is quoted for the shell that runs the hook.
    let elsewhere = yard.path.join("it's $HOME here");
    std::fs::create_dir(&elsewhere).unwrap();
    let program = elsewhere.join("release-train");
    // By a process of its own: a program that we wrote is busy for as long as a child that was forked meanwhile has the file open.
    let mut copy = Command::new("cp");
    copy.arg(env!("CARGO_BIN_EXE_release-train")).arg(&program);
    assert!(copy.status().unwrap().success());
    let mut command = Command::new(&program);
    command.arg("hooks");
    yard.place(&mut command);
    let printed = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let settings: Value = serde_json::from_str(&printed).unwrap();
    std::fs::create_dir(yard.path.join(".claude")).unwrap();
    std::fs::write(yard.path.join(".claude/settings.json"), &printed).unwrap();

    let hook = |pointer: &str| {
        settings
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap()
            .to_owned()
    };
    assert_eq!(hook("/hooks/PostToolUse/0/matcher"), "AskUserQuestion");
    let run = |line: String, input: &Value| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &line]);
        yard.place(&mut shell);
        feed(shell, input.to_string().as_bytes())
    };
    yard.start("train", "1.0");
    let stop = json!({"session_id": SESSION, "hook_event_name": "Stop", "cwd": yard.path});
    let (decision, said) = decision(&run(hook("/hooks/Stop/0/hooks/0/command"), &stop));
    assert_eq!(decision, "block", "{said}");
    let answered = run(
        hook("/hooks/PostToolUse/0/hooks/0/command"),
        &yard.dialog(QUESTION, "Roll out"),
    );
    assert_eq!(answered, "", "nothing was asked yet");

    let said = yard.run(&["doctor", "--json"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let checks: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    let found = |name: &str| -> Vec<&str> {
        let of_name = checks.iter().filter(|check| check["name"] == name);
        of_name
            .map(|check| check["found"].as_str().unwrap())
            .collect()
    };
    let settings = yard.path.join(".claude/settings.json");
    assert_eq!(
        found("hooks"),
        [format!("our Stop hook is called by {}", settings.display())]
    );
    assert_eq!(found("run"), ["build runs test", "probe runs test"]);
}

#[test]
fn a_stop_concerns_the_sessions_own_agent_and_nobody_else() {
    let yard = Yard::new();
    assert_eq!(
        yard.approves(),
        "",
        "without a train there is nothing to say"
    );
    assert!(!yard.folder().exists(), "and nothing is made");
    yard.start("train", "1.0");
    let stop = |more: Value| {
        let mut input = json!({"session_id": SESSION, "hook_event_name": "Stop", "cwd": yard.path});
        input
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        decision(&yard.hook("stop", input.to_string().as_bytes()))
    };
    let nothing = ("approve".to_owned(), String::new());
    assert_eq!(stop(json!({"agent_id": "a1"})), nothing, "a subagent");
    assert_eq!(
        stop(json!({"hook_event_name": "SubagentStop"})),
        nothing,
        "a subagent"
    );
    let helper = json!({"background_tasks": [{"type": "subagent", "status": "running"}]});
    assert_eq!(stop(helper), nothing, "while a helper works");
    let mut child = yard.command(&["hook", "stop"]);
    child.env("CLAUDEX_REVIEWER_CHILD", "1");
    let input = json!({"session_id": SESSION, "hook_event_name": "Stop", "cwd": yard.path});
    assert_eq!(
        decision(&feed(child, input.to_string().as_bytes())),
        nothing,
        "a reviewer"
    );
    assert_eq!(yard.phase(), "boarding");

    assert_eq!(stop(json!({})).0, "block");
    assert_eq!(yard.stop_of("session-2"), nothing, "another session");
    std::fs::create_dir(yard.path.join("deep")).unwrap();
    assert_eq!(
        stop(json!({"cwd": yard.path.join("deep")})).0,
        "block",
        "after a cd"
    );
    assert_eq!(stop(json!({"cwd": "/"})), nothing, "outside");
}

#[test]
fn only_an_offered_answer_to_the_phases_question_counts() {
    let (yard, id) = Yard::approving("1.0");
    let before = std::fs::read(yard.state(&id)).unwrap();
    let forged = |change: fn(&mut Value)| {
        let mut event = yard.dialog(QUESTION, "Roll out");
        change(&mut event);
        event
    };
    for event in [
        yard.dialog(QUESTION, "yes, roll out"),
        yard.dialog(QUESTION, "roll out"),
        yard.dialog(QUESTION, "Roll out, Roll back"),
        yard.dialog(QUESTION, ""),
        yard.dialog("Roll 1.1 out to everyone?", "Roll out"),
        forged(|event| event["session_id"] = json!("session-2")),
        forged(|event| event["session_id"] = Value::Null),
        forged(|event| event["session_id"] = json!("unknown")),
        forged(|event| event["agent_id"] = json!("a1")),
        forged(|event| event["hook_event_name"] = json!("PreToolUse")),
        forged(|event| event["tool_name"] = json!("Bash")),
        forged(|event| event["tool_response"] = Value::Null),
        forged(|event| {
            let answers = event["tool_response"].take();
            event["tool_input"] = answers;
        }),
        forged(|event| event["tool_response"]["questions"][0]["header"] = json!("Other")),
    ] {
        assert_eq!(yard.answered(&event), None, "{event}");
    }
    assert_eq!(std::fs::read(yard.state(&id)).unwrap(), before);
    assert!(
        yard.answered(&yard.dialog(QUESTION, " Roll out\n"))
            .is_some()
    );
    assert_eq!(yard.phase(), "rollout");
    assert_eq!(
        yard.answered(&yard.dialog(QUESTION, "Roll back")),
        None,
        "it was answered"
    );
}

#[test]
fn a_session_that_calls_itself_unknown_does_not_take_the_train_anew_at_each_stop() {
    let (yard, id) = Yard::approving("1.0");
    yard.done(&["adopt", "--yes"]);
    let said = yard.stop_of("unknown");
    assert_eq!(said.0, "remind", "{}", said.1);
    let before = std::fs::read_to_string(yard.state(&id)).unwrap();
    for _ in 0..3 {
        assert_eq!(yard.stop_of("unknown").0, "approve");
    }
    assert_eq!(std::fs::read_to_string(yard.state(&id)).unwrap(), before);
    // It still belongs to nobody: a session with a name takes it.
    yard.approves();
    assert_eq!(yard.status()["session"], SESSION);
}

#[test]
fn what_an_answer_puts_right_the_person_is_told() {
    let (yard, id) = Yard::approving("1.0");
    let text = std::fs::read_to_string(yard.state(&id)).unwrap();
    std::fs::write(yard.state(&id), text.replace("probes: 1", "probes: 9")).unwrap();
    let event = yard.dialog("Roll 1.0 out to everyone?", "Roll out");
    let told = yard.hook("answer", event.to_string().as_bytes());
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let said = told["systemMessage"].as_str().unwrap_or_default();
    assert!(
        said.contains(&id) && said.contains("edited by hand (probes)"),
        "{told}"
    );
    assert_eq!(
        (yard.phase().as_str(), &yard.status()["fields"]["probes"]),
        ("rollout", &serde_json::json!(1))
    );
}
