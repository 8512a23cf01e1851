//! A list of texts is one line that YAML and JSON read as the same texts, whatever the texts are, and comes back from
//! document and journal as it was.

use proptest::prelude::*;

use crate::store::testing::{change, started};
use crate::store::{Document, Form, Repair, Value};

fn list(texts: &[&str]) -> Value {
    Value::List(texts.iter().map(|text| (*text).to_owned()).collect())
}

fn parse(text: &str) -> Box<dyn Document> {
    Form::Lines.parse(text.as_bytes()).unwrap()
}

/// Sets a list between neighbours, reads it back from the bytes, and gives the line.
fn round_trip(value: &Value, before: &str) -> String {
    let mut document = parse(before);
    document.set("notes", value);
    let text = String::from_utf8(document.to_bytes()).unwrap();
    let back = parse(&text);
    assert_eq!(back.get("notes").as_ref(), Some(value), "{text:?}");
    assert_eq!(
        back.fields(),
        document.fields(),
        "what is held is what is read"
    );
    assert_eq!(back.get("round"), Some(Value::Count(2)));
    assert_eq!(text.lines().count(), 3, "one line each: {text:?}");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("notes: "))
        .unwrap();
    let json: Vec<String> = serde_json::from_str(line).unwrap();
    assert_eq!(Some(&json[..]), value.as_list(), "{line:?} as JSON");
    line.to_owned()
}

const BEFORE: [&str; 4] = [
    "phase: reviewing\nnotes: [\"old\"]\nround: 2\n",
    "phase: reviewing\nnotes: \"old\"\nround: 2\n",
    "phase: reviewing\nnotes: null\nround: 2\n",
    "phase: reviewing\nround: 2\n",
];

#[test]
fn hostile_texts_in_a_list_round_trip_on_one_line() {
    let long = "x]\", ".repeat((64 << 10) / 5);
    let lists: [&[&str]; 9] = [
        &[],
        &[""],
        &["a", "b"],
        &["]", ",", "\", \"", "[", "{a: b}", "# c", ": ", "- "],
        &["a\nphase: done\n", "\r\n", "\t", "\0", "\u{7f}", "\u{85}"],
        &[
            "\u{202e}txt.exe",
            "\u{2028}",
            "\u{feff}",
            "\u{ffff}",
            "\u{61c}",
        ],
        &["\\", "\\n", "\\u0041", "'", "\""],
        &["é 漢 🦀", "\u{e0041}", "\u{10ffff}"],
        &[&long, "null", "1", "true", "~"],
    ];
    for texts in lists {
        for before in BEFORE {
            round_trip(&list(texts), before);
        }
    }
    assert_eq!(
        round_trip(&list(&["a\"\\", "\u{202e}\n"]), BEFORE[0]),
        r#"["a\"\\", "\u202E\n"]"#
    );
}

proptest! {
    #[test]
    fn any_list_round_trips(texts in prop::collection::vec(any::<String>(), 0..5)) {
        for before in BEFORE {
            round_trip(&Value::List(texts.clone()), before);
        }
    }
}

#[test]
fn a_list_written_by_hand_is_one_and_what_is_none_stays_as_it_stands() {
    for text in [
        "notes: [a, 'b']\n",
        "notes: [\"a\",\n  b]\n",
        "notes:\n  - a\n  - b\n",
        "notes:\n- a\n- b\n",
    ] {
        assert_eq!(
            parse(text).get("notes"),
            Some(list(&["a", "b"])),
            "{text:?}"
        );
        let mut document = parse(text);
        document.set("notes", &list(&["c"]));
        assert_eq!(document.to_bytes(), b"notes: [\"c\"]\n", "{text:?}");
    }
    for text in ["[1, 2]", "[[a]]", "[a, null]", "{a: b}"] {
        let document = parse(&format!("notes: {text}\n"));
        assert_eq!(document.get("notes"), Some(Value::Text(text.to_owned())));
    }
}

#[test]
fn the_text_of_a_list_given_to_a_list_is_one_and_given_to_a_text_is_a_text() {
    let mut document = parse("notes: [\"a\"]\ntopic: \"t\"\n");
    document.set("notes", &Value::Word(r#"["b","c"]"#.into()));
    document.set("topic", &Value::Word(r#"["b"]"#.into()));
    assert_eq!(document.get("notes"), Some(list(&["b", "c"])));
    assert_eq!(document.get("topic"), Some(Value::Text(r#"["b"]"#.into())));
    assert_eq!(
        document.to_bytes(),
        b"notes: [\"b\", \"c\"]\ntopic: \"[\\\"b\\\"]\"\n"
    );
    assert_eq!(document.get("notes").unwrap().to_plain(), r#"["b", "c"]"#);
    document.set("notes", &Value::Word("no list".into()));
    assert_eq!(document.get("notes"), Some(Value::Word("no list".into())));
}

#[test]
fn the_journal_has_the_list_and_rebuilds_the_document_with_it() {
    let (_kept, store, record) = started();
    let value = list(&["]\n\u{202e}", "b"]);
    let edits = [("notes", value.clone())];
    let record = store
        .commit(&record, change("begin", "drafting", "reviewing", &edits))
        .unwrap();
    let path = store.path_of(record.id());
    let before = std::fs::read_to_string(&path).unwrap();
    let opened = store.open(record.id()).unwrap();
    assert_eq!(
        (opened.record.get("notes"), &opened.repairs[..]),
        (Some(value), &[][..])
    );
    std::fs::remove_file(&path).unwrap();
    store.open(record.id()).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn a_text_that_reads_like_the_list_is_an_edit_of_it() {
    let (_kept, store, record) = started();
    let edits = [("decision_signal", list(&["a"]))];
    let record = store
        .commit(&record, change("begin", "drafting", "reviewing", &edits))
        .unwrap();
    let path = store.path_of(record.id());
    let before = std::fs::read_to_string(&path).unwrap();
    assert!(before.contains("decision_signal: [\"a\"]\n"), "{before}");
    let edited = before.replace("[\"a\"]", r#""[\"a\"]""#);
    std::fs::write(&path, edited).unwrap();
    let opened = store.open(record.id()).unwrap();
    assert!(
        matches!(opened.repairs[..], [Repair::EditUndone { .. }]),
        "{:?}",
        opened.repairs
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
}
