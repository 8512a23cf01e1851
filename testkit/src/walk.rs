//! The walk: breadth first from the start of each mode through the states that stops, reviews and
//! verbs without arguments reach. Each change must follow an edge of the machine file.

use std::collections::{HashSet, VecDeque};
use std::{fs, io};

use anyhow::{Context as _, Result, ensure};
use claudex_build::model::{Actor, EngineField, Entry, FieldKind, Machine};
use derive_more::Display;
use serde_json::{Value as Json, json};

use crate::journal::{Journal, Loop};
use crate::kit::Kit;
use crate::project::{Output, Project, as_agent, feed, put};

const MAX_CALLS: usize = 200;
/// The value of each field that a start requires.
const TEXT: &str = "given-1";

/// A project in which the loops of a machine are started and moved.
pub(crate) struct Walk {
    pub(crate) kit: Kit,
    pub(crate) machine: Machine,
    /// The machine as JSON: its tables are lists.
    pub(crate) json: Json,
    pub(crate) project: Project,
    pub(crate) states: Vec<State>,
    /// The moves that were not yet tried, each with the index of its state.
    moves: VecDeque<(usize, Move)>,
}

/// A state that was reached.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) held: Loop,
    /// The calls that led to it, as a failure shows them.
    pub(crate) path: String,
    pub(crate) phase: usize,
    pub(crate) journal: Journal,
    /// The call that led to it: the index of the state before, the call, and the journal's edge.
    pub(crate) step: Option<(usize, Move, Json)>,
}

/// One call that needs no arguments.
#[derive(Debug, Clone, Display)]
pub(crate) enum Move {
    /// A stop, perhaps after the file that the phase looks for was written.
    #[display("{}", if file.is_some() { "a stop with its file" } else { "a stop" })]
    Stop { file: Option<String> },
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
    /// Creates the project as the kit's user prepares it, with a reviewer that finds nothing.
    pub(crate) fn new(kit: Kit) -> Result<Self> {
        let name = kit.file.display().to_string();
        let source = fs::read_to_string(&kit.file).with_context(|| name.clone())?;
        let machine = claudex_build::check_source(&name, &source)?;
        let json = serde_json::to_value(&machine)?;
        let program = kit.program.display();
        ensure!(kit.program.is_file(), "{program}: no such program");
        let project = Project::new(&kit.program)?;
        (kit.prepare)(&project)?;
        let mut config =
            "reviewer = \"kit\"\n\n[reviewers.kit]\nkind = \"command\"\nprogram = \"sh\"\n\
             arguments = [\"-c\", \"cat >/dev/null; echo 'No substantive findings.'\"]\n\n"
                .to_owned();
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
            moves: VecDeque::new(),
        })
    }

    /// Walks from the start of each mode, and returns a line about it.
    pub(crate) fn run(&mut self) -> Result<String> {
        for mode in 0..list(&self.json["modes"]).count() {
            self.start_mode(mode)?;
        }
        let mut calls = 0;
        while calls < MAX_CALLS
            && let Some((from, one)) = self.moves.pop_front()
        {
            calls += 1;
            self.restore(from)?;
            let state = self.states[from].clone();
            let path = format!("{} > {one}", state.path);
            let edge = self.take(&state, &one).with_context(|| path.clone())?;
            self.reach(state.held, path, edge.map(|edge| (from, one, edge)))?;
        }
        let states = self.states.len();
        let phases = self.machine.phases.len();
        let reached = phases - self.unreached().len();
        Ok(format!(
            "{calls} calls reached {states} states in {reached} of {phases} phases"
        ))
    }

    pub(crate) fn unreached(&self) -> Vec<String> {
        let phases = self.machine.phases.iter().enumerate();
        let is_reached = |at: usize| self.states.iter().any(|state| state.phase == at);
        let unreached = phases.filter(|(at, _)| !is_reached(*at));
        unreached.map(|(_, phase)| phase.name.to_string()).collect()
    }

    /// Makes the project as it was in a state. Its copy 0 is that before the first start.
    pub(crate) fn restore(&self, state: usize) -> io::Result<()> {
        self.project.restore(state + 1)
    }

    fn start_mode(&mut self, mode: usize) -> Result<()> {
        let path = format!("start {}", text(&self.json["modes"][mode]["name"]));
        self.project.restore(0)?;
        let output = self.start(mode)?;
        ensure!(
            output.code == Some(0),
            "{path}: it was refused, and may need `Kit::project` or `Kit::field`: {output}"
        );
        let loops = self.loops()?;
        let newest = loops.last().context("`list` shows no loop")?;
        let root = self.project.root();
        let id = text(&newest["id"]).to_owned();
        let held = Loop {
            document: root.join(text(&newest["state"])),
            folder: root.join(self.machine.folder()).join(&id),
            id,
        };
        self.reach(held, path, None)
    }

    /// Keeps the state that the project is in, with the moves to try in it, if it is a new one.
    fn reach(&mut self, held: Loop, path: String, step: Option<(usize, Move, Json)>) -> Result<()> {
        let journal = held.journal()?;
        let key = self.key(&journal);
        let mut known = self.states.iter();
        if known.any(|state| self.key(&state.journal) == key) {
            return Ok(());
        }
        let state = State {
            phase: self.check(&held).with_context(|| path.clone())?,
            held,
            path,
            journal,
            step,
        };
        let index = self.states.len();
        let moves = self.moves_in(&state).into_iter();
        self.moves.extend(moves.map(|one| (index, one)));
        self.states.push(state);
        Ok(self.project.keep(index + 1)?)
    }

    /// Returns the key of a state: mode, phase, the machine's fields, and whether a review ended.
    fn key<'j>(&self, journal: &'j Journal) -> (bool, Vec<&'j Json>) {
        let fields = self.machine.fields.iter().filter(|field| match field.kind {
            FieldKind::Engine(value) => matches!(value, EngineField::Mode | EngineField::Phase),
            _ => true,
        });
        let values = fields.map(|field| journal.field(&field.name));
        (journal.is_reviewed, values.collect())
    }

    fn moves_in(&self, state: &State) -> Vec<Move> {
        if self.machine.phases[state.phase].terminal {
            return Vec::new();
        }
        let mut moves = vec![Move::Stop { file: None }];
        let on_stop = &self.json["phases"][state.phase]["on_stop"];
        let required = on_stop["require-file"]["path"].as_str();
        if let Some(template) = required.or_else(|| on_stop["wait-for"]["file"].as_str()) {
            let mut path = template.to_owned();
            for field in &self.machine.fields {
                let name = field.name.as_str();
                path = path.replace(&format!("{{{name}}}"), text(state.journal.field(name)));
            }
            moves.push(Move::Stop { file: Some(path) });
        }
        moves.extend((!state.journal.is_reviewed).then_some(Move::Review));
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
        let has_evidence = state.journal.is_reviewed || verb.requires.is_none();
        let is_allowed = verb.by.iter().any(|by| **by == actor);
        let mut edges = self.machine.edges().into_iter();
        let is_edge = edges.any(|edge| edge.from == state.phase && edge.declared.name == verb.name);
        is_allowed && has_evidence && is_edge
    }

    /// Makes a move, checks that output and journal agree, and returns the edge that was taken.
    fn take(&self, state: &State, one: &Move) -> Result<Option<Json>> {
        let output = self.make(&state.held, one)?;
        let edge = self.edge_since(state)?;
        let is_done = output.code == Some(0);
        match (one, &edge) {
            (Move::Verb { transition, by }, Some(edge)) => ensure!(
                is_done && edge["what"] == **transition && edge["by"] == *by,
                "expected `{transition}` by the {by}, found {edge}: {output}"
            ),
            (Move::Verb { .. }, None) => ensure!(!is_done, "no edge was taken: {output}"),
            (Move::Stop { .. }, None) => ensure!(
                !output.holds()?,
                "the agent is held, and no edge was taken: {output}"
            ),
            _ => {}
        }
        Ok(edge)
    }

    pub(crate) fn start(&self, mode: usize) -> io::Result<Output> {
        let mut command = self.project.command(&["start"]);
        let modes = &self.json["modes"];
        if modes[1].is_object() {
            command.arg(text(&modes[mode]["name"]));
        }
        if self.json["state"]["ids"] == "name" {
            command.arg("--id=kit_1");
        }
        for field in list(&self.json["fields"]).filter(|field| field["at_start"] == "required") {
            let name = text(&field["name"]);
            let value = self.kit.texts.get(name).map_or(TEXT, String::as_str);
            command.arg(format!("--{}={value}", name.replace('_', "-")));
        }
        if modes[mode]["by"][0] == "agent" {
            as_agent(&mut command);
        }
        feed(command, b"")
    }

    pub(crate) fn make(&self, held: &Loop, one: &Move) -> io::Result<Output> {
        let id = held.id.as_str();
        match one {
            Move::Stop { file } => {
                if let Some(path) = file {
                    let changes = held.journal()?.changes.len();
                    let text = format!("# Written after {changes} changes\n");
                    self.project.write(path, &text)?;
                }
                self.project.stop()
            }
            Move::Review => self.project.agent(&["review", id]),
            Move::Verb { transition, by } => {
                let verb = transition.replace('_', "-");
                match *by {
                    "agent" => self.project.agent(&[&verb, id]),
                    _ => self.project.person(&[&verb, id]),
                }
            }
        }
    }

    pub(crate) fn loops(&self) -> Result<Vec<Json>> {
        let listed = self.project.person(&["list", "--json"])?;
        Ok(serde_json::from_str(&listed.out)?)
    }

    /// Returns the edge that was taken since a state: nothing was rewritten, and at most one edge
    /// was taken, which the machine file has.
    pub(crate) fn edge_since(&self, state: &State) -> Result<Option<Json>> {
        let after = state.held.journal()?;
        let is_longer = after.bytes.starts_with(&state.journal.bytes);
        ensure!(is_longer, "lines of the journal were changed");
        let edges = after.edges_since(&state.journal);
        ensure!(edges.len() < 2, "expected one change, found {edges:?}");
        let Some(taken) = edges.first() else {
            return Ok(None);
        };
        let stored = |phase: usize| self.machine.phases[phase].stored_name();
        let is_declared = self.machine.edges().iter().any(|edge| {
            taken["what"] == edge.declared.name.as_str()
                && taken["from"] == stored(edge.from)
                && taken["to"] == stored(edge.to)
        });
        ensure!(is_declared, "no edge of the machine file: {taken}");
        Ok(Some((*taken).clone()))
    }

    /// Makes a call in a state, and checks that document and changes stay as they were. The journal
    /// may have a note about the attempt.
    pub(crate) fn unchanged(
        &self,
        state: &State,
        call: impl FnOnce() -> io::Result<Output>,
    ) -> Result<Output> {
        let document = fs::read(&state.held.document)?;
        let output = call()?;
        let edge = self.edge_since(state)?;
        ensure!(edge.is_none(), "the journal has changed: {output}");
        let is_same = fs::read(&state.held.document)? == document;
        ensure!(is_same, "the document has changed: {output}");
        Ok(output)
    }

    /// Compares the loop's document, journal and `status`, and returns the index of its phase.
    pub(crate) fn check(&self, held: &Loop) -> Result<usize> {
        let output = self.project.person(&["journal", &held.id])?;
        ensure!(output.code == Some(0), "`journal` says: {output}");
        let journal = held.journal()?;
        let name = self.machine.engine_field(EngineField::Phase);
        let stored = journal.field(name.unwrap_or_default());
        let mut phases = self.machine.phases.iter();
        let phase = phases
            .position(|phase| stored == phase.stored_name())
            .with_context(|| format!("the journal has an unknown phase: {stored}"))?;
        let output = self.project.person(&["status", &held.id, "--json"])?;
        let status: Json = serde_json::from_str(&output.out).unwrap_or_default();
        ensure!(
            status["problems"] == json!([]) && status["loops"][0]["phase"] == *stored,
            "expected `status` to show `{stored}` and no problem: {output}"
        );
        Ok(phase)
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
