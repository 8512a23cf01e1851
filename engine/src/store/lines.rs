//! The form `lines`: one `key: value` on each line, valid YAML. Lines that are not set stay as they are.

use std::collections::HashSet;

use serde_json::Value as Json;
use serde_yaml::Mapping;

use super::document::{DocumentError, check_yaml, is_field_name};
use super::value::to_scalar;

#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    has_mark: bool,
    lines: Vec<Line>,
    /// Whether new lines end in CRLF.
    crlf: bool,
}

#[derive(Debug, Clone)]
struct Line {
    /// The text, with its line ending.
    raw: String,
    /// The field and its value, or `None` for a blank, a comment or `---`.
    field: Option<(String, Json)>,
}

impl Line {
    fn has_name(&self, name: &str) -> bool {
        self.field.as_ref().is_some_and(|(field, _)| field == name)
    }
}

impl Lines {
    pub(super) fn parse(text: &str) -> Result<Self, DocumentError> {
        let unmarked = text.strip_prefix('\u{feff}');
        let text = unmarked.unwrap_or(text);
        let mut lines: Vec<Line> = Vec::new();
        let mut names = HashSet::new();
        for (at, raw) in text.split_inclusive('\n').enumerate() {
            let refuse = |why: String| DocumentError::syntax(format!("line {}: {why}", at + 1));
            let content = raw.trim_end_matches(['\n', '\r', ' ', '\t']);
            let field = match find_key(content) {
                Some(name) if !names.insert(name) => {
                    return Err(refuse(format!("the key `{name}` stands twice")));
                }
                Some(name) => Some((name.to_owned(), read_value(name, content, at)?)),
                None if content.is_empty() || content.trim_start().starts_with('#') => None,
                None if content == "---" && names.is_empty() => None,
                None => return Err(refuse("expected `key: value`".to_owned())),
            };
            let raw = raw.to_owned();
            lines.push(Line { raw, field });
        }
        // Without a field it was cut off.
        if names.is_empty() {
            let why = "is not made of `key: value` lines".to_owned();
            return Err(DocumentError(why));
        }
        Ok(Self {
            has_mark: unmarked.is_some(),
            crlf: lines[0].raw.ends_with("\r\n"),
            lines,
        })
    }

    pub(super) fn get(&self, field: &str) -> Option<Json> {
        let line = self.lines.iter().find(|line| line.has_name(field))?;
        line.field.as_ref().map(|(_, value)| value.clone())
    }

    pub(super) fn set(&mut self, field: &str, value: &Json, quoted: bool) {
        let old = self.lines.iter().position(|line| line.has_name(field));
        let is_quoted = quoted || old.is_some_and(|old| is_quoted(&self.lines[old].raw));
        let ending = if self.crlf { "\r\n" } else { "\n" };
        let line = Line {
            raw: format!("{field}: {}{ending}", to_scalar(value, is_quoted)),
            field: Some((field.to_owned(), value.clone())),
        };
        if let Some(old) = old {
            self.lines[old] = line;
            return;
        }
        if let Some(last) = self.lines.last_mut()
            && !last.raw.ends_with('\n')
        {
            last.raw.push_str(ending);
        }
        self.lines.push(line);
    }

    #[cfg(test)]
    pub(super) fn fields(&self) -> super::value::Fields {
        let fields = self.lines.iter().filter_map(|line| line.field.clone());
        fields.collect()
    }

    pub(super) fn to_text(&self) -> String {
        let mark = if self.has_mark { "\u{feff}" } else { "" };
        let raws = self.lines.iter().map(|line| line.raw.as_str());
        std::iter::once(mark).chain(raws).collect()
    }
}

fn find_key(line: &str) -> Option<&str> {
    let (key, right) = line.split_once(':')?;
    let is_key = is_field_name(key) && (right.is_empty() || right.starts_with([' ', '\t']));
    is_key.then_some(key)
}

/// Reads the value of a line, which is read alone, so that no value can reach into another line.
fn read_value(name: &str, line: &str, lines_above: usize) -> Result<Json, DocumentError> {
    // The reader takes one quoted scalar in linear time, regardless of its content.
    if !is_quoted(line) {
        check_yaml(line)?;
    }
    let read = serde_yaml::from_str::<Mapping>(&format!("{line}\n"));
    let read = read.map_err(|error| {
        // The message has the line in the file.
        let padded = format!("{}{line}\n", "\n".repeat(lines_above));
        let padded = serde_yaml::from_str::<Mapping>(&padded).err();
        DocumentError::syntax(padded.unwrap_or(error))
    })?;
    match read.get(name) {
        Some(value) if read.len() == 1 => Ok(serde_json::to_value(value).unwrap_or_default()),
        _ => {
            let why = format!("line {}: expected one key", lines_above + 1);
            Err(DocumentError::syntax(why))
        }
    }
}

fn is_quoted(line: &str) -> bool {
    let right = line.split_once(':').map_or("", |(_, right)| right);
    right.trim_start().starts_with(['"', '\''])
}
