//! The commonest check: the plan's words make something relevant, and no words of the plan answer it.

use super::outline::BlockKind;
use super::pattern::{self, Pattern, patterns};
use super::plan::{NEGATIONS, Plan, Sentence, Topic};
use super::{Hit, Severity};

/// What makes a question relevant, what answers it, and what to say if nothing does.
pub(super) struct Question {
    /// Patterns of which one must be found in what the plan does.
    pub(super) relevant: &'static [&'static str],
    /// Patterns of which one must be found as well, anywhere; empty for none.
    pub(super) also: &'static [&'static str],
    /// Patterns of which one is an answer. "No retries are needed, because ..." is one, too.
    pub(super) answered: &'static [&'static str],
    pub(super) what: &'static str,
    pub(super) add: &'static str,
}

/// An answer shorter than this says only that somebody thought of the word.
const ANSWER_WORDS: usize = 4;
/// A longer sentence with a vague word in it says something else besides.
const VAGUE_WORDS: usize = 14;

pub(super) fn run(question: &Question, severity: Severity, plan: &Plan) -> Option<Hit> {
    let triggers = relevant(plan, question.relevant);
    let first = triggers.first()?;
    if !question.also.is_empty() && relevant(plan, question.also).is_empty()
        || answered(plan, question.answered)
    {
        return None;
    }
    Some(Hit {
        severity,
        line: first.line,
        what: question.what.to_owned(),
        add: question.add,
        quotes: triggers
            .iter()
            .take(3)
            .map(|sentence| (sentence.line, sentence.text.clone()))
            .collect(),
    })
}

/// Sentences in which the plan does one of these things: not what it leaves out, looks back on, or denies.
pub(super) fn relevant<'a>(plan: &'a Plan, sources: &[&'static str]) -> Vec<&'a Sentence> {
    let wanted = patterns(sources);
    let negations = patterns(NEGATIONS);
    let does = |sentence: &&Sentence| {
        !sentence.excluded
            && !sentence.text.ends_with('?')
            && !matches!(
                sentence.topic,
                Topic::OutOfScope
                    | Topic::Background
                    | Topic::Goal
                    | Topic::Alternatives
                    | Topic::Questions
                    | Topic::Changelog
            )
            && wanted
                .iter()
                .filter_map(|pattern| pattern.find(&sentence.words))
                .min()
                .is_some_and(|at| !denied(&negations, &sentence.words[..at]))
    };
    let mut found: Vec<&Sentence> = plan.sentences.iter().filter(does).collect();
    // The step that does it says more than the paragraph about it, and that more than a heading.
    found.sort_by_key(|sentence| {
        let kind = sentence.block.map(|block| plan.outline.blocks[block].kind);
        (kind.is_none(), kind == Some(BlockKind::Paragraph), sentence.line)
    });
    found
}

/// Whether one of the last words before a match takes it back.
fn denied(negations: &[Pattern], before: &[String]) -> bool {
    const REACH: usize = 8;
    pattern::any(negations, &before[before.len().saturating_sub(REACH)..])
}

/// Whether some sentence says one of these things, and means it.
pub(super) fn answered(plan: &Plan, sources: &[&'static str]) -> bool {
    !answers(plan, sources).is_empty()
}

/// The sentences that say one of these things.
pub(super) fn answers<'a>(plan: &'a Plan, sources: &[&'static str]) -> Vec<&'a Sentence> {
    let wanted = patterns(sources);
    plan.sentences
        .iter()
        .filter(|sentence| says(sentence) && pattern::any(&wanted, &sentence.words))
        .collect()
}

/// Whether a sentence can answer anything: no heading, no open question, no catchword.
pub(super) fn says(sentence: &Sentence) -> bool {
    let long = sentence.words.len() >= ANSWER_WORDS || sentence.block_words >= 2 * ANSWER_WORDS;
    sentence.block.is_some()
        && long
        && !sentence.open
        && !(sentence.vague && sentence.words.len() < VAGUE_WORDS)
}
