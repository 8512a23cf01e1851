//! OpenAI's Responses API, as Codex speaks it.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::messages::list;
use super::sending::TOKENS;
use super::{Asked, Protocol, What};
use crate::e2e::agent::{Heard, Reply};

/// The protocol.
pub(super) struct Responses;

impl Protocol for Responses {
    fn asked(&self, request: &Value) -> Asked {
        let offered = list(&request["tools"]).filter_map(|tool| {
            let name = tool["name"].as_str().or_else(|| tool["type"].as_str());
            name.map(str::to_owned)
        });
        let plain = request["input"]
            .as_str()
            .map(|text| json!({ "role": "user", "content": text }));
        let items: Vec<_> = list(&request["input"]).chain(&plain).collect();
        // The model's last words may be several items: what it thought, said and called.
        let new = items.iter().rposition(|it| spoken(it)).map_or(0, |last| last + 1);
        let words = items[..new]
            .iter()
            .rposition(|it| !spoken(it))
            .map_or(0, |last| last + 1);
        let answered = items[new..].iter().any(|item| kind(item).ends_with("_output"));
        let calls: Vec<_> = items[words..new].iter().filter_map(|item| call(item)).collect();
        Asked {
            heard: Heard {
                session: String::new(),
                newest: texts(&items[new..]),
                whole: texts(&items),
                called: if answered { calls.join("\n") } else { String::new() },
                offered: offered.collect(),
            },
            what: What::Turn,
            streamed: request["stream"] == true,
            model: request["model"].as_str().unwrap_or_default().to_owned(),
        }
    }

    fn events(&self, reply: &Reply, model: &str, number: u64) -> Vec<Value> {
        let whole = self.whole(reply, model, number);
        let mut created = whole.clone();
        created["status"] = json!("in_progress");
        created["output"] = json!([]);
        created["usage"] = Value::Null;
        let mut events = vec![json!({ "type": "response.created", "response": created })];
        for (index, item) in output(reply, number).into_iter().enumerate() {
            let mut added = item.clone();
            added["status"] = json!("in_progress");
            for empty in ["content", "arguments"] {
                if let Some(value) = added.get_mut(empty) {
                    *value = if value.is_array() { json!([]) } else { json!("") };
                }
            }
            events.extend([
                json!({ "type": "response.output_item.added", "output_index": index, "item": added }),
                json!({ "type": "response.output_item.done", "output_index": index, "item": item }),
            ]);
        }
        events.push(json!({ "type": "response.completed", "response": whole }));
        for (number, event) in events.iter_mut().enumerate() {
            event["sequence_number"] = json!(number);
        }
        events
    }

    fn whole(&self, reply: &Reply, model: &str, number: u64) -> Value {
        let input = reply.tokens.unwrap_or(TOKENS);
        json!({
            "id": format!("resp_{number}"),
            "object": "response",
            "status": "completed",
            "model": model,
            "output": output(reply, number),
            "usage": {
                "input_tokens": input,
                "input_tokens_details": null,
                "output_tokens": TOKENS,
                "output_tokens_details": null,
                "total_tokens": input.saturating_add(TOKENS),
            },
        })
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Value {
        let kind = if status.is_client_error() {
            "invalid_request_error"
        } else {
            "server_error"
        };
        json!({ "error": { "message": message, "type": kind, "code": null, "param": null } })
    }
}

/// The items of an answer: its text, then its calls.
fn output(reply: &Reply, number: u64) -> Vec<Value> {
    let text = reply.say.iter().map(|say| {
        json!({
            "type": "message",
            "id": format!("msg_{number}"),
            "status": "completed",
            "role": "assistant",
            "content": [{ "type": "output_text", "text": say, "annotations": [] }],
        })
    });
    let calls = reply.calls.iter().enumerate().map(|(index, (tool, input))| {
        json!({
            "type": "function_call",
            "id": format!("fc_{number}_{index}"),
            "status": "completed",
            "name": tool,
            "arguments": input.to_string(),
            "call_id": format!("call_{number}_{index}"),
        })
    });
    text.chain(calls).collect()
}

/// An item's kind; a message may leave it out.
fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or("message")
}

/// Whether the model made this item.
fn spoken(item: &Value) -> bool {
    let kind = kind(item);
    kind == "reasoning" || kind.ends_with("_call") || (kind == "message" && item["role"] == "assistant")
}

/// All that was said in some items, a text a line: prompts, what the client puts in, results of tools; and the model's own words
/// and calls.
fn texts(items: &[&Value]) -> String {
    let mut texts = Vec::new();
    for item in items {
        texts.extend(call(item));
        for said in [&item["content"], &item["output"], &item["output"]["content"]] {
            texts.extend(said.as_str().map(str::to_owned));
            texts.extend(list(said).filter_map(|part| part["text"].as_str().map(str::to_owned)));
        }
    }
    texts.join("\n")
}

/// A call of a tool, as `Name {json}`.
fn call(item: &Value) -> Option<String> {
    let tool = item["name"].as_str().filter(|_| kind(item).ends_with("_call"))?;
    let input = item["arguments"]
        .as_str()
        .or_else(|| item["input"].as_str())
        .unwrap_or("{}");
    // Its input is JSON in a text, of whatever spacing.
    let input = serde_json::from_str::<Value>(input).map_or_else(|_| input.to_owned(), |it| it.to_string());
    Some(format!("{tool} {input}"))
}
