//! Small texts: flags, fields in braces, configuration.

use serde_json::{Map, Value as Json};

use crate::search::Value;

/// Returns a name as the command line has it.
pub(crate) fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

/// Fills `{field}` in.
pub(crate) fn fill(template: &str, fields: &Map<String, Json>) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, (name, after))) = rest
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        filled.push_str(before);
        filled.push_str(&plain(fields.get(name).unwrap_or(&Json::Null)));
        rest = after;
    }
    filled + rest
}

/// Returns a value of a journal as a person reads it.
pub(crate) fn plain(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns whether a field of the journal is what the model has. A text that is empty may stand as nothing, and of a time only the
/// model's program knows when it was taken.
pub(crate) fn is_alike(found: &Json, expected: &Value, is_time: bool) -> bool {
    let nothing = matches!(found, Json::Null) || found.as_str() == Some("");
    match expected {
        Value::Absent => nothing,
        Value::Number(time) if is_time => (*time == 0) == nothing,
        Value::Number(number) => found.as_u64() == Some(*number),
        Value::Flag(flag) => found.as_bool() == Some(*flag),
        Value::Text(text) => {
            found.as_str() == Some(text) || (text.is_empty() && nothing) || plain(found) == *text
        }
        Value::List(texts) => match found {
            Json::Array(all) => all.iter().map(plain).eq(texts.iter().cloned()),
            _ => texts.is_empty() && nothing,
        },
    }
}

/// Returns a text as TOML has it: a JSON string is one of TOML as well.
pub(crate) fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}
