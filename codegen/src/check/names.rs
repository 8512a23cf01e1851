//! The check for unknown names, and for fields that are used in phases without them (`in`).

use std::collections::BTreeSet;

use super::{Check, problem};
use crate::diagnostic::{Diagnostic, list, suggest};
use crate::model::{At, AtStart, Behaviour, Edge, Entry, Named, Phase};

pub(super) fn check_names(check: &Check<'_>) {
    let machine = check.machine;
    for phase in machine.fields.iter().flat_map(|field| &field.within) {
        check.find_phase(phase);
    }
    let behaviours = machine.behaviours();
    let named = behaviours.clone().flat_map(Behaviour::transitions);
    for name in named.chain(machine.before_stop.iter()) {
        check.find("unknown_transition", &machine.transitions, name);
    }
    let reviews = behaviours.filter_map(Behaviour::review);
    for name in reviews.flat_map(|review| &review.personas) {
        check.find("unknown_persona", &machine.personas, name);
    }
    for name in &machine.state.edits {
        check_field_exists(check, name, [], "`edits` names");
    }
    for phase in &machine.phases {
        if *phase.name == *"same" {
            check.add("name_same", &phase.name, &[]);
        }
        for parameter in phase.on_stop.iter().flat_map(Behaviour::parameters) {
            for name in parameter.fields() {
                let name = At::new(name.to_owned(), parameter.span.clone());
                check_field_exists(check, &name, [phase], &format!("`{}` reads", parameter.key));
            }
        }
    }
    for mode in &machine.modes {
        let start = check.find_phase(&mode.start);
        let sets = format!("the mode `{}` sets", mode.name);
        for (name, _) in &mode.initial {
            check_field_exists(check, name, start, &sets);
        }
        let takes = format!("a start in the mode `{}` takes", mode.name);
        let fields = machine.fields.iter();
        for field in fields.filter(|field| field.at_start != AtStart::Never) {
            check_field_exists(check, &field.name, start, &takes);
        }
    }
    for entry in &machine.transitions {
        check_transition(check, entry);
    }
}

fn check_transition(check: &Check<'_>, entry: &Entry) {
    for name in entry.from.iter().chain(&entry.to) {
        check.find_phase(name);
    }
    let all_edges = check.edges.iter();
    let edges = all_edges.filter(|edge| std::ptr::eq(edge.declared, entry));
    let phases = |at: fn(&Edge<'_>) -> usize| edges.clone().map(move |edge| check.phase(at(edge)));
    let updates = entry.set.iter().flat_map(|(_, update)| update.reads());
    let reads = entry.when.iter().flat_map(|guard| guard.reads());
    let subject = format!("`{}` reads", entry.name);
    for read in reads.chain(updates) {
        if read.is_argument {
            check.find("unknown_argument", &entry.args, &read.name);
        } else {
            check_field_exists(check, &read.name, phases(|edge| edge.from), &subject);
        }
    }
    let subject = format!("`{}` sets", entry.name);
    for (name, _) in &entry.set {
        check_field_exists(check, name, phases(|edge| edge.to), &subject);
    }
}

/// Reports a field that is missing in one of the phases. `what` is the subject and the verb.
fn check_field_exists<'m>(
    check: &Check<'m>,
    name: &At<String>,
    phases: impl IntoIterator<Item = &'m Named<Phase>>,
    what: &str,
) {
    let Some(field) = check.find("unknown_field", &check.machine.fields, name) else {
        return;
    };
    let phases = phases.into_iter().map(|phase| &phase.name);
    let mut absent: Vec<_> = phases.filter(|phase| !field.exists_in(phase)).collect();
    absent.dedup();
    absent.truncate(4);
    if !absent.is_empty() {
        let args = [what, name, &list(absent), &list(&field.within)];
        check.add_at("field_absent", name.span(), &args);
    }
}

impl<'m> Check<'m> {
    /// Returns the part with a name, or reports an unknown name.
    pub(super) fn find<'k, T>(
        &self,
        code: &'static str,
        known: &'k [Named<T>],
        name: &At<String>,
    ) -> Option<&'k Named<T>> {
        let found = Named::find(known, name);
        if found.is_none() {
            self.unknown(code, name, known.iter().map(|part| part.name.as_str()));
        }
        found
    }

    /// Reports an unknown name, with a known one that is similar.
    pub(super) fn unknown<'k>(
        &self,
        code: &'static str,
        name: &At<String>,
        known: impl Iterator<Item = &'k str>,
    ) {
        let problem = problem(code, &[name]);
        let known: BTreeSet<&str> = known.collect();
        let help = suggest(name, known.into_iter()).or(problem.help);
        self.report(name.span(), Some(Diagnostic { help, ..problem }));
    }

    pub(super) fn find_phase(&self, name: &At<String>) -> Option<&'m Named<Phase>> {
        self.find("unknown_phase", &self.machine.phases, name)
    }
}
