//! Titles and sentences of reviewers: lists of findings, summaries, praise, notes, and none.

use std::collections::BTreeMap;

use super::blocks::{Block, Kind};
use super::severity::{
    FILLERS, MAX_WORDS_BYTES, SeverityWords, TASK_WORDS, is_among, is_number, label, severity_in,
    severity_of, severity_words, words,
};
use super::{Cause, item};
use crate::review::findings::{CLEAN_LINE, Severity};

/// Words that a sentence without findings consists of, except for the severities and [`FILLERS`].
const NONE_WORDS: &str = "identified report at this here in round were was remain these the plan \
                          code document diff patch left outstanding worth mentioning that i can see";
/// Words between `no` and `findings` in such a sentence.
const KINDS: &str = "substantive material significant further new remaining open other";
/// Words of a list of findings, and of its subject.
const LIST_WORDS: &str = "issue finding concern problem risk";
const SUBJECT_WORDS: &str =
    "of the overall final round review report code plan feedback scope approach";
/// Words of a heading below which a reviewer sums up, and others that such a heading may have.
const SUMMARY_WORDS: &str = "summary overview verdict conclusion assessment context background";
const SUMMARY_FILLERS: &str = "of the overall final round review report code plan executive high";
/// Words of a heading below which a reviewer praises, and others that it may have.
const PRAISE_WORDS: &str =
    "strength positive praise pro like liked works well done good great strong";
const PRAISE_FILLERS: &str =
    "aspect point note highlight what is s i looks look already key plan thing";

/// The meaning of a heading without a severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Title {
    /// `Issues (3)`, `Problems of the plan`: the items below are findings.
    List,
    /// `Strengths`, `Resolved findings`: the items below are no findings.
    Praise,
    /// `Summary`, `Overall verdict: not yet`.
    Summary,
    /// `Notes`: the items below are low without a severity of their own.
    Notes,
    /// `Code review`: the title of an answer.
    Review,
    /// Words that we do not know. They may be the problem.
    Other,
}

impl Title {
    /// Returns the meaning of a heading.
    pub(super) fn new(text: &str) -> Self {
        let name = text.split(':').next().unwrap_or(text);
        let is_list = consists_of(text, &[FILLERS, TASK_WORDS, "round"])
            || consists_of(text, &[LIST_WORDS, FILLERS, SUBJECT_WORDS, "high the"]);
        if text.is_empty() || is_list {
            Self::List
        } else if is_praise_title(text) {
            Self::Praise
        } else if consists_of(name, &[SUMMARY_WORDS, SUMMARY_FILLERS, FILLERS]) {
            Self::Summary
        } else if consists_of(text, &["note", FILLERS]) {
            Self::Notes
        } else if consists_of(name, &["review feedback", SUBJECT_WORDS]) {
            Self::Review
        } else {
            Self::Other
        }
    }
}

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

/// Returns whether the items below a heading are no findings: `Strengths`, `Resolved findings`.
pub(super) fn is_praise_title(text: &str) -> bool {
    consists_of(text, &[PRAISE_WORDS, PRAISE_FILLERS]) || consists_of(text, &["resolved", FILLERS])
}

/// Returns whether an item only praises: `praise: text`, `\u{2705} text`.
pub(super) fn is_praise(text: &str) -> bool {
    let text = text.trim_start_matches(['*', '_']);
    let is_marked = text.starts_with("praise:") || text.starts_with(['\u{2705}', '\u{1f44d}']);
    let mut pieces = text.split(['[', ']', '(', ')', ':', '*', '|', '\u{2013}', '\u{2014}']);
    is_marked && !pieces.any(|piece| severity_in(piece).is_some())
}

/// Reads a heading of a section: `High`, `High (2)` or `High: none`.
pub(super) fn section_words(title: &str) -> Option<SeverityWords> {
    let none = || {
        let (severity, _) = label(title).filter(|(_, rest)| is_none(rest))?;
        Some(SeverityWords {
            severities: vec![severity],
            announced: Some(0),
        })
    };
    severity_words(title).or_else(none)
}

/// Returns whether an answer is clean: it ends with the clean line, or each of the three sections
/// has a word for none, and there is no other text.
///
/// # Errors
/// Returns an error if only some sections have a word for none, as in an answer that is cut off.
pub(super) fn is_clean(blocks: &[Block]) -> Result<bool, Cause> {
    let mut has_line = false;
    let mut section = Vec::new();
    let mut none = BTreeMap::new();
    for block in blocks {
        let lines = item::lines(&block.text);
        let text = lines[0].as_str();
        let is_text = matches!(block.kind, Kind::Text | Kind::Item) && lines.len() == 1;
        // A question, a quotation or struck out text states nothing.
        let is_doubtful = block.text.contains(['>', '<', '|', '?', '"', '~']);
        let is_none = is_text && !is_doubtful && is_none(text);
        match (&block.kind, section_words(text)) {
            (Kind::Heading, Some(words)) => {
                section = words.severities;
                none.extend(section.iter().map(|one| (*one, words.announced == Some(0))));
            }
            (Kind::Heading, None) if block.level == 1 && is_answer_title(text) => section.clear(),
            (Kind::Text | Kind::Item, _) if is_none => {
                none.extend(section.iter().map(|one| (*one, true)));
            }
            (Kind::Aside, _) if text.is_empty() => continue,
            _ => return Ok(false),
        }
        has_line = is_text && is_clean_line(text);
    }
    let is_missing = |severity: &Severity| none.get(severity) != Some(&true);
    match Severity::ALL.into_iter().find(is_missing) {
        Some(missing) if !has_line && !none.is_empty() => Err(Cause::not_a_verdict(&format!(
            "it names no finding and says nothing of {missing}: it may have been cut off"
        ))),
        missing => Ok(has_line || missing.is_none()),
    }
}

/// Returns whether a heading is one of a whole answer: `Round 2 findings`, `Code review`.
fn is_answer_title(text: &str) -> bool {
    Title::new(text) == Title::List || consists_of(text, &["review", "code plan round report"])
}
