//! The text of a machine file as a [`Machine`].

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::de::{DeTable, Deserializer};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::at::place_in_string;
use super::guard;
use super::like::{Copied, take_copies};
use super::problem::{form_problem, syntax_problem};
use super::{At, Behaviour, Constant, FieldKind, Machine, Transition, Update};
use crate::diagnostic::Diagnostic;

/// The largest machine file, in bytes.
const MAX_FILE_BYTES: usize = 1 << 20;
/// The most parts of a key. The parser bounds nested tables and the parts of a key, but dropping a tree of their product
/// overflows the stack.
const MAX_KEY_PARTS: usize = 16;
/// The most phases, and the most modes.
const MAX_PHASES: usize = 4_096;
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
    let fields = machine.fields.iter();
    let kinds: HashMap<_, _> = fields
        .map(|field| (field.name.as_str(), &field.kind))
        .collect();
    for transition in &mut machine.transitions {
        place_name(source, transition);
        parse_guard(source, transition, &mut found);
        parse_updates(source, transition, &kinds, &mut found);
    }

    if found.is_empty() {
        Ok(machine)
    } else {
        Err(found)
    }
}

fn parse_form(source: &str) -> Result<Machine, Vec<Diagnostic>> {
    if source.len() > MAX_FILE_BYTES {
        let message = format!("the file has {} bytes", source.len());
        return Err(vec![too_large(message, MAX_FILE_BYTES)]);
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
    use TokenKind::{Atom, BasicString, Dot, LiteralString, Whitespace};

    let mut dots = 0;
    Source::new(source).lex().find_map(|token| {
        match token.kind() {
            Dot => dots += 1,
            Atom | Whitespace | BasicString | LiteralString => {}
            _ => dots = 0,
        }
        (dots == MAX_KEY_PARTS).then(|| token.span().start()..token.span().end())
    })
}

/// Returns the problem of a section with too many entries.
fn oversized_section(machine: &Machine) -> Option<Diagnostic> {
    let sections = [
        ("modes", machine.modes.len(), MAX_PHASES),
        ("fields", machine.fields.len(), MAX_FIELDS),
        ("phases", machine.phases.len(), MAX_PHASES),
        ("personas", machine.personas.len(), MAX_PERSONAS),
        ("transitions", machine.transitions.len(), MAX_TRANSITIONS),
    ];
    let (name, count, max) = sections.into_iter().find(|(_, count, max)| count > max)?;
    Some(too_large(format!("there are {count} {name}"), max))
}

fn too_large(message: String, max: usize) -> Diagnostic {
    Diagnostic::new("too_large", 0..0, message).help(format!("use {max} at most"))
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
            let one = Diagnostic::new("guard", place(fault.part), fault.message);
            found.push(one.help(fault.help));
        }
    }
}

/// Parses the updates. A string is an expression for a count or a flag. For any other field it is one if it begins so.
fn parse_updates(
    source: &str,
    transition: &mut Transition,
    kinds: &HashMap<&str, &FieldKind>,
    found: &mut Vec<Diagnostic>,
) {
    for (field, value) in std::mem::take(&mut transition.update_sources) {
        let is_number = matches!(
            kinds.get(field.as_str()),
            Some(FieldKind::Count | FieldKind::Flag)
        );
        let is_expression =
            |text: &str| is_number || text.starts_with("next(") || text.starts_with("args.");
        let update = match value.value {
            Constant::Text(text) if is_expression(&text) => {
                let text = At::new(text, value.span.clone());
                match guard::update(&text) {
                    Ok(update) => update,
                    Err(fault) => {
                        let span = place_in_string(source, &text, &fault.part);
                        let one =
                            Diagnostic::new("set", span, format!("`{field}`: {}", fault.message));
                        found.push(one.help(fault.help));
                        continue;
                    }
                }
            }
            constant => Update::Constant(constant),
        };
        transition.set.push((field, At::new(update, value.span)));
    }
}
