//! Checks of the state document: engine fields, places, null values, edits by hand and path. Also
//! those of the plugin's slash commands.

use std::collections::HashMap;
use std::path::Path;

use super::Check;
use super::types::check_constant;
use crate::model::{
    Active, At, Constant, EngineField, Field, FieldKind, Form, IdForm, Named, State, texts,
};

pub(super) fn check_document(check: &Check<'_>) {
    let machine = check.machine;
    let required = EngineField::REQUIRED.into_iter();
    for value in required.filter(|value| machine.engine_field(*value).is_none()) {
        check.add("no_holder", &machine.name, &[value.word()]);
    }
    check_places(check);
    for field in &machine.fields {
        if let Some(value) = &field.null {
            check_null(check, field, value);
        }
    }
    check_edits(check, &machine.state);
    if let Some(file) = &machine.state.file {
        check_file(check, &machine.state, file);
    }
    check_slash_commands(check);
}

fn check_places(check: &Check<'_>) {
    let form = check.machine.state.form;
    let mut owners: HashMap<&str, &Named<Field>> = HashMap::new();
    for field in &check.machine.fields {
        owners.entry(field.place()).or_insert(field);
    }
    for field in &check.machine.fields {
        let name = &field.name;
        let span = field.key.as_ref().map_or(name.span(), At::span);
        if matches!(field.kind, FieldKind::Data(_)) && form == Form::Lines {
            check.add_at("data_form", span.clone(), &[name]);
        }
        if field.key.is_some() && form != Form::Frontmatter {
            check.add_at("key_form", span.clone(), &[name]);
        }
        // A place above this one may belong to a field, or this one to an earlier field.
        let place = field.place();
        let above = place.match_indices('.').map(|(end, _)| &place[..end]);
        let mut other = above.chain([place]).filter_map(|place| owners.get(place));
        if let Some(other) = other.find(|other| other.name != *name) {
            let line = check.line(&other.name.span());
            check.add_at("key_twice", span, &[name, &other.name, &line]);
        }
    }
}

fn check_null(check: &Check<'_>, field: &Named<Field>, null: &At<Constant>) {
    let is_never_null = |kind: &FieldKind| matches!(kind, FieldKind::Flag | FieldKind::Engine(_));
    match (&field.kind, &**null) {
        (FieldKind::Engine(EngineField::Phase), Constant::Text(phase)) => {
            check.find_phase(&At::new(phase.clone(), null.span()));
        }
        (kind, _) if !field.within.is_empty() || is_never_null(kind) => {
            check.add_at("null_never", null.span(), &[&field.name]);
        }
        _ => check_constant(check, field, null),
    }
}

fn check_edits(check: &Check<'_>, state: &State) {
    let entries = check.machine.transitions.iter();
    let guards = entries.flat_map(|entry| &entry.when);
    let read = guards.flat_map(|guard| guard.fields());
    for field in &check.machine.fields {
        let limit = field.min.as_ref().or(field.max.as_ref());
        if let Some(limit) = limit
            && !(field.kind == FieldKind::Count && state.edits.contains(&field.name))
        {
            check.add_at("limit_unused", limit.span(), &[&field.name]);
        }
    }
    for name in &state.edits {
        let Some(field) = check.field(name) else {
            continue;
        };
        let is_count = field.kind == FieldKind::Count;
        let is_editable = is_count || matches!(field.kind, FieldKind::Flag | FieldKind::OneOf(_));
        if !is_editable || !field.within.is_empty() {
            check.add("edit_kind", name, &[]);
        } else if is_count && field.max.is_none() && read.clone().any(|read| read == name) {
            check.add("edit_limit", name, &[]);
        }
    }
}

/// Checks the path of documents that users own: one for each loop, outside of the state folder.
fn check_file(check: &Check<'_>, state: &State, file: &At<texts::Path>) {
    let path = file.as_str();
    let id = check.machine.engine_field(EngineField::Id);
    let id = format!("{{{}}}", id.unwrap_or("id"));
    let folder = check.machine.folder();
    let ids = path.matches(&id).count();
    let has_other_braces = path.replace(&id, "").contains(['{', '}']);
    let is_short = !path.split('/').any(|part| matches!(part, "" | "."));
    let may_share = state.active != Active::One || state.ids == IdForm::Name;
    let is_wrong = !is_short || ids > 1 || has_other_braces;
    let rules = [
        ("file_path", is_wrong, id.as_str()),
        ("file_shared", ids == 0 && may_share, &id),
        ("file_folder", Path::new(path).starts_with(&folder), &folder),
        ("file_alone", state.folder_env.is_some(), "folder_env"),
    ];
    for (code, _, arg) in rules.iter().filter(|(_, is_broken, _)| *is_broken) {
        check.add_at(code, file.span(), &[path, arg]);
    }
}

fn check_slash_commands(check: &Check<'_>) {
    let plugin = check.machine.plugin.iter();
    let known = check.machine.slash_commands();
    let entries = check.machine.transitions.iter();
    let verbs = entries.filter(|entry| entry.is_verb());
    let commands = known.iter().map(|command| command.name);
    let names = commands.chain(verbs.map(|entry| entry.name.as_str()));
    for command in plugin.flat_map(|plugin| &plugin.commands) {
        if !known.iter().any(|one| *one.name == **command.name) {
            check.unknown("unknown_command", &command.name, names.clone());
        }
    }
}
