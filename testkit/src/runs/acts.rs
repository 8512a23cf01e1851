//! What happens to a loop: a call of its program is made ready, so that the phase sees what the step says, and made.

use std::fs;
use std::io;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use claudex_build::catalogue::PROGRAM;
use claudex_build::model::{Actor, ArgumentKind, Held};
use serde_json::{Map, Value as Json, json};

use super::Loop;
use crate::project::{Output, Project, SESSION, as_agent, feed, put};
use crate::search::{Act, Says, Value};
use crate::text::{fill, kebab, quoted};

/// How long a reviewer may take to begin on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

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

impl Loop<'_> {
    /// Has something happen.
    pub(super) fn act(&mut self, act: &Act, fields: &Map<String, Json>) -> io::Result<Output> {
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
            input: self.project.event(SESSION).to_string(),
        };
        Ok(match act {
            Act::Wait(_) => Call::of(Actor::Person, vec!["status".to_owned()]),
            Act::Own {
                transition,
                arguments,
            } => {
                let phase = self.state.phase;
                let own = self
                    .setup
                    .prepare(phase, transition, arguments, &self.project)?;
                own.map_or_else(stop, |(by, arguments)| Call::of(by, arguments))
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
            } => match self.dialog(transition, fields) {
                Some(input) => Call {
                    by: None,
                    arguments: ["hook", "answer"].map(str::to_owned).into(),
                    input,
                },
                None => Call::of(*by, self.verb_line(transition, arguments, *rejecting)),
            },
        })
    }

    /// Returns the event of the client's dialog in which a person gives the answer that takes a transition: for the first answer of a
    /// question. The others are given by their verbs, so that both ways are walked.
    fn dialog(&self, transition: &str, fields: &Map<String, Json>) -> Option<String> {
        let machine = &self.setup.machine;
        let asks = machine.phases[self.state.phase].on_stop.as_ref()?;
        // Where the transition has arguments, the label is one of them.
        let declared = machine
            .transitions
            .iter()
            .find(|known| known.name.value == transition)?;
        let first = asks
            .choices()
            .first()
            .filter(|option| option.call.then.value == transition);
        let option = first.filter(|_| declared.args.is_empty())?;
        let text = |name: &str| Some(fill(&asks.parameter(name)?.value, fields));
        let (question, header) = (text("question")?, text("header")?);
        let is_ours = machine
            .holder(Held::Session)
            .is_some_and(|session| fields.get(session) == Some(&SESSION.into()));
        // A header that is longer is cut by the client's dialog.
        (is_ours && header.chars().count() <= 12).then(|| {
            json!({
                "session_id": SESSION, "hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion",
                "cwd": self.project.root(), "tool_input": {}, "tool_response": {
                    "questions": [{"question": question, "header": header, "options": [], "multiSelect": false}],
                    "answers": {&question: option.label.value}
                }
            })
            .to_string()
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
        let parameter = |name: &str| {
            behaviour
                .parameter(name)
                .map(|value| fill(&value.value, fields))
        };
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
        let shown = quoted(&mark.to_string_lossy());
        // Whatever becomes of the kit: with its folder the mark goes, and with the mark the reviewer.
        put(
            &self.project.home().join("reviewer.sh"),
            &format!(
                "cat >/dev/null\n: >{shown}\nwhile [ -e {shown} ]; do sleep 0.05; done\nexit 1\n"
            ),
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
        fs::remove_file(mark)?;
        said
    }

    /// Gives the reviewer something that it has not seen yet.
    fn prepare_review(&mut self, fields: &Map<String, Json>) -> io::Result<()> {
        self.findings += 1;
        let phase = &self.setup.machine.phases[self.state.phase];
        let subject = phase.on_stop.as_ref().and_then(|behaviour| {
            let mut subjects = behaviour.list("subject");
            // What the program gives is for `Kit::project` to prepare.
            subjects.find(|one| one.value != PROGRAM)
        });
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
        let finding =
            |what: &str| format!("printf '# Findings\\n\\n## High\\n- {what} (mend it)\\n'\n");
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
            "reviewer = \"kit\"\n\n[reviewers.kit]\nkind = \"command\"\nprogram = \"sh\"\narguments = [{}]\n",
            quoted(&script.to_string_lossy())
        );
        for command in self.setup.commands() {
            if let Some(passes) = self.commands.get(command).copied().unwrap_or(Some(true)) {
                text += &format!("\n[commands.{}]\nprogram = \"{passes}\"\n", quoted(command));
            }
        }
        put(
            &self.project.home().join("config/claudex-loop/config.toml"),
            &text,
        )
    }
}

/// Ends a process that the kit started.
fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}
