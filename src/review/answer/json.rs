//! The JSON answers in a text.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::severity::severity_in;
use super::titles::Title;
use super::{Cause, NOTHING_BLOCKS, is_blank, is_minor, is_none, item};
use crate::review::findings::{Finding, Findings, MAX_FILE_CHARS, MAX_FINDING_CHARS};
use crate::store::to_plain;
use crate::text;

const MAX_PATCH_BYTES: usize = 256 * 1024;
const MAX_ID_CHARS: usize = 20;
/// Keys that show that a JSON value was meant as an answer.
const KEYS: [&str; 4] = ["\"verdict\"", "\"findings\"", SEVERITY_KEY, "\"priority\""];
const SEVERITY_KEY: &str = "\"severity\"";
/// The properties of a finding: that of the schema, and the names that models give by themselves.
const SEVERITIES: &str = "severity priority level";
const TEXTS: &str = "what title message problem issue comment summary description details body";
const ADVICE: &str = "recommendation suggestion fix";
const FILES: &str = "file path filename";
const LINES: &str = "line line_start start_line lines";
/// The other properties that are no details.
const OTHERS: &str = "id patch";

/// The schema's object. serde refuses one of its properties that is there twice.
#[derive(Deserialize)]
struct Answer {
    /// `clean` or `findings`; models leave it out beside findings.
    verdict: Option<String>,
    #[serde(alias = "issues", alias = "comments", alias = "problems")]
    findings: Vec<Map<String, Value>>,
    /// Other properties. A clean answer has none.
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Returns the findings of each JSON answer in a text, with its place. Each begins a line.
///
/// # Errors
/// Returns an error if one is cut off, has another shape, or something that is not counted.
pub(super) fn answers(text: &str) -> Result<Vec<(Range<usize>, Findings)>, Cause> {
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
            return Err(unreadable(&error));
        }
        at = begin + values.byte_offset();
        let value = &text[begin..at];
        if is_meant(value) {
            found.push((begin..at, read(value)?));
        }
    }
    Ok(found)
}

fn read(value: &str) -> Result<Findings, Cause> {
    let list = format!("{{\"findings\":{value}}}");
    let object = if value.starts_with('[') { &list } else { value };
    let answer: Answer = serde_json::from_str(object).map_err(|error| unreadable(&error))?;
    let findings = findings(&answer)?;
    let overall = usize::from(answer.other.contains_key("severity"));
    if value.matches(SEVERITY_KEY).count() > findings.len() + overall {
        let problem = "its JSON has a severity outside of its findings";
        return Err(Cause::not_a_verdict(problem));
    }
    Ok(findings)
}

fn unreadable(error: &serde_json::Error) -> Cause {
    let problem = format!("its JSON cannot be read: {error}");
    Cause::not_a_verdict(&text::one_line(&problem, 160))
}

fn findings(answer: &Answer) -> Result<Findings, Cause> {
    let findings = answer.findings.iter().zip(1..);
    let findings = findings.map(|(entry, number)| read_finding(number, entry));
    let findings: Findings = findings.collect::<Result<_, _>>()?;
    let mut others = answer.other.iter();
    if let Some((name, _)) = others.find(|(name, value)| has_items(name, value)) {
        let name = text::one_line(name, 40);
        let problem = format!("the items of `{name}` in its JSON are not counted");
        return Err(Cause::not_a_verdict(&problem));
    }
    let problem = match answer.verdict.as_deref() {
        Some("FAIL") if findings.iter().all(is_minor) => NOTHING_BLOCKS,
        // `clean` beside findings, such as low ones: the listed findings count.
        _ if !findings.is_empty() => return Ok(findings),
        Some("clean" | "PASS") if answer.other.is_empty() => return Ok(findings),
        Some("clean" | "PASS") => "its JSON says clean and something else",
        Some("findings") => "its JSON announces findings and lists none",
        None => "its JSON has neither a verdict nor findings",
        Some(other) => {
            let other = text::one_line(other, 40);
            &format!("its JSON has the verdict `{other}`, neither clean nor findings")
        }
    };
    Err(Cause::not_a_verdict(problem))
}

/// Returns whether a property may have findings: objects, sentences, or texts for a severity.
fn has_items(name: &str, value: &Value) -> bool {
    let is_severity = severity_in(name).is_some();
    let is_item = |item: &Value| match item {
        Value::String(text) => is_severity || text.contains(' '),
        item => is_severity || item.is_object(),
    };
    match value {
        _ if Title::new(name) == Title::Praise => false,
        Value::String(text) => is_severity && !is_none(text),
        Value::Array(items) => items.iter().any(is_item),
        Value::Object(inner) => inner.iter().any(|(name, value)| has_items(name, value)),
        _ => false,
    }
}

fn read_finding(number: usize, entry: &Map<String, Value>) -> Result<Finding, Cause> {
    let text = |name: &str| {
        let text = to_plain(entry.get(name)?);
        Some(text).filter(|text| !text.trim().is_empty())
    };
    let lacks = |what| Cause::not_a_verdict(&format!("finding {number} of its JSON has no {what}"));
    let rating = |name: &str| {
        let text = text(name)?;
        // Codex writes 0 to 3.
        let is_number = name == "priority" && text.parse::<u8>().is_ok();
        Some(if is_number { format!("P{text}") } else { text })
    };
    let severities: Vec<String> = SEVERITIES.split(' ').filter_map(rating).collect();
    if severities.is_empty() {
        return Err(lacks("severity"));
    }
    // A severity that nobody knows may be the heaviest.
    let known = severities.iter().filter_map(|text| severity_in(text));
    let severity = known.min().unwrap_or_default();
    let mut texts = TEXTS.split(' ').filter_map(text);
    let Some(what) = texts.next() else {
        return Err(lacks("text that says what is wrong"));
    };
    let (own_id, what) = item::split_id(&what);
    let file = FILES.split(' ').find_map(text);
    let mut advice = ADVICE.split(' ').filter_map(text);
    let line = |text: String, limit| Some(text::one_line(&text, limit));
    let mut finding = Finding {
        // An unknown id is dropped when the finding gets its own.
        id: (text("id").or(own_id.map(str::to_owned))).and_then(|id| line(id, MAX_ID_CHARS)),
        recommendation: advice.next().and_then(|text| line(text, MAX_FINDING_CHARS)),
        file: file.and_then(|file| line(file, MAX_FILE_CHARS)),
        line: LINES
            .split(' ')
            .find_map(|name| first_line(entry.get(name)?)),
        // Unchanged: a patch with other bytes is another patch. The caller cleans it to show it.
        patch: text("patch").filter(|patch| patch.len() <= MAX_PATCH_BYTES),
        ..Finding::new(severity, text::one_line(what, MAX_FINDING_CHARS))
    };
    let lists = [SEVERITIES, TEXTS, ADVICE, FILES, LINES, OTHERS].into_iter();
    let known: Vec<&str> = lists.flat_map(|list| list.split(' ')).collect();
    let is_other = |name: &str, value: &Value| !known.contains(&name) && !value.is_null();
    let others = entry.iter().filter(|(name, value)| is_other(name, value));
    let others = others.map(|(name, value)| format!("{name}: {}", to_plain(value)));
    for text in texts.chain(advice).chain(others) {
        let lines = text.lines();
        lines.for_each(|line| item::add_detail(&mut finding, line));
    }
    Ok(finding)
}

/// Reads `20`, `"20"` and `"20-24"`.
fn first_line(value: &Value) -> Option<u32> {
    let text = value.to_string();
    let first = text
        .trim_matches(['"', ' ', '[', ']'])
        .split(['-', ','])
        .next()?;
    first.parse().ok().filter(|line| *line > 0)
}
