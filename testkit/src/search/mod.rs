//! Finds a way to every edge of a machine, over its model alone: no program, no files, nothing random.
//!
//! From each start the states that can be told apart by guards are visited breadth first, so every way is a shortest one. Starts are
//! tried from the plainest on: first every mode as it is, then with one value of a start that some guard reads, then with two. What a
//! stop can see (a file, a verdict, a command's end) is taken as free to happen, and so is a wait for a time. What is not found soon is
//! looked for from where its phase is entered. An edge that nothing leads to is named with the reason.

mod edges;
mod moves;
mod state;
mod values;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use claudex_build::line_of;
use claudex_build::model::{AtStart, Edge, Machine, Transition, guard_text};

pub use moves::{Act, Says, Step};
pub use state::{State, Value, Visit};

use moves::Moves;
use values::{Key, Relevant};

/// How many states are visited from one start without finding anything new; and once more, where edges are missing then.
const PATIENCE: [usize; 2] = [1_000, 10_000];
/// Limits the states that are visited from all starts.
const STATES: usize = 100_000;
/// How many values of a start may differ from the plainest.
const DIFFERENT: usize = 3;
/// Limits the starts that are tried.
const STARTS: usize = 2_000;

/// A way through a machine, from a start on.
#[derive(Debug, Clone)]
pub struct Way {
    /// The index of its mode in [`Machine::modes`].
    pub mode: usize,
    /// What the start is given, by the index of the field.
    pub given: Vec<(usize, Value)>,
    /// The loop after the start.
    pub begin: State,
    /// What follows, in order.
    pub steps: Vec<Step>,
}

impl Way {
    /// Returns the edges that it takes, by their index in [`Machine::edges`].
    pub fn edges(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().filter_map(|step| step.edge)
    }
}

/// An edge that no way leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreached {
    /// Its index in [`Machine::edges`].
    pub edge: usize,
    /// Its transition, its source, its line: ``` `skip` in `plan_review` (machine.toml:300) ```.
    pub what: String,
    /// Why not.
    pub why: String,
}

/// What a search came to.
#[derive(Debug)]
pub struct Found {
    /// Ways that take every edge that can be reached, the longest first; none of them takes only edges that others take, too.
    pub ways: Vec<Way>,
    /// The rest.
    pub unreached: Vec<Unreached>,
    /// How many states were visited.
    pub states: usize,
}

/// Says of a phase and a transition whether the machine's own Rust takes it at a stop.
type Takes<'m> = dyn Fn(&str, &str) -> bool + 'm;

/// Searches a machine.
pub struct Search<'m> {
    machine: &'m Machine,
    edges: Vec<Edge<'m>>,
    /// The edges that leave each phase.
    leaving: Vec<Vec<usize>>,
    relevant: Relevant,
    own: Box<Takes<'m>>,
    now: u64,
}

impl fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("machine", &self.machine.name.value)
            .finish_non_exhaustive()
    }
}

/// What was learnt of an edge besides.
#[derive(Default, Clone)]
struct Seen {
    entered: bool,
    open: bool,
}

impl<'m> Search<'m> {
    /// Prepares a search. `own` says of a phase and a transition whether the Rust of the machine's program takes it at a stop; `now` is the
    /// time, in seconds since 1970.
    pub fn new(machine: &'m Machine, own: impl Fn(&str, &str) -> bool + 'm, now: u64) -> Self {
        let edges = machine.edges();
        let mut leaving = vec![Vec::new(); machine.phases.len()];
        for (at, edge) in edges.iter().enumerate() {
            leaving[edge.from].push(at);
        }
        Self {
            machine,
            edges,
            leaving,
            relevant: Relevant::of(machine),
            own: Box::new(own),
            now,
        }
    }

    fn moves(&self) -> Moves<'_> {
        let fields = self.machine.fields.iter().enumerate();
        Moves {
            machine: self.machine,
            edges: &self.edges,
            leaving: &self.leaving,
            own: &self.own,
            relevant: &self.relevant,
            index: fields.map(|(at, field)| (&*field.name.value, at)).collect(),
            now: self.now,
        }
    }

    /// Returns the loop after a step; None where that cannot be taken.
    pub(crate) fn after(&self, state: &State, step: &Step) -> Option<State> {
        self.moves().again(state, step)
    }

    /// Returns whether a transition has an edge whose guard holds.
    pub(crate) fn is_open(&self, state: &State, transition: &str) -> bool {
        let moves = self.moves();
        let mut edges = self.edges.iter().filter(|edge| edge.from == state.phase);
        edges.any(|edge| edge.declared.name.value == transition && moves.can_open(edge, state))
    }

    /// Returns the plainest arguments of a transition.
    pub(crate) fn plain_arguments(&self, declared: &Transition) -> Vec<(String, Value)> {
        self.moves()
            .arguments(declared, None)
            .into_iter()
            .next()
            .unwrap_or_default()
    }

    /// Finds the ways. `source` is the text of the machine file, and `file` its name.
    pub fn run(&self, file: &str, source: &str) -> Found {
        let (relevant, moves) = (&self.relevant, self.moves());
        let mut found: HashMap<usize, Way> = HashMap::new();
        let mut seen = vec![Seen::default(); self.edges.len()];
        let mut states = 0;
        // Most edges are found soon, if from another start: only what is still missing then is worth a long look.
        for patience in PATIENCE {
            let mut known = HashSet::new();
            let mut starts = 0;
            for (different, mode) in
                (0..=DIFFERENT).flat_map(|d| (0..self.machine.modes.len()).map(move |m| (d, m)))
            {
                // What else may differ is of use only where it opens an edge that is still missing.
                let missing = (0..self.edges.len()).filter(|edge| !found.contains_key(edge));
                let wanted =
                    values::read(self.machine, missing.map(|edge| self.edges[edge].declared));
                for given in self.starts(relevant, &wanted, different, mode) {
                    starts += 1;
                    if found.len() == self.edges.len() || known.len() >= STATES || starts > STARTS {
                        break;
                    }
                    let begin = moves.start(mode, &given);
                    let start = Way {
                        mode,
                        given,
                        begin,
                        steps: Vec::new(),
                    };
                    self.visit(
                        &moves,
                        &start,
                        (&mut found, &mut seen[..], &mut known),
                        patience,
                    );
                }
            }
            states = states.max(known.len());
            for way in self.entering(&found) {
                let mut known = HashSet::new();
                self.visit(
                    &moves,
                    &way,
                    (&mut found, &mut seen[..], &mut known),
                    patience,
                );
            }
        }
        let unreached = (0..self.edges.len()).filter(|edge| !found.contains_key(edge));
        let unreached = unreached
            .map(|edge| Unreached {
                edge,
                what: self.describe(edge, file, source),
                why: self.why(edge, &seen[edge], states),
            })
            .collect();
        Found {
            ways: fewest(found),
            unreached,
            states,
        }
    }

    /// Returns the shortest way into each phase that an edge which is still missing leaves.
    fn entering(&self, found: &HashMap<usize, Way>) -> Vec<Way> {
        let missing = (0..self.edges.len()).filter(|edge| !found.contains_key(edge));
        let phases: BTreeSet<usize> = missing.map(|edge| self.edges[edge].from).collect();
        let into = |phase| {
            let ways = found
                .iter()
                .filter(move |(edge, _)| self.edges[**edge].to == phase);
            ways.min_by_key(|(edge, way)| (way.steps.len(), **edge))
        };
        phases
            .into_iter()
            .filter_map(|phase| Some(into(phase)?.1.clone()))
            .collect()
    }

    /// Visits what a way leads to, and keeps the way to each edge that is new.
    fn visit(
        &self,
        moves: &Moves<'_>,
        from: &Way,
        (found, seen, known): (&mut HashMap<usize, Way>, &mut [Seen], &mut HashSet<Key>),
        patience: usize,
    ) {
        let begin = from.steps.last().map_or(&from.begin, |step| &step.leaves);
        // Each step that leads on, with the number of the one before it; 0: the first one behind the way.
        let mut taken: Vec<(usize, Step)> = Vec::new();
        let mut left = patience;
        for at in 0_usize.. {
            let last = at.checked_sub(1).map(|last| taken.get(last));
            let state = match last {
                None => begin.clone(),
                Some(Some((_, step))) => step.leaves.clone(),
                Some(None) => return,
            };
            // What a state leads to is the same whichever start it was reached from.
            if !known.insert(self.relevant.key(&state, self.now)) {
                continue;
            }
            left -= 1;
            if left == 0 {
                return;
            }
            for &index in &self.leaving[state.phase] {
                seen[index].entered = true;
                seen[index].open |= moves.can_open(&self.edges[index], &state);
            }
            for step in moves.from(&state) {
                let new = step.edge.filter(|edge| !found.contains_key(edge));
                if new.is_none() && known.contains(&self.relevant.key(&step.leaves, self.now)) {
                    continue;
                }
                taken.push((at, step));
                if let Some(edge) = new {
                    let mut way = from.clone();
                    way.steps.extend(steps(&taken));
                    found.insert(edge, way);
                    left = patience;
                }
            }
            if found.len() == self.edges.len() {
                return;
            }
        }
    }

    /// Returns what a start in a mode may be given, where so many of the wanted values are not the plainest.
    fn starts(
        &self,
        relevant: &Relevant,
        wanted: &[bool],
        different: usize,
        mode: usize,
    ) -> Vec<Vec<(usize, Value)>> {
        let first = &self.machine.modes[mode].start.value;
        let fields = self.machine.fields.iter().enumerate();
        let fields =
            fields.filter(|(_, field)| field.at_start != AtStart::Never && field.exists_in(first));
        let required: Vec<(usize, Value)> = fields
            .clone()
            .filter(|(_, field)| field.at_start == AtStart::Required)
            .map(|(at, field)| (at, values::given(&field.kind)))
            .collect();
        let choices: Vec<(usize, Value)> = fields
            .filter(|(at, _)| wanted[*at])
            .flat_map(|(at, _)| {
                let values = relevant.candidates(self.machine, at, self.now);
                values.into_iter().map(move |value| (at, value))
            })
            .collect();
        let mut all: Vec<Vec<(usize, Value)>> = vec![Vec::new()];
        for _ in 0..different {
            let longer = all.iter().flat_map(|before| {
                let behind = before.last().map_or(0, |(field, _)| field + 1);
                let more = choices.iter().filter(move |(field, _)| *field >= behind);
                more.map(|choice| [&before[..], std::slice::from_ref(choice)].concat())
            });
            all = longer.take(STARTS).collect();
        }
        for chosen in &mut all {
            let others = required
                .iter()
                .filter(|(field, _)| chosen.iter().all(|(known, _)| known != field));
            let others: Vec<_> = others.cloned().collect();
            chosen.extend(others);
        }
        all
    }

    /// Names an edge.
    fn describe(&self, edge: usize, file: &str, source: &str) -> String {
        let edge = &self.edges[edge];
        format!(
            "`{}` in `{}` ({file}:{})",
            edge.declared.name.value,
            self.machine.phases[edge.from].name.value,
            line_of(source, edge.declared.span.start),
        )
    }

    fn why(&self, edge: usize, seen: &Seen, states: usize) -> String {
        let edge = &self.edges[edge];
        let phase = &self.machine.phases[edge.from];
        let (name, transition) = (&phase.name.value, &edge.declared.name.value);
        let named = phase.on_stop.as_ref().is_some_and(|behaviour| {
            behaviour
                .transitions()
                .any(|named| named.value == *transition)
        });
        if !seen.entered {
            format!("none of the {states} states that were visited is in phase `{name}`")
        } else if !seen.open {
            let guard = edge
                .declared
                .when
                .as_ref()
                .map(|guard| guard_text(&guard.value));
            let guard = guard.unwrap_or_default();
            format!("its guard `{guard}` holds in none of the {states} states that were visited")
        } else if !edge.declared.is_verb() && !named {
            format!(
                "only Rust takes it: say with `Kit::own` or `Kit::verb` what makes the program take `{transition}` in `{name}`"
            )
        } else {
            "wherever its guard holds, another transition is taken before it".to_owned()
        }
    }
}

/// Returns the steps that lead to the last one, and it.
fn steps(taken: &[(usize, Step)]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = taken.len();
    while let Some((before, step)) = at.checked_sub(1).and_then(|last| taken.get(last)) {
        steps.push(step.clone());
        at = *before;
    }
    steps.reverse();
    steps
}

/// Keeps of the ways those that take an edge which no longer one takes.
fn fewest(found: HashMap<usize, Way>) -> Vec<Way> {
    let mut ways: Vec<(usize, Way)> = found.into_iter().collect();
    ways.sort_by_key(|(edge, way)| (std::cmp::Reverse(way.steps.len()), *edge));
    let mut taken: HashSet<usize> = HashSet::new();
    let mut kept = Vec::new();
    for (edge, way) in ways {
        if !taken.contains(&edge) {
            taken.extend(way.edges());
            kept.push(way);
        }
    }
    kept
}
