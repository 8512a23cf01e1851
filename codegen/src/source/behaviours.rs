//! `on_stop`: a behaviour of the catalogue, its parameters, a question's options, and the transitions of its outcomes.

use std::collections::HashSet;
use std::ops::Range;

use toml::de::DeValue;

use super::read::{Keys, Reader, Value, in_order};
use crate::catalogue::{self, CATALOGUE, Entry, ParameterKind};
use crate::diagnostic::{self, Diagnostic};
use crate::format;
use crate::model::{At, Behaviour, Call, Choice, Constant, Options, call_text};

/// The keys of a question besides its words.
const OPTIONS: [&str; 2] = ["options", "text"];

/// `announce = { then = "transition" }`: how a behaviour is written, with the first of its outcomes.
fn in_braces(entry: &Entry) -> String {
    let first = entry
        .outcomes
        .first()
        .map_or("then", |outcome| outcome.name);
    let more = if entry.parameters().next().is_some() || entry.outcomes.len() > 1 {
        ", .."
    } else {
        ""
    };
    format!("{} = {{ {first} = \"TRANSITION\"{more} }}", entry.name)
}

pub(super) fn behaviour(reader: &mut Reader<'_>, value: Value<'_>) -> Option<Behaviour> {
    let Some(table) = value.get_ref().as_table() else {
        let named = value.get_ref().as_str().and_then(catalogue::find);
        let help = match named {
            Some(entry) => format!("write `on_stop = {{ {} }}`", in_braces(entry)),
            None => {
                "write `on_stop = { BEHAVIOUR = { .. } }`; without it the phase is written in Rust"
                    .to_owned()
            }
        };
        reader.wrong_type_with("on_stop", value, "a table", Some(help));
        return None;
    };
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
            reader.note(found.help("keep one; what needs both is a phase written in Rust"));
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
    let Some(table) = value.get_ref().as_table() else {
        let help = format!("write `{}`", in_braces(entry));
        reader.wrong_type_with(entry.name, value, "a table", Some(help));
        return None;
    };
    let parameters = entry.parameters().map(|parameter| parameter.name);
    let outcomes = entry.outcomes.iter().filter(|outcome| !outcome.waits);
    let outcomes = outcomes.map(|outcome| outcome.name);
    let options: &[&str] = if entry.options { &OPTIONS } else { &[] };
    let personas = entry.personas.then_some("personas");
    let known: Vec<&str> = parameters
        .chain(options.iter().copied())
        .chain(personas)
        .chain(outcomes)
        .collect();
    let what = format!("`{}`", entry.name);
    let keys = reader.keys(table, &what, &known);
    // A question that the file says nothing of is the program's.
    let words = ["question", "header", "options"];
    let in_rust = entry.options && words.iter().all(|key| keys.value(key).is_none());
    let parameters = parameters_of(reader, entry, &keys, &name.span(), in_rust);
    let options = match entry.options {
        false => Options::None,
        true if in_rust => Options::Program,
        true => options_of(reader, &keys, name.span()),
    };
    let text = keys
        .value("text")
        .filter(|_| entry.options)
        .and_then(|value| reader.string("text", value));
    let personas = keys
        .value("personas")
        .map(|value| reader.strings("personas", value))
        .unwrap_or_default();
    let mut outcomes = Vec::new();
    for outcome in entry.outcomes {
        let value = keys.value(outcome.name).filter(|_| !outcome.waits);
        let named = value.map(|value| calls(reader, outcome.name, value));
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
        options,
        text,
        personas,
    })
}

/// The parameters that are given, in the order of the catalogue; those that are missing are noted.
fn parameters_of(
    reader: &mut Reader<'_>,
    entry: &Entry,
    keys: &Keys<'_>,
    whole: &Range<usize>,
    in_rust: bool,
) -> Vec<(At<String>, At<String>)> {
    let what = format!("`{}`", entry.name);
    let mut parameters = Vec::new();
    for parameter in entry.parameters() {
        let Some((key, value)) = keys.get(parameter.name) else {
            if entry.required.contains(parameter) && !in_rust {
                let example = format!("{} = \"...\"", parameter.name);
                reader.missing(whole.clone(), parameter.name, &what, &example);
            }
            continue;
        };
        let is_list = matches!(
            parameter.kind,
            ParameterKind::Templates | ParameterKind::Pair
        );
        let values = match is_list {
            true => reader.strings(parameter.name, value),
            false => reader.string(parameter.name, value).into_iter().collect(),
        };
        if parameter.kind == ParameterKind::Pair && values.len() != 2 {
            reader.wrong_type(parameter.name, value, "a list of two words");
        }
        for mut value in values {
            match parameter.kind {
                ParameterKind::Message => value = reader.relative(parameter.name, value, false),
                ParameterKind::Template | ParameterKind::Templates | ParameterKind::Words => {
                    braces(reader, parameter.name, &value);
                }
                _ => {}
            }
            parameters.push((At::new(parameter.name.to_owned(), key.span()), value));
        }
    }
    let mut either = entry.one_of.iter().filter_map(|name| keys.get(name));
    match (either.next(), either.next()) {
        (None, _) if !entry.one_of.is_empty() => {
            let message = format!("{what} has none of {}", diagnostic::list(entry.one_of));
            let found = Diagnostic::new("claudex::machine::missing_key", whole.clone(), message);
            let help = entry
                .one_of
                .iter()
                .map(|name| format!("`{name} = \"...\"`"))
                .collect::<Vec<_>>();
            reader.note(found.help(format!("add {}", help.join(" or "))));
        }
        (Some((first, _)), Some((second, _))) => {
            let message = format!(
                "{what} has both `{}` and `{}`",
                first.get_ref(),
                second.get_ref()
            );
            let found = Diagnostic::new("claudex::machine::either", second.span(), message);
            let found = found.related(first.span(), "the first");
            reader.note(found.help("keep one; what waits for both is two phases"));
        }
        _ => {}
    }
    parameters
}

/// The transitions of an outcome: one, or several to be tried in turn.
fn calls(reader: &mut Reader<'_>, outcome: &str, value: Value<'_>) -> Vec<Call> {
    let is_table = |value: Value<'_>| value.get_ref().as_table().is_some();
    let items = match value.get_ref() {
        DeValue::Array(items) if items.iter().any(is_table) => items,
        DeValue::Table(_) => return call(reader, outcome, value).into_iter().collect(),
        _ => {
            let names = reader.strings(outcome, value).into_iter();
            return names
                .map(|then| Call {
                    then,
                    with: Vec::new(),
                })
                .collect();
        }
    };
    let (mut calls, mut seen) = (Vec::new(), HashSet::new());
    for item in items.iter() {
        let Some(call) = call(reader, outcome, item) else {
            continue;
        };
        if seen.insert(call_text(&call)) {
            calls.push(call);
        } else {
            let message = format!("`{}` stands in `{outcome}` twice", call.then.value);
            let found = Diagnostic::new("claudex::machine::named_twice", call.then.span, message);
            reader.note(found.help("leave one of them out"));
        }
    }
    calls
}

/// A transition by its name, or a table of it and constants for its arguments.
fn call(reader: &mut Reader<'_>, outcome: &str, item: Value<'_>) -> Option<Call> {
    let Some(table) = item.get_ref().as_table() else {
        let then = reader.string(outcome, item)?;
        return Some(Call {
            then,
            with: Vec::new(),
        });
    };
    let keys = reader.known(table, &format::CALL);
    let Some(then) = keys.value("then") else {
        reader.missing(
            item.span(),
            "then",
            &format!("an entry of `{outcome}`"),
            "then = \"transition\"",
        );
        return None;
    };
    let then = reader.string("then", then)?;
    let with = constants(reader, &keys)?;
    Some(Call { then, with })
}

/// `with`: constants for arguments.
fn constants(reader: &mut Reader<'_>, keys: &Keys<'_>) -> Option<Vec<(At<String>, At<Constant>)>> {
    let with = keys
        .value("with")
        .and_then(|value| reader.table("with", value));
    let mut given = Vec::new();
    for (key, value) in with.into_iter().flat_map(in_order) {
        let name = At::new(key.get_ref().to_string(), key.span());
        given.push((name, reader.constant(key.get_ref(), value)?));
    }
    Some(given)
}

/// The options that the file gives.
fn options_of(reader: &mut Reader<'_>, keys: &Keys<'_>, whole: Range<usize>) -> Options {
    let Some(list) = keys.value("options") else {
        let found = Diagnostic::new(
            "claudex::machine::missing_key",
            whole,
            "`ask` has no `options`",
        );
        let help = "add `options = [{ label = \"Yes\", then = \"transition\" }, { label = \"No\", then = \"another\" }]`; \
                    or leave `question` and `header` out too: then the program asks, in Rust";
        reader.note(found.help(help));
        return Options::These(Vec::new());
    };
    Options::These(choices(reader, list))
}

/// The options of a question. Of one that is broken nothing is left.
fn choices(reader: &mut Reader<'_>, value: Value<'_>) -> Vec<Choice> {
    let DeValue::Array(items) = value.get_ref() else {
        reader.wrong_type("options", value, "a list of tables");
        return Vec::new();
    };
    if !format::OPTIONS.contains(&items.len()) {
        let message = match items.len() {
            1 => "there is 1 option".to_owned(),
            many => format!("there are {many} options"),
        };
        let found = Diagnostic::new("claudex::machine::options", value.span(), message);
        reader.note(
            found.help(
                "a question has 2 to 4 options; a person can always answer in their own words",
            ),
        );
    }
    items
        .iter()
        .take(*format::OPTIONS.end())
        .filter_map(|item| choice(reader, item))
        .collect()
}

fn choice(reader: &mut Reader<'_>, item: Value<'_>) -> Option<Choice> {
    let table = reader.table("options", item)?;
    let keys = reader.known(table, &format::OPTION);
    let mut needed = |key: &str, example: &str| match keys.value(key) {
        Some(value) => reader.string(key, value),
        None => {
            reader.missing(item.span(), key, "the option", example);
            None
        }
    };
    let label = needed("label", "label = \"Yes\"");
    let then = needed("then", "then = \"transition\"");
    let description = keys
        .value("description")
        .and_then(|value| reader.string("description", value));
    let (then, with) = (then?, constants(reader, &keys)?);
    Some(Choice {
        label: label?,
        description,
        call: Call { then, with },
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
