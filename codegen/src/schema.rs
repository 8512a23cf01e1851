//! A JSON Schema of the machine file, so that editors complete and check it while it is written.
//!
//! Everything comes from the lists that the reader reads by: `format` for keys, the model's words, the catalogue of
//! behaviours. It says what has which form; what names mean and whether guards fit is said by [`crate::check_source`].

use serde_json::{Map, Value, json};

use crate::catalogue::{CATALOGUE, Entry, ParameterKind};
use crate::format::{self, Key, Table, Takes, Words};

/// A name; it has at most 64 characters.
const NAME: &str = "^[a-z][a-z0-9]*(_[a-z0-9]+)*$";

/// The schema of a machine file, as JSON Schema (draft 2020-12), with a line's end.
pub fn schema() -> String {
    let mut root = Map::new();
    root.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    root.insert("title".to_owned(), json!("machine.toml of claudex-loop"));
    root.extend(table(&format::MACHINE));
    root.insert("$defs".to_owned(), definitions());
    let mut text = format!("{:#}", Value::Object(root));
    text.push('\n');
    text
}

/// What several keys take.
fn definitions() -> Value {
    json!({
        "name": { "type": "string", "maxLength": 64, "pattern": NAME },
        "constant": {
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string" },
                { "type": "boolean" },
                { "type": "array", "items": { "type": "string" } },
            ],
        },
        "transitions": {
            "description": "A transition, or several that are tried in turn: the next one where guards refuse the one before.",
            "anyOf": [
                reference("transition"),
                { "type": "array", "items": reference("transition"), "minItems": 1, "uniqueItems": true },
            ],
        },
        "transition": { "anyOf": [reference("name"), table(&format::CALL)] },
        "behaviour": behaviour(),
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// A list of names.
fn names() -> Value {
    json!({ "type": "array", "items": reference("name"), "minItems": 1, "uniqueItems": true })
}

/// The schema of a table with just these keys.
fn table(table: &Table) -> Map<String, Value> {
    let properties: Map<String, Value> = table
        .keys
        .iter()
        .map(|key| (key.name.to_owned(), property(key)))
        .collect();
    let required: Vec<&str> = table
        .keys
        .iter()
        .filter(|key| key.required)
        .map(|key| key.name)
        .collect();
    let mut schema = Map::new();
    schema.insert("description".to_owned(), json!(table.doc));
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("additionalProperties".to_owned(), json!(false));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    if std::ptr::eq(table.keys, format::FIELD.keys) {
        let kinds = format::FIELD_KINDS.map(|kind| json!({ "required": [kind] }));
        schema.insert("oneOf".to_owned(), json!(kinds));
        let without = format::WITHOUT.map(|(kind, without, _)| {
            let without = without.iter().map(|key| ((*key).to_owned(), json!(false)));
            let without = without.collect::<Map<String, Value>>();
            (kind.to_owned(), json!({ "properties": without }))
        });
        let without = without.into_iter().collect::<Map<String, Value>>();
        schema.insert("dependentSchemas".to_owned(), without.into());
    }
    if std::ptr::eq(table.keys, format::ARGUMENT.keys) {
        let kinds = ["type", "one_of"].map(|kind| json!({ "required": [kind] }));
        schema.insert("oneOf".to_owned(), json!(kinds));
    }
    schema
}

/// A key's value, with what it is for and an example.
fn property(key: &Key) -> Value {
    let mut schema = takes(&key.takes);
    let mut doc = key.doc.to_owned();
    if let Takes::Word(words) | Takes::Words(words) | Takes::Arguments(words, _) = &key.takes {
        doc.push_str(&meanings(*words));
    }
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), json!(doc));
        let example = key
            .example
            .and_then(|example| serde_json::from_str::<Value>(example).ok());
        if let Some(example) = example {
            schema.insert("examples".to_owned(), json!([example]));
        }
    }
    schema
}

/// "\n\n- word: what it means", for each word.
fn meanings(words: Words) -> String {
    let lines = words()
        .into_iter()
        .map(|(word, meaning)| format!("\n- {word}: {meaning}"));
    std::iter::once("\n".to_owned()).chain(lines).collect()
}

fn word(words: Words) -> Value {
    let words: Vec<&str> = words().into_iter().map(|(word, _)| word).collect();
    json!({ "type": "string", "enum": words })
}

/// The schema of what a key takes.
fn takes(takes: &Takes) -> Value {
    match takes {
        Takes::Text => json!({ "type": "string" }),
        Takes::Texts => {
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "uniqueItems": true })
        }
        Takes::Guard => json!({ "type": "string", "minLength": 1 }),
        Takes::Name => reference("name"),
        Takes::Sources => json!({
            "anyOf": [
                { "const": "*" },
                reference("name"),
                names(),
            ],
        }),
        Takes::Stored => json!({ "type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$" }),
        Takes::Place => {
            json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_-]*(\\.[A-Za-z_][A-Za-z0-9_-]*){0,7}$" })
        }
        Takes::Flag => json!({ "type": "boolean" }),
        Takes::Count => json!({ "type": "integer", "minimum": 0 }),
        Takes::Constant => reference("constant"),
        Takes::Constants | Takes::Updates => by_name(reference("constant")),
        Takes::Path(may_leave) => path(*may_leave),
        Takes::Paths => {
            json!({ "type": "array", "items": path(false), "minItems": 1, "uniqueItems": true })
        }
        Takes::Variable => json!({ "type": "string", "pattern": "^[A-Z][A-Z0-9_]*$" }),
        Takes::Extension => {
            json!({ "type": "string", "pattern": "^(?!lock$)[A-Za-z0-9][A-Za-z0-9._-]*$" })
        }
        Takes::Word(words) => word(*words),
        Takes::Words(words) => json!({
            "anyOf": [
                word(*words),
                { "type": "array", "items": word(*words), "minItems": 1, "uniqueItems": true },
            ],
        }),
        Takes::Choices => json!({
            "type": "array",
            "items": { "type": "string", "pattern": "^[a-z0-9-]{1,64}$" },
            "minItems": 1,
            "uniqueItems": true,
        }),
        Takes::Names => names(),
        Takes::Phases => json!({ "anyOf": [reference("name"), names()] }),
        Takes::Arguments(words, inner) => by_name(json!({
            "anyOf": [word(*words), Value::Object(table(inner))],
        })),
        Takes::Behaviour => reference("behaviour"),
        Takes::Anything => json!({ "type": "object" }),
        Takes::Table(inner) => Value::Object(table(inner)),
        Takes::Named(inner) => by_name(Value::Object(table(inner))),
        Takes::Items(inner) => {
            json!({ "type": "array", "items": Value::Object(table(inner)), "minItems": 1 })
        }
        Takes::Hashes => {
            let hash = json!({ "type": "string", "pattern": "^[0-9a-f]{16}$" });
            json!({ "anyOf": [hash, { "type": "array", "items": hash, "minItems": 1, "uniqueItems": true }] })
        }
        Takes::Renames => by_name(reference("name")),
        Takes::WordRenames => {
            by_name(json!({ "type": "object", "additionalProperties": { "type": "string" } }))
        }
        Takes::Entries(inner) => {
            by_name(json!({ "type": "array", "items": Value::Object(table(inner)), "minItems": 1 }))
        }
    }
}

fn path(may_leave: bool) -> Value {
    let inside = if may_leave {
        ""
    } else {
        "(?!(.*[/\\\\])?\\.\\.([/\\\\]|$))"
    };
    json!({ "type": "string", "pattern": format!("^(?![/\\\\])(?!.:){inside}.+$") })
}

/// A table whose keys are names.
fn by_name(value: Value) -> Value {
    json!({ "type": "object", "propertyNames": reference("name"), "additionalProperties": value })
}

/// What `on_stop` takes: one behaviour of the catalogue.
fn behaviour() -> Value {
    let properties: Map<String, Value> = CATALOGUE
        .iter()
        .map(|entry| (entry.name.to_owned(), entry_of(entry)))
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
    })
}

/// The parameters and outcomes of a behaviour.
fn entry_of(entry: &Entry) -> Value {
    let mut properties = Map::new();
    for parameter in entry.parameters() {
        let about = match parameter.kind {
            ParameterKind::Choice(words) => json!({ "description": parameter.doc, "enum": words }),
            ParameterKind::Templates => json!({
                "description": parameter.doc,
                "anyOf": [
                    { "type": "string" },
                    { "type": "array", "items": { "type": "string" }, "minItems": 1, "uniqueItems": true },
                ],
            }),
            ParameterKind::Pair => json!({
                "description": parameter.doc, "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2,
            }),
            _ => json!({ "description": parameter.doc, "type": "string" }),
        };
        properties.insert(parameter.name.to_owned(), about);
    }
    if entry.options {
        let about = json!({
            "description": "The answers that a person can give, or the list field whose texts are their labels.",
            "anyOf": [
                {
                    "type": "array",
                    "items": table(&format::OPTION),
                    "minItems": format::OPTIONS.start(),
                    "maxItems": format::OPTIONS.end(),
                },
                reference("name"),
            ],
        });
        properties.insert("options".to_owned(), about);
        for (key, doc) in [
            (
                "then",
                "The transition that each option of a field takes, with its label as the one text argument.",
            ),
            (
                "text",
                "The transition that takes what a person types instead of choosing, as its one text argument.",
            ),
        ] {
            let mut about = reference("name");
            about["description"] = json!(doc);
            properties.insert(key.to_owned(), about);
        }
    }
    if entry.personas {
        let mut about = names();
        about["description"] =
            json!("The personas that review here, in this order. Absent: all of them.");
        properties.insert("personas".to_owned(), about);
    }
    let outcomes = || entry.outcomes.iter().filter(|outcome| !outcome.waits);
    for outcome in outcomes() {
        let mut about = reference("transitions");
        if let Value::Object(about) = &mut about {
            let doc = format!("Which transition is taken where {}.", outcome.doc);
            about.insert("description".to_owned(), json!(doc));
        }
        properties.insert(outcome.name.to_owned(), about);
    }
    let needed = outcomes()
        .filter(|outcome| outcome.required)
        .map(|outcome| outcome.name);
    // A question is given whole or not at all.
    let given = entry.required.iter().map(|parameter| parameter.name);
    let question: Vec<&str> = given.clone().chain(["options"]).collect();
    let required: Vec<&str> = given.filter(|_| !entry.options).chain(needed).collect();
    let mut schema = json!({
        "description": entry.doc,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "required": required,
    });
    if entry.options {
        let all = question
            .iter()
            .map(|key| ((*key).to_owned(), json!(question)));
        let mut together: Map<String, Value> = all.collect();
        together.insert("then".to_owned(), json!(["options"]));
        schema["dependentRequired"] = Value::Object(together);
    }
    if let (Value::Object(schema), false) = (&mut schema, entry.one_of.is_empty()) {
        let either: Vec<Value> = entry
            .one_of
            .iter()
            .map(|name| json!({ "required": [name] }))
            .collect();
        schema.insert("oneOf".to_owned(), json!(either));
    }
    schema
}
