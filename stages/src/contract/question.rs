//! The question of an interactive pause, and the next actions of its answers.

use std::collections::BTreeMap;

use claudex_loop::text;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::finding::{Collector, quoted};
use super::flags::report_type;
use super::rule::{Lenient, Rule};
use super::words::NextAction;

/// The most characters of a header.
pub const MAX_HEADER_CHARS: usize = 12;
/// The label by which the program shows more options.
const MORE_LABEL: &str = "More…";

/// A question to the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The question.
    pub question: String,
    /// A short label, on one line.
    pub header: String,
    /// The answers to choose from.
    pub options: Vec<QuestionOption>,
}

/// One answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// The meaning of the answer.
    pub description: String,
}

/// The next actions by label; `None` has the stage run again with the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionMap(pub BTreeMap<String, Option<NextAction>>);

impl ActionMap {
    /// Returns the next action of an answer.
    pub fn get(&self, label: &str) -> Option<NextAction> {
        let mut entries = self.0.iter();
        let (_, action) = entries.find(|(name, _)| is_same_label(name, label))?;
        *action
    }

    /// Reads the entries with a known action, and reports the others.
    pub(super) fn read(value: Option<&Json>, found: &mut Collector<'_>) -> Option<Self> {
        const PATH: &str = "/flags/next_action_map";
        let value = value.filter(|value| !value.is_null())?;
        let Json::Object(entries) = value else {
            report_type(PATH, value, "a map of labels to next actions", found);
            return None;
        };
        let mut map = Self::default();
        for (label, value) in entries {
            let action = value.as_str().and_then(|word| word.parse().ok());
            if action.is_some() || value.is_null() {
                map.0.insert(label.clone(), action);
            } else {
                let message = format!("the action of {} is not a next action", quoted(label));
                found.error(Rule::UnknownAction, &format!("{PATH}/{label}"), message);
            }
        }
        Some(map)
    }
}

/// Returns whether two labels are the same without "(Recommended)".
pub(crate) fn is_same_label(one: &str, other: &str) -> bool {
    fn plain(label: &str) -> &str {
        label.trim().trim_end_matches("(Recommended)").trim_end()
    }
    plain(one) == plain(other)
}

impl Question {
    /// Reads the question. A missing text is empty.
    pub(super) fn read(value: Option<&Json>, found: &mut Collector<'_>) -> Option<Self> {
        const PATH: &str = "/flags/question_context";
        let value = value.filter(|value| !value.is_null())?;
        if !value.is_object() {
            report_type(
                PATH,
                value,
                "a map with `question`, `header` and `options`",
                found,
            );
            return None;
        }
        let mut question = Self::default();
        let path = format!("{PATH}/question");
        if let Some(text) = read_text(value.get("question"), &path, found) {
            if text.is_empty() {
                found.error(
                    Rule::NoQuestion,
                    &path,
                    "`question_context` has no question",
                );
            }
            text.clone_into(&mut question.question);
        }
        let path = format!("{PATH}/header");
        if let Some(header) = read_text(value.get("header"), &path, found) {
            check_header(header, &path, found);
            let line = header.lines().next().unwrap_or_default();
            let cut: String = line.chars().take(MAX_HEADER_CHARS).collect();
            cut.trim().clone_into(&mut question.header);
        }
        question.options = read_options(value.get("options"), &format!("{PATH}/options"), found);
        Some(question)
    }
}

/// Reads a text, which is empty if it is missing, and `None` if it has another type.
fn read_text<'v>(
    value: Option<&'v Json>,
    path: &str,
    found: &mut Collector<'_>,
) -> Option<&'v str> {
    match value {
        None | Some(Json::Null) => Some(""),
        Some(Json::String(text)) => Some(text.trim()),
        Some(other) => {
            report_type(path, other, "text", found);
            None
        }
    }
}

fn check_header(header: &str, path: &str, found: &mut Collector<'_>) {
    let length = header.chars().count();
    let message = match length {
        0 => "the question has no header".to_owned(),
        _ if text::plain(header).trim().is_empty() => {
            let message = "the header has only invisible characters";
            found.error_as(Rule::HeaderLength, Lenient::Refused, path, message);
            return;
        }
        _ if header.contains('\n') => "the header has more than one line".to_owned(),
        1..=MAX_HEADER_CHARS => return,
        _ => format!("the header has {length} characters, expected at most {MAX_HEADER_CHARS}"),
    };
    found.error(Rule::HeaderLength, path, message);
}

/// Reads the options that are complete and differ, and reports the others.
fn read_options(
    value: Option<&Json>,
    path: &str,
    found: &mut Collector<'_>,
) -> Vec<QuestionOption> {
    let items = match value {
        None | Some(Json::Null) => &[],
        Some(Json::Array(items)) => items.as_slice(),
        Some(other) => {
            report_type(path, other, "a list of `label` and `description`", found);
            return Vec::new();
        }
    };
    match items.len() {
        0 => found.error(Rule::OptionCount, path, "the question has no options"),
        1 => found.warn(Rule::OptionCount, path, "the question has one option"),
        2..=4 => {}
        _ => found.warn(
            Rule::OptionCount,
            path,
            "the question has more than four options",
        ),
    }

    let mut options: Vec<QuestionOption> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("{path}/{index}");
        let part = |key: &str| {
            let part = item.get(key).and_then(Json::as_str).unwrap_or_default();
            part.trim().to_owned()
        };
        let (label, description) = (part("label"), part("description"));
        if label.is_empty() || description.is_empty() {
            let message = "an option has no label or no description";
            found.error(Rule::OptionIncomplete, &path, message);
        } else if is_same_label(&text::plain(&label), MORE_LABEL) {
            let message = format!("the label {MORE_LABEL} is reserved for the program");
            let path = format!("{path}/label");
            found.error_as(Rule::OptionDuplicate, Lenient::Refused, &path, message);
        } else if options.iter().any(|one| is_same_label(&one.label, &label)) {
            let message = format!("two options have the label {}", quoted(&label));
            found.error(Rule::OptionDuplicate, &format!("{path}/label"), message);
        } else {
            options.push(QuestionOption { label, description });
        }
    }
    options
}
