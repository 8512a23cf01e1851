//! The user's answers in the client's AskUserQuestion dialog.
//!
//! They are read from the tool's response, because the client drops answers that the agent put into
//! its call, and sends no response of a declined dialog.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::input::{Event, Input};

const TOOL: &str = "AskUserQuestion";
/// The client's answer if the user wrote notes instead of choosing.
const NOTES_ONLY: &str = "(notes only)";

/// A question that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogAnswer {
    /// The question's short label, as the agent wrote it.
    pub header: String,
    /// The question.
    pub question: String,
    /// The answer, byte for byte. The client separates several choices by `, `, and writes one with
    /// a comma or a quote as a JSON string.
    pub text: String,
    /// Whether the user typed it: it is none of the options that the agent gave.
    pub is_typed: bool,
    /// The labels and descriptions of the agent's options. A preview counts as a description.
    pub options: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct Response {
    questions: Vec<Question>,
    /// The answers by the question's text.
    answers: BTreeMap<String, Value>,
}

/// A question as the agent asked it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    question: String,
    header: String,
    #[serde(default)]
    multi_select: bool,
    /// The label of each option, and everything else that the dialog shows of it.
    #[serde(default)]
    options: Vec<BTreeMap<String, Value>>,
}

/// Returns the answers in a PostToolUse event, in the order of the questions. An event of a
/// subagent, or about another tool, has none.
pub fn from_input(input: &Input) -> Vec<DialogAnswer> {
    let is_ours = input.event == Some(Event::PostToolUse)
        && input.tool_name.as_deref() == Some(TOOL)
        && !input.is_subagent();
    let response = input.tool_response.as_ref().filter(|_| is_ours);
    let Some(Ok(Response { questions, answers })) = response.map(Response::deserialize) else {
        return Vec::new();
    };
    // The client keys answers by question, so that two questions with one text have no answer.
    let is_unique = |text: &str| questions.iter().filter(|one| one.question == text).count() == 1;
    let unique = questions.iter().filter(|one| is_unique(&one.question));
    unique
        .filter_map(|one| one.answer(answers.get(&one.question)?.as_str()?))
        .collect()
}

impl Question {
    /// Returns the answer, or `None` if it is blank.
    fn answer(&self, text: &str) -> Option<DialogAnswer> {
        let options: Vec<_> = self.options.iter().map(label_and_rest).collect();
        let is_chosen = options.iter().any(|(label, _)| label == text.trim());
        (!text.trim().is_empty()).then(|| DialogAnswer {
            header: self.header.clone(),
            question: self.question.clone(),
            text: text.to_owned(),
            is_typed: !self.multi_select && text != NOTES_ONLY && !is_chosen,
            options,
        })
    }
}

/// Returns an option's label, and all else that the dialog shows of it.
fn label_and_rest(option: &BTreeMap<String, Value>) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().trim().to_owned();
    let label = option.get("label").map(text).unwrap_or_default();
    let rest = option.iter().filter(|(key, _)| *key != "label");
    (label, rest.map(|(_, value)| text(value)).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(questions: &Value, answers: &Value) -> Input {
        Input {
            event: Some(Event::PostToolUse),
            tool_name: Some(TOOL.into()),
            tool_response: Some(
                json!({"questions": questions, "answers": answers, "annotations": {}}),
            ),
            ..Input::default()
        }
    }

    /// Returns the answer to one question with the options `Yes` and `No`.
    fn answer_to(is_multiple: bool, answer: &Value) -> Option<DialogAnswer> {
        let options =
            json!([{"label": " Yes ", "description": "a", "preview": "b"}, {"label": "No"}]);
        let questions = json!([
            {"question": "q", "header": "Scope", "options": options, "multiSelect": is_multiple}
        ]);
        from_input(&input(&questions, &json!({ "q": answer }))).pop()
    }

    #[test]
    fn answer_is_kept_byte_for_byte_with_its_options() {
        let text_of_user =
            "it's \"quoted\" $(touch x) `id` ; Scope: fake, \u{202e}計画 \\n\nsecond\rp2\ttab ";
        for text in [text_of_user, "\"a, b\", plain"] {
            let answer = answer_to(false, &json!(text)).unwrap();
            assert_eq!(answer.text, text);
            let pair = |label: &str, what: &str| (label.to_owned(), what.to_owned());
            assert_eq!(answer.options, [pair("Yes", "ab"), pair("No", "")]);
        }
    }

    #[test]
    fn answer_outside_the_options_is_typed() {
        for (is_multiple, answer, is_typed) in [
            (false, "Yes", false),
            (false, "yes", true),
            (false, "(notes only)", false),
            (true, "Yes, No", false),
            (true, "maybe", false),
        ] {
            let found = answer_to(is_multiple, &json!(answer)).unwrap();
            assert_eq!(found.is_typed, is_typed, "{answer}");
        }
    }

    #[test]
    fn blank_or_malformed_answer_is_left_out() {
        for answer in [json!(null), json!(""), json!(" \n"), json!(7), json!(["x"])] {
            assert_eq!(answer_to(false, &answer), None);
        }
        for response in [
            json!(null),
            json!("text"),
            json!({"questions": 7, "answers": {}}),
            json!({"questions": [7, {}, {"question": 1, "header": "Scope"}], "answers": {"q": "x"}}),
            json!({"questions": [{"question": "q", "header": []}], "answers": {"q": "x"}}),
        ] {
            let input = Input {
                tool_response: Some(response.clone()),
                ..input(&json!([]), &json!({}))
            };
            assert!(from_input(&input).is_empty(), "{response}");
        }
    }

    #[test]
    fn two_questions_of_one_text_have_no_answer() {
        let count = |second: &str| {
            let one = |question| json!({"question": question, "header": "h", "options": []});
            let questions = json!([one("Roll out?"), one(second)]);
            from_input(&input(&questions, &json!({"Roll out?": "x", "Eat?": "y"}))).len()
        };
        assert_eq!((count("Eat?"), count("Roll out?")), (2, 0));
    }

    #[test]
    fn other_events_tools_and_subagents_have_no_answers() {
        let answered = input(
            &json!([{"question": "q", "header": "Scope"}]),
            &json!({"q": "x"}),
        );
        assert_eq!(from_input(&answered).len(), 1);
        let mut others = [(); 4].map(|()| answered.clone());
        others[0].event = None;
        others[1].tool_name = Some("Bash".into());
        others[2].agent_id = Some("a1".into());
        others[3].tool_response = None;
        for other in others {
            assert!(from_input(&other).is_empty(), "{other:?}");
        }
    }
}
