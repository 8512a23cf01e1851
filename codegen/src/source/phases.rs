//! `[modes.*]` and `[phases.*]` with what a stop does in them.

use super::behaviours::behaviour;
use super::read::{Key, Keys, Reader, Value, in_order};
use super::{MOST_PHASES, actors, flag, key_name, section, too_many};
use crate::diagnostic::Diagnostic;
use crate::format;
use crate::model::{At, Mode, Phase};

pub(super) fn modes(reader: &mut Reader<'_>, keys: &Keys<'_>) -> Vec<Mode> {
    let entries = section(reader, keys, "modes", "[modes.plan]");
    if let Some((key, _)) = entries.get(MOST_PHASES) {
        too_many(reader, key.span(), "modes", entries.len(), MOST_PHASES);
    }
    entries
        .into_iter()
        .take(MOST_PHASES)
        .filter_map(|(key, value)| mode(reader, key, value))
        .collect()
}

fn mode(reader: &mut Reader<'_>, key: Key<'_>, value: Value<'_>) -> Option<Mode> {
    let name = key_name(reader, "a mode", key);
    let table = reader.table(&name.value, value)?;
    let keys = reader.known(table, &format::MODE);
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
            if let Some(constant) = reader.constant(&field.value, value) {
                initial.push((field, constant));
            }
        }
    }
    let message = keys
        .value("message")
        .and_then(|value| reader.string("message", value))
        .map(|path| reader.relative("message", path, false));
    let by = actors(reader, &keys);
    Some(Mode {
        name,
        start: start?,
        initial,
        by,
        message,
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
        span,
    };
    let Some(table) = reader.table(&phase.name.value, value) else {
        return phase;
    };
    let keys = reader.known(table, &format::PHASE);
    phase.doc = reader.doc(&keys);
    phase.terminal = keys
        .value("terminal")
        .is_some_and(|value| flag(reader, "terminal", value));
    phase.on_stop = keys
        .value("on_stop")
        .and_then(|value| behaviour(reader, value));
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
        let allowed =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        let text = &stored.value;
        let fits = text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.len() <= 64
            && text.bytes().all(allowed);
        if !fits {
            let message = format!("`stored` cannot be {text:?}");
            let found = Diagnostic::new("claudex::machine::bad_name", stored.span.clone(), message);
            reader.note(
                found.help(
                    "it is a-z, then a-z, 0-9, _ and -, at most 64 characters: `plan-review`",
                ),
            );
        }
        phase.stored = Some(stored);
    }
    phase
}
