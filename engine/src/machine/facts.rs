//! What every message template of a machine can name.

use serde_json::{Map, Value as Json, json};

use super::Raw;
use crate::text;

/// Returns what every template can name: each field of the machine, `id`, `phase`, `machine` and `root`. Texts have `most`
/// characters at most.
pub fn facts(raw: &Raw, most: usize) -> Map<String, Json> {
    let table = raw.table();
    let mut facts = Map::new();
    for field in table.fields {
        let value = match raw.value(field.name) {
            Json::Null => json!(""),
            value => short(value, most),
        };
        facts.insert(field.name.to_owned(), value);
    }
    let own = [
        ("id", raw.id().as_str().to_owned()),
        ("phase", table.phases[raw.phase()].name.to_owned()),
        ("machine", table.name.to_owned()),
        ("root", text::one_line(raw.root().as_str(), most)),
    ];
    facts.extend(own.map(|(name, value)| (name.to_owned(), json!(value))));
    facts
}

/// Returns JSON with each of its texts on one line.
pub fn short(json: Json, most: usize) -> Json {
    match json {
        Json::String(text) => text::one_line(&text, most).into(),
        Json::Array(items) => items.into_iter().map(|item| short(item, most)).collect(),
        Json::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, short(value, most)))
            .collect(),
        other => other,
    }
}
