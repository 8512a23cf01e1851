//! What is read, what is refused, and what an edit leaves alone.

use super::reading::DEEPEST;
use super::*;
use crate::store::Form;
use proptest::prelude::*;

const HOSTILE: &[&str] = &[
    "",
    " ",
    "a\nb",
    "\"",
    "\\",
    "'",
    "|",
    "&",
    "/",
    "a|b&c/d\\e",
    "é 漢 🦀",
    "\0",
    "a\u{202e}b",
    "\u{2028}",
    "# comment",
    "a # comment",
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
    "\u{feff}x",
    "phase: done\nrevision: 9",
    "{a: b}",
    "[a]",
    "*a",
    "&a b",
    "!t",
    "%",
    "\t",
    " lead",
    "trail ",
    "${HOME}",
    "$(id)",
    "`id`",
    "<<",
    "0o7",
    "1_000",
    "2026-11-22",
    "12:30",
    ".5",
    "+1",
    "-0",
];

fn parse(text: &str) -> Box<dyn Document> {
    Form::Lines.parse(text.as_bytes()).unwrap()
}

/// Sets `text` in a document with neighbours, and reads it back from the bytes.
fn round_trip(text: &str, value: &Value, before: &str) {
    let mut document = parse(before);
    document.set("topic", value);
    let bytes = document.to_bytes();
    let back = Form::Lines
        .parse(&bytes)
        .unwrap_or_else(|error| panic!("{text:?}: {error}: {bytes:?}"));
    assert_eq!(
        back.get("topic").unwrap().as_str(),
        Some(text),
        "{:?}",
        String::from_utf8_lossy(&bytes)
    );
    assert_eq!(
        back.fields(),
        document.fields(),
        "what is held is what is read"
    );
    assert_eq!(back.get("phase"), Some(Value::Word("reviewing".into())));
    assert_eq!(back.get("round"), Some(Value::Count(2)));
    assert_eq!(
        bytes.iter().filter(|byte| **byte == b'\n').count(),
        3,
        "one line each"
    );
}

#[test]
fn what_the_reader_would_take_long_for_is_refused_by_its_shape() {
    let most = crate::store::MAX_BYTES;
    for part in [
        "[",
        "{",
        "? ",
        "- ",
        "b,",
        "!",
        "&a ",
        "x\n",
        "%YAML 1.2\n",
        "---\n",
        "#\n",
        "k: v\n",
    ] {
        for begin in ["", "a: ", "a: [", "a: [it's ", "a: [\"x\" ", "a: [b:\""] {
            let text = format!("{begin}{}", part.repeat((most - begin.len()) / part.len()));
            assert!(Form::Lines.parse(text.as_bytes()).is_err(), "{begin}{part}");
        }
    }
    let deep = |depth: usize| format!("a: {}{}\n", "[".repeat(depth), "]".repeat(depth));
    assert!(Form::Lines.parse(deep(DEEPEST).as_bytes()).is_ok());
    assert_eq!(
        Form::Lines.parse(deep(DEEPEST + 1).as_bytes()).unwrap_err(),
        DocumentError::NotLines
    );
}

#[test]
fn long_texts_and_lists_are_read_whatever_stands_in_their_quotes() {
    let long = "[{\"it's\" \\".repeat(40_000);
    let mut document = parse("phase: reviewing\n");
    document.set("topic", &Value::Text(long.clone()));
    document.set("all", &Value::List(vec![long[..200].to_owned(); 1000]));
    let back = Form::Lines.parse(&document.to_bytes()).unwrap();
    assert_eq!(back.fields(), document.fields());
    assert_eq!(back.get("topic").unwrap().as_str(), Some(&long[..]));
}

#[test]
fn hostile_texts_round_trip_on_one_line() {
    for text in HOSTILE {
        for value in [Value::Text((*text).into()), Value::Word((*text).into())] {
            round_trip(text, &value, "phase: reviewing\ntopic: x\nround: 2\n");
            round_trip(text, &value, "phase: reviewing\ntopic: \"x\"\nround: 2\n");
            round_trip(text, &value, "phase: reviewing\nround: 2\n");
        }
    }
}

proptest! {
    #[test]
    fn any_text_round_trips(text in any::<String>(), quoted: bool) {
        let value = if quoted { Value::Text(text.clone()) } else { Value::Word(text.clone()) };
        round_trip(&text, &value, "phase: reviewing\ntopic: 'x'\nround: 2\n");
    }

    #[test]
    fn any_bytes_are_read_or_refused_and_come_back_unchanged(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(document) = Form::Lines.parse(&bytes) {
            prop_assert_eq!(document.to_bytes(), bytes);
        }
    }

    #[test]
    fn any_lines_are_read_or_refused_and_a_set_changes_one_field(text in "([a-c]: ?[a-z\"'#|>\\-{}\\[\\]&*!: ]{0,6}(\n|\r\n)( [a-z:]{0,4}\n)?){0,5}") {
        if let Ok(mut document) = Form::Lines.parse(text.as_bytes()) {
            prop_assert_eq!(document.to_bytes(), text.as_bytes());
            let before = document.fields();
            document.set("b", &Value::Text("new".into()));
            let after = Form::Lines.parse(&document.to_bytes()).unwrap();
            prop_assert_eq!(after.get("b"), Some(Value::Word("new".into())));
            for (name, value) in before.iter().filter(|(name, _)| name != "b") {
                prop_assert_eq!(after.get(name), Some(value.clone()));
            }
        }
    }
}

#[test]
fn a_change_leaves_every_other_line_byte_for_byte() {
    let before = "\u{feff}# by hand\r\nphase:   drafting\r\n\nunknown: [1,\n  2]\nblock: |\n  phase: no\n\n  more\ntopic: \"a\"   # why\nround: 1";
    let mut document = parse(before);
    assert_eq!(document.to_bytes(), before.as_bytes());
    document.set("phase", &Value::Word("reviewing".into()));
    document.set("round", &Value::Count(2));
    document.set("topic", &Value::Word("b".into()));
    document.set("extra", &Value::Flag(true));
    let after = "\u{feff}# by hand\r\nphase: reviewing\r\n\nunknown: [1,\n  2]\nblock: |\n  phase: no\n\n  more\ntopic: \"b\"\nround: 2\r\nextra: true\r\n";
    assert_eq!(String::from_utf8(document.to_bytes()).unwrap(), after);
    assert_eq!(
        parse(after).get("block").unwrap().to_plain(),
        "phase: no\n\nmore\n"
    );
    document.set("block", &Value::Word("short".into()));
    document.remove("unknown");
    let text = String::from_utf8(document.to_bytes()).unwrap();
    assert_eq!(
        parse(&text).get("block"),
        Some(Value::Word("short".into())),
        "{text}"
    );
    assert!(!text.contains("unknown"));
}

#[test]
fn what_stands_quoted_stays_quoted_and_reads_back_as_held() {
    let mut document = parse("round: \"1\"\nflag: 'true'\n");
    document.set("round", &Value::Count(2));
    document.set("flag", &Value::Flag(false));
    assert_eq!(document.to_bytes(), b"round: \"2\"\nflag: \"false\"\n");
    assert_eq!(document.get("round").unwrap().as_count(), Some(2));
    assert_eq!(
        parse("round: \"2\"\nflag: \"false\"\n").fields(),
        document.fields()
    );
}

#[test]
fn what_an_edit_of_one_line_would_break_is_refused_or_left_whole() {
    for text in [
        "a: [1,\n2]\nb: 1\n",
        "a: \"x\ny\"\n",
        "a: 1\n\r >\n",
        "{\n}\n",
        "a: 1\n\u{2028} x\n",
        "a: 1\n...\n",
        "a:\r...\n",
        "# why\n\u{feff}a: 1\n",
        "a: plain\n  \t \nb: 1\n",
    ] {
        // Refused, or edited as a whole.
        if let Ok(mut document) = Form::Lines.parse(text.as_bytes()) {
            document.set("a", &Value::Count(7));
            let again = Form::Lines.parse(&document.to_bytes()).unwrap();
            assert_eq!(again.fields(), document.fields(), "{text:?}");
        }
    }
    let mut document = parse("block: |\n  one\n  two");
    document.set("new", &Value::Count(1));
    assert_eq!(document.to_bytes(), b"new: 1\nblock: |\n  one\n  two");
    let mut document = parse("\u{feff}a: >\n  one\n \n  ");
    document.set("new", &Value::Count(1));
    assert_eq!(
        document.to_bytes(),
        "\u{feff}new: 1\na: >\n  one\n \n  ".as_bytes()
    );
    assert_eq!(parse("\u{feff}a: 1\nb: 2\n").fields().len(), 2);
}

#[test]
fn what_is_no_list_of_fields_is_refused() {
    let refused = |bytes: &[u8]| Form::Lines.parse(bytes).unwrap_err();
    assert_eq!(refused(b"phase: \xff"), DocumentError::NotUtf8 { at: 7 });
    assert_eq!(
        refused(&vec![b'#'; 1024 * 1024 + 1]),
        DocumentError::TooLarge
    );
    for text in [
        "a: 1\na: 2\n",
        "a: 1\n- b\n",
        "a: \"x",
        "a: 1\n---\nb: 2\n",
        "a: x\0y\n",
    ] {
        assert!(
            matches!(refused(text.as_bytes()), DocumentError::Syntax { .. }),
            "{text:?}"
        );
    }
    for text in [
        "",
        "\n",
        "# only\n",
        "text\n",
        "[1]\n",
        "{a: 1}\n",
        "\"a\": 1\n",
        "a: 1\rb: 2\n",
        "? a\n: b\n",
        "1: 2\n",
    ] {
        let error = refused(text.as_bytes());
        assert!(
            matches!(
                error,
                DocumentError::NotLines | DocumentError::Syntax { .. }
            ),
            "{text:?}: {error}"
        );
    }
    // What reaches into another key's lines would let one edit change another field.
    for text in [
        "topic: \"a\nphase: done\"\nb: 1\n",
        "a: \"x\nb: 1\"\n? b\n: 2\n",
        "a: [\nb: 1\n]\n",
        "a: &x 1\nb: *x\n",
        "a: 1\n...\n",
        "a: 1\r...\nb: 2\n",
        "# \r[\"x\nb: \", 1]\n",
        "a: 1 # \u{2028}c: 2\n",
    ] {
        refused(text.as_bytes());
    }
    let wrong = refused(b"# why\na: 1\nb: c: d\n").to_string();
    assert!(wrong.contains("line 3"), "{wrong}");
}

#[test]
fn a_document_from_nothing_has_the_fields_in_order() {
    let mut document = Form::Lines.empty();
    document.set("mode", &Value::Word("plan".into()));
    document.set("topic", &Value::Text("fix".into()));
    document.set("signal", &Value::Null);
    document.set("no name", &Value::Null);
    document.set("true", &Value::Null);
    assert_eq!(
        document.to_bytes(),
        b"mode: plan\ntopic: \"fix\"\nsignal: null\n"
    );
}
