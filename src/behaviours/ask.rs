//! A question to a person: its words filled in, the dialogs in which it is put, and which transition an answer takes.
//!
//! What can be answered stands in the machine's table, or is the program's to say. Who puts the question
//! to the person is the agent, who hears the answer is the hook of the client's dialog or a verb; nothing here changes a loop.

use serde::Serialize;
use serde_json::Value as Json;

use crate::machine::table::{Options, Taker};
use crate::machine::{Actor, Raw};
use crate::text;

/// The longest header of the client's dialog, in characters.
const HEADER: usize = 12;
/// The longest text of a question once its fields are filled in, in characters.
const QUESTION: usize = 500;
/// The longest label that a field or a program gives, in characters.
const LABEL: usize = 80;
/// The longest description, in characters; where there are several dialogs all of them have to fit into one block.
const DESCRIPTION: usize = 300;
const DESCRIPTION_OF_MANY: usize = 100;
/// The longest text that a person types instead of choosing, in characters.
const TYPED: usize = 2_000;
/// Most options of the client's dialog.
const DIALOG: usize = 4;
/// Most options of a question: more are no help to a person, and too long for a block.
const MOST: usize = 12;
/// The option beside one that stands alone; where the question takes a text, and where it takes none.
const ELSE: &str = "Something else";
const NO: &str = "Not now";
/// The last option of a dialog after which another one has the rest.
pub(super) const MORE: &str = "More…";

/// The question of the phase that a loop is in, as it is to be put to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The question.
    pub question: String,
    /// A short label of it, 12 characters at most.
    pub header: String,
    /// What can be answered; 1 to 12.
    pub options: Vec<Answer>,
    /// What takes a text that the person types instead of choosing.
    text: Option<Taker>,
}

/// One answer, and what it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its words.
    pub label: String,
    /// What it means; may be empty.
    pub description: String,
    /// The transition that it takes.
    pub transition: &'static str,
    /// What goes into the transition's arguments, by their names.
    pub arguments: Vec<(String, String)>,
}

impl Answer {
    /// Makes an answer that takes a transition: a generated `Transition`, or the name of one without arguments.
    pub fn new<T>(label: impl Into<String>, transition: T) -> Self
    where
        T: Serialize + Into<&'static str>,
    {
        let arguments = arguments_of(&transition);
        Self {
            label: label.into(),
            description: String::new(),
            transition: transition.into(),
            arguments,
        }
    }

    /// Says what it means.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Gives an argument of the transition, as its verb takes it.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.arguments.push((name.into(), value.to_string()));
        self
    }

    /// An answer whose words are the transition's argument, where it has one.
    fn taken_by(taker: Taker, words: &str) -> Self {
        let answer = taker.with.iter().fold(
            Self::new(words, taker.transition),
            |answer, (name, value)| answer.argument(*name, value),
        );
        match taker.argument {
            Some(argument) => answer.argument(argument, words),
            None => answer,
        }
    }
}

/// Returns the question of the phase that a loop is in, where it asks one and the program does not.
///
/// # Errors
/// Says which label of a field cannot be an option, or that there is none.
pub fn asked(raw: &Raw) -> Result<Option<Asked>, String> {
    let Some(question) = raw.table().phases[raw.phase()].question else {
        return Ok(None);
    };
    let options = match question.options {
        Options::These(choices) => choices
            .iter()
            .map(|choice| Answer {
                // Its transition's argument gets the label, whatever a dialog shows of it.
                label: shown(choice.label, QUESTION),
                ..Answer::taken_by(choice.taker, choice.label).description(choice.description)
            })
            .collect(),
        Options::Program => return Ok(None),
    };
    let asked = Asked::new(
        raw.fill(question.question),
        raw.fill(question.header),
        options,
    );
    asked.plain(question.text).map(Some)
}

/// Returns a question that the program asks, as it can be put: its texts made plain.
///
/// # Errors
/// Says which of its options cannot be one.
pub fn checked(raw: &Raw, asked: Asked) -> Result<Asked, String> {
    usable(
        asked.options.iter().map(|option| option.label.as_str()),
        "the program",
    )?;
    let phase = &raw.table().phases[raw.phase()];
    for option in &asked.options {
        let name = option.transition;
        let mut edges = raw.table().edges_at(name, raw.phase());
        if !edges.any(|edge| edge.by.contains(&Actor::Person)) {
            let label = text::shown(&option.label);
            return Err(format!(
                "the option “{label}” takes `{name}`, which no person takes in phase {}",
                phase.name
            ));
        }
    }
    asked.plain(phase.question.and_then(|question| question.text))
}

/// Refuses labels that a dialog cannot show as they are, or that cannot be told apart.
fn usable<'a>(labels: impl Iterator<Item = &'a str>, whose: &str) -> Result<(), String> {
    let labels: Vec<&str> = labels.map(str::trim).collect();
    match labels.len() {
        0 => return Err(format!("{whose} gives no options")),
        many if many > MOST => {
            return Err(format!(
                "{whose} gives {many} options, and {MOST} are the most"
            ));
        }
        _ => {}
    }
    for (at, label) in labels.iter().enumerate() {
        let wrong = match label.chars().count() {
            0 => "is empty".to_owned(),
            long if long > LABEL => format!("has {long} characters, and {LABEL} are the most"),
            _ if label.contains('`') => "has a backquote in it".to_owned(),
            // What is left out when it is shown could not be answered letter by letter.
            _ if label.contains(['\n', '\t']) || text::plain(label) != *label => {
                "has a control or a hidden character in it".to_owned()
            }
            _ if labels[..at].contains(label) => "stands there twice".to_owned(),
            _ if *label == MORE || labels.len() == 1 && [ELSE, NO].contains(label) => {
                "means that nothing is decided".to_owned()
            }
            _ => continue,
        };
        let label = text::one_line(&text::shown(label), LABEL);
        return Err(format!(
            "{whose} gives options of which number {}, “{label}”, {wrong}",
            at + 1
        ));
    }
    Ok(())
}

/// Returns the arguments of a transition as its verb takes them.
fn arguments_of(transition: &impl Serialize) -> Vec<(String, String)> {
    let Ok(Json::Object(named)) = serde_json::to_value(transition) else {
        return Vec::new();
    };
    let arguments = named.into_values().filter_map(|arguments| match arguments {
        Json::Object(arguments) => Some(arguments),
        _ => None,
    });
    let given = arguments.flatten().filter(|(_, value)| !value.is_null());
    let text = |value| match value {
        Json::String(text) => text,
        other => other.to_string(),
    };
    given.map(|(name, value)| (name, text(value))).collect()
}

impl Asked {
    /// Makes a question: what is asked, a label of it of 12 characters at most, and what can be answered.
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

    /// The question with every text as a dialog shows it.
    fn plain(mut self, text: Option<Taker>) -> Result<Self, String> {
        self.question = shown(&self.question, QUESTION);
        self.header = shown(&self.header, HEADER);
        for (what, text) in [("question", &self.question), ("header", &self.header)] {
            if text.is_empty() {
                return Err(format!("its {what} is empty"));
            }
        }
        let room = match self.options.len() > DIALOG {
            true => DESCRIPTION_OF_MANY,
            false => DESCRIPTION,
        };
        for option in &mut self.options {
            option.label = option.label.trim().to_owned();
            option.description = shown(&option.description, room);
        }
        self.text = text;
        Ok(self)
    }

    /// Returns the dialogs in which the question is put, each as the labels and descriptions of its 2 to 4 options. Where there is
    /// another one, the last option leads to it.
    pub fn dialogs(&self) -> Vec<Vec<(&str, &str)>> {
        let all: Vec<(&str, &str)> = self
            .options
            .iter()
            .map(|option| (option.label.as_str(), option.description.as_str()))
            .collect();
        if let [only] = all.as_slice() {
            let other = match self.text {
                Some(_) => (ELSE, "Say it in your own words, in the field for that."),
                None => (NO, "Nothing is decided."),
            };
            return vec![vec![*only, other]];
        }
        let (mut rest, mut dialogs) = (all.as_slice(), Vec::new());
        while rest.len() > DIALOG {
            let (page, after) = rest.split_at(DIALOG - 1);
            dialogs.push([page, &[(MORE, "Nothing is decided yet.")]].concat());
            rest = after;
        }
        dialogs.push(rest.to_vec());
        dialogs
    }

    /// Returns whether a dialog that the agent opened puts this question. White space around the texts does not count.
    pub fn is(&self, header: &str, question: &str) -> bool {
        header.trim() == self.header && question.trim() == self.question
    }

    /// Returns whether one of the dialogs offers exactly these labels and descriptions.
    pub fn offers(&self, options: &[(String, String)]) -> bool {
        let is_same = |page: &Vec<(&str, &str)>| {
            let options = options.iter().map(|(label, what)| (&**label, &**what));
            page.iter().copied().eq(options)
        };
        self.dialogs().iter().any(is_same)
    }

    /// Returns the answer that some words are, if they are one: the label of an option, letter by letter; else, where they were
    /// `typed`, a text of the person's own, if the question takes one.
    ///
    /// # Errors
    /// The text is too long.
    pub fn answer(&self, words: &str, typed: bool) -> Result<Option<Answer>, String> {
        let words = words.trim();
        if let Some(option) = self.options.iter().find(|option| option.label == words) {
            return Ok(Some(option.clone()));
        }
        let Some(taker) = self
            .text
            .filter(|_| typed && !words.is_empty() && ![ELSE, NO, MORE].contains(&words))
        else {
            return Ok(None);
        };
        match words.chars().count() {
            long if long > TYPED => Err(format!(
                "the answer has {long} characters, and {TYPED} are the most"
            )),
            _ => Ok(Some(Answer::taken_by(taker, words))),
        }
    }

    /// Returns the labels, for a sentence.
    pub fn labels(&self) -> String {
        let labels = self
            .options
            .iter()
            .map(|option| format!("“{}”", option.label));
        labels.collect::<Vec<_>>().join(", ")
    }
}

/// Returns a text for a dialog: one plain line. No backquote is left in it, so that it ends no fence of the text around it.
fn shown(text: &str, limit: usize) -> String {
    text::one_line(text, limit).replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(labels: &[&str], text: Option<Taker>) -> Asked {
        let options = labels.iter().map(|label| Answer::new(*label, "choose"));
        let asked = Asked::new("Roll 1.2 out to everyone?", "Rollout", options.collect());
        asked.plain(text).unwrap()
    }

    fn label(answer: Result<Option<Answer>, String>) -> Option<String> {
        answer.unwrap().map(|answer| answer.label)
    }

    #[test]
    fn an_answer_counts_letter_by_letter_and_only_to_our_question() {
        let asked = asked(&["Roll out", "Roll back"], None);
        let take = |answer: &str| label(asked.answer(answer, true));
        assert_eq!(take("Roll out").as_deref(), Some("Roll out"));
        assert_eq!(take(" Roll back\r\n").as_deref(), Some("Roll back"));
        for answer in [
            "",
            "roll out",
            "Roll out.",
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
        assert!(asked.is(" Rollout\n", &format!("\t{question} ")));
        assert!(!asked.is("Rollout", "Roll 1.3 out to everyone?"));
        assert!(!asked.is("Rollout", "") && !asked.is("Other", question));
    }

    #[test]
    fn dialog_with_other_descriptions_is_not_offered() {
        let answers = (1..=5).map(|n| Answer::new(format!("{n}"), "go").description("risky"));
        let asked = Asked::new("Which?", "Which", answers.collect());
        let asked = asked.plain(None).unwrap();
        let options = |options: &[(&str, &str)]| {
            let own = |(label, what): &(&str, &str)| (label.to_string(), what.to_string());
            asked.offers(&options.iter().map(own).collect::<Vec<_>>())
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
    fn what_is_typed_is_an_answer_where_the_question_takes_one() {
        let taker = Taker {
            transition: "note",
            argument: Some("why"),
            with: &[],
        };
        let asked = asked(&["Roll out"], Some(taker));
        let words = "  not yet: it's \"red\" `x`\n$(y) ";
        let taken = asked.answer(words, true).unwrap().unwrap();
        assert_eq!(taken.transition, "note");
        assert_eq!(
            taken.arguments,
            [("why".to_owned(), words.trim().to_owned())]
        );
        assert_eq!(
            asked.answer("Roll out", true).unwrap().unwrap().transition,
            "choose"
        );
        // A label that is none of ours was chosen, not typed.
        assert_eq!(asked.answer("not yet", false), Ok(None));
        for nothing in ["", " \n", ELSE, NO, MORE] {
            assert_eq!(asked.answer(nothing, true), Ok(None), "{nothing}");
        }
        let long = "é".repeat(TYPED);
        assert!(asked.answer(&long, true).is_ok());
        assert_eq!(
            asked.answer(&format!("{long}!"), true).unwrap_err(),
            "the answer has 2001 characters, and 2000 are the most"
        );
    }

    #[test]
    fn a_dialog_has_two_to_four_options_and_all_of_them_are_offered_once() {
        let all: Vec<String> = (1..=MOST)
            .map(|number| format!("option {number}"))
            .collect();
        for count in 1..=MOST {
            let labels: Vec<&str> = all[..count].iter().map(String::as_str).collect();
            let asked = asked(&labels, None);
            let dialogs = asked.dialogs();
            let (last, before) = dialogs.split_last().unwrap();
            for page in before {
                assert_eq!(page.last().unwrap().0, MORE, "{count}");
            }
            assert_ne!(last.last().unwrap().0, MORE, "{count}");
            assert!(
                dialogs
                    .iter()
                    .all(|page| (2..=DIALOG).contains(&page.len())),
                "{count}"
            );
            let offered: Vec<&str> = dialogs
                .iter()
                .flatten()
                .map(|(label, _)| *label)
                .filter(|label| ![NO, MORE].contains(label))
                .collect();
            assert_eq!(offered, labels);
        }
        assert_eq!(asked(&["Only"], None).dialogs()[0][1].0, NO);
        let taker = Taker {
            transition: "note",
            argument: Some("why"),
            with: &[],
        };
        assert_eq!(asked(&["Only"], Some(taker)).dialogs()[0][1].0, ELSE);
    }

    #[test]
    fn a_label_that_cannot_be_one_is_named() {
        let said = |labels: &[&str]| usable(labels.iter().copied(), "it").unwrap_err();
        assert_eq!(said(&[]), "it gives no options");
        assert_eq!(said(&["x"; 13]), "it gives 13 options, and 12 are the most");
        let long = "x".repeat(81);
        for (label, wrong) in [
            (" ", "is empty"),
            (long.as_str(), "has 81 characters, and 80 are the most"),
            ("a`b`", "has a backquote in it"),
            ("a\u{1b}[2J", "has a control or a hidden character in it"),
            ("a\nb", "has a control or a hidden character in it"),
            ("a\u{202e}b", "has a control or a hidden character in it"),
            (" fine ", "stands there twice"),
            (MORE, "means that nothing is decided"),
        ] {
            let said = said(&["fine", label]);
            assert!(
                said.starts_with("it gives options of which number 2, “"),
                "{said}"
            );
            assert!(said.ends_with(&format!("”, {wrong}")), "{said}");
            assert!(!said.contains(['\n', '\u{1b}', '\u{202e}']), "{said:?}");
        }
        for alone in [ELSE, NO] {
            assert!(said(&[alone]).ends_with("means that nothing is decided"));
            assert_eq!(usable(["fine", alone].into_iter(), "it"), Ok(()));
        }
        assert_eq!(
            usable(["a", "it's \"$(x)\"", "計画 👩"].into_iter(), "it"),
            Ok(())
        );
    }

    #[test]
    fn what_is_shown_is_one_plain_line_that_ends_no_fence() {
        assert_eq!(shown("a\r\n```\u{202e}\u{1b}[2Jb", 500), "a '''[2Jb");
        assert_eq!(shown("exactly twelve", HEADER).chars().count(), HEADER);
        let empty = |question: &str, header: &str| {
            let asked = Asked::new(question, header, vec![Answer::new("Yes", "choose")]);
            asked.plain(None).unwrap_err()
        };
        assert_eq!(empty(" \u{202e}\n", "Go"), "its question is empty");
        assert_eq!(empty("Go on?", "\t"), "its header is empty");
    }

    #[test]
    fn many_options_have_short_descriptions() {
        let longest = |count: usize| {
            let long = "x".repeat(1_000);
            let options =
                (0..count).map(|at| Answer::new(at.to_string(), "choose").description(&long));
            let asked = Asked::new("Which?", "Which", options.collect())
                .plain(None)
                .unwrap();
            let lengths = asked.options.iter().map(|option| option.description.len());
            lengths.max()
        };
        assert_eq!((longest(DIALOG), longest(MOST)), (Some(300), Some(100)));
    }
}
