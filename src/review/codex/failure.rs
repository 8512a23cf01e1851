//! The cause of a failed turn of Codex, from the one sentence of its `turn.failed` event.
//!
//! The sentences are the client's own, fixed in its program and measured (docs/clients.md); some carry the HTTP status, some the
//! service's JSON. They come in no other event, and no text of a model comes in this one.

use serde_json::Value;

use super::super::client::{cause_of_status, text_of};
use super::super::reviewer::{Cause, CauseKind};

/// Sentences, by how they begin, and what they mean.
const SENTENCES: [(&str, CauseKind); 11] = [
    ("Missing environment variable: ", CauseKind::Login),
    ("Your access token could not be refreshed", CauseKind::Login),
    ("You've hit your usage limit", CauseKind::Quota),
    ("Quota exceeded", CauseKind::Quota),
    ("Your workspace is out of credits", CauseKind::Quota),
    ("You're out of credits", CauseKind::Quota),
    ("You hit your spend cap", CauseKind::Quota),
    (
        "We're currently experiencing high demand",
        CauseKind::Service,
    ),
    ("Selected model is at capacity", CauseKind::Service),
    ("stream disconnected before completion", CauseKind::Service),
    ("Connection failed", CauseKind::Service),
];

/// Sentences that carry an HTTP status right after these words.
const WITH_STATUS: [&str; 2] = ["unexpected status ", "exceeded retry limit, last status: "];

/// Returns the cause that a sentence tells, else `otherwise`.
pub(super) fn cause(said: &str, otherwise: CauseKind) -> Cause {
    // The client writes typographic apostrophes.
    let plain = said.replace('\u{2019}', "'");
    let kind = by_sentence(&plain)
        .or_else(|| by_status(&plain))
        .or_else(|| by_body(&plain))
        .unwrap_or(otherwise);
    Cause::new(kind, message_of(said).as_deref().unwrap_or(said))
}

/// Returns the service's message, if the sentence is its whole JSON.
fn message_of(said: &str) -> Option<String> {
    let body: Value = serde_json::from_str(said).ok()?;
    let message = text_of(&body, "/error/message").trim();
    (!message.is_empty()).then(|| message.to_owned())
}

fn by_sentence(said: &str) -> Option<CauseKind> {
    let found = SENTENCES.iter().find(|(begin, _)| said.starts_with(begin));
    found.map(|(_, kind)| *kind)
}

fn by_status(said: &str) -> Option<CauseKind> {
    let rest = WITH_STATUS
        .iter()
        .find_map(|begin| said.strip_prefix(begin))?;
    cause_of_status(rest.get(..3)?.parse().ok()?)
}

/// Returns the cause of the service's error, if the sentence is its whole JSON.
fn by_body(said: &str) -> Option<CauseKind> {
    let body: Value = serde_json::from_str(said).ok()?;
    [text_of(&body, "/error/code"), text_of(&body, "/error/type")]
        .into_iter()
        .find_map(|code| match code {
            "invalid_api_key" | "authentication_error" => Some(CauseKind::Login),
            "insufficient_quota" | "usage_limit_reached" | "rate_limit_exceeded" => {
                Some(CauseKind::Quota)
            }
            "server_error" | "server_is_overloaded" => Some(CauseKind::Service),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_measured_sentence_has_its_cause() {
        let other = CauseKind::Failed { status: 1 };
        for (said, kind) in [
            (
                "unexpected status 401 Unauthorized: Incorrect API key provided: x., url: http://h/v1/responses",
                CauseKind::Login,
            ),
            (
                "unexpected status 403 Forbidden: Country not supported, url: u",
                CauseKind::Login,
            ),
            (
                "Missing environment variable: `STANDIN_KEY`.",
                CauseKind::Login,
            ),
            (
                "You\u{2019}ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit …",
                CauseKind::Quota,
            ),
            (
                "Quota exceeded. Check your plan and billing details.",
                CauseKind::Quota,
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                CauseKind::Quota,
            ),
            (
                "We\u{2019}re currently experiencing high demand, which may cause temporary errors.",
                CauseKind::Service,
            ),
            (
                "Selected model is at capacity. Please try a different model.",
                CauseKind::Service,
            ),
            (
                "stream disconnected before completion: boom",
                CauseKind::Service,
            ),
            (
                "exceeded retry limit, last status: 503 Service Unavailable",
                CauseKind::Service,
            ),
            (
                "The model `nope` does not exist or you do not have access to it.",
                other,
            ),
            (
                "Incomplete response returned, reason: max_output_tokens",
                other,
            ),
            (
                r#"{"error": {"message": "m", "code": "invalid_json_schema"}}"#,
                other,
            ),
            (
                r#"{"error": {"type": "insufficient_quota"}}"#,
                CauseKind::Quota,
            ),
            ("unexpected status 4", other),
            ("unexpected status \u{fc}\u{fc}\u{fc}", other),
            ("", other),
        ] {
            assert_eq!(cause(said, other).kind, kind, "{said}");
        }
    }

    #[test]
    fn of_a_body_its_message_is_told() {
        let other = CauseKind::Failed { status: 1 };
        let body = r#"{"error": {"message": "Invalid schema", "code": "invalid_json_schema"}}"#;
        assert_eq!(cause(body, other).detail, "Invalid schema");
        for said in [
            r#"{"error": {"code": "x"}}"#,
            r#"{"error": {"message": " "}}"#,
            "{",
        ] {
            assert_eq!(cause(said, other).detail, said, "nothing better is there");
        }
    }

    #[test]
    fn words_of_others_decide_nothing() {
        // A model's name, a path, the service's prose: the sentence does not begin with them.
        let other = CauseKind::Failed { status: 1 };
        for said in [
            "The model `401 quota` does not exist",
            "bad request: Quota exceeded is what the plan says about 429 and login",
        ] {
            assert_eq!(cause(said, other).kind, other, "{said}");
        }
    }
}
