//! Whatever the input, the generator ends soon with code or with findings that point into the file; and what it accepts it
//! turns into Rust, twice into the same.
//!
//! `PROPTEST_CASES=20000 cargo test -p claudex-build --test fuzz` is a long run.

use std::time::Instant;

use claudex_build::{Config, check_source, generate};
use proptest::prelude::*;

#[path = "fuzz/grammar.rs"]
mod grammar;
#[path = "fuzz/holds.rs"]
mod holds;

use grammar::Tape;
use holds::{SOON, holds};

const PLAN: &str = include_str!("../../machine.toml");
const VOYAGE: &str = include_str!("expected/machine.toml");

/// What a file's text may be replaced with.
const STRANGE: [&str; 24] = [
    "0",
    "-1",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "1.5",
    "nan",
    "true",
    "\"\"",
    "\"é\"",
    "\"*\"",
    "\"same\"",
    "[]",
    "[[]]",
    "{}",
    "{ a = {} }",
    "\"\\u0000\"",
    "\"next(round)\"",
    "\"args.x\"",
    "\"round + 99999999999999999999\"",
    "1979-05-27T07:32:00Z",
    "\"a b\"",
    "\"self\"",
    "\"\u{202e}\"",
];
/// Guards, whole and broken.
const GUARDS: [&str; 14] = [
    "round < 0",
    "round >= 0",
    "round == round",
    "round < max_rounds or round >= max_rounds",
    "round + 18446744073709551615 > 1",
    "round - 1 < 0",
    "topic == \"x\"",
    "from_draft",
    "from_draft == \"true\"",
    "not (round < 1)",
    "((((round < 1))))",
    "decision_signal < \"none\"",
    "\u{202e} < 1",
    "round < max_rounds and and",
];

/// The places in a table, each as the keys that lead to it.
fn places(value: &toml::Value, here: &mut Vec<String>, into: &mut Vec<Vec<String>>) {
    let keys: Vec<(String, &toml::Value)> = match value {
        toml::Value::Table(table) => table
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        toml::Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(at, value)| (at.to_string(), value))
            .collect(),
        _ => return,
    };
    for (key, value) in keys {
        here.push(key);
        into.push(here.clone());
        places(value, here, into);
        here.pop();
    }
}

fn at<'v>(value: &'v mut toml::Value, path: &[String]) -> Option<&'v mut toml::Value> {
    path.iter().try_fold(value, |value, key| match value {
        toml::Value::Table(table) => table.get_mut(key),
        toml::Value::Array(list) => list.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A machine that somebody has edited badly, a few times.
fn damaged(source: &str, tape: &mut Tape<'_>) -> String {
    let mut root = toml::Value::Table(source.parse().unwrap());
    for _ in 0..=tape.below(4) {
        let mut all = Vec::new();
        places(&root, &mut Vec::new(), &mut all);
        if all.is_empty() {
            break;
        }
        let path = all[tape.below(all.len())].clone();
        let other = all[tape.below(all.len())].clone();
        let (last, above) = path.split_last().unwrap();
        let strange = tape.pick(&STRANGE);
        let strange = format!("x = {strange}")
            .parse::<toml::Table>()
            .map_or(toml::Value::Boolean(false), |table| table["x"].clone());
        match tape.below(6) {
            0 => match at(&mut root, above) {
                Some(toml::Value::Table(table)) => drop(table.remove(last)),
                Some(toml::Value::Array(list)) => drop(list.remove(last.parse().unwrap())),
                _ => {}
            },
            1 => {
                let copy = at(&mut root, &other).cloned();
                if let (Some(copy), Some(place)) = (copy, at(&mut root, &path)) {
                    *place = copy;
                }
            }
            2 => {
                let copy = at(&mut root, &path).cloned();
                let name =
                    tape.pick(&["loop", "new", "größe", "", "a b", "x", "same", "N", "self"]);
                match (at(&mut root, above), copy) {
                    (Some(toml::Value::Table(table)), Some(copy)) => {
                        drop(table.insert(name.to_owned(), copy))
                    }
                    (Some(toml::Value::Array(list)), Some(copy)) => list.push(copy),
                    _ => {}
                }
            }
            3 => {
                if let Some(place) = at(&mut root, &path) {
                    *place = strange;
                }
            }
            4 => {
                let name = all[tape.below(all.len())].last().unwrap().clone();
                if let Some(place @ toml::Value::String(_)) = at(&mut root, &path) {
                    *place = toml::Value::String(name);
                }
            }
            _ => {
                let guard = tape.pick(&GUARDS);
                if let Some(place) = at(&mut root, &path) {
                    *place = toml::Value::String(guard.to_owned());
                }
            }
        }
    }
    toml::to_string(&root).unwrap_or_default()
}

fn tape() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 0..160)
}

proptest! {
    #[test]
    fn any_text_gives_code_or_findings(source in any::<String>()) {
        holds(&source);
    }

    #[test]
    fn any_bytes_in_a_file_give_code_or_findings(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        holds(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_machine_that_was_edited_badly_gives_code_or_findings(numbers in tape(), voyage in any::<bool>()) {
        holds(&damaged(if voyage { VOYAGE } else { PLAN }, &mut Tape::new(&numbers)));
    }

    #[test]
    fn a_machine_out_of_a_hat_that_was_edited_badly_gives_code_or_findings(numbers in tape(), more in tape()) {
        let source = grammar::machine(&mut Tape::new(&numbers));
        holds(&damaged(&source, &mut Tape::new(&more)));
    }

    #[test]
    fn a_machine_out_of_a_hat_gives_code(numbers in tape()) {
        let source = grammar::machine(&mut Tape::new(&numbers));
        let found = check_source("m.toml", &source);
        prop_assert!(found.is_ok(), "{}\n{source}", found.unwrap_err());
        prop_assert!(holds(&source).is_some());
    }

    #[test]
    fn what_a_machine_says_survives_its_code(numbers in tape()) {
        let source = grammar::machine(&mut Tape::new(&numbers));
        let machine = check_source("m.toml", &source).unwrap();
        let rust = generate("m.toml", &source).unwrap().rust;
        let file = syn::parse_file(&rust).unwrap();
        let enums = |name: &str| file.items.iter().find_map(|item| match item {
            syn::Item::Enum(item) if item.ident == name => Some(item.variants.len()),
            _ => None,
        });
        prop_assert_eq!(enums("Phase"), Some(machine.phases.len()));
        prop_assert_eq!(enums("Transition"), Some(machine.transition_names().len()));
        prop_assert_eq!(enums("Mode"), Some(machine.modes.len()));
        prop_assert_eq!(rust.matches("rt::EdgeInfo {").count(), machine.edges().len());
    }
}

#[test]
fn what_a_fuzzer_found_stays_found() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/machine");
    let files: Vec<_> = std::fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!files.is_empty());
    for file in files {
        let source = std::fs::read(&file).unwrap();
        let held = std::panic::catch_unwind(|| holds(&String::from_utf8_lossy(&source)));
        assert!(held.is_ok(), "{}", file.display());
    }
}

/// What a build says of bytes in a file.
fn built(name: &str, bytes: &[u8]) -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz é {name}"));
    std::fs::create_dir_all(root.join("out")).unwrap();
    std::fs::write(root.join("machine.toml"), bytes).unwrap();
    let begun = Instant::now();
    let lines = Config::new()
        .root(&root)
        .out_dir(root.join("out"))
        .compile_to_lines("machine.toml");
    assert!(begun.elapsed() < SOON, "{name}: {:?}", begun.elapsed());
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("cargo::error=machine.toml")),
        "{name}: {:?}",
        &lines[..lines.len().min(3)]
    );
    assert!(
        lines.len() < 200
            && lines
                .iter()
                .all(|line| line.len() < 10_000 && !line.contains('\n')),
        "{name}"
    );
    lines
}

#[test]
fn a_build_with_any_kind_of_bad_file_ends_soon_with_its_place() {
    let phases = |count: usize| {
        (0..count)
            .map(|at| format!("[phases.p{at}]\n"))
            .collect::<String>()
    };
    let million = format!("{PLAN}\n{}", phases(1_000_000));
    let cases: [(&str, Vec<u8>); 12] = [
        ("not UTF-8", b"name = \"\xff\xfe\"\n".to_vec()),
        ("UTF-16", "name".encode_utf16().flat_map(u16::to_le_bytes).chain([0xd8, 0x00]).collect()),
        ("ten megabytes", "# comment\n".repeat(1_000_000).into_bytes()),
        ("ten megabytes in one line", vec![b'a'; 10_000_000]),
        ("a million phases", million.into_bytes()),
        ("as many phases as fit", format!("{PLAN}\n{}", phases(60_000)).into_bytes()),
        ("deep lists", format!("a = {}", "[".repeat(500_000)).into_bytes()),
        ("deep tables", format!("[{}x]", "a.".repeat(400_000)).into_bytes()),
        ("deep guards", PLAN.replacen("\"round < max_rounds\"", &format!("\"{}round < 1\"", "(".repeat(100_000)), 1).into_bytes()),
        ("a key twice", PLAN.replacen("doc  ", "name ", 1).into_bytes()),
        ("keys of the wrong type", "name = 1\ndoc = []\nmessages = {}\nstate = 1\nmodes = []\nfields = true\nphases = \"\"\ntransitions = 1.5\n".into()),
        ("a NUL", b"name = \"plan\"\n\0".to_vec()),
    ];
    for (name, bytes) in cases {
        built(name, &bytes);
    }
}

#[test]
fn a_wrong_type_anywhere_is_a_finding_there() {
    let lines = built(
        "wrong types",
        b"name = 1\nphases = \"\"\n[modes]\nx = 1\n[fields]\ny = 2\n[transitions]\nz = 3\n",
    );
    for place in ["1:8", "2:10", "4:5", "6:5", "8:1"] {
        let begun = format!("cargo::error=machine.toml:{place}: ");
        assert!(
            lines.iter().any(|line| line.starts_with(&begun)),
            "{place}: {lines:#?}"
        );
    }
}
