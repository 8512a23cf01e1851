//! The reviewer `claude`: Claude Code without a terminal, with read-only tools and a schema.
//!
//! The events of the client were measured (docs/dev/clients.md).

use camino::Utf8Path;
use serde_json::Value;

use super::answer::{self, SCHEMA};
use super::cause::{Cause, CauseKind};
use super::findings::Findings;
use super::reviewer::{Invocation, Session, failure_kind, message_line, short_line, text_of};
use super::settings::ReviewerSettings;

/// The variables in addition to the common ones: login, service, and telemetry switches.
const VARIABLES: &str = "CLAUDE_CONFIG_DIR CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX \
    ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS API_TIMEOUT_MS \
    CLAUDE_CODE_MAX_RETRIES CLAUDE_CODE_TMPDIR CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC \
    DISABLE_TELEMETRY DISABLE_ERROR_REPORTING DISABLE_AUTOUPDATER";

/// The flags except for schema and model. docs/reviewers.md has the reason for each.
const FLAGS: &str = "--print --output-format stream-json --verbose --include-partial-messages --tools Read,Grep,Glob \
    --permission-mode dontAsk --setting-sources user --settings {\"disableAllHooks\":true} --strict-mcp-config \
    --no-session-persistence";

/// The ends of a session at a limit: the subtype, the argument, and the property with the number.
const LIMITS: [(&str, &str, &str); 2] = [
    ("error_max_turns", "--max-turns", "num_turns"),
    ("error_max_budget_usd", "--max-budget-usd", "total_cost_usd"),
];

pub(super) fn invocation(settings: &ReviewerSettings) -> Invocation {
    let flags = FLAGS.split_whitespace().chain(["--json-schema", SCHEMA]);
    Invocation::new(settings, flags.map(str::to_owned), VARIABLES, read)
}

/// Reads an event. The HTTP status and the name of an error decide the cause of a failure.
fn read(session: &mut Session, event: &Value) -> Option<String> {
    match text_of(event, "/type") {
        "system" if text_of(event, "/subtype") == "api_retry" => {
            let error = text_of(event, "/error");
            let [attempt, most] = [&event["attempt"], &event["max_retries"]];
            let message = format!("trying again ({error}; attempt {attempt} of {most})");
            session.retry("claude", &message)
        }
        "assistant" => {
            session.retries = None;
            if event["error"].is_string() || event["is_api_error_message"] == true {
                session.error = Some(text_of(event, "/error").to_owned());
                return None;
            }
            let blocks = event
                .pointer("/message/content")
                .and_then(Value::as_array)?;
            let line_of = |block: &Value| match text_of(block, "/type") {
                "text" => message_line(text_of(block, "/text")),
                "tool_use" => Some(tool(&session.root, block)),
                _ => None,
            };
            let lines: Vec<String> = blocks.iter().filter_map(line_of).collect();
            (!lines.is_empty()).then(|| lines.join("; "))
        }
        "result" => {
            session.message = Some(text_of(event, "/result").to_owned());
            session.end = Some(end(session, event));
            None
        }
        _ => None,
    }
}

fn tool(root: &Utf8Path, block: &Value) -> String {
    let input = |name: &str| text_of(block, &format!("/input/{name}"));
    let (verb, object) = match text_of(block, "/name") {
        "Read" => {
            let path = Utf8Path::new(input("file_path"));
            ("reads", path.strip_prefix(root).unwrap_or(path).as_str())
        }
        "Grep" => ("searches for", input("pattern")),
        "Glob" => ("looks for", input("pattern")),
        "StructuredOutput" => return "answers".to_owned(),
        other => ("asks for", other),
    };
    format!("{verb} {}", short_line(object))
}

/// Returns the findings in the last event of a session.
fn end(session: &Session, result: &Value) -> Result<Findings, Cause> {
    let subtype = text_of(result, "/subtype");
    if let Some((_, option, reached)) = LIMITS.iter().find(|(limit, ..)| *limit == subtype) {
        let detail = format!("Claude stopped at {option} {}", result[*reached]);
        return Err(Cause::new(CauseKind::Limit, &detail));
    }
    if result["is_error"] != true {
        return match &result["structured_output"] {
            answer @ Value::Object(_) => answer::read(&answer.to_string()),
            _ => answer::read(text_of(result, "/result")),
        };
    }
    let errors = result.pointer("/errors/0").and_then(Value::as_str);
    let detail = errors.unwrap_or_else(|| text_of(result, "/result"));
    if subtype == "error_max_structured_output_retries" {
        return Err(Cause::not_a_verdict(detail));
    }
    let kind = failure_kind(session.error.as_deref().unwrap_or_default())
        .or_else(|| failure_kind(&result["api_error_status"].to_string()))
        .unwrap_or(CauseKind::Failed(0));
    Err(Cause::new(kind, detail))
}

#[cfg(test)]
mod tests;
