//! The reviewer `codex`: one read-only turn of the Codex command line, with its answer by schema.
//!
//! Its events were measured (docs/clients.md). A failed turn has one sentence without a code, in an event that never has text of the
//! model: see `codex/failure.rs`.

mod config;
mod failure;
mod shell;

use std::io::{self, Write as _};

use camino::Utf8Path;
use serde_json::Value;

use self::config::UserConfig;
use super::answer::{CLOSING, SCHEMA};
use super::client::{
    self, COMMON_VARIABLES, Client, Events, Retries, message_line, shown, shown_path, text_of,
};
use super::reviewer::{self, Cause, CauseKind, Outcome, Request, Reviewer, Trace};
use super::settings::ReviewerSettings;
use crate::process::Watch;
use crate::process::environment::GUARD;
use crate::review::scratch::{Place, Scratch};

/// Its program.
pub const PROGRAM: &str = "codex";

/// The file with the schema of its answer.
const ANSWER: &str = "answer.json";

/// The variables that it gets in addition to the common ones.
const VARIABLES: [&str; 5] = [
    "CODEX_HOME",
    "CODEX_API_KEY",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "CODEX_CA_CERTIFICATE",
];

/// The environment of the commands that the model runs: no keys.
const FOR_COMMANDS: [&str; 9] = [
    "PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TMPDIR", "SHELL", GUARD,
];

/// `codex`.
#[derive(Debug, Clone)]
pub struct Codex {
    /// Its name in the configuration.
    pub name: String,
    /// Its settings.
    pub settings: ReviewerSettings,
}

impl Reviewer for Codex {
    fn name(&self) -> &str {
        &self.name
    }

    fn review(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> Outcome {
        // Kept to the end of the run: the client reads it when it starts.
        let schema = match schema(request.scratch) {
            Ok(schema) => schema,
            Err(error) => {
                let detail = format!("cannot write the schema of the answer: {error}");
                return Outcome::CouldNotRun(Cause::new(CauseKind::Io, &detail));
            }
        };
        let path = schema.path().join(ANSWER);
        let config = UserConfig::read();
        let arguments = arguments(&self.settings, &config, request.root, path.as_str());
        let variables = variables_with(&config);
        let client = Client {
            settings: &self.settings,
            program: PROGRAM,
            variables: &variables,
        };
        client::with_repair(request, watch, |request, watch| {
            let prompt = format!("{}\n{CLOSING}", request.prompt);
            let mut seen = Seen::new(request.root, request.trace);
            let outcome = match client.ask(request, &arguments, &prompt, &mut seen, watch) {
                Err(cause) => Outcome::CouldNotRun(cause),
                Ok(ended) => seen.judge(&ended),
            };
            (outcome, seen.message)
        })
    }
}

fn variables_with(config: &UserConfig) -> Vec<String> {
    let fixed = COMMON_VARIABLES
        .into_iter()
        .chain(VARIABLES)
        .map(str::to_owned);
    fixed.chain(config.key.clone()).collect()
}

fn schema(place: &Place) -> io::Result<Scratch> {
    let scratch = place.scratch()?;
    scratch
        .folder()
        .new_file(ANSWER)?
        .write_all(SCHEMA.as_bytes())?;
    Ok(scratch)
}

/// Returns the arguments of a call; each flag and its reason in docs/reviewers.md.
fn arguments(
    settings: &ReviewerSettings,
    config: &UserConfig,
    root: &Utf8Path,
    schema: &str,
) -> Vec<String> {
    let mut all: Vec<String> = [
        "exec",
        "--json",
        "--color",
        "never",
        "--sandbox",
        "read-only",
        "--skip-git-repo-check",
        "--ephemeral",
        "--output-schema",
        schema,
    ]
    .map(str::to_owned)
    .into();
    let mut set = |value: String| all.extend(["-c".to_owned(), value]);
    set("approval_policy=\"never\"".to_owned());
    set("notify=[]".to_owned());
    for feature in ["hooks", "plugins", "apps"] {
        set(format!("features.{feature}=false"));
    }
    set(format!(
        "projects={{{}={{trust_level=\"untrusted\"}}}}",
        toml_text(root.as_str())
    ));
    let names: Vec<String> = FOR_COMMANDS.into_iter().map(toml_text).collect();
    set(format!(
        "shell_environment_policy={{inherit=\"all\",include_only=[{}]}}",
        names.join(",")
    ));
    for server in &config.servers {
        set(format!("mcp_servers.{server}.enabled=false"));
    }
    if let Some(model) = &settings.model {
        all.extend(["--model".to_owned(), model.clone()]);
    }
    all.extend(settings.arguments.iter().cloned());
    all.push("-".to_owned());
    all
}

/// Returns a text as a basic string of TOML. JSON's escapes are among TOML's.
fn toml_text(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

/// The events of a turn so far.
#[derive(Debug)]
struct Seen<'r> {
    root: &'r Utf8Path,
    trace: &'r Trace,
    /// Whether there was an event. Without one, the program does not print JSON.
    has_events: bool,
    /// The last message, which is the answer.
    message: Option<String>,
    /// Whether the turn reported its end.
    completed: bool,
    /// The sentence of a turn that failed.
    failed: Option<String>,
    retries: Retries,
}

impl<'r> Seen<'r> {
    fn new(root: &'r Utf8Path, trace: &'r Trace) -> Self {
        Self {
            root,
            trace,
            has_events: false,
            message: None,
            completed: false,
            failed: None,
            retries: Retries::default(),
        }
    }

    fn judge(&self, ended: &crate::process::ProcessOutput) -> Outcome {
        if let Some(cause) = reviewer::failure(ended) {
            return Outcome::CouldNotRun(match (&self.failed, cause.kind) {
                (Some(said), CauseKind::Failed { .. }) => failure::cause(said, cause.kind),
                _ => cause,
            });
        }
        match (&self.failed, &self.message) {
            (Some(said), _) => {
                Outcome::CouldNotRun(failure::cause(said, CauseKind::Failed { status: 0 }))
            }
            (None, None) if !self.has_events => reviewer::judge(ended),
            (None, _) if !self.completed => {
                let detail = "Codex ended without `turn.completed`";
                Outcome::Unreadable(Cause::new(CauseKind::NoOutput, detail))
            }
            (None, message) => reviewer::judge_answer(message.as_deref().unwrap_or_default()),
        }
    }

    fn item(&mut self, event: &Value, completed: bool) -> Option<String> {
        let item = |name: &str| text_of(event, &format!("/item/{name}"));
        match item("type") {
            "agent_message" if completed => {
                self.message = Some(item("text").to_owned());
                message_line(item("text"))
            }
            "reasoning" if completed => message_line(item("text")),
            "command_execution" if !completed => {
                let command = shell::bare(item("command"));
                self.trace.add(&command);
                Some(format!("runs {}", shown(&command)))
            }
            "web_search" if !completed => {
                Some(format!("searches the web: {}", shown(item("query"))))
            }
            "mcp_tool_call" if !completed => Some(format!(
                "calls {} {}",
                shown(item("server")),
                shown(item("tool"))
            )),
            "file_change" if completed => {
                let changes = event.pointer("/item/changes").and_then(Value::as_array);
                let path = changes
                    .and_then(|changes| changes.first())
                    .map(|it| text_of(it, "/path"));
                Some(format!(
                    "tries to change {}",
                    shown_path(path.unwrap_or("files"), self.root)
                ))
            }
            "error" if completed => Some(format!("codex: {}", shown(item("message")))),
            _ => None,
        }
    }
}

impl Events for Seen<'_> {
    fn take(&mut self, event: &Value) -> Option<String> {
        self.has_events = true;
        match text_of(event, "/type") {
            "error" => {
                let message = shown(text_of(event, "/message"));
                let line = format!("codex: {message}");
                // It repeats one message every few seconds.
                self.retries.note(message).then_some(line)
            }
            "turn.completed" => {
                self.completed = true;
                None
            }
            "turn.failed" => {
                self.failed = Some(text_of(event, "/error/message").to_owned());
                None
            }
            kind @ ("item.started" | "item.completed") => {
                let warning = text_of(event, "/item/type") == "error";
                if !warning {
                    self.retries = Retries::default();
                    self.trace.reports();
                }
                self.item(event, kind == "item.completed")
            }
            _ => None,
        }
    }

    fn other(&mut self, line: &str) -> Option<String> {
        message_line(line)
    }

    fn retries(&self) -> &Retries {
        &self.retries
    }
}

#[cfg(test)]
mod tests;
