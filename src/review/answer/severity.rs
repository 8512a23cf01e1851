//! The words in which reviewers say how severe a finding is, and that there is none.

use crate::review::findings::Severity;

/// Words that a severity heading may have without being about something else.
const FILLERS: &str = "severity priority level risk impact issue finding concern problem comment item \
                       and or to total found";
/// Words that a sentence without findings consists of, except for the severities and [`FILLERS`].
const NONE_WORDS: &str = "identified report at this here in round substantive material significant \
                          further new were was remain remaining open these";
/// Words of a heading below which a reviewer sums up.
const SUMMARY_WORDS: &str = "summary overview verdict conclusion assessment overall final round \
                             review report code plan";
/// Characters between a severity and the text after it.
const MARKS: [char; 9] = [']', ')', ':', '*', '_', '`', '|', '\u{2013}', '\u{2014}'];
/// Longest severity heading and longest sentence without findings, in bytes.
const MAX_WORDS_BYTES: usize = 120;

/// Returns the severity that a lowercase word represents, alone or as a plural.
///
/// Of two readings of a word the heavier one is the safe one.
fn severity_of(word: &str) -> Option<Severity> {
    Some(match word.strip_suffix('s').unwrap_or(word) {
        "high" | "highest" | "critical" | "blocker" | "blocking" | "severe" | "major" | "p0"
        | "p1" => Severity::High,
        "medium" | "med" | "moderate" | "important" | "warning" | "p2" => Severity::Medium,
        "low" | "lowest" | "minor" | "nit" | "nitpick" | "trivial" | "suggestion" | "info"
        | "informational" | "p3" => Severity::Low,
        _ => return None,
    })
}

fn is_one_of(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
}

fn is_filler(word: &str) -> bool {
    is_one_of(FILLERS, word.strip_suffix('s').unwrap_or(word))
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the lowercase words of a text with a space between. Everything but letters and digits separates words.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    text.replace("must fix", "high")
        .replace("should fix", "medium")
}

/// The severities that a text names, the heaviest first, and the number of findings that it announces.
#[derive(Debug, Default)]
pub(super) struct SeverityWords {
    pub(super) severities: Vec<Severity>,
    pub(super) announced: Option<usize>,
}

/// Reads `High`, `HIGH (2)`, `Critical / High severity:`, `3. Must fix`, `P1`. Returns `None` if another word is in the text.
pub(super) fn severity_words(text: &str) -> Option<SeverityWords> {
    if text.len() > MAX_WORDS_BYTES {
        return None;
    }
    let mut severities = Vec::new();
    let mut announced = None;
    for word in words(text).split_whitespace() {
        match severity_of(word) {
            Some(severity) => severities.push(severity),
            // A number in front is the heading's own.
            None if is_number(word) && !severities.is_empty() => announced = word.parse().ok(),
            None if is_number(word) || is_filler(word) => {}
            None => return None,
        }
    }
    severities.sort_unstable();
    severities.dedup();
    (!severities.is_empty()).then_some(SeverityWords {
        severities,
        announced,
    })
}

/// Returns whether a line without `#` is a heading: a severity alone (`**High:**`), or one in front of a text (`[P1] text`).
pub(super) fn is_severity_line(line: &str) -> bool {
    match severity_words(line) {
        // `Impact: high` is a detail, and `High: 2` counts findings in another place.
        Some(found) => {
            let begins_with_filler = words(line).split_whitespace().next().is_some_and(is_filler);
            let is_tally = found.announced.is_some() && !line.contains('(');
            found.severities.len() == 1 && !begins_with_filler && !is_tally
        }
        None => label(line).is_some(),
    }
}

/// Splits `[High] text`, `**P1:** text`, `2. Must fix - text` into severity and text.
pub(in crate::review) fn label(text: &str) -> Option<(Severity, &str)> {
    let open = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '"');
    let end = open.find(MARKS).into_iter().chain(open.find(" - ")).min()?;
    let severity = *severity_words(&open[..end])?.severities.first()?;
    let rest = open[end..]
        .trim_start_matches(MARKS)
        .trim_start_matches([' ', '\t', ':', '-', '|', '\u{2013}', '\u{2014}']);
    (!rest.is_empty()).then_some((severity, rest))
}

/// Reads `**Severity:** High`.
pub(super) fn stated_severity(line: &str) -> Option<Severity> {
    let (name, severity) = line.split_once(':')?;
    let is_stated = matches!(words(name).as_str(), "severity" | "priority");
    let words = severity_words(severity).filter(|_| is_stated)?;
    words.severities.first().copied()
}

/// Returns whether a text only states that there is nothing: `None`, `- N/A`, `(none)`, `No high findings.`
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
        matches!(word, "finding" | "issue" | "concern" | "problem")
    };
    let usual =
        |word: &&str| is_one_of(NONE_WORDS, word) || is_filler(word) || severity_of(word).is_some();
    sentence.len() <= MAX_WORDS_BYTES
        && match *first {
            "none" | "nil" | "nothing" | "na" | "zero" | "0" => rest.iter().all(usual),
            "no" => rest.iter().all(usual) && rest.iter().any(is_noun),
            "n" => rest == ["a"],
            "not" => rest == ["applicable"],
            _ => false,
        }
}

/// Returns whether a heading is that of a list of findings without a severity: `Issues`, `Round 2 findings`.
pub(super) fn is_list_title(text: &str) -> bool {
    let words = words(text);
    let is_known = |word: &str| is_filler(word) || is_number(word) || word == "round";
    words.split_whitespace().any(is_filler) && words.split_whitespace().all(is_known)
}

/// Returns whether a heading is one below which a reviewer sums up: `Summary`, `Overall verdict`, `Code review`.
pub(super) fn is_summary_title(text: &str) -> bool {
    let is_known =
        |word: &str| is_filler(word) || is_number(word) || is_one_of(SUMMARY_WORDS, word);
    words(text).split_whitespace().all(is_known)
}
