//! Types of fields, constants, guards and updates.

use std::collections::HashSet;

use super::{Check, problem};
use crate::diagnostic::{Diagnostic, list, suggest};
use crate::model::{
    At, AtStart, Constant, Field, FieldKind, Operand, Sign, To, Transition, Update, constant_text,
};

/// Reports what does not fit, and unknown names in modes and transitions. Returns the starts of the entries with a
/// problem.
pub(super) fn types(check: &Check<'_>) -> HashSet<usize> {
    let machine = check.machine;
    for field in &machine.fields {
        self::field(check, field);
    }
    for mode in &machine.modes {
        check.find_phase(&mode.start);
        for (name, value) in &mode.initial {
            if let Some(field) = check.find_field(name) {
                constant(check, field, value);
            }
        }
    }
    let mut broken = HashSet::new();
    for entry in &machine.transitions {
        let before = check.found_count();
        for name in entry.sources() {
            check.find_phase(name);
        }
        if let To::Phase(name) = &entry.to {
            check.find_phase(name);
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

fn field(check: &Check<'_>, field: &Field) {
    let name = &field.name;
    if let Some(initial) = &field.initial {
        constant(check, field, initial);
    }
    let is_foreign = unusable(name, &field.kind).is_some();
    if is_foreign && (field.at_start != AtStart::Never || field.within.is_some()) {
        check.add("type_foreign", &name.span, &[name, &describe(&field.kind)]);
    }
}

/// Returns why guards and updates cannot use a field.
fn unusable(name: &str, kind: &FieldKind) -> Option<Diagnostic> {
    let is_foreign = matches!(kind, FieldKind::Held(_) | FieldKind::Data(_));
    is_foreign.then(|| problem("type_unusable", &[&name, &describe(kind)]))
}

/// Returns what is wrong with a constant for a field or an argument.
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
            let words: Vec<&str> = words.iter().map(|word| &*word.value).collect();
            let help = format!("its words are {}", list(&words));
            match value {
                Constant::Text(word) if words.contains(&word.as_str()) => return None,
                Constant::Text(word) => suggest(word, words.into_iter()).unwrap_or(help),
                _ => help,
            }
        }
    };
    let value = constant_text(value);
    Some(problem(
        "type_constant",
        &[&name, &describe(kind), &value, &help],
    ))
}

/// Reports a constant that does not fit a field.
pub(super) fn constant(check: &Check<'_>, field: &Field, value: &At<Constant>) {
    if let Some(problem) = misfit(&field.name, &field.kind, value) {
        check.report(&value.span, problem);
    }
}

/// Returns that a field or an argument is not a count.
pub(super) fn no_count(name: &str, kind: &FieldKind) -> Option<Diagnostic> {
    (*kind != FieldKind::Count).then(|| problem("type_count", &[&name, &describe(kind)]))
}

/// Returns that the types of two fields or arguments differ.
fn differs((a, a_kind): (&str, &FieldKind), (b, b_kind): (&str, &FieldKind)) -> Option<Diagnostic> {
    let is_text = |kind: &FieldKind| matches!(kind, FieldKind::Text | FieldKind::Path);
    let is_same = a_kind == b_kind || is_text(a_kind) && is_text(b_kind);
    let args = [a, describe(a_kind), b, describe(b_kind)];
    (!is_same).then(|| problem("type_differs", &args.each_ref().map(|arg| arg as _)))
}

fn guard<'m>(check: &Check<'m>, entry: &'m Transition) {
    let Some(when) = &entry.when else { return };
    for (left, sign, right) in when.comparisons() {
        let before = check.found_count();
        let sides = [left, right].map(|operand| side(check, entry, operand, sign));
        if check.found_count() > before {
            continue;
        }
        let (place, wrong) = match (&sides, left, right) {
            ([Some((name, kind)), None], _, Operand::Constant(value))
            | ([None, Some((name, kind))], Operand::Constant(value), _) => {
                (&name.span, misfit(name, kind, value))
            }
            ([Some((a, a_kind)), Some((b, b_kind))], ..) => {
                (&b.span, differs((a, a_kind), (b, b_kind)))
            }
            _ => (&when.span, Some(problem("type_two_constants", &[]))),
        };
        if let Some(wrong) = wrong {
            check.report(place, wrong);
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
    let (name, kind) = match (operand.field(), operand.argument()) {
        (Some(name), _) => (name, &check.find_field(name)?.kind),
        (_, name) => {
            let argument = check.find_argument(entry, name?, "count")?;
            if argument.optional {
                check.add("type_optional", &name?.span, &[&text]);
            }
            (name?, &argument.kind)
        }
    };
    let is_equality = matches!(sign, Sign::Equal | Sign::NotEqual) && offset == 0;
    let not_count = no_count(&text, kind).filter(|_| !is_equality);
    if let Some(problem) = unusable(&text, kind).or(not_count) {
        check.report(&name.span, problem);
    }
    Some((At::new(text, name.span.clone()), kind.clone()))
}

fn update<'m>(check: &Check<'m>, entry: &'m Transition, name: &At<String>, update: &At<Update>) {
    let at = |name: &str| At::new(name.to_owned(), update.span.clone());
    let is_sum = matches!(update.value, Update::Plus { .. });
    let wanted = if is_sum { "count" } else { "text" };
    let field = check.find_field(name);
    let source = update.field().map(|name| check.find_field(&at(name)));
    let argument = update.argument();
    let argument = argument.map(|name| check.find_argument(entry, &at(name), wanted));
    let (Some(field), None | Some(Some(_)), None | Some(Some(_))) = (field, source, argument)
    else {
        return;
    };
    let target = (name.as_str(), &field.kind);
    let source = source
        .flatten()
        .map(|field| (field.name.as_str(), &field.kind));
    let argument = argument
        .flatten()
        .map(|one| (format!("args.{}", one.name), &one.kind));
    let argument = argument.as_ref().map(|(name, kind)| (name.as_str(), *kind));
    let wrong = match (&update.value, source, argument) {
        (Update::Constant(value), ..) => misfit(name, &field.kind, value),
        (Update::Argument(_), _, Some(argument)) => argument_misfit(target, argument),
        (Update::Next(_), Some(source @ (_, FieldKind::OneOf(_))), _) => differs(target, source),
        (Update::Next(_), Some((name, kind)), _) => {
            Some(problem("type_next", &[&name, &describe(kind)]))
        }
        (_, source, argument) => {
            let mut all = [Some(target), source, argument].into_iter().flatten();
            all.find_map(|(name, kind)| no_count(name, kind))
        }
    };
    if let Some(problem) = unusable(name, &field.kind).or(wrong) {
        check.report(&update.span, problem);
    }
}

/// Returns what is wrong with an argument as the new value of a field. A text takes words, and words take some of them.
fn argument_misfit(target: (&str, &FieldKind), argument: (&str, &FieldKind)) -> Option<Diagnostic> {
    let FieldKind::OneOf(words) = argument.1 else {
        return differs(target, argument);
    };
    match target.1 {
        FieldKind::OneOf(_) => {
            let mut words = words.iter().map(|word| Constant::Text(word.to_string()));
            words.find_map(|word| misfit(target.0, target.1, &word))
        }
        FieldKind::Text => None,
        _ => differs(target, argument),
    }
}
