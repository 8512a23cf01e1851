//! What `on_stop` names: the edge has to be there, its evidence has to come with the outcome, and every edge that is
//! the hook's has to be named by somebody.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Index, types};
use crate::diagnostic::{Diagnostic, list, suggest};
use crate::model::{Argument, Behaviour, Call, Edge, From, Phase};

/// Says nothing of transitions that are adrift: where they lead has been reported.
pub(super) fn behaviours(
    index: &Index<'_>,
    edges: &[Edge<'_>],
    adrift: &HashSet<String>,
    found: &mut Vec<Diagnostic>,
) {
    let mut at_phase: HashMap<(usize, &str), &Edge<'_>> = HashMap::new();
    for edge in edges {
        at_phase
            .entry((edge.from, &edge.declared.name.value))
            .or_insert(edge);
    }
    let mut named: HashSet<(usize, &str)> = HashSet::new();
    for (source, phase) in index.machine.phases.iter().enumerate() {
        let Some(behaviour) = phase.on_stop.as_ref().filter(|_| !phase.terminal) else {
            continue;
        };
        named.extend(behaviour.answers().map(|then| (source, then.as_str())));
        for outcome in behaviour.outcomes() {
            let (given, calls, outcome) = (outcome.evidence, outcome.calls, outcome.name);
            let known = |call: &&Call| index.transitions.contains_key(call.then.as_str());
            for call in calls.iter().filter(known) {
                let name = &call.then;
                named.insert((source, &name.value));
                let Some(edge) = at_phase.get(&(source, name.as_str())) else {
                    if adrift.contains(&name.value) {
                        continue;
                    }
                    found.push(no_edge(
                        index,
                        &name.value,
                        &phase.name.value,
                        name.span.clone(),
                    ));
                    continue;
                };
                if let Some(actor) = edge.declared.by.first() {
                    let message = format!("`{name}` is not the hook's to take", name = name);
                    let one = name.problem("behaviour_by", message);
                    let one = one.related(actor.span.clone(), "only agents or persons take it");
                    found.push(
                        one.help("name a transition without `by`, or take `by` off this one"),
                    );
                }
                let needs = edge.declared.requires.as_ref();
                if let Some(needs) =
                    needs.filter(|needs| !given.is_some_and(|given| given.suffices(needs.value)))
                {
                    let word = needs.value.word();
                    let message = format!(
                        "`{outcome}` has no evidence for `{}`, which requires {word}",
                        name
                    );
                    let one = name.problem("evidence", message);
                    let one = one.related(needs.span.clone(), "required here");
                    let help = "of `review`, `clean` gives settled and reviewed, `findings` and `stalled` give reviewed; of `verify`, \
                                `passed` gives verified; other outcomes give nothing";
                    found.push(one.help(format!("name another transition; {help}")));
                }
                arguments(call, &edge.declared.args, outcome, found);
            }
        }
    }
    named.extend(super::before_stop::before_stop(index, edges, found));
    unused(index, edges, &named, found);
}

/// The constants that an outcome gives to a transition's arguments.
fn arguments(call: &Call, args: &[Argument], outcome: &str, found: &mut Vec<Diagnostic>) {
    constants(call, args, found);
    let then = &call.then.value;
    for argument in open(call, args).filter(|argument| !argument.optional) {
        let name = &argument.name.value;
        let message = format!("`{then}` takes `{name}`, and `{outcome}` does not give it");
        let one =
            finding(&call.then.span, message).related(argument.name.span.clone(), "the argument");
        let help = format!(
            "write `{{ then = \"{then}\", with = {{ {name} = ... }} }}`, or name another transition"
        );
        found.push(one.help(help));
    }
}

/// Returns what is wrong with the constants that a transition is given.
pub(super) fn constants(call: &Call, args: &[Argument], found: &mut Vec<Diagnostic>) {
    let then = &call.then.value;
    for (name, value) in &call.with {
        let Some(argument) = args.iter().find(|known| known.name.value == name.value) else {
            let known = args.iter().map(|known| known.name.as_str());
            let help = match args {
                [] => Some("leave `with` out".to_owned()),
                _ => suggest(&name.value, known),
            };
            let message = format!("`{then}` takes no argument `{}`", name);
            let help = help
                .unwrap_or_else(|| format!("declare it in `args` of `{then}`, or leave it out"));
            found.push(finding(&name.span, message).help(help));
            continue;
        };
        if let Some((message, help)) = types::misfit_of_argument(argument, &value.value) {
            let one =
                finding(&value.span, message).related(argument.name.span.clone(), "the argument");
            found.push(one.help(help));
        }
    }
}

/// The arguments that a transition is given no constants for.
pub(super) fn open<'a>(call: &Call, args: &'a [Argument]) -> impl Iterator<Item = &'a Argument> {
    args.iter().filter(|argument| {
        let mut given = call.with.iter();
        !given.any(|(name, _)| name.value == argument.name.value)
    })
}

fn finding(span: &Range<usize>, message: String) -> Diagnostic {
    Diagnostic::new("behaviour_args", span.clone(), message)
}

pub(super) fn no_edge(
    index: &Index<'_>,
    name: &str,
    phase: &str,
    span: Range<usize>,
) -> Diagnostic {
    let message = format!("`{name}` does not leave `{phase}`");
    let entries = index.transitions[name]
        .iter()
        .map(|&at| &index.machine.transitions[at]);
    let sources: Vec<&str> = entries
        .filter_map(|entry| match &entry.from {
            From::Phases(names) => Some(names.iter().map(|name| name.as_str())),
            From::Any(_) => None,
        })
        .flatten()
        .take(4)
        .collect();
    let help = match sources.as_slice() {
        [] => format!("add an entry with `from = \"{phase}\"`"),
        some => format!(
            "it leaves {}; add `{phase}` to its `from`, or name another transition",
            list(some)
        ),
    };
    Diagnostic::new("no_edge", span, message).help(help)
}

/// Edges of the hook's that no behaviour names. In a phase without `on_stop` the hook is Rust that cannot be seen here.
fn unused(
    index: &Index<'_>,
    edges: &[Edge<'_>],
    named: &HashSet<(usize, &str)>,
    found: &mut Vec<Diagnostic>,
) {
    let mut used_any: HashSet<usize> = HashSet::new();
    let mut idle = Vec::new();
    // Where an outcome is misspelt, what it was meant to name is not known.
    let misspelt = |phase: &Phase| {
        let mut names = phase.on_stop.iter().flat_map(Behaviour::transitions);
        names.any(|name| !index.transitions.contains_key(name.as_str()))
    };
    let misspelt: Vec<bool> = index.machine.phases.iter().map(misspelt).collect();
    for edge in edges
        .iter()
        .filter(|edge| edge.declared.by.is_empty() && !misspelt[edge.from])
    {
        let source = &index.machine.phases[edge.from];
        let name = edge.declared.name.as_str();
        if source.terminal {
            continue;
        }
        if named.contains(&(edge.from, name)) || source.on_stop.is_none() {
            used_any.insert(index.entry(edge));
        } else {
            idle.push(edge);
        }
    }
    let mut told: HashSet<usize> = HashSet::new();
    for edge in idle {
        let (source, name) = (index.phase(edge.from), &edge.declared.name);
        let span = match &edge.declared.from {
            From::Phases(names) => names
                .iter()
                .find(|name| name.value == source)
                .map(|name| name.span.clone()),
            From::Any(span) => {
                let entry = index.entry(edge);
                if used_any.contains(&entry) || !told.insert(entry) {
                    continue;
                }
                Some(span.clone())
            }
        };
        let message = format!("nothing takes `{}` from `{source}`", name);
        let one = Diagnostic::new("unused_edge", span.unwrap_or(name.span.clone()), message);
        let help = format!(
            "name it in an outcome of `{source}`'s `on_stop`, open it with `by`, or take it out"
        );
        found.push(one.help(help));
    }
}
