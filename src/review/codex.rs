//! The reviewer `codex`: one read-only turn of the Codex command line, with its answer by schema.
//!
//! The events were measured (docs/dev/clients.md). A failed turn has one fixed sentence without a
//! code in an event without text of the model, at times with the HTTP status or the service's JSON.

use std::io::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tempfile::NamedTempFile;
use toml::Table;

use super::answer::{self, SCHEMA};
use super::cause::{Cause, CauseKind};
use super::reviewer::{Invocation, Session, failure_kind, message_line, short_line, text_of};
use super::settings::ReviewerSettings;

/// The variables that Codex gets in addition to the common ones.
const VARIABLES: &str =
    "CODEX_HOME CODEX_API_KEY OPENAI_API_KEY OPENAI_BASE_URL CODEX_CA_CERTIFICATE";

/// The flags without a value of this run; docs/reviewers.md has the reason for each. The model's
/// commands get no keys, and the mark of our child processes.
const FLAGS: &str = "exec --json --color never --sandbox read-only --skip-git-repo-check --ephemeral \
    -c approval_policy=\"never\" -c notify=[] \
    -c features.hooks=false -c features.plugins=false -c features.apps=false \
    -c shell_environment_policy={inherit=\"all\",include_only=[\
    \"PATH\",\"HOME\",\"USER\",\"LANG\",\"LC_*\",\"TZ\",\"TMPDIR\",\"SHELL\",\"CLAUDEX_REVIEWER_CHILD\"]} \
    --output-schema";

/// The words before the HTTP status in other sentences.
const BEFORE_STATUS: [&str; 2] = ["unexpected status ", "exceeded retry limit, last status: "];

/// Reads the user's Codex configuration. Codex itself reports an unreadable file.
fn user_config() -> Table {
    let folder = |name: &str| {
        let folder = Utf8PathBuf::from(std::env::var(name).ok()?);
        folder.is_absolute().then_some(folder)
    };
    let text = folder("CODEX_HOME")
        .or_else(|| Some(folder("HOME")?.join(".codex")))
        .and_then(|home| crate::files::read_to_string(&home.join("config.toml")).ok());
    text.unwrap_or_default().parse().unwrap_or_default()
}

/// Returns the MCP servers, which Codex would start outside of its sandbox.
fn servers(config: &Table) -> impl Iterator<Item = &String> {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let servers = config.get("mcp_servers").and_then(toml::Value::as_table);
    let names = servers.into_iter().flat_map(Table::keys);
    names.filter(move |name| !name.is_empty() && name.bytes().all(is_bare))
}

/// Returns the variable with the key of the configured provider.
fn key_variable(config: &Table) -> Option<&str> {
    let provider = config.get("model_provider")?.as_str()?;
    let key = config.get("model_providers")?.get(provider)?.get("env_key");
    key?.as_str()
}

pub(super) fn invocation(
    settings: &ReviewerSettings,
    root: &Utf8Path,
) -> Result<Invocation, Cause> {
    let written = NamedTempFile::with_prefix("claudex-").and_then(|mut file| {
        file.write_all(SCHEMA.as_bytes())?;
        Ok(file)
    });
    let schema = written.map_err(|error| {
        let detail = format!("cannot write the schema of the answer: {error}");
        Cause::new(CauseKind::Io, &detail)
    })?;
    let path = schema.path().to_string_lossy().into_owned();
    Ok(Invocation {
        _schema: Some(schema),
        ..call(settings, &user_config(), root, &path)
    })
}

/// Returns the call with the user's Codex configuration and the file of the schema.
fn call(settings: &ReviewerSettings, config: &Table, root: &Utf8Path, schema: &str) -> Invocation {
    let root = toml_text(root.as_str());
    let untrusted = format!("projects={{{root}={{trust_level=\"untrusted\"}}}}");
    let off = servers(config).map(|server| format!("mcp_servers.{server}.enabled=false"));
    let values = off
        .chain([untrusted])
        .flat_map(|value| ["-c".to_owned(), value]);
    let flags = FLAGS.split_whitespace().chain([schema]).map(str::to_owned);
    let mut call = Invocation::new(settings, flags.chain(values), VARIABLES, read);
    call.variables
        .extend(key_variable(config).map(str::to_owned));
    call.arguments.push("-".to_owned());
    call
}

/// Returns a text as a basic string of TOML, which has all of JSON's escapes.
fn toml_text(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

fn read(session: &mut Session, event: &Value) -> Option<String> {
    match text_of(event, "/type") {
        // Codex repeats one message every few seconds.
        "error" => session.retry("codex", text_of(event, "/message")),
        "turn.completed" => {
            let message = session.message.as_deref().unwrap_or_default();
            session.end.get_or_insert(answer::read(message));
            None
        }
        "turn.failed" => {
            session.end = Some(Err(failure(text_of(event, "/error/message"))));
            None
        }
        kind @ ("item.started" | "item.completed") => {
            if text_of(event, "/item/type") != "error" {
                session.retries = None;
            }
            item(session, event, kind == "item.completed")
        }
        _ => None,
    }
}

fn item(session: &mut Session, event: &Value, completed: bool) -> Option<String> {
    let item = |name: &str| text_of(event, &format!("/item/{name}"));
    match item("type") {
        "agent_message" if completed => {
            session.message = Some(item("text").to_owned());
            message_line(item("text"))
        }
        "reasoning" if completed => message_line(item("text")),
        "command_execution" if !completed => {
            let command = without_shell(item("command"));
            Some(format!("runs {}", short_line(&command)))
        }
        "web_search" if !completed => {
            Some(format!("searches the web: {}", short_line(item("query"))))
        }
        "error" if completed => Some(format!("codex: {}", short_line(item("message")))),
        _ => None,
    }
}

/// Returns a model's command without the shell that the client adds.
fn without_shell(command: &str) -> String {
    let words = shlex::split(command);
    match words.as_deref() {
        Some([_, flag, inside]) if flag == "-lc" => inside.clone(),
        _ => command.to_owned(),
    }
}

fn failure(sentence: &str) -> Cause {
    let body = serde_json::from_str::<Value>(sentence).unwrap_or_default();
    let message = text_of(&body, "/error/message").trim();
    // The client writes typographic apostrophes.
    let plain = sentence.replace('\u{2019}', "'");
    let mut rests = (BEFORE_STATUS.iter()).filter_map(|begin| plain.strip_prefix(begin));
    let failures = [
        rests.next().unwrap_or(&plain),
        text_of(&body, "/error/code"),
        text_of(&body, "/error/type"),
    ];
    let kind = failures.into_iter().find_map(failure_kind);
    let kind = kind.unwrap_or(CauseKind::Failed(0));
    match message {
        "" => Cause::new(kind, sentence),
        message => Cause::new(kind, message),
    }
}

#[cfg(test)]
mod tests;
