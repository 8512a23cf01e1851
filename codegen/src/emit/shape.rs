//! The shape of a machine: everything that the meaning of a state document depends on, as canonical JSON. Its digest is
//! the machine's graph hash, and the engine keeps it beside the loops, so that a later version can tell what they mean.
//!
//! No docs, messages, meta or line numbers: what changes none of the documents' meaning must not change the hash. The
//! same machine gives the same bytes: keys in the order below, no optional white space but a line for each element.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::{document, owned, placed};
use crate::model::{
    Actor, ArgumentKind, AtStart, Constant, Edge, Evidence, Field, FieldKind, Form, Held, IdForm,
    Machine, Migration, guard_text, time, update_text, word_of,
};

/// The version of the shape's own form. The engine reads no other.
const SHAPE: &str = "1";

/// The machine's shape.
pub(crate) fn shape(machine: &Machine) -> String {
    let state = &machine.state;
    // Where a field stands is part of how its document is read.
    let keys = placed(machine).map(|(name, key)| format!(" {name}={key}"));
    let form = match state.form.value {
        Form::Lines => "lines".to_owned(),
        Form::Json => "json".to_owned(),
        Form::Frontmatter => keys.fold("frontmatter".to_owned(), |form, key| form + &key),
    };
    let ids = match state.ids.value {
        IdForm::Stamp => "stamp",
        IdForm::Name => "name",
    };
    let owned = owned(machine);
    let phases = machine.phases.iter().map(|phase| {
        let stored = phase.stored.as_ref().unwrap_or(&phase.name);
        object([
            ("name", string(&phase.name.value)),
            ("stored", string(&stored.value)),
            ("terminal", phase.terminal.to_string()),
        ])
    });
    object([
        ("shape", SHAPE.to_owned()),
        ("machine", string(&machine.name.value)),
        (
            "state",
            object(
                [
                    ("folder", string(&state.folder.value)),
                    ("extension", string(&state.extension.value)),
                    ("form", string(&form)),
                    ("ids", string(ids)),
                ]
                .into_iter()
                .chain(document(machine).map(|file| ("file", string(&file)))),
            ),
        ),
        (
            "fields",
            lines(
                machine
                    .fields
                    .iter()
                    .map(|one| field(machine, one, owned.contains(&one.name.value))),
            ),
        ),
        ("phases", lines(phases)),
        (
            "edges",
            lines(machine.edges().iter().map(|one| edge(machine, one))),
        ),
    ])
}

/// The digest of a shape: the machine's graph hash, 16 hex digits.
pub(crate) fn graph_hash(shape: &str) -> String {
    let digest = Sha256::digest(shape.as_bytes());
    digest.iter().take(8).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The machine's `[[migrations]]` as JSON, in their order.
pub(crate) fn migrations(machine: &Machine) -> String {
    if machine.migrations.is_empty() {
        return String::new();
    }
    lines(machine.migrations.iter().map(migration))
}

fn field(machine: &Machine, field: &Field, owned: bool) -> String {
    let mut parts = vec![
        ("name", string(&field.name.value)),
        ("kind", string(kind(&field.kind))),
    ];
    match &field.kind {
        FieldKind::OneOf(words) => {
            parts.push(("words", array(words.iter().map(|word| string(&word.value)))))
        }
        FieldKind::Held(held) => {
            let word = Held::ALL.iter().find(|(_, known)| known == held);
            parts.push(("holds", string(word.map_or("", |(word, _)| word))));
        }
        _ => {}
    }
    parts.extend(
        field
            .initial()
            .map(|initial| ("initial", constant(&initial))),
    );
    parts.extend(
        field
            .null(machine)
            .map(|(_, null)| ("null", constant(&null))),
    );
    match field.at_start {
        AtStart::Never => {}
        AtStart::Optional => parts.push(("at_start", string("optional"))),
        AtStart::Required => parts.push(("at_start", string("required"))),
    }
    if let Some(within) = &field.within {
        parts.push(("in", array(within.iter().map(|phase| string(&phase.value)))));
    }
    if owned {
        parts.push(("owned", "true".to_owned()));
    }
    object(parts)
}

fn kind(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Count => "count",
        FieldKind::Text => "text",
        FieldKind::Path => "path",
        FieldKind::Flag => "flag",
        FieldKind::Time => "time",
        FieldKind::Id => "id",
        FieldKind::List => "list",
        FieldKind::OneOf(_) => "one_of",
        FieldKind::Data(_) => "data",
        FieldKind::Held(_) => "held",
    }
}

fn edge(machine: &Machine, edge: &Edge<'_>) -> String {
    let declared = edge.declared;
    let phase = |at: usize| string(&machine.phases[at].name.value);
    let mut parts = vec![
        ("transition", string(&declared.name.value)),
        ("from", phase(edge.from)),
        ("to", phase(edge.to)),
    ];
    if let Some(guard) = &declared.when {
        parts.push(("when", string(&guard_text(&guard.value))));
    }
    match declared.requires.as_ref().map(|evidence| evidence.value) {
        None => {}
        Some(Evidence::Reviewed) => parts.push(("requires", string("reviewed"))),
        Some(Evidence::Settled) => parts.push(("requires", string("settled"))),
        Some(Evidence::Verified) => parts.push(("requires", string("verified"))),
    }
    if !declared.by.is_empty() {
        let by = declared.by.iter().map(|actor| match actor.value {
            Actor::Agent => string("agent"),
            Actor::Person => string("person"),
        });
        parts.push(("by", array(by)));
    }
    if !declared.args.is_empty() {
        let args = declared.args.iter().map(|argument| {
            let kind = match &argument.kind.value {
                ArgumentKind::OneOf(words) => words.join(" | "),
                plain => word_of(&ArgumentKind::PLAIN, plain).to_owned(),
            };
            let optional = if argument.optional { ", optional" } else { "" };
            (
                argument.name.value.as_str(),
                string(&format!("{kind}{optional}")),
            )
        });
        parts.push(("args", object(args)));
    }
    if !declared.set.is_empty() {
        let set = declared.set.iter();
        parts.push((
            "set",
            object(
                set.map(|(name, update)| {
                    (name.value.as_str(), string(&update_text(&update.value)))
                }),
            ),
        ));
    }
    object(parts)
}

fn migration(migration: &Migration) -> String {
    let pairs = |pairs: &[(crate::model::At<String>, crate::model::At<String>)]| {
        object(
            pairs
                .iter()
                .map(|(old, new)| (old.value.as_str(), string(&new.value))),
        )
    };
    let words = migration
        .words
        .iter()
        .map(|(field, words)| (field.value.as_str(), pairs(words)));
    let set = migration.set.iter();
    object([
        (
            "from",
            array(migration.from.iter().map(|hash| string(&hash.value))),
        ),
        ("phases", pairs(&migration.phases)),
        ("fields", pairs(&migration.fields)),
        ("words", object(words)),
        (
            "set",
            object(set.map(|(name, value)| (name.value.as_str(), constant(&value.value)))),
        ),
    ])
}

fn constant(constant: &Constant) -> String {
    match constant {
        Constant::Count(count) => count.to_string(),
        Constant::Text(text) => string(text),
        Constant::Flag(flag) => flag.to_string(),
        Constant::Time(0) => "null".to_owned(),
        Constant::Time(seconds) => string(&time::shown(*seconds)),
        Constant::List(texts) => array(texts.iter().map(|text| string(text))),
    }
}

/// A JSON string.
fn string(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            ' '..='~' => json.push(character),
            // Nothing in the file turns a terminal's text around.
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    let _ = write!(json, "\\u{unit:04x}");
                }
            }
        }
    }
    json.push('"');
    json
}

fn array(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!("[{}]", items.join(","))
}

/// An array with each element on a line of its own: people read it, too.
fn lines(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!("[\n{}\n]", items.join(",\n"))
}

fn object<'k>(parts: impl IntoIterator<Item = (&'k str, String)>) -> String {
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(key, value)| format!("{}:{value}", string(key)))
        .collect();
    format!("{{{}}}", parts.join(","))
}
