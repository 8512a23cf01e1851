//! Behaviours that end the turn or go on: what their transitions do with it has to agree, and who blocks has to say something.

use super::Index;
use crate::diagnostic::Diagnostic;
use crate::model::{At, Behaviour, Edge, Phase};

pub(super) fn turns(index: &Index<'_>, edges: &[Edge<'_>], found: &mut Vec<Diagnostic>) {
    for (source, phase) in index.machine.phases.iter().enumerate() {
        let Some(behaviour) = phase.on_stop.as_ref().filter(|_| !phase.terminal) else {
            continue;
        };
        for call in behaviour.calls() {
            let name = &call.then;
            let mut taken = edges
                .iter()
                .filter(|edge| edge.from == source && edge.declared.name.value == name.value);
            found.extend(match behaviour {
                Behaviour::Approve { .. } => taken.find_map(|edge| goes_on(index, name, edge)),
                Behaviour::Announce { .. } => taken
                    .find_map(|edge| ends(index, name, edge).or_else(|| silent(index, name, edge))),
                _ => None,
            });
        }
    }
}

fn finding(name: &At<String>, edge: &Edge<'_>, message: String) -> Diagnostic {
    name.problem("turn", message)
        .related(edge.declared.name.span.clone(), "declared here")
}

fn lets_end(index: &Index<'_>, edge: &Edge<'_>) -> bool {
    edge.declared.ends_turn() || index.machine.phases[edge.to].terminal
}

/// What is wrong with an edge of `approve`.
fn goes_on(index: &Index<'_>, name: &At<String>, edge: &Edge<'_>) -> Option<Diagnostic> {
    if lets_end(index, edge) {
        return None;
    }
    let message = format!(
        "`approve` lets the turn end, and `{}` goes on in `{}`",
        name,
        index.phase(edge.to)
    );
    let help = "lead it to a terminal phase, or say `turn = \"end\"` in the transition; where the agent is to go on, write \
                `announce`, which blocks with the transition's words";
    Some(finding(name, edge, message).help(help))
}

/// What is wrong with an edge of `announce` that ends the turn.
fn ends(index: &Index<'_>, name: &At<String>, edge: &Edge<'_>) -> Option<Diagnostic> {
    if !lets_end(index, edge) {
        return None;
    }
    let message = format!("`announce` blocks, and `{}` lets the turn end", name);
    let help = if edge.declared.ends_turn() {
        "take `turn = \"end\"` out of the transition, or write `approve`, which lets the turn end"
    } else {
        "lead it to a phase that is not terminal, or write `approve`, which lets the turn end"
    };
    Some(finding(name, edge, message).help(help))
}

/// What is wrong with an edge of `announce` that has nothing to say.
fn silent(index: &Index<'_>, name: &At<String>, edge: &Edge<'_>) -> Option<Diagnostic> {
    let target = &index.machine.phases[edge.to];
    if edge.declared.message.is_some() || target.message.is_some() || asks(target) {
        return None;
    }
    let message = format!(
        "`announce` has nothing to say: neither `{}` nor `{}` has a `message`",
        name, target.name
    );
    let help = format!(
        "add `message = \"{}.md\"` to the transition or to the phase, and write that template",
        name
    );
    Some(finding(name, edge, message).help(help))
}

/// Whether entering a phase has a text of the engine's own.
fn asks(phase: &Phase) -> bool {
    phase.on_stop.as_ref().is_some_and(Behaviour::asks)
}
