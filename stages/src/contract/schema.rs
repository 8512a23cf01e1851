//! The JSON Schema of the frontmatter, made from the types that read it.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::stage::Stage;
use super::summary::Frontmatter;

/// Returns the schema, as JSON with an end of line. What it cannot say (a path that is there, a decision that fits its score) the
/// rules do.
pub fn schema() -> String {
    // Draft 7, as for the project's other schemas.
    let settings = SchemaSettings::draft07();
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<Frontmatter<'_>>();
    let stages = Stage::all().map(|stage| {
        json!({ "properties": {
            "stage": { "const": stage.to_string() },
            "stage_number": { "const": stage.number() },
            "checkpoint": { "const": stage.checkpoint() },
        } })
    });
    schema.insert("oneOf".to_owned(), Value::Array(stages.collect()));
    schema.insert("title".to_owned(), "Stage summary".into());
    format!("{:#}\n", schema.as_value())
}
