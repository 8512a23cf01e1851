//! Titles and sentences of reviewers: lists of findings, summaries, praise, notes, and none.

use super::item;
use super::severity::{
    FILLERS, MAX_WORDS_BYTES, TASK_WORDS, is_among, is_number, severity_of, words,
};
use crate::review::findings::CLEAN_LINE;

/// Words that a sentence without findings consists of, except for the severities and [`FILLERS`].
const NONE_WORDS: &str = "identified report at this here in round were was remain these the plan \
                          code document diff patch left outstanding worth mentioning that i can see";
/// Words between `no` and `findings` in such a sentence.
const KINDS: &str = "substantive material significant further new remaining open other";
/// Words of a heading below which a reviewer sums up, and others that such a heading may have.
const SUMMARY_WORDS: &str = "summary overview verdict conclusion assessment";
const REVIEW_WORDS: &str = "of the overall final round review report code plan feedback scope context \
                            background approach executive";
/// Words of a heading below which a reviewer praises, and others that it may have.
const PRAISE_WORDS: &str =
    "strength positive praise pro like liked works well done good great strong";
const PRAISE_FILLERS: &str =
    "aspect point note highlight what is s i looks look already key plan thing";

/// Returns whether each word is a number or in one of these lists, and one is in the first list.
fn consists_of(text: &str, lists: &[&str]) -> bool {
    let plain = words(text);
    let mut words = plain.split_whitespace();
    words.clone().any(|word| is_among(word, &lists[..1]))
        && words.all(|word| is_number(word) || is_among(word, lists))
}

/// Returns whether a paragraph or an item is the clean line, perhaps in bold or another case.
pub(super) fn is_clean_line(text: &str) -> bool {
    let text = item::bullet(text.trim()).unwrap_or(text.trim());
    let plain = text.trim_matches(['*', '_', '.']);
    plain.eq_ignore_ascii_case(CLEAN_LINE.trim_end_matches('.'))
}

/// Returns whether a text only states that there is nothing: `- N/A`, `(none)`, `No high findings.`
pub(in crate::review) fn is_none(text: &str) -> bool {
    !text.contains('"') && text.split(". ").all(says_none)
}

fn says_none(sentence: &str) -> bool {
    let text = words(sentence);
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some((first, rest)) = words.split_first() else {
        return true;
    };
    let is_noun = |word: &&str| {
        let word = word.trim_end_matches('s');
        matches!(
            word,
            "finding" | "issue" | "concern" | "problem" | "blocker"
        )
    };
    let usual =
        |word: &&str| is_among(word, &[NONE_WORDS, KINDS, FILLERS]) || severity_of(word).is_some();
    let is_kind = |word: &&str| {
        let fillers = "severity priority level risk or and";
        is_among(word, &[KINDS, fillers]) || severity_of(word).is_some()
    };
    let mut kinds = rest.iter().take_while(|word| !is_noun(word));
    sentence.len() <= MAX_WORDS_BYTES
        && match *first {
            "none" | "nil" | "nothing" | "na" | "zero" | "0" => rest.iter().all(usual),
            "no" => rest.iter().all(usual) && rest.iter().any(is_noun) && kinds.all(is_kind),
            "n" => rest == ["a"],
            "not" => rest == ["applicable"],
            _ => false,
        }
}

/// Returns whether a heading is that of a list of findings: `Issues`, `Problems of the plan`.
pub(super) fn is_list_title(text: &str) -> bool {
    let nouns = "issue finding concern problem risk";
    consists_of(text, &[FILLERS, TASK_WORDS, "round"])
        || consists_of(text, &[nouns, FILLERS, REVIEW_WORDS, "high the"])
}

/// Returns whether a heading is one of a whole answer: `Round 2 findings`, `Code review`.
pub(super) fn is_answer_title(text: &str) -> bool {
    is_list_title(text) || consists_of(text, &["review", "code plan round report"])
}

/// Returns whether a heading is that of a summary: `Overall verdict: not yet`.
pub(super) fn is_summary_title(text: &str) -> bool {
    let title = text.split(':').next().unwrap_or(text);
    consists_of(title, &[SUMMARY_WORDS, REVIEW_WORDS, FILLERS, "high"])
}

/// Returns whether a heading names the review or its subject: `Code review`, `Scope`.
pub(super) fn is_review_title(text: &str) -> bool {
    let title = text.split(':').next().unwrap_or(text);
    consists_of(
        title,
        &[REVIEW_WORDS, SUMMARY_WORDS, FILLERS, "high important"],
    )
}

/// Returns whether an item praises: `praise: text`, `\u{2705} text`.
pub(super) fn is_praise(text: &str) -> bool {
    let text = text.trim_start_matches(['*', '_']);
    text.starts_with("praise:") || text.starts_with(['\u{2705}', '\u{1f44d}'])
}

/// Returns whether the items below a heading are low without a severity of their own.
pub(super) fn is_note_title(text: &str) -> bool {
    consists_of(text, &["note", FILLERS])
}

/// Returns whether the items below a heading are no findings: `Strengths`, `Resolved findings`.
pub(super) fn is_praise_title(text: &str) -> bool {
    consists_of(text, &[PRAISE_WORDS, PRAISE_FILLERS]) || consists_of(text, &["resolved", FILLERS])
}

/// Returns whether a line is that of a list alone: `**Issues:**`.
pub(super) fn is_plain_list_title(line: &str) -> bool {
    matches!(
        words(line).trim(),
        "issues" | "findings" | "concerns" | "problems"
    )
}
