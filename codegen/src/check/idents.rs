//! Names that collide in the generated Rust, in a document or on the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Index, Problems};
use crate::emit::ident::{TYPES, camel, type_of_words};
use crate::model::texts::Word;
use crate::model::{
    Actor, ArgumentKind, At, AtStart, Behaviour, FieldKind, From, Phase, Transition,
};

/// The methods of every `Loop`.
const METHODS: [&str; 10] = [
    "id", "phase", "fields", "header", "raw", "reload", "folder", "into_any", "noting", "add_text",
];
/// The arguments of every verb and of every method of a transition.
const ARGUMENTS: [&str; 6] = ["id", "from_prompt", "help", "rejecting", "evidence", "held"];
/// The words of Rust that have no raw form.
const KEYWORDS: [&str; 5] = ["self", "Self", "super", "crate", ""];
/// The verbs of every program.
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
    "session-start",
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

/// The names that are taken, by namespace.
#[derive(Default)]
struct Taken<'m>(BTreeMap<(String, String), Owner<'m>>);

/// What a name is made from, and its place. Names that every machine has are not in the file.
type Owner<'m> = (String, Option<&'m Range<usize>>);

impl<'m> Taken<'m> {
    /// Notes names that every machine has.
    fn reserve(&mut self, space: &str, names: impl IntoIterator<Item = impl Into<String>>) {
        for name in names {
            let owner = ("which every machine has".to_owned(), None);
            self.0.insert((space.to_owned(), name.into()), owner);
        }
    }

    /// Adds a name that is made from a part of the machine file, or reports that it is taken.
    fn add(
        &mut self,
        space: &str,
        name: impl Into<String>,
        (kind, of): (&str, &'m At<String>),
        found: &mut Problems,
    ) {
        let name = name.into();
        let help = format!("rename the {kind}");
        if KEYWORDS.contains(&name.as_str()) && space != "stored form" {
            let message = format!("the {kind} `{of}` cannot be a name in Rust");
            found.add("name_collision", &of.span, message, help);
            return;
        }
        let this = format!("the {kind} `{of}`");
        let key = (space.to_owned(), name);
        let Some((owner, place)) = self.0.get(&key) else {
            self.0.insert(key, (this, Some(&of.span)));
            return;
        };
        let name = &key.1;
        match place {
            None => {
                let message = format!("{this} gives the {space} `{name}`, {owner}");
                found.add("name_collision", &of.span, message, help);
            }
            Some(place) => {
                let message = format!("{this} and {owner} both give the {space} `{name}`");
                found.add("name_collision", &of.span, message, help);
                found.relate(place, "the other name");
            }
        }
    }
}

pub(super) fn collisions(index: &Index<'_>, found: &mut Problems) {
    let machine = index.machine;
    let taken = &mut Taken::default();
    taken.reserve("type", TYPES);
    taken.reserve("method of `Loop`", METHODS);
    taken.reserve("flag of `start`", ["mode", "help"]);
    taken.reserve("verb", VERBS);
    hook_methods(index, taken);

    taken.add(
        "module",
        &*machine.name.value,
        ("machine", &machine.name),
        found,
    );
    taken.add(
        "type",
        camel(&machine.name),
        ("machine", &machine.name),
        found,
    );
    for mode in &machine.modes {
        taken.add("mode", camel(&mode.name), ("mode", &mode.name), found);
    }
    for phase in &machine.phases {
        let part = ("phase", &phase.name);
        if phase.name.value == "same" {
            let message = "a phase cannot be named `same`: `to = \"same\"` means the source";
            found.add(
                "name_collision",
                &phase.name.span,
                message,
                "rename the phase",
            );
        }
        if !phase.terminal {
            taken.add("method of `OnStop`", &*phase.name.value, part, found);
        }
        taken.add("type", camel(&phase.name), part, found);
        taken.add("stored form", phase.stored(), part, found);
    }
    let mut entries: Vec<&Transition> = index.transitions.values().map(|all| all[0]).collect();
    entries.sort_by_key(|entry| entry.span.start);
    for entry in &entries {
        taken.add(
            "type",
            camel(&entry.name),
            ("transition", &entry.name),
            found,
        );
    }
    fields(index, taken, found);
    for entry in entries {
        transition(index, entry, taken, found);
    }
}

fn fields<'m>(index: &Index<'m>, taken: &mut Taken<'m>, found: &mut Problems) {
    for field in &index.machine.fields {
        let (name, part) = (&field.name, ("field", &field.name));
        taken.add("field", &*name.value, part, found);
        match &field.kind {
            FieldKind::OneOf(list) => words(type_of_words(name), list, part, taken, found),
            FieldKind::Data(_) => {
                taken.add("method of `Loop`", format!("set_{name}"), part, found);
            }
            _ => {}
        }
        if field.within.is_some() {
            taken.add("type", format!("Has{}", camel(name)), part, found);
            taken.add("method of `Loop`", &*name.value, part, found);
        }
        if field.at_start != AtStart::Never {
            taken.add("flag of `start`", &*name.value, part, found);
        }
    }
}

fn transition<'m>(
    index: &Index<'m>,
    entry: &'m Transition,
    taken: &mut Taken<'m>,
    found: &mut Problems,
) {
    let (name, part) = (&entry.name, ("transition", &entry.name));
    taken.add("method of `Loop`", &*name.value, part, found);
    let by = || entry.by.iter().map(|actor| actor.value);
    let is_resume_of_user = name.value == "resume" && by().all(|actor| actor == Actor::Person);
    if entry.is_verb() && !is_resume_of_user {
        taken.add("verb", name.replace('_', "-"), part, found);
    }
    let arguments = format!("argument of `{name}`");
    taken.reserve(&arguments, ARGUMENTS);
    for argument in &entry.args {
        let part = ("argument", &argument.name);
        taken.add(&arguments, &*argument.name.value, part, found);
        if let ArgumentKind::OneOf(list) = &argument.kind {
            words(
                camel(name) + &camel(&argument.name),
                list,
                part,
                taken,
                found,
            );
        }
    }
    // A transition that leads from one phase to several has an enum of the phases that follow.
    let entries = &index.transitions[name.as_str()];
    if entries.len() > 1 {
        taken.add("type", format!("{}Next", camel(name)), part, found);
        let sources = entries.iter().flat_map(|entry| match &entry.from {
            From::Phases(names) => &**names,
            From::Any(_) => &[],
        });
        let sources: BTreeSet<&str> = sources.map(|name| name.as_str()).collect();
        for source in sources {
            let next = format!("{}From{}", camel(name), camel(source));
            taken.add("type", next, part, found);
        }
    }
}

/// Adds the enum of a list of words.
fn words<'m>(
    type_name: String,
    words: &'m [At<Word>],
    part: (&str, &'m At<String>),
    taken: &mut Taken<'m>,
    found: &mut Problems,
) {
    let mut variants = BTreeMap::new();
    for word in words {
        let variant = camel(&word.value);
        let (text, kind) = (&*word.value, part.0);
        let message = if KEYWORDS.contains(&variant.as_str()) {
            format!(
                "the word `{text}` of the {kind} `{}` cannot be a name in Rust",
                part.1
            )
        } else if let Some(other) = variants.insert(variant.clone(), text) {
            format!("the words `{other}` and `{text}` both give the variant `{variant}`")
        } else {
            continue;
        };
        found.add("name_collision", &word.span, message, "write another word");
    }
    taken.add("type", format!("{type_name}Iter"), part, found);
    taken.add("type", type_name, part, found);
}

/// Reserves the methods of `OnStop` that are not those of phases, and the verb that goes with them.
fn hook_methods(index: &Index<'_>, taken: &mut Taken<'_>) {
    let space = "method of `OnStop`";
    taken.reserve(space, ["stop"]);
    taken.reserve("verb", ["resume"]);
    let machine = index.machine;
    if machine.behaviours().any(Behaviour::verifies) {
        taken.reserve(space, ["verifies"]);
        taken.reserve("verb", ["verify"]);
    }
    if machine.behaviours().any(Behaviour::reviews_in_rust) {
        taken.reserve(space, ["subjects"]);
    }
    let asks = |phase: &&Phase| phase.on_stop.as_ref().is_some_and(Behaviour::asks_in_rust);
    for phase in machine.phases.iter().filter(asks) {
        taken.reserve(space, ["asks".to_owned(), format!("{}_asks", phase.name)]);
    }
}
