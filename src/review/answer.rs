//! Reads a reviewer's answer: JSON by the schema, or Markdown.
//!
//! Every item of an answer is counted, or the whole answer is unreadable. A clean answer has no
//! other text, which could mean the opposite. docs/reviewers.md has the table of forms.

mod blocks;
mod item;
mod json;
mod reader;
mod repeats;
mod row;
mod severity;
mod titles;
mod words;

pub(super) use self::severity::{is_rated_below, label};
pub(super) use self::titles::is_none;
pub(super) use self::words::words;
use super::cause::{Cause, CauseKind};
use super::findings::{CLEAN_LINE, Finding, Findings, Severity};

/// The JSON Schema of an answer, for strict structured output: each property required, no other
/// allowed.
pub const SCHEMA: &str = include_str!("answer/schema.json");

/// The end of a prompt to a model whose answer goes by [`SCHEMA`].
pub const CLOSING: &str = include_str!("answer/closing.md");

/// Largest answer, in bytes. Reviewers write a few kilobytes.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// Most findings in an answer. Each is compared with all earlier ones.
pub const MAX_FINDINGS: usize = 1000;
/// The tags in which models write their thoughts before the answer.
const THOUGHTS: [&str; 5] = ["think", "thinking", "thoughts", "reasoning", "analysis"];
/// The problem of an answer with several verdicts.
const SEVERAL_ANSWERS: &str = "it has more than one answer";
/// The problem of a verdict of failure without a finding that blocks.
const NOTHING_BLOCKS: &str = "it says FAIL and lists nothing that blocks";

/// Reads an answer. A clean one has no findings.
///
/// # Errors
/// Returns an error if the answer has no verdict, or an item that cannot be counted.
pub fn read(answer: &str) -> Result<Findings, Cause> {
    let bytes = answer.len();
    if bytes > MAX_ANSWER_BYTES {
        let problem = format!("it is {bytes} bytes long, the limit is {MAX_ANSWER_BYTES}");
        return Err(Cause::not_a_verdict(&problem));
    }
    let answer = without_fence(without_thoughts(answer));
    if answer.trim_matches(is_blank).is_empty() {
        return Err(Cause::new(CauseKind::NoOutput, ""));
    }
    let whole = answer;
    let answer = without_verdict(answer);
    let findings = match &json::answers(answer)?[..] {
        [] => reader::read(answer, false)?.ok_or_else(|| {
            let problem =
                format!("expected findings with a severity, or the line ‘{CLEAN_LINE}’ alone");
            Cause::not_a_verdict(&problem)
        })?,
        [(place, findings)] => {
            let around = [&answer[..place.start], &answer[place.end..]].concat();
            let is_alone = around.trim_matches(is_blank).is_empty();
            if !is_alone && findings.is_empty() {
                let problem = "its JSON says clean and does not stand alone";
                return Err(Cause::not_a_verdict(problem));
            }
            if !is_alone && reader::read(&around, true)?.is_some() {
                return Err(Cause::not_a_verdict(SEVERAL_ANSWERS));
            }
            findings.clone()
        }
        _ => return Err(Cause::not_a_verdict(SEVERAL_ANSWERS)),
    };
    if findings.iter().all(is_minor) && whole.lines().any(says_fail) {
        return Err(Cause::not_a_verdict(NOTHING_BLOCKS));
    }
    let found = findings.len();
    if found > MAX_FINDINGS {
        let problem = format!("it has {found} findings, the limit is {MAX_FINDINGS}");
        return Err(Cause::not_a_verdict(&problem));
    }
    Ok(findings)
}

fn is_minor(finding: &Finding) -> bool {
    finding.severity == Severity::Low
}

/// Returns whether a line is a verdict that something fails: `**Verdict: FAIL**`, `FAIL: the orders`.
fn says_fail(line: &str) -> bool {
    let plain = words(line);
    let text = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    plain == " fail " || plain.starts_with(" verdict fail ") || text.starts_with("FAIL:")
}

/// Drops a last line `VERDICT: PASS` or `VERDICT: FAIL`.
fn without_verdict(answer: &str) -> &str {
    let trimmed = answer.trim_end_matches(is_blank);
    let before = trimmed.rfind('\n').map_or("", |at| &trimmed[..at]);
    match words(&trimmed[before.len()..]).as_str() {
        " verdict pass " | " verdict fail " => before,
        _ => answer,
    }
}

/// Drops the thoughts in front of an answer, if their tag is closed.
fn without_thoughts(answer: &str) -> &str {
    let after = THOUGHTS.iter().find_map(|tag| {
        let thoughts = answer
            .trim_start_matches(is_blank)
            .strip_prefix(&format!("<{tag}>"))?;
        Some(thoughts.split_once(&format!("</{tag}>"))?.1)
    });
    after.map_or(answer, without_thoughts)
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

/// Returns the text in a code fence around the whole answer, perhaps below a line that announces
/// it, or else the answer.
fn without_fence(answer: &str) -> &str {
    let whole = answer.trim_matches(is_blank);
    let (first, below) = whole.split_once('\n').unwrap_or((whole, ""));
    let names_review = |word: &str| words(first).contains(word);
    let is_lead =
        first.trim_end().ends_with(':') && [" here ", " review "].into_iter().any(names_review);
    let fenced = if is_lead {
        below.trim_start_matches(is_blank)
    } else {
        whole
    };
    let fence = &fenced[..fenced.len() - fenced.trim_start_matches('`').len()];
    let inside = fenced[fence.len()..]
        .strip_suffix(fence)
        .and_then(|rest| rest.split_once('\n'));
    match inside {
        Some((_, text)) if fence.len() > 2 && !text.contains(fence) => text,
        _ => answer,
    }
}

#[cfg(test)]
mod tests;
