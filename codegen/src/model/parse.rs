//! The text of a machine file as a [`Machine`].

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::de::{DeTable, Deserializer};
use toml_parser::lexer::TokenKind;

use super::at::place_in_string;
use super::guard::{self, Fault};
use super::like::{Copied, take_copies};
use super::problem::{form_problem, syntax_problem};
use super::{At, Behaviour, Constant, FieldKind, Machine, Transition, Update};
use crate::diagnostic::Diagnostic;

/// The largest machine file, in bytes.
const MAX_FILE_BYTES: usize = 1 << 20;
/// The most parts of a key. The parser bounds nested tables and the parts of a key, but a tree with the product of both
/// overflows the stack.
const MAX_KEY_PARTS: usize = 16;
/// The most phases, and the most modes.
pub(crate) const MAX_PHASES: usize = 4_096;
/// The most fields.
const MAX_FIELDS: usize = 1_024;
/// The most personas.
const MAX_PERSONAS: usize = 100;
/// The most transitions, by their entries.
const MAX_TRANSITIONS: usize = 65_536;

/// Parses a machine file.
///
/// # Errors
/// Returns the first problem of the form, or every guard and update that cannot be parsed.
pub(crate) fn parse(source: &str) -> Result<Machine, Vec<Diagnostic>> {
    let mut machine = parse_form(source)?;
    let mut found = Vec::new();

    machine
        .transitions
        .sort_by_key(|transition| transition.span.start);
    share_docs(&mut machine.transitions);
    for transition in &mut machine.transitions {
        place_name(source, transition);
        parse_guard(source, transition, &mut found);
    }
    parse_updates(source, &mut machine, &mut found);

    if found.is_empty() {
        Ok(machine)
    } else {
        Err(found)
    }
}

fn parse_form(source: &str) -> Result<Machine, Vec<Diagnostic>> {
    if source.len() > MAX_FILE_BYTES {
        let message = format!("the file has {} bytes", source.len());
        return Err(vec![too_large(0..0, message, MAX_FILE_BYTES)]);
    }
    if let Some(span) = deep_key(source) {
        let found = Diagnostic::new("too_deep", span, "a key has too many parts");
        return Err(vec![found.help(format!("use {MAX_KEY_PARTS} at most"))]);
    }
    let (mut table, errors) = DeTable::parse_recoverable(source);
    let first = |error: &&toml::de::Error| error.span().map(|span| span.start);
    if let Some(error) = errors.iter().min_by_key(first) {
        return Err(vec![syntax_problem(error, source)]);
    }
    let copies = take_copies(table.get_mut())?;
    let mut machine = Machine::deserialize(Deserializer::from(table))
        .map_err(|error| vec![form_problem(&error, "", source)])?;
    for Copied { phase, on_stop } in copies {
        let behaviour = Behaviour::deserialize(on_stop.into_deserializer()).map_err(|error| {
            vec![form_problem(
                &error,
                &format!("phases.{phase}.on_stop"),
                source,
            )]
        })?;
        if let Some(phase) = machine.phases.iter_mut().find(|known| *known.name == phase) {
            phase.on_stop = Some(behaviour);
        }
    }
    match oversized_section(&machine) {
        Some(problem) => Err(vec![problem]),
        None => Ok(machine),
    }
}

/// Returns the place of the first key with too many parts.
fn deep_key(source: &str) -> Option<Range<usize>> {
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
        if dots == MAX_KEY_PARTS {
            return Some(token.span().start()..token.span().end());
        }
    }
    None
}

/// Returns the problem of a part of which the machine has too many.
fn oversized_section(machine: &Machine) -> Option<Diagnostic> {
    let names = |name: &At<String>| name.span.clone();
    let modes: Vec<_> = machine.modes.iter().map(|mode| names(&mode.name)).collect();
    let fields: Vec<_> = machine
        .fields
        .iter()
        .map(|field| names(&field.name))
        .collect();
    let phases: Vec<_> = machine
        .phases
        .iter()
        .map(|phase| names(&phase.name))
        .collect();
    let personas = machine.personas.iter().map(|persona| names(&persona.name));
    let transitions = machine.transitions.iter().map(|entry| entry.span.clone());
    let sections = [
        ("modes", MAX_PHASES, modes),
        ("fields", MAX_FIELDS, fields),
        ("phases", MAX_PHASES, phases),
        ("personas", MAX_PERSONAS, personas.collect()),
        ("transitions", MAX_TRANSITIONS, transitions.collect()),
    ];
    sections.into_iter().find_map(|(what, max, places)| {
        let message = format!("there are {} {what}", places.len());
        Some(too_large(places.get(max)?.clone(), message, max))
    })
}

fn too_large(span: Range<usize>, message: String, max: usize) -> Diagnostic {
    Diagnostic::new("too_large", span, message).help(format!("use {max} at most"))
}

/// Gives entries without a `doc` that of the first entry of their transition.
fn share_docs(transitions: &mut [Transition]) {
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

/// Moves the place of a transition's name from its first entry to this one's header.
fn place_name(source: &str, transition: &mut Transition) {
    let header = &source[transition.span.clone()];
    if header.starts_with('[')
        && let Some(at) = header.rfind(&transition.name.value)
    {
        let start = transition.span.start + at;
        transition.name.span = start..start + transition.name.value.len();
    }
}

fn parse_guard(source: &str, transition: &mut Transition, found: &mut Vec<Diagnostic>) {
    let Some(text) = transition.guard_source.take() else {
        return;
    };
    let place = |part: Range<usize>| place_in_string(source, &text, &part);
    match guard::guard(&text.value, &place) {
        Ok(guard) => transition.when = Some(At::new(guard, text.span)),
        Err(fault) => {
            let span = place(fault.part);
            let one = Diagnostic::new("guard", span, fault.message);
            found.push(one.help(fault.help));
        }
    }
}

fn parse_updates(source: &str, machine: &mut Machine, found: &mut Vec<Diagnostic>) {
    let kinds: HashMap<&str, &FieldKind> = machine
        .fields
        .iter()
        .map(|field| (field.name.as_str(), &field.kind))
        .collect();
    for transition in &mut machine.transitions {
        for (field, value) in std::mem::take(&mut transition.update_sources) {
            let span = value.span.clone();
            let kind = kinds.get(field.as_str()).copied();
            match update(kind, &value.value) {
                Ok(update) => transition.set.push((field, At::new(update, span))),
                Err(fault) => {
                    let text = match value.value {
                        Constant::Text(text) => text,
                        Constant::Count(_) | Constant::Flag(_) => String::new(),
                    };
                    let span = place_in_string(source, &At::new(text, span), &fault.part);
                    let message = format!("`{}`: {}", field.value, fault.message);
                    let one = Diagnostic::new("set", span, message);
                    found.push(one.help(fault.help));
                }
            }
        }
    }
}

/// Parses an update. A string is a text for a field of words or text, and an expression for any other.
fn update(kind: Option<&FieldKind>, value: &Constant) -> Result<Update, Fault> {
    let Constant::Text(text) = value else {
        return Ok(Update::Constant(value.clone()));
    };
    let is_expression = matches!(kind, Some(FieldKind::Count | FieldKind::Flag));
    match guard::call_or_argument(text) {
        Some(read) => read,
        None if is_expression => guard::update(text),
        None => Ok(Update::Constant(value.clone())),
    }
}
