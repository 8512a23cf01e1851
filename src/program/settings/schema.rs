//! The JSON Schemas of both files, made from the types that read them.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::tables::{ProjectFile, UserFile};

/// The schema of the user's file, as JSON with an end of line.
pub fn user_schema() -> String {
    written::<UserFile>()
}

/// The schema of a project's file, as JSON with an end of line.
pub fn project_schema() -> String {
    written::<ProjectFile>()
}

fn written<T: JsonSchema>() -> String {
    // Draft 7 is what the editors' TOML support reads.
    let settings = SchemaSettings::draft07().with_transform(RecursiveTransform(without_null));
    let schema = settings.into_generator().into_root_schema_for::<T>();
    format!("{:#}\n", schema.as_value())
}

/// A key that may be left out is `null` to JSON; TOML has no such value.
fn without_null(schema: &mut Schema) {
    let is_null = |value: &Value| value == "null";
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|value| !is_null(value));
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(ways)) = schema.get_mut("anyOf") {
        ways.retain(|way| !way.get("type").is_some_and(is_null));
        if let [Value::Object(only)] = ways.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.insert(key, value);
            }
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    // What a table without any key holds is said by each key.
    schema.remove("default");
}
