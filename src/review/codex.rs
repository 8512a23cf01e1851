//! The reviewer `codex`: the Codex command line, one turn, read-only, its answer by schema.
//!
//! What its events and messages are was measured (docs/clients.md). It says why a turn failed in one sentence of its own, without a
//! code; that sentence stands in an event which never holds anything of the model, and is told apart in `codex/failure.rs`.

mod config;
mod failure;
mod shell;

use std::io::{self, Write as _};
use std::time::Instant;

use camino::Utf8Path;
use serde_json::{Map, Value};

use self::config::UserConfig;
use super::answer::{CLOSING, SCHEMA};
use super::client::{self, Client, Events, USUAL, said, shown, shown_path, text_of};
use super::opened::Opened;
use super::reviewer::{self, Cause, CauseKind, Outcome, Request, Reviewer};
use super::settings::ReviewerSettings;
use crate::process::Watch;
use crate::process::environment::GUARD;
use crate::review::scratch::{Place, Scratch};

/// Its program.
pub const PROGRAM: &str = "codex";

/// The file with the schema of its answer.
const ANSWER: &str = "answer.json";

/// Variables that it gets besides the usual ones.
const VARIABLES: [&str; 5] = [
    "CODEX_HOME",
    "CODEX_API_KEY",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "CODEX_CA_CERTIFICATE",
];

/// What the commands that the model runs see of the environment: no keys.
const FOR_COMMANDS: [&str; 9] = [
    "PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TMPDIR", "SHELL", GUARD,
];

/// `codex`.
#[derive(Debug, Clone)]
pub struct Codex {
    name: String,
    settings: ReviewerSettings,
}

impl Codex {
    /// Returns the reviewer of this name in the configuration.
    pub fn new(name: &str, settings: ReviewerSettings) -> Self {
        Self {
            name: name.to_owned(),
            settings,
        }
    }
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
            let mut seen = Seen::new(request.root, request.opened);
            let outcome = match client.ask(request, &arguments, &prompt, &mut seen, watch) {
                Err(cause) => Outcome::CouldNotRun(cause),
                Ok(ended) => seen.judge(&ended),
            };
            (outcome, seen.message)
        })
    }
}

fn variables_with(config: &UserConfig) -> Vec<String> {
    let fixed = USUAL.into_iter().chain(VARIABLES).map(str::to_owned);
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

/// What was seen of a turn.
#[derive(Debug)]
struct Seen<'r> {
    root: &'r Utf8Path,
    opened: &'r Opened,
    /// How many events there were; none: the program speaks no JSON.
    events: usize,
    /// The last message, which is the answer.
    message: Option<String>,
    /// Whether the turn said that it is over.
    completed: bool,
    /// Why the turn failed.
    failed: Option<String>,
    retrying: Option<(Instant, String)>,
}

impl<'r> Seen<'r> {
    fn new(root: &'r Utf8Path, opened: &'r Opened) -> Self {
        Self {
            root,
            opened,
            events: 0,
            message: None,
            completed: false,
            failed: None,
            retrying: None,
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
            (None, None) if self.events == 0 => reviewer::judge(ended),
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
                said(item("text"))
            }
            "reasoning" if completed => said(item("text")),
            "command_execution" if !completed => {
                let command = shell::bare(item("command"));
                self.opened.add(&command);
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
    fn take(&mut self, event: &Map<String, Value>) -> Option<String> {
        self.events += 1;
        let event = Value::Object(event.clone());
        match text_of(&event, "/type") {
            "error" => {
                let said = shown(text_of(&event, "/message"));
                let line = format!("codex: {said}");
                match &mut self.retrying {
                    // It says the same every few seconds, for ever.
                    Some((_, last)) if *last == said => return None,
                    Some((_, last)) => *last = said,
                    None => self.retrying = Some((Instant::now(), said)),
                }
                Some(line)
            }
            "turn.completed" => {
                self.completed = true;
                None
            }
            "turn.failed" => {
                self.failed = Some(text_of(&event, "/error/message").to_owned());
                None
            }
            kind @ ("item.started" | "item.completed") => {
                let warning = text_of(&event, "/item/type") == "error";
                if !warning {
                    self.retrying = None;
                    self.opened.tells();
                }
                self.item(&event, kind == "item.completed")
            }
            _ => None,
        }
    }

    fn other(&mut self, line: &str) -> Option<String> {
        said(line)
    }

    fn retrying(&self) -> Option<(Instant, &str)> {
        self.retrying
            .as_ref()
            .map(|(since, said)| (*since, said.as_str()))
    }
}

#[cfg(test)]
mod tests;
