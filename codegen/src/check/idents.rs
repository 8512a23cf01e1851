//! Names that cannot live together in the generated Rust or on the command line.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::Index;
use crate::diagnostic::{Diagnostic, list};
use crate::emit::ident::{TYPES, camel, type_of_words};
use crate::model::texts::Word;
use crate::model::{Actor, ArgumentKind, At, AtStart, Behaviour, FieldKind, From, Machine, Phase};

const CODE: &str = "name_collision";

/// Methods that every loop has.
const METHODS: [&str; 9] = [
    "id", "phase", "raw", "reload", "noting", "folder", "into_any", "fields", "add_text",
];
/// What a verb or a method has besides its transition's arguments.
const ARGUMENTS: [&str; 6] = ["id", "from_prompt", "help", "rejecting", "evidence", "held"];
/// The words of Rust that cannot be written as `r#word`, in any form.
const WORDS: [&str; 4] = ["self", "super", "crate", "_"];
/// The command line's own verbs. `resume` is one of them too, see below.
const VERBS: [&str; 26] = [
    "start",
    "run",
    "review",
    "status",
    "list",
    "adopt",
    "journal",
    "report",
    "sweep",
    "doctor",
    "machine",
    "config",
    "stop",
    "prompt",
    "answer",
    "session_start",
    "hooks",
    "plugin",
    "rollback",
    "personas",
    "import",
    "use",
    "state",
    "statusline",
    "completions",
    "help",
];

/// The names that share one namespace, with what the first of each was.
struct Space {
    what: &'static str,
    taken: HashMap<String, (String, Option<Range<usize>>)>,
}

impl Space {
    fn new(what: &'static str, own: &[&str]) -> Self {
        let taken = own.iter().map(|name| {
            (
                (*name).to_owned(),
                (format!("the {what} `{name}` that every module has"), None),
            )
        });
        Self {
            what,
            taken: taken.collect(),
        }
    }

    fn add(
        &mut self,
        identifier: String,
        kind: &str,
        name: &At<String>,
        found: &mut Vec<Diagnostic>,
    ) {
        let this = format!("the {kind} `{}`", name);
        let Some((other, place)) = self.taken.get(&identifier) else {
            self.taken
                .insert(identifier, (this, Some(name.span.clone())));
            return;
        };
        let message = format!(
            "{this} and {other} both give the Rust {} `{identifier}`",
            self.what
        );
        let mut one = name
            .problem(CODE, message)
            .help(format!("rename the {kind}"));
        if let Some(place) = place {
            one = one.related(place.clone(), "the other one");
        }
        found.push(one);
    }
}

pub(super) fn collisions(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    let machine = index.machine;
    let transitions: Vec<_> = index
        .transitions
        .values()
        .map(|entries| &machine.transitions[entries[0]])
        .collect();
    let mut transitions = transitions;
    transitions.sort_by_key(|entry| entry.name.span.start);

    let mut types = Space::new("type", &TYPES);
    types.add(camel(&machine.name.value), "machine", &machine.name, found);
    for phase in &machine.phases {
        if phase.name.value == "same" {
            let one = phase.name.problem(CODE, "a phase is named `same`");
            found.push(one.help("`to = \"same\"` means the source; rename the phase"));
        }
        if phase.name.value == "stop" && !phase.terminal {
            let message =
                "the phase `stop` would be the method `OnStop::stop`, which every machine has";
            found.push(phase.name.problem(CODE, message).help("rename the phase"));
        }
        if !phase.terminal
            && let Some(does) = method(machine, &phase.name.value)
        {
            let name = &phase.name.value;
            let message = format!(
                "the phase `{name}` would be the method `OnStop::{name}`, by which the program {does}"
            );
            found.push(phase.name.problem(CODE, message).help("rename the phase"));
        }
        types.add(camel(&phase.name.value), "phase", &phase.name, found);
    }
    for entry in &transitions {
        types.add(camel(&entry.name.value), "transition", &entry.name, found);
    }
    for field in &machine.fields {
        if let FieldKind::OneOf(words) = &field.kind {
            let name = type_of_words(&field.name.value);
            types.add(format!("{name}Iter"), "field", &field.name, found);
            types.add(name, "field", &field.name, found);
            variants(words, &field.name.value, found);
        }
        if field.within.is_some() {
            types.add(
                format!("Has{}", camel(&field.name.value)),
                "field",
                &field.name,
                found,
            );
        }
        if field.name.value == "mode" && field.at_start != AtStart::Never {
            let one = field.name.problem(CODE, "a start takes a `mode` already");
            found.push(one.help("rename the field, or leave `at_start` out"));
        }
        if field.name.value == "help" && field.at_start != AtStart::Never {
            let one = field
                .name
                .problem(CODE, "`start --help` shows its help already");
            found.push(one.help("rename the field, or leave `at_start` out"));
        }
    }
    // Fields are read through a type of their own, but one name for two things of a loop would mislead.
    let mut methods = Space::new("method", &METHODS);
    for entry in &transitions {
        if let Some(field) = index.fields.get(entry.name.as_str()) {
            let message = format!(
                "the transition `{0}` and the field `{0}` have one name",
                entry.name
            );
            let one = entry.name.problem(CODE, message);
            let one = one.related(field.name.span.clone(), "the field");
            found.push(one.help("rename the transition"));
        }
    }
    branches(index, &mut types, found);
    for entry in &transitions {
        for argument in &entry.args {
            if let ArgumentKind::OneOf(words) = &argument.kind {
                let name = camel(&entry.name.value) + &camel(&argument.name.value);
                types.add(format!("{name}Iter"), "argument", &argument.name, found);
                types.add(name, "argument", &argument.name, found);
                variants(words, &argument.name.value, found);
            }
        }
    }
    for field in &machine.fields {
        if matches!(field.kind, FieldKind::Data(_)) {
            methods.add(format!("set_{}", field.name), "field", &field.name, found);
        }
    }
    for entry in &transitions {
        methods.add(entry.name.value.clone(), "transition", &entry.name, found);
    }
    let mut modes = Space::new("variant", &[]);
    for mode in &machine.modes {
        modes.add(camel(&mode.name.value), "mode", &mode.name, found);
    }
    stored_forms(index, found);
    reserved_words(index, found);
    for (at, entry) in machine.transitions.iter().enumerate() {
        if index
            .transitions
            .get(entry.name.as_str())
            .is_some_and(|entries| entries[0] == at)
        {
            verb(index, &entry.name, found);
        }
    }
}

fn variants(words: &[At<Word>], field: &str, found: &mut Vec<Diagnostic>) {
    let mut space = Space::new("variant", &[]);
    for word in words {
        let variant = camel(&word.value);
        if variant.is_empty() || variant == "Self" {
            let message = format!(
                "the word `{}` of `{field}` gives no Rust variant",
                word.value
            );
            found.push(
                word.problem(CODE, message)
                    .help("write a word with a letter, and not `self`"),
            );
        } else {
            let name = At::new(word.value.to_string(), word.span.clone());
            space.add(variant, "word", &name, found);
        }
    }
}

fn stored_forms(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    let mut stored: HashMap<&str, &At<String>> = HashMap::new();
    for phase in &index.machine.phases {
        let form = phase.stored();
        if let Some(other) = stored.insert(form, &phase.name) {
            let message = format!(
                "the phases `{}` and `{}` are both stored as `{}`",
                other, phase.name, form
            );
            let span = phase
                .stored
                .as_ref()
                .map_or(&phase.name.span, |stored| &stored.span);
            let one = Diagnostic::new("stored_twice", span.clone(), message);
            let one = one.related(other.span.clone(), "the other one");
            found.push(one.help("give one of them another `stored`"));
        }
    }
}

fn reserved_words(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    let machine = index.machine;
    let args = machine
        .transitions
        .iter()
        .flat_map(|entry| &entry.args)
        .map(|argument| ("argument", &argument.name));
    let names = std::iter::once(("machine", &machine.name))
        .chain(machine.modes.iter().map(|mode| ("mode", &mode.name)))
        .chain(machine.fields.iter().map(|field| ("field", &field.name)))
        .chain(machine.phases.iter().map(|phase| ("phase", &phase.name)))
        .chain(
            machine
                .transitions
                .iter()
                .map(|entry| ("transition", &entry.name)),
        )
        .chain(args.clone());
    for (kind, name) in names {
        if WORDS.contains(&name.as_str()) {
            let message = format!(
                "the {kind} `{}` is a word of Rust that nothing can be named",
                name
            );
            found.push(
                name.problem(CODE, message)
                    .help(format!("rename the {kind}")),
            );
        }
    }
    for (_, name) in args.filter(|(_, name)| ARGUMENTS.contains(&name.as_str())) {
        let message = format!("the argument `{}` is one that verbs have already", name);
        found.push(name.problem(CODE, message).help("rename the argument"));
    }
}

/// A transition that leads from one phase to several gives an enum for where it led.
fn branches(index: &Index<'_>, types: &mut Space, found: &mut Vec<Diagnostic>) {
    for entries in index
        .transitions
        .values()
        .filter(|entries| entries.len() > 1)
    {
        let entry = &index.machine.transitions[entries[0]];
        let name = camel(&entry.name.value);
        types.add(format!("{name}Next"), "transition", &entry.name, found);
        let mut sources = BTreeSet::new();
        for at in entries {
            if let From::Phases(names) = &index.machine.transitions[*at].from {
                sources.extend(names.iter().map(|name| name.as_str()));
            }
        }
        for source in sources {
            types.add(
                format!("{name}From{}", camel(source)),
                "transition",
                &entry.name,
                found,
            );
        }
    }
}

/// Returns what a method of this name does that the generated `OnStop` has besides those of the phases.
fn method(machine: &Machine, name: &str) -> Option<&'static str> {
    let mut behaviours = machine.behaviours();
    if name == "verifies" && behaviours.any(Behaviour::verifies) {
        return Some("gives the commands");
    }
    if name == "subjects" && machine.behaviours().any(Behaviour::reviews_in_rust) {
        return Some("gives what is reviewed");
    }
    let asking = |phase: &&Phase| phase.on_stop.as_ref().is_some_and(Behaviour::asks_in_rust);
    let mut asking = machine.phases.iter().filter(asking);
    let asks = asking
        .any(|phase| name == "asks" || name.strip_suffix("_asks") == Some(phase.name.as_str()));
    asks.then_some("asks")
}

/// A transition that is open to agents or people is a verb, and the command line has verbs of its own.
fn verb(index: &Index<'_>, name: &At<String>, found: &mut Vec<Diagnostic>) {
    let entries = &index.transitions[name.as_str()];
    let mut actors = entries
        .iter()
        .map(|&at| &index.machine.transitions[at])
        .filter(|entry| entry.is_verb())
        .flat_map(|entry| &entry.by)
        .map(|actor| actor.value);
    let Some(first) = actors.next() else { return };
    let people_only = first == Actor::Person && actors.all(|actor| actor == Actor::Person);
    let verb = name.value.replace('_', "-");
    let (taken, help) = match verb.as_str() {
        "resume" if people_only => return,
        "resume" => (
            true,
            "the command line’s resume is a person’s: write by = [\"person\"], or rename it"
                .to_owned(),
        ),
        other => {
            let mut on_stops = index.machine.behaviours();
            let verify = on_stops.any(Behaviour::verifies).then_some("verify");
            let verbs: Vec<&str> = VERBS.into_iter().chain(verify).chain(["resume"]).collect();
            let help = format!("rename it, or leave `by` out; taken are {}", list(&verbs));
            (verbs.contains(&other), help)
        }
    };
    if taken {
        let message = format!(
            "the transition `{}` would be the verb `{verb}`, which the command line has",
            name
        );
        found.push(name.problem("reserved_verb", message).help(help));
    }
}
