//! The words in which reviewers say how severe a finding is, and that there is none.

use super::blocks::bullet;
use crate::review::findings::{CLEAN_LINE, Severity};

/// The words of each class, a class per line. A sign, such as a red circle, is a word. Of two readings of a word the heavier one is
/// the safe one.
///
/// `label` and `task` are words that a severity heading may have without being about something else. A sentence without findings
/// consists of a word of `nothing` and words of `none`, `label` and the severities.
const WORDS: &str = include_str!("words.txt");
/// Characters between a severity and the text after it.
const MARKS: [char; 9] = [']', ')', ':', '*', '_', '`', '|', '\u{2013}', '\u{2014}'];
/// Characters between them and the text.
const GAPS: [char; 8] = [' ', '\t', ':', '-', '|', '\u{2013}', '\u{2014}', '\u{fe0f}'];
/// Characters around a text that say nothing.
const ORNAMENTS: [char; 4] = ['*', '_', '`', ' '];
/// The most brackets of a text that are looked at.
const MAX_BRACKETS: usize = 10;
/// Longest severity heading and longest sentence without findings, in bytes.
const MAX_WORDS_BYTES: usize = 120;

/// Returns whether a lowercase word is in one of some classes, alone or as a plural.
fn is_in(classes: &[&str], word: &str) -> bool {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let all = WORDS.lines().filter_map(|line| line.split_once(": "));
    let mut some = all.filter(|(class, _)| classes.contains(class));
    some.any(|(_, words)| words.split(' ').any(|one| one == word || one == singular))
}

/// Returns the severity that a lowercase word represents.
fn severity_of(word: &str) -> Option<Severity> {
    let names = ["high", "medium", "low"].iter().zip(Severity::ALL);
    let mut known = names.filter(|(name, _)| is_in(&[name], word));
    known.next().map(|(_, severity)| severity)
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_sign(character: char) -> bool {
    !character.is_ascii() && severity_of(character.encode_utf8(&mut [0; 4])).is_some()
}

/// Returns whether a line begins with a sign.
pub(super) fn begins_with_sign(line: &str) -> bool {
    line.starts_with(is_sign)
}

/// Returns the lowercase words of a text. `Non-blocking` and `N/A` are one word each.
fn words(text: &str) -> Vec<String> {
    let mut spaced = String::from(" ");
    for character in text.chars() {
        match character {
            _ if character.is_alphanumeric() => spaced.extend(character.to_lowercase()),
            _ if is_sign(character) => spaced.extend([' ', character, ' ']),
            _ if spaced.ends_with(' ') => {}
            _ => spaced.push(' '),
        }
    }
    let joined = (spaced + " ")
        .replace(" non ", " non")
        .replace(" not ", " not")
        .replace(" n a ", " na ");
    joined.split_whitespace().map(str::to_owned).collect()
}

/// The severities that a text names, the heaviest first, and the number of findings that it announces.
#[derive(Debug, Default)]
pub(super) struct SeverityWords {
    pub(super) severities: Vec<Severity>,
    pub(super) announced: Option<usize>,
}

/// Reads `High`, `HIGH (2)`, `Critical / High severity:`, `3. Must fix`, `P1`, `\u{1f534}`. Returns `None` if another word is in
/// the text.
pub(super) fn severity_words(text: &str) -> Option<SeverityWords> {
    if text.len() > MAX_WORDS_BYTES {
        return None;
    }
    let mut severities = Vec::new();
    let mut announced = None;
    for word in &words(text) {
        match severity_of(word) {
            Some(severity) => severities.push(severity),
            // A number in front is the heading's own.
            None if is_number(word) && !severities.is_empty() => announced = word.parse().ok(),
            None if is_number(word) || is_in(&["label", "task"], word) => {}
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
            let begins_with_label = words(line)
                .first()
                .is_some_and(|word| is_in(&["label"], word));
            let is_tally = found.announced.is_some() && !line.contains('(');
            found.severities.len() == 1 && !begins_with_label && !is_tally
        }
        None => front_label(line).is_some(),
    }
}

/// Splits a severity from the text after it or before it: `[High] text`, `text (High)`.
pub(in crate::review) fn label(text: &str) -> Option<(Severity, &str)> {
    front_label(text)
        .or_else(|| bracket_label(text))
        .or_else(|| end_label(text))
}

/// Splits `[High] text`, `**P1:** text`, `2. Must fix - text`, `Severity: High - text`, `HIGH text`, `\u{1f534} text`.
fn front_label(text: &str) -> Option<(Severity, &str)> {
    let is_open = |c: char| !c.is_alphanumeric() && c != '"' && !is_sign(c);
    let open = text.trim_start_matches(is_open);
    let word = open.split(' ').next().unwrap_or_default();
    let is_loud = word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let reach = &open[..open.floor_char_boundary(MAX_WORDS_BYTES)];
    let marks = reach.match_indices(MARKS).map(|(at, _)| at);
    let dashes = reach.match_indices(" - ").map(|(at, _)| at);
    // `Severity:` alone is not a severity yet.
    let is_label = |word: &String| is_in(&["label"], word);
    let is_over = |end: &usize| !words(&open[..*end]).iter().all(is_label);
    let end = marks.chain(dashes).filter(is_over).min();
    let ends = [
        reach.find(' ').filter(|_| begins_with_sign(open)),
        end,
        Some(word.len()).filter(|_| is_loud),
    ];
    ends.into_iter().flatten().find_map(|end| {
        let severity = *severity_words(&open[..end])?.severities.first()?;
        let rest = open[end..]
            .trim_start_matches(MARKS)
            .trim_start_matches(GAPS);
        (!rest.is_empty()).then_some((severity, rest))
    })
}

/// Splits `text (High)`, `text (severity: high). More`, `F1 [P1] text`.
fn bracket_label(text: &str) -> Option<(Severity, &str)> {
    let opens = text.match_indices(['(', '[']).map(|(at, _)| at);
    opens.take(MAX_BRACKETS).find_map(|open| {
        let close = open + text[open..].find([')', ']'])?;
        let severity = *severity_words(&text[open + 1..close])?.severities.first()?;
        let before = text[..open].trim_end_matches(ORNAMENTS);
        let after = text[close + 1..].trim_start_matches(ORNAMENTS);
        let is_id = !before.contains(' ') && before.contains(|c: char| c.is_ascii_digit());
        let is_apart = after.is_empty() || after.starts_with([':', '\u{2013}', '\u{2014}', '-']);
        let ends = text[close + 1..]
            .trim_start_matches(['*', '_'])
            .starts_with('.');
        match (is_id, is_apart || ends) {
            (true, _) if !after.is_empty() => Some((severity, after.trim_start_matches(GAPS))),
            (_, true) if before.contains(char::is_alphabetic) => Some((severity, before)),
            _ => None,
        }
    })
}

/// Splits `text - High`.
fn end_label(text: &str) -> Option<(Severity, &str)> {
    let dashes = [" - ", " \u{2013} ", " \u{2014} "];
    let (before, end) = dashes.iter().find_map(|dash| text.rsplit_once(dash))?;
    let severity = *severity_words(end)?.severities.first()?;
    Some((severity, before))
}

/// Reads `**Severity:** High`.
pub(super) fn stated_severity(line: &str) -> Option<Severity> {
    let (name, severity) = line.split_once(':')?;
    let is_stated = matches!(&words(name)[..], [word] if word == "severity" || word == "priority");
    let words = severity_words(severity).filter(|_| is_stated)?;
    words.severities.first().copied()
}

/// Returns whether a paragraph or an item is the line for nothing found, perhaps in bold or with another case.
pub(super) fn is_clean_line(text: &str) -> bool {
    let text = bullet(text.trim()).unwrap_or(text.trim());
    let plain = text.trim_matches(['*', '_', '.']);
    plain.eq_ignore_ascii_case(CLEAN_LINE.trim_end_matches('.'))
}

/// Returns whether a text only states that there is nothing: `None`, `- N/A`, `(none)`, `No high findings.`
pub(in crate::review) fn is_none(text: &str) -> bool {
    !text.contains('"') && text.split(". ").all(says_none)
}

fn says_none(sentence: &str) -> bool {
    if sentence.len() > MAX_WORDS_BYTES {
        return false;
    }
    let words = words(sentence);
    let Some((first, rest)) = words.split_first() else {
        return true;
    };
    let is_noun = |word: &String| {
        let word = word.trim_end_matches('s');
        matches!(word, "finding" | "issue" | "concern" | "problem")
    };
    (is_in(&["nothing"], first) || first == "no" && rest.iter().any(is_noun))
        && rest
            .iter()
            .all(|word| is_in(&["none", "label", "high", "medium", "low"], word))
}

/// Returns whether a title has a word of the first of some classes, and no word of another one. Numbers do not count.
fn is_title_of(classes: &[&str], title: &str) -> bool {
    let words = words(title);
    words.iter().any(|word| is_in(&classes[..1], word))
        && words
            .iter()
            .all(|word| is_number(word) || is_in(classes, word))
}

/// Returns whether a heading is that of a list of findings without a severity: `Issues`, `Round 2 findings`.
pub(super) fn is_list_title(title: &str) -> bool {
    is_title_of(&["label", "task", "round"], title)
}

/// Returns whether a heading is one below which a reviewer sums up: `Summary`, `Overall verdict: not yet`, `Code review`.
pub(super) fn is_summary_title(title: &str) -> bool {
    let before_colon = title.split(':').next().unwrap_or(title);
    is_title_of(&["summary", "round", "label"], before_colon)
}

/// Returns whether a heading is one below which a reviewer praises: `Strengths`, `What looks good`.
pub(super) fn is_praise_title(title: &str) -> bool {
    is_title_of(&["praise"], title)
}
