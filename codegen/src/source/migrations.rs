//! `[[migrations]]`: how loops of earlier versions of the machine go on with this one.

use toml::de::{DeTable, DeValue};

use super::read::{Key, Keys, Reader, Value, in_order, kind_of};
use super::{key_name, time, too_many};
use crate::diagnostic::Diagnostic;
use crate::format;
use crate::model::{At, Field, Migration};

/// The most entries.
const MOST_MIGRATIONS: usize = 128;

pub(super) fn migrations(
    reader: &mut Reader<'_>,
    keys: &Keys<'_>,
    fields: &[Field],
) -> Vec<Migration> {
    let Some((key, value)) = keys.get("migrations") else {
        return Vec::new();
    };
    let DeValue::Array(entries) = value.get_ref() else {
        let message = format!(
            "`migrations` is a list of entries, not {}",
            kind_of(value.get_ref())
        );
        let found = Diagnostic::new("claudex::machine::wrong_type", key.span(), message);
        reader.note(found.help("write `[[migrations]]`, with two brackets"));
        return Vec::new();
    };
    if entries.len() > MOST_MIGRATIONS {
        too_many(
            reader,
            key.span(),
            "migrations",
            entries.len(),
            MOST_MIGRATIONS,
        );
        return Vec::new();
    }
    let mut migrations = Vec::new();
    for entry in entries.iter() {
        if let Some(table) = reader.table("migrations", entry) {
            migrations.push(migration(reader, table, entry, fields));
        }
    }
    migrations
}

fn migration(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    entry: Value<'_>,
    known: &[Field],
) -> Migration {
    let keys = reader.known(table, &format::MIGRATION);
    let from = match keys.value("from") {
        Some(value) => reader.strings("from", value),
        None => {
            let example = "from = \"0a1b2c3d4e5f6071\"";
            reader.missing(entry.span(), "from", "the migration", example);
            Vec::new()
        }
    };
    for hash in &from {
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if hash.value.len() != 16 || !hash.value.bytes().all(digit) {
            let message = format!("{:?} is no graph hash", hash.value);
            let found = Diagnostic::new("claudex::machine::migration", hash.span.clone(), message);
            reader.note(found.help(
                "a graph hash is 16 of 0-9 and a-f: `claudex-loop machine diff OLD NEW` prints it",
            ));
        }
    }
    let doc = reader.doc(&keys);
    let phases = names(reader, &keys, "phases", "a phase");
    let fields = names(reader, &keys, "fields", "a field");
    let words = match keys
        .value("words")
        .and_then(|value| reader.table("words", value))
    {
        Some(table) => in_order(table)
            .into_iter()
            .filter_map(|(key, value)| {
                let field = key_name(reader, "a field", key);
                let words = reader.table(&field.value, value)?;
                Some((field, pairs(reader, words)))
            })
            .collect(),
        None => Vec::new(),
    };
    let set = match keys
        .value("set")
        .and_then(|value| reader.table("set", value))
    {
        Some(table) => in_order(table)
            .into_iter()
            .filter_map(|(key, value)| {
                let field = key_name(reader, "a field", key);
                let At { value, span } = reader.constant(&field.value, value)?;
                let kind = known.iter().find(|one| one.name.value == field.value);
                let value = time::for_field(kind.map(|one| &one.kind), value);
                Some((field, At::new(value, span)))
            })
            .collect(),
        None => Vec::new(),
    };
    Migration {
        from,
        doc,
        phases,
        fields,
        words,
        set,
        span: entry.span(),
    }
}

/// `{ old = "new" }` of names.
fn names(
    reader: &mut Reader<'_>,
    keys: &Keys<'_>,
    key: &str,
    what: &str,
) -> Vec<(At<String>, At<String>)> {
    let Some(table) = keys.value(key).and_then(|value| reader.table(key, value)) else {
        return Vec::new();
    };
    let pairs = pairs(reader, table);
    let named = pairs.into_iter();
    named
        .map(|(old, new)| (reader.name(what, old), reader.name(what, new)))
        .collect()
}

/// `{ old = "new" }` of any words.
fn pairs(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Vec<(At<String>, At<String>)> {
    let mut pairs = Vec::new();
    for (key, value) in in_order(table) {
        if let Some(new) = reader.string(key.get_ref(), value) {
            pairs.push((as_written(key), new));
        }
    }
    pairs
}

fn as_written(key: Key<'_>) -> At<String> {
    At::new(key.get_ref().clone().into_owned(), key.span())
}
