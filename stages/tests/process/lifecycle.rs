//! A pipeline from its first stage to its last one.

use std::time::Duration;

use claudex_testkit::has;
use serde_json::{Value, json};
use stages::contract::Stage;

use crate::seal::rewrite_journal;
use crate::support::{Project, SESSION, STATE};

#[test]
fn pipeline_goes_through_all_stages() {
    let project = Project::new();
    for (stage, minutes) in (1..).zip([0, 15, 30, 15, 20, 5, 10]) {
        let next = project.next();
        let minutes = if stage == 1 {
            Value::Null
        } else {
            json!(minutes)
        };
        let name = Stage::from_number(stage).unwrap().to_string();
        // New values and values from elsewhere are those of the instruction itself.
        let expected = json!({
            "instruction": "dispatch", "stage": stage, "stage_name": name, "round": 1, "inline": stage == 1,
            "dispatch_id": next["variables"]["DISPATCH_ID"], "summary_file": next["variables"]["SUMMARY_FILE"],
            "timeout_minutes": minutes, "variables": next["variables"], "open_since": next["open_since"],
            "task": next["task"], "tell": [], "details": [], "root": null,
        });
        assert_eq!(next, expected);
        let id = next["dispatch_id"].as_str().unwrap();
        assert!(id.ends_with(&format!("-{stage}")), "{next}");
        let variables = first_round_variables(stage, &next, &minutes);
        assert_eq!(next["variables"], variables);
        project.complete(stage, "");
    }
    assert_eq!(project.next()["instruction"], "done");
    assert_eq!(project.state("stage_status"), "completed");
    assert_eq!(project.state("can_resume"), "false");
    assert_eq!(project.state("analysis_mode"), "standard");
    let state = project.read(STATE);
    has(&state, "    decision: READY");
    has(&state, "working/QUESTIONS-001.md");
    for section in ["product_definition: COMPLETE", "executive_summary: MISSING"] {
        has(&state, &format!("\n  {section}\n"));
    }
    assert!(!state.contains("validation_mode"), "{state}");
    has(&state, "- Stage 6: COMPLETE\n");
    project.agent(&["report"]).refusal();
}

/// Returns the variables of a stage in a first round after a stage 1 with flags.
fn first_round_variables(stage: u64, next: &Value, minutes: &Value) -> Value {
    let mut variables = json!({
        "SUMMARY_FILE": format!("requirements/.stage-summaries/stage-{stage}-summary.md"),
        "DISPATCH_ID": next["dispatch_id"],
        "USER_ANSWER": null,
    });
    if stage > 1 {
        let more = json!({
            "ROUND_NUMBER": 1, "ANALYSIS_MODE": "standard", "PRD_MODE": "NEW", "ENTRY_TYPE": "first_entry", "PAL_AVAILABLE": true,
            "ST_AVAILABLE": false, "RESEARCH_MCP_AVAILABLE": false, "PANEL_CONFIG_PATH": null,
            "TIMEOUT_MINUTES": minutes,
            "PRIOR_CONTEXT": format!("Stage {} says so.", stage - 1), "PRIOR_SUMMARIES": "",
        });
        let all = variables.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
    }
    match stage {
        2 => variables["FOCUS"] = json!([]),
        5 => variables["SKIP_VALIDATION"] = json!(false),
        _ => {}
    }
    variables
}

#[test]
fn rapid_round_has_no_panel() {
    for (mode, panel) in [("rapid", Value::Null), ("advanced", json!("panel.md"))] {
        let project = Project::new();
        let flags = "  panel_config_path: panel.md\n  prd_mode: EXTEND\n";
        project
            .report("completed", &format!("  analysis_mode: {mode}\n{flags}"))
            .done();
        let variables = &project.next()["variables"];
        assert_eq!(variables["PANEL_CONFIG_PATH"], panel, "{mode}");
        assert_eq!(variables["ANALYSIS_MODE"], mode);
        assert_eq!(variables["PRD_MODE"], "EXTEND");
    }
}

#[test]
fn dispatch_open_for_twice_its_time_is_overdue() {
    let project = Project::at(2);
    let text = |key: &str| project.next()[key].as_str().unwrap().to_owned();
    let dispatch = text("dispatch_id");
    let (id, _) = dispatch.rsplit_once('-').unwrap();
    let home = project.folder.home().join("state/stages");
    let opened_before = |minutes: u64| {
        let since = text("open_since");
        let now = claudex_loop::Timestamp::now();
        let moved = (now - Duration::from_secs(60 * minutes)).to_string();
        let age = |text: &str| text.replace(&since, &moved);
        rewrite_journal(&project.root.join(".stages"), &home, id, age).unwrap();
        project.write(STATE, &age(&project.read(STATE)));
        assert_eq!(text("open_since"), moved);
        let status = project.agent(&["status"]).done();
        [project.next()["tell"].to_string(), status]
            .map(|line| line.contains("open for more than 30 minutes"))
    };
    // A coordinator of research has 15 minutes.
    assert_eq!(opened_before(29), [false, false]);
    assert_eq!(opened_before(31), [true, true]);
    // No process is ended.
    project.complete(2, "");
    assert_eq!(project.next()["tell"], json!([]));
}

#[test]
fn exit_pause_lets_turns_end_until_resume() {
    let project = Project::at(4);
    project
        .report(
            "needs-user-input",
            "  pause_type: exit_cli\n  block_reason: Mark the boxes\n",
        )
        .done();
    assert_eq!(project.next_at("stop", 4)["reason"], "Mark the boxes");
    assert_eq!(
        ["waiting_for_user", "pause_stage", "next_step"].map(|key| project.state(key)),
        ["true", "4", "Mark the boxes"]
    );
    let (decision, line) = project.stop(&json!({}));
    assert_eq!(decision, "approve");
    let waits = "waits for you: Mark the boxes. Next: when it is done, type /stages:resume";
    has(&line, waits);
    let before = project.read(STATE);
    project.agent(&["resume"]).refusal();
    project.agent(&["report"]).refusal();
    assert_eq!(project.read(STATE), before);
    project.person(&["resume"]).done();
    let next = project.next_at("dispatch", 4);
    assert_eq!(next["variables"]["ENTRY_TYPE"], "re_entry_after_user_input");
    assert_eq!(
        ["waiting_for_user", "pause_stage", "next_step"].map(|key| project.state(key)),
        ["false", "null", "null"]
    );
    project.complete(4, "");
    assert_eq!(project.next()["variables"]["ENTRY_TYPE"], "first_entry");
}

const NOT_READY: &str =
    "  validation_decision: NOT_READY\n  validation_score: 0\n  weak_dimensions: [target_users]\n";

#[test]
fn not_ready_begins_another_round() {
    let project = Project::at(5);
    project.complete(5, NOT_READY);
    let next = project.next_at("ask", 5);
    assert_eq!(next["key"], "analysis_mode_round_2");
    assert_eq!(next["round"], 2);
    assert_eq!(next["questions"][0]["options"].as_array().unwrap().len(), 4);
    let id = project.next()["answer"].as_str().unwrap().to_owned();
    has(&project.person(&["pause"]).refusal(), &id);
    let message = project.agent(&["answer", "rapid"]).refusal();
    has(&message, "an agent may not run");
    project.person(&["answer", "complete"]).done();
    let next = project.next();
    assert_eq!((&next["stage"], &next["round"]), (&json!(3), &json!(2)));
    assert_eq!(next["variables"]["ANALYSIS_MODE"], "complete");
    has(&project.read(STATE), "analysis_mode_round_2: complete");
    // The second repetition gained nothing.
    project.complete(3, "");
    project.complete(4, "");
    project.complete(5, NOT_READY);
    assert_eq!(project.next()["key"], "stagnation_round_2");
    project.person(&["answer", "Force"]).done();
    let next = project.next_at("dispatch", 5);
    assert_eq!(next["variables"]["SKIP_VALIDATION"], true);
    project.requirements();
    project
        .report("completed", "  validation_decision: CONDITIONAL\n")
        .done();
    assert_eq!(project.next()["stage"], 6);
    has(&project.read(STATE), "    validation_mode: skipped\n");
}

#[test]
fn research_gets_the_gaps() {
    let project = Project::at(4);
    project.complete(
        4,
        "  next_action: loop_research\n  gap_descriptions: [Who pays]\n",
    );
    let next = project.next();
    assert_eq!((&next["stage"], &next["round"]), (&json!(2), &json!(2)));
    assert_eq!(next["variables"]["FOCUS"], json!(["Who pays"]));
    project.complete(2, "");
    assert_eq!(project.next()["key"], "analysis_mode_round_2");
}

#[test]
fn circuit_breaks_before_round_above_limit() {
    let project = Project::empty();
    let none = project.folder.agent(&["start", "--max-rounds", "0"]);
    assert_eq!(none.unwrap().code, Some(2));
    project.agent(&["start", "--max-rounds", "1"]).done();
    for stage in 1..=3 {
        project.complete(stage, "");
    }
    project.complete(4, "  next_action: loop_questions\n");
    assert_eq!(project.next()["key"], "circuit_breaker_round_1");
    project.person(&["answer", "One more round"]).done();
    assert_eq!(project.next()["key"], "analysis_mode_round_2");
}

#[test]
fn partial_stage_is_told_and_flags_decide() {
    let project = Project::at(4);
    let flags = "  timeout: true\n  partial: true\n  completed_steps: [answers read]\n  next_action: proceed\n";
    project.report("completed", flags).done();
    let next = project.next();
    assert_eq!(next["stage"], 5);
    let message = "Stage 4 is only partly done: answers read.";
    assert_eq!(next["tell"], json!([message]));
    has(&project.agent(&["next"]).done(), message);
}

#[test]
fn later_rounds_have_digest_and_fifth_a_warning() {
    let project = Project::at(4);
    let digest = "requirements/.stage-summaries/rounds-digest.md";
    for round in 2..=5 {
        project.complete(4, "  next_action: loop_questions\n");
        project.person(&["answer", "standard"]).done();
        let next = project.next();
        let warned = next["tell"].to_string().contains("Round 5 of 10 begins.");
        assert_eq!(warned, round == 5, "{round}: {next}");
        let has_digest = project.root.join(digest).is_file();
        assert_eq!(has_digest, round >= 4, "{round}");
        let prior = next["variables"]["PRIOR_SUMMARIES"].as_str().unwrap();
        assert_eq!(prior.contains(digest), has_digest, "{prior}");
        project.complete(3, "");
    }
    // The next stop writes a lost digest again, byte for byte.
    let text = project.read(digest);
    has(&text, "rounds_covered: [1, 2, 3, 4]");
    std::fs::remove_file(project.root.join(digest)).unwrap();
    project.next();
    assert!(!project.root.join(digest).exists());
    project.stop(&Value::Null);
    assert_eq!(project.read(digest), text);
}

#[test]
fn resume_binds_wait_to_the_session() {
    let project = Project::at(2);
    let flags = "  pause_type: exit_cli\n  block_reason: Write the agenda\n";
    project.report("needs-user-input", flags).done();
    let resume = project.next()["resume"].as_str().unwrap().to_owned();
    let id = resume.strip_prefix("stages resume ").unwrap();
    let begins = |session: &str| {
        let input = json!({ "session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": project.root });
        project.hook("session-start", &input)
    };
    for session in [SESSION, "session-2"] {
        let line = begins(session);
        has(&line, "in phase waiting");
        has(&line, "waits for you: Write the agenda");
        has(&line, &format!("/stages:resume {id}"));
    }
    project.hook("prompt", &json!({
        "session_id": "session-2", "hook_event_name": "UserPromptSubmit", "cwd": project.root, "prompt": "/stages:resume", "prompt_id": "1",
    }));
    let resumed = project.agent_of("session-2", &["resume", "--from-prompt"]);
    has(&resumed.done(), "belongs to this session now");
    project.next_at("dispatch", 2);
    has(&begins("session-2"), "of this session");
    has(&begins(SESSION), "another session has loop");
    // A cancelled pipeline waits for nobody.
    project.summary("needs-user-input", flags);
    let refused = project.agent(&["report"]).refusal();
    has(&refused, "belongs to another session");
    project.agent_of("session-2", &["report"]).done();
    project.person(&["cancel"]).done();
    assert_eq!(
        ["waiting_for_user", "pause_stage", "next_step", "can_resume"]
            .map(|key| project.state(key)),
        ["false", "null", "null", "false"]
    );
    assert_eq!(project.agent(&["next"]).done(), "The pipeline is over.\n");
    // The user's text in the document of the earlier pipeline is kept.
    project.write(STATE, &(project.read(STATE) + "My note.\n"));
    let message = project.person(&["start"]).done();
    let kept = message.split_once("kept as ").unwrap().1.lines().next();
    has(&std::fs::read_to_string(kept.unwrap()).unwrap(), "My note.");
    project.person(&["archive"]).done();
    for command in ["start", "take-up", "next"] {
        has(&project.person(&[command]).refusal(), "stages resume 2");
    }
}
