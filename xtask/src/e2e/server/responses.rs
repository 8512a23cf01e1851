//! OpenAI's Responses API, as Codex uses it. Items with the role "developer", the client's standing
//! instructions, are ignored.

use serde_json::{Value, json};

use super::{ANSWER_TOKENS, Entry, Kind, Protocol, items, texts};
use crate::e2e::agent::{Call, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    entries,
    document,
    events,
};

fn entries(request: &Value) -> Vec<Entry> {
    let mut entries = Vec::new();
    for item in items(&request["input"]) {
        if item["role"] == "developer" {
            continue;
        }
        let mut add = |kind, text: &str| {
            let text = text.to_owned();
            entries.push(Entry { kind, text });
        };
        if item["type"] == "function_call" {
            let tool = item["name"].as_str().unwrap_or_default();
            let input = item["arguments"].as_str().unwrap_or("{}");
            // The input is JSON in a text; its spacing is normalized.
            let parsed: Result<Value, _> = serde_json::from_str(input);
            let input = parsed.map_or_else(|_| input.to_owned(), |it| it.to_string());
            add(Kind::Call, &format!("{tool} {input}"));
        }
        let kind = match (item["role"].as_str(), item["type"].as_str()) {
            (Some("assistant"), _) | (_, Some("reasoning")) => Kind::Words,
            _ => Kind::Prompt,
        };
        for text in texts(&item["content"]) {
            add(kind, text);
        }
        for text in texts(&item["output"]).chain(texts(&item["output"]["content"])) {
            add(Kind::Result, text);
        }
    }
    entries
}

fn document(reply: &Rule, model: &str, number: u64) -> Value {
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
        .map(|(index, Call { tool, input })| {
            json!({
                "type": "function_call",
                "id": format!("fc_{number}_{index}"),
                "status": "completed",
                "name": tool,
                "arguments": input.to_string(),
                "call_id": format!("call_{number}_{index}"),
            })
        });
    let input = reply.tokens.unwrap_or(ANSWER_TOKENS);
    json!({
        "id": format!("resp_{number}"),
        "object": "response",
        "status": "completed",
        "model": model,
        "output": text.chain(calls).collect::<Vec<_>>(),
        "usage": {
            "input_tokens": input,
            "input_tokens_details": null,
            "output_tokens": ANSWER_TOKENS,
            "output_tokens_details": null,
            "total_tokens": input + ANSWER_TOKENS,
        },
    })
}

fn events(document: Value) -> Vec<Value> {
    let mut created = document.clone();
    created["status"] = json!("in_progress");
    created["output"] = json!([]);
    created["usage"] = Value::Null;
    let mut events = vec![json!({ "type": "response.created", "response": created })];
    for (index, item) in items(&document["output"]).enumerate() {
        let mut added = item.clone();
        added["status"] = json!("in_progress");
        if item["type"] == "message" {
            added["content"] = json!([]);
        } else {
            added["arguments"] = json!("");
        }
        events.extend([
            json!({ "type": "response.output_item.added", "output_index": index, "item": added }),
            json!({ "type": "response.output_item.done", "output_index": index, "item": item }),
        ]);
    }
    events.push(json!({ "type": "response.completed", "response": document }));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events
}
