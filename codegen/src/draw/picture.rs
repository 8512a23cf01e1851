//! What a diagram shows, before any format: entries, phases, and arrows with their labels.
//!
//! Edges between the same two phases that the same kind of caller takes share one arrow, so that a phase with seven ways
//! back to itself is still readable.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::one_line;
use crate::model::{Actor, Behaviour, Edge, From, Machine, To, guard_text};

/// A machine as it is drawn.
pub(super) struct Picture {
    /// The machine's name.
    pub(super) name: String,
    /// What the machine is for, on one line; may be empty.
    pub(super) doc: String,
    /// Modes, each with the phase that it starts in.
    pub(super) entries: Vec<(String, usize)>,
    /// The phases, in the order of the file, and last, where many edges begin anywhere, [`Shape::Anywhere`].
    pub(super) phases: Vec<Node>,
    pub(super) arrows: Vec<Arrow>,
    /// How many edges were taken and how many there are; None where no coverage is drawn.
    pub(super) taken: Option<(usize, usize)>,
    /// The edges that were never taken, in words.
    pub(super) missed: Vec<String>,
}

/// What a box stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A phase that a loop goes on from.
    Phase,
    /// A phase that ends a loop.
    Terminal,
    /// Every phase that is not terminal: the source of `from = "*"` where there are many.
    Anywhere,
}

/// A phase.
pub(super) struct Node {
    /// Unique among boxes, of letters, digits and `_`.
    pub(super) id: String,
    pub(super) name: String,
    /// What a stop does here: the behaviour's name. Empty in a terminal phase.
    pub(super) stop: String,
    pub(super) doc: String,
    pub(super) shape: Shape,
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
    /// A person alone, by an answer to what the phase asks.
    Answer,
}

impl Kind {
    pub(super) const ALL: [(Kind, &'static str); 4] = [
        (Kind::Hook, "the hook, at a stop"),
        (Kind::Agent, "the agent or a person, by a verb"),
        (Kind::Person, "a person alone, by a verb"),
        (Kind::Answer, "a person alone, by an answer"),
    ];

    fn of(edge: &Edge<'_>, machine: &Machine) -> Self {
        let on_stop = machine.phases[edge.from].on_stop.as_ref();
        let asks = on_stop.is_some_and(Behaviour::asks);
        let by = |actor| edge.declared.by.iter().any(|known| known.value == actor);
        if by(Actor::Agent) {
            Kind::Agent
        } else if by(Actor::Person) && edge.declared.own && asks {
            Kind::Answer
        } else if by(Actor::Person) {
            Kind::Person
        } else {
            Kind::Hook
        }
    }
}

/// From how many phases a transition of `from = "*"` has to come to be drawn as one arrow.
const MANY: usize = 5;

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
    /// Its places in [`Machine::edges`]; more than one where it stands for edges that begin anywhere.
    pub(super) edges: Vec<usize>,
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
            *ways
                .entry((edge.from, &edge.declared.name.value))
                .or_default() += 1;
        }
        let hit = |at: usize| hits.map(|hits| hits.get(at).copied().unwrap_or(0));
        let scattered = scattered(machine, &edges, &hit);
        let anywhere = machine.phases.len();
        let mut arrows: Vec<Arrow> = Vec::new();
        let mut places: HashMap<(usize, usize, Kind, Option<bool>), usize> = HashMap::new();
        let mut missed = Vec::new();
        for (at, edge) in edges.iter().enumerate() {
            let name = &edge.declared.name.value;
            let (kind, hit) = (Kind::of(edge, machine), hit(at));
            let taken = hit.map(|hit| hit > 0);
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
            let is_scattered = scattered.contains(&(name.as_str(), taken));
            let from = if is_scattered { anywhere } else { edge.from };
            let place = *places
                .entry((from, edge.to, kind, taken))
                .or_insert_with(|| {
                    let (to, labels) = (edge.to, Vec::new());
                    arrows.push(Arrow {
                        from,
                        to,
                        kind,
                        taken,
                        labels,
                    });
                    arrows.len() - 1
                });
            let hits = hit.filter(|hit| *hit > 0);
            let labels = &mut arrows[place].labels;
            match labels
                .iter_mut()
                .find(|label| is_scattered && label.transition == *name)
            {
                Some(label) => {
                    label.edges.push(at);
                    label.hits = label
                        .hits
                        .zip(hits)
                        .map(|(one, other)| one.saturating_add(other))
                }
                None => labels.push(Label {
                    transition: name.clone(),
                    edges: vec![at],
                    guard,
                    hits,
                }),
            }
        }
        let index: HashMap<&str, usize> = (0..machine.phases.len())
            .map(|at| (phase(at), at))
            .collect();
        let entries = machine.modes.iter().filter_map(|mode| {
            Some((
                mode.name.value.clone(),
                *index.get(mode.start.value.as_str())?,
            ))
        });
        let mut phases: Vec<Node> = machine
            .phases
            .iter()
            .map(|phase| Node {
                id: format!("phase_{}", phase.name.value),
                name: phase.name.value.clone(),
                stop: match (&phase.on_stop, phase.terminal) {
                    (_, true) => String::new(),
                    (Some(behaviour), false) => behaviour.name.value.clone(),
                    (None, false) => "written in Rust".to_owned(),
                },
                doc: one_line(&phase.doc),
                shape: if phase.terminal {
                    Shape::Terminal
                } else {
                    Shape::Phase
                },
            })
            .collect();
        if !scattered.is_empty() {
            phases.push(Node {
                id: "anywhere".to_owned(),
                name: "any phase".to_owned(),
                stop: String::new(),
                doc: "Every phase that is not terminal.".to_owned(),
                shape: Shape::Anywhere,
            });
        }
        Self {
            name: machine.name.value.clone(),
            doc: one_line(&machine.doc),
            entries: entries.collect(),
            phases,
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
            _ if self.missed.is_empty() => {
                format!("{taken} of {} taken", super::count(all, "edge"))
            }
            _ => format!("{taken} of {} taken; never:", super::count(all, "edge")),
        })
    }

    /// How many phases the machine has.
    pub(super) fn number(&self) -> usize {
        let phases = self.phases.iter();
        phases
            .filter(|phase| phase.shape != Shape::Anywhere)
            .count()
    }

    /// The kinds that occur, with their words.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (Kind, &'static str)> + '_ {
        let occurs = |kind| self.arrows.iter().any(|arrow| arrow.kind == kind);
        Kind::ALL.into_iter().filter(move |(kind, _)| occurs(*kind))
    }
}

/// The transitions that leave every phase that is not terminal, and many of them: a transition's edges that were taken
/// and those that were not are counted apart.
fn scattered<'m>(
    machine: &'m Machine,
    edges: &[Edge<'m>],
    hit: &impl Fn(usize) -> Option<u64>,
) -> HashSet<(&'m str, Option<bool>)> {
    let explicit: HashSet<&str> = machine
        .transitions
        .iter()
        .filter(|declared| {
            matches!(declared.from, From::Phases(_)) || matches!(declared.to, To::Same(_))
        })
        .map(|declared| declared.name.value.as_str())
        .collect();
    let mut sources: HashMap<(&str, Option<bool>), HashSet<usize>> = HashMap::new();
    for (at, edge) in edges.iter().enumerate() {
        let name = edge.declared.name.value.as_str();
        if !explicit.contains(name) {
            let taken = hit(at).map(|hit| hit > 0);
            sources.entry((name, taken)).or_default().insert(edge.from);
        }
    }
    let many = sources.into_iter().filter(|(_, from)| from.len() >= MANY);
    many.map(|(key, _)| key).collect()
}
