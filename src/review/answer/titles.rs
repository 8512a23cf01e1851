//! Titles and sentences of reviewers: lists of findings, summaries, praise, notes, and none.

use std::collections::BTreeMap;

use super::blocks::{Block, Kind};
use super::row::CELL_GAP;
use super::severity::{SeverityWords, is_bold, label, severity_in, severity_of, severity_words};
use super::words::{MAX_WORDS_BYTES, consists_of, is_among, words};
use super::{Cause, item};
use crate::review::findings::{CLEAN_LINE, Severity};

/// The meaning of a heading or an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Title<'t> {
    /// `High`, `High (2)` or `High: none`: a severity, and the number of findings if there is one.
    Severity(SeverityWords),
    /// `[High] text`: a severity and the text of a finding.
    Rated(Severity, &'t str),
    /// `Issues (3)`, `Problems of the plan`: the items below are findings.
    List,
    /// `Strengths`, `Resolved findings`: the items below are no findings.
    Praise,
    /// `Summary`, `Overall verdict: not yet`.
    Summary,
    /// `No critical issues`.
    None,
    /// `Notes`: the items below are low without a severity of their own.
    Notes,
    /// `Code review`: the title of an answer.
    Review,
    /// Words that we do not know. They may be the problem.
    Other,
}

impl<'t> Title<'t> {
    /// Returns the meaning of a heading or an item.
    pub(super) fn new(text: &'t str) -> Self {
        let name = text.split(':').next().unwrap_or(text);
        let titles = [
            (Self::List, text, "filler task list-fillers"),
            (Self::List, text, "list filler subject list-levels"),
            (Self::Praise, text, "praise praise-fillers"),
            (Self::Summary, name, "summary summary-fillers filler"),
            (Self::Summary, text, "closing closing-fillers filler"),
            (Self::Notes, text, "notes notes-fillers filler"),
            (Self::Review, name, "review subject"),
        ];
        if is_resolved(text) || consists_of(text, "resolved resolved-fillers filler") {
            Self::Praise
        } else if let Some(words) = section_words(text) {
            Self::Severity(words)
        } else if let Some((severity, rest)) = label(text) {
            Self::Rated(severity, rest)
        } else if text.is_empty() {
            Self::List
        } else if is_none(text) {
            Self::None
        } else {
            let mut titles = titles.into_iter();
            let found = titles.find(|(_, text, lists)| consists_of(text, lists));
            found.map_or(Self::Other, |(title, ..)| title)
        }
    }
}

/// Returns whether a paragraph or an item is the clean line, perhaps in bold or another case, with
/// sentences that approve.
pub(super) fn is_clean_line(text: &str) -> bool {
    let text = item::bullet(text.trim()).unwrap_or(text.trim());
    let (line, rest) = text.split_once(". ").unwrap_or((text, ""));
    let plain = line.trim_matches(['*', '_', '.']);
    plain.eq_ignore_ascii_case(CLEAN_LINE.trim_end_matches('.')) && is_none(rest)
}

/// Returns whether a text says that an earlier finding is resolved: `F1 (high): fixed`.
pub(super) fn is_resolved(text: &str) -> bool {
    let (id, rest) = item::split_id(text);
    let has_contrast = words(rest)
        .split_whitespace()
        .any(|word| is_among(word, "contrast"));
    let first = rest
        .split(['.', ',', ':', '(', '\u{2013}', '\u{2014}'])
        .next();
    let last = rest.rsplit(CELL_GAP).next();
    let mut pieces = first.into_iter().chain(last);
    let says_so = pieces.any(|piece| consists_of(piece, "resolved resolved-fillers"));
    id.is_some() && says_so && !has_contrast
}

/// Returns whether a text only states that there is nothing: `- N/A`, `(none)`, `No high findings.`
pub(in crate::review) fn is_none(text: &str) -> bool {
    let sentences = text
        .split(". ")
        .flat_map(|part| part.split([';', '(', ')', '\u{2013}', '\u{2014}']));
    !text.contains('"') && sentences.into_iter().all(says_none)
}

/// Returns whether a sentence approves, in words that can mean nothing else: `The plan is ready`,
/// `F1 is resolved`.
fn approves(sentence: &str) -> bool {
    let is_sound = consists_of(sentence, "sound sound-verbs sound-fillers");
    let has_verb = consists_of(sentence, "sound-verbs sound sound-fillers");
    let is_resolved = consists_of(sentence, "resolved resolved-fillers filler");
    !sentence.contains('?') && (is_sound && has_verb || is_resolved)
}

fn says_none(sentence: &str) -> bool {
    let plain = words(sentence);
    let words: Vec<&str> = plain.split_whitespace().collect();
    let is_severity = |word: &str| severity_of(word).is_some();
    let is_usual =
        |word: &&str| is_among(word, "none-fillers none-kinds filler") || is_severity(word);
    let is_kind = |word: &&str| is_among(word, "none-kinds none-kind-fillers") || is_severity(word);
    let is_noun = |word: &&str| is_among(word, "none-nouns");
    let words = match &words[..] {
        ["there", "are" | "is", rest @ ..] => rest,
        words => words,
    };
    match words {
        [] | ["n", "a"] | ["not", "applicable"] => true,
        _ if sentence.len() > MAX_WORDS_BYTES => false,
        _ if approves(sentence) => true,
        [first, rest @ ..] if is_among(first, "none") => rest.iter().all(is_usual),
        ["no", rest @ ..] => {
            let noun = rest.iter().position(is_noun);
            noun.is_some_and(|at| rest[..at].iter().all(is_kind)) && rest.iter().all(is_usual)
        }
        _ => false,
    }
}

/// Returns whether an item only praises: `praise: text`, `\u{2705} text`.
pub(super) fn is_praise(text: &str) -> bool {
    let text = text.trim_start_matches(['*', '_']);
    let is_ticked = text.starts_with("[x] ") || text.starts_with("[X] ");
    let is_marked =
        is_ticked || text.starts_with("praise:") || text.starts_with(['\u{2705}', '\u{1f44d}']);
    let mut pieces = text.split(['[', ']', '(', ')', ':', '*', '|', '\u{2013}', '\u{2014}']);
    is_marked && !pieces.any(|piece| severity_in(piece).is_some())
}

/// Reads a heading of a section: `High`, `High (2)` or `High: none`.
pub(super) fn section_words(title: &str) -> Option<SeverityWords> {
    let none = || {
        let (severity, _) = label(title).filter(|(_, rest)| is_none(rest))?;
        Some(SeverityWords {
            heaviest: severity,
            lightest: severity,
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
    let mut is_in_praise = false;
    let mut section = Vec::new();
    let mut none = BTreeMap::new();
    for block in blocks {
        let lines = item::lines(&block.text);
        let text = lines[0].as_str();
        let is_text = matches!(block.kind, Kind::Text | Kind::Item) && lines.len() == 1;
        // A question, a quotation or struck out text states nothing.
        let is_doubtful = block.text.contains(['>', '<', '|', '?', '"', '~']);
        let is_none = is_text && !is_doubtful && is_none(text);
        let is_neutral = is_text && consists_of(text, "neutral neutral-fillers");
        let is_title = block.kind == Kind::Heading || is_text && is_bold(text);
        if block.kind == Kind::Heading {
            is_in_praise = Title::new(text) == Title::Praise;
        }
        match (&block.kind, section_words(text)) {
            // A list of praise is no finding, also behind sections without one.
            (Kind::Heading | Kind::Item, _) if is_in_praise => continue,
            (Kind::Heading, Some(words)) => {
                section = vec![words.heaviest, words.lightest];
                none.extend(section.iter().map(|one| (*one, words.announced == Some(0))));
            }
            _ if is_title && none.is_empty() && is_answer_title(text) => section.clear(),
            _ if is_neutral => continue,
            (Kind::Text | Kind::Item, _) if is_none => {
                none.extend(section.iter().map(|one| (*one, true)));
            }
            (Kind::Aside, _) if text.is_empty() => continue,
            _ => return Ok(false),
        }
        has_line = is_text && (has_line || is_clean_line(text));
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
    let persona = text
        .strip_suffix("review)")
        .and_then(|text| text.split_once('('));
    let text = persona.map_or(text, |(title, _)| title);
    Title::new(text) == Title::List || consists_of(text, "answer answer-fillers")
}
