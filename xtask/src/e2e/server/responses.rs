//! OpenAI's Responses API, as Codex speaks it. Items of the role "developer", the client's standing instructions (20 kB of them
//! in every request), are not heard.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::protocol::{Asked, Protocol, TOKENS, What, joined, list};
use crate::e2e::agent::{Heard, Reply, Source};

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
        let new = items
            .iter()
            .rposition(|it| spoken(it))
            .map_or(0, |last| last + 1);
        let words = items[..new]
            .iter()
            .rposition(|it| !spoken(it))
            .map_or(0, |last| last + 1);
        let answered = items[new..]
            .iter()
            .any(|item| kind(item).ends_with("_output"));
        let calls: Vec<_> = items[words..new]
            .iter()
            .filter_map(|item| call(item))
            .collect();
        let parts = texts(&items[new..]);
        Asked {
            heard: Heard {
                session: String::new(),
                newest: joined(&parts),
                whole: joined(&texts(&items)),
                called: if answered {
                    calls.join("\n")
                } else {
                    String::new()
                },
                offered: offered.collect(),
                parts,
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
                    *value = if value.is_array() {
                        json!([])
                    } else {
                        json!("")
                    };
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

/// Returns the items of an answer: its text, then its calls.
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
    let calls = reply
        .calls
        .iter()
        .enumerate()
        .map(|(index, (tool, input))| {
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

/// Returns an item's kind; a message may leave it out.
fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or("message")
}

/// Returns whether the model made this item.
fn spoken(item: &Value) -> bool {
    let kind = kind(item);
    kind == "reasoning"
        || kind.ends_with("_call")
        || (kind == "message" && item["role"] == "assistant")
}

/// Returns all that was said in some items, in its order: prompts, what the client puts in, results of tools; and the model's
/// own words and calls.
fn texts(items: &[&Value]) -> Vec<(Source, String)> {
    let mut texts = Vec::new();
    for item in items.iter().filter(|item| item["role"] != "developer") {
        texts.extend(call(item).map(|call| (Source::User, call)));
        let source = if item["role"] == "system" {
            Source::Client
        } else {
            Source::User
        };
        for (source, said) in [
            (source, &item["content"]),
            (Source::Tool, &item["output"]),
            (Source::Tool, &item["output"]["content"]),
        ] {
            let said = said
                .as_str()
                .into_iter()
                .chain(list(said).filter_map(|part| part["text"].as_str()));
            texts.extend(said.map(|text| (source, text.to_owned())));
        }
    }
    texts
}

/// Returns a call of a tool, as `Name {json}`.
fn call(item: &Value) -> Option<String> {
    let tool = item["name"]
        .as_str()
        .filter(|_| kind(item).ends_with("_call"))?;
    let input = item["arguments"]
        .as_str()
        .or_else(|| item["input"].as_str())
        .unwrap_or("{}");
    // Its input is JSON in a text, of whatever spacing.
    let input =
        serde_json::from_str::<Value>(input).map_or_else(|_| input.to_owned(), |it| it.to_string());
    Some(format!("{tool} {input}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(input: Value) -> Heard {
        let request = json!({
            "model": "gpt-x",
            "stream": true,
            "tools": [{ "type": "function", "name": "exec_command" }, { "type": "web_search" }],
            "input": input,
        });
        Responses.asked(&request).heard
    }

    #[test]
    fn a_first_prompt_is_heard_without_the_clients_standing_instructions() {
        let heard = heard(json!([
            { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "You are a coding agent" }] },
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "<cwd>/p</cwd>" }, { "type": "input_image" }] },
            { "role": "user", "content": "Review it" },
        ]));
        assert_eq!(heard.newest, "<cwd>/p</cwd>\nReview it");
        assert_eq!(heard.whole, heard.newest);
        assert_eq!(heard.offered, ["exec_command", "web_search"]);
        assert_eq!(heard.called, "");
    }

    #[test]
    fn results_are_heard_in_their_forms_and_what_was_called_is_known() {
        let heard = heard(json!([
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "go" }] },
            { "type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "0" },
            { "type": "function_call_output", "call_id": "0", "output": "old" },
            { "type": "reasoning", "summary": [] },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "I look." }] },
            { "type": "function_call", "name": "exec_command", "arguments": "{ \"cmd\" : \"cat 'ü'\" }", "call_id": "1" },
            { "type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "2" },
            { "type": "function_call_output", "call_id": "1", "output": "as a text" },
            { "type": "custom_tool_call_output", "call_id": "2", "output": [{ "type": "input_text", "text": "as a list" }] },
            { "type": "function_call_output", "call_id": "3", "output": { "content": "as a part" } },
        ]));
        assert_eq!(heard.newest, "as a text\nas a list\nas a part");
        assert_eq!(
            heard.called,
            "exec_command {\"cmd\":\"cat 'ü'\"}\napply_patch *** Begin"
        );
        assert!(
            heard
                .whole
                .starts_with("go\nexec_command {}\nold\nI look.\nexec_command {"),
            "{}",
            heard.whole
        );
        assert!(
            heard
                .parts
                .iter()
                .all(|(source, _)| *source == Source::Tool)
        );
    }

    #[test]
    fn an_input_may_be_a_plain_text_or_nothing_of_use() {
        assert_eq!(heard(json!("Review it")).newest, "Review it");
        for input in [json!(null), json!(4), json!([1, {}, { "type": 2 }])] {
            assert_eq!(heard(input).whole, "");
        }
    }

    #[test]
    fn an_answer_is_one_stream_of_events() {
        let reply = Reply {
            say: Some("I look.".to_owned()),
            calls: vec![("exec_command".to_owned(), json!({ "cmd": "ls" }))],
            ..Reply::default()
        };
        let events = Responses.events(&reply, "gpt-x", 3);
        let kinds: Vec<_> = events
            .iter()
            .filter_map(|event| event["type"].as_str())
            .collect();
        let item = ["response.output_item.added", "response.output_item.done"];
        let expected: Vec<_> = ["response.created"]
            .into_iter()
            .chain(item.repeat(2))
            .chain(["response.completed"])
            .collect();
        assert_eq!(kinds, expected);
        assert_eq!(events[1]["item"]["content"], json!([]));
        assert_eq!(events[2]["item"]["content"][0]["text"], "I look.");
        assert_eq!(events[3]["item"]["arguments"], "");
        assert_eq!(events[4]["item"]["arguments"], "{\"cmd\":\"ls\"}");
        assert_eq!(events[4]["item"]["call_id"], "call_3_0");
        assert_eq!(events[5]["response"]["usage"]["total_tokens"], 20);
    }
}
