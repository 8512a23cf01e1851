//! `[personas.*]`: who reviews.

use super::read::{Key, Keys, Reader, Value, in_order};
use super::{key_name, too_many};
use crate::format;
use crate::model::{Focus, Persona};

/// The most personas.
const MOST: usize = 100;

pub(super) fn personas(reader: &mut Reader<'_>, keys: &Keys<'_>) -> Vec<Persona> {
    let table = keys
        .value("personas")
        .and_then(|value| reader.table("personas", value));
    let entries = table.map(in_order).unwrap_or_default();
    if let Some((key, _)) = entries.get(MOST) {
        too_many(reader, key.span(), "personas", entries.len(), MOST);
    }
    entries
        .into_iter()
        .take(MOST)
        .filter_map(|(key, value)| persona(reader, key, value))
        .collect()
}

fn persona(reader: &mut Reader<'_>, key: Key<'_>, value: Value<'_>) -> Option<Persona> {
    let name = key_name(reader, "a persona", key);
    let table = reader.table(&name.value, value)?;
    let keys = reader.known(table, &format::PERSONA);
    let what = format!("the persona `{}`", name.value);
    let mut needed = |key: &str, example: &str| match keys.value(key) {
        Some(value) => reader.string(key, value),
        None => {
            reader.missing(name.span.clone(), key, &what, example);
            None
        }
    };
    let label = needed("label", "label = \"Security review\"");
    let prompt = needed("prompt", "prompt = \"personas/security.md\"");
    let prompt = prompt.map(|path| reader.relative("prompt", path, false));
    let focus = keys
        .value("focus")
        .and_then(|value| reader.string("focus", value))
        .and_then(|word| reader.choice("focus", &word, &Focus::ALL));
    Some(Persona {
        name,
        label: label?,
        prompt: prompt?,
        focus: focus.map(|focus| focus.value).unwrap_or_default(),
    })
}
