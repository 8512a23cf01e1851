//! The form of our own documents: an ordered list of `key: value` lines.
//!
//! Values are read by a YAML reader and never written by one: a change replaces one line, and every other line
//! stays byte for byte, be it a comment, a blank, a field that nobody knows, or one that ends in CRLF. A comment
//! behind a value goes with the value when that changes.

use super::document::{Document, DocumentError, MAX_BYTES, is_field_name};
use super::scalar;
use super::value::{MOST_COUNT, Value};

/// Limits the fields of a document: twice as many as a machine.
const MOST_FIELDS: usize = 2048;
/// Limits how deep brackets are nested in a value.
const DEEPEST: usize = 32;
/// Limits what of a document stands outside of quotes, in bytes.
const MOST_OUTSIDE: usize = 64 * 1024;

/// Ends a line where a YAML reader reads.
const BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// A document of lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    entries: Vec<Entry>,
}

/// A line, with those that continue it (a block scalar, a nested value, what stands indented below).
#[derive(Debug, Clone)]
struct Entry {
    /// The bytes, line ending included.
    raw: String,
    /// The field, if the line holds one.
    field: Option<(String, Value)>,
}

impl Lines {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let text = std::str::from_utf8(bytes).map_err(|error| DocumentError::NotUtf8 {
            at: error.valid_up_to(),
        })?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut keys: Vec<Option<&str>> = Vec::new();
        // The last line with a key.
        let mut owner: Option<usize> = None;
        for line in text.split_inclusive('\n') {
            // Of a line of blanks, too, a tab is fit for nothing but to go on with a value.
            let continues = line.starts_with([' ', '\t']) && (!line.trim().is_empty() || line.contains('\t'))
                || line.starts_with("- ")
                || line.trim_end() == "-";
            match owner {
                // Blanks in between belong to the value too: a block scalar may hold some.
                Some(owner) if continues => {
                    let between: String = entries.drain(owner + 1..).map(|entry| entry.raw).collect();
                    keys.truncate(owner + 1);
                    entries[owner].raw.push_str(&between);
                    entries[owner].raw.push_str(line);
                }
                _ => {
                    let key = key_of(line);
                    owner = key.map(|_| keys.len()).or(owner);
                    keys.push(key);
                    entries.push(Entry {
                        raw: line.to_owned(),
                        field: None,
                    });
                }
            }
        }
        let fields = keys.iter().flatten().count();
        check(&entries, fields)?;
        // Behind the end of a YAML document no field could be added. A byte order mark begins another one.
        let ends = |line: &str| line.starts_with("...") || line.starts_with('\u{feff}');
        if text
            .strip_prefix('\u{feff}')
            .unwrap_or(text)
            .split(BREAKS)
            .any(ends)
        {
            return Err(DocumentError::NotLines);
        }
        // Behind a byte order mark the reader counts columns from 1.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let read = match serde_yaml::from_str::<serde_yaml::Value>(text) {
            Ok(serde_yaml::Value::Mapping(read)) => read,
            // Nothing but blanks and comments, or nothing at all: a document that was cut off, never one of ours.
            Ok(_) => return Err(DocumentError::NotLines),
            Err(error) => {
                return Err(DocumentError::Syntax {
                    reason: error.to_string(),
                });
            }
        };
        // The scan above and the YAML reader must see the same fields in the same order. Where they do not (a flow
        // mapping, a quoted key, a quoted text over several lines, a lone CR), an edit of one line could change
        // another field, so the document is refused as a whole.
        let mut read = read.into_iter();
        for (entry, key) in entries.iter_mut().zip(keys) {
            let Some(key) = key else {
                if !is_between(&entry.raw) {
                    return Err(DocumentError::NotLines);
                }
                continue;
            };
            match read.next() {
                Some((serde_yaml::Value::String(name), value)) if name == key => {
                    let value = value_of(value, &entry.raw);
                    entry.field = Some((name, value));
                }
                _ => return Err(DocumentError::NotLines),
            }
        }
        if read.next().is_some() {
            Err(DocumentError::NotLines)
        } else {
            Ok(Self { entries })
        }
    }

    fn find(&self, field: &str) -> Option<usize> {
        self.entries
            .iter()
            .position(|entry| entry.field.as_ref().is_some_and(|(name, _)| name == field))
    }

    /// Returns the ending that new lines get: that of the first line.
    fn ending(&self) -> &'static str {
        self.entries.first().map_or(
            "\n",
            |entry| if entry.raw.ends_with("\r\n") { "\r\n" } else { "\n" },
        )
    }
}

impl Document for Lines {
    fn get(&self, field: &str) -> Option<Value> {
        self.entries.iter().find_map(|entry| match &entry.field {
            Some((name, value)) if name == field => Some(value.clone()),
            _ => None,
        })
    }

    fn set(&mut self, field: &str, value: &Value) {
        if !is_field_name(field) {
            return;
        }
        let ending = self.ending();
        let Some(at) = self.find(field) else {
            let mut raw = format!("{field}: {}{ending}", scalar::write(value, false));
            let field = Some((field.to_owned(), value.clone()));
            let mut at = self.entries.len();
            if let Some(last) = self.entries.last_mut()
                && !last.raw.ends_with('\n')
            {
                // The end of a line may belong to a value of several lines: the new field stands before it then.
                if last.raw.trim().is_empty() || last.raw.contains(BREAKS) {
                    at = (self.entries.iter().rposition(|entry| entry.field.is_some())).unwrap_or(at);
                } else {
                    last.raw.push_str(ending);
                }
            }
            if let Some(next) = self.entries.get_mut(at)
                && next.raw.starts_with('\u{feff}')
            {
                raw.insert(0, next.raw.remove(0));
            }
            self.entries.insert(at, Entry { raw, field });
            return;
        };
        let entry = &mut self.entries[at];
        let quoted = right_of_colon(&entry.raw).starts_with(['"', '\'']);
        let old_ending = if entry.raw.ends_with("\r\n") {
            "\r\n"
        } else if entry.raw.ends_with('\n') {
            "\n"
        } else {
            ""
        };
        let mark = if entry.raw.starts_with('\u{feff}') {
            "\u{feff}"
        } else {
            ""
        };
        // What reads back is text once it stands in quotes, so this is what is held too.
        let held = match (&entry.field, value) {
            // What stands as a list stays one where it is given as the text of one.
            (Some((_, Value::List(_))), Value::Word(text) | Value::Text(text)) => {
                serde_json::from_str(text).map_or_else(|_| value.clone(), Value::List)
            }
            (_, Value::Null | Value::List(_)) => value.clone(),
            _ if quoted => Value::Text(value.to_plain().into_owned()),
            _ => value.clone(),
        };
        entry.raw = format!("{mark}{field}: {}{old_ending}", scalar::write(&held, quoted));
        entry.field = Some((field.to_owned(), held));
    }

    fn remove(&mut self, field: &str) {
        if let Some(at) = self.find(field) {
            self.entries.remove(at);
        }
    }

    fn fields(&self) -> Vec<(String, Value)> {
        self.entries
            .iter()
            .filter_map(|entry| entry.field.clone())
            .collect()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.entries.iter().flat_map(|entry| entry.raw.bytes()).collect()
    }

    fn check(&self) -> Result<(), DocumentError> {
        let fields = self.entries.iter().filter(|entry| entry.field.is_some()).count();
        check(&self.entries, fields)
    }

    fn boxed_clone(&self) -> Box<dyn Document> {
        Box::new(self.clone())
    }
}

fn check(entries: &[Entry], fields: usize) -> Result<(), DocumentError> {
    if entries.iter().map(|entry| entry.raw.len()).sum::<usize>() > MAX_BYTES {
        return Err(DocumentError::TooLarge);
    }
    if fields > MOST_FIELDS || !is_simple(entries) {
        return Err(DocumentError::NotLines);
    }
    Ok(())
}

/// Returns whether the YAML reader is done with these lines in no time: its own takes the square of how deep brackets are nested, and
/// of how much stands outside of quotes. What we write is a value in a line, and text in quotes.
fn is_simple(entries: &[Entry]) -> bool {
    let mut outside = 0;
    entries.iter().all(|entry| {
        let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
        // The byte before, and the last one that is no blank.
        let (mut last, mut before) = (b' ', b' ');
        for byte in entry.raw.bytes() {
            match (quote, byte) {
                (Some(b'"'), b'\\') if !escaped => {
                    escaped = true;
                    continue;
                }
                (Some(open), _) if byte == open && !escaped => quote = None,
                (Some(_), _) => {}
                // Elsewhere it is an apostrophe, or an inch.
                (None, b'"' | b'\'') if b",[{".contains(&before) || before == b':' && last != b':' => {
                    quote = Some(byte);
                }
                (None, _) => {
                    outside += 1;
                    match byte {
                        b'[' | b'{' => depth += 1,
                        b']' | b'}' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                }
            }
            escaped = false;
            if depth > DEEPEST || outside > MOST_OUTSIDE {
                return false;
            }
            last = byte;
            if !byte.is_ascii_whitespace() {
                before = byte;
            }
        }
        true
    })
}

/// Returns whether a line without a key is part of no value: an edit of the value's first line would leave the others.
fn is_between(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    let is_one = !line.contains(BREAKS);
    line.is_empty() || is_one && line.starts_with(['#', '%']) || line == "---"
}

/// Returns the key that a line starts with, if it does.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.trim_start_matches('\u{feff}').split_once(':')?;
    (is_field_name(key) && (rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))).then_some(key)
}

/// Returns what stands right of the colon, without blanks and line ending.
fn right_of_colon(raw: &str) -> &str {
    raw.split_once(':').map_or("", |(_, rest)| rest.trim())
}

fn value_of(read: serde_yaml::Value, raw: &str) -> Value {
    let quoted = right_of_colon(raw).starts_with(['"', '\'']);
    match read {
        serde_yaml::Value::Null => Value::Null,
        serde_yaml::Value::Bool(flag) => Value::Flag(flag),
        serde_yaml::Value::Number(number) => number
            .as_u64()
            .filter(|number| *number <= MOST_COUNT)
            .map_or_else(|| Value::Word(number.to_string()), Value::Count),
        serde_yaml::Value::String(text) if quoted => Value::Text(text),
        serde_yaml::Value::String(text) => Value::Word(text),
        serde_yaml::Value::Sequence(items) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts
                .collect::<Option<_>>()
                .map_or_else(|| as_it_stands(raw), Value::List)
        }
        serde_yaml::Value::Mapping(_) | serde_yaml::Value::Tagged(_) => as_it_stands(raw),
    }
}

/// Nothing of ours is nested deeper than a list of texts. Such a field is kept, and shown as it stands.
fn as_it_stands(raw: &str) -> Value {
    Value::Text(right_of_colon(raw).to_owned())
}

#[cfg(test)]
mod tests {
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
        assert_eq!(back.fields(), document.fields(), "what is held is what is read");
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
                if let Ok(after) = Form::Lines.parse(&document.to_bytes()) {
                    prop_assert_eq!(after.get("b"), Some(Value::Word("new".into())));
                    for (name, value) in before.iter().filter(|(name, _)| name != "b") {
                        prop_assert_eq!(after.get(name), Some(value.clone()));
                    }
                }
            }
        }
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
        ] {
            assert!(Form::Lines.parse(text.as_bytes()).is_err(), "{text:?}");
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
        let mut document = parse("a: plain\n  \t \nb: 1\n");
        document.set("a", &Value::Text("x y".into()));
        assert_eq!(document.to_bytes(), b"a: \"x y\"\nb: 1\n");
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
    fn what_is_no_list_of_fields_is_refused() {
        let refused = |bytes: &[u8]| Form::Lines.parse(bytes).unwrap_err();
        assert_eq!(refused(b"phase: \xff"), DocumentError::NotUtf8 { at: 7 });
        assert_eq!(refused(&vec![b'#'; 1024 * 1024 + 1]), DocumentError::TooLarge);
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
                matches!(error, DocumentError::NotLines | DocumentError::Syntax { .. }),
                "{text:?}: {error}"
            );
        }
        // A quoted text that spans lines would let one edit change another field.
        assert_eq!(
            refused(b"topic: \"a\nphase: done\"\nb: 1\n"),
            DocumentError::NotLines
        );
    }

    #[test]
    fn a_document_from_nothing_has_the_fields_in_order() {
        let mut document = Form::Lines.empty();
        document.set("mode", &Value::Word("plan".into()));
        document.set("topic", &Value::Text("fix".into()));
        document.set("signal", &Value::Null);
        document.set("no name", &Value::Null);
        document.set("true", &Value::Null);
        assert_eq!(document.to_bytes(), b"mode: plan\ntopic: \"fix\"\nsignal: null\n");
    }
}
