//! The walk: breadth first through the states that stops, reviews and verbs without arguments lead to, from the start of
//! each mode. The program decides the effect of a call; each change must follow an edge of the machine file.

use std::collections::HashSet;
use std::fmt;
use std::io;

use serde_json::Value as Json;

use crate::machine::text;
use crate::report::{Wrong, at, ensure};
use crate::scratch::{Journal, Loop, Move, READY, Scratch};

/// The number of calls that a walk makes at most, in all modes together.
const MAX_CALLS: usize = 200;

/// The result of a walk.
pub(crate) struct Walk {
    pub(crate) scratch: Scratch,
    /// Every state that was reached, in the order of the walk.
    pub(crate) states: Vec<State>,
    calls: usize,
}

/// A state that was reached.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) held: Loop,
    /// The calls that led to it, as a failure shows them.
    pub(crate) path: String,
    /// The index of its phase.
    pub(crate) phase: usize,
    pub(crate) journal: Journal,
    /// The last call of the path, unless that is the start.
    pub(crate) step: Option<Step>,
}

/// A call from one state to another.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The index of the state before.
    pub(crate) from: usize,
    pub(crate) one: Move,
    /// The transition that it took.
    pub(crate) transition: Option<String>,
}

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.scratch.machine.model.phases.len();
        let reached = all - self.unreached().len();
        let states = self.states.len();
        let calls = self.calls;
        write!(
            f,
            "{calls} calls reached {states} states in {reached} of {all} phases"
        )
    }
}

impl Walk {
    /// Makes the walk: from the start of each mode, until nothing is new or the mode's share of the calls is made. A short
    /// one ends at the starts.
    pub(crate) fn through(scratch: Scratch, is_long: bool) -> Result<Self, Wrong> {
        let modes = scratch.machine.table("modes").to_vec();
        let max_calls = if is_long { MAX_CALLS } else { 0 };
        let mut walk = Self {
            scratch,
            states: Vec::new(),
            calls: 0,
        };
        for (index, mode) in modes.iter().enumerate() {
            walk.add_mode(mode, max_calls * (index + 1) / modes.len())?;
        }
        Ok(walk)
    }

    /// Returns the phases that were not reached.
    pub(crate) fn unreached(&self) -> Vec<String> {
        let phases = self.scratch.machine.model.phases.iter().enumerate();
        let is_reached = |at: usize| self.states.iter().any(|state| state.phase == at);
        let unreached = phases.filter(|(at, _)| !is_reached(*at));
        unreached.map(|(_, phase)| phase.name.to_string()).collect()
    }

    /// Makes the project as it was in a state.
    pub(crate) fn restore(&self, state: usize) -> io::Result<()> {
        self.scratch.project.restore(state + 1)
    }

    /// Returns the mode of the first state.
    pub(crate) fn first_mode(&self) -> &Json {
        &self.scratch.machine.table("modes")[0]
    }

    fn add_mode(&mut self, mode: &Json, max_calls: usize) -> Result<(), Wrong> {
        let mut known = HashSet::new();
        let mut next = self.states.len();
        let path = format!("start {}", text(&mode["name"]));
        self.scratch.project.restore(READY)?;
        let output = self.scratch.start(mode, None)?;
        ensure!(
            output.code == Some(0),
            "{path}: it was refused, and may need `Kit::project` or `Kit::field`: {output}"
        );
        let held = self.scratch.find()?;
        self.reach(&held, &mut known, &path, None)
            .map_err(at(&path))?;
        while next < self.states.len() {
            let state = self.states[next].clone();
            for one in self.moves(&state) {
                if self.calls == max_calls {
                    return Ok(());
                }
                self.calls += 1;
                self.restore(next)?;
                let path = format!("{} > {one}", state.path);
                let transition = self.take(&state, &one).map_err(at(&path))?;
                let step = Step {
                    from: next,
                    one,
                    transition,
                };
                self.reach(&held, &mut known, &path, Some(step))
                    .map_err(at(&path))?;
            }
            next += 1;
        }
        Ok(())
    }

    /// Keeps the state that the project is in, if it is a new one.
    fn reach(
        &mut self,
        held: &Loop,
        known: &mut HashSet<String>,
        path: &str,
        step: Option<Step>,
    ) -> Result<(), Wrong> {
        let journal = held.journal()?;
        let phase = self.scratch.phase(&journal)?;
        let fields = self.scratch.machine.table("fields").iter();
        let own = fields.filter(|field| field["holds"].is_null());
        let values: Vec<_> = own
            .map(|field| journal.fields.get(text(&field["name"])))
            .collect();
        if known.insert(format!("{phase} {} {values:?}", journal.is_reviewed)) {
            self.scratch.check(held)?;
            self.scratch.project.keep(self.states.len() + 1)?;
            self.states.push(State {
                held: held.clone(),
                path: path.to_owned(),
                phase,
                journal,
                step,
            });
        }
        Ok(())
    }

    /// Returns the moves that can be tried in a state.
    fn moves(&self, state: &State) -> Vec<Move> {
        let machine = &self.scratch.machine;
        if machine.model.phases[state.phase].terminal {
            return Vec::new();
        }
        let mut moves = vec![Move::Stop];
        if self.scratch.file_of(state.phase).is_some() {
            moves.push(Move::StopWithFile);
        }
        if !state.journal.is_reviewed {
            moves.push(Move::Review);
        }
        for (transition, edges) in machine.plain_verbs() {
            let edge = edges.iter().find(|edge| edge.from == state.phase);
            moves.extend(edge.map(|edge| Move::Verb {
                transition: transition.to_owned(),
                by: edge.declared.by[0].word(),
            }));
        }
        moves
    }

    /// Makes a move in a state, and returns the transition that it took.
    fn take(&self, state: &State, one: &Move) -> Result<Option<String>, Wrong> {
        let output = self.scratch.make(&state.held, one, None)?;
        let edge = self.scratch.edge_after(&state.held, &state.journal)?;
        let is_done = output.code == Some(0);
        match one {
            Move::Verb { transition, by } => {
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
            Move::Review => {}
        }
        Ok(edge.map(|edge| text(&edge["what"]).to_owned()))
    }
}
