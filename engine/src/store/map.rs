//! The forms `json` and `frontmatter`: a map of fields, read and written with serde.

use serde_json::Value as Json;
use serde_yaml::{Mapping, Value as Yaml};

use super::document::DocumentError;
use super::value::{Fields, escape_hidden};
use super::yaml::{check_yaml, from_yaml};

/// A byte-order mark.
const MARK: char = '\u{feff}';

/// Fields that stand below other keys, each with its path: `("phase", "loop.phase")`.
pub(super) type Keys = &'static [(&'static str, &'static str)];

/// A document that is a map.
#[derive(Debug, Clone, Default)]
pub(super) struct MapDocument {
    map: Mapping,
    keys: Keys,
    layout: Layout,
}

/// The text around the map.
#[derive(Debug, Clone, Default)]
enum Layout {
    #[default]
    Json,
    Frontmatter {
        /// The first fence, with its line ending.
        open: String,
        /// The second fence, and the text below it.
        rest: String,
    },
}

impl MapDocument {
    pub(super) fn parse_json(text: &str) -> Result<Self, DocumentError> {
        Ok(Self {
            map: serde_json::from_str(text).map_err(unexpected)?,
            ..Self::default()
        })
    }

    pub(super) fn parse_frontmatter(keys: Keys, text: &str) -> Result<Self, DocumentError> {
        let (begin, end) = find_fences(text).ok_or_else(|| {
            DocumentError("does not begin with `---`, `key: value` lines and `---`".to_owned())
        })?;
        check_yaml(&text[begin..end])?;

        // With the first fence, which begins a document of YAML, an error names the line in the file.
        let yaml = text[..end].trim_start_matches(MARK);
        let map: Option<Mapping> = serde_yaml::from_str(yaml).map_err(DocumentError::syntax)?;
        Ok(Self {
            map: map.unwrap_or_default(),
            keys,
            layout: Layout::Frontmatter {
                open: text[..begin].to_owned(),
                rest: text[end..].to_owned(),
            },
        })
    }

    pub(super) fn empty_frontmatter(keys: Keys) -> Self {
        let fence = "---\n".to_owned();
        Self {
            keys,
            layout: Layout::Frontmatter {
                open: fence.clone(),
                rest: fence,
            },
            ..Self::default()
        }
    }

    pub(super) fn get(&self, field: &str) -> Option<Json> {
        let path = self.path_of(field);
        let (first, below) = path.split_first()?;
        let first = self.map.get(*first)?;
        let value = below.iter().try_fold(first, |value, key| value.get(*key))?;
        Some(from_yaml(value))
    }

    pub(super) fn set(&mut self, field: &str, value: &Json) {
        let path = self.path_of(field);
        let Some((key, above)) = path.split_last() else {
            return;
        };
        let mut map = &mut self.map;
        for key in above {
            let value = map.entry((*key).into()).or_insert(Yaml::Null);
            if !value.is_mapping() {
                *value = Yaml::Mapping(Mapping::new());
            }
            let Yaml::Mapping(below) = value else { return };
            map = below;
        }
        let yaml = serde_yaml::to_value(value).unwrap_or_default();
        map.insert((*key).into(), yaml);
    }

    /// Adds lines to the text below the fields.
    pub(super) fn append(&mut self, text: &str) {
        let Layout::Frontmatter { open, rest } = &mut self.layout else {
            return;
        };
        let ending = line_ending(open);
        if !rest.ends_with('\n') {
            rest.push_str(ending);
        }
        for line in text.lines() {
            rest.push_str(line);
            rest.push_str(ending);
        }
    }

    /// Puts these fields first in JSON. In frontmatter the user orders the fields.
    pub(super) fn put_first(&mut self, fields: &Fields) {
        if !matches!(self.layout, Layout::Json) {
            return;
        }
        let mut others = std::mem::take(&mut self.map);
        for name in fields.keys() {
            self.map.extend(others.shift_remove_entry(name.as_str()));
        }
        self.map.extend(others);
    }

    #[cfg(any(test, fuzzing))]
    pub(super) fn fields(&self) -> Fields {
        let map = from_yaml(&Yaml::Mapping(self.map.clone()));
        map.as_object().cloned().unwrap_or_default()
    }

    /// Returns the text of the file. A map that was read, with values from JSON, can always be written.
    pub(super) fn to_text(&self) -> String {
        match &self.layout {
            Layout::Json => {
                let json = serde_json::to_string_pretty(&self.map).unwrap_or_default();
                escape_hidden(&json) + "\n"
            }
            Layout::Frontmatter { open, rest } if self.map.is_empty() => format!("{open}{rest}"),
            Layout::Frontmatter { open, rest } => {
                let yaml = serde_yaml::to_string(&self.map).unwrap_or_default();
                let yaml = yaml.replace('\n', line_ending(open));
                format!("{open}{yaml}{rest}")
            }
        }
    }

    fn path_of<'a>(&self, field: &'a str) -> Vec<&'a str> {
        match self.keys.iter().find(|(name, _)| *name == field) {
            Some((_, path)) => path.split('.').collect(),
            None => vec![field],
        }
    }
}

/// Makes an error of JSON that is not a map of fields.
fn unexpected(error: serde_json::Error) -> DocumentError {
    DocumentError::syntax(error.to_string().replace("a YAML mapping", "an object"))
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
