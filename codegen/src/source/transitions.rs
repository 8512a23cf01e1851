//! `[[transitions.*]]`: sources, target, guard, evidence, actors, arguments and updates of each entry.

use std::collections::HashMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::guard::{self, Fault};
use super::read::{Key, Keys, Reader, Value, in_order};
use super::{MOST_TRANSITIONS, actors, flag, key_name, too_many};
use crate::diagnostic::Diagnostic;
use crate::format;
use crate::model::{
    Argument, ArgumentKind, At, Constant, Evidence, Field, FieldKind, From, To, Transition, Update,
};

pub(super) fn transitions(
    reader: &mut Reader<'_>,
    keys: &Keys<'_>,
    fields: &[Field],
) -> Vec<Transition> {
    let mut transitions = Vec::new();
    for (key, value) in super::section(reader, keys, "transitions", "[[transitions.begin]]") {
        let first = key_name(reader, "a transition", key);
        let DeValue::Array(entries) = value.get_ref() else {
            let name = &first.value;
            let found = Diagnostic::new(
                "claudex::machine::wrong_type",
                first.span.clone(),
                format!(
                    "`transitions.{name}` is a list of entries, not {}",
                    super::read::kind_of(value.get_ref())
                ),
            );
            reader.note(found.help(format!("write `[[transitions.{name}]]`, with two brackets")));
            transitions.push(placeholder(first));
            continue;
        };
        for entry in entries.iter() {
            let Some(table) = reader.table(&first.value, entry) else {
                continue;
            };
            let header = entry.span();
            let name = match reader.source[header.clone()].rfind(&first.value) {
                Some(at) if reader.source[header.clone()].starts_with('[') => {
                    let start = header.start + at;
                    At::new(first.value.clone(), start..start + first.value.len())
                }
                _ => first.clone(),
            };
            transitions.push(transition(reader, name, header, table, fields));
        }
    }
    transitions.sort_by_key(|transition| transition.span.start);
    say_once(&mut transitions);
    if let Some(beyond) = transitions.get(MOST_TRANSITIONS) {
        too_many(
            reader,
            beyond.span.clone(),
            "transitions",
            transitions.len(),
            MOST_TRANSITIONS,
        );
    }
    transitions
}

/// Gives entries without a `doc` that of the first entry of their transition.
fn say_once(transitions: &mut [Transition]) {
    let mut first: HashMap<String, String> = HashMap::new();
    for transition in transitions {
        let known = first
            .entry(transition.name.value.clone())
            .or_insert_with(|| transition.doc.clone());
        if transition.doc.is_empty() {
            transition.doc.clone_from(known);
        }
    }
}

/// A transition that only has its name, so that what names it is not reported too.
fn placeholder(name: At<String>) -> Transition {
    let span = name.span.clone();
    let (from, to) = (From::Phases(Vec::new()), To::Same(span.clone()));
    let (when, requires, message) = (None, None, None);
    let (by, args, set) = (Vec::new(), Vec::new(), Vec::new());
    Transition {
        name,
        from,
        to,
        when,
        requires,
        by,
        own: false,
        args,
        set,
        message,
        ends_turn: false,
        doc: String::new(),
        span,
    }
}

fn transition(
    reader: &mut Reader<'_>,
    name: At<String>,
    header: Range<usize>,
    table: &DeTable<'_>,
    fields: &[Field],
) -> Transition {
    let what = format!("the transition `{}`", name.value);
    let keys = reader.known(table, &format::TRANSITION);
    let end = in_order(table)
        .iter()
        .map(|(_, value)| value.span().end)
        .max()
        .unwrap_or(0);
    let span = header.start..header.end.max(end);
    let from = match keys.value("from") {
        Some(value) => from(reader, value),
        None => {
            reader.missing(header.clone(), "from", &what, "from = \"drafting\"");
            From::Phases(Vec::new())
        }
    };
    let to = match keys.value("to") {
        Some(value) => reader.string("to", value),
        None => {
            reader.missing(header.clone(), "to", &what, "to = \"same\"");
            None
        }
    };
    let to = match to {
        Some(to) if to.value != "same" => To::Phase(to),
        Some(to) => To::Same(to.span),
        None => To::Same(header),
    };
    let when = keys
        .value("when")
        .and_then(|value| reader.string("when", value));
    let when = when.and_then(|text| {
        let place = |part: Range<usize>| reader.inside(&text, part);
        match guard::guard(&text.value, &place) {
            Ok(guard) => Some(At::new(guard, text.span)),
            Err(fault) => {
                let span = reader.inside(&text, fault.part);
                let found = Diagnostic::new("claudex::machine::guard", span, fault.message);
                reader.note(found.help(fault.help));
                None
            }
        }
    });
    let requires = keys
        .value("requires")
        .and_then(|value| reader.string("requires", value));
    let requires = requires.and_then(|text| reader.choice("requires", &text, &Evidence::ALL));
    let by = actors(reader, &keys);
    let own = keys.get("own");
    let own = own.is_some_and(|(key, value)| {
        let own = flag(reader, "own", value);
        if own && by.is_empty() {
            let message = "`own` says that the verb is the program’s own, and nobody may call it";
            let found = Diagnostic::new("claudex::machine::bad_own", key.span(), message);
            reader.note(found.help("say who: `by = [\"agent\", \"person\"]`"));
        }
        own
    });
    let args = args(reader, &keys);
    let set = keys
        .value("set")
        .and_then(|value| reader.table("set", value));
    let set = set
        .map(|table| set_of(reader, table, fields))
        .unwrap_or_default();
    let message = keys
        .value("message")
        .and_then(|value| reader.string("message", value));
    let message = message.map(|path| reader.relative("message", path, false));
    let turn = keys
        .value("turn")
        .and_then(|value| reader.string("turn", value));
    let ends_turn = turn
        .and_then(|text| reader.choice("turn", &text, &format::TURNS))
        .is_some();
    let doc = reader.doc(&keys);
    Transition {
        name,
        from,
        to,
        when,
        requires,
        by,
        own,
        args,
        set,
        message,
        ends_turn,
        doc,
        span,
    }
}

fn from(reader: &mut Reader<'_>, value: Value<'_>) -> From {
    let names = reader.strings("from", value);
    match names.as_slice() {
        [any] if any.value == "*" => From::Any(any.span.clone()),
        _ => {
            if let Some(any) = names.iter().find(|name| name.value == "*") {
                let message = "`*` stands among other phases";
                let found = Diagnostic::new("claudex::machine::from", any.span.clone(), message);
                reader.note(found.help("write `from = \"*\"`, or the phases"));
            }
            From::Phases(names.into_iter().filter(|name| name.value != "*").collect())
        }
    }
}

fn args(reader: &mut Reader<'_>, keys: &Keys<'_>) -> Vec<Argument> {
    let Some(table) = keys
        .value("args")
        .and_then(|value| reader.table("args", value))
    else {
        return Vec::new();
    };
    let mut args = Vec::new();
    for (key, value) in in_order(table) {
        let name = key_name(reader, "an argument", key);
        args.extend(argument(reader, name, value));
    }
    args
}

/// `why = "text"`, `why = { type = "text", doc = "why it is given up", optional = true }`, or `next = { one_of = ["on", "back"] }`.
fn argument(reader: &mut Reader<'_>, name: At<String>, value: Value<'_>) -> Option<Argument> {
    let (kind, doc, optional) = match value.get_ref() {
        DeValue::String(_) => (plain(reader, &name, value)?, String::new(), false),
        DeValue::Table(table) => {
            let keys = reader.known(table, &format::ARGUMENT);
            let (doc, optional) = (reader.doc(&keys), keys.value("optional"));
            let optional = optional.is_some_and(|value| flag(reader, "optional", value));
            let kind = match (keys.value("type"), keys.get("one_of")) {
                (Some(kind), None) => plain(reader, &name, kind)?,
                (None, Some((_, words))) => {
                    let all = super::fields::words(reader, words).into_iter();
                    At::new(
                        ArgumentKind::OneOf(all.map(|word| word.value).collect()),
                        words.span(),
                    )
                }
                (Some(_), Some((key, _))) => {
                    let message = format!("`{}` has both `type` and `one_of`", name.value);
                    let found =
                        Diagnostic::new("claudex::machine::argument_kind", key.span(), message);
                    reader.note(found.help("an argument has one of `type` and `one_of`"));
                    return None;
                }
                (None, None) => {
                    let what = format!("the argument `{}`", name.value);
                    reader.missing(name.span, "type", &what, "type = \"text\"");
                    return None;
                }
            };
            (kind, doc, optional)
        }
        _ => {
            reader.wrong_type(
                &name.value,
                value,
                "a type such as \"text\", or a table with `type`",
            );
            return None;
        }
    };
    Some(Argument {
        name,
        kind,
        doc,
        optional,
    })
}

fn plain(reader: &mut Reader<'_>, name: &At<String>, kind: Value<'_>) -> Option<At<ArgumentKind>> {
    let text = reader.string("type", kind)?;
    reader.choice(&name.value, &text, &ArgumentKind::PLAIN)
}

fn set_of(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    fields: &[Field],
) -> Vec<(At<String>, At<Update>)> {
    let mut set = Vec::new();
    for (key, value) in in_order(table) {
        let field = At::new(key.get_ref().clone().into_owned(), key.span());
        if let Some(update) = update(reader, &field, key, value, fields) {
            set.push((field, At::new(update, value.span())));
        }
    }
    set
}

/// Reads an update. A string is a text for a field of words or text, and an expression for any other.
fn update(
    reader: &mut Reader<'_>,
    field: &At<String>,
    key: Key<'_>,
    value: Value<'_>,
    fields: &[Field],
) -> Option<Update> {
    let kind = fields
        .iter()
        .find(|known| known.name.value == field.value)
        .map(|known| &known.kind);
    let DeValue::String(text) = value.get_ref() else {
        return reader
            .constant(key.get_ref(), value)
            .map(|constant| Update::Constant(constant.value));
    };
    let says_text = !matches!(kind, Some(FieldKind::Count | FieldKind::Flag));
    let read = match guard::call_or_argument(text) {
        Some(read) => read,
        None if says_text => Ok(Update::Constant(Constant::Text(text.clone().into_owned()))),
        None => guard::update(text),
    };
    read.map_err(
        |Fault {
             part,
             message,
             help,
         }| {
            let text = At::new(text.clone().into_owned(), value.span());
            let span = reader.inside(&text, part);
            reader.note(
                Diagnostic::new(
                    "claudex::machine::set",
                    span,
                    format!("`{}`: {message}", field.value),
                )
                .help(help),
            );
        },
    )
    .ok()
}
