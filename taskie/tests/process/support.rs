//! A project with a scripted reviewer, and the program as the user, an agent and the hook call it.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use claudex_testkit::{Output, Project as Folder, SESSION};
use serde_json::{Value, json};

/// The plan of most tests.
pub(crate) const ID: &str = "billing";
pub(crate) const TABLE: &str =
    "| Id | Status | Priority | Description | Test strategy |\n|---|---|---|---|---|\n";

/// The outcome of a call of the program.
#[derive(Debug)]
pub(crate) struct Ran(pub(crate) Output);

impl Ran {
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!(self.0.code, Some(0), "{self:?}");
        self.0.out
    }

    #[track_caller]
    pub(crate) fn refusal(self) -> String {
        assert_ne!(self.0.code, Some(0), "{self:?}");
        self.0.err
    }
}

pub(crate) struct Project {
    pub(crate) folder: Folder,
    pub(crate) root: PathBuf,
    /// The number of prompts. Each has its own id.
    prompts: Cell<u32>,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = Folder::new(Path::new(env!("CARGO_BIN_EXE_taskie"))).unwrap();
        let project = Self {
            root: folder.root(),
            folder,
            prompts: Cell::new(0),
        };
        project.commit("begin", "README.md", "Mine.\n");
        let script = project.folder.home().join("reviewer.sh");
        let reviewer = format!(
            "reviewer = \"script\"\n\n[reviewers.script]\nkind = \"command\"\nprogram = \"sh\"\narguments = [{:?}]\n",
            script.to_str().unwrap()
        );
        std::fs::write(project.config(), reviewer).unwrap();
        project
    }

    fn config(&self) -> PathBuf {
        self.folder.home().join("config/claudex-loop/config.toml")
    }

    pub(crate) fn configure(&self, more: &str) {
        let text = std::fs::read_to_string(self.config()).unwrap() + more;
        std::fs::write(self.config(), text).unwrap();
    }

    pub(crate) fn allow(&self, line: &str) {
        let text = std::fs::read_to_string(self.config()).unwrap();
        let text = format!("allow_commands = [{line:?}]\n{text}");
        std::fs::write(self.config(), text).unwrap();
    }

    pub(crate) fn commit(&self, message: &str, file: &str, text: &str) {
        self.folder.write(file, text).unwrap();
        for arguments in [&["add", file][..], &["commit", "--quiet", "-m", message]] {
            let output = self.folder.tool("git").args(arguments).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    }

    /// Calls the program as a user in a terminal.
    pub(crate) fn person(&self, arguments: &[&str]) -> Ran {
        Ran(self.folder.person(arguments).unwrap())
    }

    /// Calls the program as the agent of the session.
    pub(crate) fn agent(&self, arguments: &[&str]) -> Ran {
        Ran(self.folder.agent(arguments).unwrap())
    }

    /// Types a slash command in the session, and runs its line.
    pub(crate) fn slash(&self, command: &str, words: &str) -> Ran {
        let prompt = format!("/taskie:{command} {words}");
        self.prompts.set(self.prompts.get() + 1);
        let input = json!({
            "session_id": SESSION, "hook_event_name": "UserPromptSubmit", "prompt": prompt, "cwd": self.root, "prompt_id": self.prompts.get().to_string(),
        });
        let hook = self.folder.hook("prompt", input.to_string().as_bytes());
        Ran(hook.unwrap()).done();
        self.agent(&[command, "--from-prompt"])
    }

    /// Stops. Returns the decision, and the reason or the line for the user.
    pub(crate) fn stop(&self) -> (String, String) {
        let message = Ran(self.folder.stop().unwrap()).done();
        let decision: Value = serde_json::from_str(&message).unwrap();
        let text = |key: &str| decision[key].as_str().unwrap_or_default().to_owned();
        match decision["hookSpecificOutput"]["additionalContext"].as_str() {
            Some(reminder) => ("remind".to_owned(), reminder.to_owned()),
            None => (text("decision"), text("reason") + &text("systemMessage")),
        }
    }

    pub(crate) fn blocks(&self) -> String {
        let (decision, message) = self.stop();
        assert_ne!(decision, "approve", "{message}");
        message
    }

    pub(crate) fn ends(&self) -> String {
        let (decision, message) = self.stop();
        assert_eq!(decision, "approve", "{message}");
        message
    }

    /// Runs a review with a finding of this severity, or none.
    pub(crate) fn review(&self, severity: Option<&str>) -> Ran {
        self.says(severity);
        self.agent(&["review"])
    }

    /// Sets the reviewer's answer: a finding of this severity, or none.
    pub(crate) fn says(&self, severity: Option<&str>) {
        let says = match severity {
            None => "No substantive findings.\\n".to_owned(),
            Some(severity) => format!("## {severity}\\n- There is a hole (fix it)\\n"),
        };
        let prompt = self.folder.home().join("prompt.txt");
        let script = format!(
            "cat >{:?}\nprintf '# Findings\\n\\n{says}'\n",
            prompt.to_str().unwrap()
        );
        self.reviewer(&script);
    }

    pub(crate) fn reviewer(&self, script: &str) {
        std::fs::write(self.folder.home().join("reviewer.sh"), script).unwrap();
    }

    pub(crate) fn prompt(&self) -> String {
        std::fs::read_to_string(self.folder.home().join("prompt.txt")).unwrap()
    }

    pub(crate) fn dir(&self, id: &str) -> PathBuf {
        self.root.join(".taskie/plans").join(id)
    }

    pub(crate) fn write(&self, id: &str, name: &str, text: &str) {
        std::fs::create_dir_all(self.dir(id)).unwrap();
        std::fs::write(self.dir(id).join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir(ID).join(name)).unwrap()
    }

    /// Returns the eight keys of state.json, in their order.
    pub(crate) fn state(&self, id: &str) -> Value {
        let text = std::fs::read_to_string(self.dir(id).join("state.json")).unwrap();
        let whole: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        Value::Object(whole.into_iter().take(8).collect())
    }

    pub(crate) fn names(&self, id: &str) -> Vec<String> {
        names(&self.dir(id))
    }

    /// Writes the table and the files of tasks. The first `done` tasks are done, and have code.
    pub(crate) fn tasks(&self, id: &str, total: u64, done: u64) {
        let mut table = TABLE.to_owned();
        for task in 1..=total {
            let is_done = task <= done;
            let row = if is_done { "done" } else { "pending" };
            let subtask = if is_done { "completed" } else { "pending" };
            table += &format!("| {task} | {row} | low | Part {task} | by hand |\n");
            self.write(id, &format!("task-{task}.md"), &task_file(task, subtask));
            if is_done {
                let code = self.root.join(format!("part-{task}.txt"));
                std::fs::write(code, format!("Part {task}.\n")).unwrap();
            }
        }
        self.write(id, "tasks.md", &table);
    }
}

pub(crate) fn start_plan() -> Project {
    let project = Project::new();
    project.slash("new-plan", ID).done();
    project
}

/// Returns a project in standalone with three tasks, one of them done.
pub(crate) fn standalone() -> Project {
    let project = start_plan();
    project.write(ID, "plan.md", "## Overview\n");
    project.tasks(ID, 3, 1);
    project.person(&["pause", ID]).done();
    project
}

/// Returns a project at a task.
pub(crate) fn coding() -> Project {
    let project = standalone();
    project.person(&["complete-task", ID]).done();
    project
}

pub(crate) fn task_file(task: u64, status: &str) -> String {
    format!(
        "# Task {task}\n\n### Subtask {task}.1: all of it\n\n- **Status**: {status}\n- **Must-run commands**: `test -e README.md`\n"
    )
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
