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

/// Returns the cause that a sentence tells, else a failure of the client.
pub(super) fn cause(said: &str) -> Cause {
    let body = serde_json::from_str::<Value>(said).unwrap_or_default();
    let message = text_of(&body, "/error/message").trim();
    // The client writes typographic apostrophes.
    let plain = said.replace('\u{2019}', "'");
    let sentence = SENTENCES.iter().find(|(begin, _)| plain.starts_with(begin));
    let kind = sentence
        .map(|(_, kind)| *kind)
        .or_else(|| cause_by_status(&plain))
        .or_else(|| cause_by_code(text_of(&body, "/error/code")))
        .or_else(|| cause_by_code(text_of(&body, "/error/type")))
        .unwrap_or(CauseKind::Failed { status: 0 });
    let detail = match message.is_empty() {
        true => said,
        false => message,
    };
    Cause::new(kind, detail)
}

fn cause_by_status(said: &str) -> Option<CauseKind> {
    let mut begins = WITH_STATUS.iter();
    let rest = begins.find_map(|begin| said.strip_prefix(begin))?;
    cause_of_status(rest.get(..3)?.parse().ok()?)
}

/// Returns the cause that the service's own code for an error means, if it is clear.
fn cause_by_code(code: &str) -> Option<CauseKind> {
    match code {
        "invalid_api_key" | "authentication_error" => Some(CauseKind::Login),
        "insufficient_quota" | "usage_limit_reached" | "rate_limit_exceeded" => {
            Some(CauseKind::Quota)
        }
        "server_error" | "server_is_overloaded" => Some(CauseKind::Service),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_measured_sentence_has_its_cause() {
        let other = CauseKind::Failed { status: 0 };
        for (said, kind) in [
            (
                "unexpected status 403 Forbidden: Country not supported, url: u",
                CauseKind::Login,
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
            (
                "Incomplete response returned, reason: max_output_tokens",
                other,
            ),
            // A model's name, a path, the service's prose: the sentence does not begin with them.
            ("The model `401 quota` does not exist", other),
            (
                "bad request: Quota exceeded is what the plan says about 429 and login",
                other,
            ),
        ] {
            assert_eq!(cause(said).kind, kind, "{said}");
        }
        for (begin, kind) in SENTENCES {
            assert_eq!(cause(&format!("{begin} …")).kind, kind, "{begin}");
        }
    }

    #[test]
    fn message_of_body_is_the_detail() {
        let body = r#"{"error": {"message": "Invalid schema", "code": "invalid_json_schema"}}"#;
        assert_eq!(cause(body).detail, "Invalid schema");
        for said in [r#"{"error": {"message": " "}}"#, "{"] {
            assert_eq!(cause(said).detail, said);
        }
    }
}
