//! Reads a reviewer's answer: JSON by the schema, or Markdown.
//!
//! Every item of an answer is counted, or the whole answer is unreadable. A clean answer has no
//! other text, which could mean the opposite. docs/reviewers.md has the table of forms.

mod heading;
mod item;
mod markdown;
mod reader;
mod repeats;
mod severity;
mod titles;

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) use self::severity::{is_rated_item, label, words};
pub(super) use self::titles::is_none;
use super::cause::{Cause, CauseKind};
use super::findings::{CLEAN_LINE, Finding, Findings, MAX_FILE_CHARS, MAX_FINDING_CHARS, Severity};
use crate::store::to_plain;
use crate::text;

/// The JSON Schema of an answer, for strict structured output: each property required, no other
/// allowed.
pub const SCHEMA: &str = include_str!("answer/schema.json");

/// The end of a prompt to a model whose answer goes by [`SCHEMA`].
pub const CLOSING: &str = include_str!("answer/closing.md");

/// Largest answer, in bytes. Reviewers write a few kilobytes.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// Most findings in an answer. Each is compared with all earlier ones.
pub const MAX_FINDINGS: usize = 1000;
/// Largest patch that is kept, in bytes.
const MAX_PATCH_BYTES: usize = 256 * 1024;
/// Longest id that is read, in characters.
const MAX_ID_CHARS: usize = 20;
/// The tags in which models write their thoughts before the answer.
const THOUGHTS: [&str; 5] = ["think", "thinking", "thoughts", "reasoning", "analysis"];
/// Keys that show that a JSON value was meant as an answer.
const KEYS: [&str; 3] = ["\"verdict\"", "\"findings\"", "\"severity\""];

/// The problem of an answer with several verdicts.
const TWO: &str = "it has more than one answer";

/// The schema's object.
#[derive(Default, Deserialize)]
struct Answer {
    /// `clean` or `findings`; models leave it out beside findings.
    verdict: Option<String>,
    #[serde(alias = "issues", alias = "comments", alias = "problems")]
    findings: Vec<Entry>,
    /// Other properties. A clean answer has none.
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// A finding of the schema, also under the names that models give its properties by themselves.
/// serde refuses a property that is there twice.
#[derive(Deserialize)]
struct Entry {
    severity: Option<String>,
    priority: Option<String>,
    level: Option<String>,
    what: Option<String>,
    title: Option<String>,
    message: Option<String>,
    problem: Option<String>,
    issue: Option<String>,
    comment: Option<String>,
    summary: Option<String>,
    description: Option<String>,
    details: Option<String>,
    body: Option<String>,
    id: Option<Value>,
    recommendation: Option<String>,
    suggestion: Option<String>,
    fix: Option<String>,
    file: Option<String>,
    path: Option<String>,
    line: Option<Value>,
    patch: Option<String>,
    /// Other properties. Their texts are details.
    #[serde(flatten)]
    other: Map<String, Value>,
}

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
    let findings = read_any(answer)?;
    let found = findings.len();
    if found > MAX_FINDINGS {
        let problem = format!("it has {found} findings, the limit is {MAX_FINDINGS}");
        return Err(Cause::not_a_verdict(&problem));
    }
    Ok(findings)
}

fn read_any(answer: &str) -> Result<Findings, Cause> {
    let answer = without_escapes(answer);
    let answer = without_fence(without_thoughts(&answer));
    if answer.trim_matches(is_blank).is_empty() {
        return Err(Cause::new(CauseKind::NoOutput, ""));
    }
    let found = values(answer)?;
    let (place, only) = match &found[..] {
        [] => {
            let problem =
                format!("expected findings with a severity, or the line ‘{CLEAN_LINE}’ alone");
            return reader::read(answer, false)?.ok_or_else(|| Cause::not_a_verdict(&problem));
        }
        [one] => one,
        _ => return Err(Cause::not_a_verdict(TWO)),
    };
    let findings = findings_of(only)?;
    let overall = usize::from(only.other.contains_key("severity"));
    if answer[place.clone()].matches(KEYS[2]).count() > findings.len() + overall {
        return Err(Cause::not_a_verdict(
            "its JSON has a severity outside of its findings",
        ));
    }
    let around = [&answer[..place.start], &answer[place.end..]].concat();
    if around.trim_matches(is_blank).is_empty() {
        return Ok(findings);
    }
    if findings.is_empty() {
        return Err(Cause::not_a_verdict(
            "its JSON says clean and does not stand alone",
        ));
    }
    match reader::read(&around, true)? {
        None => Ok(findings),
        Some(_) => Err(Cause::not_a_verdict(TWO)),
    }
}

/// Drops the escape sequences that colour a terminal.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.trim_start_matches(|c| matches!(c, ' '..='?'));
        let rest = end.strip_prefix(|c| matches!(c, '@'..='~'));
        plain.push_str(rest.unwrap_or(end));
    }
    plain
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

/// Returns the text in a code fence around the whole answer, or else the answer.
fn without_fence(answer: &str) -> &str {
    let fenced = answer.trim_matches(is_blank);
    let fence = &fenced[..fenced.len() - fenced.trim_start_matches('`').len()];
    let inside = fenced[fence.len()..]
        .strip_suffix(fence)
        .and_then(|rest| rest.split_once('\n'));
    match inside {
        Some((_, text)) if fence.len() > 2 && !text.contains(fence) => text,
        _ => answer,
    }
}

/// Returns the JSON answers of a text, each with its place. Each begins a line.
fn values(text: &str) -> Result<Vec<(Range<usize>, Answer)>, Cause> {
    let mut found = Vec::new();
    let is_object = serde_json::from_str::<Map<String, Value>>(text).is_ok();
    let last_key = KEYS.iter().filter_map(|key| text.rfind(key)).max();
    let Some(last_key) = last_key.or(is_object.then_some(0)) else {
        return Ok(found);
    };
    let is_meant = |text: &str| is_object || KEYS.iter().any(|key| text.contains(key));
    let mut at = 0;
    while at <= last_key {
        let rest = text[at..].trim_start_matches(is_blank);
        let begin = text.len() - rest.len();
        let inner = rest.trim_start_matches(['{', '[']);
        let is_json =
            inner.len() < rest.len() && inner.trim_start_matches(is_blank).starts_with(['"', '{']);
        if !is_json {
            at = begin + rest.find('\n').unwrap_or(rest.len()) + 1;
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Err(error)) = values.next() {
            return Err(json(error));
        }
        at = begin + values.byte_offset();
        let value = &text[begin..at];
        if is_meant(value) {
            let answer = if value.starts_with('[') {
                serde_json::from_str(value).map(|findings| Answer {
                    findings,
                    ..Answer::default()
                })
            } else {
                serde_json::from_str(value)
            };
            found.push((begin..at, answer.map_err(json)?));
        }
    }
    Ok(found)
}

fn json(error: serde_json::Error) -> Cause {
    let problem = format!("its JSON cannot be read: {error}");
    Cause::not_a_verdict(&text::one_line(&problem, 160))
}

fn findings_of(answer: &Answer) -> Result<Findings, Cause> {
    let mut findings = Vec::new();
    for (index, entry) in answer.findings.iter().enumerate() {
        findings.push(read_finding(index + 1, entry)?);
    }
    let is_rated = |name: &str, value: &Value| {
        let is_text = value.as_str().is_some_and(|text| !is_none(text));
        let is_list = value.as_array().is_some_and(|items| !items.is_empty());
        severity::severity_in(name).is_some() && (is_text || is_list)
    };
    let is_item = |(name, value): &(&String, &Value)| {
        has_items(value) && !titles::is_praise_title(name) || is_rated(name, value)
    };
    if let Some((name, _)) = answer.other.iter().find(is_item) {
        let name = text::one_line(name, 40);
        let problem = format!("the items of `{name}` in its JSON are not counted");
        return Err(Cause::not_a_verdict(&problem));
    }
    let is_minor = |one: &Finding| one.severity == Severity::Low;
    let problem = match answer.verdict.as_deref() {
        Some("FAIL") if findings.iter().all(is_minor) => {
            "its JSON says FAIL and lists nothing that blocks"
        }
        // `clean` beside findings, such as low ones: the listed findings count.
        _ if !findings.is_empty() => return Ok(findings),
        Some("clean") if answer.other.is_empty() => return Ok(findings),
        Some("clean") => "its JSON says clean and something else",
        Some("findings") => "its JSON announces findings and lists none",
        None => "its JSON has neither a verdict nor findings",
        Some(other) => {
            let other = text::one_line(other, 40);
            &format!("its JSON has the verdict `{other}`, neither clean nor findings")
        }
    };
    Err(Cause::not_a_verdict(problem))
}

/// Returns whether a JSON value has a list that may have findings: of objects or sentences.
fn has_items(value: &Value) -> bool {
    let is_item = |item: &Value| match item {
        Value::String(text) => text.contains(' '),
        item => item.is_object(),
    };
    match value {
        Value::Array(items) => items.iter().any(is_item),
        Value::Object(properties) => properties.values().any(has_items),
        _ => false,
    }
}

fn read_finding(number: usize, entry: &Entry) -> Result<Finding, Cause> {
    let line_of = |text: &Option<String>, limit| {
        let text = text::one_line(text.as_deref().unwrap_or_default(), limit);
        Some(text).filter(|text| !text.is_empty())
    };
    let lacks = |what| Cause::not_a_verdict(&format!("finding {number} of its JSON has no {what}"));
    let severities = [&entry.severity, &entry.priority, &entry.level].into_iter();
    let severities: Vec<String> = severities.filter_map(|text| line_of(text, 40)).collect();
    let known = severities
        .iter()
        .filter_map(|text| severity::severity_in(text));
    // A severity that nobody knows may be the heaviest.
    let severity = known.min().unwrap_or_default();
    if severities.is_empty() {
        return Err(lacks("severity"));
    }
    let texts = [
        &entry.what,
        &entry.title,
        &entry.message,
        &entry.problem,
        &entry.issue,
        &entry.comment,
        &entry.summary,
        &entry.description,
        &entry.details,
        &entry.body,
    ];
    let mut texts = texts
        .into_iter()
        .flatten()
        .filter(|text| !text.trim().is_empty());
    let first = texts
        .next()
        .ok_or_else(|| lacks("text that says what is wrong"))?;
    let advice = [&entry.recommendation, &entry.suggestion, &entry.fix].into_iter();
    let mut advice = advice.filter_map(|text| line_of(text, MAX_FINDING_CHARS));
    let mut finding = Finding {
        // An unknown id is dropped when the finding gets its own.
        id: line_of(&entry.id.as_ref().map(to_plain), MAX_ID_CHARS),
        recommendation: advice.next(),
        file: line_of(&entry.file, MAX_FILE_CHARS).or_else(|| line_of(&entry.path, MAX_FILE_CHARS)),
        line: entry.line.as_ref().and_then(first_line),
        // Unchanged: a patch with other bytes is another patch. The caller cleans it to show it.
        patch: (entry.patch.clone())
            .filter(|patch| !patch.trim().is_empty() && patch.len() <= MAX_PATCH_BYTES),
        ..Finding::new(severity, text::one_line(first, MAX_FINDING_CHARS))
    };
    let others = entry.other.iter();
    let others = others.filter(|(_, value)| !value.is_null());
    let others = others.map(|(name, value)| format!("{name}: {}", to_plain(value)));
    for text in texts.cloned().chain(advice).chain(others) {
        text.lines()
            .for_each(|line| item::add_detail(&mut finding, line));
    }
    Ok(finding)
}

/// Reads `20`, `"20"` and `"20-24"`.
fn first_line(value: &Value) -> Option<u32> {
    let text = value.to_string();
    let first = text.trim_matches(['"', ' ']).split('-').next()?;
    first.parse().ok().filter(|line| *line > 0)
}

#[cfg(test)]
mod tests;
