//! Whether constants, guards and updates fit the fields that they speak of. Unknown names are passed over here.

use std::collections::HashSet;
use std::ops::Range;

use super::{ENOUGH, Index};
use crate::diagnostic::{Diagnostic, list, suggest};
use crate::model::{ArgumentKind, At, Constant, Field, FieldKind, Guard, Operand, Sign, Transition, Update};

const CODE: &str = "claudex::machine::type";

/// Notes what does not fit, and returns the entries in whose guard or updates it is.
pub(super) fn types(index: &Index<'_>, found: &mut Vec<Diagnostic>) -> HashSet<usize> {
    let machine = index.machine;
    for field in &machine.fields {
        if let Some(initial) = &field.initial {
            constant(field, initial, found);
        }
    }
    for (name, value) in machine.modes.iter().flat_map(|mode| &mode.initial) {
        if let Some(field) = index.fields.get(name.value.as_str()) {
            if matches!(field.kind, FieldKind::Held(_)) {
                found.push(held(field, name.span.clone()));
            } else {
                constant(field, value, found);
            }
        }
    }
    for behaviour in machine.phases.iter().filter_map(|phase| phase.on_stop.as_ref()) {
        if let Some(round) = behaviour.parameter("round") {
            round_parameter(index, round, found);
        }
    }
    let mut broken = HashSet::new();
    for (at, entry) in machine.transitions.iter().enumerate() {
        if found.len() > ENOUGH {
            break;
        }
        let before = found.len();
        if let Some(when) = &entry.when {
            guard(index, &when.value, &when.span, found);
        }
        for (name, update) in &entry.set {
            if let Some(field) = index.fields.get(name.value.as_str()) {
                set(index, entry, field, name, update, found);
            }
        }
        if found.len() > before {
            broken.insert(at);
        }
    }
    broken
}

/// A review's round is the value of a count, so it names a field and is no text.
fn round_parameter(index: &Index<'_>, round: &At<String>, found: &mut Vec<Diagnostic>) {
    let field = index.fields.get(round.value.as_str());
    if field.is_some_and(|field| field.kind == FieldKind::Count) {
        return;
    }
    let counts = index
        .machine
        .fields
        .iter()
        .filter(|field| field.kind == FieldKind::Count);
    let hint = suggest(&round.value, counts.map(|field| field.name.value.as_str()));
    let message = format!("`round` names a count, and `{}` is none", round.value);
    let one = Diagnostic::new(CODE, round.span.clone(), message);
    found.push(one.help(hint.unwrap_or_else(|| "name a field of `type = \"count\"`".to_owned())));
}

fn describe(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Count => "a count",
        FieldKind::Text => "a text",
        FieldKind::Path => "a path",
        FieldKind::Flag => "a flag",
        FieldKind::OneOf(_) => "one of some words",
        FieldKind::Held(_) => "the engine's",
    }
}

fn shown(constant: &Constant) -> String {
    match constant {
        Constant::Count(number) => number.to_string(),
        Constant::Text(text) => format!("{text:?}"),
        Constant::Flag(flag) => flag.to_string(),
    }
}

fn held(field: &Field, span: Range<usize>) -> Diagnostic {
    let message = format!(
        "`{}` is the engine's: only the engine writes it, and no guard reads it",
        field.name.value
    );
    Diagnostic::new("claudex::machine::held_field", span, message).help("use a field of the machine's own")
}

/// What is wrong with a constant for a field: the message and the help.
fn misfit(field: &Field, constant: &Constant) -> Option<(String, String)> {
    let name = &field.name.value;
    match (&field.kind, constant) {
        (FieldKind::Count, Constant::Count(_))
        | (FieldKind::Flag, Constant::Flag(_))
        | (FieldKind::Text | FieldKind::Path, Constant::Text(_)) => None,
        (FieldKind::OneOf(words), Constant::Text(word)) => {
            if words.iter().any(|known| known.value == *word) {
                return None;
            }
            let known: Vec<&str> = words.iter().map(|word| word.value.as_str()).collect();
            let help = suggest(word, known.iter().copied())
                .unwrap_or_else(|| format!("its words are {}", list(&known)));
            Some((format!("`{name}` has no word {word:?}"), help))
        }
        (kind, _) => {
            let help = match kind {
                FieldKind::Count => "give a whole number from 0".to_owned(),
                FieldKind::Flag => "give true or false, without quotes".to_owned(),
                FieldKind::Text | FieldKind::Path => "give a text in quotes".to_owned(),
                FieldKind::OneOf(words) => {
                    let known: Vec<&str> = words.iter().map(|word| word.value.as_str()).collect();
                    format!("its words are {}", list(&known))
                }
                FieldKind::Held(_) => "leave it to the engine".to_owned(),
            };
            Some((
                format!("`{name}` is {}, and {} is none", describe(kind), shown(constant)),
                help,
            ))
        }
    }
}

fn constant(field: &Field, value: &At<Constant>, found: &mut Vec<Diagnostic>) {
    if matches!(field.kind, FieldKind::Held(_)) {
        found.push(held(field, value.span.clone()));
    } else if let Some((message, help)) = misfit(field, &value.value) {
        found.push(Diagnostic::new(CODE, value.span.clone(), message).help(help));
    }
}

fn same_kind(a: &FieldKind, b: &FieldKind) -> bool {
    match (a, b) {
        (FieldKind::OneOf(a), FieldKind::OneOf(b)) => a
            .iter()
            .map(|word| &word.value)
            .eq(b.iter().map(|word| &word.value)),
        (FieldKind::Text | FieldKind::Path, FieldKind::Text | FieldKind::Path) => true,
        (a, b) => a == b,
    }
}

fn guard(index: &Index<'_>, guard: &Guard, whole: &Range<usize>, found: &mut Vec<Diagnostic>) {
    let (left, sign, right) = match guard {
        Guard::All(parts) | Guard::Any(parts) => {
            parts
                .iter()
                .for_each(|part| self::guard(index, part, whole, found));
            return;
        }
        Guard::Compare { left, sign, right } => (left, *sign, right),
    };
    let before = found.len();
    let mut fields = Vec::new();
    for operand in [left, right] {
        let Operand::Field { name, offset } = operand else {
            continue;
        };
        let Some(field) = index.fields.get(name.value.as_str()) else {
            return;
        };
        if matches!(field.kind, FieldKind::Held(_)) {
            found.push(held(field, name.span.clone()));
        } else if *offset != 0 && field.kind != FieldKind::Count {
            let message = format!(
                "`{}` is {}: nothing can be added to it",
                name.value,
                describe(&field.kind)
            );
            found.push(Diagnostic::new(CODE, name.span.clone(), message).help("only a count takes + and -"));
        } else if !matches!(sign, Sign::Equal | Sign::NotEqual) && field.kind != FieldKind::Count {
            let message = format!(
                "`{}` is {}, which has no order",
                name.value,
                describe(&field.kind)
            );
            found.push(Diagnostic::new(CODE, name.span.clone(), message).help("compare it with == or !="));
        }
        fields.push((*field, name.span.clone()));
    }
    if found.len() > before {
        return;
    }
    match (fields.as_slice(), left, right) {
        ([], ..) => {
            let one = Diagnostic::new(CODE, whole.clone(), "a guard compares two constants");
            found.push(one.help("compare a field with something"));
        }
        ([(field, span)], Operand::Constant(constant), _)
        | ([(field, span)], _, Operand::Constant(constant)) => {
            if let Some((message, help)) = misfit(field, constant) {
                found.push(Diagnostic::new(CODE, span.clone(), message).help(help));
            }
        }
        ([(a, _), (b, span), ..], ..) if !same_kind(&a.kind, &b.kind) => {
            let (one, other) = (&a.name.value, &b.name.value);
            let message = format!(
                "`{one}` is {} and `{other}` is {}",
                describe(&a.kind),
                describe(&b.kind)
            );
            let help = match (&a.kind, &b.kind) {
                (FieldKind::OneOf(_), FieldKind::OneOf(_)) => {
                    "their words differ: compare fields with the same words"
                }
                _ => "compare fields of one type",
            };
            found.push(Diagnostic::new(CODE, span.clone(), message).help(help));
        }
        _ => {}
    }
}

fn set(
    index: &Index<'_>,
    entry: &Transition,
    field: &Field,
    name: &At<String>,
    update: &At<Update>,
    found: &mut Vec<Diagnostic>,
) {
    if matches!(field.kind, FieldKind::Held(_)) {
        found.push(held(field, name.span.clone()));
        return;
    }
    let target = &field.name.value;
    let wrong = match &update.value {
        Update::Constant(constant) => misfit(field, constant),
        Update::Field { name: source, .. } => {
            let Some(source) = index.fields.get(source.as_str()) else {
                return;
            };
            let kinds = (&field.kind, &source.kind);
            (kinds != (&FieldKind::Count, &FieldKind::Count)).then(|| {
                let (of, from) = (describe(&field.kind), describe(&source.kind));
                let message = format!("`{target}` is {of} and `{}` is {from}", source.name.value);
                (
                    message,
                    "only a count takes the value of a field, and only of a count".to_owned(),
                )
            })
        }
        Update::Next(source) => {
            let Some(source) = index.fields.get(source.as_str()) else {
                return;
            };
            let words = matches!(field.kind, FieldKind::OneOf(_));
            (!words || !same_kind(&field.kind, &source.kind)).then(|| {
                let message = format!("`{target}` cannot take the next word of `{}`", source.name.value);
                (
                    message,
                    "next() goes from a one_of to a field with the same words".to_owned(),
                )
            })
        }
        Update::Plus {
            name: source,
            argument,
        } => {
            let source = index.fields.get(source.as_str());
            let argument = entry.args.iter().find(|(known, _)| known.value == *argument);
            let (Some(source), Some((known, kind))) = (source, argument) else {
                return;
            };
            let counts = field.kind == FieldKind::Count
                && source.kind == FieldKind::Count
                && kind.value == ArgumentKind::Count;
            (!counts).then(|| {
                let of = describe(&field.kind);
                let message = format!(
                    "`{target}` is {of}, and takes the sum of `{}` and the argument `{}`",
                    source.name.value, known.value
                );
                (
                    message,
                    "field, source and argument of a sum are counts, all three".to_owned(),
                )
            })
        }
        Update::Argument(argument) => {
            let argument = entry.args.iter().find(|(known, _)| known.value == *argument);
            let Some((known, kind)) = argument else { return };
            let fits = match kind.value {
                ArgumentKind::Text => matches!(field.kind, FieldKind::Text | FieldKind::Path),
                ArgumentKind::Count => field.kind == FieldKind::Count,
            };
            (!fits).then(|| {
                let of = describe(&field.kind);
                let is = if kind.value == ArgumentKind::Text {
                    "a text"
                } else {
                    "a count"
                };
                let message = format!("`{target}` is {of}, and the argument `{}` is {is}", known.value);
                (
                    message,
                    "a text goes into a text or a path, a count into a count".to_owned(),
                )
            })
        }
    };
    if let Some((message, help)) = wrong {
        found.push(Diagnostic::new(CODE, update.span.clone(), message).help(help));
    }
}
