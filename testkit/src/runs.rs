//! A loop under way in a project: it is started, its steps are taken as the model says, and its journal is read.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use claudex_build::model::{Actor, ArgumentKind, FieldKind, IdForm};
use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use crate::error::{Failure, Suite, Wrong};
use crate::kit::Setup;
use crate::project::{Output, Project, as_agent, feed, put};
use crate::search::{Act, Says, State, Step, Value, Way};
use crate::text::{fill, is_alike, kebab, quoted};

/// How long a reviewer may take to begin on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

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

/// A call of the program, by the client's hook where nobody's name is given.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) by: Option<Actor>,
    pub(crate) arguments: Vec<String>,
    pub(crate) input: String,
}

impl Call {
    pub(crate) fn of(by: Actor, arguments: Vec<String>) -> Self {
        Self {
            by: Some(by),
            arguments,
            input: String::new(),
        }
    }

    pub(crate) fn make(&self, project: &Project) -> io::Result<Output> {
        feed(self.command(project, &[]), self.input.as_bytes())
    }

    /// Returns the command, behind another one such as `strace`.
    pub(crate) fn command(&self, project: &Project, behind: &[&str]) -> Command {
        let program = project.program().to_string_lossy().into_owned();
        let mut command = project.tool(behind.first().unwrap_or(&program.as_str()));
        command.args(behind.iter().skip(1));
        if !behind.is_empty() {
            command.arg(program);
        }
        command.args(&self.arguments);
        if self.by == Some(Actor::Agent) {
            as_agent(&mut command);
        }
        command
    }
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
        let folder = self.project.root().join(&self.setup.machine.state.folder.value);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut ids: Vec<String> = entries
            .filter(|entry| entry.path().join("journal.jsonl").exists())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        ids.sort();
        ids
    }

    pub(crate) fn journal_path(&self) -> PathBuf {
        let folder = self.project.root().join(&self.setup.machine.state.folder.value);
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
        let changes = entries.filter(|entry| entry.get("what").is_some()).collect();
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
    pub(crate) fn took(&mut self, step: &Step, before: &Journal, said: &Output) -> Result<(), Wrong> {
        let after = self.journal()?;
        let new = after.changes.get(before.changes.len()..).unwrap_or_default();
        let new: Vec<&Json> = new.iter().filter(|change| change["what"] != "bind").collect();
        let Some(edge) = step.edge else {
            let values = std::mem::take(&mut self.state.values);
            self.state = State::clone(&step.leaves);
            self.state.values = values;
            return match new[..] {
                [] => Ok(()),
                _ => Err(format!("it changes nothing, and the journal has {}", new[0]["what"]).into()),
            };
        };
        let [change] = new[..] else {
            let (made, said) = (new.len(), said.short());
            return Err(
                format!("one change was expected, and {made} were made; the program says: {said}").into(),
            );
        };
        let expected = self.setup.search().after(&self.state, step);
        let closed = "its guard does not hold after what the start put into the fields";
        let expected = expected.ok_or_else(|| closed.to_owned())?;
        let edges = self.setup.machine.edges();
        let by = match &step.act {
            Act::Verb { by: Actor::Agent, .. } => "agent",
            Act::Verb {
                by: Actor::Person, ..
            } => "person",
            _ => "hook",
        };
        for (key, wanted) in [
            ("what", edges[edge].declared.name.value.as_str()),
            ("to", self.setup.stored(expected.phase)),
            ("by", by),
        ] {
            if change[key] != *wanted {
                let found = &change[key];
                let what =
                    format!("`{key}` of the change is to be \"{wanted}\", and the journal has {found}");
                return Err(what.into());
            }
        }
        for (field, value) in self.setup.machine.fields.iter().zip(&expected.values) {
            let name = &field.name.value;
            let found = &change["fields"][name];
            let is_held = matches!(field.kind, FieldKind::Held(_));
            if !is_held && !is_alike(found, value, field.kind == FieldKind::Time) {
                let what = format!("`{name}` is {value} by the machine file, and {found} in the journal");
                return Err(what.into());
            }
        }
        self.state = expected;
        Ok(())
    }

    /// Has something happen.
    fn act(&mut self, act: &Act, fields: &Map<String, Json>) -> io::Result<Output> {
        match act {
            Act::Wait(seconds) => {
                // The clock itself is what is waited for.
                std::thread::sleep(Duration::from_secs(*seconds));
                self.project.person(&["status"])
            }
            Act::Stop(outcome) if self.is_running(outcome) => self.stop_during_a_review(fields),
            _ => self.prepare(act, fields)?.make(&self.project),
        }
    }

    /// Whether a stop is to see a review that runs.
    pub(crate) fn is_running(&self, outcome: &str) -> bool {
        let behaviour = self.setup.machine.phases[self.state.phase].on_stop.as_ref();
        outcome == "running" && behaviour.is_some_and(|behaviour| behaviour.name.value == "review")
    }

    /// Makes everything ready for something to happen, and returns the call that makes it happen.
    pub(crate) fn prepare(&mut self, act: &Act, fields: &Map<String, Json>) -> io::Result<Call> {
        let stop = || Call {
            by: None,
            arguments: ["hook", "stop"].map(str::to_owned).into(),
            input: self.project.event(crate::project::SESSION).to_string(),
        };
        Ok(match act {
            Act::Wait(_) => Call::of(Actor::Person, vec!["status".to_owned()]),
            Act::Own {
                transition,
                arguments,
            } => {
                let phase = self.state.phase;
                self.setup.prepare(phase, transition, arguments, &self.project)?;
                stop()
            }
            Act::Review(says) => {
                self.prepare_review(fields)?;
                self.reviewer(*says)?;
                Call::of(Actor::Agent, vec!["review".to_owned(), self.id.clone()])
            }
            Act::Stop(outcome) => {
                let call = stop();
                self.show(outcome, fields)?;
                call
            }
            Act::Verb {
                by,
                transition,
                arguments,
                rejecting,
            } => Call::of(*by, self.verb_line(transition, arguments, *rejecting)),
        })
    }

    /// Returns the command line of a verb.
    pub(crate) fn verb_line(
        &self,
        transition: &str,
        arguments: &[(String, Value)],
        rejecting: bool,
    ) -> Vec<String> {
        let declared = self
            .setup
            .machine
            .transitions
            .iter()
            .find(|declared| declared.name.value == transition);
        let mut line = vec![kebab(transition), self.id.clone()];
        if rejecting {
            line.push("--rejecting=the walk goes on".to_owned());
        }
        for argument in declared.iter().flat_map(|declared| &declared.args) {
            let name = &argument.name.value;
            let flag = kebab(name);
            match arguments.iter().find(|(known, _)| known == name) {
                Some((_, Value::Flag(given)))
                    if argument.kind.value == ArgumentKind::Flag && !argument.optional =>
                {
                    line.extend(given.then(|| format!("--{flag}")));
                }
                Some((_, Value::Text(text))) => line.push(format!("--{flag}={text}")),
                Some((_, value)) => line.push(format!("--{flag}={value}")),
                None => {}
            }
        }
        line
    }

    /// Makes what the phase looks at be so.
    fn show(&mut self, outcome: &str, fields: &Map<String, Json>) -> io::Result<()> {
        let phase = &self.setup.machine.phases[self.state.phase];
        let Some(behaviour) = &phase.on_stop else {
            return Ok(());
        };
        let parameter = |name: &str| behaviour.parameter(name).map(|value| fill(&value.value, fields));
        let (name, file) = (
            behaviour.name.value.as_str(),
            parameter("path").or_else(|| parameter("file")),
        );
        match (name, outcome, file) {
            ("require-file", "written", Some(file)) => {
                let text = format!("# Written {}\n", self.path.len());
                put(&self.project.root().join(file), &text)?;
            }
            ("wait-for", "there", Some(file)) => put(&self.project.root().join(file), "there\n")?,
            ("require-file" | "wait-for", _, Some(file)) => {
                match fs::remove_file(self.project.root().join(file)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            ("run", outcome, _) => {
                let command = parameter("command").unwrap_or_default();
                let ends = match outcome {
                    "passed" => Some(true),
                    "failed" => Some(false),
                    _ => None,
                };
                self.commands.insert(command, ends);
                self.configure()?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Stops while a review runs, which then ends without a word.
    fn stop_during_a_review(&mut self, fields: &Map<String, Json>) -> io::Result<Output> {
        self.prepare_review(fields)?;
        let mark = self.project.home().join("reviewing");
        let go = self.project.home().join("go");
        let (shown, awaited) = (quoted(&mark.to_string_lossy()), quoted(&go.to_string_lossy()));
        put(
            &self.project.home().join("reviewer.sh"),
            &format!("cat >/dev/null\n: >{shown}\nwhile [ ! -e {awaited} ]; do sleep 0.05; done\nexit 1\n"),
        )?;
        let mut command = self.project.command(&["review", &self.id]);
        let mut review = as_agent(&mut command)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let begun = Instant::now();
        while !mark.exists() && begun.elapsed() < PATIENCE && review.try_wait()?.is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let said = self.project.stop();
        end(&mut review);
        put(&go, "")?;
        fs::remove_file(mark)?;
        let _ = fs::remove_file(go);
        said
    }

    /// Gives the reviewer something that it has not seen yet.
    fn prepare_review(&mut self, fields: &Map<String, Json>) -> io::Result<()> {
        self.findings += 1;
        let phase = &self.setup.machine.phases[self.state.phase];
        let subject = phase
            .on_stop
            .as_ref()
            .and_then(|behaviour| behaviour.parameter("subject"));
        let folder = &self.setup.machine.state.folder.value;
        if let Some(subject) = subject.map(|subject| fill(&subject.value, fields)) {
            let place = match subject.starts_with(folder) {
                // What the engine wrote there itself is a copy of the work tree's changes.
                true if self.project.root().join(&subject).exists() => "changed.txt".to_owned(),
                _ => subject,
            };
            self.project.write(
                &place,
                &format!("# Version {}\n\nWhat is reviewed.\n", self.findings),
            )?;
        }
        Ok(())
    }

    /// Writes the reviewer that the configuration names.
    fn reviewer(&self, says: Says) -> io::Result<()> {
        let finding = |what: &str| format!("printf '# Findings\\n\\n## High\\n- {what} (mend it)\\n'\n");
        let says = match says {
            Says::Clean => "printf '# Findings\\n\\nNo substantive findings.\\n'\n".to_owned(),
            Says::Findings => finding(&format!("There is a hole in part {}", self.findings)),
            Says::Same => finding("There is a hole"),
            Says::Failed => "exit 1\n".to_owned(),
        };
        put(
            &self.project.home().join("reviewer.sh"),
            &format!("cat >/dev/null\n{says}"),
        )
    }

    /// Writes the person's configuration.
    pub(crate) fn configure(&self) -> io::Result<()> {
        let script = self.project.home().join("reviewer.sh");
        let mut text = format!(
            "reviewer = \"kit\"\n\n[reviewers.kit]\nkind = \"command\"\nprogram = \"sh\"\narguments = [{}]\nsandbox = \"off\"\n",
            quoted(&script.to_string_lossy())
        );
        for command in self.setup.commands() {
            if let Some(passes) = self.commands.get(&command).copied().unwrap_or(Some(true)) {
                text += &format!("\n[commands.{}]\nprogram = \"{passes}\"\n", quoted(&command));
            }
        }
        put(
            &self.project.home().join("config/claudex-loop/config.toml"),
            &text,
        )
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
    pub(crate) fn stop_with(&self, key: &str, value: &str, variable: Option<&str>) -> io::Result<Output> {
        let mut event = self.project.event(crate::project::SESSION);
        event[key] = value.into();
        let mut command = self.project.command(&["hook", "stop"]);
        if let Some(variable) = variable {
            command.env(variable, "1");
        }
        feed(command, event.to_string().as_bytes())
    }
}

/// Ends a process that the kit started.
fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}
