//! The text of a machine file as a [`Machine`].

use serde::Deserialize;
use toml::de::{DeTable, Deserializer};

use super::field::declared_kinds;
use super::like::complete_phases;
use super::parser::{Scope, parse_guard, parse_update};
use super::problem::{form_problem, syntax_problem};
use super::{At, Constant, FieldKind, Machine, Named, Operand, Update};
use crate::diagnostic::Diagnostic;

/// Parses a machine file.
pub(crate) fn parse(source: &str) -> Result<Machine, Vec<Diagnostic>> {
    let mut machine = parse_form(source).map_err(|problem| vec![problem])?;
    let mut found = Vec::new();
    for field in &mut machine.fields {
        let kind = only_kind(
            &field.name,
            field.kinds(),
            "`type`, `one_of`, `data` and `holds`",
        );
        field.kind = keep(kind, &mut found).unwrap_or_default();
    }

    let transitions = &mut machine.transitions;
    transitions.sort_by_key(|transition| transition.span.start);
    for transition in transitions {
        for argument in &mut transition.args {
            let kinds = declared_kinds(&argument.r#type, &argument.one_of);
            let kind = only_kind(&argument.name, kinds, "`type` and `one_of`");
            argument.kind = keep(kind, &mut found).unwrap_or_default();
        }

        let scope = Scope {
            source,
            fields: &machine.fields,
            transition,
        };
        let guard = transition.guard_text.as_ref().and_then(|text| {
            let guard = keep(parse_guard(scope, text), &mut found)?;
            Some(At::new(guard, text.span.clone()))
        });
        let updates = transition.update_texts.iter().filter_map(|(name, value)| {
            let kind = Named::find(scope.fields, name).map(|field| &field.kind);
            let update = match expression(kind, value) {
                Some(text) => keep(parse_update(scope, &text), &mut found)?,
                None => Update::Value(Operand::Constant(value.value.clone())),
            };
            Some((name.clone(), At::new(update, value.span.clone())))
        });
        let updates = updates.collect();
        transition.when = guard;
        transition.set = updates;
    }
    if found.is_empty() {
        Ok(machine)
    } else {
        Err(found)
    }
}

/// Returns a result, or notes its problem.
fn keep<T>(result: Result<T, Diagnostic>, found: &mut Vec<Diagnostic>) -> Option<T> {
    result.map_err(|problem| found.push(problem)).ok()
}

/// Returns the type of a field or an argument.
fn only_kind(
    name: &At<String>,
    kinds: Vec<FieldKind>,
    keys: &str,
) -> Result<FieldKind, Diagnostic> {
    <[FieldKind; 1]>::try_from(kinds)
        .map(|[kind]| kind)
        .map_err(|kinds| {
            let message = format!("`{name}` needs one type, but has {}", kinds.len());
            let problem = Diagnostic::new("type_keys", name.span.clone(), message);
            problem.help(format!("keep or add one of {keys}"))
        })
}

fn parse_form(source: &str) -> Result<Machine, Diagnostic> {
    let (mut table, errors) = DeTable::parse_recoverable(source);
    let first = |error: &&toml::de::Error| error.span().map(|span| span.start);
    if let Some(error) = errors.iter().min_by_key(first) {
        return Err(syntax_problem(error, source));
    }
    complete_phases(table.get_mut())?;
    Machine::deserialize(Deserializer::from(table)).map_err(|error| form_problem(&error, source))
}

/// Returns the expression of an update. A string is one for a count or a flag, and for any other field if it begins so.
fn expression(kind: Option<&FieldKind>, value: &At<Constant>) -> Option<At<String>> {
    let is_number = matches!(kind, Some(FieldKind::Count | FieldKind::Flag));
    let is_expression = |text: &str| text.starts_with("next(") || text.starts_with("args.");
    match &value.value {
        Constant::Text(text) if is_number || is_expression(text) => {
            Some(At::new(text.clone(), value.span.clone()))
        }
        _ => None,
    }
}
