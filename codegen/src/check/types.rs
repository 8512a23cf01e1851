//! Types of constants, guards and updates.

use std::ops::Range;

use super::names::find_argument;
use super::{Index, Problems};
use crate::diagnostic::{list, suggest};
use crate::model::{
    Argument, ArgumentKind, At, Constant, Field, FieldKind, From, Operand, Sign, To, Transition,
    Update, constant_text, update_text,
};

const CODE: &str = "type";

/// Reports what does not fit, and unknown names in transitions. Notes the entries that have a problem, and returns
/// whether every phase that a mode or an entry names exists.
pub(super) fn types(index: &mut Index<'_>, found: &mut Problems) -> bool {
    let machine = index.machine;
    let mut knows_phases = true;
    for field in &machine.fields {
        if let Some(initial) = &field.initial {
            constant(field, initial, found);
        }
    }
    for mode in &machine.modes {
        knows_phases &= index.find_phase(&mode.start, found).is_some();
        for (name, value) in &mode.initial {
            if let Some(field) = index.find_field(name, found) {
                constant(field, value, found);
            }
        }
    }
    for entry in &machine.transitions {
        let before = found.0.len();
        let sources = match &entry.from {
            From::Phases(names) => &**names,
            From::Any(_) => &[],
        };
        let target = match &entry.to {
            To::Phase(name) => Some(name),
            To::Same(_) => None,
        };
        for name in sources.iter().chain(target) {
            knows_phases &= index.find_phase(name, found).is_some();
        }
        guard(index, entry, found);
        for (name, update) in &entry.set {
            self::update(index, entry, name, update, found);
        }
        if found.0.len() > before {
            index.broken.insert(entry.span.start);
        }
    }
    knows_phases
}

/// Describes what a field or an argument holds.
pub(super) fn describe(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Count => "a count",
        FieldKind::Text => "text",
        FieldKind::Path => "a path",
        FieldKind::Flag => "a flag",
        FieldKind::OneOf(_) => "one of a list of words",
        FieldKind::Data(_) => "data",
        FieldKind::Held(_) => "set by the engine",
    }
}

/// Returns why guards and updates cannot use a field, and what to do.
fn unusable(name: &str, kind: &FieldKind) -> Option<(String, String)> {
    match kind {
        FieldKind::Held(_) => Some((
            format!(
                "`{name}` belongs to the engine: only the engine sets it, and no guard reads it"
            ),
            "use a field of the machine's own".to_owned(),
        )),
        FieldKind::Data(_) => Some((
            format!("`{name}` is data: only the program reads and sets it"),
            format!("call `set_{name}` in Rust; for a guard, add a field of another type"),
        )),
        _ => None,
    }
}

/// Returns what is wrong with a constant for a field or an argument, and what to do.
pub(super) fn misfit(name: &str, kind: &FieldKind, value: &Constant) -> Option<(String, String)> {
    let help = match (kind, value) {
        (FieldKind::Count, Constant::Count(_))
        | (FieldKind::Flag, Constant::Flag(_))
        | (FieldKind::Text | FieldKind::Path, Constant::Text(_)) => return None,
        (FieldKind::Count, _) => "write a whole number from 0".to_owned(),
        (FieldKind::Flag, _) => "write true or false, without quotes".to_owned(),
        (FieldKind::Text | FieldKind::Path, _) => "write a text in quotes".to_owned(),
        (FieldKind::OneOf(words), value) => {
            let known: Vec<&str> = words.iter().map(|word| &*word.value).collect();
            let Constant::Text(word) = value else {
                let message = format!(
                    "`{name}` is one of a list of words, not {}",
                    constant_text(value)
                );
                return Some((message, format!("its words are {}", list(&known))));
            };
            if known.contains(&word.as_str()) {
                return None;
            }
            let help = suggest(word, known.iter().copied());
            let help = help.unwrap_or_else(|| format!("its words are {}", list(&known)));
            return Some((format!("`{name}` has no word {word:?}"), help));
        }
        (FieldKind::Data(_) | FieldKind::Held(_), _) => return unusable(name, kind),
    };
    let message = format!(
        "`{name}` is {}, not {}",
        describe(kind),
        constant_text(value)
    );
    Some((message, help))
}

/// Reports a constant that does not fit a field.
pub(super) fn constant(field: &Field, value: &At<Constant>, found: &mut Problems) {
    if let Some((message, help)) = misfit(&field.name, &field.kind, &value.value) {
        found.add(CODE, &value.span, message, help);
    }
}

/// A side of a comparison that is not a constant.
struct Side<'g> {
    name: String,
    kind: FieldKind,
    offset: i64,
    place: &'g Range<usize>,
}

fn guard(index: &Index<'_>, entry: &Transition, found: &mut Problems) {
    let Some(when) = &entry.when else { return };
    for (left, sign, right) in when.comparisons() {
        let before = found.0.len();
        let mut sides = Vec::new();
        for operand in [left, right] {
            sides.extend(side(index, entry, operand, found));
        }
        for side in sides.iter().filter(|side| side.kind != FieldKind::Count) {
            let (name, is) = (&side.name, describe(&side.kind));
            if let Some((message, help)) = unusable(name, &side.kind) {
                found.add(CODE, side.place, message, help);
            } else if side.offset != 0 {
                let message = format!("`{name}` is {is}, to which nothing can be added");
                found.add(CODE, side.place, message, "use + and - with counts only");
            } else if !matches!(sign, Sign::Equal | Sign::NotEqual) {
                let message = format!("`{name}` is {is}, which has no order");
                found.add(CODE, side.place, message, "compare it with == or !=");
            }
        }
        if found.0.len() > before {
            continue;
        }
        match (sides.as_slice(), left, right) {
            ([], ..) => {
                let message = "a guard compares two constants";
                found.add(CODE, &when.span, message, "compare a field with a constant");
            }
            ([side], Operand::Constant(value), _) | ([side], _, Operand::Constant(value)) => {
                if let Some((message, help)) = misfit(&side.name, &side.kind, value) {
                    found.add(CODE, side.place, message, help);
                }
            }
            ([a, b], ..) if !is_comparable(&a.kind, &b.kind) => {
                let (is_a, is_b) = (describe(&a.kind), describe(&b.kind));
                let message = format!("`{}` is {is_a}, but `{}` is {is_b}", a.name, b.name);
                let help = "compare fields of the same type, and words with the same list of words";
                found.add(CODE, b.place, message, help);
            }
            _ => {}
        }
    }
}

/// Returns what an operand reads, or `None` if it is a constant, is unknown or may be left out.
fn side<'g>(
    index: &Index<'_>,
    entry: &Transition,
    operand: &'g Operand,
    found: &mut Problems,
) -> Option<Side<'g>> {
    let name = match operand {
        Operand::Field { name, .. } => {
            index.find_field(name, found)?;
            name
        }
        Operand::Argument { name, .. } => {
            if find_argument(entry, name, "count", found)?.optional {
                let message = format!("a guard reads `args.{name}`, which a caller may leave out");
                let help = "remove `optional` from the argument, or let the guard read a field";
                found.add(CODE, &name.span, message, help);
            }
            name
        }
        Operand::Constant(_) => return None,
    };
    let place = &name.span;
    let (name, offset) = operand.reads()?;
    Some(Side {
        kind: index.kind(entry, &name)?,
        name,
        offset,
        place,
    })
}

fn is_comparable(a: &FieldKind, b: &FieldKind) -> bool {
    let is_text = |kind: &FieldKind| matches!(kind, FieldKind::Text | FieldKind::Path);
    a == b || is_text(a) && is_text(b)
}

fn update(
    index: &Index<'_>,
    entry: &Transition,
    name: &At<String>,
    update: &At<Update>,
    found: &mut Problems,
) {
    let place = |name: &str| At::new(name.to_owned(), update.span.clone());
    let target = index.find_field(name, found);
    let source = update
        .field()
        .and_then(|name| index.find_field(&place(name), found));
    let is_sum = matches!(update.value, Update::Plus { .. });
    let kind = if is_sum { "count" } else { "text" };
    let argument = update
        .argument()
        .and_then(|name| find_argument(entry, &place(name), kind, found));
    let Some(target) = target else { return };

    let wrong = match &update.value {
        _ if unusable(name, &target.kind).is_some() => unusable(name, &target.kind),
        Update::Constant(value) => misfit(name, &target.kind, value),
        Update::Argument(_) => argument.and_then(|argument| misfit_of_argument(target, argument)),
        Update::Next(_) => {
            let is_word = matches!(target.kind, FieldKind::OneOf(_));
            let wrong = source.filter(|source| !is_word || source.kind != target.kind);
            wrong.map(|source| {
                (
                    format!(
                        "`{name}` cannot be set to the next word of `{}`",
                        source.name
                    ),
                    "use next() with two fields that have the same list of words".to_owned(),
                )
            })
        }
        Update::Field { .. } | Update::Plus { .. } => {
            let source = source.map(|source| (&source.name, source.kind.clone()));
            let argument = argument.map(|one| (&one.name, one.kind.clone().into()));
            let all = [Some((name, target.kind.clone())), source, argument];
            let mut wrong = all.into_iter().flatten();
            let wrong = wrong.find(|(_, kind)| *kind != FieldKind::Count);
            wrong.map(|(wrong, kind)| {
                let text = update_text(update);
                (
                    format!(
                        "`{name} = \"{text}\"` needs counts, but `{wrong}` is {}",
                        describe(&kind)
                    ),
                    "use fields and arguments of the type count".to_owned(),
                )
            })
        }
    };
    if let Some((message, help)) = wrong {
        found.add(CODE, &update.span, message, help);
    }
}

/// Returns what is wrong with an argument as the new value of a field, and what to do.
fn misfit_of_argument(field: &Field, argument: &Argument) -> Option<(String, String)> {
    let (target, name) = (&field.name, &argument.name);
    match (&argument.kind, &field.kind) {
        (ArgumentKind::OneOf(words), FieldKind::OneOf(_)) => {
            let values = words
                .iter()
                .map(|word| Constant::Text(word.value.to_string()));
            let mut wrong = values.filter_map(|word| misfit(target, &field.kind, &word));
            let (message, help) = wrong.next()?;
            Some((format!("{message}, but `args.{name}` has"), help))
        }
        (ArgumentKind::Text | ArgumentKind::Path, FieldKind::Text | FieldKind::Path)
        | (ArgumentKind::Count, FieldKind::Count)
        | (ArgumentKind::Flag, FieldKind::Flag)
        | (ArgumentKind::OneOf(_), FieldKind::Text) => None,
        (kind, _) => {
            let is = describe(&kind.clone().into());
            let message = format!(
                "`{target}` is {}, but `args.{name}` is {is}",
                describe(&field.kind)
            );
            Some((message, "use an argument of the field's type".to_owned()))
        }
    }
}
