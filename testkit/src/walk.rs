//! The walk: breadth first through the states that stops, reviews and verbs without arguments lead to, from the start of
//! each mode. The program decides the effect of a call; each change must follow an edge of the machine file.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::{fmt, fs, io};

use claudex_build::model::{Edge, FieldKind, Held, Machine};
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
    /// The text of the machine file.
    pub(crate) source: String,
    pub(crate) machine: Machine,
    /// The machine as JSON: its tables are lists.
    pub(crate) json: Json,
    pub(crate) project: Project,
    /// Every state that was reached, in the order of the walk.
    pub(crate) states: Vec<State>,
    /// The fields of each state.
    known: HashSet<String>,
    calls: usize,
    /// The moves that the walk has yet to make, with the indices of their states.
    queue: VecDeque<(usize, Move)>,
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

/// One call that needs no arguments.
#[derive(Debug, Clone, PartialEq, Eq, Display)]
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

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.machine.phases.len();
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
        let phases = json["phases"].as_array().into_iter().flatten();
        let commands = phases.filter_map(|phase| phase["on_stop"]["run"]["command"].as_str());
        for command in commands.collect::<HashSet<_>>() {
            config += &format!("[commands.{command:?}]\nprogram = \"true\"\n");
        }
        put(
            &project.home().join("config/claudex-loop/config.toml"),
            &config,
        )?;
        project.keep(0)?;
        Ok(Self {
            kit,
            source,
            machine,
            json,
            project,
            states: Vec::new(),
            known: HashSet::new(),
            calls: 0,
            queue: VecDeque::new(),
        })
    }

    /// Walks from the start of each mode.
    pub(crate) fn run(&mut self) -> Result<(), Wrong> {
        // The other suites begin where a loop has just started.
        let max_calls = match self.kit.only {
            None | Some(Suite::Walk | Suite::Refusals) => MAX_CALLS,
            Some(Suite::Kills) => MAX_CALLS_BEFORE_KILLS,
            Some(_) => 0,
        };
        for mode in 0..self.json["modes"].as_array().map_or(0, Vec::len) {
            self.start_mode(mode)?;
        }
        while self.calls < max_calls
            && let Some((from, one)) = self.queue.pop_front()
        {
            self.calls += 1;
            self.restore(from)?;
            let state = self.states[from].clone();
            let path = format!("{} > {one}", state.path);
            let transition = self.take(&state, &one).map_err(at(&path))?;
            let step = Step {
                from,
                one,
                transition,
            };
            self.reach(state.held, path, Some(step))?;
        }
        Ok(())
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

    fn start_mode(&mut self, mode: usize) -> Result<(), Wrong> {
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

    /// Keeps the state that the project is in, and queues its moves, if it is a new one.
    fn reach(&mut self, held: Loop, path: String, step: Option<Step>) -> Result<(), Wrong> {
        let journal = held.journal()?;
        let values: Vec<_> = self
            .machine
            .fields
            .iter()
            .filter(|field| match field.kind {
                FieldKind::Held(held) => matches!(held, Held::Mode | Held::Phase),
                _ => true,
            })
            .map(|field| journal.field(&field.name))
            .collect();
        let key = format!("{} {values:?}", journal.is_reviewed);
        if !self.known.insert(key) {
            return Ok(());
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
        self.queue.extend(moves.map(|one| (index, one)));
        self.states.push(state);
        Ok(self.project.keep(index + 1)?)
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
        for (transition, edges) in self.verbs() {
            let edge = edges.iter().find(|edge| edge.from == state.phase);
            moves.extend(edge.map(|edge| Move::Verb {
                transition: transition.to_owned(),
                by: edge.declared.by[0].word(),
            }));
        }
        moves
    }

    /// Returns the edges of each verb without required arguments. `resume` does more than its transition.
    pub(crate) fn verbs(&self) -> BTreeMap<&str, Vec<Edge<'_>>> {
        let mut verbs: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for edge in self.machine.edges() {
            let declared = edge.declared;
            let is_plain = declared.args.iter().all(|argument| argument.optional);
            let is_verb = !declared.by.is_empty() && !declared.own && *declared.name != "resume";
            if is_verb && is_plain {
                verbs.entry(declared.name.as_str()).or_default().push(edge);
            }
        }
        verbs
    }

    /// Makes a move in a state, and returns the transition that it took.
    fn take(&self, state: &State, one: &Move) -> Result<Option<String>, Wrong> {
        let output = self.make(&state.held, one, None)?;
        let edge = self.edge_since(&state.held, &state.journal)?;
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
            Move::Stop | Move::StopWithFile { .. } => ensure!(
                edge.is_some() || !output.holds()?,
                "the agent is held, and no edge was taken: {output}"
            ),
            Move::Review => {}
        }
        Ok(edge.map(|edge| text(&edge["what"]).to_owned()))
    }
}

/// Returns a JSON text, or an empty one for other JSON.
pub(crate) fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}
