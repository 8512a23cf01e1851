//! A loop under way in a project: it is started, its steps are taken as the model says, and its journal is read.

mod acts;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use claudex_build::model::{Actor, FieldKind, IdForm};
use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use crate::error::{Failure, Suite, Wrong};
use crate::kit::Setup;
use crate::project::{Output, Project, SESSION, feed};
use crate::search::{Act, State, Step, Value, Way};
use crate::text::{fill, is_alike};

pub(crate) use acts::Call;

/// A loop of the machine in a project of its own.
pub(crate) struct Loop<'k> {
    pub(crate) setup: &'k Setup,
    pub(crate) project: Project,
    pub(crate) id: String,
    /// What it is by the model, begun with what the program made of the start.
    pub(crate) state: State,
    /// What was done so far, for messages.
    pub(crate) path: Vec<String>,
    /// How each command of the configuration ends; none: there is no such command.
    commands: HashMap<String, Option<bool>>,
    findings: u32,
}

/// A journal as it was read.
pub(crate) struct Journal {
    pub(crate) bytes: Vec<u8>,
    pub(crate) changes: Vec<Json>,
}

impl Journal {
    /// Returns the fields after the last change.
    pub(crate) fn fields(&self) -> Map<String, Json> {
        let last = self
            .changes
            .last()
            .and_then(|change| change["fields"].as_object());
        last.cloned().unwrap_or_default()
    }
}

impl<'k> Loop<'k> {
    /// Makes a project that has what its machine needs, for a loop that is yet to start.
    pub(crate) fn ready(setup: &'k Setup, way: &Way) -> Result<Self, Failure> {
        let prepared = Self::prepared(setup, way);
        prepared.map_err(|error| Failure::new(Suite::SetUp, "a project", error))
    }

    pub(crate) fn prepared(setup: &'k Setup, way: &Way) -> io::Result<Self> {
        let prepared = Self {
            setup,
            project: setup.project()?,
            id: String::new(),
            state: way.begin.clone(),
            path: Vec::new(),
            commands: HashMap::new(),
            findings: 0,
        };
        prepared.configure()?;
        Ok(prepared)
    }

    /// Starts a loop in a project of its own.
    pub(crate) fn begin(setup: &'k Setup, way: &Way) -> Result<Self, Failure> {
        let mut begun = Self::ready(setup, way)?;
        begun.promise(Suite::SetUp, |begun| begun.start(way))?;
        Ok(begun)
    }

    fn start(&mut self, way: &Way) -> Result<(), Wrong> {
        let (line, by) = self.start_line(way, "kit_1");
        let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
        self.path.push(arguments.join(" "));
        let said = self.by(by, &arguments)?;
        if said.code != Some(0) {
            return Err(format!("it was refused: {}", said.short()).into());
        }
        let folder = &self.setup.machine.state.folder.value;
        let none = || format!("no journal lies in {folder}");
        self.id = self.ids().pop().ok_or_else(none)?;
        self.state.values = self.setup.values(&self.journal()?.fields(), &self.state);
        Ok(())
    }

    /// Does what a suite promises; what goes wrong is said with the steps up to there.
    pub(crate) fn promise<T>(
        &mut self,
        suite: Suite,
        work: impl FnOnce(&mut Self) -> Result<T, Wrong>,
    ) -> Result<T, Failure> {
        work(self).map_err(|wrong| Failure::new(suite, &self.path.join(" > "), wrong))
    }

    /// Returns the command line of a start, and whose it is.
    pub(crate) fn start_line(&self, way: &Way, id: &str) -> (Vec<String>, Actor) {
        let machine = &self.setup.machine;
        let mode = &machine.modes[way.mode];
        let mut line = vec!["start".to_owned()];
        if machine.modes.len() > 1 {
            line.push(mode.name.value.clone());
        }
        if machine.state.ids.value == IdForm::Name {
            let taken = machine
                .field("id")
                .is_some_and(|field| field.at_start != Default::default());
            line.push(format!("--{}={id}", if taken { "loop-id" } else { "id" }));
        }
        for (field, value) in &way.given {
            let field = &machine.fields[*field];
            let name = self.setup.flag(&field.name.value);
            let texts = match value {
                Value::Absent => continue,
                Value::Number(time) if field.kind == FieldKind::Time => {
                    let time = i64::try_from(*time)
                        .ok()
                        .and_then(|time| Timestamp::from_second(time).ok());
                    vec![time.map(|time| time.to_string()).unwrap_or_default()]
                }
                Value::List(texts) => texts.clone(),
                Value::Text(text) => vec![self.setup.text(&field.name.value, text)],
                other => vec![other.to_string()],
            };
            line.extend(texts.iter().map(|text| format!("--{name}={text}")));
        }
        let by = mode.by.first().map_or(Actor::Person, |by| by.value);
        (line, by)
    }

    /// Runs the program in somebody's name.
    pub(crate) fn by(&self, actor: Actor, arguments: &[&str]) -> io::Result<Output> {
        match actor {
            Actor::Agent => self.project.agent(arguments),
            Actor::Person => self.project.person(arguments),
        }
    }

    /// Returns the ids of the loops that have a journal.
    pub(crate) fn ids(&self) -> Vec<String> {
        let folder = self
            .project
            .root()
            .join(&self.setup.machine.state.folder.value);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut ids: Vec<String> = entries
            .filter(|entry| entry.path().join("journal.jsonl").exists())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        ids.sort();
        ids
    }

    pub(crate) fn journal_path(&self) -> PathBuf {
        let folder = self
            .project
            .root()
            .join(&self.setup.machine.state.folder.value);
        folder.join(&self.id).join("journal.jsonl")
    }

    pub(crate) fn document_path(&self) -> PathBuf {
        let state = &self.setup.machine.state;
        match &state.file {
            Some(file) => {
                let id = self.setup.holder_of_id();
                let fields = Map::from_iter([(id, Json::from(self.id.clone()))]);
                self.project.root().join(fill(&file.value, &fields))
            }
            None => {
                let name = format!("{}.{}", self.id, state.extension.value);
                self.project.root().join(&state.folder.value).join(name)
            }
        }
    }

    pub(crate) fn journal(&self) -> io::Result<Journal> {
        let bytes = fs::read(self.journal_path())?;
        let lines = bytes.split(|byte| *byte == b'\n');
        let entries = lines.filter_map(|line| serde_json::from_slice::<Json>(line).ok());
        let changes = entries
            .filter(|entry| entry.get("what").is_some())
            .collect();
        Ok(Journal { bytes, changes })
    }

    /// Makes the next step and holds what the program made of it against the model.
    pub(crate) fn step(&mut self, step: &Step) -> Result<(), Wrong> {
        self.path.push(self.setup.step_text(step));
        let before = self.journal()?;
        let said = self.act(&step.act, &before.fields())?;
        self.took(step, &before, &said)
    }

    /// Holds what became of a step against the model.
    pub(crate) fn took(
        &mut self,
        step: &Step,
        before: &Journal,
        said: &Output,
    ) -> Result<(), Wrong> {
        let after = self.journal()?;
        let new = after
            .changes
            .get(before.changes.len()..)
            .unwrap_or_default();
        // Whose the loop is is no edge: a stop binds it, and who resumes one that rests takes it over.
        let is_edge = |change: &&Json| change["what"] != "bind" && change["what"] != "adopt";
        let new: Vec<&Json> = new.iter().filter(is_edge).collect();
        let Some(edge) = step.edge else {
            let values = std::mem::take(&mut self.state.values);
            self.state = State::clone(&step.leaves);
            self.state.values = values;
            return match new[..] {
                [] => Ok(()),
                _ => Err(
                    format!("it changes nothing, and the journal has {}", new[0]["what"]).into(),
                ),
            };
        };
        let [change] = new[..] else {
            let (made, said) = (new.len(), said.short());
            return Err(format!(
                "one change was expected, and {made} were made; the program says: {said}"
            )
            .into());
        };
        let expected = self.setup.search().after(&self.state, step);
        let closed = "its guard does not hold after what the start put into the fields";
        let expected = expected.ok_or_else(|| closed.to_owned())?;
        let edges = self.setup.machine.edges();
        let by = match &step.act {
            Act::Verb {
                by: Actor::Agent, ..
            } => "agent",
            Act::Verb {
                by: Actor::Person, ..
            } => "person",
            _ => "hook",
        };
        // By whom a verb of the program's own is called is its caller's to say.
        let own = edges[edge].declared.own;
        for (key, wanted) in [
            ("what", edges[edge].declared.name.value.as_str()),
            ("to", self.setup.stored(expected.phase)),
            ("by", by),
        ] {
            if change[key] != *wanted && !(own && key == "by") {
                let found = &change[key];
                let what = format!(
                    "`{key}` of the change is to be \"{wanted}\", and the journal has {found}"
                );
                return Err(what.into());
            }
        }
        self.agrees(
            &expected,
            change["fields"].as_object().unwrap_or(&Map::new()),
        )?;
        self.state = expected;
        Ok(())
    }

    /// Holds the fields of a journal against the model.
    pub(crate) fn agrees(&self, expected: &State, fields: &Map<String, Json>) -> Result<(), Wrong> {
        for (field, value) in self.setup.machine.fields.iter().zip(&expected.values) {
            let name = &field.name.value;
            let found = fields.get(name).unwrap_or(&Json::Null);
            // No model knows what Rust makes of data.
            let is_other = matches!(field.kind, FieldKind::Data(_) | FieldKind::Held(_));
            if !is_other && !is_alike(found, value, field.kind == FieldKind::Time) {
                let what =
                    format!("`{name}` is {value} by the machine file, and {found} in the journal");
                return Err(what.into());
            }
        }
        Ok(())
    }

    /// Holds the whole loop against itself: document, journal and what `status` says.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        let verified = self.project.person(&["journal", &self.id, "--verify"])?;
        if verified.code != Some(0) {
            return Err(format!("`journal --verify` says: {}", verified.short()).into());
        }
        let (said, shown) = self.shown()?;
        let problems = shown["problems"].as_array().map_or(0, Vec::len);
        let phase = &self.setup.machine.phases[self.state.phase].name.value;
        if problems != 0 || shown["loops"][0]["phase"] != **phase {
            let said = said.short();
            return Err(format!("`status` was to say `{phase}` and no problem: {said}").into());
        }
        Ok(())
    }

    /// Returns what `status` says of the loop, also as JSON.
    pub(crate) fn shown(&self) -> io::Result<(Output, Json)> {
        let said = self.project.person(&["status", &self.id, "--json"])?;
        let shown = serde_json::from_str(&said.out).unwrap_or_default();
        Ok((said, shown))
    }

    /// A stop with something else in its event, or more in its environment.
    pub(crate) fn stop_with(
        &self,
        key: &str,
        value: &str,
        variable: Option<&str>,
    ) -> io::Result<Output> {
        let mut event = self.project.event(SESSION);
        event[key] = value.into();
        let mut command = self.project.command(&["hook", "stop"]);
        if let Some(variable) = variable {
            command.env(variable, "1");
        }
        feed(command, event.to_string().as_bytes())
    }
}
