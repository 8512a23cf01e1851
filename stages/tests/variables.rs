//! The variables of a dispatch.

use serde_json::{Value, json};
use stages::contract::{AnalysisMode, PrdMode, Stage};
use stages::state::UserAnswer;
use stages::variables::{Known, variables};

/// What is known where everything is.
fn all(stage: Stage) -> Known {
    Known {
        round: 2,
        mode: Some(AnalysisMode::Advanced),
        prd_mode: Some(PrdMode::Extend),
        re_entry: true,
        pal: true,
        st: true,
        research: true,
        panel_config_path: Some("requirements/.panel-config.local.md".to_owned()),
        summary_file: format!("stage-{}-summary.md", stage.number()),
        dispatch_id: "d-7".to_owned(),
        prior_context: "before".to_owned(),
        prior_summaries: "list".to_owned(),
        answer: Some(UserAnswer {
            question: "Which?".to_owned(),
            answer: "This".to_owned(),
        }),
        focus: vec!["gap".to_owned()],
        skip_validation: true,
    }
}

/// The variables of every stage but the first, as they are expected.
fn expected(stage: u8, minutes: u32, more: &Value) -> Value {
    let mut known = json!({
        "SUMMARY_FILE": format!("stage-{stage}-summary.md"), "DISPATCH_ID": "d-7", "ROUND_NUMBER": 2, "ANALYSIS_MODE": "advanced",
        "PRD_MODE": "EXTEND", "ENTRY_TYPE": "re_entry_after_user_input", "PAL_AVAILABLE": true, "ST_AVAILABLE": true,
        "RESEARCH_MCP_AVAILABLE": true, "PANEL_CONFIG_PATH": "requirements/.panel-config.local.md", "TIMEOUT_MINUTES": minutes,
        "PRIOR_CONTEXT": "before", "PRIOR_SUMMARIES": "list", "USER_ANSWER": { "question": "Which?", "answer": "This" },
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        known[name] = value.clone();
    }
    known
}

#[test]
fn each_stage_is_told_what_it_needs() {
    let told = |stage| Value::from(variables(stage, &all(stage)));
    assert_eq!(
        told(Stage::Setup),
        json!({ "SUMMARY_FILE": "stage-1-summary.md", "DISPATCH_ID": "d-7", "USER_ANSWER": { "question": "Which?", "answer": "This" } })
    );
    assert_eq!(
        told(Stage::Research),
        expected(2, 15, &json!({ "FOCUS": ["gap"] }))
    );
    assert_eq!(told(Stage::AnalysisQuestions), expected(3, 30, &json!({})));
    assert_eq!(told(Stage::ResponseAnalysis), expected(4, 15, &json!({})));
    assert_eq!(
        told(Stage::ValidationGeneration),
        expected(5, 20, &json!({ "SKIP_VALIDATION": true }))
    );
    assert_eq!(told(Stage::Completion), expected(6, 5, &json!({})));
    assert_eq!(told(Stage::Retrospective), expected(7, 10, &json!({})));
}

#[test]
fn what_is_not_known_has_its_default() {
    let defaults = json!({
        "ROUND_NUMBER": 1, "ANALYSIS_MODE": "standard", "PRD_MODE": "NEW", "ENTRY_TYPE": "first_entry", "PAL_AVAILABLE": false,
        "ST_AVAILABLE": false, "RESEARCH_MCP_AVAILABLE": false, "PANEL_CONFIG_PATH": null, "PRIOR_CONTEXT": "", "PRIOR_SUMMARIES": "",
        "USER_ANSWER": null, "FOCUS": [], "SKIP_VALIDATION": false,
    });
    for stage in Stage::all() {
        for (name, value) in variables(stage, &Known::default()) {
            match name.as_str() {
                "SUMMARY_FILE" | "DISPATCH_ID" => assert_eq!(value, ""),
                "TIMEOUT_MINUTES" => assert!(value.as_u64() > Some(0), "{stage}"),
                name => assert_eq!(value, defaults[name], "{stage}: {name}"),
            }
        }
    }
}

#[test]
fn rapid_round_has_no_panel() {
    let rapid = Known {
        mode: Some(AnalysisMode::Rapid),
        ..all(Stage::Research)
    };
    let variables = variables(Stage::Research, &rapid);
    assert_eq!(variables["PANEL_CONFIG_PATH"], Value::Null);
}
