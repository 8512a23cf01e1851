//! Names of phases, fields, transitions, personas and arguments that do not exist.

use super::{Index, Problems};
use crate::diagnostic::suggest;
use crate::model::texts::interpolated;
use crate::model::{Argument, At, Field, Transition};

/// Reports unknown names everywhere except in transitions, which `types` reads.
pub(super) fn names(index: &Index<'_>, found: &mut Problems) {
    let machine = index.machine;
    let within = machine.fields.iter().flat_map(|field| &field.within);
    for phase in within.flatten() {
        index.find_phase(phase, found);
    }
    for name in &machine.state.edits {
        index.find_field(name, found);
    }
    for name in &machine.before_stop {
        find_transition(index, name, found);
    }
    for behaviour in machine.behaviours() {
        for parameter in behaviour.parameters() {
            let engine_names = parameter.engine_names();
            for (name, _) in interpolated(parameter.value).unwrap_or_default() {
                let name = At::new(name.to_owned(), parameter.span.clone());
                if !engine_names.contains(&name.as_str()) {
                    index.find_field(&name, found);
                } else if let Some(field) = index.fields.get(name.as_str()) {
                    let key = parameter.key;
                    let message = format!(
                        "the engine fills in `{{{name}}}` in `{key}`, but a field has this name"
                    );
                    found.add("two_meanings", &name.span, message, "rename the field");
                    found.relate(&field.name.span, "the field");
                }
            }
        }
        for name in behaviour.transitions() {
            find_transition(index, name, found);
        }
        let personas = behaviour.review().into_iter();
        for name in personas.flat_map(|review| &review.personas) {
            let known = machine.personas.iter().map(|persona| &*persona.name.value);
            let help = format!("add [personas.{name}] with a label and a prompt");
            if known.clone().all(|known| known != name.value) {
                add_unknown("unknown_persona", "persona", name, known, help, found);
            }
        }
    }
}

impl<'m> Index<'m> {
    /// Returns the index of a phase, or reports that there is none of this name.
    pub(super) fn find_phase(&self, name: &At<String>, found: &mut Problems) -> Option<usize> {
        let phase = self.phases.get(name.as_str()).copied();
        if phase.is_none() {
            let known = self.machine.phases.iter().map(|phase| &*phase.name.value);
            let help = format!("add `[phases.{name}]`");
            add_unknown("unknown_phase", "phase", name, known, help, found);
        }
        phase
    }

    /// Returns a field, or reports that there is none of this name.
    pub(super) fn find_field(&self, name: &At<String>, found: &mut Problems) -> Option<&'m Field> {
        let field = self.fields.get(name.as_str()).copied();
        if field.is_none() {
            let known = self.machine.field_names();
            let help = format!("add `{name} = {{ type = \"count\" }}` to [fields]");
            add_unknown("unknown_field", "field", name, known, help, found);
        }
        field
    }
}

/// Returns an argument of an entry, or reports that there is none of this name. `kind` is the type that it should have.
pub(super) fn find_argument<'m>(
    entry: &'m Transition,
    name: &At<String>,
    kind: &str,
    found: &mut Problems,
) -> Option<&'m Argument> {
    let mut args = entry.args.iter();
    let argument = args.find(|known| known.name == *name);
    if argument.is_none() {
        let message = format!("`{}` has no argument `{name}`", entry.name);
        let help = suggest(name, entry.args.iter().map(|known| &*known.name.value));
        let help = help.unwrap_or_else(|| format!("add `args = {{ {name} = \"{kind}\" }}`"));
        found.add("unknown_argument", &name.span, message, help);
    }
    argument
}

fn find_transition(index: &Index<'_>, name: &At<String>, found: &mut Problems) {
    if !index.transitions.contains_key(name.as_str()) {
        let known = index.transitions.keys().copied();
        let help = format!("add `[[transitions.{name}]]`");
        add_unknown("unknown_transition", "transition", name, known, help, found);
    }
}

/// Reports an unknown name. `help` is what to do if no known name is similar.
fn add_unknown<'a>(
    code: &'static str,
    what: &str,
    name: &At<String>,
    known: impl Iterator<Item = &'a str>,
    help: String,
    found: &mut Problems,
) {
    let message = format!("no {what} is named `{name}`");
    let help = suggest(name, known).unwrap_or(help);
    found.add(code, &name.span, message, help);
}
