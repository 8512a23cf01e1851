//! The behaviours of `on_stop`: their parameters, and the transitions that their outcomes take.

use std::collections::HashSet;

use super::types::{describe, misfit};
use super::{Index, Problems};
use crate::diagnostic::{list, suggest};
use crate::model::{
    Argument, At, Behaviour, Call, Edge, FieldKind, From, Outcome, Phase, Review, Transition,
};

/// Checks the behaviours of all phases, and that something takes each edge of the hook.
pub(super) fn behaviours(index: &Index<'_>, found: &mut Problems) {
    let mut taken: HashSet<(usize, &str)> = HashSet::new();
    for (at, phase) in index.machine.phases.iter().enumerate() {
        let Some(behaviour) = &phase.on_stop else {
            continue;
        };
        parameters(index, phase, behaviour, found);
        taken.extend(behaviour.transitions().map(|name| (at, name.as_str())));
        if phase.terminal {
            continue;
        }
        for outcome in behaviour.outcomes() {
            for call in outcome.calls {
                if let Some(edge) = index.find_edge(at, &call.then, found) {
                    self::outcome(&outcome, call, edge.declared, found);
                }
                for edge in index.edges_from(at, &call.then) {
                    turn(index, behaviour, &call.then, edge, found);
                }
            }
        }
    }
    for name in &index.machine.before_stop {
        let mut entries = index.transitions.get(name.as_str()).into_iter().flatten();
        if let Some(entry) = entries.next() {
            before_stop(name, entry, found);
        }
        taken.extend((0..index.machine.phases.len()).map(|at| (at, name.as_str())));
    }
    unused(index, &taken, found);
}

impl<'m> Index<'m> {
    /// Returns an edge of a transition from a phase, or reports that there is none. Reports nothing if the transition
    /// is unknown or its sources or targets are.
    pub(super) fn find_edge<'a>(
        &'a self,
        from: usize,
        name: &'a At<String>,
        found: &mut Problems,
    ) -> Option<&'a Edge<'m>> {
        let edge = self.edges_from(from, name).next();
        if edge.is_none() && !self.is_uncertain(name) {
            let phase = &self.phase(from).name;
            let sources = self.transitions[name.as_str()]
                .iter()
                .map(|entry| &entry.from);
            let sources = sources.flat_map(|from| match from {
                From::Phases(names) => &**names,
                From::Any(_) => &[],
            });
            let sources: Vec<&str> = sources.take(4).map(|name| name.as_str()).collect();
            let help = match sources.as_slice() {
                [] => format!("add an entry with `from = \"{phase}\"`"),
                some => format!(
                    "it leaves {}; add `{phase}` to its `from`, or name another transition",
                    list(some)
                ),
            };
            let message = format!("`{name}` does not leave `{phase}`");
            found.add("no_edge", &name.span, message, help);
        }
        edge
    }
}

/// Checks a transition of an outcome: its actors, its evidence and its arguments.
fn outcome(outcome: &Outcome<'_>, call: &Call, entry: &Transition, found: &mut Problems) {
    let (name, outcome_name) = (&call.then, outcome.name);
    if let Some(actor) = entry.by.first() {
        let message = format!("the hook cannot take `{name}`, which has `by`");
        let help = "name a transition without `by`, or remove `by` from this one";
        found.add("behaviour_by", &name.span, message, help);
        found.relate(&actor.span, "`by`");
    }
    let requires = entry.requires.as_ref();
    let has_evidence = |needed| outcome.evidence.is_some_and(|given| given.suffices(needed));
    if let Some(needed) = requires.filter(|needed| !has_evidence(needed.value)) {
        let word = needed.value.word();
        let message =
            format!("`{outcome_name}` has no evidence for `{name}`, which requires {word}");
        let help = "name another transition; in `review`, `clean` is settled and reviewed, `findings` and `stalled` are \
                    reviewed; in `verify`, `passed` is verified";
        found.add("evidence", &name.span, message, help);
        found.relate(&needed.span, "`requires`");
    }
    constants(call, &entry.args, found);
    for argument in missing(call, &entry.args).filter(|argument| !argument.optional) {
        let missing = &argument.name;
        let message = format!("`{outcome_name}` does not give `{name}` the argument `{missing}`");
        let help = format!(
            "write `{{ then = \"{name}\", with = {{ {missing} = ... }} }}`, or name another transition"
        );
        found.add("behaviour_args", &name.span, message, help);
        found.relate(&missing.span, "the argument");
    }
}

/// Checks the constants that a call gives to arguments.
pub(super) fn constants(call: &Call, args: &[Argument], found: &mut Problems) {
    let then = &call.then;
    for (name, value) in &call.with {
        if let Some(argument) = args.iter().find(|known| known.name == *name) {
            let kind = argument.kind.clone().into();
            if let Some((message, help)) = misfit(name, &kind, &value.value) {
                found.add("behaviour_args", &value.span, message, help);
                found.relate(&argument.name.span, "the argument");
            }
            continue;
        }
        let help = match args {
            [] => Some("remove `with`".to_owned()),
            _ => suggest(name, args.iter().map(|known| known.name.as_str())),
        };
        let help =
            help.unwrap_or_else(|| format!("declare it in `args` of `{then}`, or remove it"));
        let message = format!("`{then}` has no argument `{name}`");
        found.add("behaviour_args", &name.span, message, help);
    }
}

/// Returns the arguments for which a call has no constants.
pub(super) fn missing<'a>(call: &Call, args: &'a [Argument]) -> impl Iterator<Item = &'a Argument> {
    args.iter().filter(|argument| {
        let mut given = call.with.iter();
        given.all(|(name, _)| *name != argument.name)
    })
}

/// Checks that `approve` lets the turn end, that `announce` does not, and that it has a message.
fn turn(
    index: &Index<'_>,
    behaviour: &Behaviour,
    name: &At<String>,
    edge: &Edge<'_>,
    found: &mut Problems,
) {
    let (entry, target) = (edge.declared, index.phase(edge.to));
    let ends = entry.ends_turn() || target.terminal;
    let asks = target.on_stop.as_ref().is_some_and(Behaviour::asks);
    let has_message = entry.message.is_some() || target.message.is_some() || asks;
    let (message, help) = match behaviour {
        Behaviour::Approve { .. } if !ends => (
            format!("`approve` ends the turn, but `{name}` continues in `{}`", target.name),
            "let it lead to a terminal phase, add `turn = \"end\"` to it, or use `announce`, which continues".to_owned(),
        ),
        Behaviour::Announce { .. } if ends => (
            format!("`announce` blocks, but `{name}` ends the turn"),
            "let it lead to a phase that is not terminal, without `turn = \"end\"`, or use `approve`".to_owned(),
        ),
        Behaviour::Announce { .. } if !has_message => (
            format!("`announce` needs a message, but neither `{name}` nor `{}` has one", target.name),
            format!("add `message = \"{name}.md\"` to the transition or the phase, and write this template"),
        ),
        _ => return,
    };
    found.add("turn", &name.span, message, help);
    found.relate(&entry.name.span, "the transition");
}

/// Checks a transition that a stop takes if the program finds violations.
fn before_stop(name: &At<String>, entry: &Transition, found: &mut Problems) {
    let by = entry.by.first().map(|actor| ("by", &actor.span));
    let requires = entry
        .requires
        .as_ref()
        .map(|needed| ("requires", &needed.span));
    let args = entry
        .args
        .first()
        .map(|argument| ("args", &argument.name.span));
    for (key, place) in [by, requires, args].into_iter().flatten() {
        let message = format!("`before_stop` cannot take `{name}`, which has `{key}`");
        let help = "name a transition without `by`, `requires` and `args`";
        found.add("before_stop", &name.span, message, help);
        found.relate(place, "the key");
    }
}

/// Reports edges of the hook that nothing takes. The hook of a phase without `on_stop` is Rust, which is not read here.
fn unused(index: &Index<'_>, taken: &HashSet<(usize, &str)>, found: &mut Problems) {
    // If a behaviour names an unknown transition, it may mean any.
    let is_open = |phase: &Phase| {
        let mut names = phase.on_stop.iter().flat_map(Behaviour::transitions);
        phase.on_stop.is_none() || names.any(|name| !index.transitions.contains_key(name.as_str()))
    };
    let is_taken = |edge: &Edge<'_>| {
        let phase = index.phase(edge.from);
        let key = (edge.from, edge.declared.name.as_str());
        phase.terminal || taken.contains(&key) || is_open(phase)
    };
    for entry in index
        .machine
        .transitions
        .iter()
        .filter(|entry| entry.by.is_empty())
    {
        let edges = index.edges.iter();
        let edges = edges.filter(|edge| edge.declared.span == entry.span);
        let idle = edges.clone().filter(|edge| !is_taken(edge));
        for edge in idle {
            let (name, phase) = (&entry.name, &index.phase(edge.from).name);
            let place = match &entry.from {
                From::Phases(names) => names
                    .iter()
                    .find(|name| *name == phase)
                    .map(|name| &name.span),
                From::Any(_) if edges.clone().any(is_taken) => continue,
                From::Any(place) => Some(place),
            };
            let message = format!("nothing takes `{name}` from `{phase}`");
            let help = format!("name it in `on_stop` of `{phase}`, add `by` to it, or remove it");
            found.add("unused_edge", place.unwrap_or(&name.span), message, help);
            if matches!(entry.from, From::Any(_)) {
                break;
            }
        }
    }
}

/// Checks parameters that need another key, or a field of some type.
fn parameters(index: &Index<'_>, phase: &Phase, behaviour: &Behaviour, found: &mut Problems) {
    match behaviour {
        Behaviour::Review(review) => self::review(index, review, found),
        Behaviour::WaitFor {
            file: None,
            field: None,
            ..
        } => {
            let message = format!("`wait-for` of `{}` names nothing to wait for", phase.name);
            let help = "add `file = \"...\"` or `field = \"...\"`";
            found.add("missing_key", &phase.name.span, message, help);
        }
        Behaviour::WaitFor {
            file: Some(_),
            field: Some(field),
            ..
        } => {
            let message = "`wait-for` has both `file` and `field`";
            found.add(
                "either",
                &field.span,
                message,
                "keep one; to wait for both, use two phases",
            );
        }
        Behaviour::WaitFor {
            field: Some(name), ..
        } => {
            let kind = index.find_field(name, found).map(|field| &field.kind);
            if let Some(kind @ (FieldKind::OneOf(_) | FieldKind::Data(_) | FieldKind::Held(_))) =
                kind
            {
                let message = format!(
                    "`wait-for` cannot wait for `{name}`, which is {}",
                    describe(kind)
                );
                let help = "name a flag, a count, a text or a path; for a word, use `when` in a transition";
                found.add("type", &name.span, message, help);
            }
        }
        _ => {}
    }
}

fn review(index: &Index<'_>, review: &Review, found: &mut Problems) {
    let round = &review.round;
    let is_count = |name: &str| {
        index
            .fields
            .get(name)
            .is_some_and(|field| field.kind == FieldKind::Count)
    };
    if !is_count(round) {
        let counts = index.machine.field_names().filter(|name| is_count(name));
        let help = suggest(round, counts).unwrap_or("add a field of the type count".to_owned());
        let message = format!("`round` must name a count field, but `{round}` is none");
        found.add("type", &round.span, message, help);
    }
    let model = review.model.first().map(|model| &model.span);
    let verdicts = review.verdicts.first().map(|verdict| &verdict.span);
    for (key, place, needed, is_missing) in [
        ("model", model, "reviewer", review.reviewer.is_empty()),
        (
            "verdicts",
            verdicts,
            "findings_file",
            review.findings_file.is_none(),
        ),
    ] {
        if let Some(place) = place.filter(|_| is_missing) {
            let message = format!("`{key}` has no effect without `{needed}`");
            found.add(
                "missing_key",
                place,
                message,
                format!("add `{needed}`, or remove `{key}`"),
            );
        }
    }
    if let Some(place) = verdicts.filter(|_| review.verdicts.len() != 2) {
        let message = format!("`verdicts` has {} words, not 2", review.verdicts.len());
        let help = "write a word for a review without findings and a word for one with findings";
        found.add("verdicts", place, message, help);
    }
}
