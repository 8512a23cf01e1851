//! `machine schema`: the JSON Schema of machine.toml, for editors.
//!
//! The schema is read out of serde's answers to small files with a wrong value at some place, so it
//! cannot differ from the model: the answers list the keys and words.

use claudex_build::model::Machine;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use toml::de::ValueDeserializer;

/// Returns the schema of a machine file.
pub(super) fn schema() -> Value {
    let mut schema = Place::default().schema();
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("machine.toml of claudex-loop");
    schema
}

/// The model's answer to a value.
enum Answer {
    /// The value is allowed, or has a fault that no schema describes.
    Allowed,
    /// The value is of a type that is not allowed. The text names those that are.
    WrongType(String),
    /// The keys that a table may have.
    Keys(Vec<String>),
    /// The words of which the value must be one.
    Words(Vec<String>),
}

/// A place in a machine file: the TOML around a value.
#[derive(Default)]
struct Place {
    before: String,
    after: String,
}

impl Place {
    fn below(&self, open: &str, close: &str) -> Self {
        Self {
            before: format!("{}{open}", self.before),
            after: format!("{close}{}", self.after),
        }
    }

    fn key(&self, key: &str) -> Self {
        self.below(&format!("{{{key} = "), "}")
    }

    /// Returns the model's answer to a value at this place.
    fn ask(&self, value: &str) -> Answer {
        let text = format!("{}{value}{}", self.before, self.after);
        let parsed = ValueDeserializer::parse(&text).and_then(Machine::deserialize);
        let Err(error) = parsed else {
            return Answer::Allowed;
        };
        // An error before the value is about a missing part around it.
        let is_inside = |start| start + 1 >= self.before.len();
        if !error.span().is_some_and(|span| is_inside(span.start)) {
            return Answer::Allowed;
        }

        let message = error.message();
        // The first name is the wrong one.
        let quoted = message.split('`').skip(1).step_by(2);
        let names = quoted.skip(1).map(str::to_owned).collect();
        let is = |beginning| message.starts_with(beginning);
        if is("unknown field") {
            Answer::Keys(names)
        } else if is("unknown variant") {
            Answer::Words(names)
        } else if is("invalid type") || is("expected ") || is("wanted ") {
            Answer::WrongType(message.to_owned())
        } else {
            Answer::Allowed
        }
    }

    /// Returns the schema of the values at this place.
    fn schema(&self) -> Value {
        let forms = [
            self.text(),
            self.scalar("true", json!({ "type": "boolean" })),
            self.scalar("1", json!({ "type": "integer", "minimum": 0 })),
            self.list(),
            self.table(),
        ];
        let mut forms: Vec<Value> = forms.into_iter().flatten().collect();
        match forms.len() {
            1 => forms.remove(0),
            _ => json!({ "anyOf": forms }),
        }
    }

    fn refuses(&self, value: &str) -> bool {
        matches!(self.ask(value), Answer::WrongType(_))
    }

    fn scalar(&self, value: &str, schema: Value) -> Option<Value> {
        (!self.refuses(value)).then_some(schema)
    }

    fn text(&self) -> Option<Value> {
        match self.ask(r#""?""#) {
            // A variant with a value cannot be a text.
            Answer::Words(words) if self.refuses(&format!("{:?}", words[0])) => None,
            Answer::Words(words) => Some(json!({ "enum": words })),
            Answer::WrongType(_) => None,
            _ => Some(json!({ "type": "string" })),
        }
    }

    fn list(&self) -> Option<Value> {
        // A struct may be a list, too, but no file has it so.
        let is_list = match self.ask("1") {
            Answer::WrongType(expected) => {
                expected.ends_with("list") || expected.ends_with("sequence")
            }
            _ => false,
        };
        is_list.then(|| {
            let items = self.below("[", "]").schema();
            json!({ "type": "array", "items": items, "minItems": 1 })
        })
    }

    fn table(&self) -> Option<Value> {
        let of_keys = |keys: Vec<String>| -> Map<String, Value> {
            let schema = |key: String| {
                let schema = self.key(&key).schema();
                (key, schema)
            };
            keys.into_iter().map(schema).collect()
        };
        match self.ask("{\"?\" = 1}") {
            Answer::WrongType(_) => None,
            Answer::Keys(keys) => Some(json!({
                "type": "object",
                "properties": of_keys(keys),
                "additionalProperties": false,
            })),
            Answer::Words(_) if self.text().is_some() => None,
            Answer::Words(variants) => Some(json!({
                "type": "object",
                "properties": of_keys(variants),
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": false,
            })),
            _ => Some(json!({ "type": "object", "additionalProperties": self.key("a").schema() })),
        }
    }
}
