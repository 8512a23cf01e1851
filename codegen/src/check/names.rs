//! Names of phases, fields, transitions, personas and arguments that do not exist, and fields used in phases in which
//! they do not exist (`in`).

use std::ops::Range;

use super::{Check, strs};
use crate::diagnostic::{list, suggest};
use crate::model::texts::interpolated;
use crate::model::{Argument, At, AtStart, Field, Transition};

/// Reports unknown names everywhere except in modes and transitions, which `types` reads.
pub(super) fn names(check: &Check<'_>) {
    let machine = check.machine;
    let within = machine.fields.iter().flat_map(|field| &field.within);
    for phase in within.flatten() {
        check.has_phase(phase);
    }
    for name in &machine.state.edits {
        check.find_field(name);
    }
    for name in &machine.before_stop {
        has_transition(check, name);
    }
    for behaviour in machine.behaviours() {
        for parameter in behaviour.parameters() {
            let engine_names = parameter.engine_names();
            for (name, _) in interpolated(parameter.value).unwrap_or_default() {
                let key = parameter.key;
                let place = parameter.span;
                if !engine_names.contains(&name) {
                    check.find_field(&At::new(name.to_owned(), place.clone()));
                } else if machine.field(name).is_some() {
                    check.add("two_meanings", place, &[&name, &key]);
                }
            }
        }
        for name in behaviour.transitions() {
            has_transition(check, name);
        }
        let personas = behaviour.review().into_iter();
        for name in personas.flat_map(|review| &review.personas) {
            let known = machine.personas.iter().map(|persona| &persona.name);
            let help = format!("add [personas.{name}] with a label and a prompt");
            is_known(check, "unknown_persona", name, known, help);
        }
    }
}

impl<'m> Check<'m> {
    /// Returns whether a phase exists. Reports it otherwise.
    pub(super) fn has_phase(&self, name: &At<String>) -> bool {
        let known = self.machine.phases.iter().map(|phase| &phase.name);
        let help = format!("add `[phases.{name}]`");
        is_known(self, "unknown_phase", name, known, help)
    }

    /// Returns a field, or reports that it does not exist.
    pub(super) fn find_field(&self, name: &At<String>) -> Option<&'m Field> {
        let known = self.machine.fields.iter().map(|field| &field.name);
        let help = format!("add `{name} = {{ type = \"count\" }}` to [fields]");
        is_known(self, "unknown_field", name, known, help);
        self.machine.field(name)
    }

    /// Returns an argument, or reports that it does not exist. `kind` is the type that it should have.
    pub(super) fn find_argument(
        &self,
        entry: &'m Transition,
        name: &At<String>,
        kind: &str,
    ) -> Option<&'m Argument> {
        let argument = entry.args.iter().find(|known| known.name == *name);
        if argument.is_none() {
            let help = suggest(name, entry.args.iter().map(|known| known.name.as_str()));
            let help = help.unwrap_or_else(|| format!("add `args = {{ {name} = \"{kind}\" }}`"));
            self.add("unknown_argument", &name.span, &[&entry.name, name, &help]);
        }
        argument
    }
}

fn has_transition(check: &Check<'_>, name: &At<String>) {
    let known = check.transitions.values().map(|entries| &entries[0].name);
    let help = format!("add `[[transitions.{name}]]`");
    is_known(check, "unknown_transition", name, known, help);
}

/// Returns whether a name is known. Reports it otherwise, with `help` if no known name is similar.
fn is_known<'m>(
    check: &Check<'_>,
    code: &'static str,
    name: &At<String>,
    mut known: impl Iterator<Item = &'m At<String>> + Clone,
    help: String,
) -> bool {
    let is_known = known.clone().any(|known| known == name);
    if !is_known {
        let help = suggest(name, known.by_ref().map(|known| known.as_str())).unwrap_or(help);
        check.add(code, &name.span, &[name, &help]);
    }
    is_known
}

/// Reports fields that are read or set in phases in which they do not exist.
pub(super) fn presence(check: &Check<'_>) {
    let machine = check.machine;
    for mode in &machine.modes {
        let start: Vec<usize> = check.phase_index(&mode.start).into_iter().collect();
        let sets = format!("the mode `{}` sets", mode.name);
        for (field, _) in &mode.initial {
            require(check, field, &field.span, &start, &sets);
        }
        let takes = format!("a start in the mode `{}` takes", mode.name);
        let fields = machine.fields.iter();
        for field in fields.filter(|field| field.at_start != AtStart::Never) {
            require(check, &field.name, &field.name.span, &start, &takes);
        }
    }
    for (at, phase) in machine.phases.iter().enumerate() {
        let behaviour = phase.on_stop.iter();
        for parameter in behaviour.flat_map(|behaviour| behaviour.parameters()) {
            let names = interpolated(parameter.value).unwrap_or_default();
            let names = names.into_iter().map(|(name, _)| name);
            let reads = format!("`{}` reads", parameter.key);
            for name in names.chain(parameter.is_field().then_some(parameter.value)) {
                require(check, name, parameter.span, &[at], &reads);
            }
        }
    }
    for entry in &machine.transitions {
        let edges = check.edges_of(entry);
        let (from, to): (Vec<_>, Vec<_>) = edges.map(|edge| (edge.from, edge.to)).unzip();
        let reads = format!("`{}` reads", entry.name);
        let guard = entry.when.iter();
        for name in guard.flat_map(|guard| guard.fields()) {
            require(check, name, &name.span, &from, &reads);
        }
        for (name, update) in &entry.set {
            let sets = format!("`{}` sets", entry.name);
            require(check, name, &name.span, &to, &sets);
            if let Some(read) = update.field() {
                require(check, read, &update.span, &from, &reads);
            }
        }
    }
}

/// Reports that a field is used in phases in which it does not exist. `what` is the subject and the verb.
fn require(check: &Check<'_>, name: &str, place: &Range<usize>, phases: &[usize], what: &str) {
    let Some(field) = check.machine.field(name) else {
        return;
    };
    let within = strs(field.within.iter().flatten());
    let phases = phases.iter().map(|&at| check.phase(at).name.as_str());
    let mut absent: Vec<&str> = phases.filter(|phase| !field.exists_in(phase)).collect();
    absent.dedup();
    absent.truncate(4);
    let is_known = |phase: &&str| check.phase_index(phase).is_some();
    if !absent.is_empty() && within.iter().all(is_known) {
        let absent = list(&absent);
        let within = list(&within);
        check.add("field_absent", place, &[&what, &name, &absent, &within]);
    }
}
