//! The question of a phase: its filled-in texts, its dialogs, and the transition of an answer.
//!
//! The machine's table or the program has the answers. The agent puts the question to the user; the
//! hook of the client's dialog or a verb takes the answer. Nothing here changes a loop.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::machine::table::Taker;
use crate::machine::{PhaseDeclaration as _, Raw};
use crate::store::to_plain;
use crate::text;

/// The longest header of the client's dialog, in characters.
const MAX_HEADER_CHARS: usize = 12;
/// The longest question once its fields are filled in, in characters.
const MAX_QUESTION_CHARS: usize = 500;
/// The longest label of an option, in characters.
pub const MAX_LABEL_CHARS: usize = 80;
/// The longest description, in characters: all have to fit into one block.
const MAX_DESCRIPTION_CHARS: usize = 200;
/// The longest text that a user types instead of choosing, in characters.
const MAX_TYPED_CHARS: usize = 2_000;
const MAX_DIALOG_OPTIONS: usize = 4;
/// The most options of a question: more are no help to a user, and too long for a block.
pub const MAX_OPTIONS: usize = 12;
/// The option beside a single one, if the question takes a text.
const ELSE: &str = "Something else";
/// The option beside a single one, if the question takes no text.
const NO: &str = "Not now";
/// The last option of a dialog after which another one has the rest.
pub const MORE: &str = "More…";

/// The question of the phase that a loop is in, as it is to be put to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The question.
    pub question: String,
    /// A short label of it, 12 characters at most.
    pub header: String,
    /// The possible answers; 1 to 12.
    pub options: Vec<Answer>,
    /// The transition that takes a text that the user types instead of choosing.
    text: Option<Taker>,
}

/// One answer, and the transition that it takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The words.
    pub label: String,
    /// The meaning; may be empty.
    pub description: String,
    /// The transition.
    pub transition: &'static str,
    /// The transition's arguments by their names, as its verb takes them.
    #[serde(skip)]
    pub arguments: Vec<(String, String)>,
}

impl Answer {
    /// Makes an answer for a generated `Transition`, or the name of one without arguments.
    pub fn new<T>(label: impl Into<String>, transition: T) -> Self
    where
        T: Serialize + Into<&'static str>,
    {
        // A transition without arguments is its name.
        let variant = serde_json::to_value(&transition).unwrap_or_default();
        let fields = variant.as_object().into_iter().flat_map(Map::values);
        let values = fields.filter_map(Json::as_object).flatten();
        Self {
            label: label.into(),
            description: String::new(),
            transition: transition.into(),
            arguments: values
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.clone(), to_plain(value)))
                .collect(),
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds an argument of the transition, as its verb takes it.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.arguments.push((name.into(), value.to_string()));
        self
    }

    /// Makes an answer whose words are the transition's argument, if it has one.
    fn taken_by(taker: Taker, words: &str) -> Self {
        let words_as_argument = taker.argument.map(|argument| (argument, words));
        let mut answer = Self::new(words, taker.transition);
        for (name, value) in taker.with.iter().copied().chain(words_as_argument) {
            answer = answer.argument(name, value);
        }
        answer
    }
}

/// Returns the question of the present phase: from the program, or else from the machine file.
///
/// # Errors
/// Returns an error if the question or header is empty, or a program's label cannot be shown.
pub fn question(raw: &Raw, own: Option<Asked>) -> Result<Option<Asked>, String> {
    let declared = raw.phase_info().question();
    let mut question = match (own, declared) {
        (Some(own), _) => {
            own.check_labels()?;
            own
        }
        (None, Some(question)) if !question.options.is_empty() => {
            let options = question.options.iter().map(|choice| Answer {
                // The transition's argument gets the whole label, even if a dialog cuts it.
                label: dialog_text(choice.label, MAX_QUESTION_CHARS),
                ..Answer::taken_by(choice.taker, choice.label).description(choice.description)
            });
            let header = raw.fill(question.header);
            Asked::new(raw.fill(question.question), header, options.collect())
        }
        _ => return Ok(None),
    };
    question.text = declared.and_then(|question| question.text);
    question.into_plain().map(Some)
}

impl Asked {
    /// Makes a question: its text, a label of 12 characters at most, and the possible answers.
    pub fn new(
        question: impl Into<String>,
        header: impl Into<String>,
        options: Vec<Answer>,
    ) -> Self {
        Self {
            question: question.into(),
            header: header.into(),
            options,
            text: None,
        }
    }

    /// Refuses labels that a dialog cannot show as they are, or that look the same.
    fn check_labels(&self) -> Result<(), String> {
        let count = self.options.len();
        if !(1..=MAX_OPTIONS).contains(&count) {
            return Err(format!(
                "the program gives {count} options; a question has 1 to {MAX_OPTIONS}"
            ));
        }
        let mut known = HashSet::new();
        for (option, number) in self.options.iter().zip(1..) {
            let label = option.label.trim();
            let is_plain = !label.contains(['`', '\n', '\t']) && text::strip_hidden(label) == label;
            let is_short = (1..=MAX_LABEL_CHARS).contains(&label.chars().count());
            // These decide nothing.
            let is_ours = label == MORE || count == 1 && [ELSE, NO].contains(&label);
            if !is_plain || !is_short || is_ours || !known.insert(label) {
                let label = text::one_line(&text::printable(label), MAX_LABEL_CHARS);
                return Err(format!(
                    "option {number} of the program, “{label}”, must be a plain text of 1 to 80 characters that no other option has"
                ));
            }
        }
        Ok(())
    }

    /// Makes every text as a dialog shows it.
    fn into_plain(mut self) -> Result<Self, String> {
        self.question = dialog_text(&self.question, MAX_QUESTION_CHARS);
        self.header = dialog_text(&self.header, MAX_HEADER_CHARS);
        if self.question.is_empty() || self.header.is_empty() {
            return Err("its question or its header is empty".to_owned());
        }
        for option in &mut self.options {
            option.label = option.label.trim().to_owned();
            option.description = dialog_text(&option.description, MAX_DESCRIPTION_CHARS);
        }
        Ok(self)
    }

    /// Returns the dialogs in which the question is put, each as the labels and descriptions of its
    /// 2 to 4 options. The last option of a dialog leads to the next one.
    pub fn dialogs(&self) -> Vec<Vec<(&str, &str)>> {
        let options = self.options.iter();
        let mut rest = Vec::from_iter(options.map(|one| (&*one.label, &*one.description)));
        if rest.len() == 1 {
            rest.push(match self.text {
                Some(_) => (ELSE, "Say it in your own words, in the field for that."),
                None => (NO, "Nothing is decided."),
            });
        }
        let mut dialogs = Vec::new();
        while rest.len() > MAX_DIALOG_OPTIONS {
            let after = rest.split_off(MAX_DIALOG_OPTIONS - 1);
            rest.push((MORE, "Nothing is decided yet."));
            dialogs.push(std::mem::replace(&mut rest, after));
        }
        dialogs.push(rest);
        dialogs
    }

    /// Returns the `questions` for the calls of AskUserQuestion, one for each dialog.
    pub fn questions(&self) -> Vec<Json> {
        let option = |(label, description): (&str, &str)| json!({ "label": label, "description": description });
        let dialogs = self.dialogs().into_iter();
        let questions = dialogs.map(|options| {
            json!([{
                "question": self.question,
                "header": self.header,
                "multiSelect": false,
                "options": options.into_iter().map(option).collect::<Vec<_>>(),
            }])
        });
        questions.collect()
    }

    /// Returns whether the agent's dialog has this question. White space around texts is ignored.
    pub fn matches(&self, header: &str, question: &str) -> bool {
        header.trim() == self.header && question.trim() == self.question
    }

    /// Returns whether one of the dialogs offers exactly these labels and descriptions.
    pub fn offers(&self, options: &[(String, String)]) -> bool {
        let texts = options.iter().map(|(label, what)| (&**label, &**what));
        self.dialogs().contains(&texts.collect())
    }

    /// Returns the answer in some words: the option of this label, or a `typed` text if the question
    /// takes one. Case, full stops and “(Recommended)” are ignored, unless options differ only there.
    ///
    /// # Errors
    /// Returns an error if the text is too long.
    pub fn answer(&self, words: &str, typed: bool) -> Result<Option<Answer>, String> {
        let words = words.trim();
        let plain = |label: &str| label.to_lowercase().replace(" (recommended)", "");
        let is_alike = |option: &&Answer| {
            plain(&option.label).trim_end_matches('.') == plain(words).trim_end_matches('.')
        };
        let is_only = self.options.iter().filter(is_alike).count() == 1;
        let is_meant = |option: &&Answer| option.label == words || is_only && is_alike(option);
        if let Some(option) = self.options.iter().find(is_meant) {
            return Ok(Some(option.clone()));
        }
        let is_text = typed && !["", ELSE, NO, MORE].contains(&words);
        let Some(taker) = self.text.filter(|_| is_text) else {
            return Ok(None);
        };
        let count = words.chars().count();
        if count > MAX_TYPED_CHARS {
            return Err(format!(
                "expected at most {MAX_TYPED_CHARS} characters in the answer, found {count}"
            ));
        }
        Ok(Some(Answer::taken_by(taker, words)))
    }

    /// Returns the labels, for a sentence.
    pub fn labels(&self) -> String {
        let labels = self.options.iter().map(|option| &*option.label);
        format!("“{}”", labels.collect::<Vec<_>>().join("”, “"))
    }
}

/// Returns a text as one plain line. It has no backquotes, which could end a fence around it.
fn dialog_text(text: &str, max_chars: usize) -> String {
    text::one_line(text, max_chars).replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(labels: &[&str], text: Option<Taker>) -> Asked {
        let options = labels.iter().map(|label| Answer::new(*label, "choose"));
        let question = "Roll 1.2 out to everyone?";
        let mut asked = Asked::new(question, "Rollout", options.collect());
        asked.text = text;
        asked.into_plain().unwrap()
    }

    fn label(answer: Result<Option<Answer>, String>) -> Option<String> {
        answer.unwrap().map(|answer| answer.label)
    }

    #[test]
    fn answer_is_a_label() {
        let dialog = asking(&["Roll out", "Roll back (Recommended)", "a", "A"], None);
        let take = |answer: &str| label(dialog.answer(answer, true));
        assert_eq!(take(" roll out. \r\n").as_deref(), Some("Roll out"));
        assert_eq!(
            take("Roll back").as_deref(),
            Some("Roll back (Recommended)")
        );
        assert_eq!(take("A").as_deref(), Some("A"));
        for answer in [
            "",
            "a.",
            "Roll  out",
            "Roll out, Roll back",
            "Roll out\u{200b}",
            "please Roll out",
            "choose",
            "(notes only)",
            &"Roll out".repeat(100_000),
        ] {
            assert_eq!(take(answer), None, "{answer:.40}");
        }
        let question = "Roll 1.2 out to everyone?";
        assert!(dialog.matches(" Rollout\n", &format!("\t{question} ")));
        assert!(!dialog.matches("Rollout", "Roll 1.3 out to everyone?"));
        assert!(!dialog.matches("Rollout", "") && !dialog.matches("Other", question));
    }

    #[test]
    fn dialog_with_other_descriptions_is_not_offered() {
        let answers = (1..=5).map(|n| Answer::new(format!("{n}"), "go").description("risky"));
        let dialog = Asked::new("Which?", "Which", answers.collect())
            .into_plain()
            .unwrap();
        let options = |options: &[(&str, &str)]| {
            let owned = |(label, what): &(&str, &str)| (label.to_string(), what.to_string());
            dialog.offers(&options.iter().map(owned).collect::<Vec<_>>())
        };
        assert!(options(&[("4", "risky"), ("5", "risky")]));
        let first = [("1", "risky"), ("2", "risky"), ("3", "risky")];
        assert!(options(
            &[&first[..], &[(MORE, "Nothing is decided yet.")]].concat()
        ));
        assert!(!options(&first), "an option is missing");
        assert!(!options(&[("4", "harmless"), ("5", "risky")]));
        assert!(!options(&[("4", "risky"), ("5", "risky"), ("6", "")]));
        assert!(!options(&[]));
    }

    #[test]
    fn typed_text_is_taken_if_the_question_takes_one() {
        let taker = Taker {
            transition: "note",
            argument: Some("why"),
            with: &[],
        };
        let dialog = asking(&["Roll out"], Some(taker));
        let words = "  not yet: it's \"red\" `x`\n$(y) ";
        let answer = dialog.answer(words, true).unwrap().unwrap();
        assert_eq!(answer.transition, "note");
        assert_eq!(
            answer.arguments,
            [("why".to_owned(), words.trim().to_owned())]
        );
        assert_eq!(
            dialog.answer("Roll out", true).unwrap().unwrap().transition,
            "choose"
        );
        // A label that no option has was chosen, not typed.
        assert_eq!(dialog.answer("not yet", false), Ok(None));
        for nothing in ["", " \n", ELSE, NO, MORE] {
            assert_eq!(dialog.answer(nothing, true), Ok(None), "{nothing}");
        }
        let long = "é".repeat(MAX_TYPED_CHARS);
        assert!(dialog.answer(&long, true).is_ok());
        assert_eq!(
            dialog.answer(&format!("{long}!"), true).unwrap_err(),
            "expected at most 2000 characters in the answer, found 2001"
        );
    }

    #[test]
    fn dialogs_offer_each_option_once() {
        let all: Vec<String> = (1..=MAX_OPTIONS)
            .map(|one| format!("option {one}"))
            .collect();
        for count in 2..=MAX_OPTIONS {
            let labels: Vec<&str> = all[..count].iter().map(String::as_str).collect();
            let dialog = asking(&labels, None);
            let dialogs = dialog.dialogs();
            let sizes = dialogs.iter().map(Vec::len);
            assert!(sizes.min() >= Some(2) && dialogs[0].len() <= MAX_DIALOG_OPTIONS);
            let offered: Vec<&str> = dialogs
                .iter()
                .flatten()
                .map(|(label, _)| *label)
                .filter(|label| *label != MORE)
                .collect();
            assert_eq!(offered, labels);
            let more = dialogs.iter().filter(|page| page.last().unwrap().0 == MORE);
            assert_eq!(more.count(), dialogs.len() - 1, "{count}");
        }
        assert_eq!(asking(&["Only"], None).dialogs()[0][1].0, NO);
        let taker = Taker {
            transition: "note",
            argument: Some("why"),
            with: &[],
        };
        assert_eq!(asking(&["Only"], Some(taker)).dialogs()[0][1].0, ELSE);
    }
}
