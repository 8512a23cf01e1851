//! The question of an interactive pause, and the next actions of its answers.

use std::collections::BTreeMap;

use claudex_loop::text;
use serde::{Deserialize, Serialize};

use super::rule::{Collector, Lenient, Rule, quote};
use super::words::NextAction;

/// The most characters of a header.
const MAX_HEADER_CHARS: usize = 12;
/// The label by which the program shows more options.
const MORE_LABEL: &str = "More…";

/// The next actions by label; `None` has the stage run again with the answer.
pub type ActionMap = BTreeMap<String, Option<NextAction>>;

/// A question to the user. A missing text is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Question {
    /// The question.
    pub question: String,
    /// A short label, on one line.
    pub header: String,
    /// The answers to choose from.
    pub options: Vec<QuestionOption>,
}

/// One answer to a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// The meaning of the answer.
    pub description: String,
}

/// Returns whether two labels are the same without "(Recommended)".
pub(crate) fn is_same_label(one: &str, other: &str) -> bool {
    fn strip_recommended(label: &str) -> &str {
        label.trim().trim_end_matches("(Recommended)").trim_end()
    }
    strip_recommended(one) == strip_recommended(other)
}

impl Question {
    /// Cuts the header, and drops the options that are incomplete or repeat a label.
    pub(super) fn correct(&mut self, findings: &mut Collector) {
        const PATH: &str = "/flags/question_context";
        self.question = self.question.trim().to_owned();
        if self.question.is_empty() {
            findings.add(Rule::NoQuestion, &format!("{PATH}/question"), "");
        }
        self.correct_header(&format!("{PATH}/header"), findings);

        let path = format!("{PATH}/options");
        let count = self.options.len();
        if !(2..=4).contains(&count) {
            let lenient = findings.add(Rule::OptionCount, &path, "");
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
                findings.add(Rule::OptionIncomplete, &path, "");
                return false;
            }
            let is_reserved = is_same_label(&text::plain(label), MORE_LABEL);
            if is_reserved {
                *findings.add(Rule::OptionDuplicate, &path, "") = Lenient::Refused;
            }
            let is_known = labels.iter().any(|known| is_same_label(known, label));
            if is_known {
                findings.add(Rule::OptionDuplicate, &path, quote(label));
            }
            labels.push(label.clone());
            !is_reserved && !is_known
        });
    }
    /// Cuts the header to what a dialog can show.
    fn correct_header(&mut self, path: &str, findings: &mut Collector) {
        let header = self.header.trim();
        let line = header.lines().next().unwrap_or_default();
        let cut: String = line.chars().take(MAX_HEADER_CHARS).collect();
        if !header.is_empty() && text::plain(header).trim().is_empty() {
            *findings.add(Rule::HeaderLength, path, "") = Lenient::Refused;
        } else if header.is_empty() || cut != header {
            findings.add(Rule::HeaderLength, path, "");
        }
        self.header = cut.trim().to_owned();
    }
}
