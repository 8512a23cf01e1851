//! Reviewers that are programs. The clients are scripts that print events of the real ones
//! (docs/dev/clients.md).

mod calls;
mod choice;
mod interruption;
mod session;
mod table;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{
    Project, Ran, begins, ends, executable, has, lacks, path_without_clients, write,
};

/// A project in round 1 whose PATH has the programs of a test and no real client.
struct Setup {
    project: Project,
    id: String,
}

impl Setup {
    fn new() -> Self {
        let (project, id) = Project::reviewing(&[]);
        let path = format!("{}:{}", bin(&project).display(), path_without_clients());
        std::fs::create_dir(bin(&project)).unwrap();
        let project = project.with("PATH", &path);
        Self { project, id }
    }

    /// Writes the user's configuration with these limits.
    fn limit(&self, limits: &str) {
        write(&self.project.user_file(), format!("[limits]\n{limits}\n"));
    }

    /// Puts a `/bin/sh` script into PATH.
    fn install(&self, name: &str, script: &str) -> PathBuf {
        let file = bin(&self.project).join(name);
        executable(&file, script);
        file
    }

    fn review(&self, reviewer: &str, flags: &str) -> Ran {
        let line = format!("review {} --reviewer {reviewer} {flags}", self.id);
        self.project.run(&line)
    }

    /// Returns the path of a file in the loop's folder.
    fn file(&self, name: &str) -> PathBuf {
        self.project.folder().join(&self.id).join(name)
    }

    /// Returns a path outside of the project for a script's notes.
    fn note(&self, name: &str) -> PathBuf {
        self.project.home.join(name)
    }

    /// Returns the outcome of the last run.
    fn outcome(&self) -> String {
        let journal = self.project.journal(&self.id);
        let last = journal.last().unwrap();
        match last["note"].as_str() {
            Some("run-ended") => last["data"]["outcome"].as_str().unwrap().to_owned(),
            _ => "none".to_owned(),
        }
    }
}

fn bin(project: &Project) -> PathBuf {
    project.home.join("the user's bin")
}

/// Returns a script that reads its prompt, prints these lines and exits with this status.
fn says(lines: &[Value], status: i32) -> String {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    format!(
        "cat >/dev/null\ncat <<'END'\n{}\nEND\nexit {status}\n",
        text.join("\n")
    )
}

/// Returns a script that reads its prompt, prints this error and exits with this status.
fn complains(text: &str, status: i32) -> String {
    format!("cat >/dev/null\ncat >&2 <<'END'\n{text}\nEND\nexit {status}\n")
}

fn clean() -> Value {
    json!({ "verdict": "clean", "findings": [] })
}

fn one_finding() -> Value {
    json!({ "verdict": "findings", "findings": [{ "severity": "high", "what": "no way back",
        "recommendation": "write one", "file": null, "line": 1, "patch": null }] })
}

/// Returns the beginning of a Codex turn, followed by these events.
fn codex_turn(then: &[Value]) -> Vec<Value> {
    let mut all = vec![
        json!({ "type": "thread.started", "thread_id": "01a20168-fa40-7220-85b3-584878d085ae" }),
        json!({ "type": "turn.started" }),
    ];
    all.extend_from_slice(then);
    all
}

fn codex_answers(text: &str) -> String {
    let message = json!({ "type": "item.completed", "item": { "id": "item_0", "type": "agent_message", "text": text } });
    says(
        &codex_turn(&[message, json!({ "type": "turn.completed", "usage": {} })]),
        0,
    )
}

fn codex_clean() -> String {
    codex_answers(&clean().to_string())
}

/// Returns a Codex turn that fails with this sentence.
fn codex_fails(sentence: &str) -> String {
    let failed = json!({ "type": "turn.failed", "error": { "message": sentence } });
    says(
        &codex_turn(&[json!({ "type": "error", "message": sentence }), failed]),
        1,
    )
}

/// Returns the beginning of a Claude Code session, followed by these events.
fn claude_session(then: &[Value]) -> Vec<Value> {
    let tools = ["Glob", "Grep", "Read", "StructuredOutput"];
    let mut all =
        vec![json!({ "type": "system", "subtype": "init", "tools": tools, "mcp_servers": [] })];
    all.extend_from_slice(then);
    all
}

/// Returns a successful Claude Code session with these properties of the result.
fn claude_ends(result: Value) -> String {
    let mut ended = json!({ "type": "result", "subtype": "success", "is_error": false, "api_error_status": null });
    ended
        .as_object_mut()
        .unwrap()
        .extend(result.as_object().unwrap().clone());
    says(&claude_session(&[ended]), 0)
}

fn claude_clean() -> String {
    claude_ends(json!({ "structured_output": clean() }))
}

/// Returns a Claude Code session that fails with this error of its service.
fn claude_fails(error: &str, status: Value, text: &str) -> String {
    let event = json!({ "type": "assistant", "message": { "content": [{ "type": "text", "text": text }] }, "error": error,
        "is_api_error_message": true, "api_error_status": status });
    let ended = json!({ "type": "result", "subtype": "success", "is_error": true, "api_error_status": status,
        "result": text });
    says(&claude_session(&[event, ended]), 1)
}

#[test]
fn long_failure_of_client_is_told_whole() {
    let setup = Setup::new();
    let page = "Visit a page. ".repeat(14);
    let message = format!("We’re currently experiencing high demand. {page}Try again at 6:38 AM.");
    setup.install("codex", &codex_fails(&message));
    setup.review("codex", "").exits(5);
    let block = setup.project.fire().blocked();
    has(&block, "Try again at 6:38 AM.\n");
    lacks(&block, "AM..");
    setup.review("codex", "").exits(5);
    let note = setup.project.fire().approved();
    let id = &setup.id;
    begins(
        &note,
        "claudex: the review gave no verdict: the reviewer’s service",
    );
    has(
        &note,
        "Try again at 6:38 AM. With another reviewer:\n    claudex-loop review ",
    );
    has(&note, &format!(" --reviewer NAME\nLoop {id} waits for "));
    ends(&note, &format!("(in Claude Code: /claudex:cancel {id})"));
}
