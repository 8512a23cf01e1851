//! What every message template of a machine can name.

use serde_json::{Map, Value as Json, json};

use super::Raw;
use crate::store::Value;
use crate::text;

/// Returns what every template can name: each field of the machine, `id`, `phase`, `machine` and `root`. Texts have `most`
/// characters at most.
pub(crate) fn facts(raw: &Raw, most: usize) -> Map<String, Json> {
    let table = raw.table();
    let mut facts = Map::new();
    for field in table.fields {
        let value = match raw.value(field.name) {
            Value::Null => json!(""),
            Value::Flag(flag) => json!(flag),
            Value::Count(count) => json!(count),
            Value::Word(text) | Value::Text(text) => json!(text::one_line(&text, most)),
            Value::List(texts) => texts
                .iter()
                .map(|text| json!(text::one_line(text, most)))
                .collect(),
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
