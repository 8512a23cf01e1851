//! Engineering checks of wording: words that promise nothing, and questions left open.

use super::check::{Check, Hit, Rule, Subject};
use super::pattern::patterns;
use super::plan::Plan;
use super::sentence::{Sentence, Topic, VAGUE};
use crate::{PointOfView, Severity};

const VIEWS: &[PointOfView] = &[PointOfView::Engineering];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ENG-OPEN-QUESTION",
        subject: Subject::Wording,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Own(open),
    },
    Check {
        id: "ENG-VAGUE",
        subject: Subject::Wording,
        views: VIEWS,
        severity: Severity::Low,
        run: Rule::Own(vague),
    },
];

/// Marks that people leave for themselves, as they write them. A colon tells a note from "complete the TODO".
const MARKS: [&str; 5] = ["TBD", "TBC", "TODO:", "FIXME:", "???"];

fn open(plan: &Plan) -> Option<Hit> {
    let open: Vec<&Sentence> = (plan.sentences.iter())
        .filter(|sentence| sentence.open && !sentence.excluded)
        .collect();
    let is_marked = |sentence: &&Sentence| {
        let tokens = sentence
            .text
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | ':'));
        tokens.into_iter().any(|token| {
            MARKS.contains(&token) || MARKS[..2].contains(&token.trim_end_matches(':'))
        })
    };
    // A question may have its answer in words that are not known here; a mark has none.
    let severity = if open.iter().any(is_marked) {
        Severity::High
    } else {
        Severity::Low
    };
    let quoted = open
        .iter()
        .filter(|open| severity == Severity::Low || is_marked(open));
    let quotes = quoted
        .map(|sentence| sentence.quote(&plan.outline, 0))
        .collect::<Vec<_>>();
    Some(Hit {
        severity,
        line: quotes.first()?.line,
        what: format!(
            "{} left open",
            count(quotes.len(), "question is", "questions are")
        ),
        add: "decide, or make the decision a step with an owner, a date and what it blocks",
        quotes,
    })
}

fn vague(plan: &Plan) -> Option<Hit> {
    let words = patterns(VAGUE);
    let mut named: Vec<String> = Vec::new();
    let mut quotes = Vec::new();
    for sentence in (plan.sentences.iter())
        .filter(|sentence| sentence.vague && sentence.block.is_some() && !sentence.excluded)
        .filter(|sentence| {
            !matches!(
                sentence.topic,
                Topic::Risks | Topic::Alternatives | Topic::Changelog
            )
        })
    {
        let first = words
            .iter()
            .filter_map(|pattern| Some((pattern.find(&sentence.words)?, pattern.len())))
            .min();
        let Some((at, length)) = first else { continue };
        quotes.push(sentence.quote(&plan.outline, at));
        let phrase = sentence.words[at..]
            .iter()
            .take(length)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" ");
        if !named.contains(&phrase) && named.len() < 5 {
            named.push(phrase);
        }
    }
    Some(Hit {
        severity: Severity::Low,
        line: quotes.first()?.line,
        what: format!(
            "{} nothing that can be checked: {}",
            count(quotes.len(), "sentence promises", "sentences promise"),
            named.join(", ")
        ),
        add: "put a number and how it is measured, or strike the word",
        quotes,
    })
}

fn count(number: usize, one: &str, more: &str) -> String {
    if number == 1 {
        format!("1 {one}")
    } else {
        format!("{number} {more}")
    }
}
