//! Engineering checks for a plan that contradicts itself: a non-goal that a step does, two numbers for one thing.

use super::outline::BlockKind;
use super::pattern::{self, Pattern, any, patterns, stem};
use super::plan::{NEGATIONS, Plan, Sentence, Topic};
use super::steps::VERBS;
use super::{Check, Hit, PointOfView, Rule, Severity};
use std::collections::HashMap;

const FOCUS: &[PointOfView] = &[PointOfView::Engineering];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ENG-SCOPE",
        focus: FOCUS,
        severity: Severity::High,
        run: Rule::Own(scope),
    },
    Check {
        id: "ENG-NUMBERS",
        focus: FOCUS,
        severity: Severity::Medium,
        run: Rule::Own(numbers),
    },
];

/// Most non-goals that are looked for.
const MAX_NON_GOALS: usize = 64;
/// Words of a non-goal that lie further apart than this are about something else.
const SPAN: usize = 8;

/// Words that say nothing about what a non-goal is.
const EMPTY_WORDS: &[&str] = &[
    "a", "an", "the", "of", "to", "in", "on", "for", "and", "or", "any", "all", "we", "our", "this", "that",
    "it", "is", "are", "be", "will", "not", "with", "by", "from", "at", "as", "out", "scope", "non", "goal",
    "goals", "part", "left", "now", "plan", "change", "work", "other", "new", "wont", "do", "does",
    "included", "covered", "later", "etc", "no", "its", "support", "nor", "neither", "there", "these",
    "those", "here", "than",
];

fn scope(plan: &Plan) -> Option<Hit> {
    let negations = patterns(NEGATIONS);
    let mut non_goals = Vec::new();
    for sentence in plan
        .sentences
        .iter()
        .filter(|sentence| sentence.non_goal && sentence.block.is_some())
    {
        for part in sentence
            .text
            .split([',', ';', ':', '(', ')'])
            .flat_map(|part| part.split(" and "))
            .flat_map(|part| part.split(" or "))
        {
            let words: Vec<String> = pattern::words(part)
                .into_iter()
                .filter(|word| !EMPTY_WORDS.contains(&word.as_str()))
                .collect();
            if (2..=5).contains(&words.len()) && non_goals.len() < MAX_NON_GOALS {
                non_goals.push((sentence, words));
            }
        }
    }
    let verb = Pattern::new(VERBS);
    let doing = plan.sentences.iter().filter(|sentence| {
        sentence.block.is_some()
            && !sentence.excluded
            && matches!(sentence.topic, Topic::Other | Topic::Steps)
            && (sentence.topic == Topic::Steps
                || listed(plan, sentence)
                || verb
                    .find(&sentence.words[..sentence.words.len().min(1)])
                    .is_some())
            && !any(&negations, &sentence.words)
    });
    for sentence in doing {
        let stems: Vec<&str> = sentence.words.iter().map(|word| stem(word)).collect();
        if let Some((source, _)) = non_goals.iter().find(|(_, words)| close(&stems, words)) {
            return Some(Hit {
                severity: Severity::High,
                line: sentence.line,
                what: format!("this does what line {} leaves out", source.line),
                add: "strike one of the two, or say which part of it is in scope",
                quotes: vec![
                    (sentence.line, sentence.text.clone()),
                    (source.line, source.text.clone()),
                ],
            });
        }
    }
    None
}

/// Whether a sentence stands in an item or a row.
fn listed(plan: &Plan, sentence: &Sentence) -> bool {
    sentence
        .block
        .is_some_and(|block| plan.outline.blocks[block].kind != BlockKind::Paragraph)
}

/// Whether all the words occur within a few words of each other.
fn close(stems: &[&str], wanted: &[String]) -> bool {
    let wanted: Vec<&str> = wanted.iter().map(|word| stem(word)).collect();
    stems
        .iter()
        .enumerate()
        .filter(|(_, word)| wanted.contains(word))
        .any(|(at, _)| {
            let window = &stems[at..stems.len().min(at + SPAN)];
            wanted.iter().all(|word| window.contains(word))
        })
}

/// Units of time, size and rate: many different amounts of them stand in any plan.
const UNITS: &[&str] = &[
    "day", "week", "month", "year", "hour", "minute", "second", "time", "step", "phase", "item", "byte",
    "percent", "point", "round", "run", "attempt", "core", "vcpu", "gb", "mb", "kb", "ms", "s", "min", "h",
    "h", "euro", "retry", "retries", "of", "line", "word", "page",
];

fn numbers(plan: &Plan) -> Option<Hit> {
    // For each noun: how many there are, and for how many of them there is room.
    let capacity = patterns(&["support*|handle*|serve*|capacity|limit*"]);
    let mut totals: HashMap<String, (f64, &Sentence)> = HashMap::new();
    let mut limits: HashMap<String, (f64, &Sentence)> = HashMap::new();
    for sentence in plan
        .sentences
        .iter()
        .filter(|sentence| !sentence.excluded && sentence.block.is_some())
    {
        for (at, word) in sentence.words.iter().enumerate() {
            let (Ok(number), Some(noun)) = (word.parse::<f64>(), sentence.words.get(at + 1)) else {
                continue;
            };
            let noun = stem(noun).to_owned();
            let before = |back: usize| {
                at.checked_sub(back)
                    .map_or("", |index| sentence.words[index].as_str())
            };
            if number < 2.0
                || UNITS.iter().any(|unit| stem(unit) == noun)
                || noun.starts_with(|c: char| c.is_ascii_digit())
            {
                continue;
            }
            let total = matches!(before(1), "all" | "total")
                || matches!((before(2), before(1)), ("all", "the" | "of" | "our"));
            let limit = matches!(
                (before(2), before(1)),
                ("up", "to") | ("at", "most") | ("for", "maximum")
            ) && any(&capacity, &sentence.words[at.saturating_sub(12)..at]);
            if total {
                if let Some((other, first)) = totals.get(&noun).filter(|(other, _)| *other != number) {
                    return Some(two_numbers(first, *other, sentence, number));
                }
                totals.insert(noun, (number, sentence));
            } else if limit {
                limits.insert(noun, (number, sentence));
            }
        }
    }
    let mut over: Vec<Hit> = limits
        .iter()
        .filter_map(|(noun, (limit, first))| {
            let (total, second) = totals.get(noun).filter(|(total, _)| total > limit)?;
            Some(two_numbers(first, *limit, second, *total))
        })
        .collect();
    over.sort_by_key(|hit| hit.line);
    over.into_iter().next()
}

fn two_numbers(first: &Sentence, one: f64, second: &Sentence, other: f64) -> Hit {
    Hit {
        severity: Severity::Medium,
        line: second.line,
        what: format!(
            "line {} says {one}, and line {} says {other} of the same",
            first.line, second.line
        ),
        add: "correct one of the two, or say what each of them counts",
        quotes: vec![
            (first.line, first.text.clone()),
            (second.line, second.text.clone()),
        ],
    }
}
