//! Names of phases, fields, transitions, personas and arguments that do not exist, and fields used in phases in which
//! they do not exist (`in`).

use std::collections::BTreeMap;

use super::{Check, problem, strs};
use crate::diagnostic::{list, suggest};
use crate::model::texts::interpolated;
use crate::model::{Argument, At, AtStart, Behaviour, FieldKind, Parameter, Read, Transition};

/// Reports unknown names of phases, transitions, personas and fields, and fields in phases in which they do not exist.
/// Leaves the entries of transitions to [`transition`].
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
    for name in &machine.before_stop {
        check.find("unknown_transition", &check.transitions, name);
    }
    for behaviour in machine.behaviours() {
        for name in behaviour.transitions() {
            check.find("unknown_transition", &check.transitions, name);
        }
        for name in behaviour
            .review()
            .into_iter()
            .flat_map(|review| &review.personas)
        {
            check.find("unknown_persona", &check.personas, name);
        }
    }
    for name in &machine.state.edits {
        uses(check, name, [], "`edits` names");
    }
    for (at, phase) in machine.phases.iter().enumerate() {
        for parameter in phase.on_stop.iter().flat_map(Behaviour::parameters) {
            self::parameter(check, at, &parameter);
        }
    }
    for mode in &machine.modes {
        let start = check.find_phase(&mode.start);
        for (name, _) in &mode.initial {
            uses(
                check,
                name,
                start,
                &format!("the mode `{}` sets", mode.name),
            );
        }
        let fields = machine.fields.iter();
        for field in fields.filter(|field| field.at_start != AtStart::Never) {
            let takes = format!("a start in the mode `{}` takes", mode.name);
            uses(check, &field.name, start, &takes);
        }
    }
}

fn parameter(check: &Check<'_>, phase: usize, parameter: &Parameter<'_>) {
    let key = parameter.key;
    let place = parameter.span;
    let names = interpolated(parameter.value)
        .unwrap_or_default()
        .into_iter();
    let names = names.map(|(name, _)| name);
    for name in names.chain(parameter.is_field().then_some(parameter.value)) {
        if !parameter.engine_names().contains(&name) {
            let name = At::new(name.to_owned(), place.clone());
            uses(check, &name, [phase], &format!("`{key}` reads"));
        } else if check.fields.contains_key(name) {
            check.add_at("two_meanings", place, &[name, key]);
        }
    }
}

/// Checks the names of an entry.
pub(super) fn transition(check: &Check<'_>, entry: &Transition) {
    for name in entry.sources().iter().chain(entry.target()) {
        check.find_phase(name);
    }
    let from = || check.edges_of(entry).map(|edge| edge.from);
    let reads = format!("`{}` reads", entry.name);
    for name in entry.when.iter().flat_map(|guard| guard.fields()) {
        uses(check, name, from(), &reads);
    }
    for (name, update) in &entry.set {
        let to = check.edges_of(entry).map(|edge| edge.to);
        uses(check, name, to, &format!("`{}` sets", entry.name));
        for read in update.reads().filter(|read| !read.is_argument) {
            uses(check, &read.name, from(), &reads);
        }
    }
}

/// Reports that a field does not exist, or not in one of some phases. `what` is the subject and the verb.
fn uses(check: &Check<'_>, name: &At<String>, phases: impl IntoIterator<Item = usize>, what: &str) {
    let Some(field) = check.find("unknown_field", &check.fields, name) else {
        return;
    };
    let within = strs(field.within.iter().flatten());
    let phases = phases.into_iter().map(|at| check.phase(at).name.as_str());
    let mut absent: Vec<&str> = phases.filter(|phase| !within.contains(phase)).collect();
    absent.dedup();
    absent.truncate(4);
    let is_known = within.iter().all(|phase| check.phases.contains_key(phase));
    if field.within.is_some() && is_known && !absent.is_empty() {
        let args = [what, name, &list(&absent), &list(&within)];
        check.add_at("field_absent", &name.span, &args);
    }
}

impl<'m> Check<'m> {
    /// Returns the part with a name, or reports an unknown name.
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

    /// Returns the kind of a field or an argument, if it exists.
    pub(super) fn kind<'a>(&'a self, entry: &'a Transition, read: &Read) -> Option<&'a FieldKind> {
        let mut arguments = entry.args.iter();
        if read.is_argument {
            Some(&arguments.find(|argument| argument.name == read.name)?.kind)
        } else {
            Some(&self.fields.get(read.name.as_str())?.kind)
        }
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
