//! The form `lines`: one `key: value` a line, valid YAML. Lines that are not set stay as they are.

use std::collections::HashSet;

use serde_json::Value as Json;
use serde_yaml::Mapping;

use super::document::{DocumentError, is_field_name};
use super::value::to_scalar;
use super::yaml::{check_yaml, from_yaml};

/// Characters that end a line for other readers of YAML.
const OTHER_LINE_ENDS: [char; 4] = ['\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// A document of lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    has_mark: bool,
    parts: Vec<Part>,
    /// Whether new lines end in CRLF.
    crlf: bool,
}

/// An entry, or a line between entries.
#[derive(Debug, Clone)]
struct Part {
    /// The text, with its line endings.
    raw: String,
    /// The field of an entry, and its value. `None` for a blank, a comment or `---`.
    field: Option<(String, Json)>,
}

impl Part {
    fn has_name(&self, name: &str) -> bool {
        self.field.as_ref().is_some_and(|(field, _)| field == name)
    }
}

impl Lines {
    pub(super) fn parse(text: &str) -> Result<Self, DocumentError> {
        let unmarked = text.strip_prefix('\u{feff}');
        let text = unmarked.unwrap_or(text);
        let mut parts = split_parts(text)?;

        let mut lines_above = 0;
        for part in &mut parts {
            if let Some((name, value)) = &mut part.field {
                *value = read_value(name, &part.raw, lines_above)?;
            }
            lines_above += part.raw.matches('\n').count();
        }

        let first_line = text.split_inclusive('\n').next();
        Ok(Self {
            has_mark: unmarked.is_some(),
            parts,
            crlf: first_line.is_some_and(|line| line.ends_with("\r\n")),
        })
    }

    pub(super) fn get(&self, field: &str) -> Option<Json> {
        let part = self.parts.iter().find(|part| part.has_name(field))?;
        part.field.as_ref().map(|(_, value)| value.clone())
    }

    pub(super) fn set(&mut self, field: &str, value: &Json, quoted: bool) {
        let old = self.parts.iter().position(|part| part.has_name(field));
        let is_quoted = quoted || old.is_some_and(|old| is_quoted(&self.parts[old].raw));
        let ending = if self.crlf { "\r\n" } else { "\n" };
        let part = Part {
            raw: format!("{field}: {}{ending}", to_scalar(value, is_quoted)),
            field: Some((field.to_owned(), value.clone())),
        };
        if let Some(old) = old {
            self.parts[old] = part;
            return;
        }
        if let Some(last) = self.parts.last_mut()
            && !last.raw.ends_with('\n')
        {
            last.raw.push_str(ending);
        }
        self.parts.push(part);
    }

    #[cfg(any(test, fuzzing))]
    pub(super) fn fields(&self) -> super::value::Fields {
        let fields = self.parts.iter().filter_map(|part| part.field.clone());
        fields.collect()
    }

    pub(super) fn to_text(&self) -> String {
        let mark = if self.has_mark { "\u{feff}" } else { "" };
        let raws = self.parts.iter().map(|part| part.raw.as_str());
        std::iter::once(mark).chain(raws).collect()
    }
}

/// Splits a text into entries, whose values are not read yet, and the lines between them.
fn split_parts(text: &str) -> Result<Vec<Part>, DocumentError> {
    let mut parts: Vec<Part> = Vec::new();
    let mut last_entry: Option<usize> = None;
    let mut names = HashSet::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let refuse = |why: &str| DocumentError::syntax(format!("line {}: {why}", at + 1));
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = content.strip_suffix('\r').unwrap_or(content);
        if content.contains(OTHER_LINE_ENDS) {
            return Err(refuse("unexpected line separator"));
        }
        let content = content.trim_end_matches([' ', '\t']);
        let is_comment = content.trim_start_matches([' ', '\t']).starts_with('#');
        let is_indented = !content.is_empty() && line.starts_with([' ', '\t']);

        // An indented line continues the entry, except for a comment that follows one in column 0.
        let continued = last_entry.filter(|entry| {
            let mut between = parts[entry + 1..].iter();
            is_indented && !(is_comment && between.any(|part| part.raw.starts_with('#')))
        });
        if let Some(entry) = continued {
            let between: String = parts.drain(entry + 1..).map(|part| part.raw).collect();
            parts[entry].raw += &between;
            parts[entry].raw += line;
            continue;
        }

        let mut field = None;
        if let Some(name) = find_key(content) {
            if !names.insert(name) {
                return Err(refuse(&format!("the key `{name}` stands twice")));
            }
            last_entry = Some(parts.len());
            field = Some((name.to_owned(), Json::Null));
        } else if !(content.is_empty() || is_comment || content == "---" && names.is_empty()) {
            return Err(refuse("expected `key: value`"));
        }
        let raw = line.to_owned();
        parts.push(Part { raw, field });
    }

    // Without an entry it was cut off.
    if names.is_empty() {
        return Err(DocumentError(
            "is not made of `key: value` lines".to_owned(),
        ));
    }
    Ok(parts)
}

/// Returns the key at the beginning of a line.
fn find_key(line: &str) -> Option<&str> {
    let (key, right) = line.split_once(':')?;
    let is_key = is_field_name(key) && (right.is_empty() || right.starts_with([' ', '\t']));
    is_key.then_some(key)
}

/// Returns the value in the text of an entry.
///
/// Each entry is read alone, so that no value can reach into the lines of another.
fn read_value(name: &str, raw: &str, lines_above: usize) -> Result<Json, DocumentError> {
    // The reader takes one quoted scalar in linear time, whatever it holds.
    if !(is_quoted(raw) && raw.lines().count() == 1) {
        check_yaml(raw)?;
    }
    let mut text = raw.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let map: Mapping = serde_yaml::from_str(&text).map_err(|error| {
        // The message has the line in the file.
        let padded = "\n".repeat(lines_above) + &text;
        let padded = serde_yaml::from_str::<Mapping>(&padded).err();
        DocumentError::syntax(padded.unwrap_or(error))
    })?;
    match map.get(name) {
        Some(value) if map.len() == 1 => Ok(from_yaml(value)),
        _ => {
            let line = lines_above + 1;
            Err(DocumentError::syntax(format!(
                "line {line}: expected one key"
            )))
        }
    }
}

fn is_quoted(raw: &str) -> bool {
    let right = raw.split_once(':').map_or("", |(_, right)| right);
    right
        .trim_start_matches([' ', '\t'])
        .starts_with(['"', '\''])
}
