//! The JSON Schema: it is the committed one, and says what the rules say.

use serde_json::Value;
use stages::contract::{Outcome, Stage, report, schema};

use crate::given::{ASKS, EXAMPLE, completed, of, reading, with};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../docs/stage-summary.schema.json"
);

#[test]
fn the_committed_schema_is_that_of_the_types() {
    if std::env::var_os("EXPECTED").is_some_and(|how| how == "overwrite") {
        std::fs::write(FILE, schema()).unwrap();
    }
    let committed = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        committed == schema(),
        "{FILE} is stale; write it with\n    EXPECTED=overwrite cargo test -p stages schema\n"
    );
}

#[test]
fn the_schema_takes_what_is_valid_and_no_value_of_another_kind() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let frontmatter = |text: &str| {
        let reading = reading(text);
        assert!(!reading.findings.has_error(), "{text}");
        let Outcome::Taken(_) = reading.outcome else {
            panic!("{text}")
        };
        serde_json::to_value(report(&reading)).unwrap()["summary"].take()
    };
    let valid: Vec<String> = Stage::all()
        .map(completed)
        .chain([EXAMPLE.into(), ASKS.into()])
        .collect();
    for text in &valid {
        let errors: Vec<String> = validator
            .iter_errors(&frontmatter(text))
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{text}: {errors:?}");
    }
    let unknown = with(
        &of(1),
        "round_number: 1\n",
        "round_number: 1\n  mine: {a: [1]}\n  block_reason: null\n",
    );
    assert!(validator.is_valid(&frontmatter(&unknown)));
    for (place, value) in [
        ("/status", "\"complete\""),
        ("/stage_number", "2"),
        ("/stage", "\"research\""),
        ("/checkpoint", "\"RESEARCH\""),
        ("/summary", "7"),
        ("/artifacts_written", "\"a\""),
        ("/flags/round_number", "0"),
        ("/flags/round_number", "null"),
        ("/flags/panel_members_count", "6"),
        ("/flags/analysis_mode", "\"deep\""),
        ("/flags/pause_type", "\"ask\""),
        ("/flags/next_action", "\"onward\""),
        ("/flags/next_action_map", "{\"a\": \"onward\"}"),
        (
            "/flags/question_context",
            "{\"question\": \"Q\", \"header\": \"Thirteen char\", \"options\": [{\"label\": \"a\", \"description\": \"b\"}]}",
        ),
        (
            "/flags/question_context",
            "{\"question\": \"Q\", \"header\": \"H\", \"options\": []}",
        ),
        ("/flags/completion_rate", "101"),
        ("/flags/validation_score", "20.5"),
        ("/flags/validation_decision", "\"READY?\""),
        ("/flags/dimension_scores", "{\"price\": 3}"),
        ("/flags/dimension_scores", "{\"target_users\": 5}"),
        ("/flags/weak_dimensions", "[\"price\"]"),
        ("/flags/completed_steps", "[3]"),
        ("/flags/timeout", "\"yes\""),
        ("/flags", "[]"),
    ] {
        let mut wrong = frontmatter(&of(1));
        let (parent, key) = place.rsplit_once('/').unwrap();
        wrong.pointer_mut(parent).unwrap()[key] = serde_json::from_str(value).unwrap();
        assert!(!validator.is_valid(&wrong), "{place}: {value}");
    }
    let mut missing = frontmatter(&of(1));
    missing.as_object_mut().unwrap().remove("summary");
    assert!(!validator.is_valid(&missing));
}
