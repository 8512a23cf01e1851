//! The forms `json` and `frontmatter`: a map of fields, read and written with serde.

use serde_json::Value as Json;
use serde_yaml::{Mapping, Value as Yaml};

use super::document::{DocumentError, check_yaml};
use super::value::{Fields, escape_hidden};

const MARK: char = '\u{feff}';

/// A document that is a map. A path names keys with dots between them.
#[derive(Debug, Clone, Default)]
pub(super) struct MapDocument {
    map: Mapping,
    /// The first fence of frontmatter, with its line ending. Empty in JSON.
    open: String,
    /// The second fence, and the text below it.
    rest: String,
}

impl MapDocument {
    pub(super) fn parse_json(text: &str) -> Result<Self, DocumentError> {
        let map = serde_json::from_str(text).map_err(|error| {
            DocumentError::syntax(error.to_string().replace("a YAML mapping", "an object"))
        })?;
        Ok(Self {
            map,
            ..Self::default()
        })
    }

    pub(super) fn parse_frontmatter(text: &str) -> Result<Self, DocumentError> {
        let (begin, end) = find_fences(text).ok_or_else(|| {
            DocumentError("does not begin with `---`, `key: value` lines and `---`".to_owned())
        })?;
        check_yaml(&text[begin..end])?;

        // With the first fence, which begins a document of YAML, an error names the line in the file.
        let yaml = text[..end].trim_start_matches(MARK);
        let map: Option<Mapping> = serde_yaml::from_str(yaml).map_err(DocumentError::syntax)?;
        Ok(Self {
            map: map.unwrap_or_default(),
            open: text[..begin].to_owned(),
            rest: text[end..].to_owned(),
        })
    }

    pub(super) fn empty_frontmatter() -> Self {
        Self {
            map: Mapping::new(),
            open: "---\n".to_owned(),
            rest: "---\n".to_owned(),
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<Json> {
        let mut keys = path.split('.');
        let first = self.map.get(keys.next()?)?;
        let value = keys.try_fold(first, |value, key| value.get(key))?;
        // A value that JSON cannot hold, such as a map with lists as keys, becomes null.
        Some(serde_json::to_value(value).unwrap_or_default())
    }

    pub(super) fn set(&mut self, path: &str, value: &Json) {
        let mut keys = path.split('.');
        let first = keys.next().unwrap_or_default();
        let mut place = self.map.entry(first.into()).or_insert(Yaml::Null);
        for key in keys {
            if !place.is_mapping() {
                *place = Yaml::Mapping(Mapping::new());
            }
            let Yaml::Mapping(below) = place else { return };
            place = below.entry(key.into()).or_insert(Yaml::Null);
        }
        *place = serde_yaml::to_value(value).unwrap_or_default();
    }

    /// Adds lines to the text below the fields.
    pub(super) fn append(&mut self, text: &str) {
        let ending = line_ending(&self.open);
        if !self.rest.ends_with('\n') {
            self.rest.push_str(ending);
        }
        for line in text.lines() {
            self.rest.push_str(line);
            self.rest.push_str(ending);
        }
    }

    pub(super) fn put_first(&mut self, fields: &Fields) {
        let mut others = std::mem::take(&mut self.map);
        for name in fields.keys() {
            self.map.extend(others.shift_remove_entry(name.as_str()));
        }
        self.map.extend(others);
    }

    #[cfg(test)]
    pub(super) fn fields(&self) -> Fields {
        let map = serde_json::to_value(&self.map).unwrap_or_default();
        map.as_object().cloned().unwrap_or_default()
    }

    /// Returns the text of the file. A map that was read, with values from JSON, can always be written.
    pub(super) fn to_text(&self) -> String {
        if self.open.is_empty() {
            let json = serde_json::to_string_pretty(&self.map).unwrap_or_default();
            return escape_hidden(&json) + "\n";
        }
        let yaml = if self.map.is_empty() {
            String::new()
        } else {
            serde_yaml::to_string(&self.map).unwrap_or_default()
        };
        let yaml = yaml.replace('\n', line_ending(&self.open));
        format!("{}{yaml}{}", self.open, self.rest)
    }
}

/// Returns the ends of both the first fence's line and the YAML.
fn find_fences(text: &str) -> Option<(usize, usize)> {
    let begin = text.find('\n')? + 1;
    if !is_fence(text[..begin].trim_start_matches(MARK)) {
        return None;
    }
    let mut end = begin;
    for line in text[begin..].split_inclusive('\n') {
        if is_fence(line) {
            return Some((begin, end));
        }
        end += line.len();
    }
    None
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.trim().is_empty())
}

fn line_ending(line: &str) -> &'static str {
    if line.ends_with("\r\n") { "\r\n" } else { "\n" }
}
