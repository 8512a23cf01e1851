//! Names that collide in the generated Rust, in a document or on the command line.

use std::collections::{HashMap, HashSet};

use super::Check;
use crate::emit::ident::{camel, is_keyword};
use crate::model::{At, AtStart, Behaviour, FieldKind};

/// The names that every machine has, by their namespace.
const RESERVED: &str = include_str!("reserved.txt");
/// The arguments of every verb and of every method of a transition.
const ARGUMENTS: &str = "id loop_args from_prompt help rejecting evidence held";

/// The kind of a part of the machine file, and its name.
type Part<'m> = (&'static str, &'m At<String>);

/// The taken names by namespace, with their part of the file; `None` if every machine has them.
struct Names<'c, 'm> {
    check: &'c Check<'m>,
    owners: HashMap<(String, String), Option<Part<'m>>>,
}

impl<'m> Names<'_, 'm> {
    /// Takes names that every machine has, separated by spaces.
    fn reserve(&mut self, space: &str, names: &str) {
        let entry = |name: &str| ((space.to_owned(), name.to_owned()), None);
        self.owners.extend(names.split(' ').map(entry));
    }

    /// Takes a name that a part of the file needs, or reports that it is taken.
    fn take(&mut self, space: &str, name: &str, part: Part<'m>) {
        let key = (space.to_owned(), name.to_owned());
        let (kind, place) = part;
        match self.owners.insert(key, Some(part)) {
            None => {}
            Some(None) => self.check.add("name_reserved", place, &[kind, space, name]),
            Some(Some((other_kind, other))) => {
                let line = self.check.line(&other.span());
                let args = [kind, space, name, other_kind, other, &line];
                self.check.add("name_taken", place, &args);
            }
        }
    }

    /// Takes the name of the enum of a field or an argument, if it has words.
    fn take_words(&mut self, kind: &'m FieldKind, ty: &str, part: Part<'m>) {
        let FieldKind::OneOf(words) = kind else {
            return;
        };
        let mut variants = HashSet::new();
        for word in words.iter().filter(|word| !variants.insert(camel(word))) {
            self.check.add_at("name_word", word.span(), &[word]);
        }
        self.take("a type", ty, part);
    }
}

/// Reports names that two parts of the file need, or that every machine has.
pub(super) fn check_collisions(check: &Check<'_>) {
    let machine = check.machine;
    let owners = HashMap::new();
    let names = &mut Names { check, owners };
    for (space, reserved) in RESERVED.lines().filter_map(|line| line.split_once(": ")) {
        names.reserve(space, reserved);
    }
    if machine.behaviours().any(Behaviour::verifies) {
        names.reserve("a verb", "verify");
    }

    if is_keyword(&machine.name) {
        check.add("name_of_rust", &machine.name, &[]);
    }
    names.take("a type", &camel(&machine.name), ("machine", &machine.name));
    for phase in &machine.phases {
        let part = ("phase", &phase.name);
        if !phase.terminal {
            names.take("a method of `OnStop`", &phase.name, part);
        }
        names.take("a type", &camel(&phase.name), part);
        names.take("a stored form", phase.stored_name(), part);
    }
    let entries = machine.first_entries();
    for entry in &entries {
        names.take("a type", &camel(&entry.name), ("transition", &entry.name));
    }
    for field in &machine.fields {
        let name = &field.name;
        let part = ("field", name);
        names.take_words(&field.kind, &field.ty, part);
        match &field.kind {
            FieldKind::Data(_) => names.take("a method of `Loop`", &format!("set_{name}"), part),
            FieldKind::Engine(value) => names.take("a value of the engine", value.word(), part),
            _ => {}
        }
        if !field.within.is_empty() {
            names.take("a method of `Loop`", name, part);
        }
        if field.at_start != AtStart::Never {
            names.take("a flag of `start`", name, part);
        }
    }
    for entry in entries {
        let name = &entry.name;
        let part = ("transition", name);
        names.take("a method of `Loop`", name, part);
        // `resume` of the command line is the user's, too.
        if entry.is_verb() && !(entry.is_by_user_alone() && **name == "resume") {
            names.take("a verb", &name.replace('_', "-"), part);
        }
        let arguments = format!("an argument of `{name}`");
        names.reserve(&arguments, ARGUMENTS);
        for argument in &entry.args {
            let part = ("argument", &argument.name);
            names.take(&arguments, &argument.name, part);
            names.take_words(&argument.kind, &argument.ty, part);
        }
    }
    for command in machine.plugin.iter().flat_map(|_| machine.slash_commands()) {
        let mode = command.start.map(|mode| ("mode", &mode.name));
        if let Some(part) = mode.or(command.take.map(|entry| ("transition", &entry.name))) {
            names.take("a slash command", command.name, part);
        }
    }
}
