//! A document that is one JSON object: two spaces of indentation, a key a line, a final line end.
//!
//! Each value is kept as it stands, so that what nobody declared stays byte for byte: a number's digits, a nested object. Only
//! the values that are set are written anew, and only once something is set is the file laid out as we lay it out.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::document::{Document, DocumentError, MAX_BYTES, is_field_name};
use super::value::{self, MOST_COUNT, Value};

/// Limits the keys of a document: twice as many as a machine has fields.
pub(super) const MOST_KEYS: usize = 2048;
/// Limits how deep brackets are nested.
const DEEPEST: usize = 32;
/// Limits the values in a document.
const MOST_VALUES: usize = 100_000;

/// Fields that hold data of the machine's own: whatever JSON can.
pub(super) type Data = &'static [&'static str];

/// A document of JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Json {
    data: Data,
    /// Keys, and their values as they stand.
    entries: Vec<(String, String)>,
    /// The file, until something is set.
    read: Option<String>,
}

impl Json {
    pub(super) fn parse(data: Data, bytes: &[u8]) -> Result<Self, DocumentError> {
        let text = std::str::from_utf8(bytes).map_err(|error| DocumentError::NotUtf8 {
            at: error.valid_up_to(),
        })?;
        if !is_simple(bytes, DEEPEST, MOST_VALUES) {
            return Err(DocumentError::NotObject);
        }
        let syntax = |error: serde_json::Error| DocumentError::Syntax {
            reason: error.to_string(),
        };
        let mut reader = serde_json::Deserializer::from_str(text);
        let read: Vec<(String, &RawValue)> = entries(&mut reader).map_err(syntax)?;
        reader.end().map_err(syntax)?;
        let entries = read
            .into_iter()
            .map(|(name, value)| (name, value.get().to_owned()))
            .collect();
        Ok(Self {
            data,
            entries,
            read: Some(text.to_owned()),
        })
    }

    pub(super) fn empty(data: Data) -> Self {
        Self {
            data,
            ..Self::default()
        }
    }

    /// Returns the value of a field, which stands there like this.
    fn value(&self, field: &str, raw: &str) -> Value {
        let data = || serde_json::from_str(raw).ok().map(Value::of_json);
        let data = self.data.contains(&field).then(data).flatten();
        data.unwrap_or_else(|| value_of(raw))
    }

    fn find(&self, field: &str) -> Option<usize> {
        self.entries.iter().position(|(name, _)| name == field)
    }

    fn text(&self) -> String {
        if let Some(read) = &self.read {
            return read.clone();
        }
        let lines: Vec<String> = (self.entries.iter())
            .map(|(name, value)| format!("  {}: {value}", string(name)))
            .collect();
        if lines.is_empty() {
            return "{}\n".to_owned();
        }
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

impl Document for Json {
    fn get(&self, field: &str) -> Option<Value> {
        self.find(field)
            .map(|at| self.value(field, &self.entries[at].1))
    }

    fn set(&mut self, field: &str, value: &Value) {
        if !is_field_name(field) {
            return;
        }
        let at = self.find(field);
        let there = at.map(|at| value_of(&self.entries[at].1));
        let written = match (there, value) {
            // What stands as a list stays one where it is given as the text of one.
            (Some(Value::List(_)), Value::Word(text) | Value::Text(text))
                if !self.data.contains(&field) =>
            {
                serde_json::from_str(text)
                    .map_or_else(|_| write(value), |texts| write(&Value::List(texts)))
            }
            _ => write(value),
        };
        match at {
            Some(at) => self.entries[at].1 = written,
            None => self.entries.push((field.to_owned(), written)),
        }
        self.read = None;
    }

    fn remove(&mut self, field: &str) {
        if let Some(at) = self.find(field) {
            self.entries.remove(at);
            self.read = None;
        }
    }

    fn put_first(&mut self, fields: &[(String, Value)]) {
        let place = |entry: &(String, String)| fields.iter().position(|(name, _)| *name == entry.0);
        self.entries
            .sort_by_key(|entry| place(entry).unwrap_or(fields.len()));
        self.read = None;
    }

    fn fields(&self) -> Vec<(String, Value)> {
        let field = |(name, value): &(String, String)| (name.clone(), self.value(name, value));
        self.entries.iter().map(field).collect()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.text().into_bytes()
    }

    fn check(&self) -> Result<(), DocumentError> {
        let bytes = self.to_bytes();
        if bytes.len() > MAX_BYTES {
            return Err(DocumentError::TooLarge);
        }
        if self.entries.len() > MOST_KEYS || !is_simple(&bytes, DEEPEST, MOST_VALUES) {
            return Err(DocumentError::NotObject);
        }
        Ok(())
    }

    fn boxed_clone(&self) -> Box<dyn Document> {
        Box::new(self.clone())
    }
}

/// Reads an object into its keys and values. A key that stands twice is refused: readers differ in which they take.
pub(super) fn entries<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    from: D,
) -> Result<Vec<(String, V)>, D::Error> {
    from.deserialize_map(Entries(PhantomData))
}

struct Entries<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
    type Value = Vec<(String, V)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Self::Value = Vec::new();
        let mut names = std::collections::HashSet::new();
        while let Some((name, value)) = map.next_entry::<String, V>()? {
            if names.len() == MOST_KEYS {
                return Err(serde::de::Error::custom(format!(
                    "it has more than {MOST_KEYS} keys"
                )));
            }
            if !names.insert(name.clone()) {
                return Err(serde::de::Error::custom(format!(
                    "the key `{name}` stands twice"
                )));
            }
            entries.push((name, value));
        }
        Ok(entries)
    }
}

/// Returns what a value means. Nothing of ours is nested deeper than a list of texts: what is, is shown as it stands.
fn value_of(raw: &str) -> Value {
    use serde_json::Value as Read;
    let as_it_stands = || Value::Text(raw.to_owned());
    match serde_json::from_str(raw) {
        Ok(Read::Null) => Value::Null,
        Ok(Read::Bool(flag)) => Value::Flag(flag),
        Ok(Read::Number(number)) => match number.as_u64().filter(|number| *number <= MOST_COUNT) {
            Some(number) => Value::Count(number),
            None => Value::Word(raw.to_owned()),
        },
        Ok(Read::String(text)) => Value::Text(text),
        Ok(Read::Array(items)) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts
                .collect::<Option<_>>()
                .map_or_else(as_it_stands, Value::List)
        }
        Ok(Read::Object(_)) | Err(_) => as_it_stands(),
    }
}

/// Writes a value below a key.
fn write(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Flag(flag) => flag.to_string(),
        Value::Count(number) => number.to_string(),
        Value::Word(text) | Value::Text(text) => string(text),
        Value::List(texts) if texts.is_empty() => "[]".to_owned(),
        Value::List(texts) => {
            let items: Vec<String> = texts
                .iter()
                .map(|text| format!("    {}", string(text)))
                .collect();
            format!("[\n{}\n  ]", items.join(",\n"))
        }
        Value::Data(json) => value::shown(&format!("{json:#}")).replace('\n', "\n  "),
    }
}

fn string(text: &str) -> String {
    super::value::quote(text, true)
}

/// Returns whether a reader needs about as much memory for this JSON as it has bytes: a value takes many times what its brackets do.
pub(super) fn is_simple(bytes: &[u8], deepest: usize, most_values: usize) -> bool {
    let (mut depth, mut values, mut in_text, mut escaped) = (0_usize, 0_usize, false, false);
    for byte in bytes {
        match (in_text, byte) {
            (true, b'\\') if !escaped => {
                escaped = true;
                continue;
            }
            (_, b'"') if !escaped => in_text = !in_text,
            (false, b'[' | b'{') => {
                depth += 1;
                values += 1;
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            (false, b',') => values += 1,
            _ => {}
        }
        escaped = false;
        if depth > deepest || values > most_values {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DOCUMENT: &str = "{\n  \"phase\": \"reviewing\",\n  \"round\": 2,\n  \"topic\": null,\n  \"theirs\": {\"a\": [1.10, 123456789012345678901]},\n  \"all\": [\n    \"x\"\n  ]\n}\n";

    fn parse(text: &str) -> Json {
        Json::parse(&[], text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    #[test]
    fn data_is_any_json_and_is_laid_out() {
        let mut document = Json::parse(&["theirs", "all"], DOCUMENT.as_bytes()).unwrap();
        assert_eq!(document.get("all"), Some(Value::List(vec!["x".into()])));
        let data = serde_json::json!({ "a": [1.5, { "b": null }], "\u{202e}": "12" });
        document.set("theirs", &Value::of_json(data.clone()));
        let laid_out = "  \"theirs\": {\n    \"a\": [\n      1.5,\n      {\n        \"b\": null\n      }\n    ],\n    \"\\u202E\": \"12\"\n  },\n";
        let text = String::from_utf8(document.to_bytes()).unwrap();
        assert!(text.contains(laid_out), "{text}");
        let back = Json::parse(&["theirs"], text.as_bytes()).unwrap();
        assert_eq!(back.get("theirs"), Some(Value::Data(data)));
        assert!(
            matches!(parse(&text).get("theirs"), Some(Value::Text(_))),
            "what nobody declared stays as it is"
        );
    }

    #[test]
    fn declared_keys_come_first_in_their_order_and_the_others_keep_theirs() {
        let mut document = Json::parse(
            &[],
            b"{\"z\": 1.50, \"b\": 2, \"y\": {\"c\": null}, \"a\": null}",
        )
        .unwrap();
        let declared = ["a", "b", "c"].map(|name| (name.to_owned(), Value::Null));
        document.put_first(&declared);
        let whole = "{\n  \"a\": null,\n  \"b\": 2,\n  \"z\": 1.50,\n  \"y\": {\"c\": null}\n}\n";
        assert_eq!(String::from_utf8(document.to_bytes()).unwrap(), whole);
    }

    #[test]
    fn what_nobody_set_stays_byte_for_byte() {
        let mut document = parse(DOCUMENT);
        assert_eq!(document.to_bytes(), DOCUMENT.as_bytes());
        assert_eq!(document.get("topic"), Some(Value::Null));
        assert_eq!(document.get("round"), Some(Value::Count(2)));
        assert_eq!(document.get("all"), Some(Value::List(vec!["x".into()])));
        document.set("round", &Value::Count(3));
        document.set("topic", &Value::Text("it's \"it\"\n".into()));
        document.set("added", &Value::Flag(true));
        document.remove("all");
        let changed = DOCUMENT
            .replace("\"round\": 2", "\"round\": 3")
            .replace("null", "\"it's \\\"it\\\"\\n\"")
            .replace("\"all\": [\n    \"x\"\n  ]", "\"added\": true");
        assert_eq!(String::from_utf8(document.to_bytes()).unwrap(), changed);
        let theirs = "{\"phase\":\"a\" , \"n\":1e3}";
        let mut document = parse(theirs);
        assert_eq!(document.to_bytes(), theirs.as_bytes(), "nothing was set");
        document.set("phase", &Value::Word("b".into()));
        assert_eq!(
            document.to_bytes(),
            b"{\n  \"phase\": \"b\",\n  \"n\": 1e3\n}\n"
        );
        let empty = Json::default();
        assert_eq!(
            parse(&String::from_utf8(empty.to_bytes()).unwrap()).fields(),
            []
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in [
            "",
            "[]",
            "1",
            "{",
            "{}x",
            "{\"a\":1,\"a\":2}",
            "{\"a\":}",
            "\u{feff}{}",
            "{\"a\":01}",
        ] {
            assert!(Json::parse(&[], text.as_bytes()).is_err(), "{text}");
        }
        let deep = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::parse(&[], deep(DEEPEST - 1).as_bytes()).is_ok());
        assert_eq!(
            Json::parse(&[], deep(DEEPEST).as_bytes()).unwrap_err(),
            DocumentError::NotObject
        );
        let many = format!("{{\"a\":[{}1]}}", "1,".repeat(MOST_VALUES));
        assert_eq!(
            Json::parse(&[], many.as_bytes()).unwrap_err(),
            DocumentError::NotObject
        );
    }

    proptest! {
        #[test]
        fn any_text_and_any_list_round_trips(text in any::<String>(), list in proptest::collection::vec(any::<String>(), 0..4)) {
            let mut document = parse(DOCUMENT);
            document.set("topic", &Value::Text(text.clone()));
            document.set("all", &Value::List(list.clone()));
            let back = Json::parse(&[], &document.to_bytes()).unwrap();
            prop_assert_eq!(back.get("topic"), Some(Value::Text(text)));
            prop_assert_eq!(back.get("all"), Some(Value::List(list)));
            prop_assert_eq!(back.fields(), document.fields());
            prop_assert_eq!(back.to_bytes(), document.to_bytes());
        }

        #[test]
        fn any_bytes_are_read_or_refused_and_come_back_unchanged(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(document) = Json::parse(&[], &bytes) {
                prop_assert_eq!(document.to_bytes(), bytes);
            }
        }
    }
}
