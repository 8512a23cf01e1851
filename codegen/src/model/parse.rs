//! The text of a machine file as a [`Machine`].

use serde::Deserialize;
use toml::de::{DeTable, Deserializer};

use super::like::complete_phases;
use super::parser::{Scope, parse_guard, parse_update};
use super::problem::form_problem;
use super::{At, Constant, Entry, FieldKind, Machine, Named, Operand, Update};
use crate::diagnostic::Diagnostic;
use crate::emit::ident::{camel, type_of_kind};

pub(crate) fn parse(source: &str) -> Result<Machine, Vec<Diagnostic>> {
    let mut machine = parse_form(source).map_err(|problem| vec![problem])?;
    let mut found = Vec::new();
    for field in &mut machine.fields {
        let data = field.data.as_ref().map(|name| name.to_string());
        let kinds = [
            field.r#type.clone(),
            FieldKind::from_words(&field.one_of),
            data.map(FieldKind::Data),
            field.holds.map(FieldKind::Engine),
        ];
        let keys = "`type`, `one_of`, `data` and `holds`";
        field.kind = keep(single_kind(&field.name, kinds, keys), &mut found).unwrap_or_default();
        field.ty = type_of_kind(&field.kind, camel(&field.name));
    }

    let unsorted = &mut machine.transitions;
    unsorted.sort_by_key(|entry| entry.name.span().start);
    let entries = machine.transitions.iter();
    let resolved: Vec<_> = entries.map(|entry| sources(&machine, entry)).collect();
    for (transition, from) in machine.transitions.iter_mut().zip(resolved) {
        transition.from = from;
        let prefix = camel(&transition.name);
        for argument in &mut transition.args {
            let words = FieldKind::from_words(&argument.one_of);
            let kinds = [argument.r#type.clone(), words];
            let kind = single_kind(&argument.name, kinds, "`type` and `one_of`");
            argument.kind = keep(kind, &mut found).unwrap_or_default();
            let type_name = format!("{prefix}{}", camel(&argument.name));
            argument.ty = type_of_kind(&argument.kind, type_name);
        }

        let scope = Scope {
            source,
            fields: &machine.fields,
            transition,
        };
        let guard = transition.guard_text.as_ref().and_then(|text| {
            let guard = keep(parse_guard(scope, text), &mut found)?;
            Some(At::new(guard, text.span()))
        });
        let updates = transition.update_texts.iter().filter_map(|(name, value)| {
            let kind = Named::find(scope.fields, name).map(|field| &field.kind);
            let update = match expression(kind, value) {
                Some(text) => keep(parse_update(scope, &text), &mut found)?,
                None => Update::Value(Operand::Constant(Constant::clone(value))),
            };
            Some((name.clone(), At::new(update, value.span())))
        });
        let updates = updates.collect();
        transition.when = guard;
        transition.set = updates;
    }
    found.is_empty().then_some(machine).ok_or(found)
}

/// Returns an entry's sources. `*` is every phase that is neither terminal nor in another entry.
fn sources(machine: &Machine, entry: &Entry) -> Vec<At<String>> {
    if entry.from.len() != 1 || *entry.from[0] != *"*" {
        return entry.from.clone();
    }
    let entries = machine.transitions.iter();
    let others = entries.filter(|other| other.name == entry.name);
    let explicit = others.flat_map(|other| &other.from);
    let phases = machine.phases.iter().filter(|phase| !phase.terminal);
    let left = phases.filter(|phase| !explicit.clone().any(|from| *from == phase.name));
    let span = entry.from[0].span();
    left.map(|phase| At::new(phase.name.to_string(), span.clone()))
        .collect()
}

/// Returns a result, or notes its problem.
fn keep<T>(result: Result<T, Diagnostic>, found: &mut Vec<Diagnostic>) -> Option<T> {
    result.map_err(|problem| found.push(problem)).ok()
}

/// Returns the type of a field or an argument.
fn single_kind<const N: usize>(
    name: &At<String>,
    kinds: [Option<FieldKind>; N],
    keys: &str,
) -> Result<FieldKind, Diagnostic> {
    let kinds: Vec<FieldKind> = kinds.into_iter().flatten().collect();
    let message = format!("`{name}` needs one type, but has {}", kinds.len());
    let problem = Diagnostic::new("type_keys", name.span(), message);
    let [kind] = <[FieldKind; 1]>::try_from(kinds)
        .map_err(|_| problem.help(format!("keep or add one of {keys}")))?;
    Ok(kind)
}

fn parse_form(source: &str) -> Result<Machine, Diagnostic> {
    let (mut file, errors) = DeTable::parse_recoverable(source);
    let start = |error: &&toml::de::Error| error.span().map(|span| span.start);
    if let Some(error) = errors.iter().min_by_key(start) {
        let span = error.span().unwrap_or(source.len()..source.len());
        let message = format!("not TOML: {}", error.message());
        return Err(Diagnostic::new("syntax", span, message));
    }
    complete_phases(file.get_mut())?;
    Machine::deserialize(Deserializer::from(file)).map_err(|error| form_problem(&error, source))
}

/// Returns the expression of an update: any text for a count or a flag, else a call or an argument.
fn expression(kind: Option<&FieldKind>, value: &At<Constant>) -> Option<At<String>> {
    let is_number = matches!(kind, Some(FieldKind::Count | FieldKind::Flag));
    let is_expression = |text: &str| text.starts_with("next(") || text.starts_with("args.");
    match &**value {
        Constant::Text(text) if is_number || is_expression(text) => {
            Some(At::new(text.clone(), value.span()))
        }
        _ => None,
    }
}
