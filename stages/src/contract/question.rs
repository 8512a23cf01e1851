//! The question of an interactive pause, and what its answers lead to.

use std::collections::BTreeMap;

use serde::Serialize;

use super::findings::{Found, Severity, quoted};
use super::rule::Rule;
use super::value::{FlagValue, wrong_type};
use super::words::NextAction;
use super::yaml::{Node, Value};

/// The most characters of a header.
pub const LONGEST_HEADER: usize = 12;
/// The most options that the client shows at once.
const MOST_AT_ONCE: usize = 4;

/// A question to the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    /// The question.
    pub question: String,
    /// A short label, on one line.
    pub header: String,
    /// What the person can choose.
    pub options: Vec<QuestionOption>,
}

/// One answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuestionOption {
    /// What is chosen.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// What the answers lead to, by label.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ActionMap(pub BTreeMap<String, Option<NextAction>>);

impl ActionMap {
    /// Returns what an answer leads to; nothing where the stage is to look at it itself.
    pub fn of(&self, label: &str) -> Option<NextAction> {
        let mut entries = self.0.iter();
        let (_, action) = entries.find(|(name, _)| is_same_label(name, label))?;
        *action
    }
}

/// Returns whether two labels are one: a mark for the recommended option is none of the label.
pub(crate) fn is_same_label(one: &str, other: &str) -> bool {
    plain_label(one) == plain_label(other)
}

fn plain_label(label: &str) -> &str {
    let label = label.trim();
    label
        .strip_suffix("(Recommended)")
        .unwrap_or(label)
        .trim_end()
}

impl FlagValue for Question {
    /// Reads a question; what it lacks is empty.
    fn read(what: &str, node: &Node, found: &mut Found) -> Option<Self> {
        let expected = "a map with `question`, `header` and `options`";
        let Some(map) = node.map() else {
            return wrong_type(what, node, expected, found);
        };
        let begin = node.span.start..node.span.start;
        let mut text = |key: &str| {
            let node = map.entry(key).map(|(_, node)| node);
            let read = node.filter(|node| !matches!(node.value, Value::Null | Value::Placeholder));
            let read = read.map(|node| String::read(&format!("`{key}` of {what}"), node, found));
            (node, read)
        };
        let (asked, question) = text("question");
        let (headed, header) = text("header");
        if question
            .as_ref()
            .is_none_or(|read| read.as_ref().is_some_and(|text| text.trim().is_empty()))
        {
            let span = asked.map_or_else(|| begin.clone(), |node| node.span.clone());
            let message = format!("{what} has no question");
            found.error(
                Rule::NoQuestion,
                span,
                message,
                "write `question: \"…\"`, as the person is asked",
            );
        }
        // What is no text was found to be none.
        let header = header.unwrap_or(Some(String::new()));
        if let Some(header) = &header {
            let header = header.trim();
            let length = header.chars().count();
            if !(1..=LONGEST_HEADER).contains(&length) || header.contains('\n') {
                let span = headed.map_or(begin, |node| node.span.clone());
                let message = match length {
                    0 => "the question has no header".to_owned(),
                    _ if header.contains('\n') => "the header has more than one line".to_owned(),
                    _ => format!("the header has {length} characters"),
                };
                let help = "write `header: \"…\"` with 1 to 12 characters, on one line";
                found.error(Rule::HeaderLength, span, message, help);
            }
        }
        let header = header.unwrap_or_default();
        let header = header.trim().lines().next().unwrap_or_default();
        let header: String = header.chars().take(LONGEST_HEADER).collect();
        Some(Self {
            question: question.flatten().unwrap_or_default().trim().to_owned(),
            header: header.trim().to_owned(),
            options: options(node, map.entry("options").map(|(_, node)| node), found),
        })
    }
}

/// Reads the options: those that are whole, and differ.
fn options(question: &Node, node: Option<&Node>, found: &mut Found) -> Vec<QuestionOption> {
    let items = match node.map(|node| &node.value) {
        None | Some(Value::Null | Value::Placeholder) => &[],
        Some(Value::List(items)) => items.as_slice(),
        Some(_) => {
            let expected = "a list of `label` and `description`";
            return node
                .and_then(|node| wrong_type("`options`", node, expected, found))
                .unwrap_or_default();
        }
    };
    let begin = question.span.start..question.span.start;
    let place = node.map_or(begin, |node| node.span.clone());
    let many = match items.len() {
        0 => Some((
            Severity::Error,
            "the question has no options",
            "write two to four, each with `label` and `description`",
        )),
        1 => Some((
            Severity::Warning,
            "the question has one option",
            "write a second one; \"Something else\" is added",
        )),
        count if count > MOST_AT_ONCE => Some((
            Severity::Warning,
            "the question has more than four options",
            "they are shown by pages of three; fewer are easier to choose from",
        )),
        _ => None,
    };
    if let Some((severity, message, help)) = many {
        found.push(Rule::OptionCount, severity, place, message, help);
    }
    let mut options: Vec<QuestionOption> = Vec::new();
    for item in items {
        let part = |key: &str| match item.map()?.get(key)?.value {
            Value::Text(ref text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => None,
        };
        if matches!(item.value, Value::Placeholder) {
            continue;
        }
        let (Some(label), Some(description)) = (part("label"), part("description")) else {
            let help = "write `label: \"…\"` and `description: \"…\"`";
            found.error(
                Rule::OptionIncomplete,
                item.span.clone(),
                "an option lacks its label or its description",
                help,
            );
            continue;
        };
        if options.iter().any(|one| is_same_label(&one.label, &label)) {
            let span = item
                .map()
                .and_then(|map| map.get("label"))
                .map_or(item.span.clone(), |node| node.span.clone());
            let message = format!("two options have the label {}", quoted(&label));
            found.error(
                Rule::OptionDuplicate,
                span,
                message,
                "give this one a label of its own",
            );
            continue;
        }
        options.push(QuestionOption { label, description });
    }
    options
}

impl FlagValue for ActionMap {
    /// Reads the entries whose actions are known.
    fn read(what: &str, node: &Node, found: &mut Found) -> Option<Self> {
        let Some(map) = node.map() else {
            return wrong_type(what, node, "a map of labels with their next actions", found);
        };
        let entries = map.entries.iter().filter_map(|(key, node)| {
            let action = match node.value {
                Value::Null | Value::Placeholder => None,
                _ => Some(NextAction::read(
                    &format!("the action of {}", quoted(&key.name)),
                    node,
                    found,
                )?),
            };
            Some((key.name.clone(), action))
        });
        Some(Self(entries.collect()))
    }
}
