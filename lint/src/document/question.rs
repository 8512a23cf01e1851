//! The commonest check: the plan's words make something relevant, and no words of the plan answer it.

use crate::Severity;

use super::check::{Hit, Question};
use super::outline::BlockKind;
use super::pattern::{Pattern, any, patterns};
use super::plan::Plan;
use super::sentence::{NEGATIONS, Quote, Sentence, Topic};

/// A sentence that does something, and the word with which it begins to.
pub(super) type Found<'a> = (&'a Sentence, usize);

/// An answer shorter than this says only that somebody thought of the word.
const ANSWER_WORDS: usize = 4;
/// A longer sentence with a vague word in it says something else besides.
const VAGUE_WORDS: usize = 14;
/// Most quotes of one kind in one finding.
const QUOTES: usize = 3;

pub(super) fn run(question: &Question, severity: Severity, plan: &Plan) -> Option<Hit> {
    ask(question, severity, plan, relevant(plan, question.relevant))
}

/// Asks about what was found to be relevant.
pub(super) fn ask(
    question: &Question,
    severity: Severity,
    plan: &Plan,
    found: Vec<Found<'_>>,
) -> Option<Hit> {
    if found.is_empty() || plan.names(question.named) || answered(plan, question.answered) {
        return None;
    }
    let mut quotes = quotes(plan, &found);
    if !question.also.is_empty() {
        let also = relevant(plan, question.also);
        let (sentence, word) = also.first()?;
        if !found
            .iter()
            .any(|(other, _)| std::ptr::eq(*other, *sentence))
        {
            quotes.push(sentence.quote(&plan.outline, *word));
        }
    }
    Some(Hit {
        // What is named somewhere, though in no sentence that answers, is not certainly missing.
        severity: if plan.names(question.answered) {
            Severity::Low
        } else {
            severity
        },
        line: quotes.first()?.line,
        what: question.what.to_owned(),
        add: question.add,
        quotes,
    })
}

/// Quotes the first of what was found.
pub(super) fn quotes(plan: &Plan, found: &[Found<'_>]) -> Vec<Quote> {
    let first = found.iter().take(QUOTES);
    first
        .map(|(sentence, word)| sentence.quote(&plan.outline, *word))
        .collect()
}

/// Returns sentences in which the plan does one of these things: not what it leaves out, looks back on, or denies.
pub(super) fn relevant<'a>(plan: &'a Plan, sources: &[&'static str]) -> Vec<Found<'a>> {
    let wanted = patterns(sources);
    let negations = patterns(NEGATIONS);
    let does = |sentence: &'a Sentence| {
        let about = matches!(
            sentence.topic,
            Topic::OutOfScope
                | Topic::Background
                | Topic::Goal
                | Topic::Alternatives
                | Topic::Questions
                | Topic::Changelog
        );
        if about || sentence.excluded || sentence.text.ends_with('?') {
            return None;
        }
        let matches = wanted
            .iter()
            .filter_map(|pattern| pattern.find(&sentence.words));
        let at = matches.min()?;
        (!denied(&negations, &sentence.words[..at])).then_some((sentence, at))
    };
    let mut found: Vec<Found<'a>> = plan.sentences.iter().filter_map(does).collect();
    // The step that does it says more than the paragraph about it, and that more than a heading.
    found.sort_by_key(|(sentence, _)| {
        let kind = sentence.block.map(|block| plan.outline.blocks[block].kind);
        (
            kind.is_none(),
            kind == Some(BlockKind::Paragraph),
            sentence.line,
        )
    });
    found
}

/// Returns whether one of the last words before a match takes it back.
fn denied(negations: &[Pattern], before: &[String]) -> bool {
    const REACH: usize = 8;
    any(negations, &before[before.len().saturating_sub(REACH)..])
}

/// Returns whether some sentence says one of these things, and means it.
pub(super) fn answered(plan: &Plan, sources: &[&'static str]) -> bool {
    !answers(plan, sources).is_empty()
}

/// Returns the sentences that say one of these things.
pub(super) fn answers<'a>(plan: &'a Plan, sources: &[&'static str]) -> Vec<&'a Sentence> {
    let wanted = patterns(sources);
    plan.sentences
        .iter()
        .filter(|sentence| says(sentence) && any(&wanted, &sentence.words))
        .collect()
}

/// Returns whether a sentence can answer anything: no heading, no open question, no catchword.
pub(super) fn says(sentence: &Sentence) -> bool {
    let long = sentence.words.len() >= ANSWER_WORDS || sentence.block_words >= 2 * ANSWER_WORDS;
    sentence.block.is_some()
        && long
        && !sentence.open
        && !(sentence.vague && sentence.words.len() < VAGUE_WORDS)
}
