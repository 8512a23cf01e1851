//! A loop in a scratch project of its own: the calls that start and move it, and its journal.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{fs, io};

use derive_more::Display;
use serde_json::{Map, Value as Json, json};

use crate::kit::Setup;
use crate::machine::{Actor, Phase};
use crate::project::{Output, Project, SESSION, as_agent, feed, put};
use crate::report::{Wrong, at, ensure};

/// The id of a loop whose caller names it.
const ID: &str = "kit_1";
/// The variable with which a build with debug assertions kills itself before its Nth change of a file.
const KILL_AT: &str = "CLAUDEX_KILL_AT";
/// The value of each field that a start requires.
const TEXT: &str = "given-1";

/// A loop of the machine.
pub(crate) struct Loop<'k> {
    pub(crate) setup: &'k Setup,
    pub(crate) project: Project,
    pub(crate) id: String,
    /// The path of its document.
    pub(crate) document: PathBuf,
}

/// One call that needs no arguments.
#[derive(Debug, Clone, PartialEq, Eq, Display)]
pub(crate) enum Move {
    /// A start in this mode.
    #[display("start {_0}")]
    Start(String),
    #[display("a stop")]
    Stop,
    /// A stop after the file that the phase looks for was written.
    #[display("a stop with its file")]
    StopWithFile,
    /// A review that finds nothing.
    #[display("a review")]
    Review,
    #[display("{transition} by the {by:?}")]
    Verb { transition: String, by: Actor },
}

/// Returns moves as a failure shows them.
pub(crate) fn shown(moves: &[Move]) -> String {
    let moves: Vec<String> = moves.iter().map(Move::to_string).collect();
    moves.join(" > ")
}

/// A journal as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    pub(crate) bytes: Vec<u8>,
    pub(crate) changes: Vec<Json>,
    /// Whether a review has ended since the last change.
    pub(crate) is_reviewed: bool,
}

impl Journal {
    /// Returns the fields after the last change.
    pub(crate) fn fields(&self) -> Map<String, Json> {
        let last = self.changes.last();
        let fields = last.and_then(|change| change["fields"].as_object());
        fields.cloned().unwrap_or_default()
    }

    /// Returns the changes behind the first `skip` that took an edge. Binding a session takes none.
    pub(crate) fn edges(&self, skip: usize) -> Vec<&Json> {
        let changes = self.changes.iter().skip(skip);
        changes
            .filter(|change| change["what"] != "bind" && change["what"] != "adopt")
            .collect()
    }
}

impl<'k> Loop<'k> {
    /// Creates a project in which no loop was started yet.
    pub(crate) fn ready(setup: &'k Setup) -> io::Result<Self> {
        let ready = Self {
            setup,
            project: Project::new(&setup.kit.program)?,
            id: String::new(),
            document: PathBuf::new(),
        };
        for prepare in &setup.kit.preparations {
            prepare(&ready.project)?;
        }
        ready.configure()?;
        Ok(ready)
    }

    /// Starts a loop in the first mode.
    pub(crate) fn started(setup: &'k Setup) -> Result<Self, Wrong> {
        Self::begin(setup, &[first_start(setup)])
    }

    /// Starts a loop and makes the moves behind the start.
    pub(crate) fn begin(setup: &'k Setup, moves: &[Move]) -> Result<Self, Wrong> {
        let mut begun = Self::ready(setup)?;
        for one in moves {
            let output = begun.make(one, None)?;
            if matches!(one, Move::Start(_)) {
                begun.find(&output).map_err(at(one))?;
            }
        }
        Ok(begun)
    }

    /// Finds the loop that a start has made.
    fn find(&mut self, output: &Output) -> Result<(), Wrong> {
        ensure!(
            output.code == Some(0),
            "it was refused, and may need `Kit::project` or `Kit::given`: {output}"
        );
        let loops = self.loops()?;
        let newest = loops.last().ok_or("`list` shows no loop")?;
        self.id = newest["id"].as_str().unwrap_or_default().to_owned();
        let document = newest["state"].as_str().unwrap_or_default();
        self.document = self.project.root().join(document);
        Ok(())
    }

    /// Returns the loops of the project, as `list` prints them.
    pub(crate) fn loops(&self) -> Result<Vec<Json>, Wrong> {
        let listed = self.project.person(&["list", "--json"])?;
        Ok(serde_json::from_str(&listed.out)?)
    }

    /// Makes a move. `kill_at` is the number of the change before which the program kills itself.
    pub(crate) fn make(&self, one: &Move, kill_at: Option<usize>) -> io::Result<Output> {
        let mut command = self.project.command(&[]);
        command.envs(kill_at.map(|number| (KILL_AT, number.to_string())));
        match one {
            Move::Start(mode) => {
                command.args(self.start(mode));
                if self.setup.machine.modes[mode].by.first() == Some(&Actor::Agent) {
                    as_agent(&mut command);
                }
            }
            Move::Stop | Move::StopWithFile => {
                if *one == Move::StopWithFile {
                    self.write_file()?;
                }
                command.args(["hook", "stop"]);
                let event = self.project.event(SESSION).to_string();
                return feed(command, event.as_bytes());
            }
            Move::Review => {
                as_agent(command.args(["review", &self.id]));
            }
            Move::Verb { transition, by } => {
                command.args([&transition.replace('_', "-"), &self.id]);
                if *by == Actor::Agent {
                    as_agent(&mut command);
                }
            }
        }
        feed(command, b"")
    }

    /// Returns the arguments of a start.
    fn start(&self, mode: &str) -> Vec<String> {
        let machine = &self.setup.machine;
        let kit = &self.setup.kit;
        let mut line = vec!["start".to_owned()];
        if machine.modes.len() > 1 {
            line.push(mode.to_owned());
        }
        if machine.state.has_named_ids() {
            line.push(format!("--id={ID}"));
        }
        for (name, field) in &machine.fields {
            if field.is_required() {
                let value = kit.texts.get(name).map_or(TEXT, String::as_str);
                line.push(format!("--{}={value}", name.replace('_', "-")));
            }
        }
        line
    }

    /// Writes the file that the loop's phase looks for.
    fn write_file(&self) -> io::Result<()> {
        let journal = self.journal()?;
        let fields = journal.fields();
        let phase = self.phase(&fields).unwrap_or_default();
        let file = self.setup.machine.phases[phase].file();
        let mut path = file.unwrap_or_default().to_owned();
        for (name, value) in &fields {
            path = path.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default());
        }
        let text = format!("# Written after {} changes\n", journal.changes.len());
        self.project.write(&path, &text)
    }

    /// Returns the phase that these fields of the journal name.
    pub(crate) fn phase(&self, fields: &Map<String, Json>) -> Option<&'k str> {
        let machine = &self.setup.machine;
        machine.phase_stored_as(fields.get(machine.holder("phase")?)?.as_str()?)
    }

    /// Returns the state folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.project.root().join(&self.setup.machine.state.folder)
    }

    pub(crate) fn journal(&self) -> io::Result<Journal> {
        let bytes = fs::read(self.folder().join(&self.id).join("journal.jsonl"))?;
        let mut journal = Journal {
            changes: Vec::new(),
            is_reviewed: false,
            bytes,
        };
        for line in journal.bytes.split(|byte| *byte == b'\n') {
            // A seal follows each line's JSON, behind a tab.
            let json = line.split(|byte| *byte == b'\t').next();
            let entry: Json = serde_json::from_slice(json.unwrap_or_default()).unwrap_or_default();
            if entry["what"].is_string() {
                journal.is_reviewed = false;
                journal.changes.push(entry);
            } else if entry["note"] == "run-ended" {
                journal.is_reviewed = true;
            }
        }
        Ok(journal)
    }

    /// Compares the journal with the one before a call: nothing was rewritten, and at most one edge was taken, which the
    /// machine file has. Returns that edge.
    pub(crate) fn edge_after(&self, before: &Journal) -> Result<Option<Json>, Wrong> {
        let after = self.journal()?;
        ensure!(
            after.bytes.starts_with(&before.bytes),
            "lines of the journal were changed"
        );
        let mut edges = after.edges(before.changes.len());
        ensure!(edges.len() < 2, "expected one change, found {edges:?}");
        let Some(change) = edges.pop() else {
            return Ok(None);
        };
        let machine = &self.setup.machine;
        let stored = |key: &str| change[key].as_str().unwrap_or_default();
        let from = machine.phase_stored_as(stored("from")).unwrap_or_default();
        let to = machine.phase_stored_as(stored("to")).unwrap_or_default();
        let mut entries = machine.entries(stored("what")).iter();
        let is_edge = entries.any(|one| {
            let is_target = one.to == to || one.to == "same" && from == to;
            one.leaves(from) && is_target
        });
        ensure!(is_edge, "no edge of the machine file: {change}");
        Ok(Some(change.clone()))
    }

    /// Makes a call and checks that document and changes stay as they were. The journal may have a note that something was
    /// tried.
    pub(crate) fn unchanged(
        &self,
        call: impl FnOnce() -> io::Result<Output>,
    ) -> Result<Output, Wrong> {
        let document = fs::read(&self.document)?;
        let before = self.journal()?;
        let output = call()?;
        let after = self.journal()?;
        let is_same =
            after.bytes.starts_with(&before.bytes) && after.changes.len() == before.changes.len();
        ensure!(is_same, "the journal has changed: {output}");
        let is_same = fs::read(&self.document)? == document;
        ensure!(is_same, "the document has changed: {output}");
        Ok(output)
    }

    /// Compares the loop's document, journal and `status`.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        let output = self.project.person(&["journal", &self.id, "--verify"])?;
        ensure!(output.code == Some(0), "`journal --verify` says: {output}");
        let output = self.status()?;
        let shown: Json = serde_json::from_str(&output.out).unwrap_or_default();
        let fields = self.journal()?.fields();
        let phase = self.phase(&fields).unwrap_or("unknown");
        ensure!(
            shown["problems"] == json!([]) && shown["loops"][0]["phase"] == *phase,
            "expected `status` to show `{phase}` and no problem: {output}"
        );
        Ok(())
    }

    /// Asks for the loop's status, as JSON.
    pub(crate) fn status(&self) -> io::Result<Output> {
        self.project.person(&["status", &self.id, "--json"])
    }

    /// Writes the user's configuration: a reviewer that finds nothing, and commands that pass.
    fn configure(&self) -> io::Result<()> {
        let script = self.project.home().join("reviewer.sh");
        let says = "cat >/dev/null\nprintf '# Findings\\n\\nNo substantive findings.\\n'\n";
        put(&script, says)?;
        let script = Json::from(script.to_string_lossy());
        let mut text = format!(
            "reviewer = \"kit\"\n\n[reviewers.kit]\nkind = \"command\"\nprogram = \"sh\"\narguments = [{script}]\n"
        );
        let phases = self.setup.machine.phases.values();
        let commands = phases.filter_map(Phase::command);
        for command in commands.collect::<BTreeSet<_>>() {
            let name = Json::from(command);
            text += &format!("\n[commands.{name}]\nprogram = \"true\"\n");
        }
        let file = "config/claudex-loop/config.toml";
        put(&self.project.home().join(file), &text)
    }
}

/// Returns a start in the first mode.
pub(crate) fn first_start(setup: &Setup) -> Move {
    let mode = setup.machine.modes.keys().next();
    Move::Start(mode.cloned().unwrap_or_default())
}
