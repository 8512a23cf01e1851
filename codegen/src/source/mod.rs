//! From the text of a machine file to a [`Machine`], with every finding about its form at once.
//!
//! The TOML tree is walked by hand, because a derived reader stops at its first error and knows no places. A broken
//! part leaves its name behind, so that what refers to it is not reported too. What the names mean is `check`'s.

mod behaviours;
mod fields;
pub(crate) mod guard;
mod personas;
mod phases;
mod plugin;
mod read;
pub(crate) mod template;
mod transitions;

use toml::de::{DeTable, DeValue};
use toml_parser::lexer::TokenKind;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format;
use crate::model::{Active, Actor, At, Form, IdForm, Machine, State};
use read::{Keys, Reader};

/// The largest machine file, in bytes.
pub(crate) const LARGEST: usize = 1 << 20;
/// The most phases.
pub(crate) const MOST_PHASES: usize = 4_096;
/// The most fields.
pub(crate) const MOST_FIELDS: usize = 1_024;
/// The most transitions, entries counted.
pub(crate) const MOST_TRANSITIONS: usize = 65_536;

/// Reads a machine file. `name` is the file's name for messages.
///
/// # Errors
/// Everything that is wrong with its form: TOML itself, unknown and missing keys, types, names, guards.
pub fn parse(name: &str, source: &str) -> Result<Machine, Diagnostics> {
    match read(source) {
        (Some(machine), found) if found.is_empty() => Ok(machine),
        (_, found) => Err(Diagnostics::new(name, source, found)),
    }
}

/// Reads a machine file as far as it can be read. The machine is absent where nothing can be said of its names: the
/// file is too large or is not TOML. With findings, what is broken in the machine is replaced by something harmless.
pub(crate) fn read(source: &str) -> (Option<Machine>, Vec<Diagnostic>) {
    if source.len() > LARGEST {
        let message = format!("the file has {} bytes", source.len());
        let found = Diagnostic::new("claudex::machine::too_large", 0..0, message);
        return (
            None,
            vec![found.help(format!("{LARGEST} bytes are the most"))],
        );
    }
    if let Some(deep) = deep_key(source) {
        return (None, vec![deep]);
    }
    let (root, errors) = DeTable::parse_recoverable(source);
    if !errors.is_empty() {
        return (
            None,
            errors.iter().map(|error| syntax(source, error)).collect(),
        );
    }
    let mut reader = Reader {
        source,
        found: Vec::new(),
    };
    let machine = machine(&mut reader, root.get_ref());
    let fits = machine.phases.len() <= MOST_PHASES
        && machine.fields.len() <= MOST_FIELDS
        && machine.transitions.len() <= MOST_TRANSITIONS;
    (fits.then_some(machine), reader.found)
}

/// A key with more parts than any machine needs. The parser bounds tables in tables and the parts of a key, but not the
/// product of the two, and a tree that deep overflows the stack where it is dropped; so it is never built.
fn deep_key(source: &str) -> Option<Diagnostic> {
    const MOST_PARTS: usize = 16;
    let mut dots = 0;
    for token in toml_parser::Source::new(source).lex() {
        match token.kind() {
            TokenKind::Dot => dots += 1,
            TokenKind::Atom
            | TokenKind::Whitespace
            | TokenKind::BasicString
            | TokenKind::LiteralString => {}
            _ => dots = 0,
        }
        if dots == MOST_PARTS {
            let span = token.span().start()..token.span().end();
            let found = Diagnostic::new(
                "claudex::machine::too_deep",
                span,
                "a key has too many parts",
            );
            return Some(found.help(format!("{MOST_PARTS} are the most")));
        }
    }
    None
}

/// A syntax error of the TOML parser as a finding.
fn syntax(source: &str, error: &toml::de::Error) -> Diagnostic {
    let span = error.span().unwrap_or(source.len()..source.len());
    let found = Diagnostic::new(
        "claudex::machine::syntax",
        span.clone(),
        format!("not TOML: {}", error.message()),
    );
    match error.message() {
        "duplicate key" => found.help("the key was given above; keep one of them"),
        _ => found,
    }
}

fn machine(reader: &mut Reader<'_>, root: &DeTable<'_>) -> Machine {
    let keys = reader.known(root, &format::MACHINE);
    let name = match keys.value("name") {
        None => {
            reader.missing(0..0, "name", "the machine", "name = \"plan\"");
            None
        }
        Some(value) => reader.string("name", value),
    };
    let readable = name.is_some();
    let name = name.unwrap_or_else(|| At::new("machine".to_owned(), 0..0));
    let name = if readable {
        reader.name("the machine", name)
    } else {
        name
    };
    let messages = keys
        .value("messages")
        .and_then(|value| reader.string("messages", value));
    let messages = messages.map(|path| reader.relative("messages", path, true).value);
    let context = match keys.value("context") {
        Some(value) => reader.strings("context", value),
        None => Vec::new(),
    };
    let context = context
        .into_iter()
        .map(|name| reader.name("a variable of templates", name));
    let context = context.collect();
    let before_stop = keys.value("before_stop");
    let before_stop = before_stop.map(|value| reader.strings("before_stop", value));
    let doc = reader.doc(&keys);
    let plugin = plugin::plugin(reader, &keys);
    let state = state(reader, &keys, &name);
    let fields = fields::fields(reader, &keys);
    let modes = phases::modes(reader, &keys);
    let phases = phases::phases(reader, &keys);
    let personas = personas::personas(reader, &keys);
    let transitions = transitions::transitions(reader, &keys, &fields);
    let messages = messages.unwrap_or_default();
    Machine {
        name,
        doc,
        messages,
        context,
        before_stop: before_stop.unwrap_or_default(),
        plugin,
        state,
        modes,
        fields,
        phases,
        personas,
        transitions,
    }
}

fn state(reader: &mut Reader<'_>, keys: &Keys<'_>, name: &At<String>) -> State {
    let whole = keys
        .get("state")
        .map_or(name.span.clone(), |(key, _)| key.span());
    let mut state = State {
        folder: At::new(format!(".{}", name.value), whole.clone()),
        folder_env: None,
        file: None,
        extension: At::new(Form::Lines.extension().to_owned(), whole.clone()),
        form: At::new(Form::Lines, whole.clone()),
        ids: At::new(IdForm::Stamp, whole.clone()),
        edits: Vec::new(),
        active: At::new(Active::One, whole),
    };
    let Some(table) = keys
        .value("state")
        .and_then(|value| reader.table("state", value))
    else {
        return state;
    };
    let keys = reader.known(table, &format::STATE);
    if let Some(folder) = keys
        .value("folder")
        .and_then(|value| reader.string("folder", value))
    {
        state.folder = reader.relative("folder", folder, false);
    }
    if let Some(variable) = keys
        .value("folder_env")
        .and_then(|value| reader.string("folder_env", value))
    {
        let rest = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        let fits = variable.value.starts_with(|c: char| c.is_ascii_uppercase())
            && variable.value.bytes().all(rest);
        if !fits {
            let message = format!("`folder_env` cannot be {:?}", variable.value);
            let found =
                Diagnostic::new("claudex::machine::bad_name", variable.span.clone(), message);
            reader.note(
                found.help("a variable's name is A-Z, then A-Z, 0-9 and _: `PLAN_STATE_DIR`"),
            );
        }
        state.folder_env = Some(variable);
    }
    if let Some(file) = keys
        .value("file")
        .and_then(|value| reader.string("file", value))
    {
        state.file = Some(reader.relative("file", file, false));
    }
    if let Some(extension) = keys
        .value("extension")
        .and_then(|value| reader.string("extension", value))
    {
        let rest = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let text = &extension.value;
        let fits = text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.bytes().all(rest)
            && text != "lock";
        if !fits {
            let message = format!("`extension` cannot be {text:?}");
            let found = Diagnostic::new(
                "claudex::machine::bad_name",
                extension.span.clone(),
                message,
            );
            reader.note(found.help(
                "it is letters, digits, `.`, `_` and `-`, without a dot before it, and not `lock`",
            ));
        }
        if state.file.is_some() {
            let message = "`extension` is of documents in the engine's folder, and `file` puts them elsewhere";
            let found = Diagnostic::new(
                "claudex::machine::bad_file",
                extension.span.clone(),
                message.to_owned(),
            );
            reader.note(found.help("leave one of them out"));
        }
        state.extension = extension;
    }
    if let Some(form) = keys
        .value("form")
        .and_then(|value| reader.string("form", value))
        && let Some(form) = reader.choice("form", &form, &Form::ALL)
    {
        state.form = form;
        if keys.value("extension").is_none() {
            state
                .form
                .value
                .extension()
                .clone_into(&mut state.extension.value);
        }
    }
    if let Some(ids) = keys
        .value("ids")
        .and_then(|value| reader.string("ids", value))
        && let Some(ids) = reader.choice("ids", &ids, &IdForm::ALL)
    {
        state.ids = ids;
    }
    if let Some(edits) = keys.value("edits") {
        state.edits = reader.strings("edits", edits);
    }
    if let Some(active) = keys
        .value("active")
        .and_then(|value| reader.string("active", value))
        && let Some(active) = reader.choice("active", &active, &Active::ALL)
    {
        state.active = active;
    }
    state
}

/// Notes that there is more of something than a machine may have.
fn too_many(
    reader: &mut Reader<'_>,
    span: std::ops::Range<usize>,
    what: &str,
    number: usize,
    most: usize,
) {
    let found = Diagnostic::new(
        "claudex::machine::too_large",
        span,
        format!("there are {number} {what}"),
    );
    reader.note(found.help(format!("{most} are the most")));
}

/// The entries of a table of the top level; noted where it is missing and has to be there.
fn section<'t>(
    reader: &mut Reader<'_>,
    keys: &Keys<'t>,
    name: &str,
    example: &str,
) -> Vec<(read::Key<'t>, read::Value<'t>)> {
    let Some((_, value)) = keys.get(name) else {
        reader.missing(0..0, name, "the machine", example);
        return Vec::new();
    };
    reader
        .table(name, value)
        .map(read::in_order)
        .unwrap_or_default()
}

/// The name that a key says, as it stands in the file.
fn key_name(reader: &mut Reader<'_>, what: &str, key: read::Key<'_>) -> At<String> {
    reader.name(
        what,
        At::new(key.get_ref().clone().into_owned(), key.span()),
    )
}

/// The words of `by`.
fn actors(reader: &mut Reader<'_>, keys: &Keys<'_>) -> Vec<At<Actor>> {
    let by = keys.value("by").map(|value| reader.strings("by", value));
    let by = by.unwrap_or_default();
    by.iter()
        .filter_map(|text| reader.choice("by", text, &Actor::ALL))
        .collect()
}

/// Whether a value is `true`; noted where it is no boolean.
fn flag(reader: &mut Reader<'_>, key: &str, value: read::Value<'_>) -> bool {
    match value.get_ref() {
        DeValue::Boolean(flag) => *flag,
        _ => {
            reader.wrong_type(key, value, "true or false");
            false
        }
    }
}
