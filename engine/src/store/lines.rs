//! The form of our own documents: an ordered list of `key: value` lines.
//!
//! Values are read by a YAML reader and never written by one: a change replaces one line, and every other line
//! stays byte for byte, be it a comment, a blank, a field that nobody knows, or one that ends in CRLF. A comment
//! behind a value goes with the value when that changes.

mod data;
mod reading;
#[cfg(test)]
mod tests;

use reading::{Cost, bare, indent_of, is_filler, outside, right_of_colon};

use super::document::{Document, DocumentError, MAX_BYTES, is_field_name};
use super::scalar;
use super::value::Value;

/// A document of lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    entries: Vec<Entry>,
    pub(super) style: Style,
    /// Whether new lines end in CRLF.
    pub(super) crlf: bool,
}

/// Says whose lines they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Style {
    /// Ours: every key names a field.
    #[default]
    Ours,
    /// People's. A key below another is the field `outer.inner`. A key that can name no field, and a value that no field can
    /// hold, are no fields, and stay as they are. A comment behind a value stays when that changes.
    Theirs,
}

/// A line, with those that continue it (a block scalar, a nested value, what stands indented below).
#[derive(Debug, Clone)]
struct Entry {
    /// The bytes, line ending included.
    raw: String,
    /// The field that the line names, if it names one, and its value, if it is one.
    field: Option<(String, Option<Value>)>,
}

impl Entry {
    fn name(&self) -> Option<&str> {
        self.field.as_ref().map(|(name, _)| name.as_str())
    }

    fn value(&self) -> Option<(&String, &Value)> {
        let (name, value) = self.field.as_ref()?;
        Some((name, value.as_ref()?))
    }

    fn is_below(&self, outer: &str) -> bool {
        let rest = self.name().and_then(|name| name.strip_prefix(outer));
        rest.is_some_and(|rest| rest.starts_with('.'))
    }

    fn indent(&self) -> usize {
        indent_of(&self.raw)
    }

    fn ending(&self) -> &'static str {
        match self.raw.as_bytes() {
            [.., b'\r', b'\n'] => "\r\n",
            [.., b'\n'] => "\n",
            _ => "",
        }
    }
}

impl Lines {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        Self::read(text_of(bytes)?, Style::Ours, false)
    }

    /// Reads lines; if `leniently`, all but those that cannot be read.
    pub(super) fn read(text: &str, style: Style, leniently: bool) -> Result<Self, DocumentError> {
        let entries = reading::entries(text, style, leniently)?;
        let crlf = text
            .find('\n')
            .is_some_and(|end| text[..end].ends_with('\r'));
        Ok(Self {
            entries,
            style,
            crlf,
        })
    }

    fn find(&self, field: &str) -> Option<usize> {
        self.entries
            .iter()
            .position(|entry| entry.name() == Some(field))
    }

    /// Adds a field that is not there, below the key that it belongs to, with what stands right of its colon.
    fn add(&mut self, field: &str, right: &str, value: Option<Value>) {
        let (mut at, indent, name) = match field.rsplit_once('.') {
            None => (self.entries.len(), 0, field),
            Some((outer, name)) => {
                let at = match self.find(outer) {
                    Some(at) => at,
                    None => {
                        self.add(outer, "", None);
                        self.find(outer).unwrap_or_default()
                    }
                };
                let below = |entry: &Entry| entry.is_below(outer);
                let indent = self.entries[at].indent();
                if let (Some(first), Some(last)) = (
                    self.entries.iter().position(below),
                    self.entries.iter().rposition(below),
                ) {
                    (last + 1, self.entries[first].indent(), name)
                } else {
                    // It held no keys, so what it held gives way.
                    let (_, key) = outer.rsplit_once('.').unwrap_or(("", outer));
                    let ending = self.entries[at].ending();
                    self.entries[at].raw = format!("{:indent$}{key}:{ending}", "");
                    self.entries[at].field = Some((outer.to_owned(), None));
                    (at + 1, indent + 2, name)
                }
            }
        };
        let ending = if self.crlf { "\r\n" } else { "\n" };
        let mut mark = String::new();
        if let Some(before) = at.checked_sub(1)
            && !self.entries[before].raw.ends_with('\n')
        {
            let is_last = |entry: &Entry| entry.field.is_some();
            match self.entries[..at].iter().rposition(is_last) {
                // The end of a line would belong to a value of several lines: the new field stands before it.
                Some(last) if before > last || self.entries[last].raw.contains('\n') => {
                    at = last;
                    if self.entries[at].raw.starts_with('\u{feff}') {
                        mark.push(self.entries[at].raw.remove(0));
                    }
                }
                _ => self.entries[before].raw.push_str(ending),
            }
        }
        let colon = colon(right);
        let raw = format!("{mark}{:indent$}{name}{colon}{right}{ending}", "");
        let field = Some((field.to_owned(), value));
        self.entries.insert(at, Entry { raw, field });
    }
}

impl Lines {
    /// Gives the field of an entry another value, with what stands right of its colon then.
    fn put(&mut self, at: usize, field: &str, right: &str, value: Option<Value>) {
        let entry = &mut self.entries[at];
        let mark = if entry.raw.starts_with('\u{feff}') {
            "\u{feff}"
        } else {
            ""
        };
        let (indent, ending) = (entry.indent(), entry.ending());
        let comment = match self.style {
            Style::Ours => "",
            Style::Theirs => comment(entry),
        };
        let name = field.rsplit_once('.').map_or(field, |(_, name)| name);
        let colon = colon(right);
        entry.raw = format!("{mark}{:indent$}{name}{colon}{right}{comment}{ending}", "");
        entry.field = Some((field.to_owned(), value));
    }

    /// Keeps the comments at `at`, behind a key that was taken away, from becoming text of the key above.
    fn close_above(&mut self, at: usize) {
        let (above, below) = self.entries.split_at_mut(at);
        let last = above.iter().rfind(|entry| !bare(&entry.raw).is_empty());
        let is_open = |raw: &str| {
            let (first, others) = raw.split_once('\n').unwrap_or((raw, ""));
            !bare(others).is_empty() || right_of_colon(first).starts_with(['|', '>'])
        };
        if last.is_some_and(|last| last.field.is_some() && is_open(&last.raw)) {
            for entry in below.iter_mut().take_while(|entry| entry.field.is_none()) {
                entry.raw = entry
                    .raw
                    .trim_start_matches([' ', '\t', '\r', '\n'])
                    .to_owned();
            }
        }
    }
}

impl Document for Lines {
    fn get(&self, field: &str) -> Option<Value> {
        self.entries[self.find(field)?]
            .value()
            .map(|(_, value)| value.clone())
    }

    fn set(&mut self, field: &str, value: &Value) {
        let is_name = match self.style {
            Style::Ours => is_field_name(field),
            Style::Theirs => field.split('.').all(is_field_name),
        };
        if !is_name {
            return;
        }
        let Some(at) = self.find(field) else {
            self.add(field, &scalar::write(value, false), Some(value.clone()));
            return;
        };
        self.entries.retain(|entry| !entry.is_below(field));
        let entry = &self.entries[at];
        let quoted = right_of_colon(&entry.raw).starts_with(['"', '\'']);
        // What reads back is text once it stands in quotes, so this is what is held too.
        let held = match (entry.value(), value) {
            // What stands as a list stays one where it is given as the text of one.
            (Some((_, Value::List(_))), Value::Word(text) | Value::Text(text)) => {
                serde_json::from_str(text).map_or_else(|_| value.clone(), Value::List)
            }
            (_, Value::Null | Value::List(_)) => value.clone(),
            _ if quoted => Value::Text(value.to_plain().into_owned()),
            _ => value.clone(),
        };
        let written = scalar::write(&held, quoted);
        self.put(at, field, &written, Some(held));
    }

    fn remove(&mut self, field: &str) {
        let Some(at) = self.find(field) else { return };
        self.entries.remove(at);
        self.entries.retain(|entry| !entry.is_below(field));
        self.close_above(at);
        // A key below which nothing is left would be null.
        if let Some((outer, _)) = field.rsplit_once('.')
            && !self.entries.iter().any(|entry| entry.is_below(outer))
        {
            self.remove(outer);
        }
    }

    fn fields(&self) -> Vec<(String, Value)> {
        let values = self.entries.iter().filter_map(Entry::value);
        values
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.entries
            .iter()
            .map(|entry| entry.raw.as_str())
            .collect::<String>()
            .into_bytes()
    }

    fn check(&self) -> Result<(), DocumentError> {
        if self
            .entries
            .iter()
            .map(|entry| entry.raw.len())
            .sum::<usize>()
            > MAX_BYTES
        {
            return Err(DocumentError::TooLarge);
        }
        let mut cost = Cost::default();
        self.entries.iter().try_for_each(|entry| {
            if !is_filler(&entry.raw) {
                cost.key()?;
            }
            cost.lines(&entry.raw)
        })
    }

    fn boxed_clone(&self) -> Box<dyn Document> {
        Box::new(self.clone())
    }
}

/// Returns the text of a file.
pub(super) fn text_of(bytes: &[u8]) -> Result<&str, DocumentError> {
    std::str::from_utf8(bytes).map_err(|error| DocumentError::NotUtf8 {
        at: error.valid_up_to(),
    })
}

/// Returns what stands between a key and what is right of its colon, which may be nothing, or begin in the next line.
fn colon(right: &str) -> &'static str {
    if right.is_empty() || right.starts_with(['\r', '\n']) {
        ":"
    } else {
        ": "
    }
}

/// Returns the comment behind a value, with the blanks before it; empty where nobody can be sure of one.
fn comment(entry: &Entry) -> &str {
    let raw = entry.raw.trim_end_matches(['\r', '\n']);
    let right = outside(raw);
    let is_plain = !right_of_colon(raw).starts_with(['"', '\'', '[', '{', '|', '>']);
    let begin = raw.len() - right.len();
    let mut marks = right.match_indices('#').map(|(at, _)| begin + at);
    let Some(at) = marks.find(|at| raw[..*at].ends_with([' ', '\t'])) else {
        return "";
    };
    // A no-break space is text to YAML.
    let before = raw[..at].trim_end_matches([' ', '\t']);
    let is_one = entry.value().is_some() && !raw.contains('\n');
    let hides_no_quote =
        is_plain || before.len() <= begin || !raw[begin..before.len()].contains(['"', '\'']);
    if is_one && hides_no_quote {
        &raw[before.len()..]
    } else {
        ""
    }
}
