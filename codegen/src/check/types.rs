//! Whether constants, guards and updates fit the fields that they speak of. Unknown names are passed over here.

use std::collections::HashSet;
use std::ops::Range;

use super::{ENOUGH, Index};
use crate::diagnostic::{Diagnostic, list, suggest};
use crate::model::{
    Argument, ArgumentKind, At, Constant, Field, FieldKind, Guard, Operand, Sign, Transition,
    Update, constant_text,
};

const CODE: &str = "type";

/// Notes what does not fit, and returns the entries in whose guard or updates it is.
pub(super) fn types(index: &Index<'_>, found: &mut Vec<Diagnostic>) -> HashSet<usize> {
    let machine = index.machine;
    for field in &machine.fields {
        if let Some(initial) = &field.initial {
            constant(field, initial, found);
        }
    }
    for (name, value) in machine.modes.iter().flat_map(|mode| &mode.initial) {
        if let Some(field) = index.fields.get(name.as_str()) {
            if matches!(field.kind, FieldKind::Held(_)) {
                found.push(held(field, name.span.clone()));
            } else {
                constant(field, value, found);
            }
        }
    }
    for behaviour in machine.behaviours() {
        if let Some(review) = behaviour.review() {
            round_parameter(index, &review.round, found);
        }
    }
    let mut broken = HashSet::new();
    for (at, entry) in machine.transitions.iter().enumerate() {
        if found.len() > ENOUGH {
            break;
        }
        let before = found.len();
        if let Some(when) = &entry.when {
            guard(index, entry, &when.value, &when.span, found);
        }
        for (name, update) in &entry.set {
            if let Some(field) = index.fields.get(name.as_str()) {
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
    let field = index.fields.get(round.as_str());
    if field.is_some_and(|field| field.kind == FieldKind::Count) {
        return;
    }
    let counts = index
        .machine
        .fields
        .iter()
        .filter(|field| field.kind == FieldKind::Count);
    let hint = suggest(&round.value, counts.map(|field| field.name.as_str()));
    let message = format!("`round` names a count, and `{}` is none", round.value);
    let one = round.problem(CODE, message);
    found.push(one.help(hint.unwrap_or_else(|| "name a field of `type = \"count\"`".to_owned())));
}

fn describe(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Count => "a count",
        FieldKind::Text => "a text",
        FieldKind::Path => "a path",
        FieldKind::Flag => "a flag",
        FieldKind::OneOf(_) => "one of some words",
        FieldKind::Data(_) => "data",
        FieldKind::Held(_) => "the engine's",
    }
}

pub(super) fn held(field: &Field, span: Range<usize>) -> Diagnostic {
    let message = format!(
        "`{}` is the engine's: only the engine writes it, and no guard reads it",
        field.name
    );
    Diagnostic::new("held_field", span, message).help("use a field of the machine's own")
}

/// What is wrong with a constant for a field, or for what a guard compares it with: the message and the help.
fn misfit(name: &str, kind: &FieldKind, constant: &Constant) -> Option<(String, String)> {
    match (kind, constant) {
        (FieldKind::Count, Constant::Count(_))
        | (FieldKind::Flag, Constant::Flag(_))
        | (FieldKind::Text | FieldKind::Path, Constant::Text(_)) => None,
        (FieldKind::OneOf(words), Constant::Text(word)) => {
            if words.iter().any(|known| *known.value == **word) {
                return None;
            }
            let known: Vec<&str> = words.iter().map(|word| &*word.value).collect();
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
                    let known: Vec<&str> = words.iter().map(|word| &*word.value).collect();
                    format!("its words are {}", list(&known))
                }
                FieldKind::Data(_) => format!("leave it out: Rust sets it, with `set_{name}`"),
                FieldKind::Held(_) => "leave it to the engine".to_owned(),
            };
            Some((
                format!(
                    "`{name}` is {}, and {} is none",
                    describe(kind),
                    constant_text(constant)
                ),
                help,
            ))
        }
    }
}

/// Returns what a field of an argument's type would hold.
pub(super) fn kind_of(argument: &Argument) -> FieldKind {
    argument.kind.clone().into()
}

/// Returns what is wrong with a constant for an argument: the message and the help.
pub(super) fn misfit_of_argument(
    argument: &Argument,
    constant: &Constant,
) -> Option<(String, String)> {
    misfit(&argument.name.value, &kind_of(argument), constant)
}

pub(super) fn constant(field: &Field, value: &At<Constant>, found: &mut Vec<Diagnostic>) {
    if matches!(field.kind, FieldKind::Held(_)) {
        found.push(held(field, value.span.clone()));
    } else if let Some((message, help)) = misfit(&field.name.value, &field.kind, &value.value) {
        found.push(value.problem(CODE, message).help(help));
    }
}

fn same_kind(a: &FieldKind, b: &FieldKind) -> bool {
    match (a, b) {
        (FieldKind::Text | FieldKind::Path, FieldKind::Text | FieldKind::Path) => true,
        (a, b) => a == b,
    }
}

/// One side of a comparison that is no constant.
struct Side {
    /// As the guard writes it, without what is added.
    name: String,
    kind: FieldKind,
    offset: i64,
    span: Range<usize>,
}

/// What a side is; None where it is a constant, or speaks of a field that is unknown or fits nothing, which is noted.
fn side(
    index: &Index<'_>,
    entry: &Transition,
    operand: &Operand,
    found: &mut Vec<Diagnostic>,
) -> Option<Side> {
    let name = match operand {
        Operand::Constant(_) => return None,
        Operand::Argument { name, offset } => {
            let argument = entry
                .args
                .iter()
                .find(|known| known.name.value == name.value)?;
            if argument.optional {
                let message = format!(
                    "`args.{}` may be left out, and a guard has to know it",
                    name
                );
                let one = name.problem(CODE, message);
                found.push(one.help(
                    "take `optional` off the argument, or keep what the guard reads in a field",
                ));
                return None;
            }
            return Some(Side {
                name: format!("args.{}", name),
                kind: kind_of(argument),
                offset: *offset,
                span: name.span.clone(),
            });
        }
        Operand::Field { name, .. } => name,
    };
    let field = *index.fields.get(name.as_str())?;
    let refused = |message, help: &str| name.problem(CODE, message).help(help);
    let is = describe(&field.kind);
    match (operand, &field.kind) {
        (_, FieldKind::Held(_)) => found.push(held(field, name.span.clone())),
        (_, FieldKind::Data(_)) => found.push(refused(
            format!("`{}` is {is}, and no guard reads it", name),
            "keep what the guard reads in a field of its own",
        )),
        (Operand::Field { offset, .. }, kind) => {
            return Some(Side {
                name: name.value.clone(),
                kind: kind.clone(),
                offset: *offset,
                span: name.span.clone(),
            });
        }
        (Operand::Argument { .. } | Operand::Constant(_), _) => {}
    }
    None
}

/// Whether values of this kind have an order, and may be added to.
fn is_number(kind: &FieldKind) -> bool {
    matches!(kind, FieldKind::Count)
}

fn guard(
    index: &Index<'_>,
    entry: &Transition,
    guard: &Guard,
    whole: &Range<usize>,
    found: &mut Vec<Diagnostic>,
) {
    let (left, sign, right) = match guard {
        Guard::All(parts) | Guard::Any(parts) => {
            parts
                .iter()
                .for_each(|part| self::guard(index, entry, part, whole, found));
            return;
        }
        Guard::Compare { left, sign, right } => (left, *sign, right),
    };
    if matches!((left, right), (Operand::Constant(_), Operand::Constant(_))) {
        let one = Diagnostic::new(CODE, whole.clone(), "a guard compares two constants");
        found.push(one.help("compare a field with something"));
        return;
    }
    let before = found.len();
    let mut sides = Vec::new();
    for operand in [left, right] {
        let Some(side) = side(index, entry, operand, found) else {
            if matches!(operand, Operand::Constant(_)) {
                continue;
            }
            return;
        };
        let is = describe(&side.kind);
        if side.offset != 0 && !is_number(&side.kind) {
            let message = format!("`{}` is {is}: nothing can be added to it", side.name);
            let one = Diagnostic::new(CODE, side.span.clone(), message);
            found.push(one.help("only a count takes + and -"));
        } else if !matches!(sign, Sign::Equal | Sign::NotEqual) && !is_number(&side.kind) {
            let message = format!("`{}` is {is}, which has no order", side.name);
            found.push(
                Diagnostic::new(CODE, side.span.clone(), message).help("compare it with == or !="),
            );
        }
        sides.push(side);
    }
    if found.len() > before {
        return;
    }
    match (sides.as_slice(), left, right) {
        ([side], Operand::Constant(constant), _) | ([side], _, Operand::Constant(constant)) => {
            if let Some((message, help)) = misfit(&side.name, &side.kind, constant) {
                found.push(Diagnostic::new(CODE, side.span.clone(), message).help(help));
            }
        }
        ([a, b], ..) if !same_kind(&a.kind, &b.kind) => {
            let message = format!(
                "`{}` is {} and `{}` is {}",
                a.name,
                describe(&a.kind),
                b.name,
                describe(&b.kind)
            );
            let help = match (&a.kind, &b.kind) {
                (FieldKind::OneOf(_), FieldKind::OneOf(_)) => {
                    "their words differ: compare fields with the same words"
                }
                _ => "compare fields of one type",
            };
            found.push(Diagnostic::new(CODE, b.span.clone(), message).help(help));
        }
        _ => {}
    }
}

/// Returns what is wrong with an argument for a field: the message and the help.
fn misfit_into(field: &Field, argument: &Argument) -> Option<(String, String)> {
    let (target, known) = (&field.name.value, &argument.name.value);
    let fits = match (&argument.kind, &field.kind) {
        (ArgumentKind::OneOf(words), FieldKind::OneOf(_)) => {
            let words = words
                .iter()
                .map(|word| Constant::Text(word.value.to_string()));
            let mut wrong = words.filter_map(|word| misfit(target, &field.kind, &word));
            return wrong
                .next()
                .map(|(message, help)| (format!("{message}, which `args.{known}` can be"), help));
        }
        (ArgumentKind::Text | ArgumentKind::Path, FieldKind::Text | FieldKind::Path)
        | (ArgumentKind::Count, FieldKind::Count)
        | (ArgumentKind::Flag, FieldKind::Flag)
        | (ArgumentKind::OneOf(_), FieldKind::Text) => true,
        _ => false,
    };
    let (of, is) = (describe(&field.kind), describe(&kind_of(argument)));
    let help = match field.kind {
        FieldKind::Data(_) => format!("leave it out: Rust sets it, with `set_{target}`"),
        _ => "a text or a path goes into either, a count into a count, a flag into a flag, a word into a one_of or a text"
            .to_owned(),
    };
    (!fits).then(|| {
        (
            format!("`{target}` is {of}, and the argument `{known}` is {is}"),
            help,
        )
    })
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
    let is = describe(&field.kind);
    let source = update.field().and_then(|name| index.fields.get(name));
    let mut args = entry.args.iter();
    let argument = args.find(|known| update.argument() == Some(known.name.as_str()));
    let wrong = match (&update.value, source, argument) {
        (Update::Constant(constant), ..) => misfit(target, &field.kind, constant),
        (Update::Field { .. }, Some(source), _)
            if !is_number(&field.kind) || field.kind != source.kind =>
        {
            let from = describe(&source.kind);
            Some((
                format!("`{target}` is {is} and `{}` is {from}", source.name),
                "only a count takes the value of a field, which must be a count".to_owned(),
            ))
        }
        (Update::Next(_), Some(source), _)
            if !matches!(field.kind, FieldKind::OneOf(_)) || field.kind != source.kind =>
        {
            let source = &source.name.value;
            Some((
                format!("`{target}` cannot take the next word of `{source}`"),
                "next() goes from a one_of to a field with the same words".to_owned(),
            ))
        }
        (Update::Plus { .. }, Some(source), Some(argument))
            if (&field.kind, &source.kind, &argument.kind)
                != (&FieldKind::Count, &FieldKind::Count, &ArgumentKind::Count) =>
        {
            let (source, argument) = (&source.name.value, &argument.name.value);
            Some((
                format!(
                    "`{target}` is {is}, and takes the sum of `{source}` and the argument `{argument}`"
                ),
                "field, source and argument of a sum are counts, all three".to_owned(),
            ))
        }
        (Update::Argument(_), _, Some(argument)) => misfit_into(field, argument),
        _ => None,
    };
    if let Some((message, help)) = wrong {
        found.push(update.problem(CODE, message).help(help));
    }
}
