//! A scratch project: the calls that start and move a loop in it, and the loop's journal.

use std::path::PathBuf;
use std::process::Command;
use std::{fs, io};

use claudex_build::model::Held;
use derive_more::Display;
use serde_json::{Map, Value as Json, json};

use crate::kit::Kit;
use crate::machine::{Machine, text};
use crate::project::{Output, Project, as_agent, feed, put};
use crate::report::{Wrong, ensure};

/// The copy of the project in which no loop was started.
pub(crate) const READY: usize = 0;

/// The variable with which a build with debug assertions kills itself before its Nth change of a file.
const KILL_AT: &str = "CLAUDEX_KILL_AT";
/// The value of each field that a start requires.
const TEXT: &str = "given-1";

/// The project of a machine, and the user beside it.
pub(crate) struct Scratch {
    pub(crate) kit: Kit,
    pub(crate) machine: Machine,
    pub(crate) project: Project,
}

/// A loop of the project.
#[derive(Debug, Clone)]
pub(crate) struct Loop {
    pub(crate) id: String,
    /// The path of its document.
    pub(crate) document: PathBuf,
    /// The folder of its journal.
    pub(crate) folder: PathBuf,
}

/// One call that needs no arguments.
#[derive(Debug, Clone, PartialEq, Eq, Display)]
pub(crate) enum Move {
    #[display("a stop")]
    Stop,
    /// A stop after the file that the phase looks for was written.
    #[display("a stop with its file")]
    StopWithFile,
    /// A review that finds nothing.
    #[display("a review")]
    Review,
    #[display("{transition} by the {by}")]
    Verb {
        transition: String,
        by: &'static str,
    },
}

/// A journal as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    bytes: Vec<u8>,
    pub(crate) changes: Vec<Json>,
    /// The fields after the last change.
    pub(crate) fields: Map<String, Json>,
    /// Whether a review has ended since the last change.
    pub(crate) is_reviewed: bool,
}

impl Journal {
    /// Returns the changes behind the first `skip` that took an edge. Binding a session takes none.
    pub(crate) fn edges(&self, skip: usize) -> Vec<&Json> {
        let changes = self.changes.iter().skip(skip);
        changes
            .filter(|change| change["what"] != "bind" && change["what"] != "adopt")
            .collect()
    }
}

impl Scratch {
    /// Creates the project: prepared by the kit's user, with a reviewer that finds nothing, and commands that pass.
    pub(crate) fn new(kit: Kit) -> Result<Self, Wrong> {
        let machine = Machine::read(&kit.file)?;
        let program = kit.program.display();
        ensure!(kit.program.is_file(), "{program}: no such program");
        let project = Project::new(&kit.program)?;
        (kit.prepare)(&project)?;
        let script = project.home().join("reviewer.sh");
        let answer = "cat >/dev/null\nprintf '# Findings\\n\\nNo substantive findings.\\n'\n";
        put(&script, answer)?;
        let script = Json::from(script.to_string_lossy());
        let mut config = format!(
            "reviewer = \"kit\"\n\n[reviewers.kit]\nkind = \"command\"\nprogram = \"sh\"\narguments = [{script}]\n\n[commands]\n"
        );
        let phases = machine.table("phases").iter();
        let mut commands: Vec<_> = phases
            .filter_map(|phase| phase["on_stop"]["run"]["command"].as_str())
            .collect();
        commands.sort_unstable();
        commands.dedup();
        for command in commands {
            config += &format!("{command:?} = {{ program = \"true\" }}\n");
        }
        put(
            &project.home().join("config/claudex-loop/config.toml"),
            &config,
        )?;
        project.keep(READY)?;
        Ok(Self {
            kit,
            machine,
            project,
        })
    }

    /// Starts a loop in a mode. `kill_at` is the number of the change before which the program kills itself.
    pub(crate) fn start(&self, mode: &Json, kill_at: Option<usize>) -> io::Result<Output> {
        let mut command = self.project.command(&["start"]);
        if self.machine.table("modes").len() > 1 {
            command.arg(text(&mode["name"]));
        }
        if self.machine.json["state"]["ids"] == "name" {
            command.arg("--id=kit_1");
        }
        for field in self.machine.table("fields") {
            if field["at_start"] == "required" {
                let name = text(&field["name"]);
                let value = self.kit.texts.get(name).map_or(TEXT, String::as_str);
                command.arg(format!("--{}={value}", name.replace('_', "-")));
            }
        }
        self.run(command, mode["by"][0] == "agent", kill_at)
    }

    /// Makes a move.
    pub(crate) fn make(
        &self,
        held: &Loop,
        one: &Move,
        kill_at: Option<usize>,
    ) -> Result<Output, Wrong> {
        if *one == Move::StopWithFile {
            self.write_file(&held.journal()?)?;
        }
        let (command, is_agent) = match one {
            Move::Stop | Move::StopWithFile => (self.project.command(&["hook", "stop"]), false),
            Move::Review => (self.project.command(&["review", &held.id]), true),
            Move::Verb { transition, by } => {
                let verb = transition.replace('_', "-");
                (self.project.command(&[&verb, &held.id]), *by == "agent")
            }
        };
        Ok(self.run(command, is_agent, kill_at)?)
    }

    /// Runs the program. Only the hook reads the event.
    fn run(
        &self,
        mut command: Command,
        is_agent: bool,
        kill_at: Option<usize>,
    ) -> io::Result<Output> {
        if is_agent {
            as_agent(&mut command);
        }
        command.envs(kill_at.map(|number| (KILL_AT, number.to_string())));
        feed(command, self.project.event().to_string().as_bytes())
    }

    /// Finds the newest loop.
    pub(crate) fn find(&self) -> Result<Loop, Wrong> {
        let loops = self.loops()?;
        let newest = loops.last().ok_or("`list` shows no loop")?;
        let id = text(&newest["id"]).to_owned();
        let root = self.project.root();
        Ok(Loop {
            document: root.join(text(&newest["state"])),
            folder: root.join(self.machine.model.folder()).join(&id),
            id,
        })
    }

    /// Returns the loops of the project, as `list` prints them.
    pub(crate) fn loops(&self) -> Result<Vec<Json>, Wrong> {
        let listed = self.project.person(&["list", "--json"])?;
        Ok(serde_json::from_str(&listed.out)?)
    }

    /// Writes the file that the loop's phase looks for.
    fn write_file(&self, journal: &Journal) -> Result<(), Wrong> {
        let mut path = self
            .file_of(self.phase(journal)?)
            .unwrap_or_default()
            .to_owned();
        for (name, value) in &journal.fields {
            path = path.replace(&format!("{{{name}}}"), text(value));
        }
        let text = format!("# Written after {} changes\n", journal.changes.len());
        Ok(self.project.write(&path, &text)?)
    }

    /// Returns the file that the `on_stop` of a phase looks for, with fields in braces.
    pub(crate) fn file_of(&self, phase: usize) -> Option<&str> {
        let on_stop = &self.machine.table("phases")[phase]["on_stop"];
        let required = on_stop["require-file"]["path"].as_str();
        required.or_else(|| on_stop["wait-for"]["file"].as_str())
    }

    /// Returns the index of the phase of a loop with this journal.
    pub(crate) fn phase(&self, journal: &Journal) -> Result<usize, Wrong> {
        let model = &self.machine.model;
        let stored = journal
            .fields
            .get(model.holder(Held::Phase).unwrap_or_default());
        let phase = model
            .phases
            .iter()
            .position(|phase| stored == Some(&phase.stored().into()));
        phase.ok_or_else(|| format!("the journal has an unknown phase: {stored:?}").into())
    }

    /// Compares the journal with the one before a call: nothing was rewritten, and at most one edge was taken, which the
    /// machine file has. Returns that edge.
    pub(crate) fn edge_after(&self, held: &Loop, before: &Journal) -> Result<Option<Json>, Wrong> {
        let after = held.journal()?;
        ensure!(
            after.bytes.starts_with(&before.bytes),
            "lines of the journal were changed"
        );
        let edges = after.edges(before.changes.len());
        ensure!(edges.len() < 2, "expected one change, found {edges:?}");
        let edge = edges.first().map(|edge| (*edge).clone());
        if let Some(edge) = &edge {
            let is_edge = self
                .machine
                .has_edge(&edge["what"], &edge["from"], &edge["to"]);
            ensure!(is_edge, "no edge of the machine file: {edge}");
        }
        Ok(edge)
    }

    /// Compares the loop's document, journal and `status`.
    pub(crate) fn check(&self, held: &Loop) -> Result<(), Wrong> {
        let output = self.project.person(&["journal", &held.id, "--verify"])?;
        ensure!(output.code == Some(0), "`journal --verify` says: {output}");
        let output = self.project.person(&["status", &held.id, "--json"])?;
        let status: Json = serde_json::from_str(&output.out).unwrap_or_default();
        let phase = self.phase(&held.journal()?)?;
        let phase = self.machine.model.phases[phase].name.as_str();
        ensure!(
            status["problems"] == json!([]) && status["loops"][0]["phase"] == phase,
            "expected `status` to show `{phase}` and no problem: {output}"
        );
        Ok(())
    }
}

impl Loop {
    pub(crate) fn journal(&self) -> io::Result<Journal> {
        let bytes = fs::read(self.folder.join("journal.jsonl"))?;
        let mut changes: Vec<Json> = Vec::new();
        let mut is_reviewed = false;
        for line in bytes.split(|byte| *byte == b'\n') {
            // A seal follows each line's JSON, behind a tab.
            let json = line.split(|byte| *byte == b'\t').next();
            let entry: Json = serde_json::from_slice(json.unwrap_or_default()).unwrap_or_default();
            if entry["what"].is_string() {
                is_reviewed = false;
                changes.push(entry);
            } else if entry["note"] == "run-ended" {
                is_reviewed = true;
            }
        }
        let fields = changes.last().and_then(|last| last["fields"].as_object());
        let fields = fields.cloned().unwrap_or_default();
        Ok(Journal {
            bytes,
            changes,
            fields,
            is_reviewed,
        })
    }

    /// Makes a call and checks that document and changes stay as they were. The journal may have a note that something was
    /// tried.
    pub(crate) fn unchanged(
        &self,
        call: impl FnOnce() -> Result<Output, Wrong>,
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
}
