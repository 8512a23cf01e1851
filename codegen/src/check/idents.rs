//! Names that collide in the generated Rust, in a document or on the command line.

use std::collections::{BTreeSet, HashMap};

use super::Check;
use crate::emit::ident::{TYPES, camel, type_of_words};
use crate::model::texts::Word;
use crate::model::{At, AtStart, Behaviour, Does, Entry, Field, FieldKind, Named};

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

/// The kind of a part of the machine file, and its name.
type Part<'m> = (&'static str, &'m At<String>);

/// The names that are taken: the part of the file that has each, by namespace and name. `None`: every machine has it.
struct Taken<'c, 'm> {
    check: &'c Check<'m>,
    owners: HashMap<(String, String), Option<Part<'m>>>,
}

impl<'m> Taken<'_, 'm> {
    /// Records names that every machine has, separated by spaces.
    fn reserve(&mut self, space: &str, names: &str) {
        let names = names.split_whitespace();
        let keys = names.map(|name| (space.to_owned(), name.to_owned()));
        self.owners.extend(keys.map(|key| (key, None)));
    }

    /// Adds a name that is made from a part of the file, or reports that another part has it.
    fn add(&mut self, space: &str, name: impl Into<String>, part: Part<'m>) {
        let key = (space.to_owned(), name.into());
        let Some(owner) = self.owners.get(&key) else {
            self.owners.insert(key, Some(part));
            return;
        };
        let known = owner.map_or("every machine".to_owned(), |(kind, of)| {
            format!("the {kind} `{of}`")
        });
        let args = [part.0, &key.0, &key.1, &known];
        self.check.add("name_taken", part.1, &args);
        if let Some((_, other)) = owner {
            self.check.relate(&other.span, "the other name");
        }
    }

    /// Adds the enum of a list of words.
    fn add_words(&mut self, name: String, words: &'m [At<Word>], part: Part<'m>) {
        let mut variants = BTreeSet::new();
        for word in words.iter().filter(|word| !variants.insert(camel(word))) {
            self.check.add_at("name_word", &word.span, &[word]);
        }
        self.add("a type", name, part);
    }
}

pub(super) fn collisions(check: &Check<'_>) {
    let machine = check.machine;
    let owners = HashMap::new();
    let names_in_use = &mut Taken { check, owners };
    for (space, names) in RESERVED {
        names_in_use.reserve(space, names);
    }
    if machine.behaviours().any(Behaviour::verifies) {
        names_in_use.reserve("a verb", "verify");
    }

    names_in_use.add("a type", camel(&machine.name), ("machine", &machine.name));
    for phase in &machine.phases {
        let part = ("phase", &phase.name);
        if phase.name.value == "same" {
            check.add("name_same", &phase.name, &[]);
        }
        if !phase.terminal {
            names_in_use.add("a method of `OnStop`", phase.name.as_str(), part);
        }
        names_in_use.add("a type", camel(&phase.name), part);
        names_in_use.add("a stored form", phase.stored_name(), part);
    }
    let entries = machine.first_entries();
    for entry in &entries {
        names_in_use.add("a type", camel(&entry.name), ("transition", &entry.name));
    }
    for field in &machine.fields {
        self::field(field, names_in_use);
    }
    for entry in entries {
        transition(entry, names_in_use);
    }
    let commands = machine.plugin.iter().flat_map(|_| machine.slash_commands());
    for command in commands {
        let part = match command.does {
            Does::Start(mode) => ("mode", &mode.name),
            Does::Take(entry) => ("transition", &entry.name),
            Does::Own => continue,
        };
        names_in_use.add("a slash command", command.name, part);
    }
}

fn field<'m>(field: &'m Named<Field>, taken: &mut Taken<'_, 'm>) {
    let name = field.name.as_str();
    let part = ("field", &field.name);
    match &field.kind {
        FieldKind::OneOf(words) => taken.add_words(type_of_words(name), words, part),
        FieldKind::Data(_) => taken.add("a method of `Loop`", format!("set_{name}"), part),
        FieldKind::Held(held) => taken.add("a value of the engine", held.word(), part),
        _ => {}
    }
    if !field.within.is_empty() {
        taken.add("a method of `Loop`", name, part);
    }
    if field.at_start != AtStart::Never {
        taken.add("a flag of `start`", name, part);
    }
}

fn transition<'m>(entry: &'m Entry, taken: &mut Taken<'_, 'm>) {
    let name = entry.name.as_str();
    let part = ("transition", &entry.name);
    taken.add("a method of `Loop`", name, part);
    // `resume` of the command line is the user's, too.
    if entry.is_verb() && !(entry.is_by_user_alone() && name == "resume") {
        taken.add("a verb", name.replace('_', "-"), part);
    }
    let arguments = format!("an argument of `{name}`");
    taken.reserve(&arguments, ARGUMENTS);
    for argument in &entry.args {
        let part = ("argument", &argument.name);
        taken.add(&arguments, argument.name.as_str(), part);
        if let FieldKind::OneOf(words) = &argument.kind {
            taken.add_words(camel(name) + &camel(&argument.name), words, part);
        }
    }
}
