//! A project with a pipeline, and the program as a user, an agent and the hooks call it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

pub(crate) use claudex_testkit::SESSION;
use claudex_testkit::{Output, Project as Folder, as_agent};
use serde_json::{Value, json};
use stages::gates::REQUIRED_SECTIONS;

pub(crate) const STATE: &str = "requirements/.requirements-state.local.md";

/// The outcome of a call of the program.
#[derive(Debug)]
pub(crate) struct Ran(pub(crate) Output);

impl Ran {
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!(self.0.code, Some(0), "{}{}", self.0.out, self.0.err);
        self.0.out
    }

    #[track_caller]
    pub(crate) fn usage(self) -> String {
        assert_eq!(self.0.code, Some(2), "{}{}", self.0.out, self.0.err);
        self.0.err
    }

    #[track_caller]
    pub(crate) fn refusal(self) -> String {
        assert_eq!(self.0.code, Some(1), "{}{}", self.0.out, self.0.err);
        self.0.err + &self.0.out
    }
}

pub(crate) struct Project {
    pub(crate) folder: Folder,
    pub(crate) root: PathBuf,
}

impl Project {
    pub(crate) fn empty() -> Self {
        let folder = Folder::new(Path::new(env!("CARGO_BIN_EXE_stages"))).unwrap();
        let root = folder.root();
        Self { folder, root }
    }

    /// Creates a project with a pipeline that the session started.
    pub(crate) fn new() -> Self {
        let project = Self::empty();
        project.agent(&["start"]).done();
        project
    }

    /// Creates a project with a pipeline at a stage of its first round.
    pub(crate) fn at(stage: u64) -> Self {
        let project = Self::new();
        for before in 1..stage {
            project.complete(before, "");
        }
        assert_eq!(project.next()["stage"], stage);
        project
    }

    /// Calls the program as a user in a terminal.
    pub(crate) fn person(&self, arguments: &[&str]) -> Ran {
        Ran(self.folder.person(arguments).unwrap())
    }

    /// Calls the program as the agent of the session.
    pub(crate) fn agent(&self, arguments: &[&str]) -> Ran {
        Ran(self.folder.agent(arguments).unwrap())
    }

    pub(crate) fn agent_of(&self, session: &str, arguments: &[&str]) -> Ran {
        Ran(self.folder.agent_of(session, arguments).unwrap())
    }

    pub(crate) fn keep(&self) {
        self.folder.keep(0).unwrap();
    }

    pub(crate) fn restore(&self) {
        self.folder.restore(0).unwrap();
    }

    /// Calls the program, and kills it before the file change of this number. Returns whether it
    /// makes so many changes.
    pub(crate) fn killed(&self, arguments: &[&str], is_agent: bool, number: u32) -> bool {
        let mut command = self.folder.command(arguments);
        if is_agent {
            as_agent(&mut command);
        }
        command.env("CLAUDEX_KILL_AT", number.to_string());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap().code().is_none()
    }

    /// Calls a hook of the session with this input, and returns its output.
    pub(crate) fn hook(&self, name: &str, input: &Value) -> String {
        Ran(self
            .folder
            .hook(name, input.to_string().as_bytes())
            .unwrap())
        .done()
    }

    /// Stops. Returns the decision, and the reason or the line for the user.
    pub(crate) fn stop(&self, more: &Value) -> (String, String) {
        let mut input = json!({ "session_id": SESSION, "hook_event_name": "Stop", "cwd": self.root, "stop_hook_active": false });
        for (key, value) in more.as_object().into_iter().flatten() {
            input[key] = value.clone();
        }
        let decision: Value = serde_json::from_str(&self.hook("stop", &input)).unwrap();
        let text = |key: &str| decision[key].as_str().unwrap_or_default().to_owned();
        match decision["hookSpecificOutput"]["additionalContext"].as_str() {
            Some(reminder) => ("remind".to_owned(), reminder.to_owned()),
            None => (text("decision"), text("reason") + &text("systemMessage")),
        }
    }

    /// Chooses this in the client's dialog, in which the agent has put these questions.
    pub(crate) fn choose(&self, questions: &Value, label: &str) -> String {
        let question = questions[0]["question"].as_str().unwrap();
        self.hook("answer", &json!({
            "session_id": SESSION, "hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "cwd": self.root,
            "tool_input": { "questions": questions }, "tool_response": { "questions": questions, "answers": { question: label } },
        }))
    }

    pub(crate) fn next(&self) -> Value {
        serde_json::from_str(&self.agent(&["next", "--json"]).done()).unwrap()
    }

    /// Returns the instruction. Fails if it is another one, or at another stage.
    #[track_caller]
    pub(crate) fn next_at(&self, instruction: &str, stage: u64) -> Value {
        let next = self.next();
        let at = (&next["instruction"], &next["stage"]);
        assert_eq!(at, (&json!(instruction), &json!(stage)), "{next}");
        next
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.folder.write(path, text).unwrap();
    }

    pub(crate) fn state(&self, key: &str) -> String {
        let text = self.read(STATE);
        let found = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{key}: ")));
        found.unwrap_or_default().to_owned()
    }

    /// Writes a summary of the open dispatch with these flags, and returns its path.
    pub(crate) fn summary(&self, status: &str, flags: &str) -> String {
        let next = self.next();
        let (stage, id) = (
            next["stage"].as_u64().unwrap(),
            next["dispatch_id"].as_str().unwrap(),
        );
        let text = summary(stage, status, &format!("  dispatch_id: {id}\n{flags}"));
        let path = next["summary_file"].as_str().unwrap().to_owned();
        self.write(&path, &text);
        path
    }

    pub(crate) fn report(&self, status: &str, flags: &str) -> Ran {
        self.summary(status, flags);
        self.agent(&["report"])
    }

    /// Completes a stage as a correct coordinator does.
    pub(crate) fn complete(&self, stage: u64, more: &str) -> String {
        let round = self.next()["round"].as_u64().unwrap();
        let flags = match stage {
            1 => {
                "  analysis_mode: standard\n  prd_mode: NEW\n  pal_available: true\n  st_available: false\n"
            }
            3 => {
                self.write(
                    &format!("requirements/working/QUESTIONS-{round:03}.md"),
                    &questions(round),
                );
                "  questions_count: 8\n"
            }
            4 if more.is_empty() => "  next_action: proceed\n  completion_rate: 1.0\n",
            5 if more.is_empty() => {
                self.requirements();
                "  validation_decision: READY\n  validation_score: 17\n"
            }
            _ => "",
        };
        self.report("completed", &format!("{flags}{more}")).done()
    }

    /// Writes requirements that pass their gate.
    pub(crate) fn requirements(&self) {
        let parts = REQUIRED_SECTIONS
            .iter()
            .map(|name| format!("## {name}\n\nPeople can do it.\n\n"));
        self.write(
            "requirements/PRD.md",
            &format!("# Requirements\n\n{}", parts.collect::<String>()),
        );
        self.write(
            "requirements/decision-log.md",
            "# Decisions\n\nAll of them.\n",
        );
    }
}

/// Returns a file of questions that passes its gate.
pub(crate) fn questions(round: u64) -> String {
    let all = REQUIRED_SECTIONS.iter().enumerate().map(|(at, section)| {
        format!("## Q-A{at:03}: What of it? [CRITICAL]\n\n**Section:** {section}\n\n- [ ] One\n- [ ] Two\n- [ ] Other: ___\n\n")
    });
    format!(
        "---\nround_number: {round}\n---\n\n{}",
        all.collect::<String>()
    )
}

/// Returns a summary with these flags, one per line.
pub(crate) fn summary(stage: u64, status: &str, flags: &str) -> String {
    let known = stages::contract::Stage::from_number(stage).unwrap();
    format!(
        "---\nstage: {known}\nstage_number: {stage}\nstatus: {status}\ncheckpoint: {}\nartifacts_written: []\nsummary: It was done\nflags:\n{flags}---\n\n## Context for Next Stage\nStage {stage} says so.\n",
        known.checkpoint()
    )
}
