//! Anthropic's Messages API, as Claude Code uses it. The request's `system` key, the client's
//! standing instructions, is ignored; messages with the role "system" are not.

use serde_json::{Value, json};

use super::{ANSWER_TOKENS, Entry, Kind, Protocol, items, texts};
use crate::e2e::agent::{Call, Heard, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    entries,
    document,
    events,
};

/// The marks of the client's instruction to summarize the conversation.
const SUMMARY_MARKS: [&str; 2] = ["Respond with TEXT ONLY", "<summary>"];

/// A summary that keeps nothing, so that only our hooks can bring the loop back.
const SUMMARY: &str = "<analysis>\nThe conversation was read.\n</analysis>\n\n<summary>\n\
                       1. Primary Request and Intent:\n   The user works in this project.\n\
                       </summary>";

fn entries(request: &Value) -> Vec<Entry> {
    let mut entries = Vec::new();
    for message in items(&request["messages"]) {
        let kind = if message["role"] == "assistant" {
            Kind::Words
        } else {
            Kind::Prompt
        };
        let mut add = |kind, text: &str| {
            let text = text.to_owned();
            entries.push(Entry { kind, text });
        };
        if let Some(text) = message["content"].as_str() {
            add(kind, text);
        }
        for block in items(&message["content"]) {
            if let Some(text) = block["text"].as_str() {
                add(kind, text);
            }
            if let (Some(tool), true) = (block["name"].as_str(), block["type"] == "tool_use") {
                add(Kind::Call, &format!("{tool} {}", block["input"]));
            }
            for text in texts(&block["content"]) {
                add(Kind::Result, text);
            }
        }
    }
    entries
}

/// Returns the fixed answer to a request that is no turn of the conversation: a summary, or a
/// request without tools, such as for a title.
pub(super) fn aside(heard: &Heard, entries: &[Entry]) -> Option<Rule> {
    let mut newest = entries
        .iter()
        .rev()
        .take_while(|it| matches!(it.kind, Kind::Prompt | Kind::Result));
    let is_summary = newest.any(|it| SUMMARY_MARKS.iter().all(|mark| it.text.contains(mark)));
    let say = if is_summary {
        SUMMARY.to_owned()
    } else if heard.offered.is_empty() {
        json!({ "title": "A scripted session" }).to_string()
    } else {
        return None;
    };
    Some(Rule::saying("(a summary or a title for the client)", &say))
}

fn document(reply: &Rule, model: &str, number: u64) -> Value {
    let say = reply.say.iter();
    let text = say.map(|say| json!({ "type": "text", "text": say }));
    let calls = reply
        .calls
        .iter()
        .enumerate()
        .map(|(index, Call { tool, input })| {
            let id = format!("toolu_{number}_{index}");
            json!({ "type": "tool_use", "id": id, "name": tool, "input": input })
        });
    json!({
        "id": format!("msg_{number}"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": text.chain(calls).collect::<Vec<_>>(),
        "stop_reason": if reply.calls.is_empty() { "end_turn" } else { "tool_use" },
        "stop_sequence": null,
        "usage": { "input_tokens": reply.tokens.unwrap_or(ANSWER_TOKENS), "output_tokens": ANSWER_TOKENS },
    })
}

fn events(mut message: Value) -> Vec<Value> {
    let stop_reason = message["stop_reason"].take();
    let content = std::mem::replace(&mut message["content"], json!([]));
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    for (index, block) in items(&content).enumerate() {
        let mut start = block.clone();
        let delta = if block["type"] == "text" {
            start["text"] = json!("");
            json!({ "type": "text_delta", "text": block["text"] })
        } else {
            start["input"] = json!({});
            json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })
        };
        events.extend([
            json!({ "type": "content_block_start", "index": index, "content_block": start }),
            json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            json!({ "type": "content_block_stop", "index": index }),
        ]);
    }
    events.extend([
        json!({
            "type": "message_delta",
            "delta": { "stop_reason": stop_reason, "stop_sequence": null },
            "usage": { "output_tokens": ANSWER_TOKENS },
        }),
        json!({ "type": "message_stop" }),
    ]);
    events
}
