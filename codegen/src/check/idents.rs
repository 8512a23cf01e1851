//! Names that collide in the generated Rust, in a document or on the command line.

use std::collections::{BTreeSet, HashMap};

use super::{Check, strs};
use crate::emit::ident::{TYPES, camel, type_of_words};
use crate::model::texts::Word;
use crate::model::{Actor, At, AtStart, Behaviour, Does, FieldKind, Transition};

/// The methods of every `Loop`.
const METHODS: &str = "id phase fields header raw reload folder into_any noting add_text";
/// The arguments of every verb and of every method of a transition.
const ARGUMENTS: &str = "id loop_args from_prompt help rejecting evidence held";
/// The verbs of every program.
const VERBS: &str = "start run review status list adopt journal report sweep doctor machine config stop prompt answer \
                     session-start hooks plugin rollback personas import use state statusline completions help resume";
/// The words of Rust that have no raw form, and the empty word.
const NOT_NAMES: [&str; 5] = ["self", "Self", "super", "crate", ""];

/// The kind of a part of the machine file, and its name.
type Part<'m> = (&'static str, &'m At<String>);

/// The names that are taken: the part of the file that has each, by namespace and name. `None`: every machine has it.
struct Taken<'c, 'm> {
    check: &'c Check<'m>,
    owners: HashMap<(String, String), Option<Part<'m>>>,
}

impl<'m> Taken<'_, 'm> {
    /// Notes names that every machine has, separated by spaces.
    fn reserve(&mut self, space: &str, names: &str) {
        for name in names.split_whitespace() {
            self.owners
                .insert((space.to_owned(), name.to_owned()), None);
        }
    }

    /// Adds a name that is made from a part of the file, or reports that it cannot be.
    fn add(&mut self, space: &str, name: impl Into<String>, part: Part<'m>) {
        let (kind, of) = part;
        let name = name.into();
        if NOT_NAMES.contains(&name.as_str()) && space != "a stored form" {
            return self.check.add("name_not_rust", of, &[kind]);
        }
        let key = (space.to_owned(), name);
        match self.owners.get(&key) {
            None => drop(self.owners.insert(key, Some(part))),
            Some(owner) => {
                let known = owner.map_or("every machine".to_owned(), |(kind, of)| {
                    format!("the {kind} `{of}`")
                });
                self.check
                    .add("name_taken", of, &[kind, &key.0, &key.1, &known]);
                if let Some((_, other)) = owner {
                    self.check.relate(&other.span, "the other name");
                }
            }
        }
    }

    /// Adds the enum of a list of words.
    fn add_words(&mut self, name: String, words: &'m [At<Word>], part: Part<'m>) {
        let mut variants = BTreeSet::new();
        for word in words {
            let variant = camel(&word.value);
            if NOT_NAMES.contains(&variant.as_str()) || !variants.insert(variant) {
                self.check.add("name_word", word, &[]);
            }
        }
        self.add("a type", format!("{name}Iter"), part);
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
    reserve_hook_methods(check, taken);

    let part = ("machine", &machine.name);
    taken.add("a module", &*machine.name.value, part);
    taken.add("a type", camel(&machine.name), part);
    for mode in &machine.modes {
        taken.add(
            "a variant of `Mode`",
            camel(&mode.name),
            ("mode", &mode.name),
        );
    }
    for phase in &machine.phases {
        let name = &phase.name;
        let part = ("phase", name);
        if name.value == "same" {
            check.add("name_same", name, &[]);
        }
        if !phase.terminal {
            taken.add("a method of `OnStop`", &*name.value, part);
        }
        taken.add("a type", camel(name), part);
        taken.add("a stored form", phase.stored(), part);
    }
    let entries = check.transitions.values();
    let mut entries: Vec<_> = entries.map(|entries| entries[0]).collect();
    entries.sort_by_key(|entry| entry.span.start);
    for entry in &entries {
        taken.add("a type", camel(&entry.name), ("transition", &entry.name));
    }
    fields(check, taken);
    for entry in entries {
        transition(check, entry, taken);
    }
    let commands = machine.plugin.as_ref().map(|_| machine.slash_commands());
    for command in commands.into_iter().flatten().rev() {
        match command.does {
            Does::Start(mode) => taken.add("a slash command", command.name, ("mode", &mode.name)),
            Does::Own => taken.reserve("a slash command", command.name),
            Does::Take => {
                let name = &check.transitions[command.name][0].name;
                taken.add("a slash command", command.name, ("transition", name));
            }
        }
    }
}

fn fields<'m>(check: &Check<'m>, taken: &mut Taken<'_, 'm>) {
    for field in &check.machine.fields {
        let name = &field.name;
        let part = ("field", name);
        taken.add("a field or transition", &*name.value, part);
        match &field.kind {
            FieldKind::OneOf(words) => taken.add_words(type_of_words(name), words, part),
            FieldKind::Data(_) => taken.add("a method of `Loop`", format!("set_{name}"), part),
            _ => {}
        }
        if field.within.is_some() {
            taken.add("a type", format!("Has{}", camel(name)), part);
            taken.add("a method of `Loop`", &*name.value, part);
        }
        if field.at_start != AtStart::Never {
            taken.add("a flag of `start`", &*name.value, part);
        }
    }
}

fn transition<'m>(check: &Check<'m>, entry: &'m Transition, taken: &mut Taken<'_, 'm>) {
    let name = &entry.name;
    let part = ("transition", name);
    taken.add("a field or transition", &*name.value, part);
    taken.add("a method of `Loop`", &*name.value, part);
    // `resume` of the command line is the user's, too.
    let by_user = entry.by.iter().all(|actor| actor.value == Actor::Person);
    if entry.is_verb() && !(by_user && name.value == "resume") {
        taken.add("a verb", name.replace('_', "-"), part);
    }
    let arguments = format!("an argument of `{name}`");
    taken.reserve(&arguments, ARGUMENTS);
    for argument in &entry.args {
        let part = ("argument", &argument.name);
        taken.add(&arguments, &*argument.name.value, part);
        if let FieldKind::OneOf(words) = &argument.kind {
            taken.add_words(camel(name) + &camel(&argument.name), words, part);
        }
    }
    // A transition that leads from one phase to several has an enum of the phases that follow.
    let entries = &check.transitions[name.as_str()];
    if entries.len() > 1 {
        taken.add("a type", format!("{}Next", camel(name)), part);
        let sources = strs(entries.iter().flat_map(|entry| entry.sources()));
        for source in sources.into_iter().collect::<BTreeSet<_>>() {
            let next = format!("{}From{}", camel(name), camel(source));
            taken.add("a type", next, part);
        }
    }
}

/// Reserves the methods of `OnStop` that are not those of phases, and the verb that goes with them.
fn reserve_hook_methods(check: &Check<'_>, taken: &mut Taken<'_, '_>) {
    let space = "a method of `OnStop`";
    let machine = check.machine;
    taken.reserve(space, "stop");
    if machine.behaviours().any(Behaviour::verifies) {
        taken.reserve(space, "verifies");
        taken.reserve("a verb", "verify");
    }
    if machine.behaviours().any(Behaviour::reviews_in_rust) {
        taken.reserve(space, "subjects");
    }
    for phase in &machine.phases {
        if phase.on_stop.as_ref().is_some_and(Behaviour::asks_in_rust) {
            taken.reserve(space, &format!("asks {}_asks", phase.name));
        }
    }
}
