//! `[modes.*]` and `[phases.*]` with what a stop does in them.

use super::read::{Key, Keys, Reader, Value, in_order};
use super::{MOST_PHASES, flag, key_name, section, too_many};
use crate::catalogue::{self, CATALOGUE};
use crate::diagnostic::{self, Diagnostic};
use crate::model::{At, Behaviour, Field, Mode, Phase};

pub(super) fn modes(reader: &mut Reader<'_>, keys: &Keys<'_>, fields: &[Field]) -> Vec<Mode> {
    let entries = section(reader, keys, "modes", "[modes.plan]");
    if let Some((key, _)) = entries.get(MOST_PHASES) {
        too_many(reader, key.span(), "modes", entries.len(), MOST_PHASES);
    }
    entries
        .into_iter()
        .take(MOST_PHASES)
        .filter_map(|(key, value)| mode(reader, key, value, fields))
        .collect()
}

fn mode(reader: &mut Reader<'_>, key: Key<'_>, value: Value<'_>, fields: &[Field]) -> Option<Mode> {
    let name = key_name(reader, "a mode", key);
    let table = reader.table(&name.value, value)?;
    let keys = reader.keys(table, "a mode", &["start", "initial", "doc"]);
    let doc = reader.doc(&keys);
    let start = match keys.value("start") {
        Some(value) => reader.string("start", value),
        None => {
            let what = format!("the mode `{}`", name.value);
            reader.missing(name.span.clone(), "start", &what, "start = \"drafting\"");
            None
        }
    };
    let mut initial = Vec::new();
    if let Some(table) = keys
        .value("initial")
        .and_then(|value| reader.table("initial", value))
    {
        for (key, value) in in_order(table) {
            let field = At::new(key.get_ref().clone().into_owned(), key.span());
            if let Some(mut constant) = reader.constant(&field.value, value) {
                let known = fields.iter().find(|known| known.name.value == field.value);
                constant.value = super::time::for_field(known.map(|known| &known.kind), constant.value);
                initial.push((field, constant));
            }
        }
    }
    Some(Mode {
        name,
        start: start?,
        initial,
        doc,
    })
}

pub(super) fn phases(reader: &mut Reader<'_>, keys: &Keys<'_>) -> Vec<Phase> {
    let entries = section(reader, keys, "phases", "[phases.drafting]");
    if let Some((key, _)) = entries.get(MOST_PHASES) {
        too_many(reader, key.span(), "phases", entries.len(), MOST_PHASES);
    }
    entries
        .into_iter()
        .map(|(key, value)| phase(reader, key, value))
        .collect()
}

fn phase(reader: &mut Reader<'_>, key: Key<'_>, value: Value<'_>) -> Phase {
    let name = key_name(reader, "a phase", key);
    let (stored, on_stop, message) = (None, None, None);
    let span = value.span();
    let mut phase = Phase {
        name,
        stored,
        doc: String::new(),
        terminal: false,
        on_stop,
        message,
        meta: "{}".to_owned(),
        span,
    };
    let Some(table) = reader.table(&phase.name.value, value) else {
        return phase;
    };
    let keys = reader.keys(
        table,
        "a phase",
        &["stored", "doc", "terminal", "on_stop", "message", "meta"],
    );
    phase.doc = reader.doc(&keys);
    phase.terminal = keys
        .value("terminal")
        .is_some_and(|value| flag(reader, "terminal", value));
    phase.on_stop = keys.value("on_stop").and_then(|value| behaviour(reader, value));
    if let Some(path) = keys
        .value("message")
        .and_then(|value| reader.string("message", value))
    {
        phase.message = Some(reader.relative("message", path, false));
    }
    if let Some(stored) = keys
        .value("stored")
        .and_then(|value| reader.string("stored", value))
    {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        let text = &stored.value;
        let fits = text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.len() <= 64
            && text.bytes().all(allowed);
        if !fits {
            let message = format!("`stored` cannot be {text:?}");
            let found = Diagnostic::new("claudex::machine::bad_name", stored.span.clone(), message);
            reader
                .note(found.help("it is a-z, then a-z, 0-9, _ and -, at most 64 characters: `plan-review`"));
        }
        phase.stored = Some(stored);
    }
    if let Some(meta) = keys.value("meta") {
        phase.meta = super::meta::json(reader, meta);
    }
    phase
}

fn behaviour(reader: &mut Reader<'_>, value: Value<'_>) -> Option<Behaviour> {
    let table = reader.table("on_stop", value)?;
    let known: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
    let entries = in_order(table);
    let (name, value) = match entries.as_slice() {
        [only] => *only,
        [] => {
            let found = Diagnostic::new(
                "claudex::machine::behaviour",
                value.span(),
                "`on_stop` names no behaviour",
            );
            let help = format!(
                "name one of {}; without `on_stop` the phase is written in Rust",
                diagnostic::list(&known)
            );
            reader.note(found.help(help));
            return None;
        }
        [_, (second, _), ..] => {
            let message = "`on_stop` names more than one behaviour";
            let found = Diagnostic::new("claudex::machine::behaviour", second.span(), message);
            reader.note(
                found
                    .label("a second one")
                    .help("keep one; what needs both is a phase written in Rust"),
            );
            return None;
        }
    };
    let Some(entry) = catalogue::find(name.get_ref()) else {
        let message = format!("there is no behaviour `{}`", name.get_ref());
        let found = Diagnostic::new("claudex::machine::unknown_behaviour", name.span(), message);
        let help = diagnostic::suggest(name.get_ref(), known.iter().copied()).unwrap_or_default();
        let help = if help.ends_with('?') {
            help
        } else {
            format!("{help}; without `on_stop` the phase is Rust's")
        };
        reader.note(found.help(help));
        return None;
    };
    let table = reader.table(entry.name, value)?;
    let outcomes = entry.outcomes.iter().map(|outcome| outcome.name);
    let known: Vec<&str> = entry
        .required
        .iter()
        .chain(entry.optional)
        .copied()
        .chain(outcomes)
        .collect();
    let what = format!("`{}`", entry.name);
    let keys = reader.keys(table, &what, &known);
    let mut parameters = Vec::new();
    for parameter in entry.required.iter().chain(entry.optional) {
        let Some((key, value)) = keys.get(parameter) else {
            if entry.required.contains(parameter) {
                reader.missing(name.span(), parameter, &what, &format!("{parameter} = \"...\""));
            }
            continue;
        };
        if let Some(value) = reader.string(parameter, value) {
            braces(reader, parameter, &value);
            parameters.push((At::new((*parameter).to_owned(), key.span()), value));
        }
    }
    let mut outcomes = Vec::new();
    for outcome in entry.outcomes {
        let named = keys
            .value(outcome.name)
            .map(|value| reader.strings(outcome.name, value));
        if named.is_none() && outcome.required {
            reader.missing(
                name.span(),
                outcome.name,
                &what,
                &format!("{} = \"transition\"", outcome.name),
            );
        }
        outcomes.push((outcome.name.to_owned(), named.unwrap_or_default()));
    }
    Some(Behaviour {
        name: At::new(entry.name.to_owned(), name.span()),
        parameters,
        outcomes,
    })
}

/// Notes braces that do not hold a field's name.
fn braces(reader: &mut Reader<'_>, parameter: &str, value: &At<String>) {
    if let Err(part) = super::template::interpolated(&value.value) {
        let message = format!("`{parameter}` has a brace that holds no field's name");
        let span = reader.inside(value, part);
        let found = Diagnostic::new("claudex::machine::braces", span, message);
        reader.note(found.help("write `{field}`; other braces cannot be written here"));
    }
}
