//! The text of a machine file as a [`Machine`].

use std::collections::HashMap;

use serde::Deserialize;
use toml::de::{DeTable, Deserializer};

use super::like::complete_phases;
use super::parser::{parse_guard, parse_update};
use super::problem::{form_problem, syntax_problem};
use super::{At, Constant, FieldKind, Machine, Operand, Update};
use crate::diagnostic::Diagnostic;

/// Parses a machine file.
pub(crate) fn parse(source: &str) -> Result<Machine, Vec<Diagnostic>> {
    let mut machine = parse_form(source).map_err(|problem| vec![problem])?;
    let mut found = Vec::new();
    for field in &mut machine.fields {
        let keys = "`type`, `one_of`, `data` and `holds`";
        let kind = only_kind(&field.name, field.kinds(), keys);
        field.kind = keep(kind, &mut found).unwrap_or_default();
    }
    let fields = machine.fields.iter();
    let kinds: HashMap<_, _> = fields
        .map(|field| (field.name.as_str(), &field.kind))
        .collect();
    let mut docs: HashMap<String, String> = HashMap::new();

    let transitions = &mut machine.transitions;
    transitions.sort_by_key(|transition| transition.span.start);
    for transition in transitions {
        // Entries without a `doc` have that of the first entry of their transition.
        let doc = docs.entry(transition.name.value.clone());
        let doc = doc.or_insert_with(|| transition.doc.clone());
        if transition.doc.is_empty() {
            transition.doc.clone_from(doc);
        }
        for argument in &mut transition.args {
            let kind = only_kind(&argument.name, argument.kinds(), "`type` and `one_of`");
            argument.kind = keep(kind, &mut found).unwrap_or_default();
        }
        if let Some(text) = transition.guard_source.take() {
            let guard = keep(parse_guard(source, &text), &mut found);
            transition.when = guard.map(|guard| At::new(guard, text.span));
        }
        for (field, value) in std::mem::take(&mut transition.update_sources) {
            let kind = kinds.get(field.as_str()).copied();
            let update = keep(update(source, kind, &value), &mut found);
            let update = update.map(|update| (field, At::new(update, value.span)));
            transition.set.extend(update);
        }
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
    let count = kinds.len();
    let message = format!("`{name}` needs one type, but has {count}");
    let problem = Diagnostic::new("type_keys", name.span.clone(), message);
    let problem = problem.help(format!("keep or add one of {keys}"));
    kinds
        .into_iter()
        .next()
        .filter(|_| count == 1)
        .ok_or(problem)
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

/// Parses an update. A string is an expression for a count or a flag. For any other field it is one if it begins so.
fn update(
    source: &str,
    kind: Option<&FieldKind>,
    value: &At<Constant>,
) -> Result<Update, Diagnostic> {
    let is_number = matches!(kind, Some(FieldKind::Count | FieldKind::Flag));
    let is_expression = |text: &str| text.starts_with("next(") || text.starts_with("args.");
    match &value.value {
        Constant::Text(text) if is_number || is_expression(text) => {
            parse_update(source, &At::new(text.clone(), value.span.clone()))
        }
        constant => Ok(Update::Value(Operand::Constant(constant.clone()))),
    }
}
