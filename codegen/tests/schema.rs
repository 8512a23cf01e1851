//! The JSON Schema and the reader agree: what is right for one is right for the other, as far as a schema can say it.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use claudex_build::{check_source, schema};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::Value;

const PLAN: &str = include_str!("../../machine.toml");

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(&schema()).expect("the schema is JSON");
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    jsonschema::draft202012::meta::validate(&schema).expect("the schema is one");
    jsonschema::draft202012::new(&schema).expect("the schema can be used")
});

/// What an editor would say of a file; None where it is no TOML.
fn said(source: &str) -> Option<Vec<String>> {
    let value: Value = toml::from_str(source).ok()?;
    Some(
        VALIDATOR
            .iter_errors(&value)
            .map(|error| error.to_string())
            .collect(),
    )
}

/// Every machine.toml of a folder.
fn machines(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder)
        .expect("the folder can be read")
        .flatten()
    {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
            machines(&path, found);
        } else if path.file_name().is_some_and(|name| name == "machine.toml") {
            found.push(fs::read_to_string(&path).expect("the machine can be read"));
        }
    }
}

#[test]
fn our_machine_and_every_example_are_valid() {
    let mut all = vec![PLAN.to_owned()];
    machines(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples"),
        &mut all,
    );
    for source in all {
        assert_eq!(said(&source).expect("it is TOML"), Vec::<String>::new());
    }
}

/// A change of our machine that has a key or a value of the wrong form, with what both have to name.
const SLIPS: &[(&str, &str, &str)] = &[
    ("doc      = \"An agent", "docs     = \"An agent", "docs"),
    ("folder     = ", "folders    = ", "folders"),
    (
        "ids        = \"stamp\"",
        "ids        = \"stamps\"",
        "stamps",
    ),
    ("start   = \"drafting\"", "begin   = \"drafting\"", "begin"),
    (
        "type = \"count\", initial = 3",
        "type = \"number\", initial = 3",
        "number",
    ),
    (
        "holds = \"graph-hash\"",
        "holds = \"graph_hash\"",
        "graph_hash",
    ),
    ("at_start = \"required\"", "at_start = \"always\"", "always"),
    (
        "holds = \"mode\",",
        "holds = \"mode\", initial = \"plan\",",
        "initial",
    ),
    ("terminal = true", "terminal = \"yes\"", "terminal"),
    ("message = \"round.md\"", "mesage = \"round.md\"", "mesage"),
    (
        "message = \"round.md\"",
        "message = \"/etc/round.md\"",
        "/etc/round.md",
    ),
    ("written = \"begin\"", "writen = \"begin\"", "writen"),
    ("ask = {", "aks = {", "aks"),
    ("clean    = \"accept\"\n", "", "clean"),
    ("to   = \"reviewing\"", "too  = \"reviewing\"", "too"),
    ("requires = \"settled\"", "requires = \"setled\"", "setled"),
    (
        "by       = [\"agent\", \"person\"]",
        "by       = [\"agents\"]",
        "agents",
    ),
    ("turn = \"end\"", "turn = \"ends\"", "ends"),
    (
        "args = { rounds = \"count\" }",
        "args = { rounds = \"counts\" }",
        "counts",
    ),
    ("[phases.done]", "[phases.Done]", "Done"),
    ("name  = \"claudex\"", "name  = \"Claudex\"", "Claudex"),
    (
        "arguments = \"[rounds]\"",
        "argument = \"[rounds]\"",
        "argument",
    ),
    ("\"scripts/status.sh\"", "\"../status.sh\"", "../status.sh"),
    ("name     = \"plan\"\n", "", "name"),
];

#[test]
fn a_slip_is_found_by_the_schema_and_by_the_reader() {
    for (right, wrong, named) in SLIPS {
        let source = PLAN.replacen(right, wrong, 1);
        assert_ne!(source, PLAN, "{right}");
        let editor = said(&source).expect("it is TOML");
        assert!(!editor.is_empty(), "the schema allows {wrong:?}");
        let found = check_source("m.toml", &source)
            .expect_err(wrong)
            .to_string();
        assert!(found.contains(named), "{wrong:?}: {found}");
    }
}

#[test]
fn what_our_machine_does_not_use_is_valid_too() {
    let asks = "ask = { question = \"Go on?\", header = \"Go on\", options = [\
                { label = \"Yes\", then = \"finish\" }, { label = \"No\", description = \"Never.\", then = \"cancel\" }] }";
    for (right, other) in [
        (
            "args = { rounds = \"count\" }",
            "args = { rounds = { type = \"count\", doc = \"how many\" } }",
        ),
        (
            "stalls           = { type = \"count\",",
            "stalls           = { type = \"count\", in = [\"reviewing\"],",
        ),
        (
            "[fields]",
            "[fields]\nnotes = { type = \"list\", initial = [\"a\"] }\nsince = { type = \"time\" }",
        ),
        (
            "[phases.done]",
            "[phases.done]\nmeta = { colour = \"green\", order = [1, 2.5, { deep = true }] }",
        ),
        ("ask = { unanswered = \"finish\" }", asks),
        (
            "ask = { unanswered = \"finish\" }",
            "ask = { question = \"Which?\", header = \"One\", options = \"topics\", then = \"finish\", text = \"cancel\" }",
        ),
        ("ask = { unanswered = \"finish\" }", "ask = {}"),
        (
            "ask = { unanswered = \"finish\" }",
            "wait-for = { file = \"GO\", there = \"finish\" }",
        ),
    ] {
        let source = PLAN.replacen(right, other, 1);
        assert_ne!(source, PLAN, "{right}");
        assert_eq!(
            said(&source).expect("it is TOML"),
            Vec::<String>::new(),
            "{other}"
        );
        claudex_build::parse("m.toml", &source).unwrap_or_else(|found| panic!("{other}: {found}"));
    }
    let neither = PLAN.replacen(
        "ask = { unanswered = \"finish\" }",
        "wait-for = { there = \"finish\" }",
        1,
    );
    assert!(!said(&neither).expect("it is TOML").is_empty());
}

/// Every key that any table of the schema has.
fn keys() -> Vec<String> {
    fn walk(value: &Value, keys: &mut Vec<String>) {
        match value {
            Value::Object(object) => {
                if let Some(Value::Object(properties)) = object.get("properties") {
                    keys.extend(properties.keys().cloned());
                }
                object.values().for_each(|inner| walk(inner, keys));
            }
            Value::Array(items) => items.iter().for_each(|inner| walk(inner, keys)),
            _ => {}
        }
    }
    let mut keys = Vec::new();
    walk(
        &serde_json::from_str(&schema()).expect("the schema is JSON"),
        &mut keys,
    );
    keys.sort();
    keys.dedup();
    assert!(keys.contains(&"at_start".to_owned()) && keys.contains(&"written".to_owned()));
    keys
}

/// The tables of our machine, by the line after their header.
fn headers() -> Vec<usize> {
    let lines = PLAN.lines().enumerate();
    let headers: Vec<usize> = lines
        .filter(|(_, line)| line.starts_with('['))
        .map(|(at, _)| at + 1)
        .collect();
    assert!(headers.len() > 20);
    headers
}

proptest! {
    /// A key that is put into some table: known there, known elsewhere, or nowhere.
    #[test]
    fn a_key_that_the_schema_forbids_is_reported_and_an_unknown_one_is_forbidden(
        header in prop::sample::select(headers()),
        key in prop_oneof![prop::sample::select(keys()), "[a-z_]{1,8}"],
        value in prop::sample::select(vec!["\"a\"", "1", "true", "[\"a\", \"b\"]", "{ a = \"b\" }", "-1", "\"\""]),
    ) {
        let mut lines: Vec<String> = PLAN.lines().map(str::to_owned).collect();
        lines.insert(header, format!("{key} = {value}"));
        let source = lines.join("\n");
        let found = check_source("m.toml", &source);
        match said(&source) {
            None => prop_assert!(found.is_err(), "no TOML, and read all the same"),
            Some(said) => {
                let unknown = found.as_ref().is_err_and(|found| {
                    found.list.iter().any(|one| one.code == "claudex::machine::unknown_key")
                });
                prop_assert!(said.is_empty() || found.is_err(), "only the schema refuses {key} = {value}: {said:?}");
                prop_assert!(!unknown || !said.is_empty(), "only the reader refuses {key} = {value}");
            }
        }
    }
}
