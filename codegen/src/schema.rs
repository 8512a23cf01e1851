//! The JSON Schema of machine files, for editors.
//!
//! It is derived from serde's errors about small files with a wrong value, which list the keys and
//! words. So it cannot differ from the model.

use serde::Deserialize as _;
use toml::de::ValueDeserializer;

use crate::model::Machine;

/// Returns the JSON Schema (draft 7) of machine files, as JSON.
pub fn schema() -> String {
    schema_at("@")
}

/// Returns the schema of the values at `@` in a file.
fn schema_at(file: &str) -> String {
    let at = |value: &str| schema_at(&file.replace('@', value));
    let table = |keys: Vec<String>| {
        let property = |key: String| format!("{key:?}: {}", at(&format!("{{{key} = @}}")));
        let properties = keys
            .into_iter()
            .map(property)
            .collect::<Vec<_>>()
            .join(", ");
        format!(
            r#""type": "object", "properties": {{{properties}}}, "additionalProperties": false"#
        )
    };
    // The keywords of each form that a value may have.
    let mut forms = Vec::new();
    let text = ask(file, "\"?\"");
    // A variant with a value cannot be a text.
    let words = names(&text, "unknown variant")
        .filter(|words| !is_wrong_type(&ask(file, &format!("{:?}", words[0]))));
    match &words {
        Some(words) => forms.push(format!(r#""enum": {words:?}"#)),
        None if text.starts_with("unknown variant") || is_wrong_type(&text) => {}
        None => forms.push(r#""type": "string""#.to_owned()),
    }
    if !is_wrong_type(&ask(file, "true")) {
        forms.push(r#""type": "boolean""#.to_owned());
    }
    let number = ask(file, "1");
    // serde also accepts a list for a struct, but no file uses it.
    if number.ends_with("list") || number.ends_with("sequence") {
        let items = at("[@]");
        forms.push(format!(
            r#""type": "array", "items": {items}, "minItems": 1"#
        ));
    } else if !is_wrong_type(&number) {
        forms.push(r#""type": "integer", "minimum": 0"#.to_owned());
    }
    let entry = ask(file, "{\"?\" = 1}");
    if let Some(keys) = names(&entry, "unknown field") {
        forms.push(table(keys));
    } else if let Some(variants) = names(&entry, "unknown variant") {
        if words.is_none() {
            forms.push(table(variants) + r#", "minProperties": 1, "maxProperties": 1"#);
        }
    } else if !is_wrong_type(&entry) {
        let values = at("{a = @}");
        forms.push(format!(
            r#""type": "object", "additionalProperties": {values}"#
        ));
    }
    let forms: Vec<String> = forms.iter().map(|form| format!("{{{form}}}")).collect();
    match &forms[..] {
        [form] => form.clone(),
        _ => format!(r#"{{"anyOf": [{}]}}"#, forms.join(", ")),
    }
}

/// Returns the model's message about a value at `@` in a file. It is empty if the value is allowed
/// or another part is missing.
fn ask(file: &str, value: &str) -> String {
    let machine =
        ValueDeserializer::parse(&file.replace('@', value)).and_then(Machine::deserialize);
    let error = machine.err().filter(|error| {
        let span = error.span();
        span.is_some_and(|span| Some(span.start + 1) >= file.find('@'))
    });
    error.map_or_else(String::new, |error| error.message().to_owned())
}

/// Returns the names in a message with this beginning, without the first and wrong one.
fn names(message: &str, beginning: &str) -> Option<Vec<String>> {
    let names = message.split('`').skip(3).step_by(2).map(str::to_owned);
    message.starts_with(beginning).then(|| names.collect())
}

fn is_wrong_type(message: &str) -> bool {
    let beginnings = ["invalid type", "expected ", "wanted "];
    beginnings
        .iter()
        .any(|beginning| message.starts_with(beginning))
}
