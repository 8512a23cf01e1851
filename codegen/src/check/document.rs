//! The state document: the fields of the engine, the places of fields, values written as null, edits by hand, the path;
//! and the slash commands of the plugin.

use std::collections::{HashMap, HashSet};

use super::types::constant;
use super::{Index, Problems};
use crate::diagnostic::suggest;
use crate::model::{
    Active, At, Constant, Does, Field, FieldKind, Form, Held, IdForm, Plugin, State,
};

/// The most parts of a `key`, as in the engine.
const MAX_KEY_PARTS: usize = 8;
/// The longest part of a `key`, in bytes.
const MAX_KEY_BYTES: usize = 128;

pub(super) fn document(index: &Index<'_>, found: &mut Problems) {
    let machine = index.machine;
    holders(index, found);
    keys(index, found);
    for field in &machine.fields {
        if let Some(null) = &field.null {
            self::null(index, field, null, found);
        }
        limits(&machine.state, field, found);
    }
    for name in &machine.state.edits {
        if let Some(field) = index.fields.get(name.as_str()) {
            edit(index, name, field, found);
        }
    }
    if let Some(file) = &machine.state.file {
        let id = format!("{{{}}}", machine.holder(Held::Id).unwrap_or("id"));
        self::file(&machine.state, file, &id, &machine.folder(), found);
    }
    if let Some(plugin) = &machine.plugin {
        commands(index, plugin, found);
    }
}

/// Checks that one field holds each value that the engine needs.
fn holders(index: &Index<'_>, found: &mut Problems) {
    let mut holders: HashMap<Held, &At<String>> = HashMap::new();
    for field in &index.machine.fields {
        let FieldKind::Held(held) = field.kind else {
            continue;
        };
        if let Some(first) = holders.insert(held, &field.name) {
            let message = format!(
                "`{first}` and `{}` both hold the {}",
                field.name,
                held.word()
            );
            found.add(
                "held_twice",
                &field.name.span,
                message,
                "remove one of them",
            );
            found.relate(&first.span, "the first field");
        }
    }
    for word in Held::REQUIRED
        .iter()
        .filter(|held| !holders.contains_key(held))
        .map(|held| held.word())
    {
        let help = format!("add `{word} = {{ holds = \"{word}\" }}` to [fields]");
        let message = format!("no field holds the {word}");
        found.add("no_holder", &index.machine.name.span, message, help);
    }
}

/// Checks the places of fields in the document, which `key` sets.
fn keys(index: &Index<'_>, found: &mut Problems) {
    let machine = index.machine;
    let place = |field: &Field| field.key.clone().unwrap_or_else(|| field.name.clone());
    let mut taken: HashMap<String, &At<String>> = HashMap::new();
    for field in &machine.fields {
        taken.entry(place(field).value).or_insert(&field.name);
    }
    for field in &machine.fields {
        let (name, key) = (&field.name, place(field));
        if matches!(field.kind, FieldKind::Data(_)) && machine.state.form == Form::Lines {
            let message = format!("`{name}` holds data, which a document of lines cannot hold");
            let help = "add `form = \"json\"` or `form = \"frontmatter\"` to [state]";
            found.add("bad_data", &name.span, message, help);
        }
        if field.key.is_some() && machine.state.form != Form::Frontmatter {
            let message = format!("`{name}` has a `key`, which only a document of frontmatter has");
            let help = "remove `key`, or add `form = \"frontmatter\"` to [state]";
            found.add("bad_key", &key.span, message, help);
        }
        let parts: Vec<&str> = key.split('.').collect();
        if field.key.is_some()
            && (parts.len() > MAX_KEY_PARTS || !parts.iter().all(|part| is_key(part)))
        {
            let message = format!("`key` cannot be {:?}", key.value);
            let help = "write up to 8 keys with `.` between them, such as `loop.phase`; a key has letters, digits, - and _, \
                        starts with a letter or _, and is not null, true or false";
            found.add("bad_key", &key.span, message, help);
        }
        let above = key.match_indices('.').map(|(end, _)| &key[..end]);
        let other = above.chain([key.as_str()]).find_map(|key| taken.get(key));
        if let Some(other) = other.filter(|other| **other != name) {
            let message = format!("`{name}` and `{other}` have the same place in a document");
            found.add(
                "bad_key",
                &key.span,
                message,
                "give one of them another `key`",
            );
            found.relate(&other.span, "the other field");
        }
    }
}

fn is_key(part: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_literal = |word: &&str| part.eq_ignore_ascii_case(word);
    part.len() <= MAX_KEY_BYTES
        && part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && part.bytes().all(is_allowed)
        && !["null", "true", "false"].iter().any(is_literal)
}

/// Checks a value that the document writes as null.
fn null(index: &Index<'_>, field: &Field, null: &At<Constant>, found: &mut Problems) {
    let name = &field.name;
    let (message, help) = match (&field.kind, &null.value) {
        _ if field.within.is_some() => (
            format!("`{name}` has `in`, so null already means that it does not exist"),
            "remove `null` or `in`",
        ),
        (FieldKind::Held(Held::Phase), Constant::Text(phase))
            if index.phases.contains_key(&**phase) =>
        {
            return;
        }
        (FieldKind::Held(Held::Phase), _) => (
            format!("`null` of `{name}` must be a phase"),
            "name the phase that the document writes as null",
        ),
        (FieldKind::Flag | FieldKind::Held(_), _) => (
            format!("`{name}` is never null: it always has a value"),
            "remove `null`",
        ),
        _ => return constant(field, null, found),
    };
    found.add("bad_null", &null.span, message, help);
}

/// Checks a field that an edit of the document by hand may change.
fn edit(index: &Index<'_>, name: &At<String>, field: &Field, found: &mut Problems) {
    let is_read = index
        .machine
        .transitions
        .iter()
        .flat_map(|entry| &entry.when)
        .any(|when| {
            let sides = when
                .comparisons()
                .into_iter()
                .flat_map(|(left, _, right)| [left, right]);
            sides
                .filter_map(|side| side.field())
                .any(|read| read == name)
        });
    let has_kind = matches!(
        field.kind,
        FieldKind::Count | FieldKind::Flag | FieldKind::OneOf(_)
    );
    let (message, help) = if !has_kind {
        (
            format!(
                "`edits` cannot have `{name}`, which is not a count, a flag or one of a list of words"
            ),
            "remove it",
        )
    } else if field.kind == FieldKind::Count && field.max.is_none() && is_read {
        (
            format!("a guard reads `{name}`, and an edit could set it to any count"),
            "limit it in [fields], such as `min = 1, max = 99`",
        )
    } else if field.within.is_some() {
        (
            format!("`edits` has `{name}`, which exists in some phases only"),
            "remove its `in`",
        )
    } else {
        return;
    };
    found.add("bad_edit", &name.span, message, help);
}

/// Checks `min` and `max` of a field.
fn limits(state: &State, field: &Field, found: &mut Problems) {
    let Some(limit) = field.min.as_ref().or(field.max.as_ref()) else {
        return;
    };
    let name = &field.name;
    if field.kind != FieldKind::Count || !state.edits.contains(name) {
        let message = format!("`min` and `max` of `{name}` have no effect");
        let help = "remove them; they are for a count in `edits` of [state]";
        found.add("bad_edit", &limit.span, message, help);
    }
    let (min, max) = field.counts();
    if min > max {
        let message = format!("`min` of `{name}` is {min}, which is more than `max`, {max}");
        found.add("bad_edit", &limit.span, message, "swap them");
    }
}

/// Checks the path of a document that belongs to the user: each loop needs its own, outside the engine's folder.
fn file(state: &State, file: &At<impl AsRef<str>>, id: &str, folder: &str, found: &mut Problems) {
    if let Some(extension) = &state.extension {
        let message = "`extension` is for documents in the engine's folder, but `file` is set";
        found.add("bad_file", &extension.span, message, "remove one of them");
    }
    let path = file.value.as_ref();
    let parts: Vec<&str> = path.split('/').collect();
    let ids = path.matches(id).count();
    let mut add = |message: String, help: String| found.add("bad_file", &file.span, message, help);
    if parts.iter().any(|part| matches!(*part, "" | ".")) {
        let help = "write the path of a file, relative to the loop's root, in its shortest form";
        return add(format!("`file` cannot be {path:?}"), help.to_owned());
    }
    if ids > 1 || path.replace(id, "").contains(['{', '}']) {
        let message = format!("`file` can have `{id}` once, and nothing else in braces");
        add(
            message,
            format!("write a path such as `plans/{id}/state.json`"),
        );
    } else if ids == 0 && (state.active != Active::One || state.ids == IdForm::Name) {
        let message = format!("two loops could have the same `file` {path:?}");
        add(
            message,
            format!("add `{id}` to the path, or remove `active` and `ids`"),
        );
    }
    let mut folders = folder.split('/').enumerate();
    if folders.all(|(at, name)| parts.get(at).is_some_and(|part| can_be(part, id, name))) {
        let message = format!("`file` may be in the engine's folder `{folder}`");
        add(
            message,
            "choose another folder, or remove `file`".to_owned(),
        );
    }
    if let Some(variable) = &state.folder_env {
        let message = format!(
            "`{}` may be one folder for several projects, each with its own `file`",
            variable.value
        );
        add(message, "remove `folder_env` or `file`".to_owned());
    }
}

/// Returns whether a part of the path can have this name for some loop.
fn can_be(part: &str, id: &str, name: &str) -> bool {
    match part.split_once(id) {
        None => part == name,
        Some((before, after)) => {
            let rest = name
                .strip_prefix(before)
                .and_then(|rest| rest.strip_suffix(after));
            rest.is_some_and(|id| {
                !id.is_empty()
                    && id
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
            })
        }
    }
}

/// Checks the slash commands of the plugin: each exists, and has one meaning.
fn commands(index: &Index<'_>, plugin: &Plugin, found: &mut Problems) {
    let machine = index.machine;
    let possible: Vec<&str> = machine
        .possible_slash_commands()
        .iter()
        .map(|command| command.name)
        .collect();
    for command in plugin
        .commands
        .iter()
        .filter(|command| !possible.contains(&command.name.as_str()))
    {
        let name = &command.name;
        let help = suggest(name, possible.iter().copied());
        let help = help.unwrap_or(
            "name a mode, a transition of the user or a command of the engine, such as status"
                .to_owned(),
        );
        found.add(
            "unknown_command",
            &name.span,
            format!("no slash command is named `{name}`"),
            help,
        );
    }
    let mut seen = HashSet::new();
    for command in machine.slash_commands() {
        if !seen.insert(command.name) {
            // The modes come first, so the other one is a mode.
            let mode = machine
                .modes
                .iter()
                .find(|mode| mode.name.value == command.name);
            let place = mode.map_or(&plugin.name.span, |mode| &mode.name.span);
            let other = match command.does {
                Does::Take => "a transition",
                Does::Start(_) | Does::Own => "the engine",
            };
            let message = format!(
                "a mode and {other} both have the slash command `{}`",
                command.name
            );
            found.add("command_twice", place, message, "rename the mode");
        }
    }
}
