//! The words in which reviewers say how severe something is, and that there is nothing.

use crate::review::findings::Severity;

/// Returns the severity a single lowercase word stands for.
///
/// `major` is high: in a scale of two it is the upper one, and of two readings the heavier is the safe one.
pub(in crate::review) fn severity_word(word: &str) -> Option<Severity> {
    Some(match word {
        "high" | "highest" | "critical" | "blocker" | "blockers" | "blocking" | "severe"
        | "major" => Severity::High,
        "medium" | "med" | "moderate" => Severity::Medium,
        "low" | "lowest" | "minor" | "nit" | "nits" | "nitpick" | "nitpicks" | "trivial"
        | "informational" => Severity::Low,
        _ => return None,
    })
}

/// Words that a severity heading may carry without being about something else.
fn filler(word: &str) -> bool {
    matches!(
        word,
        "severity"
            | "priority"
            | "risk"
            | "risks"
            | "impact"
            | "issue"
            | "issues"
            | "finding"
            | "findings"
            | "concern"
            | "concerns"
            | "problem"
            | "problems"
            | "items"
            | "item"
            | "and"
            | "or"
            | "to"
            | "total"
    )
}

/// Returns the lowercase words of a text: letters and digits, everything else separates.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// A heading's severities, the heaviest first, and the number of findings it announces.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SeverityHeading {
    pub(super) severities: Vec<Severity>,
    pub(super) announced: Option<u64>,
}

/// Reads `High`, `HIGH (2)`, `Critical / High severity:`, `3. Low priority findings`; other headings are none.
pub(super) fn severity_heading(text: &str) -> Option<SeverityHeading> {
    let mut severities = Vec::new();
    let mut announced = None;
    for (index, word) in words(text).take(12).enumerate() {
        if let Some(severity) = severity_word(&word) {
            severities.push(severity);
        } else if word.chars().all(|c| c.is_ascii_digit()) {
            // A number in front is the heading's own.
            if index > 0 && !severities.is_empty() {
                announced = word.parse().ok();
            }
        } else if !filler(&word) {
            return None;
        }
    }
    severities.sort_unstable();
    severities.dedup();
    (!severities.is_empty() && text.len() < 200).then_some(SeverityHeading {
        severities,
        announced,
    })
}

/// Splits `[High] text`, `**High:** text`, `High - text` into severity and text.
pub(super) fn label(text: &str) -> Option<(Severity, &str)> {
    let open = text.trim_start_matches(['*', '_', '[', '(', '`']);
    let end = open.find(|c: char| !c.is_alphanumeric())?;
    let severity = severity_word(&open[..end].to_lowercase())?;
    let rest = &open[end..];
    // "High load ..." is a sentence, "High: load ..." is a label.
    let closed = rest.trim_start_matches([
        ' ', '*', '_', ']', ')', '`', ':', '-', '\u{2013}', '\u{2014}', '|',
    ]);
    let between = &rest[..rest.len() - closed.len()];
    let marked = between.contains([':', ']', ')', '*', '_', '`', '\u{2013}', '\u{2014}', '|'])
        || between.contains(" - ");
    (marked && !closed.is_empty()).then_some((severity, closed))
}

/// Returns whether a text is only a way of saying that there is nothing: `None`, `- N/A`, `(none)`, `No high findings.`
pub(super) fn is_none(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| {
        c.is_whitespace() || "*_`()[].,;:!-+\u{2013}\u{2014}\u{2022}".contains(c)
    });
    if bare.is_empty() {
        return true;
    }
    if says_none(bare) {
        return true;
    }
    // "None. All earlier findings were dealt with." is none; "None, except that ..." is not.
    let Some((first, rest)) = bare.split_once(". ") else {
        return false;
    };
    says_none(first)
        && !words(rest).any(|word| {
            matches!(
                word.as_str(),
                "but" | "however" | "except" | "although" | "though" | "still" | "only"
            )
        })
}

fn says_none(text: &str) -> bool {
    if text.len() > 120 || text.contains('"') {
        return false;
    }
    let words: Vec<String> = words(text).collect();
    let mut rest = words.iter().map(String::as_str);
    match rest.next() {
        Some("none" | "nil" | "nothing") => rest.all(|word| {
            matches!(
                word,
                "found"
                    | "identified"
                    | "to"
                    | "report"
                    | "at"
                    | "this"
                    | "level"
                    | "severity"
                    | "substantive"
                    | "here"
                    | "in"
                    | "round"
            ) || severity_word(word).is_some()
        }),
        Some("n" | "not") => {
            matches!(rest.next(), Some("a" | "applicable")) && rest.next().is_none()
        }
        Some("na") => rest.next().is_none(),
        Some("0" | "zero") => rest.next().is_none_or(filler) && rest.next().is_none(),
        Some("no") => {
            let mut noun = false;
            let matches = rest.all(|word| {
                let is_noun = matches!(
                    word,
                    "findings" | "finding" | "issues" | "issue" | "concerns" | "problems"
                );
                noun |= is_noun;
                is_noun
                    || severity_word(word).is_some()
                    || matches!(
                        word,
                        "severity"
                            | "priority"
                            | "substantive"
                            | "material"
                            | "or"
                            | "further"
                            | "new"
                            | "found"
                            | "identified"
                            | "were"
                            | "was"
                            | "remain"
                            | "remaining"
                            | "open"
                            | "in"
                            | "at"
                            | "this"
                            | "round"
                            | "level"
                            | "significant"
                    )
            });
            matches && noun
        }
        _ => false,
    }
}

/// Returns whether a text says that there is nothing, and no second sentence goes on from there.
pub(super) fn is_none_alone(text: &str) -> bool {
    is_none(text) && !text.contains(". ")
}

/// Returns whether a heading is that of a findings file: `Findings`, `Round 2 findings`.
pub(super) fn is_title(text: &str) -> bool {
    let words: Vec<String> = words(text).take(4).collect();
    match words.as_slice() {
        [findings] => findings == "findings",
        [round, number, findings] => {
            round == "round" && number.parse::<u64>().is_ok() && findings == "findings"
        }
        _ => false,
    }
}
