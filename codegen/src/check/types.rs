//! Types of constants, guards and updates.

use std::collections::HashSet;
use std::fmt::Display;

use super::{Check, problem, sources};
use crate::diagnostic::{Diagnostic, list, suggest};
use crate::model::{
    At, Constant, Field, FieldKind, Operand, Sign, To, Transition, Update, constant_text,
    update_text,
};

/// Reports what does not fit, and unknown names in modes and transitions. Returns the starts of the entries with a
/// problem.
pub(super) fn types(check: &Check<'_>) -> HashSet<usize> {
    let machine = check.machine;
    for field in &machine.fields {
        if let Some(initial) = &field.initial {
            constant(check, field, initial);
        }
    }
    for mode in &machine.modes {
        check.has_phase(&mode.start);
        for (name, value) in &mode.initial {
            if let Some(field) = check.find_field(name) {
                constant(check, field, value);
            }
        }
    }
    let mut broken = HashSet::new();
    for entry in &machine.transitions {
        let before = check.found_count();
        for name in sources(entry) {
            check.has_phase(name);
        }
        if let To::Phase(name) = &entry.to {
            check.has_phase(name);
        }
        guard(check, entry);
        for (name, value) in &entry.set {
            update(check, entry, name, value);
        }
        if check.found_count() > before {
            broken.insert(entry.span.start);
        }
    }
    broken
}

/// Describes what a field or an argument holds.
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
    match kind {
        FieldKind::Held(_) => Some(problem("type_held", &[&name])),
        FieldKind::Data(_) => Some(problem("type_data", &[&name])),
        _ => None,
    }
}

/// Returns what is wrong with a constant for a field or an argument.
pub(super) fn misfit(name: &str, kind: &FieldKind, value: &Constant) -> Option<Diagnostic> {
    let help = match (kind, value) {
        (FieldKind::Count, Constant::Count(_)) | (FieldKind::Flag, Constant::Flag(_)) => {
            return None;
        }
        (FieldKind::Text | FieldKind::Path, Constant::Text(_)) => return None,
        (FieldKind::Data(_) | FieldKind::Held(_), _) => return unusable(name, kind),
        (FieldKind::Count, _) => "write a whole number from 0".to_owned(),
        (FieldKind::Flag, _) => "write true or false, without quotes".to_owned(),
        (FieldKind::Text | FieldKind::Path, _) => "write a text in quotes".to_owned(),
        (FieldKind::OneOf(words), value) => {
            let words: Vec<&str> = words.iter().map(|word| &*word.value).collect();
            let help = format!("its words are {}", list(&words));
            match value {
                Constant::Text(word) if words.contains(&word.as_str()) => return None,
                Constant::Text(word) => suggest(word, words.into_iter()).unwrap_or(help),
                _ => help,
            }
        }
    };
    let is = describe(kind);
    let value = constant_text(value);
    Some(problem("type_constant", &[&name, &is, &value, &help]))
}

/// Reports a constant that does not fit a field.
pub(super) fn constant(check: &Check<'_>, field: &Field, value: &At<Constant>) {
    if let Some(problem) = misfit(&field.name, &field.kind, value) {
        check.report(&value.span, problem);
    }
}

fn guard<'m>(check: &Check<'m>, entry: &'m Transition) {
    let Some(when) = &entry.when else { return };
    for (left, sign, right) in when.comparisons() {
        let before = check.found_count();
        let sides = [left, right].map(|operand| side(check, entry, operand, sign));
        if check.found_count() > before {
            continue;
        }
        match (&sides, left, right) {
            ([None, None], ..) => check.add("type_two_constants", &when.span, &[]),
            ([Some((name, kind)), None], _, Operand::Constant(value))
            | ([None, Some((name, kind))], Operand::Constant(value), _) => {
                if let Some(problem) = misfit(name, kind, value) {
                    check.report(&name.span, problem);
                }
            }
            ([Some((a, a_kind)), Some((b, b_kind))], ..) if !is_comparable(a_kind, b_kind) => {
                let args: [&dyn Display; 4] = [a, &describe(a_kind), b, &describe(b_kind)];
                check.add("type_compare", &b.span, &args);
            }
            _ => {}
        }
    }
}

/// Returns what an operand reads, with its type, and reports what is wrong with it. Returns `None` for a constant.
fn side<'m>(
    check: &Check<'m>,
    entry: &'m Transition,
    operand: &Operand,
    sign: Sign,
) -> Option<(At<String>, FieldKind)> {
    let (text, offset) = operand.reads()?;
    let (name, kind) = match operand {
        Operand::Argument { name, .. } => {
            let argument = check.find_argument(entry, name, "count")?;
            if argument.optional {
                check.add("type_optional", &name.span, &[&text]);
            }
            (name, argument.kind.clone().into())
        }
        Operand::Field { name, .. } => (name, check.find_field(name)?.kind.clone()),
        Operand::Constant(_) => return None,
    };
    let is = describe(&kind);
    let has_order = !matches!(sign, Sign::Equal | Sign::NotEqual);
    if let Some(problem) = unusable(&text, &kind) {
        check.report(&name.span, problem);
    } else if kind != FieldKind::Count && offset != 0 {
        check.add("type_sum", &name.span, &[&text, &is]);
    } else if kind != FieldKind::Count && has_order {
        check.add("type_order", &name.span, &[&text, &is]);
    }
    Some((At::new(text, name.span.clone()), kind))
}

fn is_comparable(a: &FieldKind, b: &FieldKind) -> bool {
    let is_text = |kind: &FieldKind| matches!(kind, FieldKind::Text | FieldKind::Path);
    a == b || is_text(a) && is_text(b)
}

fn update<'m>(check: &Check<'m>, entry: &'m Transition, name: &At<String>, update: &At<Update>) {
    let at = |name: &str| At::new(name.to_owned(), update.span.clone());
    let is_sum = matches!(update.value, Update::Plus { .. });
    let wanted = if is_sum { "count" } else { "text" };
    let field = check.find_field(name);
    let source = update.field().and_then(|name| check.find_field(&at(name)));
    let argument = update.argument();
    let argument = argument.and_then(|name| check.find_argument(entry, &at(name), wanted));
    let Some(field) = field else { return };

    let source = source.map(|source| (&source.name, source.kind.clone()));
    let argument = argument.map(|one| (&one.name, FieldKind::from(one.kind.clone())));
    let wrong = match (&update.value, source, argument) {
        _ if unusable(name, &field.kind).is_some() => unusable(name, &field.kind),
        (Update::Constant(value), ..) => misfit(name, &field.kind, value),
        (Update::Argument(_), _, Some((argument, kind))) => misfit_of(field, argument, &kind),
        (Update::Next(_), Some((source, kind)), _) => {
            let is_word = matches!(kind, FieldKind::OneOf(_)) && kind == field.kind;
            (!is_word).then(|| problem("type_next", &[name, source]))
        }
        (Update::Field { .. } | Update::Plus { .. }, source, argument) => {
            let target = Some((name, field.kind.clone()));
            let mut all = [target, source, argument].into_iter().flatten();
            let wrong = all.find(|(_, kind)| *kind != FieldKind::Count);
            wrong.map(|(wrong, kind)| {
                let sum = update_text(update);
                let is = describe(&kind);
                problem("type_update", &[name, &sum, wrong, &is])
            })
        }
        _ => None,
    };
    if let Some(problem) = wrong {
        check.report(&update.span, problem);
    }
}

/// Returns what is wrong with an argument as the new value of a field.
fn misfit_of(field: &Field, argument: &str, kind: &FieldKind) -> Option<Diagnostic> {
    match (kind, &field.kind) {
        (FieldKind::OneOf(words), target @ FieldKind::OneOf(_)) => {
            let words = words.iter().map(|word| Constant::Text(word.to_string()));
            let mut wrong = words.filter_map(|word| misfit(&field.name, target, &word));
            wrong.next()
        }
        (FieldKind::OneOf(_), FieldKind::Text) => None,
        (kind, target) if is_comparable(kind, target) => None,
        (kind, target) => {
            let args: [&dyn Display; 4] =
                [&field.name, &describe(target), &argument, &describe(kind)];
            Some(problem("type_argument", &args))
        }
    }
}
