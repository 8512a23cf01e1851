//! Properties of every document and every journal, whatever its bytes.

use serde_json::{Value as Json, json};

use crate::store::document::{Document, is_field_name};
use crate::store::entry::Entry;
use crate::store::spec::Form;
use crate::store::value::{FieldValue as _, Fields};

/// The forms of a document. Each is given the same bytes.
const FORMS: [Form; 3] = [
    Form::Lines,
    Form::Json,
    Form::Frontmatter(&[("b", "loop.b")]),
];

/// Checks a document in each form: a field that is set has its value, and no other one changes.
///
/// A document of lines comes back as it was. One of another form has the same fields when it is read again.
pub fn document(bytes: &[u8]) {
    let end = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(64)..]).into_owned();
    let values = [
        json!(7),
        json!(end),
        json!([end]),
        json!({ "k": [end, 1.5], "l": { "m": null } }),
    ];
    for form in FORMS {
        let Ok(document) = form.parse(bytes) else {
            continue;
        };
        let fields = document.fields();
        if form == Form::Lines {
            assert_eq!(document.to_bytes(), bytes);
        }
        if let Some(again) = parse_again(form, &document) {
            assert_eq!(again.fields(), fields, "{form:?}");
        }
        let names = fields.keys().map(String::as_str);
        let names = names.filter(|name| is_field_name(name));
        for name in names.take(3).chain(["unheard_of", "a", "b"]) {
            for value in &values {
                check_set(form, &document, name, value);
            }
        }
    }
}

fn check_set(form: Form, document: &Document, name: &str, value: &Json) {
    let mut changed = document.clone();
    changed.set(name, value);
    let Some(again) = parse_again(form, &changed) else {
        return;
    };
    let shown = || format!("{form:?}, {name}, {value:?}: {changed:?}");
    let found = again.get(name).unwrap_or_else(|| panic!("{}", shown()));
    assert_eq!(found.to_plain(), value.to_plain(), "{}", shown());
    assert_eq!(others(&again, name), others(document, name), "{}", shown());
}

/// Reads a document as it is written, unless it is too large.
fn parse_again(form: Form, document: &Document) -> Option<Document> {
    let written = document.to_bytes();
    match form.parse(&written) {
        Ok(again) => Some(again),
        Err(error) if error.0.starts_with("has more than") => None,
        Err(error) => panic!("{error}: {}", String::from_utf8_lossy(&written)),
    }
}

fn others(document: &Document, name: &str) -> Fields {
    let mut fields = document.fields();
    // A field below `loop` takes the place of a value there.
    fields.retain(|field, _| field != name && field != "loop");
    fields
}

/// A line of a journal is read or refused, and an entry is written as it is read.
pub fn journal(bytes: &[u8]) {
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let json = crate::store::seal::split(line).map_or(line, |(json, _)| json);
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
