//! A question to a person: its words filled in, and which transition an answer takes.
//!
//! The question stands in the machine's table. Who puts it to the person is the agent, who hears the answer is the hook of
//! the client's dialog; nothing here changes a loop.

use serde::Serialize;

use crate::machine::Raw;
use crate::text;

/// The longest header of the client's dialog, in characters.
const HEADER: usize = 12;
/// The longest text of a question once its fields are filled in, in characters.
const QUESTION: usize = 500;

/// The question of the phase that a loop is in, as it is to be put to the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The question.
    pub question: String,
    /// A short label of it, 12 characters at most.
    pub header: String,
    /// What can be answered; 2 to 4.
    pub options: Vec<Answer>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Its words.
    pub label: String,
    /// What it means; may be empty.
    pub description: String,
    /// The transition that it takes.
    pub transition: &'static str,
}

/// Returns the question of the phase that a loop is in, where it asks one.
pub fn asked(raw: &Raw) -> Option<Asked> {
    let question = raw.table().phases[raw.phase()].question?;
    let options = question.options.iter().map(|choice| Answer {
        label: shown(choice.label, QUESTION),
        description: shown(choice.description, QUESTION),
        transition: choice.transition,
    });
    Some(Asked {
        question: shown(&raw.fill(question.question), QUESTION),
        header: shown(&raw.fill(question.header), HEADER),
        options: options.collect(),
    })
}

/// Returns the transition that an answer takes, if it is one to the question of the phase that the loop is in: header and
/// question are ours, and the answer is one of its labels. White space around them does not count; what a person typed instead
/// of choosing matches nothing.
pub fn chosen(raw: &Raw, header: &str, question: &str, answer: &str) -> Option<&'static str> {
    asked(raw)?.chosen(header, question, answer)
}

impl Asked {
    fn chosen(&self, header: &str, question: &str, answer: &str) -> Option<&'static str> {
        if header.trim() != self.header || question.trim() != self.question {
            return None;
        }
        let option = self.options.iter().find(|option| option.label == answer.trim())?;
        Some(option.transition)
    }
}

/// Returns a text for a dialog: one plain line. No backquote is left in it, so that it ends no fence of the text around it.
fn shown(text: &str, limit: usize) -> String {
    text::one_line(text, limit).replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rollout() -> Asked {
        let answer = |label: &str, transition| Answer {
            label: label.to_owned(),
            description: String::new(),
            transition,
        };
        Asked {
            question: "Roll 1.2 out to everyone?".to_owned(),
            header: "Rollout".to_owned(),
            options: vec![answer("Roll out", "promote"), answer("Roll back", "roll_back")],
        }
    }

    #[test]
    fn an_answer_counts_letter_by_letter_and_only_to_our_question() {
        let asked = rollout();
        let question = "Roll 1.2 out to everyone?";
        let take = |header: &str, question: &str, answer: &str| asked.chosen(header, question, answer);
        assert_eq!(take("Rollout", question, "Roll out"), Some("promote"));
        let padded = format!("\t{question} ");
        assert_eq!(take(" Rollout\n", &padded, " Roll back\r\n"), Some("roll_back"));
        for answer in [
            "",
            "roll out",
            "Roll out.",
            "Roll  out",
            "Roll out, Roll back",
            "Roll out\u{200b}",
            "please Roll out",
            "promote",
            "(notes only)",
        ] {
            assert_eq!(take("Rollout", question, answer), None, "{answer:?}");
        }
        assert_eq!(take("Rollout", "Roll 1.3 out to everyone?", "Roll out"), None);
        assert_eq!(take("Rollout", "", "Roll out"), None);
        assert_eq!(take("Other", question, "Roll out"), None);
        let long = "Roll out".repeat(100_000);
        assert_eq!(take("Rollout", question, &long), None);
    }

    #[test]
    fn what_is_shown_is_one_plain_line_that_ends_no_fence() {
        assert_eq!(shown("a\r\n```\u{202e}\u{1b}[2Jb", 500), "a '''[2Jb");
        assert_eq!(shown("exactly twelve", HEADER).chars().count(), HEADER);
    }
}
