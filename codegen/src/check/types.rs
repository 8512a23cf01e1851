//! Types of constants, guards and updates.

use super::{Check, problem};
use crate::diagnostic::{Diagnostic, list};
use crate::model::{
    At, AtStart, Comparison, Constant, Field, FieldKind, Guard, Named, Operand, Read, Sign, Update,
};

/// Reports values that do not fit.
pub(super) fn check_types(check: &Check<'_>) {
    for field in &check.machine.fields {
        let is_special = field.at_start != AtStart::Never || !field.within.is_empty();
        if is_special && foreign_problem(&field.name, &field.kind).is_some() {
            check.add("type_foreign", &field.name, &[&field.kind.to_string()]);
        }
        if let Some(initial) = &field.initial {
            check_constant(check, field, initial);
        }
    }
    for (name, value) in check.machine.modes.iter().flat_map(|mode| &mode.initial) {
        if let Some(field) = check.field(name) {
            check_constant(check, field, value);
        }
    }
    for entry in &check.machine.transitions {
        if let Some(when) = &entry.when {
            check_guard(check, when);
        }
        for (name, update) in &entry.set {
            if let Some(field) = check.field(name) {
                let problem =
                    foreign_problem(name, &field.kind).or_else(|| update_problem(field, update));
                check.report(update.span(), problem);
            }
        }
    }
}

/// Returns why guards and updates cannot use a field.
fn foreign_problem(name: &str, kind: &FieldKind) -> Option<Diagnostic> {
    let is_foreign = matches!(kind, FieldKind::Engine(_) | FieldKind::Data(_));
    is_foreign.then(|| problem("type_unusable", &[name, &kind.to_string()]))
}

pub(super) fn count_problem(name: &str, kind: &FieldKind) -> Option<Diagnostic> {
    (*kind != FieldKind::Count).then(|| problem("type_count", &[name, &kind.to_string()]))
}

/// Returns the problem of a value of another type. `kind` is that of `name`.
fn type_problem(name: &str, kind: &FieldKind, other: &Read) -> Option<Diagnostic> {
    let other_kind = other.kind.as_ref()?;
    let is_text = |kind: &FieldKind| matches!(kind, FieldKind::Text | FieldKind::Path);
    let is_same = kind == other_kind || is_text(kind) && is_text(other_kind);
    let kinds = [kind.to_string(), other_kind.to_string()];
    (!is_same).then(|| problem("type_differs", &[name, &kinds[0], &other.key(), &kinds[1]]))
}

/// Returns the problem of a constant for a field or an argument.
pub(super) fn value_problem(name: &str, kind: &FieldKind, value: &Constant) -> Option<Diagnostic> {
    let help = match (kind, value) {
        (FieldKind::Count, Constant::Count(_))
        | (FieldKind::Flag, Constant::Flag(_))
        | (FieldKind::Text | FieldKind::Path, Constant::Text(_)) => return None,
        (FieldKind::OneOf(words), Constant::Text(text))
            if words.iter().any(|word| word.as_str() == text) =>
        {
            return None;
        }
        (FieldKind::Data(_) | FieldKind::Engine(_), _) => return foreign_problem(name, kind),
        (FieldKind::Count, _) => "write a whole number from 0".to_owned(),
        (FieldKind::Flag, _) => "write true or false, without quotes".to_owned(),
        (FieldKind::Text | FieldKind::Path, _) => "write a text in quotes".to_owned(),
        (FieldKind::OneOf(words), _) => format!("its words are {}", list(words)),
    };
    let args = [name, &kind.to_string(), &value.to_string(), &help];
    Some(problem("type_constant", &args))
}

pub(super) fn check_constant(check: &Check<'_>, field: &Named<Field>, value: &At<Constant>) {
    check.report(value.span(), value_problem(&field.name, &field.kind, value));
}

fn check_guard(check: &Check<'_>, when: &Guard) {
    let is_optional = |read: &&Read| read.is_argument && read.is_option;
    for read in when.reads().filter(is_optional) {
        check.add("type_optional", &read.name, &[]);
    }
    for Comparison { left, sign, right } in when.comparisons() {
        let Some(kind) = &left.kind else { continue };
        let name = &left.key();
        if let Some(problem) = sign_problem(left, *sign) {
            check.report(left.name.span(), Some(problem));
            continue;
        }
        match right {
            Operand::Constant(value) => {
                check.report(left.name.span(), value_problem(name, kind, value))
            }
            Operand::Read(read) => {
                let problem = sign_problem(read, *sign).or_else(|| type_problem(name, kind, read));
                check.report(read.name.span(), problem);
            }
        }
    }
}

/// Returns why a guard cannot compare a field or an argument by a sign.
fn sign_problem(read: &Read, sign: Sign) -> Option<Diagnostic> {
    let kind = read.kind.as_ref()?;
    let key = read.key();
    if matches!(sign, Sign::Equal | Sign::NotEqual) && read.offset == 0 {
        return foreign_problem(&key, kind);
    }
    foreign_problem(&key, kind).or_else(|| count_problem(&key, kind))
}

fn update_problem(field: &Named<Field>, update: &Update) -> Option<Diagnostic> {
    let name = &field.name;
    let kind = &field.kind;
    let sum_problem = |read: &Read| count_problem(&read.key(), read.kind.as_ref()?);
    match update {
        Update::Value(Operand::Constant(value)) => value_problem(name, kind, value),
        Update::Value(Operand::Read(read)) => match (read.kind.as_ref()?, kind) {
            (FieldKind::OneOf(_), FieldKind::Text) => None,
            (FieldKind::OneOf(words), FieldKind::OneOf(_)) => {
                let mut words = words.iter().map(|word| Constant::Text(word.to_string()));
                words.find_map(|word| value_problem(name, kind, &word))
            }
            _ if read.offset != 0 => count_problem(name, kind).or_else(|| sum_problem(read)),
            _ => type_problem(name, kind, read),
        },
        Update::Next(read) => match read.kind.as_ref()? {
            FieldKind::OneOf(_) if !read.is_argument => type_problem(name, kind, read),
            other => Some(problem("type_next", &[&read.name, &other.to_string()])),
        },
        Update::Plus(read, argument) => count_problem(name, kind)
            .or_else(|| sum_problem(read))
            .or_else(|| sum_problem(argument)),
    }
}
