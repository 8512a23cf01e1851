//! The walk: breadth first through the states that stops, reviews and verbs without arguments lead to, from the start of
//! each mode. The program decides the effect of a call; each change must follow an edge of the machine file.

use std::collections::HashSet;
use std::fmt;
use std::io;

use crate::machine::text;
use crate::report::{Wrong, at, ensure};
use crate::scratch::{Journal, Loop, Move, READY, Scratch};

/// The verb of this name does more than its transition.
pub(crate) const RESUME: &str = "resume";

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
    pub(crate) phase: String,
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
        let all = self.scratch.machine.tables("phases").count();
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
    /// Makes the walk: from the start of each mode, until nothing is new or the mode's share of the calls is made.
    pub(crate) fn through(scratch: Scratch, max_calls: usize) -> Result<Self, Wrong> {
        let modes = scratch.machine.tables("modes");
        let modes: Vec<String> = modes.map(|(mode, _)| mode.to_owned()).collect();
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
        let phases = self.scratch.machine.tables("phases");
        let is_reached = |name: &str| self.states.iter().any(|state| state.phase == name);
        phases
            .filter(|(name, _)| !is_reached(name))
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    /// Makes the project as it was in a state.
    pub(crate) fn restore(&self, state: usize) -> io::Result<()> {
        self.scratch.project.restore(state + 1)
    }

    /// Makes the project one in which no loop was started.
    pub(crate) fn reset(&self) -> io::Result<()> {
        self.scratch.project.restore(READY)
    }

    /// Returns the mode of the first state.
    pub(crate) fn first_mode(&self) -> &str {
        let first = self.scratch.machine.tables("modes").next();
        first.map_or("", |(mode, _)| mode)
    }

    fn add_mode(&mut self, mode: &str, max_calls: usize) -> Result<(), Wrong> {
        let mut known = HashSet::new();
        let mut next = self.states.len();
        let path = format!("start {mode}");
        self.reset()?;
        let output = self.scratch.start(mode, None)?;
        ensure!(
            output.code == Some(0),
            "{path}: it was refused, and may need `Kit::project` or `Kit::field`: {output}"
        );
        let held = self.scratch.find()?;
        self.reach(held, &mut known, path.clone(), None)
            .map_err(at(path))?;
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
                self.reach(state.held.clone(), &mut known, path.clone(), Some(step))
                    .map_err(at(path))?;
            }
            next += 1;
        }
        Ok(())
    }

    /// Keeps the state that the project is in, if it is a new one.
    fn reach(
        &mut self,
        held: Loop,
        known: &mut HashSet<String>,
        path: String,
        step: Option<Step>,
    ) -> Result<(), Wrong> {
        let journal = held.journal()?;
        let phase = self.scratch.phase(&journal).to_owned();
        let fields = self.scratch.machine.tables("fields");
        let values: Vec<_> = fields
            .filter(|(_, field)| field.get("holds").is_none())
            .map(|(name, _)| journal.fields.get(name))
            .collect();
        if known.insert(format!("{phase} {} {values:?}", journal.is_reviewed)) {
            self.scratch.check(&held)?;
            self.scratch.project.keep(self.states.len() + 1)?;
            self.states.push(State {
                held,
                path,
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
        let phase = &machine.file["phases"][&state.phase];
        if phase.is_null() || phase["terminal"] == true {
            return Vec::new();
        }
        let mut moves = vec![Move::Stop];
        if self.scratch.file_of(&state.phase).is_some() {
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
                by: verb.by[0].clone(),
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
