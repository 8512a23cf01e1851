//! Draws a machine's graph as a Mermaid flowchart.
//!
//! Edges between the same two phases that the same kind of caller takes share one arrow, so that a phase with seven ways
//! back to itself is still readable. A state diagram would fit better, but its arrows cannot be dashed.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use crate::diagnostic::one_line;
use crate::model::{Actor, Behaviour, Edge, From, Machine, To, guard_text};

/// The number of phases from which a transition of `from = "*"` is drawn as one arrow.
const MIN_SHARED_SOURCES: usize = 5;

/// The caller that takes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Caller {
    /// The hook, at a stop.
    Hook,
    /// The agent by a verb, and mostly the user too.
    Agent,
    /// The user alone, by a verb.
    Person,
    /// The user alone, by an answer to the question of the phase.
    Answer,
}

impl Caller {
    fn of(edge: &Edge<'_>, machine: &Machine) -> Self {
        let on_stop = machine.phases[edge.from].on_stop.as_ref();
        let asks = on_stop.is_some_and(Behaviour::asks);
        let by = |actor| edge.declared.by.iter().any(|known| known.value == actor);
        if by(Actor::Agent) {
            Caller::Agent
        } else if by(Actor::Person) && edge.declared.own && asks {
            Caller::Answer
        } else if by(Actor::Person) {
            Caller::Person
        } else {
            Caller::Hook
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Caller::Hook => "",
            Caller::Agent => " (verb)",
            Caller::Person => " (person)",
            Caller::Answer => " (answer)",
        }
    }
}

/// An arrow between two boxes.
struct Arrow {
    /// The index of the phase, or the number of phases for "any phase".
    from: usize,
    to: usize,
    is_solid: bool,
    labels: Vec<String>,
}

/// Returns a Mermaid flowchart of a machine that passed its checks. Equal machines give equal text.
pub fn diagram(machine: &Machine) -> String {
    let shared = shared_transitions(machine);
    let arrows = arrows(machine, &shared);
    let mut text = String::from("flowchart TD\n");

    for (at, mode) in machine.modes.iter().enumerate() {
        let name = escaped(&mode.name.value);
        let _ = writeln!(text, "    mode_{at}([\"{name}\"]):::mode");
    }
    for (at, phase) in machine.phases.iter().enumerate() {
        let mut lines = vec![escaped(&phase.name.value)];
        if !phase.terminal {
            let behaviour = phase.on_stop.as_ref().map(Behaviour::name);
            let behaviour = behaviour.unwrap_or("written in Rust");
            lines.push(format!("<i>{}</i>", escaped(behaviour)));
        }
        // Mermaid draws all arrows from a box to itself, and their labels, on top of one another.
        if let Some(own) = arrows
            .iter()
            .find(|arrow| (arrow.from, arrow.to) == (at, at))
        {
            lines.push("and again by:".to_owned());
            lines.extend(own.labels.iter().cloned());
        }
        let (id, lines) = (phase_id(machine, at), lines.join("<br/>"));
        let _ = if phase.terminal {
            writeln!(text, "    {id}[[\"{lines}\"]]:::terminal")
        } else {
            writeln!(text, "    {id}(\"{lines}\")")
        };
    }
    if !shared.is_empty() {
        text.push_str("    anywhere([\"any phase\"]):::mode\n");
    }
    for (at, mode) in machine.modes.iter().enumerate() {
        let start = &mode.start.value;
        let _ = writeln!(text, "    mode_{at} --> phase_{start}");
    }
    for arrow in &arrows {
        let (from, to) = (phase_id(machine, arrow.from), phase_id(machine, arrow.to));
        let line = if arrow.is_solid { "-->" } else { "-.->" };
        let _ = if arrow.from == arrow.to {
            writeln!(text, "    {from} {line} {to}")
        } else {
            let labels = arrow.labels.join("<br/>");
            writeln!(text, "    {from} {line}|\"{labels}\"| {to}")
        };
    }

    text.push_str("    classDef mode fill:none,stroke-dasharray:2 3\n");
    text.push_str("    classDef terminal stroke-width:2px\n");
    text
}

/// Returns the arrows in the order of the machine file. A phase has at most one arrow to itself.
fn arrows(machine: &Machine, shared: &HashSet<&str>) -> Vec<Arrow> {
    let edges = machine.edges();
    let mut alternatives: HashMap<(usize, &str), usize> = HashMap::new();
    for edge in &edges {
        let key = (edge.from, &*edge.declared.name.value);
        *alternatives.entry(key).or_default() += 1;
    }

    let mut arrows: Vec<Arrow> = Vec::new();
    let mut places: HashMap<(usize, usize, Option<Caller>), usize> = HashMap::new();
    for edge in &edges {
        let name = &*edge.declared.name.value;
        let caller = Caller::of(edge, machine);
        let is_shared = shared.contains(name);
        let from = if is_shared {
            machine.phases.len()
        } else {
            edge.from
        };
        let key = (from, edge.to, Some(caller).filter(|_| from != edge.to));
        let place = *places.entry(key).or_insert_with(|| {
            arrows.push(Arrow {
                from,
                to: edge.to,
                is_solid: false,
                labels: Vec::new(),
            });
            arrows.len() - 1
        });

        let mut label = escaped(name) + caller.suffix();
        if alternatives[&(edge.from, name)] > 1
            && let Some(guard) = &edge.declared.when
        {
            let guard = escaped(&one_line(&guard_text(&guard.value)));
            let _ = write!(label, "<br/><i>{guard}</i>");
        }
        let arrow = &mut arrows[place];
        arrow.is_solid |= caller == Caller::Hook;
        if !is_shared || !arrow.labels.contains(&label) {
            arrow.labels.push(label);
        }
    }
    arrows
}

/// Returns the transitions that leave every phase that is not terminal, if there are many such phases.
fn shared_transitions(machine: &Machine) -> HashSet<&str> {
    let open_phases = machine.phases.iter().filter(|phase| !phase.terminal);
    if open_phases.count() < MIN_SHARED_SOURCES {
        return HashSet::new();
    }
    let is_shared = |name: &str| {
        let mut declared = machine
            .transitions
            .iter()
            .filter(|declared| declared.name.value == name);
        declared.all(|declared| {
            matches!(declared.from, From::Any(_)) && !matches!(declared.to, To::Same)
        })
    };
    machine
        .transitions
        .iter()
        .map(|declared| &*declared.name.value)
        .filter(|name| is_shared(name))
        .collect()
}

fn phase_id(machine: &Machine, at: usize) -> String {
    match machine.phases.get(at) {
        Some(phase) => format!("phase_{}", phase.name.value),
        None => "anywhere".to_owned(),
    }
}

/// Returns text inside Mermaid's quotes, in which `#name;` is a character.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' => safe.push(character),
            ' ' | '_' | '-' | '.' | ',' | ':' | '(' | ')' | '/' | '+' | '=' => safe.push(character),
            '<' => safe.push_str("#lt;"),
            '>' => safe.push_str("#gt;"),
            other => {
                let _ = write!(safe, "#{};", u32::from(other));
            }
        }
    }
    safe
}
