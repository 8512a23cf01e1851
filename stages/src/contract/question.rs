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
const MAX_HEADER_CHARS: usize = 12;
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
    pub(super) fn read(value: Option<&Json>, found: &mut Collector) -> Option<Self> {
        const PATH: &str = "/flags/next_action_map";
        let value = value.filter(|value| !value.is_null())?;
        let Json::Object(entries) = value else {
            report_type(PATH, value, "a map of labels to next actions", found);
            return None;
        };
        let mut map = Self::default();
        for (label, value) in entries {
            if let Ok(action) = serde_json::from_value(value.clone()) {
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
    pub(super) fn read(value: Option<&Json>, found: &mut Collector) -> Option<Self> {
        const PATH: &str = "/flags/question_context";
        let value = value.filter(|value| !value.is_null())?;
        if !value.is_object() {
            let expected = "a map with `question`, `header` and `options`";
            report_type(PATH, value, expected, found);
            return None;
        }
        let path = |key: &str| format!("{PATH}/{key}");
        let question = read_text(value, "question", found);
        if question == Some("") {
            let message = "`question_context` has no question";
            found.error(Rule::NoQuestion, &path("question"), message);
        }
        let header = read_text(value, "header", found);
        if let Some(header) = header {
            check_header(header, &path("header"), found);
        }
        let line = header.unwrap_or_default().lines().next();
        let cut = line.unwrap_or_default().chars().take(MAX_HEADER_CHARS);
        Some(Self {
            question: question.unwrap_or_default().to_owned(),
            header: cut.collect::<String>().trim().to_owned(),
            options: read_options(&value["options"], &path("options"), found),
        })
    }
}

/// Reads a text of the question, which is empty if it is missing, and `None` if it has another type.
fn read_text<'v>(value: &'v Json, key: &str, found: &mut Collector) -> Option<&'v str> {
    match &value[key] {
        Json::Null => Some(""),
        Json::String(text) => Some(text.trim()),
        other => {
            report_type(
                &format!("/flags/question_context/{key}"),
                other,
                "text",
                found,
            );
            None
        }
    }
}

fn check_header(header: &str, path: &str, found: &mut Collector) {
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
fn read_options(value: &Json, path: &str, found: &mut Collector) -> Vec<QuestionOption> {
    if !value.is_array() && !value.is_null() {
        report_type(path, value, "a list of `label` and `description`", found);
        return Vec::new();
    }
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    match items.len() {
        0 => found.error(Rule::OptionCount, path, "the question has no options"),
        1 => found.warn(Rule::OptionCount, path, "the question has one option"),
        2..=4 => {}
        _ => {
            let message = "the question has more than four options";
            found.warn(Rule::OptionCount, path, message);
        }
    }

    let mut options: Vec<QuestionOption> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("{path}/{index}/label");
        let part = |key: &str| item[key].as_str().unwrap_or_default().trim().to_owned();
        let label = part("label");
        let description = part("description");
        if label.is_empty() || description.is_empty() {
            let message = "an option has no label or no description";
            found.error(Rule::OptionIncomplete, &path, message);
        } else if is_same_label(&text::plain(&label), MORE_LABEL) {
            let message = format!("the label {MORE_LABEL} is reserved for the program");
            found.error_as(Rule::OptionDuplicate, Lenient::Refused, &path, message);
        } else if options.iter().any(|one| is_same_label(&one.label, &label)) {
            let message = format!("two options have the label {}", quoted(&label));
            found.error(Rule::OptionDuplicate, &path, message);
        } else {
            options.push(QuestionOption { label, description });
        }
    }
    options
}
