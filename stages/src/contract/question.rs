//! The question of an interactive pause, and the next actions of its answers.

use std::collections::BTreeMap;

use claudex_loop::behaviours::ask;
use claudex_loop::store::to_plain;
use claudex_loop::text;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value as Json, json};

use super::Summary;
use super::rule::{Lenient, Reader, Rule, quote};
use super::words::NextAction;

const QUESTION: &str = "/flags/question_context";
const ACTION_MAP: &str = "next_action_map";
const MAX_HEADER_CHARS: usize = 12;

/// A question to the user. A missing text is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Question {
    /// The question.
    #[serde(deserialize_with = "read_text")]
    pub question: String,
    /// A short label, on one line.
    #[serde(deserialize_with = "read_text")]
    pub header: String,
    /// The answers to choose from.
    #[serde(deserialize_with = "read_options")]
    pub options: Vec<QuestionOption>,
}

/// One answer to a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuestionOption {
    /// The answer.
    #[serde(deserialize_with = "read_text")]
    pub label: String,
    /// The meaning of the answer.
    #[serde(deserialize_with = "read_text")]
    pub description: String,
}

/// Reads a text, which YAML may take for null, a number or a boolean.
fn read_text<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    match Json::deserialize(value)? {
        Json::Array(_) | Json::Object(_) => Err(D::Error::custom("invalid type: expected text")),
        plain => Ok(to_plain(&plain)),
    }
}

/// Reads options. One that is only a text has no description.
fn read_options<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<QuestionOption>, D::Error> {
    let option = |written: Json| match written {
        parts @ Json::Object(_) => QuestionOption::deserialize(parts),
        label => QuestionOption::deserialize(json!({ "label": label })),
    };
    let options = Option::<Vec<Json>>::deserialize(value)?.unwrap_or_default();
    let options = options.into_iter().map(option).collect::<Result<_, _>>();
    options.map_err(D::Error::custom)
}

/// The next actions by label. Null repeats the stage with the answer.
pub type ActionMap = BTreeMap<String, Json>;

/// Returns whether two labels are the same without "(Recommended)".
fn is_same_label(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|label| label.trim().trim_end_matches("(Recommended)"));
    one.trim_end() == other.trim_end()
}

impl Summary {
    /// Returns the next action of a label, or `None` if the stage is repeated with the answer.
    pub(crate) fn mapped_action(&self, label: &str) -> Option<NextAction> {
        let mut map = self.flags.next_action_map.iter().flatten();
        let (_, action) = map.find(|(name, _)| is_same_label(name, label))?;
        NextAction::deserialize(action).ok()
    }
}

impl Reader<'_> {
    /// Corrects flags that models write in another form: null in quotes, and next actions within
    /// the question.
    pub(super) fn correct_flags(&mut self) {
        let Some(Json::Object(flags)) = self.keys.get_mut("flags") else {
            return;
        };
        for flag in flags.values_mut().filter(|flag| **flag == "null") {
            *flag = Json::Null;
        }
        let Some(Json::Object(question)) = flags.get_mut("question_context") else {
            return;
        };
        let mut actions = question.remove(ACTION_MAP).unwrap_or_default();
        let options = question.get_mut("options").and_then(Json::as_array_mut);
        let options = options.into_iter().flatten();
        for option in options.filter_map(Json::as_object_mut) {
            if let Some(action) = option.remove("next_action")
                && let Some(Json::String(label)) = option.get("label")
                && actions.get(label).is_none()
            {
                let mut map = actions.as_object().cloned().unwrap_or_default();
                map.insert(label.clone(), action);
                actions = map.into();
            }
        }
        if !actions.is_null() && flags.get(ACTION_MAP).is_none_or(Json::is_null) {
            flags.insert(ACTION_MAP.to_owned(), actions);
            let detail = "`next_action_map` is a flag beside `question_context`, not in it";
            let lenient = self.add(Rule::FlagType, QUESTION, detail);
            *lenient = Lenient::Corrected("read as if it were there");
        }
    }

    /// Checks the question of an interactive pause and the actions of its answers.
    pub(super) fn check_question(&mut self, summary: &mut Summary) {
        let flags = &mut summary.flags;
        match &mut flags.question_context {
            Some(question) => question.correct(self),
            None if self.has_flag("question_context") => {}
            None => drop(self.add(Rule::NoQuestion, "/flags/pause_type", "")),
        }
        let question = flags.question_context.get_or_insert_default();
        if question.question.is_empty() {
            question.question = flags.block_reason.clone().unwrap_or_default();
        }
        if question.header.is_empty() {
            summary.stage.header().clone_into(&mut question.header);
        }
        let Some(map) = &mut flags.next_action_map else {
            return;
        };
        map.retain(|label, action| {
            let path = format!("/flags/next_action_map/{label}");
            let Ok(action) = Option::<NextAction>::deserialize(&*action) else {
                self.add(Rule::UnknownAction, &path, "");
                return false;
            };
            let mut options = question.options.iter();
            let is_label = options.any(|option| is_same_label(&option.label, label));
            if !is_label {
                self.add(Rule::MapLabel, &path, &quote(label));
            }
            is_label && action.is_none_or(|action| self.check_action(action, summary.stage, &path))
        });
    }
}

impl Question {
    /// Cuts the header, and drops the options that are incomplete or repeat a label.
    fn correct(&mut self, reader: &mut Reader<'_>) {
        self.question = self.question.trim().to_owned();
        if self.question.is_empty() {
            reader.add(Rule::NoQuestion, &format!("{QUESTION}/question"), "");
        }

        let path = format!("{QUESTION}/header");
        let header = self.header.trim();
        let line = header.lines().next().unwrap_or_default();
        let cut: String = line.chars().take(MAX_HEADER_CHARS).collect();
        let is_hidden = !header.is_empty() && text::strip_hidden(header).trim().is_empty();
        if header.is_empty() || cut != header || is_hidden {
            let lenient = reader.add(Rule::HeaderLength, &path, "");
            if is_hidden {
                *lenient = Lenient::Refused;
            }
        }
        self.header = cut.trim().to_owned();

        let path = format!("{QUESTION}/options");
        let count = self.options.len();
        if !(2..=4).contains(&count) {
            let lenient = reader.add(Rule::OptionCount, &path, "");
            if count > 0 {
                *lenient = Lenient::Kept;
            }
        }
        let mut labels: Vec<String> = Vec::new();
        let mut index = 0;
        self.options.retain_mut(|option| {
            let path = format!("{path}/{index}/label");
            index += 1;
            option.label = option.label.trim().to_owned();
            option.description = option.description.trim().to_owned();
            let label = &option.label;
            if label.is_empty() || option.description.is_empty() {
                reader.add(Rule::OptionIncomplete, &path, "");
                return false;
            }
            let is_reserved = is_same_label(&text::strip_hidden(label), ask::MORE);
            if is_reserved {
                *reader.add(Rule::OptionDuplicate, &path, "") = Lenient::Refused;
            }
            let is_known = labels.iter().any(|known| is_same_label(known, label));
            if is_known {
                reader.add(Rule::OptionDuplicate, &path, &quote(label));
            }
            labels.push(label.clone());
            !is_reserved && !is_known
        });
    }
}
