//! `[fields]`: what the state document keeps, in the order of the file.

use std::collections::HashSet;

use super::read::{Key, Keys, Reader, Value};
use super::{MOST_FIELDS, key_name, section, too_many};
use crate::diagnostic::Diagnostic;
use crate::format;
use crate::model::{At, AtStart, Field, FieldKind, Held};

pub(super) fn fields(reader: &mut Reader<'_>, keys: &Keys<'_>) -> Vec<Field> {
    let entries = section(reader, keys, "fields", "[fields]");
    if let Some((key, _)) = entries.get(MOST_FIELDS) {
        too_many(reader, key.span(), "fields", entries.len(), MOST_FIELDS);
    }
    entries
        .into_iter()
        .map(|(key, value)| field(reader, key, value))
        .collect()
}

fn field(reader: &mut Reader<'_>, key: Key<'_>, value: Value<'_>) -> Field {
    let name = key_name(reader, "a field", key);
    let (kind, at_start, doc) = (FieldKind::Text, AtStart::Never, String::new());
    let mut field = Field {
        name,
        kind,
        initial: None,
        null: None,
        at_start,
        key: None,
        range: (None, None),
        within: None,
        doc,
    };
    let Some(table) = reader.table(&field.name.value, value) else {
        return field;
    };
    let keys = reader.known(table, &format::FIELD);
    field.doc = reader.doc(&keys);
    let kinds: Vec<_> = format::FIELD_KINDS
        .into_iter()
        .filter_map(|key| Some((key, keys.get(key)?)))
        .collect();
    match kinds.as_slice() {
        [] => {
            let what = format!("the field `{}`", field.name.value);
            reader.missing(field.name.span.clone(), "type", &what, "type = \"count\"");
        }
        [("type", (_, value))] => field.kind = plain(reader, value).unwrap_or(FieldKind::Text),
        [("one_of", (_, value))] => field.kind = FieldKind::OneOf(words(reader, value)),
        [("data", (_, value))] => field.kind = data(reader, value).unwrap_or(FieldKind::Text),
        [(_, (_, value))] => field.kind = held(reader, value).unwrap_or(FieldKind::Text),
        [(first, _), (second, (key, _)), ..] => {
            let message = format!("`{}` has both `{first}` and `{second}`", field.name.value);
            let found = Diagnostic::new("claudex::machine::field_kind", key.span(), message);
            reader.note(found.help("a field has one of `type`, `one_of`, `data` and `holds`"));
        }
    }
    let mut constant = |key: &str| reader.constant(key, keys.value(key)?);
    (field.initial, field.null) = (constant("initial"), constant("null"));
    field.key = keys
        .value("key")
        .and_then(|value| reader.string("key", value));
    let mut count = |name: &str| reader.count(name, keys.value(name)?);
    field.range = (count("min"), count("max"));
    field.within = keys.value("in").map(|value| reader.strings("in", value));
    if let Some(text) = keys
        .value("at_start")
        .and_then(|value| reader.string("at_start", value))
    {
        field.at_start = reader
            .choice("at_start", &text, &AtStart::ALL)
            .map_or(AtStart::Never, |word| word.value);
    }
    for (kind, without, is) in format::WITHOUT {
        let given = without.iter().filter(|_| keys.get(kind).is_some());
        for (name, (key, _)) in given.filter_map(|name| Some((name, keys.get(name)?))) {
            let message = format!("`{}` {is}: it has no `{name}`", field.name.value);
            let found = Diagnostic::new("claudex::machine::held_field", key.span(), message);
            reader.note(found.help(format!("leave `{name}` out")));
        }
    }
    field
}

fn plain(reader: &mut Reader<'_>, value: Value<'_>) -> Option<FieldKind> {
    let text = reader.string("type", value)?;
    Some(reader.choice("type", &text, &FieldKind::PLAIN)?.value)
}

fn data(reader: &mut Reader<'_>, value: Value<'_>) -> Option<FieldKind> {
    let text = reader.string("data", value)?;
    let mut bytes = text.value.bytes();
    if !bytes.next().is_some_and(|first| first.is_ascii_uppercase())
        || !bytes.all(|byte| byte.is_ascii_alphanumeric())
        || text.value == "Self"
    {
        let message = format!("{:?} cannot be the name of a Rust type", text.value);
        let found = Diagnostic::new("claudex::machine::bad_name", text.span, message);
        reader.note(found.help("name a type that is in scope where `machine!` stands: `Decisions`; for one with parameters, make an alias"));
        return None;
    }
    Some(FieldKind::Data(text.value))
}

fn held(reader: &mut Reader<'_>, value: Value<'_>) -> Option<FieldKind> {
    let text = reader.string("holds", value)?;
    Some(FieldKind::Held(
        reader.choice("holds", &text, &Held::ALL)?.value,
    ))
}

pub(super) fn words(reader: &mut Reader<'_>, value: Value<'_>) -> Vec<At<String>> {
    let Some(items) = value.get_ref().as_array() else {
        reader.wrong_type("one_of", value, "a list of words");
        return Vec::new();
    };
    if items.is_empty() {
        let found = Diagnostic::new(
            "claudex::machine::empty_list",
            value.span(),
            "`one_of` is an empty list",
        );
        reader.note(found.help("name at least the initial word"));
    }
    let (mut words, mut seen) = (Vec::new(), HashSet::new());
    for item in items.iter() {
        let Some(word) = reader.string("one_of", item) else {
            continue;
        };
        let allowed = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_')
        };
        if word.value.is_empty() || word.value.len() > 64 || !word.value.bytes().all(allowed) {
            let message = format!("{:?} cannot be a word of `one_of`", word.value);
            let found = Diagnostic::new("claudex::machine::bad_name", word.span.clone(), message);
            reader.note(
                found.help("a word is a-z, 0-9, - and _, at most 64 characters: `max-reached`"),
            );
        }
        if seen.insert(word.value.clone()) {
            words.push(word);
        } else {
            let message = format!("`{}` stands in `one_of` twice", word.value);
            reader.note(
                Diagnostic::new("claudex::machine::named_twice", word.span, message)
                    .help("leave one of them out"),
            );
        }
    }
    words
}
