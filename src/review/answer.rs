//! The answer that a model is asked for, and how it is read: JSON by a schema, else the Markdown of a findings file.
//!
//! Strict in form: the JSON is the whole answer, bare or in one code fence. Findings may stand in a fence at the end of a text; a
//! clean verdict stands alone, since a sentence around it may say the opposite. What states no verdict is unreadable, never clean,
//! and so is an answer that announces findings and lists none, or that gives two verdicts. This file knows no reviewer and no process.

use std::ops::Range;

use derive_more::{Display, Error};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::findings::{Finding, Findings};
use super::findings_file::{
    self, MAX_FILE_BYTES, MAX_FINDING_CHARS, MOST_FINDINGS, Unreadable, Verdict, severity_word,
};
use crate::text;

/// The JSON Schema of an answer, in the form that strict structured output takes: every property required, nothing else
/// allowed.
pub const SCHEMA: &str = include_str!("answer/schema.json");

/// What a prompt says last to a model whose answer goes by [`SCHEMA`].
pub const CLOSING: &str = include_str!("answer/closing.md");

/// The longest patch that is kept, in bytes.
const MAX_PATCH_BYTES: usize = 256 * 1024;
/// The longest name of a file that is kept, in characters.
const MAX_FILE_CHARS: usize = 300;
/// The longest id that is read, in characters.
const MAX_ID_CHARS: usize = 20;
/// How many `{` of a text are tried as the beginning of an answer.
const TRIES: usize = 2_000;

/// Why a text is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Display, Error)]
pub enum NoAnswer {
    /// Nothing but white space.
    #[display("it is empty")]
    Empty,
    /// It says `findings` and lists none.
    #[display("it announces findings and lists none")]
    Announced,
    /// One of the schema's two properties is missing.
    #[display("its JSON has no `{property}`")]
    Lacks {
        /// The property.
        property: &'static str,
    },
    /// The schema has no such property.
    #[display("its JSON has `{property}`, which was not asked for")]
    Unknown {
        /// The property, short.
        property: String,
    },
    /// JSON that is neither the whole answer nor in a fence at its end, or a clean verdict with a text around it.
    #[display("its JSON does not stand alone")]
    Apart,
    /// A verdict that is none.
    #[display("its verdict is `{word}`, neither clean nor findings")]
    Verdict {
        /// The word, short.
        word: String,
    },
    /// A finding that cannot be read: it is not dropped, since it may be the one that matters.
    #[display("finding {number} has no {what}")]
    Finding {
        /// Which one, from 1.
        number: usize,
        /// What it lacks.
        what: &'static str,
    },
    /// It holds two answers that differ.
    #[display("it holds more than one answer, and they differ")]
    Two,
    /// JSON in which a property stands twice: one of the two would be lost.
    #[display("its JSON has `verdict` or `findings` twice")]
    Twice,
    /// It gives its prompt back.
    #[display("it repeats what it was asked")]
    Echo,
    /// JSON that ends too early.
    #[display("its JSON is cut off or broken")]
    CutOff,
    /// It is neither JSON by the schema nor a findings file.
    #[display("{_0}")]
    Form(Unreadable),
}

/// Reads an answer.
///
/// # Errors
/// See [`NoAnswer`]. None of them means clean.
pub fn read(answer: &str) -> Result<Verdict, NoAnswer> {
    let trimmed = answer.trim();
    if trimmed.is_empty() {
        return Err(NoAnswer::Empty);
    }
    if answer.len() > MAX_FILE_BYTES {
        return Err(NoAnswer::Form(Unreadable::TooLarge {
            bytes: answer.len(),
            limit: MAX_FILE_BYTES,
        }));
    }
    let found = objects(trimmed);
    let answers: Vec<&Object> = found.iter().filter(|object| object.stands).collect();
    if let Some(first) = answers.first() {
        if found.iter().any(|other| other.map != first.map) {
            return Err(NoAnswer::Two);
        }
        if found.iter().any(|object| object.twice) {
            return Err(NoAnswer::Twice);
        }
        let verdict = by_schema(&first.map)?;
        let before = match found.as_slice() {
            [only] => text_before(trimmed, &only.place),
            _ => None,
        };
        return match (before, verdict) {
            (Some(""), verdict) => Ok(verdict),
            (Some(before), Verdict::Findings(_))
                if findings_file::parse(before.as_bytes()) == Ok(Verdict::Clean) =>
            {
                Err(NoAnswer::Two)
            }
            (Some(_), findings @ Verdict::Findings(_)) => Ok(findings),
            (Some(_), Verdict::Clean) | (None, _) => Err(NoAnswer::Apart),
        };
    }
    if looks_like_json(trimmed) {
        return Err(NoAnswer::CutOff);
    }
    // What is clean in this form holds no JSON: nothing stands around that verdict either.
    findings_file::parse(answer.as_bytes()).map_err(NoAnswer::Form)
}

/// Reads an answer that a client has parsed already.
///
/// # Errors
/// See [`NoAnswer`].
pub fn read_value(answer: &Value) -> Result<Verdict, NoAnswer> {
    match answer {
        Value::Object(object) => by_schema(object),
        Value::String(text) => read(text),
        _ => Err(NoAnswer::CutOff),
    }
}

/// A JSON object with one of the schema's two properties, and where it stands in a text.
struct Object {
    map: Map<String, Value>,
    place: Range<usize>,
    /// Whether it begins its line, or is in an object that does. What stands within a sentence is quoted, and no answer.
    stands: bool,
    /// Whether one of the two properties is there twice.
    twice: bool,
}

/// The schema's two properties; a third one of either name is an error.
#[derive(Deserialize)]
struct Once {
    #[serde(rename = "verdict")]
    _verdict: Option<IgnoredAny>,
    #[serde(rename = "findings")]
    _findings: Option<IgnoredAny>,
}

/// Returns every JSON object of a text that has one of the schema's two properties. What stands inside of one is not looked at.
fn objects(text: &str) -> Vec<Object> {
    let mut found = Vec::new();
    let mut at = 0;
    // Where the object around ends, and whether it stands.
    let mut around = (0, false);
    for _ in 0..TRIES {
        let Some(begin) = text[at..].find('{').map(|offset| at + offset) else {
            break;
        };
        let stands = if begin < around.0 {
            around.1
        } else {
            begins_a_line(&text[..begin])
        };
        let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>();
        at = begin + 1;
        if let Some(Ok(Value::Object(map))) = values.next() {
            let place = begin..begin + values.byte_offset();
            if is_answer(&map) {
                at = place.end;
                found.push(Object {
                    twice: serde_json::from_str::<Once>(&text[place.clone()]).is_err(),
                    map,
                    place,
                    stands,
                });
            } else if place.end > around.0 {
                // An object around the answer, such as `{"result": {...}}`, is looked into.
                around = (place.end, stands);
            }
        }
    }
    found
}

/// Returns whether nothing but the opening of a fence or of a list stands before it on its line.
fn begins_a_line(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '[');
    let fence = line
        .strip_prefix("```")
        .map(|info| info.trim_start_matches('`'));
    line.is_empty() || fence.is_some_and(|info| info.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// Returns the text before an object that is all of a text, or that a fence at its end holds; `None`: it is neither.
fn text_before<'t>(text: &'t str, place: &Range<usize>) -> Option<&'t str> {
    let before = text[..place.start].trim_matches(is_blank);
    let after = text[place.end..].trim_matches(is_blank);
    if before.is_empty() && after.is_empty() {
        return Some("");
    }
    let (rest, fence) = before.rsplit_once('\n').unwrap_or(("", before));
    let info = fence.trim_start_matches('`');
    let ticks = &fence[..fence.len() - info.len()];
    (ticks.len() >= 3 && ticks == after && matches!(info.trim(), "" | "json" | "JSON"))
        .then(|| rest.trim_matches(is_blank))
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

fn is_answer(object: &Map<String, Value>) -> bool {
    object.get("findings").is_some_and(Value::is_array)
        || object.get("verdict").is_some_and(Value::is_string) && !object.contains_key("severity")
}

/// Returns whether a text was meant as JSON by the schema: a Markdown answer does not begin like this.
fn looks_like_json(text: &str) -> bool {
    let bare = text
        .trim_start_matches("```json")
        .trim_start_matches("```")
        .trim_start();
    bare.starts_with('{') && (bare.contains("\"verdict\"") || bare.contains("\"findings\""))
}

fn by_schema(answer: &Map<String, Value>) -> Result<Verdict, NoAnswer> {
    if let Some(other) = answer
        .keys()
        .find(|key| !["verdict", "findings"].contains(&key.as_str()))
    {
        return Err(NoAnswer::Unknown {
            property: text::one_line(other, 40),
        });
    }
    let lacks = |property| NoAnswer::Lacks { property };
    let verdict = answer.get("verdict").ok_or_else(|| lacks("verdict"))?;
    let listed = answer.get("findings").ok_or_else(|| lacks("findings"))?;
    let Value::Array(listed) = listed else {
        return Err(NoAnswer::CutOff);
    };
    if listed.len() > MOST_FINDINGS {
        return Err(NoAnswer::Form(Unreadable::TooMany {
            found: listed.len(),
        }));
    }
    let findings = listed
        .iter()
        .enumerate()
        .map(|(index, finding)| read_finding(index + 1, finding))
        .collect::<Result<Vec<_>, _>>()?;
    match verdict.as_str().unwrap_or_default() {
        // `clean` beside findings, such as low ones: what is listed counts.
        "clean" | "findings" if !findings.is_empty() => Ok(Verdict::Findings(Findings(findings))),
        "clean" => Ok(Verdict::Clean),
        "findings" => Err(NoAnswer::Announced),
        other => Err(NoAnswer::Verdict {
            word: text::one_line(other, 40),
        }),
    }
}

fn read_finding(number: usize, finding: &Value) -> Result<Finding, NoAnswer> {
    let lacks = |what| NoAnswer::Finding { number, what };
    let line_of = |name: &str, limit| {
        let text = finding
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default();
        Some(text::one_line(text, limit)).filter(|text| !text.is_empty())
    };
    let severity = line_of("severity", 40).ok_or_else(|| lacks("severity"))?;
    let severity =
        severity_word(&severity.to_lowercase()).ok_or_else(|| lacks("known severity"))?;
    let what =
        line_of("what", MAX_FINDING_CHARS).ok_or_else(|| lacks("text that says what is wrong"))?;
    let line = match finding.get("line") {
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    let patch = finding.get("patch").and_then(Value::as_str);
    Ok(Finding {
        // Whether there is such a finding is seen where the rounds are followed.
        id: line_of("id", MAX_ID_CHARS),
        recommendation: line_of("recommendation", MAX_FINDING_CHARS),
        file: line_of("file", MAX_FILE_CHARS),
        line: line
            .and_then(|line| u32::try_from(line).ok())
            .filter(|line| *line > 0),
        // As it is: a patch with other bytes is another patch. Whoever shows it makes it plain.
        patch: patch
            .filter(|patch| !patch.trim().is_empty() && patch.len() <= MAX_PATCH_BYTES)
            .map(str::to_owned),
        ..Finding::new(severity, what)
    })
}

#[cfg(test)]
mod forms;
#[cfg(test)]
mod tests;
