//! Names that collide in the generated Rust, in a document or on the command line.

use std::collections::{BTreeSet, HashMap};

use super::Check;
use crate::emit::ident::{TYPES, camel};
use crate::model::{At, AtStart, Behaviour, Does, FieldKind, Machine};

/// The names that every machine has, by their namespace.
const RESERVED: [(&str, &str); 6] = [
    ("a type", TYPES),
    (
        "a method of `Loop`",
        "id phase fields raw reload folder into_any noting add_text",
    ),
    ("a method of `OnStop`", "stop verifies subjects asks"),
    ("a flag of `start`", "mode help"),
    ("a slash command", "status history adopt rollback doctor"),
    (
        "a verb",
        "start run review status list adopt journal report sweep doctor machine config stop prompt answer session-start \
         hooks plugin rollback personas import use state statusline help resume",
    ),
];
/// The arguments of every verb and of every method of a transition.
const ARGUMENTS: &str = "id loop_args from_prompt help rejecting evidence held";

/// The names that a machine needs.
struct Names<'m> {
    /// The names that every machine has, each with its namespace.
    reserved: Vec<(String, &'static str)>,
    /// The namespace and the name that a part of the file needs, the kind of the part, and its name in the file.
    needed: Vec<(String, String, &'static str, &'m At<String>)>,
}

impl<'m> Names<'m> {
    fn reserve(&mut self, space: &str, names: &'static str) {
        let names = names.split_whitespace();
        self.reserved
            .extend(names.map(|name| (space.to_owned(), name)));
    }

    fn need(
        &mut self,
        space: &str,
        name: impl Into<String>,
        kind: &'static str,
        part: &'m At<String>,
    ) {
        self.needed
            .push((space.to_owned(), name.into(), kind, part));
    }
}

/// Reports names that two parts of the file need, or that every machine has.
pub(super) fn collisions(check: &Check<'_>) {
    let names = names(check.machine);
    let reserved = names.reserved.iter();
    let mut owners: HashMap<(&str, &str), Option<(&str, &At<String>)>> = reserved
        .map(|(space, name)| ((space.as_str(), *name), None))
        .collect();
    for (space, name, kind, part) in &names.needed {
        let Some(owner) = owners.get(&(space.as_str(), name.as_str())) else {
            owners.insert((space, name), Some((kind, part)));
            continue;
        };
        let (known, place) = match owner {
            None => ("every machine".to_owned(), String::new()),
            Some((kind, other)) => (
                format!("the {kind} `{other}`"),
                format!("the other name: line {}; ", check.line(&other.span())),
            ),
        };
        check.add("name_taken", part, &[kind, space, name, &known, &place]);
    }

    let machine = check.machine;
    let arguments = machine.transitions.iter().flat_map(|entry| &entry.args);
    let fields = machine.fields.iter().map(|field| &field.kind);
    for kind in fields.chain(arguments.map(|argument| &argument.kind)) {
        let FieldKind::OneOf(words) = kind else {
            continue;
        };
        let mut variants = BTreeSet::new();
        for word in words.iter().filter(|word| !variants.insert(camel(word))) {
            check.add_at("name_word", word.span(), &[word]);
        }
    }
    for phase in machine.phases.iter().filter(|phase| *phase.name == *"same") {
        check.add("name_same", &phase.name, &[]);
    }
}

fn names(machine: &Machine) -> Names<'_> {
    let mut names = Names {
        reserved: Vec::new(),
        needed: Vec::new(),
    };
    for (space, reserved) in RESERVED {
        names.reserve(space, reserved);
    }
    if machine.behaviours().any(Behaviour::verifies) {
        names.reserve("a verb", "verify");
    }

    names.need("a type", camel(&machine.name), "machine", &machine.name);
    for phase in &machine.phases {
        if !phase.terminal {
            names.need(
                "a method of `OnStop`",
                phase.name.as_str(),
                "phase",
                &phase.name,
            );
        }
        names.need("a type", camel(&phase.name), "phase", &phase.name);
        names.need("a stored form", phase.stored_name(), "phase", &phase.name);
    }
    let entries = machine.first_entries();
    for entry in &entries {
        names.need("a type", camel(&entry.name), "transition", &entry.name);
    }
    for field in &machine.fields {
        let name = &field.name;
        match &field.kind {
            FieldKind::OneOf(_) => names.need("a type", field.ty.as_str(), "field", name),
            FieldKind::Data(_) => {
                names.need("a method of `Loop`", format!("set_{name}"), "field", name);
            }
            FieldKind::Held(held) => {
                names.need("a value of the engine", held.word(), "field", name)
            }
            _ => {}
        }
        if !field.within.is_empty() {
            names.need("a method of `Loop`", name.as_str(), "field", name);
        }
        if field.at_start != AtStart::Never {
            names.need("a flag of `start`", name.as_str(), "field", name);
        }
    }
    for entry in entries {
        let name = &entry.name;
        names.need("a method of `Loop`", name.as_str(), "transition", name);
        // `resume` of the command line is the user's, too.
        if entry.is_verb() && !(entry.is_by_user_alone() && name.as_str() == "resume") {
            names.need("a verb", name.replace('_', "-"), "transition", name);
        }
        let arguments = format!("an argument of `{name}`");
        names.reserve(&arguments, ARGUMENTS);
        for argument in &entry.args {
            names.need(
                &arguments,
                argument.name.as_str(),
                "argument",
                &argument.name,
            );
            if matches!(argument.kind, FieldKind::OneOf(_)) {
                names.need("a type", argument.ty.as_str(), "argument", &argument.name);
            }
        }
    }
    for command in machine.plugin.iter().flat_map(|_| machine.slash_commands()) {
        let (kind, part) = match command.does {
            Does::Start(mode) => ("mode", &mode.name),
            Does::Take(entry) => ("transition", &entry.name),
            Does::Own => continue,
        };
        names.need("a slash command", command.name, kind, part);
    }
    names
}
