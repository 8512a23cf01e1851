//! The form `frontmatter`: a line `---`, fields as YAML, a line `---`, and text that is the user's.

use serde_yaml::{Mapping, Value as Yaml};

use super::document::DocumentError;
use super::value::Value;
use super::yaml::{MAX_YAML_BYTES, check_yaml, from_yaml};

/// A byte-order mark.
const MARK: char = '\u{feff}';

/// Fields that stand below other keys, each with its path: `("phase", "loop.phase")`.
pub(super) type Keys = &'static [(&'static str, &'static str)];

/// A document of frontmatter.
#[derive(Debug, Clone)]
pub(super) struct Frontmatter {
    keys: Keys,
    /// The first fence, with its line ending.
    open: String,
    map: Mapping,
    /// The second fence, and the text below it.
    rest: String,
}

impl Frontmatter {
    pub(super) fn parse(keys: Keys, text: &str) -> Result<Self, DocumentError> {
        let (begin, end) = find_fences(text).ok_or(DocumentError::NotFrontmatter)?;
        if end - begin > MAX_YAML_BYTES {
            return Err(DocumentError::YamlTooLarge);
        }
        check_yaml(&text[begin..end])?;

        // With the first fence, which begins a document of YAML, an error names the line in the file.
        let map: Option<Mapping> = serde_yaml::from_str(text[..end].trim_start_matches(MARK))
            .map_err(DocumentError::syntax)?;
        Ok(Self {
            keys,
            open: text[..begin].to_owned(),
            map: map.unwrap_or_default(),
            rest: text[end..].to_owned(),
        })
    }

    pub(super) fn empty(keys: Keys) -> Self {
        Self {
            keys,
            open: "---\n".to_owned(),
            map: Mapping::new(),
            rest: "---\n".to_owned(),
        }
    }

    pub(super) fn get(&self, field: &str) -> Option<Value> {
        let mut path = self.path_of(field).split('.');
        let first = self.map.get(path.next()?)?;
        path.try_fold(first, |value, key| value.get(key))
            .map(from_yaml)
    }

    pub(super) fn set(&mut self, field: &str, value: &Value) {
        let (above, key) = split_path(self.path_of(field));
        let mut map = &mut self.map;
        for key in above {
            let value = map.entry(key.into()).or_insert(Yaml::Null);
            if !value.is_mapping() {
                *value = Yaml::Mapping(Mapping::new());
            }
            let Yaml::Mapping(below) = value else { return };
            map = below;
        }
        map.insert(key.into(), to_yaml(value));
    }

    pub(super) fn remove(&mut self, field: &str) {
        let (above, key) = split_path(self.path_of(field));
        remove_below(&mut self.map, &above, key);
    }

    pub(super) fn append(&mut self, text: &str) {
        let ending = self.line_ending();
        if !self.rest.ends_with('\n') {
            self.rest.push_str(ending);
        }
        for line in text.lines() {
            self.rest.push_str(line);
            self.rest.push_str(ending);
        }
    }

    /// Returns the top-level keys and the fields of [`Keys`]. The keys above those are no fields.
    pub(super) fn fields(&self) -> Vec<(String, Value)> {
        let is_above = |key: &str| {
            let mut paths = self.keys.iter().map(|(_, path)| split_path(path).0);
            paths.any(|above| above.first() == Some(&key))
        };
        let keys = self.map.keys().filter_map(Yaml::as_str);
        let top = keys.filter_map(
            |key| match self.keys.iter().find(|(_, path)| *path == key) {
                Some((field, _)) => Some(*field),
                None => (self.path_of(key) == key && !is_above(key)).then_some(key),
            },
        );
        let below = self.keys.iter().filter(|(_, path)| path.contains('.'));
        top.chain(below.map(|(field, _)| *field))
            .filter_map(|field| Some((field.to_owned(), self.get(field)?)))
            .collect()
    }

    pub(super) fn to_text(&self) -> String {
        let yaml = match self.map.is_empty() {
            true => String::new(),
            // A map that was read, with values from JSON, can always be written.
            false => serde_yaml::to_string(&self.map).unwrap_or_default(),
        };
        let yaml = yaml.replace('\n', self.line_ending());
        format!("{}{yaml}{}", self.open, self.rest)
    }

    fn line_ending(&self) -> &'static str {
        if self.open.ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    fn path_of<'a>(&self, field: &'a str) -> &'a str {
        let placed = self.keys.iter().find(|(name, _)| *name == field);
        placed.map_or(field, |(_, path)| path)
    }
}

/// Removes a key, and each key above it that then has nothing below it.
fn remove_below(map: &mut Mapping, above: &[&str], key: &str) {
    let Some((first, others)) = above.split_first() else {
        map.shift_remove(key);
        return;
    };
    if let Some(Yaml::Mapping(below)) = map.get_mut(*first) {
        remove_below(below, others, key);
        if below.is_empty() {
            map.shift_remove(*first);
        }
    }
}

/// Splits a path into the keys above, and the key itself.
fn split_path(path: &str) -> (Vec<&str>, &str) {
    let mut above: Vec<&str> = path.split('.').collect();
    let key = above.pop().unwrap_or_default();
    (above, key)
}

fn to_yaml(value: &Value) -> Yaml {
    serde_yaml::to_value(value.to_json()).unwrap_or_default()
}

/// Returns where the line behind the first fence begins, and the second fence.
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
