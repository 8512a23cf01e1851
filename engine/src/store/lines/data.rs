//! Data below a key: maps and lists of a machine's own, whatever their depth. A map is edited key by key, so that comments and the order
//! of what stays are kept; a list is written anew as a whole, an item a line.

use serde_json::Value as Json;

use super::super::document::is_field_name;
use super::super::scalar;
use super::super::value::{Value, shown};
use super::{Lines, right_of_colon};

/// Limits how deep keys are written below keys, some fewer than are read.
const MOST_ABOVE: usize = 6;

impl Lines {
    /// Returns all that stands below a key.
    pub(in super::super) fn data(&self, field: &str) -> Option<Json> {
        let at = self.find(field)?;
        let last = self.entries.iter().rposition(|entry| entry.is_below(field));
        let lines = self.entries[at..=last.unwrap_or(at)].iter();
        let text: String = lines.map(|entry| entry.raw.as_str()).collect();
        let read: serde_yaml::Mapping = serde_yaml::from_str(&text).ok()?;
        let (_, value) = read.into_iter().next()?;
        serde_json::to_value(value).ok()
    }

    /// Has this stand below a key. What reads the same stays as it is.
    pub(in super::super) fn set_data(&mut self, field: &str, data: &Json) {
        if self.data(field).as_ref() == Some(data) {
            return;
        }
        match data {
            Json::Object(map)
                if !map.is_empty()
                    && map.keys().all(|key| is_field_name(key))
                    && field.matches('.').count() < MOST_ABOVE =>
            {
                // Below a value of one line there is no key to keep.
                let is_map = matches!(self.data(field), Some(Json::Object(_)));
                let is_of_lines = self.entries.iter().any(|entry| entry.is_below(field));
                if !(is_map && is_of_lines) {
                    self.write(field, "", None);
                }
                let gone: Vec<String> = self
                    .keys_below(field)
                    .filter(|key| !map.contains_key(*key))
                    .map(str::to_owned)
                    .collect();
                for (key, value) in map {
                    self.set_data(&format!("{field}.{key}"), value);
                }
                for key in gone {
                    super::Document::remove(self, &format!("{field}.{key}"));
                }
            }
            Json::Array(items) if items.iter().any(|item| !item.is_string()) => {
                let at = self.find(field).map(|at| self.entries[at].indent());
                let indent = at.unwrap_or(2 * field.matches('.').count()) + 2;
                let ending = if self.crlf { "\r\n" } else { "\n" };
                let items = items
                    .iter()
                    .map(|item| format!("{ending}{:indent$}- {}", "", shown(&item.to_string())));
                self.write(field, &items.collect::<String>(), None);
            }
            other => {
                let value = Value::of_json(other.clone());
                let at = self.find(field);
                let is_quoted = at.is_some_and(|at| {
                    right_of_colon(&self.entries[at].raw).starts_with(['"', '\''])
                });
                let written = scalar::write(&value, is_quoted && other.is_string());
                self.write(field, &written, Some(value));
            }
        }
    }

    /// Writes what stands right of a key's colon, and takes away what stood below it.
    fn write(&mut self, field: &str, right: &str, value: Option<Value>) {
        match self.find(field) {
            Some(at) => {
                self.entries.retain(|entry| !entry.is_below(field));
                self.put(at, field, right, value);
            }
            None => self.add(field, right, value),
        }
    }

    fn keys_below(&self, field: &str) -> impl Iterator<Item = &str> {
        let names = self.entries.iter().filter_map(|entry| entry.name());
        names
            .filter_map(move |name| name.strip_prefix(field)?.strip_prefix('.'))
            .filter(|name| !name.contains('.'))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::super::document::Document;
    use super::super::super::frontmatter::Frontmatter;
    use super::*;

    const DATA: &[&str] = &["stages", "rounds"];
    const DOCUMENT: &str = "---\n# theirs\nround: 2\nstages: # by stage\n  setup:\n    # done by hand\n    status: completed   # yes\n    their: \"1\"\n\n  research: {status: pending}\nrounds:\n  - round_number: 1 # the first\n    mode: standard\nlast: x\n---\nText\n";

    fn parse(text: &str) -> Frontmatter {
        Frontmatter::parse(&[], DATA, text.as_bytes())
            .unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn text(document: &Frontmatter) -> String {
        String::from_utf8(document.to_bytes()).unwrap()
    }

    fn set(document: &mut Frontmatter, field: &str, data: Json) -> String {
        document.set(field, &Value::of_json(data));
        text(document)
    }

    #[test]
    fn a_map_is_read_as_a_whole_and_edited_key_by_key() {
        let mut document = parse(DOCUMENT);
        let stages = document.get("stages").unwrap().to_json();
        let expected = json!({ "setup": { "status": "completed", "their": "1" }, "research": { "status": "pending" } });
        assert_eq!(stages, expected);
        assert_eq!(
            set(&mut document, "stages", expected.clone()),
            DOCUMENT,
            "what reads the same stays"
        );
        let mut changed = expected.clone();
        changed["setup"]["status"] = "failed".into();
        changed["setup"]["their"] = 2.into();
        changed["research"] =
            json!({ "gaps": 0, "score": 14.5, "modes": ["a", "b"], "left": null, "no": {} });
        let written = set(&mut document, "stages", changed.clone());
        let stages = "stages: # by stage\n  setup:\n    # done by hand\n    status: failed   # yes\n    their: 2\n\n  research:\n    gaps: 0\n    score: 14.5\n    modes: [\"a\", \"b\"]\n    left: null\n    no: {}\n";
        let (before, behind) = (
            DOCUMENT.find("stages").unwrap(),
            DOCUMENT.find("rounds").unwrap(),
        );
        assert_eq!(
            written,
            [&DOCUMENT[..before], stages, &DOCUMENT[behind..]].concat()
        );
        assert_eq!(parse(&written).get("stages").unwrap().to_json(), changed);
        let written = set(&mut document, "stages", json!({ "setup": { "their": 2 } }));
        assert!(
            written.contains(
                "stages: # by stage\n  setup:\n    # done by hand\n    their: 2\n\nrounds:"
            ),
            "{written}"
        );
    }

    #[test]
    fn a_list_has_an_item_a_line() {
        let mut document = parse(DOCUMENT);
        assert_eq!(
            document.get("rounds").unwrap().to_json(),
            json!([{ "round_number": 1, "mode": "standard" }])
        );
        let written = set(
            &mut document,
            "rounds",
            json!([{ "round_number": 1 }, { "why": "a: \"b\"\n\u{202e}" }]),
        );
        let rounds = "rounds:\n  - {\"round_number\":1}\n  - {\"why\":\"a: \\\"b\\\"\\n\\u202E\"}\nlast: x\n";
        assert!(written.contains(rounds), "{written}");
        assert_eq!(parse(&written).get("rounds"), document.get("rounds"));
        assert_eq!(parse(&written).get("last"), Some(Value::Word("x".into())));
        let crlf = DOCUMENT.replace('\n', "\r\n");
        let written = set(&mut parse(&crlf), "rounds", json!([1.5]));
        assert!(
            written.contains("rounds:\r\n  - 1.5\r\nlast"),
            "{written:?}"
        );
    }

    #[test]
    fn the_fields_have_each_data_once_and_as_a_whole() {
        let names: Vec<_> = parse(DOCUMENT)
            .fields()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["round", "last", "stages", "rounds"]);
    }

    fn any_data() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<u32>().prop_map(Json::from),
            any::<i16>().prop_map(|number| Json::from(f64::from(number) / 4.0)),
            "[a-z0-9:# \"'{\\[\\]}|>\\\\\n\t\u{202e}é-]{0,6}".prop_map(Json::from),
        ];
        leaf.prop_recursive(5, 24, 4, |inner| {
            let key = prop_oneof!["[ab]", "[ab. :'-]{0,3}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                prop::collection::vec((key, inner), 0..4)
                    .prop_map(|entries| Json::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_data_reads_back_and_leaves_the_rest(all in prop::collection::vec((any::<bool>(), any_data()), 1..4)) {
            let mut document = parse(DOCUMENT);
            for (first, data) in all {
                let (field, other) = if first { ("stages", "rounds") } else { ("rounds", "stages") };
                let kept = document.get(other);
                let written = set(&mut document, field, data.clone());
                let back = parse(&written);
                for document in [&document, &back] {
                    prop_assert_eq!(document.get(field).map(|value| value.to_json()), Some(data.clone()), "{}", written);
                    prop_assert_eq!(document.get(other), kept.clone(), "{}", written);
                    prop_assert_eq!(document.get("last"), Some(Value::Word("x".into())), "{}", written);
                }
                prop_assert!(written.contains("# theirs\n") && written.ends_with("---\nText\n"));
                prop_assert_eq!(back.to_bytes(), document.to_bytes());
            }
        }
    }
}
