//! Types of constants, guards and updates.

use super::{Check, problem};
use crate::diagnostic::{Diagnostic, list, suggest};
use crate::model::{
    At, AtStart, Constant, Field, FieldKind, Operand, Read, Sign, Transition, Update,
};

/// Reports initial values that do not fit.
pub(super) fn types(check: &Check<'_>) {
    for field in &check.machine.fields {
        let is_special = field.at_start != AtStart::Never || field.within.is_some();
        if is_special && unusable(&field.name, &field.kind).is_some() {
            check.add("type_foreign", &field.name, &[describe(&field.kind)]);
        }
        if let Some(initial) = &field.initial {
            constant(check, field, initial);
        }
    }
    for (name, value) in check.machine.modes.iter().flat_map(|mode| &mode.initial) {
        if let Some(field) = check.fields.get(name.as_str()) {
            constant(check, field, value);
        }
    }
}

/// Reports values of an entry that do not fit, and unknown arguments.
pub(super) fn transition(check: &Check<'_>, entry: &Transition) {
    guard(check, entry);
    for (name, value) in &entry.set {
        if let Some(field) = check.fields.get(name.as_str()) {
            check.report(&value.span, update_problem(check, entry, field, value));
        }
    }
}

pub(super) fn describe(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Count => "a count",
        FieldKind::Text => "text",
        FieldKind::Path => "a path",
        FieldKind::Flag => "a flag",
        FieldKind::OneOf(_) => "one of a list of words",
        FieldKind::Data(_) => "data of the program",
        FieldKind::Held(_) => "set by the engine",
    }
}

/// Returns why guards and updates cannot use a field.
fn unusable(name: &str, kind: &FieldKind) -> Option<Diagnostic> {
    let is_foreign = matches!(kind, FieldKind::Held(_) | FieldKind::Data(_));
    is_foreign.then(|| problem("type_unusable", &[name, describe(kind)]))
}

pub(super) fn no_count(name: &str, kind: &FieldKind) -> Option<Diagnostic> {
    (*kind != FieldKind::Count).then(|| problem("type_count", &[name, describe(kind)]))
}

fn differs(a: &str, a_kind: &FieldKind, b: &str, b_kind: &FieldKind) -> Option<Diagnostic> {
    let is_text = |kind: &FieldKind| matches!(kind, FieldKind::Text | FieldKind::Path);
    let is_same = a_kind == b_kind || is_text(a_kind) && is_text(b_kind);
    let args = [a, describe(a_kind), b, describe(b_kind)];
    (!is_same).then(|| problem("type_differs", &args))
}

/// Returns the problem of a constant for a field or an argument.
pub(super) fn misfit(name: &str, kind: &FieldKind, value: &Constant) -> Option<Diagnostic> {
    let help = match (kind, value) {
        (FieldKind::Count, Constant::Count(_))
        | (FieldKind::Flag, Constant::Flag(_))
        | (FieldKind::Text | FieldKind::Path, Constant::Text(_)) => return None,
        (FieldKind::Data(_) | FieldKind::Held(_), _) => return unusable(name, kind),
        (FieldKind::Count, _) => "write a whole number from 0".to_owned(),
        (FieldKind::Flag, _) => "write true or false, without quotes".to_owned(),
        (FieldKind::Text | FieldKind::Path, _) => "write a text in quotes".to_owned(),
        (FieldKind::OneOf(words), value) => {
            let words: Vec<&str> = words.iter().map(|word| word.as_str()).collect();
            let help = format!("its words are {}", list(&words));
            match value {
                Constant::Text(word) if words.contains(&word.as_str()) => return None,
                Constant::Text(word) => suggest(word, words.into_iter()).unwrap_or(help),
                _ => help,
            }
        }
    };
    let value = value.to_string();
    Some(problem(
        "type_constant",
        &[name, describe(kind), &value, &help],
    ))
}

pub(super) fn constant(check: &Check<'_>, field: &Field, value: &At<Constant>) {
    check.report(&value.span, misfit(&field.name, &field.kind, value));
}

fn guard(check: &Check<'_>, entry: &Transition) {
    let Some(when) = &entry.when else { return };
    for (left, sign, right) in when.comparisons() {
        let is_equality = matches!(sign, Sign::Equal | Sign::NotEqual);
        let is_right = |operand: &Operand| match operand {
            Operand::Constant(_) => true,
            Operand::Read(read) => compared(check, entry, read, is_equality),
        };
        if !(is_right(left) & is_right(right)) {
            continue;
        }
        let kind = |read| check.kind(entry, read).unwrap_or(&FieldKind::Count);
        let (place, problem) = match (left, right) {
            (Operand::Read(read), Operand::Constant(value))
            | (Operand::Constant(value), Operand::Read(read)) => {
                (&read.name.span, misfit(&read.key(), kind(read), value))
            }
            (Operand::Read(one), Operand::Read(other)) => {
                let keys = [one, other].map(Read::key);
                let problem = differs(&keys[0], kind(one), &keys[1], kind(other));
                (&other.name.span, problem)
            }
            (Operand::Constant(_), Operand::Constant(_)) => {
                (&when.span, Some(problem("type_two_constants", &[])))
            }
        };
        check.report(place, problem);
    }
}

/// Checks a field or an argument that a guard compares. Returns whether it can be compared so.
fn compared(check: &Check<'_>, entry: &Transition, read: &Read, is_equality: bool) -> bool {
    let name = &read.name;
    if read.is_argument
        && let Some(argument) = check.find_argument(entry, name)
        && argument.optional
    {
        check.add("type_optional", name, &[]);
    }
    let Some(kind) = check.kind(entry, read) else {
        return false;
    };
    let key = read.key();
    let not_count = || no_count(&key, kind).filter(|_| !is_equality || read.offset != 0);
    let problem = unusable(&key, kind).or_else(not_count);
    let is_right = problem.is_none();
    check.report(&name.span, problem);
    is_right
}

/// Returns the problem of an update of a field. Reports unknown arguments.
fn update_problem(
    check: &Check<'_>,
    entry: &Transition,
    field: &Field,
    update: &Update,
) -> Option<Diagnostic> {
    let name = &field.name;
    let kind = &field.kind;
    for argument in update.reads().filter(|read| read.is_argument) {
        check.find_argument(entry, &argument.name);
    }
    let not_count = |read: &Read| no_count(&read.key(), check.kind(entry, read)?);
    let problem = match update {
        Update::Value(Operand::Constant(value)) => misfit(name, kind, value),
        Update::Value(Operand::Read(read)) => match (check.kind(entry, read)?, kind) {
            (FieldKind::OneOf(_), FieldKind::Text) => None,
            (FieldKind::OneOf(words), FieldKind::OneOf(_)) => {
                let mut words = words.iter().map(|word| Constant::Text(word.to_string()));
                words.find_map(|word| misfit(name, kind, &word))
            }
            _ if read.offset != 0 => no_count(name, kind).or_else(|| not_count(read)),
            (other, _) => differs(name, kind, &read.key(), other),
        },
        Update::Next(read) => match check.kind(entry, read)? {
            other @ FieldKind::OneOf(_) => differs(name, kind, &read.name, other),
            other => Some(problem("type_next", &[&read.name, describe(other)])),
        },
        Update::Plus(read, argument) => no_count(name, kind)
            .or_else(|| not_count(read))
            .or_else(|| not_count(argument)),
    };
    unusable(name, kind).or(problem)
}
