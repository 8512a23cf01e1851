//! The words of reviewers for a severity.

use std::borrow::Cow;
use std::ops::Range;

use super::words::{MAX_WORDS_BYTES, consists_of, is_among, is_number, words};
use crate::review::findings::Severity;

/// The severities, each with the lists of its names and of other words and signs for it. Of two
/// readings of a word the heavier one is safe.
const SEVERITIES: [(Severity, &str); 3] = [
    (Severity::High, "high high-others"),
    (Severity::Medium, "medium medium-others"),
    (Severity::Low, "low low-others"),
];
/// Characters between a severity and the text after it.
const MARKS: [char; 8] = [']', ')', ':', '*', '_', '|', '\u{2013}', '\u{2014}'];
/// Characters between these marks and the text.
const GAPS: [char; 8] = [' ', '\t', ':', '-', '|', '\u{2013}', '\u{2014}', '\u{fe0f}'];
const BOLD_MARKS: [char; 2] = ['*', '_'];
/// Characters that separate the pieces of a line.
const PIECE_MARKS: [char; 4] = ['|', '\u{b7}', '\u{2013}', '\u{2014}'];
/// Characters around a text that say nothing.
const ORNAMENTS: [char; 4] = ['*', '_', '`', ' '];
/// The most brackets of a text that are looked at.
const MAX_BRACKETS: usize = 10;

/// Returns the severity that a lowercase word, alone or as a plural, or a sign represents.
pub(super) fn severity_of(word: &str) -> Option<Severity> {
    let mut severities = SEVERITIES.into_iter();
    let (severity, _) = severities.find(|(_, lists)| is_among(word, lists))?;
    Some(severity)
}

/// Returns the severity that a sign represents, such as a red circle.
pub(super) fn sign(character: char) -> Option<Severity> {
    (!character.is_ascii()).then(|| severity_of(character.encode_utf8(&mut [0; 4])))?
}

/// The severities that a text names, and the number of findings that it announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeverityWords {
    pub(super) heaviest: Severity,
    pub(super) lightest: Severity,
    pub(super) announced: Option<usize>,
}

/// Reads `High`, `HIGH (2)`, `Critical / High severity:`, `3. Must fix`, `P1`, `\u{1f534}`. Returns
/// `None` if the text has another word or a quote.
pub(super) fn severity_words(text: &str) -> Option<SeverityWords> {
    if text.len() > MAX_WORDS_BYTES || text.contains('"') {
        return None;
    }
    let mut severities: Vec<Severity> = text.chars().filter_map(sign).collect();
    let mut announced = None;
    let mut plain = words(text);
    // `Sev-1`, `non-blocking`
    for prefix in ["sev", "p", "non", "not"] {
        plain = plain.replace(&format!(" {prefix} "), &format!(" {prefix}"));
    }
    for word in plain.split_whitespace() {
        if let Some(severity) = severity_of(word) {
            severities.push(severity);
        } else if !is_number(word) && !is_among(word, "filler task") {
            return None;
        } else if is_number(word) && !severities.is_empty() {
            // A number in front is the heading's own.
            announced = word.parse().ok();
        }
    }
    Some(SeverityWords {
        heaviest: *severities.iter().min()?,
        lightest: *severities.iter().max()?,
        announced,
    })
}

/// Returns the heaviest severity of a text that has no other words.
pub(super) fn severity_in(text: &str) -> Option<Severity> {
    Some(severity_words(text)?.heaviest)
}

/// Returns whether a line without `#` is a heading: `**High:**`, `[P1] text`, or
/// `**Orders are lost (High)**`, which is bold as a whole.
pub(super) fn is_severity_line(line: &str) -> bool {
    match severity_words(line) {
        // `Impact: high` is a detail, and `High: 2` counts findings in another place.
        Some(found) => {
            let words = words(line);
            let first = words.split_whitespace().next().unwrap_or_default();
            let is_tally = found.announced.is_some() && !line.contains('(');
            found.heaviest == found.lightest && !is_among(first, "filler") && !is_tally
        }
        None => {
            stated_severity(line).is_none()
                && (front_label(line).is_some() || is_bold(line) && label(line).is_some())
        }
    }
}

/// Returns whether a line is in bold or italics as a whole, perhaps but for a colon.
pub(super) fn is_bold(line: &str) -> bool {
    line.starts_with(BOLD_MARKS) && line.trim_end_matches(':').ends_with(BOLD_MARKS)
}

/// Returns whether a line begins with a number, perhaps after a word such as `Issue`.
pub(super) fn is_numbered(line: &str) -> bool {
    let words = words(line);
    let mut others = words
        .split_whitespace()
        .filter(|word| !is_among(word, "filler"));
    others.next().is_some_and(is_number)
}

/// Splits a severity from its text: `[High] text`, `text (High)`. Of several the heaviest counts.
pub(in crate::review) fn label(text: &str) -> Option<(Severity, &str)> {
    let stated = stated_severities(text).map(|severity| (severity, text));
    let labels = [front_label(text), bracket_label(text), piece_label(text)];
    let labels = labels.into_iter().chain([stated.min()]).flatten();
    let (_, rest) = labels.clone().next()?;
    Some((labels.map(|(severity, _)| severity).min()?, rest))
}

fn is_name(word: &str) -> bool {
    is_among(word, "high medium low")
}

/// Returns whether a text begins with the name of a severity or its sign.
fn begins_with_name(text: &str) -> bool {
    let words = words(text);
    let first = words.split_whitespace().next().unwrap_or_default();
    is_name(first) || text.chars().find_map(sign).is_some()
}

/// Returns whether a line such as `High: text` or `[High] text` is a finding also within a text.
/// `high: 10` is a line of YAML.
pub(super) fn is_rated_line(line: &str) -> bool {
    !line.starts_with(char::is_lowercase) && begins_with_name(line) && front_label(line).is_some()
}

/// Returns whether a line ends in the name of a severity in brackets: `- text (High)`.
pub(super) fn is_bracketed(line: &str) -> bool {
    let line = line.trim_end_matches(['.', ' ', '*']).to_lowercase();
    let (_, end) = line.rsplit_once('(').unwrap_or_default();
    end.strip_suffix(')').is_some_and(is_name)
}

/// Returns whether the severity of a text counts also in prose or in a detail: the text begins or
/// ends with its name, or states it.
fn is_clearly_rated(text: &str) -> bool {
    is_rated_line(text) || is_bracketed(text) || stated_severities(text).next().is_some()
}

/// Returns whether a line of prose, a quotation or code states a finding in a form that does not
/// count there: `Issue: text`, `text (High)`, `## High`.
pub(super) fn states_finding(line: &str) -> bool {
    let is_severity = |text: &str| severity_in(text).is_some();
    let alerts = ["[!CAUTION]", "[!WARNING]", "[!IMPORTANT]"];
    let name = words(line.split_once(':').map_or("", |(name, _)| name));
    match line.chars().next() {
        Some('#' | '|') => line.split('|').any(is_severity),
        _ if is_severity(line) => stated_severity(line).is_some(),
        Some('-' | '*' | '+' | '[' | '0'..='9') if label(line).is_some() => true,
        _ if alerts.iter().any(|alert| line.starts_with(alert)) => true,
        _ => is_clearly_rated(line) || is_among(name.trim(), "problem"),
    }
}

/// Returns whether a text only names a part of a finding: `**Recommendation:**`.
pub(super) fn is_part_name(text: &str) -> bool {
    consists_of(text, "part part-fillers")
}

/// Returns whether an item names a part of the finding above: `**Fix:** text`.
pub(super) fn is_part(text: &str) -> bool {
    let (name, _) = text.split_once(':').unwrap_or_default();
    let plain = words(name);
    let is_short = plain.split_whitespace().count() < 3;
    is_short && !name.is_empty() && (text.starts_with("**") || is_among(plain.trim(), "part"))
}

/// Returns whether an item below a finding is one of its own, not a remark such as
/// `Suggestion: text`: its severity is clear or heavier.
pub(in crate::review) fn is_rated_below(text: &str, above: Severity) -> bool {
    let own = label(text).filter(|_| !text.starts_with('#'));
    own.is_some_and(|(own, _)| own < above || is_clearly_rated(text))
}

/// Returns whether a heading begins with a severity as a title does: `Critical: fix these first`.
pub(super) fn is_title_label(text: &str) -> bool {
    let text = text.trim_start_matches(BOLD_MARKS);
    text.starts_with(char::is_alphanumeric) && begins_with_name(text)
}

/// Splits `[High] text`, `2. Must fix - text`, `Severity: High - text`, `\u{1f534} text`.
fn front_label(text: &str) -> Option<(Severity, &str)> {
    let is_open = |c: char| !c.is_alphanumeric() && !matches!(c, '"' | '`') && sign(c).is_none();
    let inner = text.trim_start_matches(is_open);
    let open = inner.strip_prefix("x] ").unwrap_or(inner);
    let word = open.split(' ').next().unwrap_or_default();
    let is_loud = word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let reach = &open[..open.floor_char_boundary(MAX_WORDS_BYTES)];
    let marks = reach.match_indices(MARKS).map(|(at, _)| at);
    let dashes = reach.match_indices(" - ").map(|(at, _)| at);
    // `Severity:` alone is not a severity yet.
    let is_filler = |word: &str| is_number(word) || is_among(word, "filler");
    let is_over = |end: &usize| !words(&open[..*end]).split_whitespace().all(is_filler);
    let ends = [
        open.chars().next().and_then(sign).and(reach.find(' ')),
        marks.chain(dashes).filter(is_over).min(),
        Some(word.len()).filter(|_| is_loud),
    ];
    let mut ends = ends.into_iter().flatten();
    let named = ends.find_map(|end| Some((severity_in(&open[..end])?, end)));
    // The name of a part of a finding has a capital.
    let comment = (Severity::High, "issue".len());
    let (severity, end) = named.or(open.starts_with("issue:").then_some(comment))?;
    let behind = &open[end..];
    let rest = behind.trim_start_matches(MARKS).trim_start_matches(GAPS);
    if rest.is_empty() {
        return None;
    }
    // `**Minor** versions` may be a low finding, or about versions. `**P2** text` is clear, and so
    // is `**Low** (line 3): text`.
    let after = behind.trim_start_matches(BOLD_MARKS);
    let is_bold = after.len() < behind.len();
    let in_brackets = after.trim_start().strip_prefix('(');
    let after_brackets = in_brackets.and_then(|inside| Some(inside.split_once(')')?.1));
    let after = after_brackets.unwrap_or(after).trim_start();
    let is_apart = after.starts_with(MARKS) || after.starts_with('-');
    if is_bold && !is_apart && !open[..end].contains(|c: char| c.is_ascii_digit()) {
        return Some((Severity::High, text));
    }
    Some((severity, rest))
}

/// Splits `text (High)`. In `text (severity: high). More` and `F1 [P1] text`, the bracket stays.
fn bracket_label(text: &str) -> Option<(Severity, &str)> {
    let (severity, bracket) = bracket(text)?;
    let is_end = text[bracket.end..].trim_matches(ORNAMENTS).is_empty();
    let before = text[..bracket.start].trim_end_matches(ORNAMENTS);
    Some((severity, if is_end { before } else { text }))
}

/// Returns the severity in a bracket of a text, behind an id or a text of its own.
fn bracket(text: &str) -> Option<(Severity, Range<usize>)> {
    let opens = text.match_indices(['(', '[']).map(|(at, _)| at);
    opens.take(MAX_BRACKETS).find_map(|open| {
        let (inside, after) = text[open + 1..].split_once([')', ']'])?;
        let severity = severity_in(inside)?;
        let before = text[..open].trim_end_matches(ORNAMENTS);
        let after = after.trim_start_matches(ORNAMENTS);
        let is_id = !before.contains(' ') && before.contains(|c: char| c.is_ascii_digit());
        let is_apart = after.starts_with([':', '.', '-', ',', '\u{2013}', '\u{2014}']);
        // `version (required): 9.5` is text.
        let is_clear = begins_with_name(inside) || inside.contains(' ');
        let is_label = match after {
            "" => before.contains(char::is_alphabetic),
            _ if is_id => true,
            _ => is_apart && is_clear && before.contains(char::is_alphabetic),
        };
        is_label.then_some((severity, open..open + inside.len() + 2))
    })
}

/// Returns a text without the severity in a bracket: `F1 (High): text` becomes `F1: text`.
pub(super) fn without_bracket(text: &str) -> Cow<'_, str> {
    let Some((_, bracket)) = bracket(text) else {
        return text.into();
    };
    let before = text[..bracket.start].trim_end();
    let after = text[bracket.end..].trim_start();
    let gap = match after.trim_start_matches(ORNAMENTS) {
        _ if before.ends_with(':') || after.starts_with(['-', '\u{2013}', '\u{2014}']) => " ",
        after if after.starts_with(char::is_alphanumeric) => ": ",
        _ => "",
    };
    format!("{before}{gap}{after}").into()
}

/// Splits `text - High`. In `F1 - High - text` and `text | High | place`, the severity stays.
fn piece_label(text: &str) -> Option<(Severity, &str)> {
    let pieces = text.split(" - ").flat_map(|part| part.split(PIECE_MARKS));
    let (severity, piece) = pieces
        .filter(|piece| piece.len() < text.len())
        .filter_map(|piece| Some((severity_in(piece)?, piece)))
        .min()?;
    let is_gap = |c: char| c == ' ' || c == '-' || PIECE_MARKS.contains(&c);
    let before = text.strip_suffix(piece).unwrap_or(text);
    let rest = before.trim_end_matches(is_gap);
    (!rest.is_empty()).then_some((severity, rest))
}

/// Returns the severities that the lines and sentences of a text state.
pub(super) fn stated_severities(text: &str) -> impl Iterator<Item = Severity> {
    text.split(['\n', '.', '|']).filter_map(stated_severity)
}

/// Returns whether a text is the name of a severity's line or column.
pub(super) fn is_severity_name(text: &str) -> bool {
    matches!(words(text).as_str(), " severity " | " priority ")
}

/// Reads `**Severity:** High`, `Severity: high (data loss)`, `Severity: P1 | Confidence: 90%`.
pub(super) fn stated_severity(line: &str) -> Option<Severity> {
    let (name, severity) = line.split_once(':')?;
    let is_stated = is_severity_name(name);
    severity_in(severity.split(['(', '|', '\u{2013}', '\u{2014}']).next()?).filter(|_| is_stated)
}
