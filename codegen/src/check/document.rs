//! The state document: what it holds of the engine, the places of fields, values written as null, edits by hand and its
//! path. Also the slash commands of the plugin.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use super::Check;
use super::types::constant;
use crate::diagnostic::suggest;
use crate::model::{
    Active, At, Constant, Does, Field, FieldKind, Form, Held, IdForm, Plugin, SlashCommand, State,
};

/// The most parts of a `key`, as in the engine.
const MAX_KEY_PARTS: usize = 8;
/// The longest part of a `key`, in bytes.
const MAX_KEY_BYTES: usize = 128;

pub(super) fn document(check: &Check<'_>) {
    let machine = check.machine;
    holders(check);
    for field in &machine.fields {
        key(check, field);
        if let Some(value) = &field.null {
            null(check, field, value);
        }
        limits(check, field);
    }
    for name in &machine.state.edits {
        if let Some(field) = machine.field(name) {
            edit(check, name, field);
        }
    }
    if let Some(file) = &machine.state.file {
        self::file(check, &machine.state, file.value.as_ref(), &file.span);
    }
    if let Some(plugin) = &machine.plugin {
        commands(check, plugin);
    }
}

/// Checks that one field holds each value that the engine needs.
fn holders(check: &Check<'_>) {
    let mut holders: HashMap<Held, &At<String>> = HashMap::new();
    for field in &check.machine.fields {
        let FieldKind::Held(held) = field.kind else {
            continue;
        };
        if let Some(first) = holders.insert(held, &field.name) {
            let name = &field.name;
            let word = held.word();
            check.add("held_twice", &name.span, &[first, name, &word]);
        }
    }
    let required = Held::REQUIRED.iter();
    for held in required.filter(|held| !holders.contains_key(held)) {
        check.add("no_holder", &check.machine.name.span, &[&held.word()]);
    }
}

/// Checks the place of a field in the document, which `key` sets.
fn key(check: &Check<'_>, field: &Field) {
    fn key(field: &Field) -> &At<String> {
        field.key.as_ref().unwrap_or(&field.name)
    }
    let name = &field.name;
    let place = key(field);
    let form = check.machine.state.form;
    if matches!(field.kind, FieldKind::Data(_)) && form == Form::Lines {
        check.add("data_form", &name.span, &[name]);
    }
    if field.key.is_some() && form != Form::Frontmatter {
        check.add("key_form", &place.span, &[name]);
    }
    let parts: Vec<&str> = place.split('.').collect();
    let is_right = parts.len() <= MAX_KEY_PARTS && parts.iter().all(|part| is_key(part));
    if field.key.is_some() && !is_right {
        check.add("key_parts", &place.span, &[&format!("{:?}", place.value)]);
    }
    // An earlier field may have the same place, or any field a place above this one.
    let is_taken_by = |other: &&Field| {
        let is_earlier = other.name.span.start < name.span.start;
        let rest = place.strip_prefix(key(other).as_str());
        rest.is_some_and(|rest| rest.is_empty() && is_earlier || rest.starts_with('.'))
    };
    if let Some(other) = check.machine.fields.iter().find(is_taken_by) {
        check.add("key_twice", &place.span, &[name, &other.name]);
        check.relate(&other.name.span, "the other field");
    }
}

fn is_key(part: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let is_literal = ["null", "true", "false"]
        .iter()
        .any(|word| part.eq_ignore_ascii_case(word));
    let is_first = |first: char| first.is_ascii_alphabetic() || first == '_';
    part.starts_with(is_first)
        && part.bytes().all(is_allowed)
        && part.len() <= MAX_KEY_BYTES
        && !is_literal
}

/// Checks a value that the document writes as null.
fn null(check: &Check<'_>, field: &Field, null: &At<Constant>) {
    let name = &field.name;
    let code = match (&field.kind, &null.value) {
        _ if field.within.is_some() => "null_in",
        (FieldKind::Held(Held::Phase), Constant::Text(phase)) => match check.machine.phase(phase) {
            Some(_) => return,
            None => "null_phase",
        },
        (FieldKind::Held(Held::Phase), _) => "null_phase",
        (FieldKind::Flag | FieldKind::Held(_), _) => "null_never",
        _ => return constant(check, field, null),
    };
    check.add(code, &null.span, &[name]);
}

/// Checks a field that an edit of the document by hand may change.
fn edit(check: &Check<'_>, name: &At<String>, field: &Field) {
    let entries = check.machine.transitions.iter();
    let guards = entries.flat_map(|entry| &entry.when);
    let mut reads = guards.flat_map(|guard| guard.fields());
    let is_read = reads.any(|read| read == name);
    let is_limited = field.kind != FieldKind::Count || field.max.is_some() || !is_read;
    match field.kind {
        FieldKind::Count | FieldKind::Flag | FieldKind::OneOf(_) if field.within.is_none() => {
            if !is_limited {
                check.add("edit_limit", &name.span, &[name]);
            }
        }
        _ => check.add("edit_kind", &name.span, &[name]),
    }
}

/// Checks `min` and `max` of a field.
fn limits(check: &Check<'_>, field: &Field) {
    let Some(limit) = field.min.as_ref().or(field.max.as_ref()) else {
        return;
    };
    let name = &field.name;
    if field.kind != FieldKind::Count || !check.machine.state.edits.contains(name) {
        check.add("limit_unused", &limit.span, &[name]);
    }
    let (min, max) = field.counts();
    if min > max {
        check.add("limit_order", &limit.span, &[name, &min, &max]);
    }
}

/// Checks the path of a document that belongs to the user: each loop needs its own, outside the engine's folder.
fn file(check: &Check<'_>, state: &State, path: &str, place: &Range<usize>) {
    let id = format!("{{{}}}", check.machine.holder(Held::Id).unwrap_or("id"));
    let ids = path.matches(&id).count();
    let folder = check.machine.folder();
    let may_share = state.active != Active::One || state.ids == IdForm::Name;
    if let Some(extension) = &state.extension {
        check.add("file_extension", &extension.span, &[]);
    }
    if path.split('/').any(|part| matches!(part, "" | ".")) {
        check.add("file_path", place, &[&format!("{path:?}")]);
    } else if ids > 1 || path.replace(&id, "").contains(['{', '}']) {
        check.add("file_braces", place, &[&id]);
    } else if ids == 0 && may_share {
        check.add("file_shared", place, &[&id]);
    }
    if Path::new(path).starts_with(&folder) {
        check.add("file_folder", place, &[&folder]);
    }
    if let Some(variable) = &state.folder_env {
        check.add("file_env", place, &[&&*variable.value]);
    }
}

/// Checks the slash commands of the plugin: each exists, and has one meaning.
fn commands(check: &Check<'_>, plugin: &Plugin) {
    let machine = check.machine;
    let possible = machine.possible_slash_commands();
    for command in &plugin.commands {
        let name = &command.name;
        let mut known = possible.iter().map(|command| command.name);
        if !known.clone().any(|known| known == name.value) {
            let help = suggest(name, known.by_ref());
            let help = help.unwrap_or("name a mode or a transition of the user".to_owned());
            check.add("unknown_command", &name.span, &[name, &help]);
        }
    }
    let mut seen = HashSet::new();
    let mut commands = machine.slash_commands();
    commands.retain(|command| !seen.insert(command.name));
    for SlashCommand { name, does, .. } in commands {
        // The modes come first, so the other one is a mode.
        let mode = machine.modes.iter().find(|mode| mode.name.value == name);
        let place = mode.map_or(&plugin.name.span, |mode| &mode.name.span);
        let other = match does {
            Does::Take => "a transition",
            _ => "the engine",
        };
        check.add("command_twice", place, &[&other, &name]);
    }
}
