//! Draws a machine's graph as a Mermaid flowchart.
//!
//! Edges between the same two phases by the same kind of caller share one arrow, which keeps the
//! diagram readable. A state diagram would fit better, but its arrows cannot be dashed.

use std::collections::HashSet;

use minijinja::context;
use serde::Serialize;

use crate::diagnostic::one_line;
use crate::emit::render::{render, serde};
use crate::model::{Actor, Behaviour, Edge, Machine};

/// The number of phases from which a transition of `from = "*"` is drawn as one arrow.
const MIN_SHARED_SOURCES: usize = 5;

#[derive(Serialize)]
struct Arrow<'m> {
    /// The source. `None` means any phase.
    from: Option<&'m str>,
    to: &'m str,
    /// The caller that takes the edges of an arrow between two phases.
    caller: &'static str,
    /// Whether the hook takes one of the edges.
    is_solid: bool,
    labels: Vec<String>,
}

/// Returns a Mermaid flowchart of a machine that passed its checks. Equal machines give equal text.
pub fn diagram(machine: &Machine) -> String {
    let view = context! { arrows => serde(arrows(machine)), ..serde(machine) };
    render(include_str!("diagram.mmd.jinja"), &view)
}

/// Returns the arrows in the order of the machine file. A phase has at most one arrow to itself.
fn arrows(machine: &Machine) -> Vec<Arrow<'_>> {
    let edges = machine.edges();
    let phase = |at: usize| machine.phases[at].name.as_str();
    let mut arrows: Vec<Arrow<'_>> = Vec::new();
    for edge in &edges {
        let name = &edge.declared.name;
        let from = (!is_shared(machine, &edges, name)).then(|| phase(edge.from));
        let to = phase(edge.to);
        let caller = caller(machine, edge);
        let mut label = escaped(name) + caller;
        let is_alternative = |one: &&Edge<'_>| one.from == edge.from && one.declared.name == *name;
        if let Some(guard) = &edge.declared.guard_text
            && edges.iter().filter(is_alternative).count() > 1
        {
            label += &format!("<br/><i>{}</i>", escaped(&one_line(guard)));
        }

        let is_same = |arrow: &Arrow<'_>| {
            (arrow.from, arrow.to) == (from, to) && (from == Some(to) || arrow.caller == caller)
        };
        let at = arrows.iter().position(is_same).unwrap_or(arrows.len());
        if at == arrows.len() {
            arrows.push(Arrow {
                from,
                to,
                caller,
                is_solid: false,
                labels: Vec::new(),
            });
        }
        let arrow = &mut arrows[at];
        arrow.is_solid |= caller.is_empty();
        if !arrow.labels.contains(&label) {
            arrow.labels.push(label);
        }
    }
    arrows
}

/// Returns the caller that takes an edge, as the end of a label. Empty for the hook.
fn caller(machine: &Machine, edge: &Edge<'_>) -> &'static str {
    let on_stop = machine.phases[edge.from].on_stop.as_ref();
    if edge.declared.is_by(Actor::Agent) {
        " (verb)"
    } else if !edge.declared.is_by(Actor::Person) {
        ""
    } else if edge.declared.own && on_stop.is_some_and(Behaviour::asks) {
        " (answer)"
    } else {
        " (person)"
    }
}

/// Returns whether a transition leads from all phases that are not terminal to a single one.
fn is_shared(machine: &Machine, edges: &[Edge<'_>], name: &str) -> bool {
    let open_phases = machine.phases.iter().filter(|phase| !phase.terminal);
    let own_edges = edges.iter().filter(|edge| *edge.declared.name == *name);
    let sources: HashSet<usize> = own_edges.clone().map(|edge| edge.from).collect();
    let targets: HashSet<usize> = own_edges.map(|edge| edge.to).collect();
    sources.len() >= MIN_SHARED_SOURCES
        && sources.len() == open_phases.count()
        && targets.len() == 1
}

/// Returns text inside Mermaid's quotes, in which `#name;` is a character.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => safe.push_str("#lt;"),
            '>' => safe.push_str("#gt;"),
            _ if character.is_ascii_alphanumeric() || " _-.,:()/+=".contains(character) => {
                safe.push(character);
            }
            _ => safe.push_str(&format!("#{};", u32::from(character))),
        }
    }
    safe
}
