//! The behaviours of `on_stop`: their parameters, and the transitions that their outcomes take.

use std::collections::HashSet;

use super::types::{describe, misfit};
use super::{Check, sources, strs};
use crate::diagnostic::{list, suggest};
use crate::model::{
    Argument, At, Behaviour, Call, Edge, FieldKind, From, Outcome, Phase, Review, Transition,
};

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
        let outcomes = behaviour.outcomes().into_iter();
        for outcome in outcomes.filter(|_| !phase.terminal) {
            for call in outcome.calls {
                if let Some(edge) = check.find_edge(at, &call.then) {
                    self::outcome(check, &outcome, call, edge.declared);
                }
                for edge in check.edges_from(at, &call.then) {
                    turn(check, behaviour, &call.then, edge);
                }
            }
        }
    }
    for name in &machine.before_stop {
        if let Some(entries) = check.transitions.get(name.as_str()) {
            before_stop(check, name, entries[0]);
        }
        taken.extend((0..machine.phases.len()).map(|at| (at, name.as_str())));
    }
    let entries = machine.transitions.iter();
    for entry in entries.filter(|entry| entry.by.is_empty()) {
        unused(check, entry, &taken);
    }
}

impl<'m> Check<'m> {
    /// Returns an edge of a transition from a phase, or reports that there is none, unless the transition has another
    /// problem.
    pub(super) fn find_edge(&self, from: usize, name: &At<String>) -> Option<&Edge<'m>> {
        let edge = self.edges_from(from, name).into_iter().next();
        let entries = self.transitions.get(name.as_str())?;
        if edge.is_none() && !entries.iter().any(|entry| self.is_broken(entry)) {
            let phase = &self.phase(from).name;
            let sources = entries.iter().flat_map(|entry| sources(entry)).take(4);
            let sources = list(&strs(sources));
            self.add("no_edge", &name.span, &[name, phase, &sources]);
        }
        edge
    }
}

/// Checks a transition of an outcome: its actors, its evidence and its arguments.
fn outcome(check: &Check<'_>, outcome: &Outcome<'_>, call: &Call, entry: &Transition) {
    let name = &call.then;
    let place = &call.then.span;
    if let Some(actor) = entry.by.first() {
        check.add("hook_by", place, &[name]);
        check.relate(&actor.span, "`by`");
    }
    let has_evidence = |needed| outcome.evidence.is_some_and(|given| given.suffices(needed));
    let needed = entry.requires.as_ref();
    if let Some(needed) = needed.filter(|needed| !has_evidence(needed.value)) {
        let word = needed.word();
        check.add("hook_evidence", place, &[&outcome.name, name, &word]);
        check.relate(&needed.span, "`requires`");
    }
    constants(check, call, &entry.args);
    for argument in missing(call, &entry.args).filter(|argument| !argument.optional) {
        let missing = &argument.name;
        check.add("hook_args", place, &[&outcome.name, name, missing]);
        check.relate(&missing.span, "the argument");
    }
}

/// Checks the constants that a call gives to arguments.
pub(super) fn constants(check: &Check<'_>, call: &Call, args: &[Argument]) {
    let then = &call.then;
    for (name, value) in &call.with {
        if let Some(argument) = args.iter().find(|known| known.name == *name) {
            if let Some(problem) = misfit(name, &argument.kind.clone().into(), value) {
                check.report(&value.span, problem);
                check.relate(&argument.name.span, "the argument");
            }
            continue;
        }
        let help = match args {
            [] => Some("remove `with`".to_owned()),
            _ => suggest(name, args.iter().map(|known| known.name.as_str())),
        };
        let help = help.unwrap_or_else(|| format!("add it to `args` of `{then}`, or remove it"));
        check.add("call_args", &name.span, &[then, name, &help]);
    }
}

/// Returns the arguments for which a call has no constants.
pub(super) fn missing<'a>(call: &Call, args: &'a [Argument]) -> impl Iterator<Item = &'a Argument> {
    let is_given = |argument: &Argument| call.with.iter().any(|(name, _)| *name == argument.name);
    args.iter().filter(move |argument| !is_given(argument))
}

/// Checks that `approve` ends the turn, that `announce` does not, and that it has a message.
fn turn(check: &Check<'_>, behaviour: &Behaviour, name: &At<String>, edge: &Edge<'_>) {
    let entry = edge.declared;
    let phase = check.phase(edge.to);
    let ends = entry.ends_turn() || phase.terminal;
    let asks = phase.on_stop.as_ref().is_some_and(Behaviour::asks);
    let has_message = entry.message.is_some() || phase.message.is_some() || asks;
    let code = match behaviour {
        Behaviour::Approve { .. } if !ends => "turn_continues",
        Behaviour::Announce { .. } if ends => "turn_ends",
        Behaviour::Announce { .. } if !has_message => "turn_message",
        _ => return,
    };
    check.add(code, &name.span, &[name, &phase.name]);
    check.relate(&entry.name.span, "the transition");
}

/// Checks a transition that a stop takes if the program finds violations.
fn before_stop(check: &Check<'_>, name: &At<String>, entry: &Transition) {
    for (key, is_there) in [
        ("by", !entry.by.is_empty()),
        ("requires", entry.requires.is_some()),
        ("args", !entry.args.is_empty()),
    ] {
        if is_there {
            check.add("before_stop", &name.span, &[name, &key]);
            check.relate(&entry.name.span, "the transition");
        }
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
    let edges = check.edges_of(entry);
    let is_idle = |edge: &&Edge<'_>| {
        !taken.contains(&(edge.from, name.as_str())) && !is_open(check.phase(edge.from))
    };
    let idle: Vec<_> = edges.clone().filter(is_idle).collect();
    let shown = match entry.from {
        From::Phases(_) => idle.len(),
        From::Any(_) if idle.len() < edges.count() => 0,
        From::Any(_) => 1,
    };
    for edge in idle.iter().take(shown) {
        let phase = &check.phase(edge.from).name;
        let source = sources(entry).iter().find(|source| *source == phase);
        check.add("unused_edge", &source.unwrap_or(name).span, &[name, phase]);
    }
}

/// Checks parameters that need another key, or a field of some type.
fn parameters(check: &Check<'_>, phase: &Phase, behaviour: &Behaviour) {
    match behaviour {
        Behaviour::Review(review) => self::review(check, review),
        Behaviour::WaitFor { file, field, .. } if file.is_some() == field.is_some() => {
            check.add("wait_for", &phase.name.span, &[&phase.name]);
        }
        Behaviour::WaitFor { field, .. } => {
            let field = field
                .as_ref()
                .and_then(|name| Some((name, check.find_field(name)?)));
            if let Some((name, field)) = field
                && let FieldKind::OneOf(_) | FieldKind::Data(_) | FieldKind::Held(_) = field.kind
            {
                let is = describe(&field.kind);
                check.add("wait_for_kind", &name.span, &[name, &is]);
            }
        }
        _ => {}
    }
}

fn review(check: &Check<'_>, review: &Review) {
    let round = &review.round;
    let fields = check.machine.fields.iter();
    let counts = fields.filter(|field| field.kind == FieldKind::Count);
    let mut counts = counts.map(|field| field.name.as_str());
    if !counts.clone().any(|name| name == round.value) {
        let help = suggest(round, counts.by_ref());
        let help = help.unwrap_or("add a field of the type count".to_owned());
        let name = format!("{:?}", round.value);
        check.add("review_round", &round.span, &[&name, &help]);
    }
    let model = review.model.first().map(|model| &model.span);
    let verdicts = review.verdicts.first().map(|verdict| &verdict.span);
    if let Some(place) = model.filter(|_| review.reviewer.is_empty()) {
        check.add("review_key", place, &[&"model", &"reviewer"]);
    }
    if let Some(place) = verdicts.filter(|_| review.findings_file.is_none()) {
        check.add("review_key", place, &[&"verdicts", &"findings_file"]);
    }
    if let Some(place) = verdicts.filter(|_| review.verdicts.len() != 2) {
        check.add("review_verdicts", place, &[&review.verdicts.len()]);
    }
}
