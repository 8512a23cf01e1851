//! The walk: breadth first through the states that stops, reviews and verbs without arguments lead to, from the start of
//! each mode. The program decides what a call does; each change must follow an edge of the machine file.

use std::collections::HashSet;

use crate::kit::Setup;
use crate::machine::Machine;
use crate::report::{Wrong, at, ensure};
use crate::scratch::{Journal, Loop, Move, shown};

/// The number of calls that a walk makes at most, in all modes together.
const MAX_CALLS: usize = 200;

/// The verb of this name does more than its transition.
pub(super) const RESUME: &str = "resume";

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    /// Every state that was reached, in the order of the walk.
    pub(super) states: Vec<State>,
    calls: usize,
}

/// A state that was reached.
#[derive(Debug)]
pub(super) struct State {
    /// A shortest path to it.
    pub(super) path: Vec<Move>,
    pub(super) phase: String,
    pub(super) journal: Journal,
    /// The transition that the last move took.
    pub(super) transition: Option<String>,
}

/// Walks through the machine.
pub(super) fn run(setup: &Setup) -> Result<String, Wrong> {
    let walk = setup.walk()?;
    let all = setup.machine.phases.len();
    let reached = all - walk.unreached(&setup.machine).len();
    let states = walk.states.len();
    let calls = walk.calls;
    Ok(format!(
        "{calls} calls reached {states} states in {reached} of {all} phases"
    ))
}

impl Walk {
    /// Makes the walk.
    pub(crate) fn through(setup: &Setup) -> Result<Self, Wrong> {
        let mut walk = Self::default();
        let modes = &setup.machine.modes;
        for (index, mode) in modes.keys().enumerate() {
            walk.add_mode(setup, mode, MAX_CALLS * (index + 1) / modes.len())?;
        }
        Ok(walk)
    }

    /// Returns the phases that were not reached.
    pub(crate) fn unreached(&self, machine: &Machine) -> Vec<String> {
        let mut phases: Vec<_> = machine.phases.keys().cloned().collect();
        phases.retain(|phase| self.states.iter().all(|state| state.phase != *phase));
        phases
    }

    /// Makes moves from the start of a mode, until nothing is new or the walk has made so many calls.
    fn add_mode(&mut self, setup: &Setup, mode: &str, max_calls: usize) -> Result<(), Wrong> {
        let start = vec![Move::Start(mode.to_owned())];
        let held = Loop::begin(setup, &start)?;
        let mut known = HashSet::new();
        let mut next = self.states.len();
        self.reach(&held, &mut known, start, None)?;
        while next < self.states.len() {
            for one in moves(&held, &self.states[next]) {
                if self.calls == max_calls {
                    return Ok(());
                }
                self.calls += 1;
                held.project.restore(next)?;
                let state = &self.states[next];
                let mut path = state.path.clone();
                path.push(one);
                let place = shown(&path);
                let transition = take(&held, &state.journal, &path).map_err(at(&place))?;
                self.reach(&held, &mut known, path, transition)
                    .map_err(at(&place))?;
            }
            next += 1;
        }
        Ok(())
    }

    /// Keeps the state that the project is in, if it is a new one.
    fn reach(
        &mut self,
        held: &Loop<'_>,
        known: &mut HashSet<String>,
        path: Vec<Move>,
        transition: Option<String>,
    ) -> Result<(), Wrong> {
        let journal = held.journal()?;
        let fields = journal.fields();
        let phase = held.phase(&fields).unwrap_or_default();
        let own = held.setup.machine.fields.iter();
        let own = own.filter(|(_, field)| field.holds.is_none());
        let values: Vec<_> = own.map(|(name, _)| fields.get(name)).collect();
        if known.insert(format!("{phase} {} {values:?}", journal.is_reviewed)) {
            held.check()?;
            held.project.keep(self.states.len())?;
            self.states.push(State {
                path,
                phase: phase.to_owned(),
                journal,
                transition,
            });
        }
        Ok(())
    }
}

/// Returns the moves that can be tried in a state.
fn moves(held: &Loop<'_>, state: &State) -> Vec<Move> {
    let machine = &held.setup.machine;
    let phase = machine.phases.get(&state.phase);
    let Some(phase) = phase.filter(|phase| !phase.terminal) else {
        return Vec::new();
    };
    let mut moves = vec![Move::Stop];
    if phase.file().is_some() {
        moves.push(Move::StopWithFile);
    }
    if !state.journal.is_reviewed {
        moves.push(Move::Review);
    }
    for (transition, entries) in &machine.transitions {
        let mut entries = entries.iter().filter(|one| one.leaves(&state.phase));
        let verb = entries.find(|one| one.is_plain_verb() && transition != RESUME);
        moves.extend(verb.map(|verb| Move::Verb {
            transition: transition.clone(),
            by: verb.by[0],
        }));
    }
    moves
}

/// Makes the last move of a path, and returns the transition that it took.
fn take(held: &Loop<'_>, before: &Journal, path: &[Move]) -> Result<Option<String>, Wrong> {
    let one = &path[path.len() - 1];
    let output = held.make(one, None)?;
    let edge = held.edge_after(before)?;
    let is_done = output.code == Some(0);
    match one {
        Move::Verb { transition, by } => {
            let by = format!("{by:?}").to_lowercase();
            let is_right = edge.as_ref().map_or(!is_done, |edge| {
                is_done && edge["what"] == *transition && edge["by"] == *by
            });
            ensure!(
                is_right,
                "expected `{transition}` by the {by}, found {edge:?}: {output}"
            );
        }
        Move::Stop | Move::StopWithFile => ensure!(
            edge.is_some() || !output.holds()?,
            "the agent is held, and no edge was taken: {output}"
        ),
        _ => {}
    }
    Ok(edge.and_then(|edge| Some(edge["what"].as_str()?.to_owned())))
}
