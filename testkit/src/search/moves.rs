//! What can happen next to a loop: a stop that sees something, a review, a verb, a wait; and what each leaves.

use std::collections::HashMap;

use claudex_build::model::{
    Actor, Behaviour, Call, Edge, Evidence, Field, FieldKind, Machine, Operand, Transition,
};

use super::edges::Side;
use super::state::{State, Value, Visit};
use super::values::{Relevant, each, offset_of, stalls};

/// What a reviewer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// Nothing is to be found.
    Clean,
    /// Something that it has not found before.
    Findings,
    /// What it found the last time.
    Same,
    /// Nothing: it fails.
    Failed,
}

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// A stop, at which the phase's behaviour sees this outcome.
    Stop(String),
    /// A stop, at which the machine's own Rust takes a transition.
    Own {
        /// The transition.
        transition: String,
        /// What it gives.
        arguments: Vec<(String, Value)>,
    },
    /// A verb.
    Verb {
        /// Who calls it.
        by: Actor,
        /// The transition.
        transition: String,
        /// Its arguments.
        arguments: Vec<(String, Value)>,
        /// Whether findings that are open have to be rejected.
        rejecting: bool,
    },
    /// A review.
    Review(Says),
    /// Seconds go by.
    Wait(u64),
}

/// What happens, and the edge that is taken thereby.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What happens.
    pub act: Act,
    /// The edge's index in [`Machine::edges`].
    pub edge: Option<usize>,
    /// What the program has to leave.
    pub leaves: State,
}

pub(super) struct Moves<'s> {
    pub(super) machine: &'s Machine,
    pub(super) edges: &'s [Edge<'s>],
    /// The edges that leave each phase.
    pub(super) leaving: &'s [Vec<usize>],
    pub(super) own: &'s dyn Fn(&str, &str) -> bool,
    pub(super) relevant: &'s Relevant,
    /// The fields by their names.
    pub(super) index: HashMap<&'s str, usize>,
    pub(super) now: u64,
}

impl Moves<'_> {
    /// Returns the loop that a start makes.
    pub(super) fn start(&self, mode: usize, given: &[(usize, Value)]) -> State {
        let mode = &self.machine.modes[mode];
        let phase = self.phase(&mode.start.value);
        let value = |(at, field): (usize, &Field)| {
            if !field.exists_in(&mode.start.value) {
                return Value::Absent;
            }
            let own = mode
                .initial
                .iter()
                .find(|(name, _)| name.value == field.name.value);
            let given = given
                .iter()
                .find(|(known, _)| *known == at)
                .map(|(_, value)| value.clone());
            given
                .or_else(|| own.map(|(_, constant)| Value::of(&constant.value)))
                .or_else(|| field.initial().as_ref().map(Value::of))
                .unwrap_or(Value::Absent)
        };
        State::new(
            phase,
            self.machine.fields.iter().enumerate().map(value).collect(),
        )
    }

    /// Returns everything that can happen in a state.
    pub(super) fn from(&self, state: &State) -> Vec<Step> {
        let mut all = Vec::new();
        let phase = &self.machine.phases[state.phase];
        if phase.terminal {
            return all;
        }
        if let Some(behaviour) = &phase.on_stop {
            for (outcome, names) in &behaviour.outcomes {
                if !self.can_see(behaviour, outcome, state) {
                    continue;
                }
                let taken = names.iter().find_map(|call| {
                    let with = constants(call);
                    Some((self.open(&call.then.value, &with, state)?, with))
                });
                if let Some((edge, with)) = taken {
                    let failed = outcome == "failed" && behaviour.name.value == "review";
                    all.extend(self.taking(state, Act::Stop(outcome.clone()), edge, &with, failed));
                }
            }
            if behaviour.name.value == "review" {
                self.reviews(behaviour, state, &mut all);
            }
        }
        for &index in &self.leaving[state.phase] {
            self.verbs(state, index, &mut all);
        }
        self.waits(state, &mut all);
        all
    }

    /// Takes a step again that was found from a state like this one.
    pub(super) fn again(&self, state: &State, step: &Step) -> Option<State> {
        let behaviour = self.machine.phases[state.phase].on_stop.as_ref();
        let edge = step.edge?;
        let name = &self.edges[edge].declared.name.value;
        let arguments = match (&step.act, behaviour) {
            (Act::Verb { arguments, .. } | Act::Own { arguments, .. }, _) => arguments.clone(),
            (Act::Stop(outcome), Some(behaviour)) => {
                let mut outcomes = behaviour
                    .outcomes
                    .iter()
                    .filter(|(known, _)| known == outcome);
                let calls = outcomes.next().into_iter().flat_map(|(_, calls)| calls);
                let mut with = calls.filter(|call| call.then.value == *name).map(constants);
                with.find(|with| self.is_open(&self.edges[edge], with, state))?
            }
            _ => Vec::new(),
        };
        if !self.is_open(&self.edges[edge], &arguments, state) {
            return None;
        }
        let reviews = behaviour.is_some_and(|behaviour| behaviour.name.value == "review");
        let failed = reviews && step.act == Act::Stop("failed".to_owned());
        let again = self.taking(state, step.act.clone(), edge, &arguments, failed)?;
        Some(again.leaves)
    }

    /// The verbs, and what the machine's own Rust may do.
    fn verbs(&self, state: &State, index: usize, all: &mut Vec<Step>) {
        let declared = self.edges[index].declared;
        let (phase, name) = (&self.machine.phases[state.phase], &declared.name.value);
        let named = phase.on_stop.as_ref().is_some_and(|behaviour| {
            let mut named = behaviour.outcomes.iter().flat_map(|(_, names)| names);
            named.any(|call| call.then.value == *name)
        });
        let rejecting = match declared.requires.as_ref().map(|evidence| evidence.value) {
            None => false,
            Some(Evidence::Verified) => return,
            Some(_) if state.visit == Visit::Clean => false,
            Some(evidence) if state.visit == Visit::Findings => evidence == Evidence::Settled,
            Some(_) => return,
        };
        let act = match declared.by.first() {
            Some(by) if !declared.own => Some(by.value),
            _ if !named && (self.own)(&phase.name.value, name) => None,
            _ => return,
        };
        for arguments in self.arguments(declared, Some(state)) {
            if !self.is_open(&self.edges[index], &arguments, state) {
                continue;
            }
            let act = match act {
                None => Act::Own {
                    transition: name.clone(),
                    arguments: arguments.clone(),
                },
                Some(by) => Act::Verb {
                    by,
                    transition: name.clone(),
                    arguments: arguments.clone(),
                    rejecting,
                },
            };
            all.extend(self.taking(state, act, index, &arguments, false));
        }
    }

    fn reviews(&self, behaviour: &Behaviour, state: &State, all: &mut Vec<Step>) {
        if matches!(state.visit, Visit::Clean | Visit::Findings) {
            return;
        }
        let stalls = stalls(behaviour);
        let persona = self.persona(behaviour, state);
        for says in [Says::Clean, Says::Findings, Says::Same, Says::Failed] {
            if says == Says::Same && !stalls {
                continue;
            }
            let mut next = state.clone();
            next.visit = match says {
                Says::Clean => Visit::Clean,
                Says::Findings | Says::Same => Visit::Findings,
                Says::Failed => Visit::Failed,
            };
            if says != Says::Failed {
                let before = if state.same.0 == persona {
                    state.same.1
                } else {
                    0
                };
                let same = if says == Says::Same { before + 1 } else { 0 };
                next.same = (persona, same.min(3));
            }
            all.push(Step {
                act: Act::Review(says),
                edge: None,
                leaves: next,
            });
        }
    }

    /// Who reviews the round, by its place; only where rounds can stall it matters.
    fn persona(&self, behaviour: &Behaviour, state: &State) -> u64 {
        let all = match behaviour.personas.len() {
            0 => self.machine.personas.len(),
            own => own,
        };
        let round = behaviour
            .parameter("round")
            .and_then(|name| self.field(&name.value));
        match round.map(|round| &state.values[round]) {
            Some(Value::Number(round)) => (*round).min(all.max(1) as u64),
            _ => 0,
        }
    }

    /// Waits until a guard, or what a phase waits for, sees another time than now.
    fn waits(&self, state: &State, all: &mut Vec<Step>) {
        let now = self.now + state.waited;
        let mut until = Vec::new();
        for edge in self.edges.iter().filter(|edge| edge.from == state.phase) {
            let Some(guard) = &edge.declared.when else {
                continue;
            };
            each(&guard.value, &mut |left, _, right| {
                let (time, other) = match (left, right) {
                    (Operand::Now { .. }, other) => (left, other),
                    (other, Operand::Now { .. }) => (right, other),
                    _ => return,
                };
                if let Some(Side::Number(other)) = self.side(other, &[], state) {
                    until.extend([0, 1].map(|more| other - i128::from(offset_of(time)) + more));
                }
            });
        }
        let waits = self.machine.phases[state.phase].on_stop.as_ref();
        if let Some(Value::Number(time)) = waits
            .and_then(|behaviour| behaviour.parameter("field"))
            .and_then(|name| self.field(&name.value))
            .filter(|field| self.machine.fields[*field].kind == FieldKind::Time)
            .map(|field| &state.values[field])
        {
            until.push(i128::from(*time));
        }
        for seconds in until
            .into_iter()
            .filter_map(|until| u64::try_from(until - i128::from(now)).ok())
        {
            if seconds > 0 {
                let mut next = state.clone();
                next.waited += seconds;
                all.push(Step {
                    act: Act::Wait(seconds),
                    edge: None,
                    leaves: next,
                });
            }
        }
    }

    /// Whether a behaviour can be made to see an outcome.
    fn can_see(&self, behaviour: &Behaviour, outcome: &str, state: &State) -> bool {
        let stalled = stalls(behaviour) && state.same.1 >= 3;
        match (behaviour.name.value.as_str(), outcome) {
            ("review", "clean") => state.visit == Visit::Clean,
            ("review", "findings") => state.visit == Visit::Findings && !stalled,
            ("review", "stalled") => state.visit == Visit::Findings && stalled,
            ("review", "failed") => state.visit == Visit::Failed,
            ("review", _) => state.visit == Visit::Unreviewed,
            ("run", outcome) => outcome != "running",
            // Nobody is there to permit commands.
            ("verify", outcome) => outcome == "missing",
            ("wait-for", outcome) => {
                let field = behaviour
                    .parameter("field")
                    .and_then(|name| self.field(&name.value));
                field.is_none_or(|field| {
                    let kind = &self.machine.fields[field].kind;
                    let yes = state.values[field].says_yes(kind, self.now + state.waited);
                    yes == (outcome == "there")
                })
            }
            _ => true,
        }
    }

    /// The edge of a transition that is open here.
    fn open(&self, transition: &str, given: &Given, state: &State) -> Option<usize> {
        let mut leaving = self.leaving[state.phase].iter().copied();
        leaving.find(|at| {
            let edge = &self.edges[*at];
            edge.declared.name.value == transition && self.is_open(edge, given, state)
        })
    }

    /// Whether an edge is open for some arguments.
    pub(super) fn can_open(&self, edge: &Edge<'_>, state: &State) -> bool {
        let mut all = self.arguments(edge.declared, Some(state)).into_iter();
        all.any(|given| self.is_open(edge, &given, state))
    }

    /// Every choice of arguments that is worth a try.
    pub(super) fn arguments(
        &self,
        declared: &Transition,
        state: Option<&State>,
    ) -> Vec<Vec<(String, Value)>> {
        let mut all: Vec<Vec<(String, Value)>> = vec![Vec::new()];
        for argument in &declared.args {
            let values =
                self.relevant
                    .arguments(self.machine, declared, argument, (state, self.now));
            all = all
                .iter()
                .flat_map(|before| {
                    values.iter().map(move |value| {
                        let mut given = before.clone();
                        given.push((argument.name.value.clone(), value.clone()));
                        given
                    })
                })
                .take(64)
                .collect();
        }
        all
    }

    pub(super) fn field(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    fn phase(&self, name: &str) -> usize {
        let found = self
            .machine
            .phases
            .iter()
            .position(|phase| phase.name.value == name);
        found.unwrap_or_default()
    }

    pub(super) fn name(&self, phase: usize) -> &str {
        &self.machine.phases[phase].name.value
    }
}

/// What a transition's arguments are given.
pub(super) type Given = [(String, Value)];

/// Returns what an outcome gives the arguments of a transition.
fn constants(call: &Call) -> Vec<(String, Value)> {
    let with = call.with.iter();
    with.map(|(name, value)| (name.value.clone(), Value::of(&value.value)))
        .collect()
}
