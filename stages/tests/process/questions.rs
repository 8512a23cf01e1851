//! The questions to the user, and the effects of the answers.

use claudex_testkit::has;
use serde_json::{Value, json};

use crate::support::{Project, STATE, questions, summary};

/// Returns the flags of a question with this number of options.
pub(crate) fn question(options: usize, map: &str) -> String {
    let options: String = (1..=options)
        .map(|at| format!("      - label: Way {at}\n        description: It leads there\n"))
        .collect();
    let options = if options.is_empty() {
        " []\n"
    } else {
        &format!("\n{options}")
    };
    format!(
        "  pause_type: interactive\n  block_reason: Which way\n  question_context:\n    question: Which way is it?\n    header: Way\n    options:{options}{map}"
    )
}

fn labels(call: &Value) -> Vec<&str> {
    let options = call[0]["options"].as_array().unwrap();
    options
        .iter()
        .map(|option| option["label"].as_str().unwrap())
        .collect()
}

#[test]
fn question_has_any_number_of_options() {
    for (options, calls) in [(0, 1), (1, 1), (2, 1), (4, 1), (5, 2), (9, 3)] {
        let project = Project::at(2);
        project
            .report("needs-user-input", &question(options, ""))
            .done();
        let next = project.next();
        assert_eq!(next["instruction"], "ask", "{options}");
        let more = next["more"].as_array().map_or(0, Vec::len);
        assert_eq!(more + 1, calls, "{options}: {next}");
        let more = next["more"].as_array().into_iter().flatten();
        for call in std::iter::once(&next["questions"]).chain(more) {
            assert!((2..=4).contains(&labels(call).len()), "{options}: {call}");
            assert_eq!(
                labels(call).contains(&"Something else"),
                options == 1,
                "{call}"
            );
        }
        let label = match options {
            0 => "Go on".to_owned(),
            _ => format!("Way {options}"),
        };
        let typed = format!("{}.", label.to_lowercase());
        project.person(&["answer", &typed]).done();
        let next = project.next_at("dispatch", 2);
        let answer = json!({ "question": "Which way is it?", "answer": label });
        assert_eq!(next["variables"]["USER_ANSWER"], answer);
        let state = project.read(STATE);
        has(&state, &format!("stage_2_round_1_question_1: {label}"));
    }
}

#[test]
fn mapped_answer_completes_the_stage() {
    let map = "  next_action_map:\n    Way 1 (Recommended): proceed\n    Way 2: loop_questions\n";
    for (label, stage, instruction) in [
        ("Way 1", 5, "dispatch"),
        ("Way 2", 4, "ask"),
        ("Way 3", 4, "dispatch"),
    ] {
        let project = Project::at(4);
        project.report("needs-user-input", &question(3, map)).done();
        let agent = project.agent(&["answer", label]).refusal();
        has(&agent, "an agent may not run");
        project.person(&["answer", label]).done();
        project.next_at(instruction, stage);
        // A decision is final.
        project.person(&["answer", label]).refusal();
        let state = project.read(STATE);
        let is_done = label != "Way 3";
        for done in [
            "  response_analysis:\n    status: completed\n",
            "answered_at: 20",
        ] {
            assert_eq!(state.contains(done), is_done, "{label}: {state}");
        }
    }
}

#[test]
fn answer_that_completes_stage_3_passes_its_gate() {
    let project = Project::at(3);
    project.write("requirements/working/QUESTIONS-001.md", &questions(1));
    project
        .report(
            "needs-user-input",
            &question(2, "  next_action_map:\n    Way 1: proceed\n"),
        )
        .done();
    project.person(&["answer", "Way 1"]).done();
    project.agent(&["recover"]).done();
    assert_eq!(project.next()["stage"], 4);
    let state = project.read(STATE);
    has(&state, "  analysis_questions:\n    status: completed\n");
    has(&state, "working/QUESTIONS-001.md");
}

#[test]
fn same_question_is_answered_from_record_once() {
    let project = Project::at(2);
    project.report("needs-user-input", &question(2, "")).done();
    project.person(&["answer", "Way 2"]).done();
    let ask = || {
        project.report(
            "needs-user-input",
            &question(2, "  quality_warnings: [again]\n"),
        )
    };
    ask().done();
    let next = project.next_at("dispatch", 2);
    assert_eq!(next["variables"]["USER_ANSWER"]["answer"], "Way 2");
    ask().done();
    assert_eq!(project.next()["key"], "recovery_stage_2_round_1_1");
}

#[test]
fn failed_stage_runs_again() {
    let project = Project::at(2);
    project.report("failed", "").done();
    let next = project.next();
    assert_eq!(next["questions"][0]["header"], "Failed");
    assert_eq!(labels(&next["questions"]), ["Retry", "Skip", "Pause"]);
    project.person(&["answer", "Retry"]).done();
    assert_eq!(project.next()["stage"], 2);
    project.report("failed", "").done();
    project.person(&["answer", "Skip"]).done();
    assert_eq!(project.next()["stage"], 3);
    let state = project.read(STATE);
    has(&state, "recovery_stage_2_round_1_1: retry");
    has(&state, "recovery_stage_2_round_1_2: skip");
    // The results of each failure, and of the stage, are in the place of schema 2.
    has(&state, "recovery: retry");
    has(&state, "recovery: skip");
    has(&state, "  research:\n    status: skipped\n");
    // Only files are named at the end.
    let text = summary(3, "failed", "").replace("[]", &format!("[no.md, {STATE}]"));
    project.write("requirements/.stage-summaries/stage-3-summary.md", &text);
    let finding = "6:20: warning[artifact-missing]: an artifact";
    let corrections = format!("taken with these corrections:\n\n- {finding}");
    has(&project.agent(&["report"]).done(), &corrections);
    let line = format!("last summary: {finding}");
    has(&project.person(&["status"]).done(), &line);
    project.person(&["cancel"]).done();
    assert_eq!(project.next()["artifacts"], json!([STATE]));
}

#[test]
fn recovery_without_open_stage_changes_nothing() {
    let project = Project::at(6);
    let refuses = |phase: &str| {
        let before = project.read(STATE);
        let message = project.agent(&["recover"]).refusal();
        has(&message, &format!("it is in phase {phase}"));
        has(&message, "stages next");
        assert_eq!(project.read(STATE), before);
    };
    project.report("failed", "").done();
    refuses("failed");
    project.person(&["pause"]).done();
    refuses("waiting");
}

#[test]
fn coordinator_without_summary_is_recovered_by_its_files() {
    let project = Project::at(2);
    project.agent(&["recover"]).done();
    assert_eq!(project.next()["questions"][0]["header"], "Crashed");
    let state = project.read(STATE);
    has(&state, "Stage 2 ended without a summary");
    project.person(&["answer", "Retry"]).done();
    project.write(
        "requirements/research/research-synthesis.md",
        "# What is known\n",
    );
    project.agent(&["recover"]).done();
    let next = project.next_at("dispatch", 3);
    let line = "Stage 2 ended without a summary; the files that it wrote were used.";
    assert_eq!(next["tell"], json!([line]));
    // If questions do not pass their gate, only the user can decide.
    project.write("requirements/working/QUESTIONS-001.md", "# None\n");
    project.agent(&["recover"]).done();
    let next = project.next();
    assert_eq!(labels(&next["questions"]), ["Retry", "Use what is there"]);
    project.person(&["answer", "Use what is there"]).done();
    assert_eq!(project.next()["instruction"], "recover");
    project.agent(&["recover"]).done();
    assert_eq!(project.next()["questions"][0]["header"], "Questions");
    project.write("requirements/working/QUESTIONS-001.md", &questions(1));
    project
        .person(&["answer", "Fixed by hand, check again"])
        .done();
    project.agent(&["recover"]).done();
    assert_eq!(project.next()["stage"], 4);
}

#[test]
fn unreadable_summary_asks_user() {
    let project = Project::at(6);
    let file = project.next()["summary_file"].as_str().unwrap().to_owned();
    project.write(&file, "no frontmatter\n");
    project.agent(&["report"]).done();
    let next = project.next();
    assert_eq!(next["questions"][0]["header"], "Crashed");
    has(&project.person(&["status"]).done(), "no-frontmatter");
    project.person(&["answer", "Skip"]).done();
    // The last stage blocks nothing, regardless of its result.
    project.agent(&["recover"]).done();
    assert_eq!(project.next()["instruction"], "done");
}

#[test]
fn closed_gate_asks_user() {
    let project = Project::at(5);
    project
        .report(
            "completed",
            "  validation_decision: READY\n  validation_score: 18\n",
        )
        .done();
    let next = project.next_at("ask", 5);
    assert_eq!(next["key"], "gate_stage_5_round_1_1");
    assert_eq!(next["questions"][0]["header"], "PRD");
    has(
        &next["tell"].to_string(),
        "requirements/PRD.md:1: the file is missing",
    );
    project.write(
        "requirements/PRD.md",
        "## Target Users\n\nAll.\n\n## Core Workflows\n",
    );
    let check_again = || {
        project
            .person(&["answer", "Fixed by hand, check again"])
            .done();
        project.agent(&["recover"]).done();
        project.read(STATE)
    };
    let state = check_again();
    has(&state, "\n  target_users: COMPLETE\n");
    has(&state, "\n  core_workflows: PLACEHOLDER\n");
    has(&state, "\n  assumptions_risks: MISSING\n");
    project.requirements();
    let state = check_again();
    has(&state, "\n  assumptions_risks: COMPLETE\n");
    has(&state, "\n  validation_prd:\n    status: completed\n");
    has(
        &state,
        "VALIDATION_PRD\n- Action: It was done\n- Outcome: SUCCESS\n",
    );
    assert_eq!(project.next()["stage"], 6);
}

#[test]
fn shallow_questions_ask_user_once() {
    let project = Project::at(3);
    project.write("requirements/working/QUESTIONS-001.md", &questions(1));
    let shallow =
        "  analysis_mode: complete\n  thinkdeep_expected: 27\n  thinkdeep_completion_pct: 30\n";
    project.report("completed", shallow).done();
    assert_eq!(project.next()["key"], "thinkdeep_round_1");
    project.person(&["answer", "Again in standard"]).done();
    let next = project.next_at("dispatch", 3);
    assert_eq!(next["variables"]["ANALYSIS_MODE"], "standard");
    project.report("completed", shallow).done();
    assert_eq!(project.next()["stage"], 4);
    assert_eq!(project.state("analysis_mode"), "complete");
}

#[test]
fn stage_4_without_next_action_asks() {
    let project = Project::at(4);
    project
        .report("completed", "  completion_rate: 0.5\n")
        .done();
    assert_eq!(
        labels(&project.next()["questions"]),
        ["Proceed", "More questions", "More research"]
    );
    project.person(&["answer", "More research"]).done();
    let next = project.next();
    assert_eq!((&next["stage"], &next["round"]), (&json!(2), &json!(2)));
}

#[test]
fn stop_repeats_open_instruction_at_most_twice() {
    let project = Project::at(2);
    let (decision, message) = project.stop(&json!({}));
    assert_eq!(decision, "block");
    has(&message, "Stage 2 (research)");
    let running = json!({ "background_tasks": [{ "type": "subagent", "status": "running" }] });
    assert_eq!(project.stop(&running).0, "approve");
    assert_eq!(project.stop(&json!({})).0, "block");
    assert_eq!(project.stop(&json!({})).0, "approve");
    project.complete(2, "");
    assert_eq!(project.stop(&json!({})).0, "block");
}

#[test]
fn status_names_wait_and_second_answer_is_refused() {
    let project = Project::at(5);
    project.complete(
        5,
        "  validation_decision: NOT_READY\n  validation_score: 9.5\n",
    );
    let status = project.agent(&["status"]).done();
    for part in [
        "stage:     5 of 7, validation-generation\n",
        "round:     2 of 10\n",
        "an answer to: How thorough should round 2 be?",
        "round 1: 9.5 (NOT_READY)",
    ] {
        assert!(status.contains(part), "{part}: {status}");
    }
    assert!(status.lines().count() <= 24, "{status}");
    project.person(&["answer", "rapid"]).done();
    let message = project.person(&["answer", "complete"]).refusal();
    has(&message, "analysis_mode_round_2 = rapid");
    let status = project.agent(&["status", "--json"]).done();
    has(&status, "the agent, to report the summary of stage 3");
}

#[test]
fn choice_in_dialog_counts() {
    let project = Project::at(2);
    project.report("needs-user-input", &question(9, "")).done();
    let next = project.next();
    // Only the last label is a choice: the pages before lead to it.
    let more = labels(&next["questions"])[3].to_owned();
    assert_eq!(more, "More…");
    project.choose(&next["questions"], &more);
    assert_eq!(project.next(), next);
    let last = next["more"].as_array().unwrap().last().unwrap();
    project.person(&["adopt", "--yes"]).done();
    project.choose(last, "Way 9");
    let now = project.next();
    assert_eq!(now["variables"]["USER_ANSWER"]["answer"], "Way 9");
    // The decision is final.
    project.choose(last, "Way 8");
    assert_eq!(project.next(), now);
}
