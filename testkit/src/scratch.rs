//! A scratch project: the calls that start and move a loop in it, and the loop's journal.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{fmt, fs, io};

use serde_json::{Map, Value as Json, json};

use crate::kit::Kit;
use crate::machine::{Machine, text};
use crate::project::{Output, Project, SESSION, as_agent, feed, put};
use crate::report::{Wrong, ensure};

/// The copy of the project in which no loop was started.
pub(crate) const READY: usize = 0;

/// The variable with which a build with debug assertions kills itself before its Nth change of a file.
const KILL_AT: &str = "CLAUDEX_KILL_AT";
/// The value of each field that a start requires.
const TEXT: &str = "given-1";
const CONFIG: &str = "config/claudex-loop/config.toml";

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Move {
    Stop,
    /// A stop after the file that the phase looks for was written.
    StopWithFile,
    /// A review that finds nothing.
    Review,
    Verb {
        transition: String,
        by: String,
    },
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stop => f.write_str("a stop"),
            Self::StopWithFile => f.write_str("a stop with its file"),
            Self::Review => f.write_str("a review"),
            Self::Verb { transition, by } => write!(f, "{transition} by the {by}"),
        }
    }
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
    pub(crate) fn new(kit: Kit, machine: Machine) -> Result<Self, Wrong> {
        let project = Project::new(&kit.program)?;
        for prepare in &kit.preparations {
            prepare(&project)?;
        }
        let script = project.home().join("reviewer.sh");
        let says = "cat >/dev/null\nprintf '# Findings\\n\\nNo substantive findings.\\n'\n";
        put(&script, says)?;
        let script = Json::from(script.to_string_lossy());
        let mut config = format!(
            "reviewer = \"kit\"\n\n[reviewers.kit]\nkind = \"command\"\nprogram = \"sh\"\narguments = [{script}]\n"
        );
        let phases = machine.tables("phases");
        let commands = phases.filter_map(|(_, phase)| phase["on_stop"]["run"]["command"].as_str());
        for command in commands.collect::<BTreeSet<_>>() {
            config += &format!("\n[commands.{command:?}]\nprogram = \"true\"\n");
        }
        put(&project.home().join(CONFIG), &config)?;
        project.keep(READY)?;
        Ok(Self {
            kit,
            machine,
            project,
        })
    }

    /// Returns the state folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.project.root().join(self.machine.folder())
    }

    /// Starts a loop in a mode.
    pub(crate) fn start(&self, mode: &str, kill_at: Option<usize>) -> io::Result<Output> {
        let mut command = self.project.command(&["start"]);
        let modes = self.machine.tables("modes");
        if modes.count() > 1 {
            command.arg(mode);
        }
        if self.machine.file["state"]["ids"] == "name" {
            command.arg("--id=kit_1");
        }
        for (name, field) in self.machine.tables("fields") {
            if field["at_start"] == "required" {
                let value = self.kit.texts.get(name).map_or(TEXT, String::as_str);
                command.arg(format!("--{}={value}", name.replace('_', "-")));
            }
        }
        if self.machine.file["modes"][mode]["by"][0] == "agent" {
            as_agent(&mut command);
        }
        command.envs(kill_at.map(|number| (KILL_AT, number.to_string())));
        feed(command, b"")
    }

    /// Finds the newest loop.
    pub(crate) fn find(&self) -> Result<Loop, Wrong> {
        let loops = self.loops()?;
        let newest = loops.last().ok_or("`list` shows no loop")?;
        let id = text(&newest["id"]).to_owned();
        Ok(Loop {
            document: self.project.root().join(text(&newest["state"])),
            folder: self.folder().join(&id),
            id,
        })
    }

    /// Returns the loops of the project, as `list` prints them.
    pub(crate) fn loops(&self) -> Result<Vec<Json>, Wrong> {
        let listed = self.project.person(&["list", "--json"])?;
        Ok(serde_json::from_str(&listed.out)?)
    }

    /// Makes a move. `kill_at` is the number of the change before which the program kills itself.
    pub(crate) fn make(
        &self,
        held: &Loop,
        one: &Move,
        kill_at: Option<usize>,
    ) -> io::Result<Output> {
        if *one == Move::StopWithFile {
            self.write_file(&held.journal()?)?;
        }
        let verb = match one {
            Move::Stop | Move::StopWithFile => {
                let mut command = self.project.command(&["hook", "stop"]);
                command.envs(kill_at.map(|number| (KILL_AT, number.to_string())));
                return feed(command, self.project.event(SESSION).to_string().as_bytes());
            }
            Move::Review => "review".to_owned(),
            Move::Verb { transition, .. } => transition.replace('_', "-"),
        };
        let mut command = self.project.command(&[&verb, &held.id]);
        if !matches!(one, Move::Verb { by, .. } if by == "person") {
            as_agent(&mut command);
        }
        command.envs(kill_at.map(|number| (KILL_AT, number.to_string())));
        feed(command, b"")
    }

    /// Writes the file that the loop's phase looks for.
    fn write_file(&self, journal: &Journal) -> io::Result<()> {
        let mut path = self.file_of(self.phase(journal)).unwrap_or_default();
        for (name, value) in &journal.fields {
            path = path.replace(&format!("{{{name}}}"), text(value));
        }
        let text = format!("# Written after {} changes\n", journal.changes.len());
        self.project.write(&path, &text)
    }

    /// Returns the file that the phase's `on_stop` looks for, with fields in braces.
    pub(crate) fn file_of(&self, phase: &str) -> Option<String> {
        let on_stop = &self.machine.file["phases"][phase]["on_stop"];
        let required = on_stop["require-file"]["path"].as_str();
        let file = required.or_else(|| on_stop["wait-for"]["file"].as_str());
        file.map(str::to_owned)
    }

    /// Returns the phase of a loop with this journal.
    pub(crate) fn phase(&self, journal: &Journal) -> &str {
        let field = self.machine.holder("phase").unwrap_or_default();
        let stored = journal.fields.get(field);
        let phase = stored.and_then(|stored| self.machine.phase_stored_as(stored));
        phase.unwrap_or("unknown")
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
        let Some(change) = edges.first() else {
            return Ok(None);
        };
        let from = self.machine.phase_stored_as(&change["from"]);
        let to = self.machine.phase_stored_as(&change["to"]);
        let entries = self.machine.transitions.get(text(&change["what"]));
        let is_edge = entries.into_iter().flatten().any(|one| {
            let is_target = Some(one.to.as_str()) == to || one.to == "same" && from == to;
            from.is_some_and(|from| one.leaves(from)) && is_target
        });
        ensure!(is_edge, "no edge of the machine file: {change}");
        Ok(Some((*change).clone()))
    }

    /// Compares the loop's document, journal and `status`.
    pub(crate) fn check(&self, held: &Loop) -> Result<(), Wrong> {
        let output = self.project.person(&["journal", &held.id, "--verify"])?;
        ensure!(output.code == Some(0), "`journal --verify` says: {output}");
        let output = self.project.person(&["status", &held.id, "--json"])?;
        let status: Json = serde_json::from_str(&output.out).unwrap_or_default();
        let journal = held.journal()?;
        let phase = self.phase(&journal);
        ensure!(
            status["problems"] == json!([]) && status["loops"][0]["phase"] == *phase,
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
}
