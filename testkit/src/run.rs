//! A loop in a project of its own: the calls that start and move it, and its journal.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{fs, io};

use derive_more::Display;
use serde_json::{Map, Value as Json};

use crate::error::{Failure, Suite, Wrong};
use crate::kit::Setup;
use crate::machine::{Actor, Phase};
use crate::project::{Output, Project, SESSION, as_agent, feed, put};

/// The id of a loop whose caller names it.
const ID: &str = "kit_1";

/// A loop of the machine.
pub(crate) struct Loop<'k> {
    pub(crate) setup: &'k Setup,
    pub(crate) project: Project,
    pub(crate) id: String,
    /// The moves so far, for messages.
    pub(crate) path: Vec<String>,
}

/// One call that needs no arguments.
#[derive(Debug, Clone, PartialEq, Eq, Display)]
pub(crate) enum Move {
    /// A start in the mode of this index.
    #[display("start")]
    Start(usize),
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

/// A call of the program: by the client's hook if `by` is `None`.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    by: Option<Actor>,
    arguments: Vec<String>,
    input: String,
}

impl Call {
    fn by(by: Actor, arguments: Vec<String>) -> Self {
        Self {
            by: Some(by),
            arguments,
            input: String::new(),
        }
    }

    /// Makes the call, with more variables in its environment.
    pub(crate) fn make(&self, project: &Project, more: &[(&str, &str)]) -> io::Result<Output> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut command = project.command(&arguments);
        if self.by == Some(Actor::Agent) {
            as_agent(&mut command);
        }
        command.envs(more.iter().copied());
        feed(command, self.input.as_bytes())
    }
}

/// A journal as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    pub(crate) bytes: Vec<u8>,
    pub(crate) changes: Vec<Json>,
}

impl Journal {
    /// Returns the fields after the last change.
    pub(crate) fn fields(&self) -> Map<String, Json> {
        let last = self.changes.last();
        let fields = last.and_then(|change| change["fields"].as_object());
        fields.cloned().unwrap_or_default()
    }

    /// Returns the changes that took an edge, of those behind the first `skip`. Binding a session takes none.
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
            project: setup.project()?,
            id: String::new(),
            path: Vec::new(),
        };
        ready.configure()?;
        Ok(ready)
    }

    /// Starts a loop and makes the moves behind the start.
    pub(crate) fn begin(setup: &'k Setup, path: &[Move]) -> Result<Self, Failure> {
        let ready = Self::ready(setup);
        let mut begun = ready.map_err(|error| Failure::new(Suite::SetUp, "a project", error))?;
        begun.promise(Suite::SetUp, |begun| {
            path.iter().try_for_each(|one| {
                let said = begun.call(one)?.make(&begun.project, &[])?;
                begun.path.push(one.to_string());
                if let Move::Start(_) = one {
                    begun.started(&said)?;
                }
                Ok(())
            })
        })?;
        Ok(begun)
    }

    /// Finds the loop that a start has made.
    pub(crate) fn started(&mut self, said: &Output) -> Result<(), Wrong> {
        if said.code != Some(0) {
            let said = said.short();
            let help = "a start may need `Kit::project`, `Kit::flag` or `Kit::given`";
            return Err(format!("it was refused ({help}): {said}").into());
        }
        let folder = &self.setup.machine.state.folder;
        self.id = (self.ids().pop()).ok_or_else(|| format!("no journal in {folder}"))?;
        Ok(())
    }

    /// Runs a part of a suite, and adds the moves so far to its failure.
    pub(crate) fn promise<T>(
        &mut self,
        suite: Suite,
        work: impl FnOnce(&mut Self) -> Result<T, Wrong>,
    ) -> Result<T, Failure> {
        work(self).map_err(|wrong| Failure::new(suite, &self.path.join(" > "), wrong))
    }

    /// Prepares the files of a move, and returns its call.
    pub(crate) fn call(&self, one: &Move) -> io::Result<Call> {
        let stop = || Call {
            by: None,
            arguments: ["hook", "stop"].map(str::to_owned).into(),
            input: self.project.event(SESSION).to_string(),
        };
        Ok(match one {
            Move::Start(mode) => self.start(*mode),
            Move::Stop => stop(),
            Move::StopWithFile => {
                let fields = self.journal()?.fields();
                if let Some(file) = self.phase(&fields).and_then(|phase| phase.file()) {
                    let text = format!("# Written after {} changes\n", self.path.len());
                    put(&self.project.root().join(fill(file, &fields)), &text)?;
                }
                stop()
            }
            Move::Review => Call::by(Actor::Agent, vec!["review".to_owned(), self.id.clone()]),
            Move::Verb { transition, by } => {
                let verb = transition.replace('_', "-");
                Call::by(*by, vec![verb, self.id.clone()])
            }
        })
    }

    fn start(&self, mode: usize) -> Call {
        let machine = &self.setup.machine;
        let mut line = vec!["start".to_owned()];
        let (name, mode) = &machine.modes[mode];
        if machine.modes.len() > 1 {
            line.push(name.clone());
        }
        if machine.state.has_named_ids() {
            line.push(format!("--id={ID}"));
        }
        for (name, field) in &machine.fields {
            if let Some(value) = field.value() {
                let value = self.setup.text(name, value);
                line.push(format!("--{}={value}", self.setup.flag(name)));
            }
        }
        Call::by(mode.by.first().copied().unwrap_or(Actor::Person), line)
    }

    /// Returns the phase that these fields of the journal name.
    pub(crate) fn phase(&self, fields: &Map<String, Json>) -> Option<&'k Phase> {
        let machine = &self.setup.machine;
        machine.phase_stored_as(fields.get(machine.holder("phase")?)?.as_str()?)
    }

    /// Returns the ids of the loops that have a journal.
    pub(crate) fn ids(&self) -> Vec<String> {
        let folder = self.folder();
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut ids: Vec<String> = entries
            .filter(|entry| entry.path().join("journal.jsonl").exists())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        ids.sort();
        ids
    }

    /// Returns the state folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.project.root().join(&self.setup.machine.state.folder)
    }

    pub(crate) fn document_path(&self) -> PathBuf {
        let machine = &self.setup.machine;
        match &machine.state.file {
            Some(file) => {
                let id = machine.holder("id").unwrap_or("id").to_owned();
                let fields = Map::from_iter([(id, Json::from(self.id.clone()))]);
                self.project.root().join(fill(file, &fields))
            }
            None => (self.folder()).join(format!("{}.{}", self.id, machine.state.extension())),
        }
    }

    pub(crate) fn journal(&self) -> io::Result<Journal> {
        let bytes = fs::read(self.folder().join(&self.id).join("journal.jsonl"))?;
        let lines = bytes.split(|byte| *byte == b'\n');
        let entries = lines.filter_map(|line| serde_json::from_slice::<Json>(line).ok());
        let is_change = |entry: &Json| entry.get("what").is_some();
        let changes = entries.filter(is_change).collect();
        Ok(Journal { bytes, changes })
    }

    /// Compares a journal with the one before a call: nothing was rewritten, and at most one edge was taken, which the
    /// machine file has. Returns that edge.
    pub(crate) fn taken<'j>(
        &self,
        before: &Journal,
        after: &'j Journal,
    ) -> Result<Option<&'j Json>, Wrong> {
        if !after.bytes.starts_with(&before.bytes) {
            return Err("lines of the journal were changed".to_owned().into());
        }
        let edges = after.edges(before.changes.len());
        let [change] = edges[..] else {
            return match edges.len() {
                0 => Ok(None),
                count => Err(format!("one change was expected, found {count}").into()),
            };
        };
        let stored = |key: &str| change[key].as_str().unwrap_or_default();
        let machine = &self.setup.machine;
        let from = machine.phase_stored_as(stored("from"));
        let to = machine.phase_stored_as(stored("to"));
        let is_edge = from.zip(to).is_some_and(|(from, to)| {
            let mut entries = machine.entries(stored("what"));
            entries.any(|one| {
                let is_target = one.to == to.name || one.to == "same" && from.name == to.name;
                one.leaves(&from.name) && is_target
            })
        });
        if !is_edge {
            let (what, from, to) = (stored("what"), stored("from"), stored("to"));
            return Err(format!("the machine file has no `{what}` from `{from}` to `{to}`").into());
        }
        Ok(Some(change))
    }

    /// Compares the loop's document, journal and `status`.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        let verified = self.project.person(&["journal", &self.id, "--verify"])?;
        if verified.code != Some(0) {
            return Err(format!("`journal --verify` says: {}", verified.short()).into());
        }
        let (said, shown) = self.status()?;
        let problems = shown["problems"].as_array().map_or(0, Vec::len);
        let fields = self.journal()?.fields();
        let phase = self.phase(&fields).map_or("unknown", |phase| &phase.name);
        if problems != 0 || shown["loops"][0]["phase"] != *phase {
            let said = said.short();
            let wrong = format!("expected `status` to show `{phase}` and no problem: {said}");
            return Err(wrong.into());
        }
        Ok(())
    }

    /// Returns what `status` prints about the loop, also as JSON.
    pub(crate) fn status(&self) -> io::Result<(Output, Json)> {
        let said = self.project.person(&["status", &self.id, "--json"])?;
        let shown = serde_json::from_str(&said.out).unwrap_or_default();
        Ok((said, shown))
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
        let phases = self.setup.machine.phases.iter();
        let commands = phases.filter_map(|phase| phase.parameter("run", "command"));
        for command in commands.collect::<BTreeSet<_>>() {
            let name = Json::from(command);
            text += &format!("\n[commands.{name}]\nprogram = \"true\"\n");
        }
        let file = "config/claudex-loop/config.toml";
        put(&self.project.home().join(file), &text)
    }
}

/// Replaces `{field}` by the value of the field.
fn fill(template: &str, fields: &Map<String, Json>) -> String {
    let mut filled = template.to_owned();
    for (name, value) in fields {
        let text = value.as_str().map(str::to_owned);
        let text = text.unwrap_or_else(|| value.to_string());
        filled = filled.replace(&format!("{{{name}}}"), &text);
    }
    filled
}
