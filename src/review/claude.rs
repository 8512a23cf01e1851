//! The reviewer `claude`: Claude Code without a terminal, with tools that only read, its answer by schema.
//!
//! Its events were measured (docs/clients.md). The HTTP status and the error's name in an event decide the cause of a failure.

use camino::Utf8Path;
use serde_json::Value;

use super::answer::{self, CLOSING, SCHEMA};
use super::client::{
    self, COMMON_VARIABLES, Client, Events, Retries, cause_of_status, message_line, shown,
    shown_path, text_of,
};
use super::reviewer::{self, Cause, CauseKind, Outcome, Request, Reviewer, Trace};
use super::settings::ReviewerSettings;
use crate::process::{ProcessOutput, Watch};

/// Its program.
pub const PROGRAM: &str = "claude";

/// The variables that it gets in addition to the common ones: login, service, and telemetry switches.
const VARIABLES: [&str; 15] = [
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_TMPDIR",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_AUTOUPDATER",
    "API_TIMEOUT_MS",
];

/// Its flags except for schema and model. docs/reviewers.md has the reason for each.
const FLAGS: [&str; 14] = [
    "--print",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--tools",
    "Read,Grep,Glob",
    "--permission-mode",
    "dontAsk",
    "--setting-sources",
    "user",
    "--settings",
    r#"{"disableAllHooks":true}"#,
    "--strict-mcp-config",
];

/// `claude`.
#[derive(Debug, Clone)]
pub struct Claude {
    /// Its name in the configuration.
    pub name: String,
    /// Its settings.
    pub settings: ReviewerSettings,
}

impl Reviewer for Claude {
    fn name(&self) -> &str {
        &self.name
    }

    fn review(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> Outcome {
        let variables = variables();
        let client = Client {
            settings: &self.settings,
            program: PROGRAM,
            variables: &variables,
        };
        let arguments = arguments(&self.settings);
        client::with_repair(request, watch, |request, watch| {
            let prompt = format!("{}\n{CLOSING}", request.prompt);
            let mut seen = Seen::new(request.root, request.trace);
            let outcome = match client.ask(request, &arguments, &prompt, &mut seen, watch) {
                Err(cause) => Outcome::CouldNotRun(cause),
                Ok(ended) => seen.judge(&ended, &arguments),
            };
            (
                outcome,
                seen.result
                    .map(|result| text_of(&result, "/result").to_owned()),
            )
        })
    }
}

/// Returns the variables that it gets. The configuration may add more.
pub fn variables() -> Vec<String> {
    COMMON_VARIABLES
        .into_iter()
        .chain(VARIABLES)
        .map(str::to_owned)
        .collect()
}

fn arguments(settings: &ReviewerSettings) -> Vec<String> {
    let mut all: Vec<String> = FLAGS.map(str::to_owned).into();
    all.extend(["--no-session-persistence", "--json-schema", SCHEMA].map(str::to_owned));
    if let Some(model) = &settings.model {
        all.extend(["--model".to_owned(), model.clone()]);
    }
    all.extend(settings.arguments.iter().cloned());
    all
}

/// The events of a session so far.
#[derive(Debug)]
struct Seen<'r> {
    root: &'r Utf8Path,
    trace: &'r Trace,
    /// Whether there was an event. Without one, the program does not print JSON.
    has_events: bool,
    /// The name of the last error of the service.
    error: Option<String>,
    /// The event that ends a session.
    result: Option<Value>,
    retries: Retries,
}

impl<'r> Seen<'r> {
    fn new(root: &'r Utf8Path, trace: &'r Trace) -> Self {
        Self {
            root,
            trace,
            has_events: false,
            error: None,
            result: None,
            retries: Retries::default(),
        }
    }

    fn judge(&self, ended: &ProcessOutput, arguments: &[String]) -> Outcome {
        let failed = reviewer::failure(ended);
        let Some(result) = &self.result else {
            return match failed {
                Some(cause) => Outcome::CouldNotRun(cause),
                None if !self.has_events => reviewer::judge(ended),
                None => reviewer::judge_answer(""),
            };
        };
        if let Some(cause) = limit(result, arguments) {
            return Outcome::CouldNotRun(cause);
        }
        let says_failed = result.get("is_error").and_then(Value::as_bool) == Some(true);
        match failed {
            None if !says_failed => answer_of(result),
            None => self.failure(result, CauseKind::Failed { status: 0 }),
            Some(cause) if matches!(cause.kind, CauseKind::Failed { .. }) => {
                self.failure(result, cause.kind)
            }
            Some(cause) => Outcome::CouldNotRun(cause),
        }
    }

    /// Returns what a session that failed says by its result: status, name of the error, kind of end.
    fn failure(&self, result: &Value, otherwise: CauseKind) -> Outcome {
        let errors = result.pointer("/errors/0").and_then(Value::as_str);
        let detail = errors.unwrap_or_else(|| text_of(result, "/result"));
        if text_of(result, "/subtype") == "error_max_structured_output_retries" {
            return Outcome::Unreadable(Cause::new(CauseKind::NotAVerdict, detail));
        }
        let status = result.get("api_error_status").and_then(Value::as_u64);
        let kind = self
            .error
            .as_deref()
            .and_then(of_error)
            .or_else(|| status.and_then(cause_of_status))
            .unwrap_or(otherwise);
        Outcome::CouldNotRun(Cause::new(kind, detail))
    }

    fn tool(&self, block: &Value) -> Option<String> {
        let input = |name: &str| text_of(block, &format!("/input/{name}"));
        for place in ["file_path", "path", "pattern", "glob"] {
            self.trace.add(input(place));
        }
        Some(match text_of(block, "/name") {
            "Read" => format!("reads {}", shown_path(input("file_path"), self.root)),
            "Grep" => format!("searches for {}", shown(input("pattern"))),
            "Glob" => format!("looks for {}", shown(input("pattern"))),
            "StructuredOutput" => "answers".to_owned(),
            other => format!("asks for {}", shown(other)),
        })
    }
}

/// Returns the limit of the session's own arguments that it reached.
fn limit(result: &Value, arguments: &[String]) -> Option<Cause> {
    let (option, reached) = match text_of(result, "/subtype") {
        "error_max_turns" => ("--max-turns", "num_turns"),
        "error_max_budget_usd" => ("--max-budget-usd", "total_cost_usd"),
        _ => return None,
    };
    let value = arguments.iter().enumerate().find_map(|(index, argument)| {
        match argument.strip_prefix(option)? {
            "" => arguments.get(index + 1).cloned(),
            value => value.strip_prefix('=').map(str::to_owned),
        }
    });
    let value = value.or_else(|| result.get(reached).map(Value::to_string));
    let detail = format!("Claude stopped at {option} {}", value.unwrap_or_default());
    Some(Cause::new(CauseKind::Limit, &detail))
}

/// Returns the outcome of a session that ended well.
fn answer_of(result: &Value) -> Outcome {
    match result.get("structured_output") {
        Some(answer @ Value::Object(_)) => reviewer::outcome(answer::read_value(answer)),
        _ => reviewer::judge_answer(text_of(result, "/result")),
    }
}

/// Returns the cause that the name of an error of the service means, if it is clear.
fn of_error(name: &str) -> Option<CauseKind> {
    match name {
        "authentication_failed"
        | "oauth_org_not_allowed"
        | "account_on_hold"
        | "verification_required" => Some(CauseKind::Login),
        "rate_limit" | "billing_error" => Some(CauseKind::Quota),
        "server_error" | "overloaded" => Some(CauseKind::Service),
        _ => None,
    }
}

impl Events for Seen<'_> {
    fn take(&mut self, event: &Value) -> Option<String> {
        self.has_events = true;
        match text_of(event, "/type") {
            "system" if text_of(event, "/subtype") == "api_retry" => {
                let number = |name: &str| event.get(name).and_then(Value::as_u64);
                let message = format!(
                    "trying again ({}; attempt {} of {})",
                    shown(text_of(event, "/error")),
                    number("attempt").unwrap_or_default(),
                    number("max_retries").unwrap_or_default()
                );
                let line = format!("claude: {message}");
                self.retries.note(message);
                Some(line)
            }
            "assistant" => {
                self.retries = Retries::default();
                self.trace.reports();
                if event.get("is_api_error_message").and_then(Value::as_bool) == Some(true)
                    || event.get("error").is_some_and(Value::is_string)
                {
                    self.error = Some(text_of(event, "/error").to_owned());
                    return None;
                }
                let blocks = event
                    .pointer("/message/content")
                    .and_then(Value::as_array)?;
                let lines: Vec<String> = blocks
                    .iter()
                    .filter_map(|block| match text_of(block, "/type") {
                        "text" => message_line(text_of(block, "/text")),
                        "tool_use" => self.tool(block),
                        _ => None,
                    })
                    .collect();
                Some(lines.join("; ")).filter(|line| !line.is_empty())
            }
            "result" => {
                self.result = Some(event.clone());
                None
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
