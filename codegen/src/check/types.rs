//! Types of constants, guards and updates.

use std::collections::HashSet;

use super::{Check, problem};
use crate::diagnostic::{Diagnostic, list, suggest};
use crate::model::{At, AtStart, Constant, Field, FieldKind, Operand, Sign, Transition, Update};

/// Reports values that do not fit, and unknown arguments. Returns the starts of the entries with a problem.
pub(super) fn types(check: &Check<'_>) -> HashSet<usize> {
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
    let mut broken = HashSet::new();
    for entry in &check.machine.transitions {
        let before = check.found_count();
        guard(check, entry);
        for (name, value) in &entry.set {
            if let Some(field) = check.fields.get(name.as_str()) {
                check.report(&value.span, update_problem(check, entry, field, value));
            }
        }
        if check.found_count() > before {
            broken.insert(entry.span.start);
        }
    }
    broken
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

enum Side<'m> {
    Read(At<String>, &'m FieldKind),
    Constant(&'m Constant),
}

fn guard<'m>(check: &Check<'m>, entry: &'m Transition) {
    let Some(when) = &entry.when else { return };
    for (left, sign, right) in when.comparisons() {
        let sides = [left, right].map(|operand| side(check, entry, operand, sign));
        let (place, wrong) = match &sides {
            [Some(Side::Read(name, kind)), Some(Side::Constant(value))]
            | [Some(Side::Constant(value)), Some(Side::Read(name, kind))] => {
                (&name.span, misfit(name, kind, value))
            }
            [Some(Side::Read(a, a_kind)), Some(Side::Read(b, b_kind))] => {
                (&b.span, differs(a, a_kind, b, b_kind))
            }
            [Some(Side::Constant(_)), Some(Side::Constant(_))] => {
                (&when.span, Some(problem("type_two_constants", &[])))
            }
            _ => continue,
        };
        check.report(place, wrong);
    }
}

/// Returns a side with its type, or reports its problem.
fn side<'m>(
    check: &Check<'m>,
    entry: &'m Transition,
    operand: &'m Operand,
    sign: Sign,
) -> Option<Side<'m>> {
    let read = match operand {
        Operand::Constant(value) => return Some(Side::Constant(value)),
        Operand::Read(read) => read,
    };
    let name = &read.name;
    let kind = if read.is_argument {
        let argument = check.find_argument(entry, name)?;
        if argument.optional {
            check.add("type_optional", name, &[]);
        }
        &argument.kind
    } else {
        &check.fields.get(name.as_str())?.kind
    };
    let text = read.key();
    let is_equality = matches!(sign, Sign::Equal | Sign::NotEqual) && read.offset == 0;
    let not_count = no_count(&text, kind).filter(|_| !is_equality);
    let wrong = unusable(&text, kind).or(not_count);
    let side = Side::Read(At::new(text, name.span.clone()), kind);
    let is_right = wrong.is_none();
    check.report(&name.span, wrong);
    is_right.then_some(side)
}

/// Returns the problem of an update of a field. Reports an unknown argument.
fn update_problem(
    check: &Check<'_>,
    entry: &Transition,
    field: &Field,
    update: &At<Update>,
) -> Option<Diagnostic> {
    let name = &field.name;
    let kind = &field.kind;
    let at = |name: &str| At::new(name.to_owned(), update.span.clone());
    let source = update.field().and_then(|name| check.fields.get(name));
    let argument = update
        .argument()
        .map(|name| check.find_argument(entry, &at(name)));
    let argument_name = format!("args.{}", update.argument().unwrap_or_default());
    let wrong = match (&update.value, source, argument.flatten()) {
        (Update::Constant(value), ..) => misfit(name, kind, value),
        (Update::Next(_), Some(source), _) => match source.kind {
            FieldKind::OneOf(_) => differs(name, kind, &source.name, &source.kind),
            _ => Some(problem(
                "type_next",
                &[&source.name, describe(&source.kind)],
            )),
        },
        (Update::Argument(_), _, Some(argument)) => match (&argument.kind, kind) {
            (FieldKind::OneOf(_), FieldKind::Text) => None,
            (FieldKind::OneOf(words), FieldKind::OneOf(_)) => {
                let mut words = words.iter().map(|word| Constant::Text(word.to_string()));
                words.find_map(|word| misfit(name, kind, &word))
            }
            (other, _) => differs(name, kind, &argument_name, other),
        },
        (Update::Field { .. } | Update::Plus { .. }, source, argument) => no_count(name, kind)
            .or(source.and_then(|source| no_count(&source.name, &source.kind)))
            .or(argument.and_then(|one| no_count(&argument_name, &one.kind))),
        _ => None,
    };
    unusable(name, kind).or(wrong)
}
