//! Names of phases, fields, transitions, personas and arguments that do not exist, and fields used in phases in which
//! they do not exist (`in`).

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Check, problem, strs};
use crate::diagnostic::{list, suggest};
use crate::model::texts::interpolated;
use crate::model::{Argument, At, AtStart, Behaviour, Field, Transition};

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
        check.find("unknown_transition", &check.transitions, name);
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
            check.find("unknown_transition", &check.transitions, name);
        }
        if let Some(review) = behaviour.review() {
            for name in &review.personas {
                check.find("unknown_persona", &check.personas, name);
            }
        }
    }
}

impl<'m> Check<'m> {
    /// Returns what has a name, or reports that nothing has.
    pub(super) fn find<'k, T>(
        &self,
        code: &'static str,
        known: &'k BTreeMap<&str, T>,
        name: &At<String>,
    ) -> Option<&'k T> {
        let found = known.get(name.as_str());
        if found.is_none() {
            let problem = problem(code, &[name]);
            let problem = match suggest(name, known.keys().copied()) {
                Some(help) => problem.help(help),
                None => problem,
            };
            self.report(&name.span, Some(problem));
        }
        found
    }

    pub(super) fn find_phase(&self, name: &At<String>) -> Option<usize> {
        self.find("unknown_phase", &self.phases, name).copied()
    }

    pub(super) fn find_field(&self, name: &At<String>) -> Option<&'m Field> {
        self.find("unknown_field", &self.fields, name).copied()
    }

    pub(super) fn find_argument<'a>(
        &self,
        entry: &'a Transition,
        name: &At<String>,
    ) -> Option<&'a Argument> {
        let args = entry.args.iter();
        let args = args
            .map(|argument| (argument.name.as_str(), argument))
            .collect();
        self.find("unknown_argument", &args, name).copied()
    }
}

/// Reports fields that are read or set in phases in which they do not exist.
pub(super) fn presence(check: &Check<'_>) {
    let machine = check.machine;
    for mode in &machine.modes {
        let start = check.phases.get(mode.start.as_str()).copied();
        for (field, _) in &mode.initial {
            let sets = format!("the mode `{}` sets", mode.name);
            require(check, field, &field.span, start, &sets);
        }
        for Field { name, at_start, .. } in &machine.fields {
            let takes = format!("a start in the mode `{}` takes", mode.name);
            require(
                check,
                name,
                &name.span,
                start.filter(|_| *at_start != AtStart::Never),
                &takes,
            );
        }
    }
    for (at, phase) in machine.phases.iter().enumerate() {
        for parameter in phase.on_stop.iter().flat_map(Behaviour::parameters) {
            let names = interpolated(parameter.value).unwrap_or_default();
            let names = names.into_iter().map(|(name, _)| name);
            let reads = format!("`{}` reads", parameter.key);
            for name in names.chain(parameter.is_field().then_some(parameter.value)) {
                require(check, name, parameter.span, [at], &reads);
            }
        }
    }
    for entry in &machine.transitions {
        let from = || check.edges_of(entry).map(|edge| edge.from);
        let to = || check.edges_of(entry).map(|edge| edge.to);
        let reads = format!("`{}` reads", entry.name);
        for name in entry.when.iter().flat_map(|guard| guard.fields()) {
            require(check, name, &name.span, from(), &reads);
        }
        for (name, update) in &entry.set {
            require(
                check,
                name,
                &name.span,
                to(),
                &format!("`{}` sets", entry.name),
            );
            if let Some(read) = update.field() {
                require(check, read, &update.span, from(), &reads);
            }
        }
    }
}

/// Reports that a field is used in phases in which it does not exist. `what` is the subject and the verb.
fn require(
    check: &Check<'_>,
    name: &str,
    place: &Range<usize>,
    phases: impl IntoIterator<Item = usize>,
    what: &str,
) {
    let field = check.fields.get(name);
    let within = field.and_then(|field| field.within.as_ref());
    let within = within.filter(|within| {
        within
            .iter()
            .all(|name| check.phases.contains_key(name.as_str()))
    });
    let Some(within) = within.map(strs) else {
        return;
    };
    let phases = phases.into_iter().map(|at| check.phase(at).name.as_str());
    let mut absent: Vec<&str> = phases.filter(|phase| !within.contains(phase)).collect();
    absent.dedup();
    absent.truncate(4);
    if !absent.is_empty() {
        check.add_at(
            "field_absent",
            place,
            &[what, name, &list(&absent), &list(&within)],
        );
    }
}
