//! The behaviours of `on_stop`: their parameters, and the transitions that their outcomes and answers take.

use std::collections::HashSet;

use super::types::{describe, misfit, no_count};
use super::{Check, strs};
use crate::diagnostic::list;
use crate::model::{
    Actor, Argument, At, Behaviour, Call, Edge, Evidence, FieldKind, Phase, Transition,
};

/// The transitions that are taken before a stop.
const BEFORE_STOP: &str = "before_stop";

/// Checks the behaviours of all phases, and that something takes each edge of the hook.
pub(super) fn behaviours(check: &Check<'_>) {
    let machine = check.machine;
    let mut taken: HashSet<(usize, &str)> = HashSet::new();
    for (at, phase) in machine.phases.iter().enumerate() {
        let Some(behaviour) = &phase.on_stop else {
            continue;
        };
        parameters(check, phase, behaviour);
        taken.extend(behaviour.transitions().map(|name| (at, name.as_str())));
        if !phase.terminal {
            outcomes(check, at, behaviour);
            answers(check, at, behaviour);
        }
    }
    for name in &machine.before_stop {
        if let Some(entries) = check.transitions.get(name.as_str()) {
            hook_call(check, BEFORE_STOP, None, &Call::new(name), entries[0]);
        }
        taken.extend((0..machine.phases.len()).map(|at| (at, name.as_str())));
    }
    let entries = machine.transitions.iter();
    for entry in entries.filter(|entry| entry.by.is_empty()) {
        unused(check, entry, &taken);
    }
}

fn outcomes<'m>(check: &Check<'m>, at: usize, behaviour: &'m Behaviour) {
    for outcome in behaviour.outcomes() {
        if outcome.is_required && outcome.calls.is_empty() {
            check.add("no_outcome", &check.phase(at).name, &[outcome.name]);
        }
        for call in outcome.calls {
            if let Some(entry) = find_entry(check, at, &call.then) {
                hook_call(check, outcome.name, outcome.evidence, call, entry);
            }
            for edge in check.edges_from(at, &call.then) {
                turn(check, behaviour, &call.then, edge);
            }
        }
    }
}

/// Returns the first entry of a transition from a phase, or reports that there is none, unless the transition has another
/// problem.
fn find_entry<'m>(check: &Check<'m>, from: usize, name: &'m At<String>) -> Option<&'m Transition> {
    let entries = check.transitions.get(name.as_str())?;
    let edge = check.edges_from(from, name).next();
    if edge.is_none() && !entries.iter().any(|entry| check.is_broken(entry)) {
        let sources = entries.iter().flat_map(|entry| entry.sources()).take(4);
        check.add(
            "no_edge",
            name,
            &[&check.phase(from).name, &list(&strs(sources))],
        );
    }
    edge.map(|edge| edge.declared)
}

fn hook_call(
    check: &Check<'_>,
    outcome: &str,
    evidence: Option<Evidence>,
    call: &Call,
    entry: &Transition,
) {
    if !entry.by.is_empty() {
        check.add("hook_by", &call.then, &[]);
    }
    if let Some(needed) = &entry.requires
        && !evidence.is_some_and(|given| given.suffices(needed.value))
    {
        check.add("hook_evidence", &call.then, &[outcome, needed.word()]);
    }
    for argument in missing(check, call, entry) {
        // Only outcomes can leave an argument out.
        if !argument.optional || outcome == BEFORE_STOP {
            check.add("hook_args", &call.then, &[outcome, &argument.name]);
        }
    }
}

/// Checks the constants that a call gives to arguments. Returns the arguments that it leaves out.
fn missing<'a>(check: &Check<'_>, call: &Call, entry: &'a Transition) -> Vec<&'a Argument> {
    let mut missing: Vec<_> = entry.args.iter().collect();
    for (name, value) in &call.with {
        if let Some(argument) = check.find_argument(entry, name) {
            check.report(&value.span, misfit(name, &argument.kind, value));
            missing.retain(|argument| argument.name != *name);
        }
    }
    missing
}

/// Checks that `approve` ends the turn, that `announce` does not, and that it has a message.
fn turn(check: &Check<'_>, behaviour: &Behaviour, name: &At<String>, edge: &Edge<'_>) {
    let entry = edge.declared;
    let phase = check.phase(edge.to);
    let ends = entry.ends_turn() || phase.terminal;
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

/// Checks the transitions that answers take. An answer is of the user, has no evidence, and gives one text at most.
fn answers<'m>(check: &Check<'m>, at: usize, behaviour: &'m Behaviour) {
    let mut labels = HashSet::new();
    for choice in behaviour.choices() {
        if !labels.insert(choice.label.as_str()) {
            check.add("question_label", &choice.label, &[]);
        }
        if let Some(entry) = find_entry(check, at, &choice.then) {
            answer(check, &choice.call(), entry, false);
        }
    }
    if let Some(then) = behaviour.text()
        && let Some(entry) = find_entry(check, at, then)
    {
        answer(check, &Call::new(then), entry, true);
    }
}

fn answer(check: &Check<'_>, call: &Call, entry: &Transition, is_text: bool) {
    if !entry.by.iter().any(|actor| actor.value == Actor::Person) {
        check.add("answer_by", &call.then, &[]);
    }
    if entry.requires.is_some() {
        check.add("answer_evidence", &call.then, &[]);
    }
    match missing(check, call, entry).as_slice() {
        [] if is_text => check.add("answer_text", &call.then, &[]),
        [] => {}
        [only] if only.kind == FieldKind::Text => {}
        [.., last] => check.add("answer_args", &call.then, &[&last.name]),
    }
}

/// Reports the edges of an entry of the hook that nothing takes.
fn unused(check: &Check<'_>, entry: &Transition, taken: &HashSet<(usize, &str)>) {
    // The hook of a phase without `on_stop` is Rust, and a behaviour that names an unknown transition may mean any.
    let is_open = |phase: &Phase| {
        let mut names = phase.on_stop.iter().flat_map(Behaviour::transitions);
        let is_unknown = |name: &At<String>| !check.transitions.contains_key(name.as_str());
        phase.terminal || phase.on_stop.is_none() || names.any(is_unknown)
    };
    let name = &entry.name;
    let is_idle = |edge: &Edge<'_>| {
        !taken.contains(&(edge.from, name.as_str())) && !is_open(check.phase(edge.from))
    };
    let edges = check.edges_of(entry);
    let is_any = entry.any_source().is_some();
    if is_any && !edges.clone().all(is_idle) {
        return;
    }
    let max = if is_any { 1 } else { usize::MAX };
    for edge in edges.filter(|edge| is_idle(edge)).take(max) {
        let phase = &check.phase(edge.from).name;
        let place = entry.sources().iter().find(|source| *source == phase);
        check.add_at("unused_edge", &place.unwrap_or(name).span, &[name, phase]);
    }
}

/// Checks parameters that need another key, or a field of some type.
fn parameters(check: &Check<'_>, phase: &Phase, behaviour: &Behaviour) {
    match behaviour {
        Behaviour::Review(review) => {
            if let Some(field) = check.fields.get(review.round.as_str()) {
                check.report(&review.round.span, no_count(&field.name, &field.kind));
            }
            if !review.model.is_empty() && review.reviewer.is_empty() {
                check.add_at("review_key", &review.model[0].span, &[]);
            }
            let words = &review.verdicts;
            if !words.is_empty() && (words.len() != 2 || review.findings_file.is_none()) {
                check.add_at("review_verdicts", &words[0].span, &[]);
            }
        }
        Behaviour::WaitFor(wait) => {
            if wait.file.is_some() == wait.field.is_some() {
                check.add("wait_for", &phase.name, &[]);
            }
            if let Some(name) = &wait.field
                && let Some(field) = check.fields.get(name.as_str())
                && let FieldKind::OneOf(_) | FieldKind::Data(_) | FieldKind::Held(_) = field.kind
            {
                check.add("wait_for_kind", name, &[describe(&field.kind)]);
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
