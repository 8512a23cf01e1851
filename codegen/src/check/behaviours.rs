//! Checks of `on_stop`: parameters of behaviours, and the transitions of outcomes and answers.

use std::collections::HashSet;

use super::Check;
use super::types::{count_problem, value_problem};
use crate::diagnostic::list;
use crate::model::{
    Actor, Argument, At, Behaviour, Call, Constant, Edge, Entry, Evidence, FieldKind, Named, Phase,
    Transition,
};

/// The transition of a call, and the constants for its arguments.
type CallRef<'c> = (&'c At<String>, &'c [(At<String>, At<Constant>)]);

pub(super) fn check_behaviours(check: &Check<'_>) {
    for (at, phase) in check.machine.phases.iter().enumerate() {
        if let Some(behaviour) = &phase.on_stop {
            check_parameters(check, phase, behaviour);
        }
        if let Some(behaviour) = phase.on_stop.as_ref().filter(|_| !phase.terminal) {
            check_outcomes(check, at, behaviour);
            check_answers(check, at, behaviour);
        }
    }
    for name in &check.machine.before_stop {
        if let Some(entry) = check.entries(name).next() {
            check_hook_call(check, "before_stop", None, (name, &[]), entry);
            // Only outcomes can leave an argument out.
            for argument in entry.args.iter().filter(|argument| argument.optional) {
                check.add("hook_args", name, &["before_stop", &argument.name]);
            }
        }
    }
    let behaviours = check.machine.behaviours();
    let named = behaviours.flat_map(|behaviour| behaviour.transitions());
    let named: Vec<_> = named.chain(&check.machine.before_stop).collect();
    for entry in check.machine.first_entries() {
        // Rust may take it in a phase without `on_stop`.
        let mut edges = check.edges.iter();
        let is_rusts = edges.any(|edge| {
            edge.declared.name == entry.name && check.phase(edge.from).on_stop.is_none()
        });
        if entry.by.is_empty() && !is_rusts && !named.contains(&&entry.name) {
            check.add("never_taken", &entry.name, &[]);
        }
    }
}

fn check_outcomes(check: &Check<'_>, at: usize, behaviour: &Behaviour) {
    for outcome in behaviour.outcomes() {
        if outcome.is_required && outcome.calls.is_empty() {
            check.add("no_outcome", &check.phase(at).name, &[outcome.name]);
        }
        for Call { then, with } in outcome.calls {
            if let Some(entry) = find_entry(check, at, then) {
                check_hook_call(check, outcome.name, outcome.evidence, (then, with), entry);
            }
            for edge in check.edges_from(at, then) {
                check_turn(check, behaviour, then, edge);
            }
        }
    }
}

/// Returns the first entry of a transition from a phase, or reports that there is none.
fn find_entry<'m>(check: &Check<'m>, from: usize, name: &At<String>) -> Option<&'m Entry> {
    let edge = check.edges_from(from, name).next();
    if edge.is_none() {
        let sources = check.entries(name).flat_map(|entry| &entry.from).take(4);
        check.add("no_edge", name, &[&check.phase(from).name, &list(sources)]);
    }
    edge.map(|edge| edge.declared)
}

fn check_hook_call(
    check: &Check<'_>,
    outcome: &str,
    evidence: Option<Evidence>,
    (then, with): CallRef<'_>,
    entry: &Transition,
) {
    if !entry.by.is_empty() {
        check.add("hook_by", then, &[]);
    }
    if let Some(needed) = &entry.requires
        && evidence < Some(**needed)
    {
        check.add("hook_evidence", then, &[outcome, needed.word()]);
    }
    for argument in find_missing_arguments(check, with, entry) {
        if !argument.optional {
            check.add("hook_args", then, &[outcome, &argument.name]);
        }
    }
}

/// Checks the constants that a call gives to arguments. Returns the arguments that it leaves out.
fn find_missing_arguments<'a>(
    check: &Check<'_>,
    with: &[(At<String>, At<Constant>)],
    entry: &'a Transition,
) -> Vec<&'a Named<Argument>> {
    let mut missing: Vec<_> = entry.args.iter().collect();
    for (name, value) in with {
        if let Some(argument) = check.find("unknown_argument", &entry.args, name) {
            check.report(value.span(), value_problem(name, &argument.kind, value));
            missing.retain(|argument| argument.name != *name);
        }
    }
    missing
}

/// Checks that `approve` ends the turn, that `announce` does not, and that it has a message.
fn check_turn(check: &Check<'_>, behaviour: &Behaviour, name: &At<String>, edge: &Edge<'_>) {
    let entry = edge.declared;
    let phase = check.phase(edge.to);
    let ends = entry.turn.is_some() || phase.terminal;
    let asks = phase.on_stop.as_ref().is_some_and(Behaviour::asks);
    let has_message = entry.message.is_some() || phase.message.is_some() || asks;
    let code = match behaviour {
        Behaviour::Approve(_) if !ends => "turn_continues",
        Behaviour::Announce(_) if ends => "turn_ends",
        Behaviour::Announce(_) if !has_message => "turn_message",
        _ => return,
    };
    check.add(code, name, &[&phase.name]);
}

/// Checks the transitions of answers: by the user, without evidence, with one text at most.
fn check_answers(check: &Check<'_>, at: usize, behaviour: &Behaviour) {
    let mut labels = HashSet::new();
    for choice in behaviour.choices() {
        if !labels.insert(choice.label.as_str()) {
            check.add_at("question_label", choice.label.span(), &[&choice.label]);
        }
        check_answer(check, at, (&choice.then, &choice.with), false);
    }
    if let Some(then) = behaviour.text() {
        check_answer(check, at, (then, &[]), true);
    }
}

fn check_answer(check: &Check<'_>, at: usize, (then, with): CallRef<'_>, is_text: bool) {
    let Some(entry) = find_entry(check, at, then) else {
        return;
    };
    if !entry.is_by(Actor::Person) {
        check.add("answer_by", then, &[]);
    }
    if entry.requires.is_some() {
        check.add("answer_evidence", then, &[]);
    }
    match find_missing_arguments(check, with, entry).as_slice() {
        [] if is_text => check.add("answer_text", then, &[]),
        [] => {}
        [only] if only.kind == FieldKind::Text => {}
        [.., last] => check.add("answer_args", then, &[&last.name]),
    }
}

/// Checks parameters that need another key, or a field of some type.
fn check_parameters(check: &Check<'_>, phase: &Named<Phase>, behaviour: &Behaviour) {
    match behaviour {
        Behaviour::Review(review) => {
            if let Some(field) = check.field(&review.round) {
                check.report(review.round.span(), count_problem(&field.name, &field.kind));
            }
            let words = &review.verdicts;
            if !words.is_empty() && (words.len() != 2 || review.findings_file.is_none()) {
                check.add_at("review_verdicts", words[0].span(), &[]);
            }
        }
        Behaviour::Ask(ask) => {
            let has_options = (2..=4).contains(&behaviour.choices().len());
            let is_whole = ask.question.is_some() && ask.header.is_some() && has_options;
            if !is_whole && !behaviour.asks_in_rust() {
                check.add("question_keys", &phase.name, &[]);
            }
        }
        _ => {}
    }
}
