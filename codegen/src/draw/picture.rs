//! What a diagram shows, before any format: entries, phases, and arrows with their labels.
//!
//! Edges between the same two phases that the same kind of caller takes share one arrow, so that a phase with seven ways
//! back to itself is still readable.

use std::collections::HashMap;

use crate::diagnostic::one_line;
use crate::emit::guard_text;
use crate::model::{Actor, Edge, Machine};

/// A machine as it is drawn.
pub(super) struct Picture {
    /// The machine's name.
    pub(super) name: String,
    /// What the machine is for, on one line; may be empty.
    pub(super) doc: String,
    /// Modes, each with the phase that it starts in.
    pub(super) entries: Vec<(String, usize)>,
    pub(super) phases: Vec<Node>,
    pub(super) arrows: Vec<Arrow>,
    /// How many edges were taken and how many there are; None where no coverage is drawn.
    pub(super) taken: Option<(usize, usize)>,
    /// The edges that were never taken, in words.
    pub(super) missed: Vec<String>,
}

/// A phase.
pub(super) struct Node {
    pub(super) name: String,
    /// What a stop does here: the behaviour's name. Empty in a terminal phase.
    pub(super) stop: String,
    pub(super) doc: String,
    pub(super) terminal: bool,
}

/// Who takes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// The hook, at a stop.
    Hook,
    /// The agent by a verb, and mostly a person too.
    Agent,
    /// A person alone, by a verb.
    Person,
}

impl Kind {
    pub(super) const ALL: [(Kind, &'static str); 3] = [
        (Kind::Hook, "the hook, at a stop"),
        (Kind::Agent, "the agent or a person, by a verb"),
        (Kind::Person, "a person alone, by a verb"),
    ];

    fn of(edge: &Edge<'_>) -> Self {
        let by = |actor| edge.declared.by.iter().any(|known| known.value == actor);
        if by(Actor::Agent) {
            Kind::Agent
        } else if by(Actor::Person) {
            Kind::Person
        } else {
            Kind::Hook
        }
    }
}

/// One arrow.
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: Kind,
    /// Whether its edges were taken, where coverage is drawn.
    pub(super) taken: Option<bool>,
    pub(super) labels: Vec<Label>,
}

/// One edge of an arrow.
pub(super) struct Label {
    pub(super) transition: String,
    /// Its guard, where guards divide the transition at this phase.
    pub(super) guard: Option<String>,
    /// How often it was taken, where coverage is drawn and it was.
    pub(super) hits: Option<u64>,
}

impl Label {
    /// The transition, with how often it was taken.
    pub(super) fn head(&self) -> String {
        match self.hits {
            Some(hits) => format!("{} x{hits}", self.transition),
            None => self.transition.clone(),
        }
    }
}

impl Picture {
    pub(super) fn new(machine: &Machine, hits: Option<&[u64]>) -> Self {
        let phase = |at: usize| machine.phases[at].name.value.as_str();
        let edges = machine.edges();
        let mut ways: HashMap<(usize, &str), usize> = HashMap::new();
        for edge in &edges {
            *ways.entry((edge.from, &edge.declared.name.value)).or_default() += 1;
        }
        let mut arrows: Vec<Arrow> = Vec::new();
        let mut places: HashMap<(usize, usize, Kind, Option<bool>), usize> = HashMap::new();
        let mut missed = Vec::new();
        for (at, edge) in edges.iter().enumerate() {
            let name = &edge.declared.name.value;
            let hit = hits.map(|hits| hits.get(at).copied().unwrap_or(0));
            let (kind, taken) = (Kind::of(edge), hit.map(|hit| hit > 0));
            let divided = ways
                .get(&(edge.from, name.as_str()))
                .is_some_and(|ways| *ways > 1);
            let guard = edge.declared.when.as_ref().filter(|_| divided);
            let guard = guard.map(|guard| one_line(&guard_text(&guard.value)));
            if taken == Some(false) {
                let when = guard
                    .as_ref()
                    .map(|guard| format!(" ({guard})"))
                    .unwrap_or_default();
                missed.push(format!(
                    "{name}: {} -> {}{when}",
                    phase(edge.from),
                    phase(edge.to)
                ));
            }
            let place = *places
                .entry((edge.from, edge.to, kind, taken))
                .or_insert_with(|| {
                    let labels = Vec::new();
                    let (from, to) = (edge.from, edge.to);
                    arrows.push(Arrow {
                        from,
                        to,
                        kind,
                        taken,
                        labels,
                    });
                    arrows.len() - 1
                });
            arrows[place].labels.push(Label {
                transition: name.clone(),
                guard,
                hits: hit.filter(|hit| *hit > 0),
            });
        }
        let index: HashMap<&str, usize> = (0..machine.phases.len()).map(|at| (phase(at), at)).collect();
        let entries = machine
            .modes
            .iter()
            .filter_map(|mode| Some((mode.name.value.clone(), *index.get(mode.start.value.as_str())?)));
        let phases = machine.phases.iter().map(|phase| Node {
            name: phase.name.value.clone(),
            stop: match (&phase.on_stop, phase.terminal) {
                (_, true) => String::new(),
                (Some(behaviour), false) => behaviour.name.value.clone(),
                (None, false) => "written in Rust".to_owned(),
            },
            doc: one_line(&phase.doc),
            terminal: phase.terminal,
        });
        Self {
            name: machine.name.value.clone(),
            doc: one_line(&machine.doc),
            entries: entries.collect(),
            phases: phases.collect(),
            arrows,
            taken: hits.map(|_| (edges.len() - missed.len(), edges.len())),
            missed,
        }
    }

    /// How many edges were taken, in words; None where no coverage is drawn.
    pub(super) fn coverage(&self) -> Option<String> {
        let (taken, all) = self.taken?;
        Some(match all - taken {
            0 => format!("all {} were taken", super::count(all, "edge")),
            _ => format!("{taken} of {} taken; never:", super::count(all, "edge")),
        })
    }

    /// The kinds that occur, with their words.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (Kind, &'static str)> + '_ {
        let occurs = |kind| self.arrows.iter().any(|arrow| arrow.kind == kind);
        Kind::ALL.into_iter().filter(move |(kind, _)| occurs(*kind))
    }
}
