//! Anthropic's Messages API, as Claude Code speaks it. What stands under `system` in a request, the client's standing
//! instructions, is not heard; messages of the role "system" are.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::protocol::{Asked, Protocol, TOKENS, What, joined, list};
use crate::e2e::agent::{Heard, Reply, Source};

/// What the client's instruction to sum up the conversation has, whatever else its words are: it offers tools, as a turn does.
const SUMMARY: [&str; 2] = ["Respond with TEXT ONLY", "<summary>"];

/// The protocol.
pub(super) struct Messages;

impl Protocol for Messages {
    fn asked(&self, request: &Value) -> Asked {
        let offered =
            list(&request["tools"]).filter_map(|tool| Some(tool["name"].as_str()?.to_owned()));
        let messages: Vec<_> = list(&request["messages"]).collect();
        let spoken = |message: &&Value| message["role"] == "assistant";
        // The model's last words may be several messages; what is new begins after the last one of them.
        let new = messages.iter().rposition(spoken).map_or(0, |last| last + 1);
        let words = messages[..new]
            .iter()
            .rposition(|it| !spoken(it))
            .map_or(0, |last| last + 1);
        let answered = blocks(&messages[new..]).any(|block| block["type"] == "tool_result");
        let calls = blocks(&messages[words..new])
            .filter_map(call)
            .collect::<Vec<_>>();
        let mut parts = texts(&messages[new..]);
        let instruction =
            prompts(&messages[new..]).find(|text| SUMMARY.iter().all(|mark| text.contains(mark)));
        // It stands where the user's words do, but the client speaks.
        for (source, text) in &mut parts {
            if instruction == Some(text.as_str()) {
                *source = Source::Client;
            }
        }
        let heard = Heard {
            session: String::new(),
            newest: joined(&parts),
            whole: joined(&texts(&messages)),
            called: if answered {
                calls.join("\n")
            } else {
                String::new()
            },
            offered: offered.collect(),
            parts,
        };
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

/// Returns the blocks of an answer: its text, then its calls.
fn content(reply: &Reply, number: u64) -> Vec<Value> {
    let text = reply
        .say
        .iter()
        .map(|say| json!({ "type": "text", "text": say }));
    let calls = reply.calls.iter().enumerate().map(|(index, (tool, input))| {
        json!({ "type": "tool_use", "id": format!("toolu_{number}_{index}"), "name": tool, "input": input })
    });
    text.chain(calls).collect()
}

/// Returns all that was said in some messages, in its order: prompts, results of tools, what the client puts in; and the
/// model's own words and calls.
fn texts(messages: &[&Value]) -> Vec<(Source, String)> {
    let mut texts = Vec::new();
    for message in messages {
        let source = if message["role"] == "system" {
            Source::Client
        } else {
            Source::User
        };
        if let Some(text) = message["content"].as_str() {
            texts.push((source, text.to_owned()));
        }
        for block in list(&message["content"]) {
            let result = &block["content"];
            let results = result
                .as_str()
                .into_iter()
                .chain(list(result).filter_map(|it| it["text"].as_str()));
            texts.extend(block["text"].as_str().map(|text| (source, text.to_owned())));
            texts.extend(call(block).map(|call| (source, call)));
            texts.extend(results.map(|text| (Source::Tool, text.to_owned())));
        }
    }
    texts
}

/// Returns the blocks of some messages; there are none in one whose content is a text.
fn blocks<'a>(messages: &[&'a Value]) -> impl Iterator<Item = &'a Value> {
    messages
        .iter()
        .flat_map(|message| list(&message["content"]))
}

/// Returns what was said to the model in some messages, without the results of tools.
fn prompts<'a>(messages: &[&'a Value]) -> impl Iterator<Item = &'a str> {
    let plain = messages
        .iter()
        .filter_map(|message| message["content"].as_str());
    plain.chain(blocks(messages).filter_map(|block| block["text"].as_str()))
}

/// Returns a call of a tool, as `Name {json}`.
fn call(block: &Value) -> Option<String> {
    let tool = block["name"]
        .as_str()
        .filter(|_| block["type"] == "tool_use")?;
    Some(format!("{tool} {}", block["input"]))
}

/// Returns what a model says that keeps nothing of the conversation: whatever goes on after it goes on by what our hooks say
/// then.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(messages: Value) -> Asked {
        Messages.asked(&json!({
            "model": "claude-opus-5-5",
            "stream": true,
            "system": [{ "type": "text", "text": "You are a Claude agent." }],
            "tools": [{ "name": "Bash", "input_schema": {} }, { "name": "Write", "input_schema": {} }],
            "messages": messages,
        }))
    }

    #[test]
    fn a_first_prompt_is_heard_whole() {
        let asked = asked(json!([
            { "role": "user", "content": [
                { "type": "text", "text": "<system-reminder>\nbe brief\n</system-reminder>" },
                { "type": "image", "source": { "type": "base64", "data": "AAAA" } },
                { "type": "text", "text": "plan it" },
            ] },
            { "role": "system", "content": "# Environment" },
        ]));
        assert_eq!(
            asked.heard.newest,
            "<system-reminder>\nbe brief\n</system-reminder>\nplan it\n# Environment"
        );
        assert_eq!(asked.heard.whole, asked.heard.newest);
        assert_eq!(asked.heard.offered, ["Bash", "Write"]);
        assert!(asked.streamed && matches!(asked.what, What::Turn));
        assert_eq!(
            asked.heard.parts[2],
            (Source::Client, "# Environment".to_owned())
        );
    }

    #[test]
    fn only_what_came_after_the_models_last_words_is_new() {
        let heard = asked(json!([
            { "role": "user", "content": "first" },
            { "role": "assistant", "content": [{ "type": "text", "text": "mine" }] },
            { "role": "user", "content": "second" },
        ]))
        .heard;
        assert_eq!(
            (heard.newest.as_str(), heard.whole.as_str()),
            ("second", "first\nmine\nsecond")
        );
        assert_eq!(heard.called, "");
    }

    #[test]
    fn results_are_heard_in_both_their_forms_and_what_was_called_is_known() {
        let heard = asked(json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": "Read", "input": { "file_path": "/old" } }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "a", "content": "old" }] },
            { "role": "assistant", "content": [
                { "type": "text", "text": "two at once" },
                { "type": "tool_use", "id": "b", "name": "Bash", "input": { "command": "echo 'ü'\nls" } },
            ] },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "Write", "input": {} }] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "b", "content": "as a text" },
                { "type": "tool_result", "tool_use_id": "c", "is_error": true, "content": [
                    { "type": "text", "text": "as a" }, { "type": "image" }, { "type": "text", "text": "list" },
                ] },
                { "type": "text", "text": "and a word" },
            ] },
        ]))
        .heard;
        assert_eq!(heard.newest, "as a text\nas a\nlist\nand a word");
        assert_eq!(
            heard.called,
            "Bash {\"command\":\"echo 'ü'\\nls\"}\nWrite {}"
        );
        assert!(
            heard
                .whole
                .contains("Read {\"file_path\":\"/old\"}\nold\ntwo at once\nBash {"),
            "{}",
            heard.whole
        );
        assert_eq!(heard.parts[0].0, Source::Tool);
        assert_eq!(heard.parts[3], (Source::User, "and a word".to_owned()));
    }

    #[test]
    fn calls_without_results_are_over() {
        let heard = asked(json!([
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "b", "name": "Bash", "input": {} }] },
            { "role": "user", "content": "[Request interrupted by user]" },
        ]))
        .heard;
        assert_eq!(heard.called, "");
    }

    #[test]
    fn a_request_without_tools_is_answered_apart() {
        let request =
            json!({ "messages": [{ "role": "user", "content": "<session>\nhello\n</session>" }] });
        let What::Aside(reply) = Messages.asked(&request).what else {
            panic!("it is taken for a turn");
        };
        let title: Value = serde_json::from_str(&reply.say.unwrap()).unwrap();
        assert!(title["title"].is_string());
    }

    #[test]
    fn a_summary_is_asked_for_by_an_instruction_of_its_own() {
        let instruction =
            "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n[...] a <summary> block.";
        let asked = asked(json!([
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "b", "name": "Bash", "input": {} }] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "b", "content": "Respond with TEXT ONLY: <summary>" },
                { "type": "text", "text": instruction },
            ] },
        ]));
        let What::Summary {
            instruction: found,
            otherwise,
        } = asked.what
        else {
            panic!("it is taken for a turn");
        };
        assert_eq!(found, instruction);
        assert_eq!(
            asked.heard.parts[1],
            (Source::Client, instruction.to_owned())
        );
        assert!(otherwise.say.unwrap().contains("</summary>"));
        let result = json!([{ "role": "user", "content": [
            { "type": "tool_result", "content": instruction }, { "type": "text", "text": "a <summary>" },
        ] }]);
        assert!(
            matches!(super::tests::asked(result).what, What::Turn),
            "a file that has the words is no instruction"
        );
    }

    #[test]
    fn no_request_at_all_is_no_accident() {
        for request in [
            json!(null),
            json!([1]),
            json!({ "messages": "x", "tools": 3 }),
            json!({ "messages": [4, {}] }),
        ] {
            let asked = Messages.asked(&request);
            assert_eq!((asked.heard.whole.as_str(), asked.streamed), ("", false));
        }
    }

    #[test]
    fn an_answer_is_one_stream_of_events() {
        let reply = Reply {
            say: Some("I run it.".to_owned()),
            calls: vec![
                ("Bash".to_owned(), json!({ "command": "ls" })),
                ("Read".to_owned(), json!({})),
            ],
            tokens: Some(150_000),
            ..Reply::default()
        };
        let events = Messages.events(&reply, "m", 7);
        let kinds: Vec<_> = events
            .iter()
            .filter_map(|event| event["type"].as_str())
            .collect();
        let block = [
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
        ];
        let expected: Vec<_> = ["message_start"]
            .into_iter()
            .chain(block.repeat(3))
            .chain(["message_delta", "message_stop"])
            .collect();
        assert_eq!(kinds, expected);
        assert_eq!(events[0]["message"]["usage"]["input_tokens"], 150_000);
        assert_eq!(events[0]["message"]["content"], json!([]));
        assert_eq!(events[0]["message"]["stop_reason"], Value::Null);
        assert_eq!(
            events[1]["content_block"],
            json!({ "type": "text", "text": "" })
        );
        assert_eq!(
            events[2]["delta"],
            json!({ "type": "text_delta", "text": "I run it." })
        );
        assert_eq!(
            events[4]["content_block"],
            json!({ "type": "tool_use", "id": "toolu_7_0", "name": "Bash", "input": {} })
        );
        assert_eq!(
            events[5]["delta"],
            json!({ "type": "input_json_delta", "partial_json": "{\"command\":\"ls\"}" })
        );
        assert_eq!(events[7]["content_block"]["id"], "toolu_7_1");
        assert_eq!(events[10]["delta"]["stop_reason"], "tool_use");
    }

    #[test]
    fn an_answer_without_calls_ends_the_turn() {
        let reply = Reply {
            say: Some("done".to_owned()),
            ..Reply::default()
        };
        let whole = Messages.whole(&reply, "m", 1);
        assert_eq!(whole["stop_reason"], "end_turn");
        assert_eq!(
            whole["content"],
            json!([{ "type": "text", "text": "done" }])
        );
        assert_eq!(whole["usage"]["input_tokens"], 10);
    }
}
