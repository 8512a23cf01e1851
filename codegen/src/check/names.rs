//! Names of phases, fields, transitions, personas and arguments that do not exist, and fields used in phases in which
//! they do not exist (`in`).

use std::collections::BTreeMap;

use super::{Check, problem, strs};
use crate::diagnostic::{Diagnostic, list, suggest};
use crate::model::{Argument, At, AtStart, Behaviour, Named, Transition};

/// Reports unknown names of phases, transitions, personas and fields, and fields in phases in which they do not exist.
/// Leaves the entries of transitions to [`transition`].
pub(super) fn names(check: &Check<'_>) {
    let machine = check.machine;
    for phase in machine.fields.iter().flat_map(|field| &field.within) {
        check.find_phase(phase);
    }
    let behaviours = machine.behaviours();
    let named = behaviours.clone().flat_map(Behaviour::transitions);
    for name in named.chain(machine.before_stop.iter()) {
        check.find("unknown_transition", &check.transitions, name);
    }
    let reviews = behaviours.filter_map(Behaviour::review);
    for name in reviews.flat_map(|review| &review.personas) {
        check.find("unknown_persona", &check.personas, name);
    }
    for name in &machine.state.edits {
        uses(check, name, [], "`edits` names");
    }
    for (at, phase) in machine.phases.iter().enumerate() {
        for parameter in phase.on_stop.iter().flat_map(Behaviour::parameters) {
            for name in parameter.fields() {
                let name = At::new(name.to_owned(), parameter.span.clone());
                uses(check, &name, [at], &format!("`{}` reads", parameter.key));
            }
        }
    }
    for mode in &machine.modes {
        let start = check.find_phase(&mode.start);
        let sets = format!("the mode `{}` sets", mode.name);
        for (name, _) in &mode.initial {
            uses(check, name, start, &sets);
        }
        let takes = format!("a start in the mode `{}` takes", mode.name);
        let fields = machine.fields.iter();
        for field in fields.filter(|field| field.at_start != AtStart::Never) {
            uses(check, &field.name, start, &takes);
        }
    }
}

/// Checks the names of an entry.
pub(super) fn transition(check: &Check<'_>, entry: &Named<Transition>) {
    for name in entry.sources().iter().chain(entry.target()) {
        check.find_phase(name);
    }
    let from = || check.edges_of(entry).map(|edge| edge.from);
    let updates = entry.set.iter().flat_map(|(_, update)| update.reads());
    let reads = entry.when.iter().flat_map(|guard| guard.reads());
    for read in reads.chain(updates).filter(|read| !read.is_argument) {
        uses(
            check,
            &read.name,
            from(),
            &format!("`{}` reads", entry.name),
        );
    }
    for (name, _) in &entry.set {
        let to = check.edges_of(entry).map(|edge| edge.to);
        uses(check, name, to, &format!("`{}` sets", entry.name));
    }
}

/// Reports that a field does not exist, or not in one of some phases. `what` is the subject and the verb.
fn uses(check: &Check<'_>, name: &At<String>, phases: impl IntoIterator<Item = usize>, what: &str) {
    let Some(field) = check.find("unknown_field", &check.fields, name) else {
        return;
    };
    let within = strs(&field.within);
    let phases = phases.into_iter().map(|at| check.phase(at).name.as_str());
    let mut absent: Vec<&str> = phases.filter(|phase| !field.exists_in(phase)).collect();
    absent.dedup();
    absent.truncate(4);
    let is_known = within.iter().all(|phase| check.phases.contains_key(phase));
    if is_known && !absent.is_empty() {
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
            let near = suggest(name, known.keys().copied());
            let help = near.or(problem.help);
            self.report(&name.span, Some(Diagnostic { help, ..problem }));
        }
        found
    }

    pub(super) fn find_phase(&self, name: &At<String>) -> Option<usize> {
        self.find("unknown_phase", &self.phases, name).copied()
    }

    pub(super) fn find_argument<'a>(
        &self,
        entry: &'a Transition,
        name: &At<String>,
    ) -> Option<&'a Named<Argument>> {
        let args = entry.args.iter();
        let args = args.map(|argument| (argument.name.as_str(), argument));
        self.find("unknown_argument", &args.collect(), name)
            .copied()
    }
}
