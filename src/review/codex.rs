//! The reviewer `codex`: one read-only turn of the Codex command line, with its answer by schema.
//!
//! Its events were measured (docs/clients.md). A failed turn has one sentence without a code, in an event that never has text of the
//! model: see `codex/failure.rs`.

mod config;
mod failure;

use camino::Utf8Path;
use fs_err as fs;
use serde_json::Value;

use self::config::UserConfig;
use super::answer::SCHEMA;
use super::client::{
    Client, End, Session, message_line, shown, shown_path, text_of, variables_with,
};
use super::reviewer::{self, Cause, CauseKind, Outcome, Request, Reviewer};
use super::scratch::Scratch;
use super::settings::ReviewerSettings;
use crate::process::Watch;
use crate::process::environment::GUARD;

/// Its program.
pub const PROGRAM: &str = "codex";

/// The file with the schema of its answer.
const ANSWER: &str = "answer.json";

/// The variables that it gets in addition to the common ones.
const VARIABLES: &str =
    "CODEX_HOME CODEX_API_KEY OPENAI_API_KEY OPENAI_BASE_URL CODEX_CA_CERTIFICATE";

/// The environment of the commands that the model runs, and [`GUARD`]: no keys.
const FOR_COMMANDS: &str = "PATH HOME USER LANG LC_* TZ TMPDIR SHELL";

/// Its flags except for those with a value of this run.
const FLAGS: &str = "exec --json --color never --sandbox read-only --skip-git-repo-check --ephemeral --output-schema";

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
        let scratch = Scratch::new().and_then(|scratch| {
            fs::write(scratch.path().join(ANSWER), SCHEMA)?;
            Ok(scratch)
        });
        let scratch = match scratch {
            Ok(scratch) => scratch,
            Err(error) => {
                let detail = format!("cannot write the schema of the answer: {error}");
                return Outcome::CouldNotRun(Cause::new(CauseKind::Io, &detail));
            }
        };
        let schema = scratch.path().join(ANSWER);
        let config = UserConfig::read();
        let mut variables = variables_with(VARIABLES);
        variables.extend(config.key.clone());
        let client = Client {
            settings: &self.settings,
            program: PROGRAM,
            variables,
            arguments: arguments(&self.settings, &config, request.root, schema.as_str()),
            read: Some(read),
        };
        client.review(request, watch)
    }
}

/// Returns the arguments of a call; each flag and its reason in docs/reviewers.md.
fn arguments(
    settings: &ReviewerSettings,
    config: &UserConfig,
    root: &Utf8Path,
    schema: &str,
) -> Vec<String> {
    let flags = FLAGS.split_whitespace().chain([schema]);
    let mut all: Vec<String> = flags.map(str::to_owned).collect();
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
    let names = FOR_COMMANDS.split_whitespace().chain([GUARD]);
    let names: Vec<String> = names.map(toml_text).collect();
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

/// Reads an event of a turn.
fn read(session: &mut Session<'_>, event: &Value) -> Option<String> {
    match text_of(event, "/type") {
        "error" => {
            // It repeats one message every few seconds.
            let message = shown(text_of(event, "/message"));
            let is_new = session.note_retry(&message);
            is_new.then(|| format!("codex: {message}"))
        }
        "turn.completed" => {
            let answer = session.message.as_deref().unwrap_or_default();
            let answered = End::Answered(reviewer::judge_answer(answer));
            session.end.get_or_insert(answered);
            None
        }
        "turn.failed" => {
            let cause = failure::cause(text_of(event, "/error/message"));
            session.end = Some(End::Failed(Outcome::CouldNotRun(cause)));
            None
        }
        kind @ ("item.started" | "item.completed") => {
            if text_of(event, "/item/type") != "error" {
                session.progressed();
            }
            item(session, event, kind == "item.completed")
        }
        _ => None,
    }
}

fn item(session: &mut Session<'_>, event: &Value, completed: bool) -> Option<String> {
    let item = |name: &str| text_of(event, &format!("/item/{name}"));
    match item("type") {
        "agent_message" if completed => {
            session.message = Some(item("text").to_owned());
            message_line(item("text"))
        }
        "reasoning" if completed => message_line(item("text")),
        "command_execution" if !completed => {
            let command = without_shell(item("command"));
            session.trace.add(&command);
            Some(format!("runs {}", shown(&command)))
        }
        "web_search" if !completed => Some(format!("searches the web: {}", shown(item("query")))),
        "mcp_tool_call" if !completed => Some(format!(
            "calls {} {}",
            shown(item("server")),
            shown(item("tool"))
        )),
        "file_change" if completed => {
            let path = shown_path(item("changes/0/path"), session.root);
            Some(format!("tries to change {path}"))
        }
        "error" if completed => Some(format!("codex: {}", shown(item("message")))),
        _ => None,
    }
}

/// Returns a command as the model wrote it, without the shell that the client puts around it.
fn without_shell(command: &str) -> String {
    let words = shlex::split(command);
    match words.as_deref() {
        Some([_, flag, inside]) if flag == "-lc" => inside.clone(),
        _ => command.to_owned(),
    }
}

#[cfg(test)]
mod tests;
