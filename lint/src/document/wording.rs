//! Engineering checks of wording: words that promise nothing, and questions left open.

use super::pattern::{Pattern, any, patterns};
use super::plan::{OPEN_MARKS, Plan, Sentence, Topic, VAGUE};
use super::{Check, Hit, PointOfView, Rule, Severity};

const FOCUS: &[PointOfView] = &[PointOfView::Engineering];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ENG-OPEN-QUESTION",
        focus: FOCUS,
        severity: Severity::High,
        run: Rule::Own(open),
    },
    Check {
        id: "ENG-HEDGE",
        focus: FOCUS,
        severity: Severity::Low,
        run: Rule::Own(hedges),
    },
    Check {
        id: "ENG-VAGUE",
        focus: FOCUS,
        severity: Severity::Medium,
        run: Rule::Own(vague),
    },
];

/// This many vague sentences are a habit.
const MANY_VAGUE: usize = 3;

fn open(plan: &Plan) -> Option<Hit> {
    let marks = patterns(OPEN_MARKS);
    let open: Vec<&Sentence> = plan
        .sentences
        .iter()
        .filter(|sentence| sentence.open && !sentence.excluded)
        .collect();
    let first = open.first()?;
    let marked = open.iter().any(|sentence| {
        sentence.topic == Topic::Questions || any(&marks, &sentence.words) || sentence.text.contains("???")
    });
    Some(Hit {
        severity: if marked || open.len() > 2 {
            Severity::High
        } else {
            Severity::Medium
        },
        line: first.line,
        what: format!("{} left open", count(open.len(), "question is", "questions are")),
        add: "decide, or make the decision a step with an owner, a date and what it blocks",
        quotes: open
            .iter()
            .map(|sentence| (sentence.line, sentence.text.clone()))
            .collect(),
    })
}

fn hedges(plan: &Plan) -> Option<Hit> {
    let hedge = Pattern::new("maybe|probably|perhaps|hopefully|somehow|presumably");
    let hedges: Vec<&Sentence> = plan
        .sentences
        .iter()
        .filter(|sentence| !sentence.open && hedge.find(&sentence.words).is_some())
        .filter(|sentence| {
            !matches!(
                sentence.topic,
                Topic::Risks | Topic::Alternatives | Topic::OutOfScope | Topic::Background
            )
        })
        .collect();
    let first = hedges.first()?;
    Some(Hit {
        severity: Severity::Low,
        line: first.line,
        what: format!(
            "{} in doubt",
            count(hedges.len(), "statement is", "statements are")
        ),
        add: "find out, or say what is done in either case",
        quotes: hedges
            .iter()
            .map(|sentence| (sentence.line, sentence.text.clone()))
            .collect(),
    })
}

fn vague(plan: &Plan) -> Option<Hit> {
    let words = patterns(VAGUE);
    let vague: Vec<&Sentence> = plan
        .sentences
        .iter()
        .filter(|sentence| sentence.vague && sentence.block.is_some() && !sentence.excluded)
        .filter(|sentence| {
            !matches!(
                sentence.topic,
                Topic::Risks | Topic::Alternatives | Topic::Changelog
            )
        })
        .collect();
    let first = vague.first()?;
    let mut named: Vec<String> = Vec::new();
    for sentence in &vague {
        let first = words
            .iter()
            .filter_map(|pattern| Some((pattern.find(&sentence.words)?, pattern.len())))
            .min();
        let Some((at, length)) = first else { continue };
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
        severity: if vague.len() >= MANY_VAGUE {
            Severity::Medium
        } else {
            Severity::Low
        },
        line: first.line,
        what: format!(
            "{} nothing that can be checked: {}",
            count(vague.len(), "sentence promises", "sentences promise"),
            named.join(", ")
        ),
        add: "put a number and how it is measured, or strike the word",
        quotes: vague
            .iter()
            .map(|sentence| (sentence.line, sentence.text.clone()))
            .collect(),
    })
}

fn count(number: usize, one: &str, more: &str) -> String {
    if number == 1 {
        format!("1 {one}")
    } else {
        format!("{number} {more}")
    }
}
