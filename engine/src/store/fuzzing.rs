//! What holds of every document and of every journal, whatever its bytes.

use super::document::is_field_name;
use super::entry::Entry;
use super::spec::Form;
use super::value::Value;

/// The forms of a document. Each is given the same bytes.
const FORMS: [Form; 5] = [
    Form::Lines,
    Form::Json(&[]),
    Form::Frontmatter(&[], &[]),
    Form::Json(&["a"]),
    Form::Frontmatter(&[], &["a"]),
];

/// Returns the fields that hold data.
fn data_of(form: Form) -> &'static [&'static str] {
    match form {
        Form::Lines => &[],
        Form::Json(data) | Form::Frontmatter(_, data) => data,
    }
}

/// A document comes back as it was; a field that is set or taken away is, and no other one changes.
pub fn document(bytes: &[u8]) {
    let end = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(64)..]).into_owned();
    let values = [
        Value::Count(7),
        Value::Text(end.clone()),
        Value::Word(end.clone()),
        Value::List(vec![end.clone()]),
        Value::Data(serde_json::json!({ "k": [end, 1.5], "l": { "m": null } })),
    ];
    for form in FORMS {
        let Ok(document) = form.parse(bytes) else {
            continue;
        };
        assert_eq!(document.to_bytes(), bytes, "{form:?}");
        assert_eq!(document.check(), Ok(()), "{form:?}");
        let fields = document.fields();
        let names = fields
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| is_field_name(name));
        for name in names.take(3).chain(["unheard_of", "a"]) {
            for value in values.iter().map(Some).chain([None]) {
                if matches!(value, Some(Value::Data(_))) && !data_of(form).contains(&name) {
                    continue;
                }
                // Without a field it is none any more.
                if value.is_none() && fields.len() < 2 {
                    continue;
                }
                let mut changed = document.clone();
                match value {
                    Some(value) => changed.set(name, value),
                    None => changed.remove(name),
                }
                // A list that is given as text is a list where one stands.
                let is_list = |value: &Value| {
                    let stands = document
                        .get(name)
                        .is_some_and(|stands| stands.as_list().is_some());
                    stands && serde_json::from_str::<Vec<String>>(&value.to_plain()).is_ok()
                };
                if value.is_some_and(is_list) {
                    continue;
                }
                // What could not be read again is not written.
                if changed.check().is_err() {
                    continue;
                }
                let written = changed.to_bytes();
                let shown = || {
                    format!(
                        "{form:?}, {name}, {value:?}: {:?}",
                        String::from_utf8_lossy(&written)
                    )
                };
                let again = form
                    .parse(&written)
                    .unwrap_or_else(|error| panic!("{error}: {}", shown()));
                let plain = |value: &Value| {
                    (
                        value.to_plain().into_owned(),
                        value.as_list().map(<[_]>::to_vec),
                    )
                };
                assert_eq!(
                    again.get(name).as_ref().map(plain),
                    value.map(plain),
                    "{}",
                    shown()
                );
                let others = |fields: Vec<(String, Value)>| -> Vec<_> {
                    fields
                        .into_iter()
                        .filter(|(field, _)| field != name)
                        .collect()
                };
                assert_eq!(
                    others(again.fields()),
                    others(document.fields()),
                    "{}",
                    shown()
                );
            }
        }
    }
}

/// A line of a journal is read or refused, and an entry is written as it is read.
pub fn journal(bytes: &[u8]) {
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let json = super::seal::split(line).map_or(line, |(json, _)| json);
        let Some(entry) = Entry::parse(json) else {
            continue;
        };
        let written = serde_json::to_vec(&entry).expect("JSON");
        let again = Entry::parse(&written)
            .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&written)));
        assert_eq!(serde_json::to_vec(&again).expect("JSON"), written);
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::*;

    fn replay(name: &str, target: fn(&[u8])) {
        let corpus = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../fuzz/corpus")
            .join(name);
        let files: Vec<_> = corpus.read_dir_utf8().unwrap().collect();
        assert!(!files.is_empty(), "{name}");
        for file in files {
            target(&std::fs::read(file.unwrap().path()).unwrap());
        }
    }

    #[test]
    fn inputs_that_a_fuzzer_found_stay_right() {
        replay("document", document);
        replay("journal", journal);
    }
}
