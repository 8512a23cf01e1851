//! What the two protocols have in common: a request, what it is for, and how an answer is written.

use axum::http::StatusCode;
use serde_json::Value;

use crate::e2e::agent::{Heard, Reply, Source};

/// The tokens that a request is said to have had, where the rule does not say.
pub(super) const TOKENS: u64 = 10;

/// One request, translated.
pub(super) struct Asked {
    pub(super) heard: Heard,
    pub(super) what: What,
    /// Answered event by event.
    pub(super) streamed: bool,
    /// The model that the client asked for.
    pub(super) model: String,
}

/// What a request is for.
pub(super) enum What {
    /// A turn of the conversation: the agent's rules answer.
    Turn,
    /// A summary of it that the client goes on with. Only a rule whose `newest` fits the instruction answers, else the reply here.
    Summary {
        instruction: String,
        otherwise: Reply,
    },
    /// Something of the client's own, as a title. No rule answers.
    Aside(Reply),
}

/// One of the two protocols.
pub(super) trait Protocol: Sync {
    /// Returns what a request says; its session is not filled in. A request that is none says nothing.
    fn asked(&self, request: &Value) -> Asked;
    /// Returns the events of an answer, each with its kind under `type`; at least one.
    fn events(&self, reply: &Reply, model: &str, number: u64) -> Vec<Value>;
    /// The same answer as one document.
    fn whole(&self, reply: &Reply, model: &str, number: u64) -> Value;
    /// Returns the body of an answer that is no 200.
    fn refusal(&self, status: StatusCode, message: &str) -> Value;
}

/// Texts as the one that rules look at.
pub(super) fn joined(texts: &[(Source, String)]) -> String {
    let texts: Vec<_> = texts.iter().map(|(_, text)| text.as_str()).collect();
    texts.join("\n")
}

/// Returns the items of a list; none in what is no list.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
