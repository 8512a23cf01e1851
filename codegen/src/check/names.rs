//! Names that refer to something: phases, fields, transitions, arguments; and the fields that the engine needs.

use std::collections::{HashMap, HashSet};

use super::{ENOUGH, Index};
use crate::diagnostic::{Diagnostic, suggest};
use crate::model::texts::interpolated;
use crate::model::{
    At, Field, FieldKind, Form, From, Guard, Held, MAX_PHASES, To, Transition, Update,
};

/// What refers to nothing.
#[derive(Default)]
pub(super) struct Unknown {
    /// Whether a phase is among it: then nothing can be said of what is reachable.
    pub(super) phases: bool,
    /// The entries with an unknown name in a guard or an update.
    pub(super) entries: HashSet<usize>,
    /// The transitions with an unknown source or target.
    pub(super) adrift: HashSet<String>,
}

pub(super) fn references(index: &Index<'_>, found: &mut Vec<Diagnostic>) -> Unknown {
    let mut unknown = Unknown::default();
    let machine = index.machine;
    for name in machine
        .fields
        .iter()
        .filter_map(|field| field.within.as_ref())
        .flat_map(|within| within.iter())
    {
        if found.len() > ENOUGH {
            break;
        }
        phase(index, name, found);
    }
    for name in &machine.state.edits {
        field(index, name, found);
    }
    for name in &machine.before_stop {
        transition(index, name, found);
    }
    for mode in &machine.modes {
        unknown.phases |= !phase(index, &mode.start, found);
        for (name, _) in &mode.initial {
            field(index, name, found);
        }
    }
    for at in &machine.phases {
        let Some(behaviour) = &at.on_stop else {
            continue;
        };
        if found.len() > ENOUGH {
            break;
        }
        for parameter in behaviour.parameters() {
            let engine_names = parameter.engine_names();
            for (name, _) in interpolated(parameter.value).unwrap_or_default() {
                let at = At::new(name.to_owned(), parameter.span.clone());
                match (engine_names.contains(&name), index.fields.get(name)) {
                    (false, _) => {
                        field(index, &at, found);
                    }
                    (true, Some(field)) => found.push(two_meanings(parameter.key, &at, field)),
                    (true, None) => {}
                }
            }
        }
        let personas = behaviour.review().into_iter();
        for name in personas.flat_map(|review| &review.personas) {
            persona(index, name, found);
        }
        for name in behaviour.transitions().take(MAX_PHASES) {
            transition(index, name, found);
        }
    }
    for (at, entry) in machine.transitions.iter().enumerate() {
        if found.len() > ENOUGH {
            break;
        }
        let mut adrift = false;
        if let From::Phases(names) = &entry.from {
            let names = names.iter().take(MAX_PHASES);
            adrift |= names.filter(|name| !phase(index, name, found)).count() > 0;
        }
        if let To::Phase(name) = &entry.to {
            adrift |= !phase(index, name, found);
        }
        if adrift {
            unknown.phases = true;
            unknown.adrift.insert(entry.name.value.clone());
        }
        let before = found.len();
        if let Some(when) = &entry.when {
            guard(index, entry, &when.value, found);
        }
        for (name, update) in &entry.set {
            field(index, name, found);
            if let Some(name) = update.value.field() {
                field(index, &At::new(name.to_owned(), update.span.clone()), found);
            }
            if let Some(name) = update.value.argument() {
                let sum = matches!(update.value, Update::Plus { .. });
                let kind = if sum { "count" } else { "text" };
                argument(
                    entry,
                    &At::new(name.to_owned(), update.span.clone()),
                    kind,
                    found,
                );
            }
        }
        if found.len() > before {
            unknown.entries.insert(at);
        }
    }
    unknown
}

/// An argument that an update or a guard names; `kind`: what it would have to be.
fn argument(entry: &Transition, argument: &At<String>, kind: &str, found: &mut Vec<Diagnostic>) {
    let name = argument.as_str();
    if entry.args.iter().any(|known| known.name.value == name) {
        return;
    }
    let message = format!("`{}` has no argument `{name}`", entry.name);
    let hint = suggest(name, entry.args.iter().map(|known| known.name.as_str()));
    let hint = hint.unwrap_or_else(|| format!("add `args = {{ {name} = \"{kind}\" }}`"));
    found.push(argument.problem("unknown_argument", message).help(hint));
}

fn guard(index: &Index<'_>, entry: &Transition, guard: &Guard, found: &mut Vec<Diagnostic>) {
    match guard {
        Guard::All(parts) | Guard::Any(parts) => parts
            .iter()
            .for_each(|part| self::guard(index, entry, part, found)),
        Guard::Compare { left, right, .. } => {
            for operand in [left, right] {
                if let Some(name) = operand.field() {
                    field(index, name, found);
                }
                if let Some(name) = operand.argument() {
                    argument(entry, name, "count", found);
                }
            }
        }
    }
}

/// Reports a name that nothing has. `otherwise` is the help if no name is near.
fn unknown<'a>(
    what: (&'static str, &str),
    name: &At<String>,
    known: impl Iterator<Item = &'a str>,
    otherwise: String,
    found: &mut Vec<Diagnostic>,
) {
    // Comparing names takes time.
    let few = found.len() <= ENOUGH / 5;
    let near = few.then(|| suggest(name, known)).flatten();
    let (code, what) = what;
    let one = name.problem(code, format!("no {what} is named `{}`", name));
    found.push(one.help(near.unwrap_or(otherwise)));
}

fn phase(index: &Index<'_>, name: &At<String>, found: &mut Vec<Diagnostic>) -> bool {
    let is_known = index.phases.contains_key(name.as_str());
    if !is_known {
        let known = index.machine.phases.iter().map(|phase| phase.name.as_str());
        let otherwise = format!("add `[phases.{}]`", name);
        unknown(("unknown_phase", "phase"), name, known, otherwise, found);
    }
    is_known
}

pub(super) fn field(index: &Index<'_>, name: &At<String>, found: &mut Vec<Diagnostic>) {
    if !index.fields.contains_key(name.as_str()) {
        let known = index.machine.field_names();
        let otherwise = format!("add `{} = {{ type = \"count\" }}` to [fields]", name);
        unknown(("unknown_field", "field"), name, known, otherwise, found);
    }
}

fn transition(index: &Index<'_>, name: &At<String>, found: &mut Vec<Diagnostic>) {
    if !index.transitions.contains_key(name.as_str()) {
        let known = index.transitions.keys().copied();
        let otherwise = format!("add `[[transitions.{}]]`", name);
        let what = ("unknown_transition", "transition");
        unknown(what, name, known, otherwise, found);
    }
}

fn persona(index: &Index<'_>, name: &At<String>, found: &mut Vec<Diagnostic>) {
    let personas = index.machine.personas.iter();
    let mut known = personas.map(|persona| persona.name.as_str());
    if !known.clone().any(|known| known == name.value) {
        let otherwise = format!("add [personas.{}] with a label and a prompt", name);
        unknown(
            ("unknown_persona", "persona"),
            name,
            known.by_ref(),
            otherwise,
            found,
        );
    }
}

/// Refuses a field that is called as what the engine means by a name in this parameter.
fn two_meanings(parameter: &str, name: &At<String>, field: &Field) -> Diagnostic {
    let message = format!(
        "`{{{}}}` has a meaning of its own in `{parameter}`, and is a field, too",
        name
    );
    let one = name.problem("two_meanings", message);
    let one = one.related(field.name.span.clone(), "the field");
    one.help("give the field another name")
}

/// What the engine keeps has to have a field, and one only.
pub(super) fn holders(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    let machine = index.machine;
    let mut holders: HashMap<Held, &At<String>> = HashMap::new();
    for field in &machine.fields {
        let FieldKind::Held(held) = field.kind else {
            continue;
        };
        let Some(first) = holders.get(&held) else {
            holders.insert(held, &field.name);
            continue;
        };
        let (name, word) = (&field.name, held.word());
        let message = format!("`{}` holds the {word} a second time", name);
        let one = name.problem("held_twice", message);
        let one = one.related(first.span.clone(), "the first");
        found.push(one.help(format!("it is in `{}`; leave one of them out", first.value)));
    }
    let missing = Held::REQUIRED.into_iter();
    for word in missing
        .filter(|held| !holders.contains_key(held))
        .map(Held::word)
    {
        let message = format!("no field holds the {word}");
        let one = machine.name.problem("no_holder", message);
        found.push(one.help(format!(
            "add `{word} = {{ holds = \"{word}\" }}` to [fields]"
        )));
    }
}

/// Finds fields that no document can hold in the places that their `key` gives them.
pub(super) fn places(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    let machine = index.machine;
    let place = |field: &'_ Field| field.key.clone().unwrap_or_else(|| field.name.clone());
    let mut taken: HashMap<String, &At<String>> = HashMap::new();
    for field in &machine.fields {
        taken.entry(place(field).value).or_insert(&field.name);
    }
    for field in &machine.fields {
        let at = place(field);
        let name = &field.name.value;
        if matches!(field.kind, FieldKind::Data(_)) && machine.state.form == Form::Lines {
            let message =
                format!("`{name}` holds data, and a document of lines has no place for it");
            let one = field.name.problem("bad_data", message);
            found
                .push(one.help("write `form = \"json\"` or `form = \"frontmatter\"` into [state]"));
        }
        if field.key.is_some() {
            if machine.state.form != Form::Frontmatter {
                let message = format!(
                    "`{name}` has a `key`, and only a document of frontmatter has keys below keys"
                );
                let one = at.problem("bad_key", message);
                found.push(
                    one.help("leave `key` out, or write `form = \"frontmatter\"` into [state]"),
                );
            }
            let parts = at.value.split('.');
            if parts.clone().count() > MOST_PARTS || !parts.clone().all(is_key) {
                let message = format!("`key` cannot be {:?}", at.value);
                let one = at.problem("bad_key", message);
                found.push(one.help(format!(
                    "it is keys with `.` between them, at most {MOST_PARTS}: `loop.phase`. A key is A-Z, a-z, 0-9, - and _, \
                     begins with no digit and no -, and is not null, true or false"
                )));
            }
        }
        let above = at.value.match_indices('.').map(|(end, _)| &at.value[..end]);
        let other = above.chain([at.as_str()]).find_map(|key| taken.get(key));
        if let Some(other) = other.filter(|other| other.value != *name) {
            let message = format!(
                "`{name}` and `{}` stand in the same place of a document",
                other
            );
            let one = at.problem("bad_key", message);
            let one = one.related(other.span.clone(), "the other");
            found.push(one.help("give one of them another `key`"));
        }
    }
}

/// Limits the parts of a `key`, as the engine does.
const MOST_PARTS: usize = 8;

fn is_key(part: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    part.len() <= 128
        && part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && part.bytes().all(allowed)
        && !["null", "true", "false"]
            .iter()
            .any(|word| part.eq_ignore_ascii_case(word))
}
