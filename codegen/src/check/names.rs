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
    for phase in machine
        .fields
        .iter()
        .flat_map(|field| &field.within)
        .flatten()
    {
        check.find_phase(phase);
    }
    for name in &machine.state.edits {
        check.find_field(name);
    }
    for name in &machine.before_stop {
        check.find_transition(name);
    }
    for behaviour in machine.behaviours() {
        for parameter in behaviour.parameters() {
            let (key, place) = (parameter.key, parameter.span);
            for (name, _) in interpolated(parameter.value).unwrap_or_default() {
                if !parameter.engine_names().contains(&name) {
                    check.find_field(&At::new(name.to_owned(), place.clone()));
                } else if check.fields.contains_key(name) {
                    check.add_at("two_meanings", place, &[name, key]);
                }
            }
        }
        for name in behaviour.transitions() {
            check.find_transition(name);
        }
        for name in behaviour
            .review()
            .iter()
            .flat_map(|review| &review.personas)
        {
            let mut known = machine.personas.iter().map(|persona| &persona.name);
            let found = known.clone().find(|known| *known == name);
            let help = format!("add [personas.{name}] with a label and a prompt");
            check.found_or("unknown_persona", found, name, known.by_ref(), help);
        }
    }
}

impl<'m> Check<'m> {
    /// Returns the index of a phase, or reports that it does not exist.
    pub(super) fn find_phase(&self, name: &At<String>) -> Option<usize> {
        let phase = self.phases.get(name.as_str()).copied();
        let known = self.machine.phases.iter().map(|phase| &phase.name);
        self.found_or(
            "unknown_phase",
            phase,
            name,
            known,
            format!("add `[phases.{name}]`"),
        )
    }

    /// Returns a field, or reports that it does not exist.
    pub(super) fn find_field(&self, name: &At<String>) -> Option<&'m Field> {
        let field = self.fields.get(name.as_str()).copied();
        let known = self.machine.fields.iter().map(|field| &field.name);
        let help = format!("add `{name} = {{ type = \"count\" }}` to [fields]");
        self.found_or("unknown_field", field, name, known, help)
    }

    /// Returns an argument, or reports that it does not exist.
    pub(super) fn find_argument<'a>(
        &self,
        entry: &'a Transition,
        name: &At<String>,
    ) -> Option<&'a Argument> {
        let argument = entry.args.iter().find(|known| known.name == *name);
        if argument.is_none() {
            let help = suggest(name, entry.args.iter().map(|known| known.name.as_str()));
            let help = help.unwrap_or_else(|| format!("add it to `args` of `{}`", entry.name));
            self.add("unknown_argument", name, &[&entry.name, &help]);
        }
        argument
    }

    fn find_transition(&self, name: &At<String>) {
        let entries = self.transitions.get(name.as_str());
        let known = self.transitions.values().map(|entries| &entries[0].name);
        let help = format!("add `[[transitions.{name}]]`");
        self.found_or("unknown_transition", entries, name, known, help);
    }

    /// Returns what was found for a name. If nothing was, reports it, with `help` if no known name is similar.
    fn found_or<'n, T>(
        &self,
        code: &'static str,
        found: Option<T>,
        name: &At<String>,
        known: impl Iterator<Item = &'n At<String>>,
        help: String,
    ) -> Option<T> {
        if found.is_none() {
            let help = suggest(name, known.map(|known| known.as_str())).unwrap_or(help);
            self.add(code, name, &[&help]);
        }
        found
    }
}

/// Reports fields that are read or set in phases in which they do not exist.
pub(super) fn presence(check: &Check<'_>) {
    let machine = check.machine;
    let taken = machine
        .fields
        .iter()
        .filter(|field| field.at_start != AtStart::Never);
    for mode in &machine.modes {
        let start: Vec<usize> = check
            .phases
            .get(mode.start.as_str())
            .copied()
            .into_iter()
            .collect();
        for (field, _) in &mode.initial {
            let sets = format!("the mode `{}` sets", mode.name);
            require(check, field, &field.span, &start, &sets);
        }
        for Field { name, .. } in taken.clone() {
            let takes = format!("a start in the mode `{}` takes", mode.name);
            require(check, name, &name.span, &start, &takes);
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
        for name in entry.when.iter().flat_map(|guard| guard.fields()) {
            require(check, name, &name.span, &from, &reads);
        }
        for (name, update) in &entry.set {
            require(
                check,
                name,
                &name.span,
                &to,
                &format!("`{}` sets", entry.name),
            );
            if let Some(read) = update.field() {
                require(check, read, &update.span, &from, &reads);
            }
        }
    }
}

/// Reports that a field is used in phases in which it does not exist. `what` is the subject and the verb.
fn require(check: &Check<'_>, name: &str, place: &Range<usize>, phases: &[usize], what: &str) {
    let field = check.fields.get(name);
    let Some(within) = field.and_then(|field| field.within.as_ref()) else {
        return;
    };
    let within = strs(within);
    let phases = phases.iter().map(|&at| check.phase(at).name.as_str());
    let mut absent: Vec<&str> = phases.filter(|phase| !within.contains(phase)).collect();
    absent.dedup();
    absent.truncate(4);
    let is_known = within.iter().all(|phase| check.phases.contains_key(phase));
    if is_known && !absent.is_empty() {
        check.add_at(
            "field_absent",
            place,
            &[what, name, &list(&absent), &list(&within)],
        );
    }
}
