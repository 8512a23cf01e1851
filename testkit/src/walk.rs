//! The walk: breadth first through the states that stops, reviews and verbs without arguments lead to, from the start of
//! each mode. The program decides the effect of a call; each change must follow an edge of the machine file.

use std::collections::{HashSet, VecDeque};
use std::{fs, io};

use claudex_build::model::{Actor, Entry, Field, FieldKind, Held, Machine, Named};
use derive_more::Display;
use serde_json::Value as Json;

use crate::journal::{Journal, Loop};
use crate::kit::Kit;
use crate::project::{Project, put};
use crate::report::{Suite, Wrong, at, ensure};

/// The number of calls that a walk makes at most, in all modes together.
const MAX_CALLS: usize = 200;
/// The number of calls that lead to a stop and a verb to kill.
const MAX_CALLS_BEFORE_KILLS: usize = 20;

/// A project in which the loops of a machine are started and moved.
pub(crate) struct Walk {
    pub(crate) kit: Kit,
    pub(crate) machine: Machine,
    /// The machine as JSON: its tables are lists.
    pub(crate) json: Json,
    pub(crate) project: Project,
    /// Every state that was reached, in the order of the walk.
    pub(crate) states: Vec<State>,
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
    /// The last call of the path, if that took a transition.
    pub(crate) step: Option<Step>,
}

/// A call that took a transition from one state to another.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The index of the state before.
    pub(crate) from: usize,
    pub(crate) one: Move,
    pub(crate) transition: String,
}

/// One call that needs no arguments.
#[derive(Debug, Clone, Display)]
pub(crate) enum Move {
    #[display("a stop")]
    Stop,
    /// A stop after the file that the phase looks for was written.
    #[display("a stop with its file")]
    StopWithFile { path: String },
    /// A review that finds nothing.
    #[display("a review")]
    Review,
    #[display("{transition} by the {by}")]
    Verb {
        transition: String,
        by: &'static str,
    },
}

impl Move {
    pub(crate) fn verb(entry: &Entry, actor: Actor) -> Self {
        Self::Verb {
            transition: entry.name.to_string(),
            by: actor.word(),
        }
    }
}

impl Walk {
    /// Creates the project: prepared by the kit's user, with a reviewer that finds nothing, and commands that pass.
    pub(crate) fn new(kit: Kit) -> Result<Self, Wrong> {
        let name = kit.file.display().to_string();
        let source = fs::read_to_string(&kit.file).map_err(|error| format!("{name}: {error}"))?;
        let machine = claudex_build::check_source(&name, &source)?;
        let json = serde_json::to_value(&machine)?;
        let program = kit.program.display();
        ensure!(kit.program.is_file(), "{program}: no such program");
        let project = Project::new(&kit.program)?;
        (kit.prepare)(&project)?;
        let script = project.home().join("reviewer.sh");
        let answer = "cat >/dev/null\nprintf '# Findings\\n\\nNo substantive findings.\\n'\n";
        put(&script, answer)?;
        let script = Json::from(script.to_string_lossy());
        let mut config = format!(
            "reviewer = \"kit\"\n\n[reviewers.kit]\nkind = \"command\"\nprogram = \"sh\"\narguments = [{script}]\n\n"
        );
        let phases = list(&json["phases"]);
        let commands = phases.filter_map(|phase| phase["on_stop"]["run"]["command"].as_str());
        for command in commands.collect::<HashSet<_>>() {
            config += &format!("[commands.{command:?}]\nprogram = \"true\"\n");
        }
        let file = project.home().join("config/claudex-loop/config.toml");
        put(&file, &config)?;
        project.keep(0)?;
        Ok(Self {
            kit,
            machine,
            json,
            project,
            states: Vec::new(),
        })
    }

    /// Walks from the start of each mode, and returns a line about it.
    pub(crate) fn run(&mut self) -> Result<String, Wrong> {
        // The other suites begin where a loop has just started.
        let max_calls = match self.kit.only {
            None | Some(Suite::Walk | Suite::Refusals) => MAX_CALLS,
            Some(Suite::Kills) => MAX_CALLS_BEFORE_KILLS,
            Some(_) => 0,
        };
        let mut queue = VecDeque::new();
        for mode in 0..list(&self.json["modes"]).count() {
            queue.extend(self.start_mode(mode)?);
        }
        let mut calls = 0;
        while calls < max_calls
            && let Some((from, one)) = queue.pop_front()
        {
            calls += 1;
            self.restore(from)?;
            let state = self.states[from].clone();
            let path = format!("{} > {one}", state.path);
            let transition = self.take(&state, &one).map_err(at(&path))?;
            let step = transition.map(|transition| Step {
                from,
                one,
                transition,
            });
            queue.extend(self.reach(state.held, path, step)?);
        }
        let states = self.states.len();
        let phases = self.machine.phases.len();
        let reached = phases - self.unreached().len();
        Ok(format!(
            "{calls} calls reached {states} states in {reached} of {phases} phases"
        ))
    }

    /// Returns the phases that were not reached.
    pub(crate) fn unreached(&self) -> Vec<String> {
        let phases = self.machine.phases.iter().enumerate();
        let is_reached = |at: usize| self.states.iter().any(|state| state.phase == at);
        let unreached = phases.filter(|(at, _)| !is_reached(*at));
        unreached.map(|(_, phase)| phase.name.to_string()).collect()
    }

    /// Makes the project as it was before the first start.
    pub(crate) fn restore_first(&self) -> io::Result<()> {
        self.project.restore(0)
    }

    /// Makes the project as it was in a state.
    pub(crate) fn restore(&self, state: usize) -> io::Result<()> {
        self.project.restore(state + 1)
    }

    /// Starts a loop in a mode, and returns the moves to try in it.
    fn start_mode(&mut self, mode: usize) -> Result<Vec<(usize, Move)>, Wrong> {
        let path = format!("start {}", text(&self.json["modes"][mode]["name"]));
        self.restore_first()?;
        let output = self.start(mode, None)?;
        ensure!(
            output.code == Some(0),
            "{path}: it was refused, and may need `Kit::project` or `Kit::field`: {output}"
        );
        let loops = self.loops()?;
        let newest = loops.last().ok_or("`list` shows no loop")?;
        let root = self.project.root();
        let id = text(&newest["id"]).to_owned();
        let held = Loop {
            document: root.join(text(&newest["state"])),
            folder: root.join(self.machine.folder()).join(&id),
            id,
        };
        self.reach(held, path, None)
    }

    /// Keeps the state that the project is in, if it is a new one, and returns the moves to try in it.
    fn reach(
        &mut self,
        held: Loop,
        path: String,
        step: Option<Step>,
    ) -> Result<Vec<(usize, Move)>, Wrong> {
        let journal = held.journal()?;
        let key = self.key(&journal);
        if self
            .states
            .iter()
            .any(|known| self.key(&known.journal) == key)
        {
            return Ok(Vec::new());
        }
        self.check(&held).map_err(at(&path))?;
        let state = State {
            phase: self.phase(&journal).map_err(at(&path))?,
            held,
            path,
            journal,
            step,
        };
        let index = self.states.len();
        let moves = self.moves(&state).into_iter();
        self.states.push(state);
        self.project.keep(index + 1)?;
        Ok(moves.map(|one| (index, one)).collect())
    }

    /// Returns what distinguishes a state: mode, phase and the fields of the machine, and whether a review has ended.
    fn key<'j>(&self, journal: &'j Journal) -> (bool, Vec<&'j Json>) {
        let is_part = |field: &&Named<Field>| match field.kind {
            FieldKind::Held(held) => matches!(held, Held::Mode | Held::Phase),
            _ => true,
        };
        let fields = self.machine.fields.iter().filter(is_part);
        let values = fields.map(|field| journal.field(&field.name));
        (journal.is_reviewed, values.collect())
    }

    /// Returns the moves that can be tried in a state.
    fn moves(&self, state: &State) -> Vec<Move> {
        if self.machine.phases[state.phase].terminal {
            return Vec::new();
        }
        let mut moves = vec![Move::Stop];
        let on_stop = &self.json["phases"][state.phase]["on_stop"];
        let required = on_stop["require-file"]["path"].as_str();
        if let Some(template) = required.or_else(|| on_stop["wait-for"]["file"].as_str()) {
            let mut path = template.to_owned();
            for field in &self.machine.fields {
                let name = field.name.as_str();
                path = path.replace(&format!("{{{name}}}"), text(state.journal.field(name)));
            }
            moves.push(Move::StopWithFile { path });
        }
        if !state.journal.is_reviewed {
            moves.push(Move::Review);
        }
        for verb in self.verbs() {
            let mut actors = verb.by.iter();
            let by = actors.find(|by| self.may_be_open(state, verb, ***by));
            moves.extend(by.map(|by| Move::verb(verb, **by)));
        }
        moves
    }

    /// Returns the verbs without required arguments. `resume` does more than its transition.
    pub(crate) fn verbs(&self) -> Vec<&Entry> {
        let mut verbs = self.machine.first_entries();
        verbs.retain(|entry| {
            let is_plain = entry.args.iter().all(|argument| argument.optional);
            is_plain && !entry.by.is_empty() && !entry.own && *entry.name != "resume"
        });
        verbs
    }

    /// Returns whether a verb is open to an actor in a state, if its guard holds.
    pub(crate) fn may_be_open(&self, state: &State, verb: &Entry, actor: Actor) -> bool {
        let mut edges = self
            .machine
            .edges()
            .into_iter()
            .filter(|edge| edge.declared.name == verb.name);
        let has_evidence = state.journal.is_reviewed || verb.requires.is_none();
        let is_allowed = verb.by.iter().any(|by| **by == actor);
        is_allowed && has_evidence && edges.any(|edge| edge.from == state.phase)
    }

    /// Makes a move in a state, and returns the transition that it took.
    fn take(&self, state: &State, one: &Move) -> Result<Option<String>, Wrong> {
        let output = self.make(&state.held, one, None)?;
        let edge = self.edge_since(&state.held, &state.journal)?;
        let is_done = output.code == Some(0);
        match (one, &edge) {
            (Move::Verb { transition, by }, Some(edge)) => ensure!(
                is_done && edge["what"] == **transition && edge["by"] == *by,
                "expected `{transition}` by the {by}, found {edge}: {output}"
            ),
            (Move::Verb { .. }, None) => {
                ensure!(
                    !is_done,
                    "expected a refusal, since no edge was taken: {output}"
                );
            }
            (Move::Stop | Move::StopWithFile { .. }, None) => ensure!(
                !output.holds()?,
                "the agent is held, and no edge was taken: {output}"
            ),
            _ => {}
        }
        Ok(edge.map(|edge| text(&edge["what"]).to_owned()))
    }
}

/// Returns a JSON text, or an empty one for other JSON.
pub(crate) fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

/// Returns the items of a JSON list, or none of other JSON.
pub(crate) fn list(json: &Json) -> impl Iterator<Item = &Json> {
    json.as_array().into_iter().flatten()
}
