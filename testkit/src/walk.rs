//! The walk: breadth first through the states that stops, reviews and verbs without arguments lead to, from the start of
//! each mode. The program decides what a call does; each change must follow an edge of the machine file.

use std::collections::{HashSet, VecDeque};

use serde_json::Value as Json;

use crate::error::{Failure, Suite, Wrong};
use crate::kit::Setup;
use crate::machine::Actor;
use crate::report::Report;
use crate::run::{Journal, Loop, Move};
use crate::suites::input::{answer, holds};
use crate::suites::refusals;

/// How many calls a walk makes at most. What is refused is tried besides.
const MAX_CALLS: usize = 200;

/// The verb of this name does more than its transition.
const RESUME: &str = "resume";

/// A call that took an edge.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    /// The moves from the start on, the call itself last.
    pub(crate) path: Vec<Move>,
    /// The transition.
    pub(crate) transition: String,
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) taken: Vec<Taken>,
    /// The shortest path that ends in a review.
    pub(crate) reviewed: Option<Vec<Move>>,
}

/// A state that was reached and whose moves were not tried yet.
struct State {
    /// The index of its project.
    mode: usize,
    /// The number of its copy of the project.
    copy: usize,
    path: Vec<Move>,
    journal: Journal,
    is_reviewed: bool,
}

struct Walker<'k> {
    setup: &'k Setup,
    /// One loop for each mode.
    loops: Vec<Loop<'k>>,
    queue: VecDeque<State>,
    /// The states that were reached.
    known: HashSet<String>,
    /// The phases that were reached, each without and with a review.
    phases: HashSet<(String, bool)>,
    calls: usize,
    refusals: usize,
    walk: Walk,
}

/// Walks, and tries what each state refuses.
pub(crate) fn run(setup: &Setup, report: &mut Report, failures: &mut Vec<Failure>) -> Walk {
    let mut walker = Walker {
        setup,
        loops: Vec::new(),
        queue: VecDeque::new(),
        known: HashSet::new(),
        phases: HashSet::new(),
        calls: 0,
        refusals: 0,
        walk: Walk::default(),
    };
    if let Err(failure) = walker.run() {
        failures.push(failure);
    }

    let phases = setup.machine.phases.iter().map(|phase| &phase.name);
    let is_reached = |phase: &&String| walker.phases.iter().any(|(known, _)| known == *phase);
    report.unreached = phases.filter(|phase| !is_reached(phase)).cloned().collect();
    if setup.wants(Suite::Walk) {
        let said = format!(
            "{} calls reached {} states in {} of {} phases",
            walker.calls,
            walker.known.len(),
            setup.machine.phases.len() - report.unreached.len(),
            setup.machine.phases.len()
        );
        report.tried.push((Suite::Walk, said));
    }
    if setup.wants(Suite::Refusals) {
        let said = format!("{} calls were refused and changed nothing", walker.refusals);
        report.tried.push((Suite::Refusals, said));
    }
    walker.walk
}

impl Walker<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        for mode in 0..self.setup.machine.modes.len() {
            let path = vec![Move::Start(mode)];
            self.loops.push(Loop::begin(self.setup, &path)?);
            self.reach(mode, path, false)?;
        }
        while let Some(state) = self.queue.pop_front() {
            for one in self.moves(&state) {
                if self.calls == MAX_CALLS {
                    return Ok(());
                }
                self.calls += 1;
                self.take(&state, one)?;
            }
        }
        Ok(())
    }

    /// Returns the moves that can be tried in a state.
    fn moves(&self, state: &State) -> Vec<Move> {
        let Some(phase) = self.loops[state.mode].phase(&state.journal.fields()) else {
            return Vec::new();
        };
        if phase.terminal {
            return Vec::new();
        }
        let mut moves = vec![Move::Stop];
        if phase.file().is_some() {
            moves.push(Move::StopWithFile);
        }
        if phase.is_reviewed() && !state.is_reviewed {
            moves.push(Move::Review);
        }
        let machine = &self.setup.machine;
        for name in machine.transition_names() {
            let mut entries = machine.entries(name).filter(|one| one.leaves(&phase.name));
            let verb = entries.find(|one| one.is_plain_verb() && name != RESUME);
            moves.extend(verb.map(|verb| Move::Verb {
                transition: name.to_owned(),
                by: verb.by[0],
            }));
        }
        moves
    }

    /// Makes a move in a state.
    fn take(&mut self, state: &State, one: Move) -> Result<(), Failure> {
        let mut path = state.path.clone();
        path.push(one.clone());
        let held = &mut self.loops[state.mode];
        held.path = path.iter().map(Move::to_string).collect();
        let transition = held.promise(Suite::Walk, |held| {
            held.project.restore(state.copy)?;
            let said = held.call(&one)?.make(&held.project, &[])?;
            let after = held.journal()?;
            let taken = held.taken(&state.journal, &after)?;
            let is_taken = taken.is_some();
            match &one {
                Move::Verb { transition, by } => verb(taken, transition, *by, said.code)?,
                Move::Review => {}
                _ if holds(&answer(&said)?) && !is_taken => {
                    let said = said.short();
                    return Err(format!("the agent is held, and no edge was taken: {said}").into());
                }
                _ => {}
            }
            Ok(taken.map(|change| change["what"].as_str().unwrap_or_default().to_owned()))
        })?;
        let is_reviewed = match transition {
            Some(transition) => {
                let path = path.clone();
                self.walk.taken.push(Taken { path, transition });
                false
            }
            None => state.is_reviewed || one == Move::Review,
        };
        if one == Move::Review {
            self.walk.reviewed.get_or_insert_with(|| path.clone());
        }
        self.reach(state.mode, path, is_reviewed)
    }

    /// Keeps the state that the project of a mode is in, if it is a new one.
    fn reach(&mut self, mode: usize, path: Vec<Move>, is_reviewed: bool) -> Result<(), Failure> {
        let held = &mut self.loops[mode];
        let journal = held.promise(Suite::Walk, |held| Ok(held.journal()?))?;
        let fields = journal.fields();
        let phase = held.phase(&fields).map(|phase| phase.name.clone());
        let phase = phase.unwrap_or_default();
        let machine = &self.setup.machine;
        let own = machine.fields.iter().filter(|(_, one)| one.holds.is_none());
        let values: Vec<_> = own.map(|(name, _)| fields.get(name)).collect();
        let key = format!("{mode} {phase} {is_reviewed} {values:?}");
        if !self.known.insert(key) {
            return Ok(());
        }
        let copy = self.known.len();
        held.promise(Suite::Walk, |held| {
            held.check()?;
            Ok(held.project.keep(copy)?)
        })?;
        let is_new = self.phases.insert((phase, is_reviewed));
        if is_new && self.setup.wants(Suite::Refusals) {
            self.refusals +=
                held.promise(Suite::Refusals, |held| refusals::run(held, is_reviewed))?;
        }
        self.queue.push_back(State {
            mode,
            copy,
            path,
            journal,
            is_reviewed,
        });
        Ok(())
    }
}

/// Compares what a verb did with its exit code.
fn verb(taken: Option<&Json>, transition: &str, by: Actor, code: Option<i32>) -> Result<(), Wrong> {
    let by = format!("{by:?}").to_lowercase();
    match taken {
        None if code == Some(0) => Err("it exits with 0, and no edge was taken".to_owned().into()),
        Some(_) if code != Some(0) => Err("it fails, and an edge was taken".to_owned().into()),
        Some(change) if change["what"] != *transition || change["by"] != *by => {
            Err(format!("expected `{transition}` by the {by}, found {change}").into())
        }
        _ => Ok(()),
    }
}
