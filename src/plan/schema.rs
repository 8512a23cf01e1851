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
    fn nested(&self, open: &str, close: &str) -> Self {
        Self {
            before: format!("{}{open}", self.before),
            after: format!("{close}{}", self.after),
        }
    }

    /// Returns the model's answer to a value at this place.
    fn ask(&self, value: &str) -> Answer {
        let text = format!("{}{value}{}", self.before, self.after);
        let machine = ValueDeserializer::parse(&text).and_then(Machine::deserialize);
        // An error before the value is about a missing part around it.
        let is_inside = |start| start + 1 >= self.before.len();
        let error = machine.err().filter(|error| {
            let span = error.span();
            span.is_some_and(|span| is_inside(span.start))
        });
        let error = error.map(|error| error.message().to_owned());
        let message = error.unwrap_or_default();
        // The first name is the wrong one.
        let names = message.split('`').skip(3).step_by(2).map(str::to_owned);
        let is = |beginning| message.starts_with(beginning);
        if is("unknown field") {
            Answer::Keys(names.collect())
        } else if is("unknown variant") {
            Answer::Words(names.collect())
        } else if is("invalid type") || is("expected ") || is("wanted ") {
            Answer::WrongType(message)
        } else {
            Answer::Allowed
        }
    }

    fn refuses(&self, value: &str) -> bool {
        matches!(self.ask(value), Answer::WrongType(_))
    }

    /// Returns the schema of the values at this place.
    fn schema(&self) -> Value {
        let mut forms = Vec::new();
        match self.ask(r#""?""#) {
            Answer::WrongType(_) => {}
            // A variant with a value cannot be a text.
            Answer::Words(words) if self.refuses(&format!("{:?}", words[0])) => {}
            Answer::Words(words) => forms.push(json!({ "enum": words })),
            _ => forms.push(json!({ "type": "string" })),
        }
        let is_word = !forms.is_empty();
        if !self.refuses("true") {
            forms.push(json!({ "type": "boolean" }));
        }
        match self.ask("1") {
            // A struct may be a list, too, but no file has it so.
            Answer::WrongType(expected)
                if expected.ends_with("list") || expected.ends_with("sequence") =>
            {
                let items = self.nested("[", "]").schema();
                forms.push(json!({ "type": "array", "items": items, "minItems": 1 }));
            }
            Answer::WrongType(_) => {}
            _ => forms.push(json!({ "type": "integer", "minimum": 0 })),
        }
        match self.ask("{\"?\" = 1}") {
            Answer::WrongType(_) => {}
            Answer::Keys(keys) => forms.push(self.table(keys)),
            Answer::Words(_) if is_word => {}
            Answer::Words(variants) => {
                let mut table = self.table(variants);
                table["minProperties"] = json!(1);
                table["maxProperties"] = json!(1);
                forms.push(table);
            }
            Answer::Allowed => {
                let values = self.nested("{a = ", "}").schema();
                forms.push(json!({ "type": "object", "additionalProperties": values }));
            }
        }
        match forms.len() {
            1 => forms.remove(0),
            _ => json!({ "anyOf": forms }),
        }
    }

    fn table(&self, keys: Vec<String>) -> Value {
        let schema = |key: String| {
            let schema = self.nested(&format!("{{{key} = "), "}").schema();
            (key, schema)
        };
        let properties: Map<String, Value> = keys.into_iter().map(schema).collect();
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    }
}
