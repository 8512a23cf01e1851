//! Anthropic's Messages API, as Claude Code speaks it.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::sending::TOKENS;
use super::{Asked, Protocol, What};
use crate::e2e::agent::{Heard, Reply};

/// What the client's instruction to sum up the conversation has, whatever else its words are: it offers tools, as a turn does.
const SUMMARY: [&str; 2] = ["Respond with TEXT ONLY", "<summary>"];

/// The protocol.
pub(super) struct Messages;

impl Protocol for Messages {
    fn asked(&self, request: &Value) -> Asked {
        let offered = list(&request["tools"]).filter_map(|tool| Some(tool["name"].as_str()?.to_owned()));
        let messages: Vec<_> = list(&request["messages"]).collect();
        let spoken = |message: &&Value| message["role"] == "assistant";
        // The model's last words may be several messages; what is new begins after the last one of them.
        let new = messages.iter().rposition(spoken).map_or(0, |last| last + 1);
        let words = messages[..new]
            .iter()
            .rposition(|it| !spoken(it))
            .map_or(0, |last| last + 1);
        let answered = blocks(&messages[new..]).any(|block| block["type"] == "tool_result");
        let calls = blocks(&messages[words..new]).filter_map(call).collect::<Vec<_>>();
        let heard = Heard {
            session: String::new(),
            newest: texts(&messages[new..]),
            whole: texts(&messages),
            called: if answered { calls.join("\n") } else { String::new() },
            offered: offered.collect(),
        };
        let instruction =
            prompts(&messages[new..]).find(|text| SUMMARY.iter().all(|mark| text.contains(mark)));
        let what = match instruction {
            Some(instruction) => What::Summary {
                instruction: instruction.to_owned(),
                otherwise: summary(),
            },
            None if heard.offered.is_empty() => What::Aside(title()),
            None => What::Turn,
        };
        Asked {
            heard,
            what,
            streamed: request["stream"] == true,
            model: request["model"].as_str().unwrap_or_default().to_owned(),
        }
    }

    fn events(&self, reply: &Reply, model: &str, number: u64) -> Vec<Value> {
        let mut message = self.whole(reply, model, number);
        let stop_reason = message["stop_reason"].take();
        let mut events = Vec::new();
        for (index, mut block) in content(reply, number).into_iter().enumerate() {
            let delta = if block["type"] == "text" {
                json!({ "type": "text_delta", "text": block["text"].take() })
            } else {
                let input = std::mem::replace(&mut block["input"], json!({}));
                json!({ "type": "input_json_delta", "partial_json": input.to_string() })
            };
            if block["type"] == "text" {
                block["text"] = json!("");
            }
            events.extend([
                json!({ "type": "content_block_start", "index": index, "content_block": block }),
                json!({ "type": "content_block_delta", "index": index, "delta": delta }),
                json!({ "type": "content_block_stop", "index": index }),
            ]);
        }
        message["content"] = json!([]);
        events.insert(0, json!({ "type": "message_start", "message": message }));
        events.extend([
            json!({
                "type": "message_delta",
                "delta": { "stop_reason": stop_reason, "stop_sequence": null },
                "usage": { "output_tokens": TOKENS },
            }),
            json!({ "type": "message_stop" }),
        ]);
        events
    }

    fn whole(&self, reply: &Reply, model: &str, number: u64) -> Value {
        json!({
            "id": format!("msg_{number}"),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content(reply, number),
            "stop_reason": if reply.calls.is_empty() { "end_turn" } else { "tool_use" },
            "stop_sequence": null,
            "usage": { "input_tokens": reply.tokens.unwrap_or(TOKENS), "output_tokens": TOKENS },
        })
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Value {
        let kind = match status {
            StatusCode::NOT_FOUND => "not_found_error",
            status if status.is_client_error() => "invalid_request_error",
            _ => "api_error",
        };
        json!({ "type": "error", "error": { "type": kind, "message": message } })
    }
}

/// The blocks of an answer: its text, then its calls.
fn content(reply: &Reply, number: u64) -> Vec<Value> {
    let text = reply.say.iter().map(|say| json!({ "type": "text", "text": say }));
    let calls = reply.calls.iter().enumerate().map(|(index, (tool, input))| {
        json!({ "type": "tool_use", "id": format!("toolu_{number}_{index}"), "name": tool, "input": input })
    });
    text.chain(calls).collect()
}

/// All that was said in some messages, a text a line: prompts, results of tools, what the client puts in; and the model's own
/// words and calls.
fn texts(messages: &[&Value]) -> String {
    let mut texts = Vec::new();
    for message in messages {
        if let Some(text) = message["content"].as_str() {
            texts.push(text.to_owned());
        }
        for block in list(&message["content"]) {
            let result = &block["content"];
            texts.extend(block["text"].as_str().map(str::to_owned));
            texts.extend(call(block));
            texts.extend(result.as_str().map(str::to_owned));
            texts.extend(list(result).filter_map(|it| it["text"].as_str().map(str::to_owned)));
        }
    }
    texts.join("\n")
}

/// The blocks of some messages; there are none in one whose content is a text.
fn blocks<'a>(messages: &[&'a Value]) -> impl Iterator<Item = &'a Value> {
    messages.iter().flat_map(|message| list(&message["content"]))
}

/// What was said to the model in some messages, without the results of tools.
fn prompts<'a>(messages: &[&'a Value]) -> impl Iterator<Item = &'a str> {
    let plain = messages.iter().filter_map(|message| message["content"].as_str());
    plain.chain(blocks(messages).filter_map(|block| block["text"].as_str()))
}

/// A call of a tool, as `Name {json}`.
fn call(block: &Value) -> Option<String> {
    let tool = block["name"].as_str().filter(|_| block["type"] == "tool_use")?;
    Some(format!("{tool} {}", block["input"]))
}

/// The items of a list; none in what is no list.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// What a model says that keeps nothing of the conversation: whatever goes on after it goes on by what our hooks say then.
fn summary() -> Reply {
    Reply {
        about: "(the client sums the conversation up)".to_owned(),
        say: Some(
            "<analysis>\nThe conversation was looked through.\n</analysis>\n\n<summary>\n1. Primary Request and Intent:\n   \
             The user works in this project; nothing else is kept of the conversation so far.\n</summary>"
                .to_owned(),
        ),
        ..Reply::default()
    }
}

fn title() -> Reply {
    Reply {
        about: "(the client asks beside the conversation)".to_owned(),
        say: Some(json!({ "title": "A scripted session" }).to_string()),
        ..Reply::default()
    }
}
