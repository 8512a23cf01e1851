//! The promises of each form, and those of all of them.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use serde_json::json;

use super::*;
use crate::store::testing::{ROUND, TOPIC, held};

/// Texts that readers of YAML or JSON may take for something else.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "a\nb",
    "\"",
    "\\",
    "'",
    "|",
    "&",
    "é 漢 🦀",
    "\0",
    "\u{2028}",
    "a: b",
    ": ",
    "- a",
    "-",
    "---",
    "...",
    "yes",
    "1e3",
    "0x10",
    "null",
    "~",
    "true",
    "\r\n",
    "\r",
    "\u{85}",
    "{a: b}",
    "[a]",
    "*a",
    "&a b",
    "!t",
    "%",
    "\t",
    "\ta\n\tb",
    " lead",
    "trail ",
    "\n",
    "\n\n a",
    "<<",
    "0o7",
    "1_000",
    "12:30",
    ".5",
    "+1",
    "-0",
];

/// Longer texts of this kind.
const HOSTILE_LINES: &[&str] = &[
    "a|b&c/d\\e",
    "a\u{202e}b",
    "# comment",
    "a # comment",
    "a\n---\nb",
    "\u{feff}x",
    "phase: done\nrevision: 9",
    "a\n\n b \n",
    "2026-11-22",
    "\u{e0041}",
    "\u{7f}\u{ffff}",
];

/// A field below another key, as only frontmatter has it.
const BELOW: &[FieldInfo] = &[FieldInfo {
    key: Some("x.b"),
    ..held("b")
}];

const LINES: &str = "phase: reviewing\ntopic: \"x\"\nround: 2\n";
const JSON: &str = "{\"phase\": \"reviewing\", \"topic\": \"x\", \"round\": 2}";
const FRONTMATTER: &str = "---\nphase: reviewing\ntopic: x\nround: 2\n---\ntext\n";

fn parse(form: Form, text: &str) -> Document {
    Document::parse(form, &[], text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

impl Document {
    /// Returns every field of the document, by name.
    fn fields(&self) -> Fields {
        let map = serde_json::to_value(&self.map).unwrap_or_default();
        map.as_object().cloned().unwrap_or_default()
    }
}

fn text_of(document: &Document) -> String {
    String::from_utf8(document.to_bytes()).unwrap()
}

/// Checks a document of any bytes in each form: a field that is set has its value, and no other one
/// changes. A document of lines comes back as it was.
fn check_any(bytes: &[u8]) {
    let end = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(64)..]).into_owned();
    let values = [json!(7), json!(end), json!({ "k": [end, 1.5], "l": null })];
    for form in [Form::Lines, Form::Json, Form::Frontmatter] {
        let fields = if form == Form::Frontmatter {
            BELOW
        } else {
            &[]
        };
        let parse = |bytes: &[u8]| Document::parse(form, fields, bytes);
        let Ok(document) = parse(bytes) else {
            continue;
        };
        if form == Form::Lines {
            assert_eq!(document.to_bytes(), bytes);
        }
        for name in ["unheard_of", "a", "b"] {
            // A field below `x` takes the place of a value there.
            let others = |document: &Document| {
                let mut fields = document.fields();
                fields.retain(|field, _| field != name && field != "x");
                fields
            };
            for value in &values {
                let mut changed = document.clone();
                changed.set(name, value);
                let again = parse(&changed.to_bytes()).unwrap();
                let found = again.get(name).unwrap_or_default();
                assert_eq!(to_plain(&found), to_plain(value), "{form:?} {changed:?}");
                assert_eq!(others(&again), others(&document), "{form:?} {changed:?}");
            }
        }
    }
}

fn refuse(form: Form, text: &str) -> String {
    match Document::parse(form, &[], text.as_bytes()) {
        Err(error) => error.to_string(),
        Ok(document) => panic!("{text:?} is read as {document:?}"),
    }
}

/// Sets a text in each form between two other fields, and reads it from the bytes.
fn check_round_trip(text: &str) {
    for (form, before) in [
        (Form::Lines, LINES),
        (Form::Json, JSON),
        (Form::Frontmatter, FRONTMATTER),
    ] {
        let mut document = parse(form, before);
        document.set("topic", &json!(text));
        document.set("added", &json!([text]));

        let again = parse(form, &text_of(&document));
        let expected = json!({"phase": "reviewing", "topic": text, "round": 2, "added": [text]});
        assert_eq!(Json::Object(document.fields()), expected, "{document:?}");
        assert_eq!(Json::Object(again.fields()), expected, "{document:?}");
    }
}

#[test]
fn hostile_text_is_read_back_from_each_form() {
    for text in HOSTILE.iter().chain(HOSTILE_LINES) {
        check_round_trip(text);
    }
}

proptest! {
    #[test]
    fn any_text_is_read_back_from_each_form(text in any::<String>()) {
        check_round_trip(&text);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check_any(&bytes);
    }

    #[test]
    fn any_lines_keep_the_other_fields(
        text in "([a-c]: ?[a-z\"'#|>\\-{}\\[\\]&*!: ]{0,6}(\n|\r\n)(#?\n)?( {0,2}[a-z:#\\-\\]\"]{0,4}\n){0,2}){0,5}",
        below in any::<String>(),
    ) {
        check_any(text.as_bytes());
        check_any(format!("---\n{text}---\n{below}").as_bytes());
    }
}

#[test]
fn set_entry_leaves_other_lines() {
    let before = "\u{feff}# by hand\r\nphase:   drafting\r\n\nunknown: [1, 2] # two\n  # why\ntopic: \"a\"   # why\nround: 1";
    let mut document = parse(Form::Lines, before);
    assert_eq!(text_of(&document), before);
    assert_eq!(document.text("unknown").unwrap(), "[1,2]");

    document.set("phase", &json!("reviewing"));
    document.set("topic", &json!("b"));
    document.set("extra", &json!("new"));
    document.set("no name", &Json::Null);
    let after = "\u{feff}# by hand\r\nphase: reviewing\r\n\nunknown: [1, 2] # two\n  # why\ntopic: \"b\"\r\nround: 1\r\nextra: new\r\n";
    assert_eq!(text_of(&document), after);
}

#[test]
fn plain_words_are_bare_unless_declared_or_were_quoted() {
    let mut document = Document::parse(Form::Lines, &[TOPIC], b"quoted: \"fix\"\n").unwrap();
    document.set("quoted", &json!("other"));
    document.set("topic", &json!("fix"));
    document.set("mode", &json!("plan"));
    document.set("answer", &json!("yes"));
    document.set("signal", &Json::Null);
    document.set("all", &json!(["a"]));
    assert_eq!(
        text_of(&document),
        "quoted: \"other\"\ntopic: \"fix\"\nmode: plan\nanswer: \"yes\"\nsignal: null\nall: [\"a\"]\n"
    );
}

#[test]
fn wrong_lines_are_refused_with_their_line() {
    for (text, line) in [
        ("a: 1\na: 2\n", 2),
        ("a: 1\n- b\n", 2),
        ("# why\na: 1\nb: c: d\n", 3),
        ("a: 1\ntopic: \"a\nphase: done\"\nb: 1\n", 2),
        ("a: [\nb: 1\n]\n", 1),
        ("a: &x 1\nb: *x\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: 1\n...\n", 2),
        ("a: 1\rb: 2\n", 1),
        ("a: 1 # \u{2028}c: 2\n", 1),
        ("block: |\n  text\n", 1),
        ("text\n", 1),
        ("{a: 1}\n", 1),
        ("\"a\": 1\n", 1),
        ("? a\n: b\n", 1),
        ("1: 2\n", 1),
        ("  a: 1\n", 1),
    ] {
        let error = refuse(Form::Lines, text);
        assert!(error.contains(&format!("line {line}")), "{text:?}: {error}");
    }
    for text in ["", "\n", "# only\n", "---\n"] {
        refuse(Form::Lines, text);
    }
    assert_eq!(
        Document::parse(Form::Lines, &[], b"phase: \xff")
            .unwrap_err()
            .to_string(),
        "the document is not UTF-8 from byte 7 on"
    );
}

#[test]
fn costly_documents_are_read_in_time() {
    let most = vec![b' '; MAX_DOCUMENT_BYTES + 1];
    for form in [Form::Lines, Form::Json, Form::Frontmatter] {
        let error = Document::parse(form, &[], &most).unwrap_err().to_string();
        assert_eq!(error, "the document has more than 1048576 bytes");
    }
    let longest = format!("a: {}\n", "b".repeat(1024 * 1024 - 4));
    assert!(Document::parse(Form::Lines, &[], longest.as_bytes()).is_ok());
    let begun = Instant::now();
    for part in ["[", "b,", "&a "] {
        for begin in ["a: ", "a: [", "a:\n  ", "a: \"x\" "] {
            let text = format!("{begin}{}\n", part.repeat(256 * 1024 / part.len() - 10));
            let _ = Document::parse(Form::Lines, &[], text.as_bytes());
            let _ = Document::parse(
                Form::Frontmatter,
                &[],
                format!("---\n{text}---\n").as_bytes(),
            );
        }
    }
    // A debug build on a busy machine takes some seconds. Without the bounds it takes minutes.
    let elapsed = begun.elapsed();
    assert!(elapsed < Duration::from_secs(100), "{elapsed:?}");
    let anchors = format!("a: [&x [1], {}]\n", "*x, ".repeat(9));
    refuse(Form::Lines, &anchors);
    refuse(Form::Frontmatter, &format!("---\n{anchors}---\n"));

    let mut long = parse(Form::Lines, LINES);
    long.set("topic", &json!("[{\"it's\" \\".repeat(40_000)));
    assert_eq!(parse(Form::Lines, &text_of(&long)).fields(), long.fields());
}

#[test]
fn json_has_declared_keys_first() {
    let text = "{\"z\": 1.5, \"b\": 2, \"y\": {\"c\": null}, \"a\": [\"x\"]}";
    let fields = json!({ "d": { "\u{202e}": 1 }, "a": ["y"], "b": 3 });
    let document = parse(Form::Json, text).with(fields.as_object().unwrap(), "");
    assert_eq!(
        text_of(&document),
        r#"{
  "d": {
    "\u202E": 1
  },
  "a": [
    "y"
  ],
  "b": 3,
  "z": 1.5,
  "y": {
    "c": null
  }
}
"#
    );
    for text in [
        "",
        "[]",
        "{",
        "{}x",
        "{\"a\":1,\"a\":2}",
        "\u{feff}{}",
        "{\"a\":01}",
    ] {
        refuse(Form::Json, text);
    }
}

#[test]
fn frontmatter_keeps_other_keys_and_the_text() {
    const FIELDS: &[FieldInfo] = &[
        FieldInfo {
            key: Some("loop.phase"),
            ..held("phase")
        },
        FieldInfo {
            key: Some("loop.deep.note"),
            ..held("note")
        },
    ];
    let parse = |text: &str| Document::parse(Form::Frontmatter, FIELDS, text.as_bytes()).unwrap();
    let yaml = "round: 1 # of three\nhide title: yes\n1: one\nloop:\n  phase: drafting\n  hooks:\n  - run: x\ntags: [a]\n";
    let rest = "---\n# Plan\n\n---\nphase: done";
    let mut document = parse(&format!("\u{feff}---\n{yaml}{rest}"));
    assert_eq!(document.get("phase"), Some(json!("drafting")));
    document.set("phase", &json!("reviewing"));
    document.set("note", &json!("new"));
    document.set("tags", &json!([{ "b": [1.5] }]));
    let document = document.with(&Fields::new(), "- paid\n");
    let expected = "\u{feff}---\nround: 1\nhide title: yes\n1: one\nloop:\n  phase: reviewing\n  hooks:\n  - run: x\n  deep:\n    note: new\ntags:\n- b:\n  - 1.5\n---\n# Plan\n\n---\nphase: done\n- paid\n";
    assert_eq!(text_of(&document), expected);
    let mut windows = parse(&expected.replace('\n', "\r\n"));
    windows.set("round", &json!(2));
    let windows = windows.with(&Fields::new(), "end");
    let expected = expected.replace("round: 1", "round: 2") + "end\n";
    assert_eq!(text_of(&windows), expected.replace('\n', "\r\n"));
}

#[test]
fn wrong_frontmatter_is_refused() {
    let form = Form::Frontmatter;
    for text in [
        "",
        "---",
        "text\n---\na: 1\n---\n",
        " ---\na: 1\n---\n",
        "---\na: 1\n --- \n",
        "---\n- a\n---\n",
        "---\na: 1\na: 2\n---\n",
    ] {
        refuse(form, text);
    }
    let error = refuse(form, "---\n# why\na: 1\nb:\n  c: d: e\n---\n");
    assert!(error.contains("line 5"), "{error}");
}

#[test]
fn null_stands_for_the_declared_values() {
    const ROUND_OR_NULL: FieldInfo = FieldInfo {
        null: Some("0"),
        ..ROUND
    };
    let mut document = Document::parse(Form::Lines, &[ROUND_OR_NULL], b"round: null\n").unwrap();
    assert_eq!(document.get("round"), Some(json!(0)));
    document.set("round", &json!(1));
    assert_eq!(text_of(&document), "round: 1\n");
    document.set("round", &json!(0));
    assert_eq!(text_of(&document), "round: null\n");
    assert_eq!(document.get("round"), Some(json!(0)));
}
