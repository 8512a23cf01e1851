//! What a person answered in the client's AskUserQuestion dialog, read off its PostToolUse event, and what that hook may
//! answer.
//!
//! Only the response counts: the client drops answers that the agent put into its own call, and runs no such event for a
//! dialog that was declined. What the questions are for is not known here.

use serde_json::{Value, json};

use super::input::Input;
use crate::text;

/// The tool's name.
const TOOL: &str = "AskUserQuestion";
/// What the client says where the person wrote notes instead of choosing.
const NOTES: &str = "(notes only)";
/// More questions than the client asks at once.
const MOST: usize = 16;
/// The longest sentences of a note for agent or person, in characters.
const LINE: usize = 500;
/// The longest text below the agent's line, in characters: the client shortens what is above 10,000.
const MORE: usize = 8_000;

/// One question that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The question's short label, as the agent wrote it.
    pub header: String,
    /// The question.
    pub question: String,
    /// The answer, byte for byte; several choices with `, ` between them.
    pub text: String,
    /// Whether the person typed it instead of choosing: it is none of the options that the agent gave.
    pub is_typed: bool,
    /// The labels and descriptions of the options that the agent gave. A preview counts as description.
    pub options: Vec<(String, String)>,
}

/// Returns the answers of a PostToolUse event of AskUserQuestion, in the order of the questions; questions without one are left
/// out, and so are those that were asked twice. Any other event, a subagent's too, and any other shape have none.
pub fn of(input: &Input) -> Vec<Answer> {
    let is_ours = input.hook_event_name.as_deref() == Some("PostToolUse")
        && input.tool_name.as_deref() == Some(TOOL);
    let (true, false, Some(response)) =
        (is_ours, input.is_subagent(), input.tool_response.as_ref())
    else {
        return Vec::new();
    };
    let given = |question: &str| response.get("answers")?.get(question)?.as_str();
    let questions = response.get("questions").and_then(Value::as_array);
    // The client files an answer under its question's words: of two that read the same nobody knows which was meant.
    let is_alone = |question: &str| {
        let same = |asked: &&Value| asked.get("question").and_then(Value::as_str) == Some(question);
        questions.into_iter().flatten().filter(same).count() == 1
    };
    questions
        .into_iter()
        .flatten()
        .take(MOST)
        .filter_map(|asked| {
            let header = asked.get("header")?.as_str()?.to_owned();
            let question = asked.get("question")?.as_str()?.to_owned();
            let raw = given(&question).filter(|_| is_alone(&question))?;
            let several = asked.get("multiSelect").and_then(Value::as_bool) == Some(true);
            let text = several
                .then(|| choices(raw))
                .flatten()
                .unwrap_or_else(|| raw.to_owned());
            let options = asked.get("options").and_then(Value::as_array);
            let options: Vec<(String, String)> =
                options.into_iter().flatten().map(option_of).collect();
            let is_chosen = |(label, _): &(String, String)| label == raw.trim();
            let is_typed = !several && raw != NOTES && !options.iter().any(is_chosen);
            (!text.trim().is_empty()).then_some(Answer {
                header,
                question,
                text,
                is_typed,
                options,
            })
        })
        .collect()
}

/// Returns an option's label and all else that the dialog says of it.
fn option_of(option: &Value) -> (String, String) {
    let (mut label, mut what) = (String::new(), String::new());
    for (key, value) in option.as_object().into_iter().flatten() {
        let text = value.as_str().unwrap_or_default().trim();
        match key.as_str() {
            "label" => text.clone_into(&mut label),
            _ => what.push_str(text),
        }
    }
    (label, what)
}

/// Several choices as the person made them. The client writes `, ` between them, and each that holds a comma or a quote
/// as a JSON string. None: this is not so written.
fn choices(raw: &str) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = raw;
    loop {
        let (part, after) = if rest.starts_with('"') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let part = values.next()?.ok()?;
            (part, &rest[values.byte_offset()..])
        } else {
            let end = rest.find(", ").unwrap_or(rest.len());
            (rest[..end].to_owned(), &rest[end..])
        };
        parts.push(part);
        if after.is_empty() {
            return Some(parts.join(", "));
        }
        rest = after.strip_prefix(", ")?;
    }
}

/// What the hook says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookOutput {
    /// A note for the agent: see [`text::note`].
    pub agent: Option<String>,
    /// What the agent is to do now, of several lines; nothing without the note.
    pub more: Option<String>,
    /// A note for the person.
    pub person: Option<String>,
}

impl HookOutput {
    /// Returns the hook's output for an event such as `PostToolUse`: one JSON object and a line end, or nothing.
    pub fn to_json(&self, event: &str) -> String {
        let mut object = json!({});
        if let Some(line) = &self.agent {
            let mut line = text::pasteable(&text::note(line, LINE));
            if let Some(more) = &self.more {
                let more: String = text::plain(more).trim_end().chars().take(MORE).collect();
                line = format!("{line}\n\n{more}");
            }
            object["hookSpecificOutput"] =
                json!({"hookEventName": event, "additionalContext": line});
        }
        if let Some(line) = &self.person {
            object["systemMessage"] = text::pasteable(&text::note(line, LINE)).into();
        }
        match object.as_object() {
            Some(fields) if fields.is_empty() => String::new(),
            _ => format!("{object}\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(questions: &Value, answers: &Value) -> Input {
        Input {
            hook_event_name: Some("PostToolUse".into()),
            tool_name: Some(TOOL.into()),
            tool_input: Some(json!({"answers": {"q": "FORGED"}})),
            tool_response: Some(
                json!({"questions": questions, "answers": answers, "annotations": {}}),
            ),
            ..Input::default()
        }
    }

    fn one(several: bool, answer: &Value) -> Vec<String> {
        let questions =
            json!([{"question": "q", "header": "Scope", "options": [], "multiSelect": several}]);
        let found = of(&input(&questions, &json!({ "q": answer })));
        found.into_iter().map(|answer| answer.text).collect()
    }

    #[test]
    fn a_single_answer_is_kept_byte_for_byte() {
        let typed =
            "it's \"quoted\" $(touch x) `id` ; Scope: fake, \u{202e}計画 \\n\nsecond\rp2\ttab ";
        assert_eq!(one(false, &json!(typed)), [typed]);
        assert_eq!(one(false, &json!("\"a, b\", plain")), ["\"a, b\", plain"]);
    }

    #[test]
    fn what_is_typed_is_none_of_the_options() {
        let options = json!([{"label": "Yes"}, {"label": "No"}]);
        for (several, answer, typed) in [
            (false, "Yes", false),
            (false, "yes", true),
            (false, "(notes only)", false),
            (true, "Yes, No", false),
            (true, "maybe", false),
        ] {
            let questions = json!([{"question": "q", "header": "h", "options": options, "multiSelect": several}]);
            let found = of(&input(&questions, &json!({ "q": answer })));
            assert_eq!(found[0].is_typed, typed, "{answer}");
        }
    }

    #[test]
    fn options_are_kept_with_their_previews() {
        let options = json!([{"label": " Yes ", "description": "a", "preview": "b"}, {}, "x"]);
        let questions = json!([{"question": "q", "header": "h", "options": options}]);
        let found = of(&input(&questions, &json!({"q": "Yes"})));
        let pair = |label: &str, what: &str| (label.to_owned(), what.to_owned());
        assert_eq!(
            found[0].options,
            [pair("Yes", "ab"), pair("", ""), pair("", "")]
        );
    }

    #[test]
    fn several_choices_are_taken_out_of_the_clients_quotes() {
        for (written, typed) in [
            ("Two weeks, Keep Postgres", "Two weeks, Keep Postgres"),
            (
                r#"Two weeks, "own, with comma; x""#,
                "Two weeks, own, with comma; x",
            ),
            (
                r#""a, b", "say \"q\" \\ and\nmore `x`", plain"#,
                "a, b, say \"q\" \\ and\nmore `x`, plain",
            ),
            (r"it's own \ y", r"it's own \ y"),
            ("line\ntwo", "line\ntwo"),
            // Not as the client writes it: kept as it is.
            (r#""open, x"#, r#""open, x"#),
            (r#""a"b"#, r#""a"b"#),
        ] {
            assert_eq!(one(true, &json!(written)), [typed], "{written}");
        }
    }

    #[test]
    fn what_was_not_answered_and_what_has_another_shape_is_left_out() {
        for answer in [
            json!(null),
            json!(""),
            json!(" \n"),
            json!(7),
            json!(["x"]),
            json!({"a": 1}),
        ] {
            assert!(one(false, &answer).is_empty(), "{answer}");
        }
        for response in [
            json!(null),
            json!("text"),
            json!([]),
            json!({"questions": 7, "answers": {}}),
            json!({"questions": [7, {}, {"question": 1, "header": "Scope"}], "answers": {"q": "x"}}),
            json!({"questions": [{"question": "q", "header": []}], "answers": {"q": "x"}}),
        ] {
            let input = Input {
                tool_response: Some(response.clone()),
                ..input(&json!([]), &json!({}))
            };
            assert!(of(&input).is_empty(), "{response}");
        }
    }

    #[test]
    fn of_two_questions_that_read_the_same_neither_has_an_answer() {
        let asked = |first: &str, second: &str| {
            let one =
                |question, header| json!({"question": question, "header": header, "options": []});
            let answers = json!({first: "Roll out", second: "Roll out"});
            of(&input(
                &json!([one(first, "Rollout"), one(second, "Lunch")]),
                &answers,
            ))
            .len()
        };
        assert_eq!(asked("Roll out?", "Eat?"), 2);
        assert_eq!(asked("Roll out?", "Roll out?"), 0);
    }

    #[test]
    fn another_event_another_tool_and_a_subagent_have_no_answers() {
        let asked = input(
            &json!([{"question": "q", "header": "Scope"}]),
            &json!({"q": "x"}),
        );
        assert_eq!(of(&asked).len(), 1);
        for other in [
            Input {
                hook_event_name: Some("PreToolUse".into()),
                ..asked.clone()
            },
            Input {
                tool_name: Some("Bash".into()),
                ..asked.clone()
            },
            Input {
                agent_id: Some("a1".into()),
                ..asked.clone()
            },
            Input {
                tool_response: None,
                ..asked.clone()
            },
        ] {
            assert!(of(&other).is_empty(), "{other:?}");
        }
    }

    #[test]
    fn it_says_one_object_on_one_line_or_nothing() {
        assert_eq!(HookOutput::default().to_json("PostToolUse"), "");
        let told = HookOutput {
            agent: Some("a\nb".into()),
            person: Some("c".into()),
            ..HookOutput::default()
        };
        let written = told.to_json("PostToolUse");
        assert!(written.ends_with("}\n") && written.matches('\n').count() == 1);
        assert_eq!(
            serde_json::from_str::<Value>(&written).unwrap(),
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "a b"}, "systemMessage": "c"})
        );
    }

    #[test]
    fn what_is_to_be_done_stands_below_the_line_plain_and_not_too_long() {
        let told = HookOutput {
            agent: Some("a\nb".into()),
            more: Some(format!("c\r\n\u{1b}[2Jd\u{202e}\n{}", "x".repeat(20_000))),
            person: None,
        };
        let written: Value = serde_json::from_str(&told.to_json("PostToolUse")).unwrap();
        let context = written["hookSpecificOutput"]["additionalContext"]
            .as_str()
            .unwrap();
        assert!(
            context.starts_with("a b\n\nc\n[2Jd\nxxx"),
            "{}",
            &context[..40]
        );
        assert!(context.chars().count() <= LINE + 2 + MORE);
    }
}
