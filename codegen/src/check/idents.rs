//! Names that collide in the generated Rust, in a document or on the command line.

use std::collections::{BTreeSet, HashMap};

use super::{Check, strs};
use crate::emit::ident::{TYPES, camel, type_of_words};
use crate::model::texts::Word;
use crate::model::{Actor, At, AtStart, Behaviour, Does, Field, FieldKind, Transition};

/// The methods of every `Loop`.
const METHODS: &str = "id phase fields header raw reload folder into_any noting add_text";
/// The arguments of every verb and of every method of a transition.
const ARGUMENTS: &str = "id loop_args from_prompt help rejecting evidence held";
/// The verbs of every program.
const VERBS: &str = "start run review status list adopt journal report sweep doctor machine config stop prompt answer \
                     session-start hooks plugin rollback personas import use state statusline help resume";
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
        let keys = names
            .split_whitespace()
            .map(|name| (space.to_owned(), name.to_owned()));
        self.owners.extend(keys.map(|key| (key, None)));
    }

    /// Adds a name that is made from a part of the file, or reports that another part has it.
    fn add(&mut self, space: &str, name: impl Into<String>, part: Part<'m>) {
        let key = (space.to_owned(), name.into());
        let Some(owner) = self.owners.get(&key) else {
            self.owners.insert(key, Some(part));
            return;
        };
        let known = owner.map(|(kind, of)| format!("the {kind} `{of}`"));
        let known = known.unwrap_or("every machine".to_owned());
        self.check
            .add("name_taken", part.1, &[part.0, &key.0, &key.1, &known]);
        if let Some((_, other)) = owner {
            self.check.relate(&other.span, "the other name");
        }
    }

    /// Adds the enum of a list of words.
    fn add_words(&mut self, name: String, words: &'m [At<Word>], part: Part<'m>) {
        let mut variants = BTreeSet::new();
        for word in words.iter().filter(|word| !variants.insert(camel(word))) {
            self.check.add("name_word", word, &[]);
        }
        self.add("a type", name, part);
    }
}

pub(super) fn collisions(check: &Check<'_>) {
    let machine = check.machine;
    let owners = HashMap::new();
    let taken = &mut Taken { check, owners };
    taken.reserve("a type", TYPES);
    taken.reserve("a method of `Loop`", METHODS);
    taken.reserve("a flag of `start`", "mode help");
    taken.reserve("a verb", VERBS);
    taken.reserve("a method of `OnStop`", "stop verifies subjects asks");
    if machine.behaviours().any(Behaviour::verifies) {
        taken.reserve("a verb", "verify");
    }

    taken.add("a type", camel(&machine.name), ("machine", &machine.name));
    for mode in &machine.modes {
        taken.add(
            "a variant of `Mode`",
            camel(&mode.name),
            ("mode", &mode.name),
        );
    }
    for phase in &machine.phases {
        let part = ("phase", &phase.name);
        if phase.name.value == "same" {
            check.add("name_same", &phase.name, &[]);
        }
        if !phase.terminal {
            taken.add("a method of `OnStop`", phase.name.as_str(), part);
        }
        if phase.on_stop.as_ref().is_some_and(Behaviour::asks_in_rust) {
            taken.add("a method of `OnStop`", format!("{}_asks", phase.name), part);
        }
        taken.add("a type", camel(&phase.name), part);
        taken.add("a stored form", phase.stored(), part);
    }
    let mut entries: Vec<_> = check
        .transitions
        .values()
        .map(|entries| entries[0])
        .collect();
    entries.sort_by_key(|entry| entry.span.start);
    for entry in &entries {
        taken.add("a type", camel(&entry.name), ("transition", &entry.name));
    }
    for field in &machine.fields {
        self::field(field, taken);
    }
    for entry in entries {
        transition(check, entry, taken);
    }
    let commands = machine.plugin.as_ref().map(|_| machine.slash_commands());
    for command in commands.into_iter().flatten().rev() {
        let part = match command.does {
            Does::Start(mode) => ("mode", &mode.name),
            Does::Take => ("transition", &check.transitions[command.name][0].name),
            Does::Own => {
                taken.reserve("a slash command", command.name);
                continue;
            }
        };
        taken.add("a slash command", command.name, part);
    }
}

fn field<'m>(field: &'m Field, taken: &mut Taken<'_, 'm>) {
    let name = field.name.as_str();
    let part = ("field", &field.name);
    taken.add("a field or transition", name, part);
    match &field.kind {
        FieldKind::OneOf(words) => taken.add_words(type_of_words(name), words, part),
        FieldKind::Data(_) => taken.add("a method of `Loop`", format!("set_{name}"), part),
        FieldKind::Held(held) => taken.add("a value of the engine", held.word(), part),
        _ => {}
    }
    if field.within.is_some() {
        taken.add("a type", format!("Has{}", camel(name)), part);
        taken.add("a method of `Loop`", name, part);
    }
    if field.at_start != AtStart::Never {
        taken.add("a flag of `start`", name, part);
    }
}

fn transition<'m>(check: &Check<'m>, entry: &'m Transition, taken: &mut Taken<'_, 'm>) {
    let name = entry.name.as_str();
    let part = ("transition", &entry.name);
    taken.add("a field or transition", name, part);
    taken.add("a method of `Loop`", name, part);
    // `resume` of the command line is the user's, too.
    let by_user = entry.by.iter().all(|actor| actor.value == Actor::Person);
    if entry.is_verb() && !(by_user && name == "resume") {
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
    // A transition that leads from one phase to several has an enum of the phases that follow.
    let entries = &check.transitions[name];
    if entries.len() > 1 {
        taken.add("a type", format!("{}Next", camel(name)), part);
        let sources = strs(entries.iter().flat_map(|entry| entry.sources()));
        for source in sources.into_iter().collect::<BTreeSet<_>>() {
            let next = format!("{}From{}", camel(name), camel(source));
            taken.add("a type", next, part);
        }
    }
}
