//! A state document in memory: named fields in order, and everything else in the file.

use std::collections::HashSet;
use std::fmt::Display;
use std::io::{self, ErrorKind};

use serde_json::Value as Json;
use serde_yaml::{Mapping, Value as Yaml};

use super::field::FieldInfo;
use super::spec::{Form, StateSpec};
use super::value::{FieldValue as _, Fields, escape_hidden, parse_plain, to_scalar};

/// The largest document that is read, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;
/// The most that the YAML reader is given of one document, in bytes.
const MAX_YAML_BYTES: usize = 256 * 1024;
/// The most brackets that are open at once. The reader's time grows with their number for each byte; it accepts 128 of them.
const MAX_OPEN_BRACKETS: usize = 128;
/// The most uses of anchors. Each repeats the value of the anchor, which may itself use anchors.
const MAX_ALIASES: usize = 8;
/// The mark of byte order with which a text may begin.
const MARK: char = '\u{feff}';

/// A state document.
#[derive(Debug, Clone)]
pub struct Document {
    form: Form,
    fields: &'static [FieldInfo],
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    /// The form `lines`: one `key: value` on each line, valid YAML. Lines that are not set stay as they are.
    Lines(Vec<Line>),
    /// The forms `json` and `frontmatter`: a map of fields. A path names keys with dots between them.
    Map {
        /// The first fence of frontmatter, with its line ending. Empty in JSON.
        open: String,
        map: Mapping,
        /// The second fence, and the text below it.
        rest: String,
    },
}

#[derive(Debug, Clone)]
struct Line {
    /// The text, with its line ending.
    raw: String,
    /// The field, or nothing for a blank, a comment or `---`.
    name: String,
    value: Json,
}

impl Document {
    /// Reads a document. An empty one has no fields.
    pub(super) fn parse(
        form: Form,
        fields: &'static [FieldInfo],
        bytes: &[u8],
    ) -> io::Result<Self> {
        if bytes.len() > MAX_BYTES {
            return Err(invalid(format!("has more than {MAX_BYTES} bytes")));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            invalid(format!("is not UTF-8 from byte {} on", error.valid_up_to()))
        })?;
        let content = match form {
            Form::Lines => Content::Lines(parse_lines(text)?),
            Form::Json => Content::Map {
                open: String::new(),
                map: serde_json::from_str(text).map_err(|error| {
                    unreadable(error.to_string().replace("a YAML mapping", "an object"))
                })?,
                rest: String::new(),
            },
            Form::Frontmatter => parse_frontmatter(text)?,
        };
        Ok(Self {
            form,
            fields,
            content,
        })
    }

    /// Makes a document without content.
    pub(super) fn empty(spec: &StateSpec) -> Self {
        let form = spec.form;
        let fence = if form == Form::Json { "" } else { "---\n" };
        let content = match form {
            Form::Lines => Content::Lines(Vec::new()),
            _ => Content::Map {
                open: fence.to_owned(),
                map: Mapping::new(),
                rest: fence.to_owned(),
            },
        };
        Self {
            form,
            fields: spec.declared,
            content,
        }
    }

    /// Returns the value of a field, or `None` if the document does not have it.
    pub fn get(&self, field: &str) -> Option<Json> {
        let value = match &self.content {
            Content::Lines(lines) => lines.iter().find(|line| line.name == field)?.value.clone(),
            Content::Map { map, .. } => {
                let mut keys = self.path_of(field).split('.');
                let first = map.get(keys.next()?)?;
                let value = keys.try_fold(first, |value, key| value.get(key))?;
                // A value that JSON cannot hold, such as a map with lists as keys, becomes null.
                serde_json::to_value(value).unwrap_or_default()
            }
        };
        match value {
            Json::Null => Some(self.null_value(field).unwrap_or_default()),
            value => Some(value),
        }
    }

    /// Returns the text of a field, without quotes.
    pub fn text(&self, field: &str) -> Option<String> {
        Some(self.get(field)?.to_plain().into_owned())
    }

    pub(super) fn count(&self, field: &str) -> Option<u64> {
        self.get(field)?.as_count()
    }

    /// Sets the value of a field, in its place or at the end. Does nothing if `field` cannot name a field ([`is_field_name`]).
    pub fn set(&mut self, field: &str, value: &Json) {
        if !is_field_name(field) {
            return;
        }
        let is_null = self.null_value(field).is_some_and(|null| null == *value);
        let value = if is_null { &Json::Null } else { value };
        let path = self.path_of(field);
        let is_quoted = self.declared(field).is_some_and(|field| field.quoted);
        match &mut self.content {
            Content::Lines(lines) => {
                set_line(lines, field, value, is_quoted);
            }
            Content::Map { map, .. } => set_below(map, path, value),
        }
    }

    /// Returns the document with these fields, and with lines added to the text below them if its form has such text. In JSON
    /// the fields come first, in this order; in other forms the user orders them.
    pub(super) fn with(mut self, fields: &Fields, texts: &[String]) -> Self {
        for (field, value) in fields {
            if self.get(field).as_ref() != Some(value) {
                self.set(field, value);
            }
        }
        match &mut self.content {
            Content::Map { map, .. } if self.form == Form::Json => {
                let mut others = std::mem::take(map);
                let declared = fields.keys();
                map.extend(declared.filter_map(|name| others.shift_remove_entry(name.as_str())));
                map.extend(others);
            }
            Content::Map { open, rest, .. } => {
                let ending = line_ending(open);
                for text in texts {
                    if !rest.ends_with('\n') {
                        rest.push_str(ending);
                    }
                    rest.extend(text.lines().flat_map(|line| [line, ending]));
                }
            }
            Content::Lines(_) => {}
        }
        self
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A map that was read, with values from JSON, can always be written.
        let text = match &self.content {
            Content::Lines(lines) => lines.iter().map(|line| line.raw.as_str()).collect(),
            Content::Map { open, map, .. } if open.is_empty() => {
                escape_hidden(&serde_json::to_string_pretty(map).unwrap_or_default()) + "\n"
            }
            Content::Map { open, map, rest } if map.is_empty() => format!("{open}{rest}"),
            Content::Map { open, map, rest } => {
                let yaml = serde_yaml::to_string(map).unwrap_or_default();
                format!("{open}{}{rest}", yaml.replace('\n', line_ending(open)))
            }
        };
        text.into_bytes()
    }

    fn declared(&self, field: &str) -> Option<&'static FieldInfo> {
        self.fields.iter().find(|one| one.name == field)
    }

    /// Returns the value of which null is the written form for this field.
    fn null_value(&self, field: &str) -> Option<Json> {
        self.declared(field)?.null.map(parse_plain)
    }

    /// Returns the keys under which a field is, with dots between them.
    fn path_of<'f>(&self, field: &'f str) -> &'f str {
        let key = self.declared(field).and_then(|field| field.key);
        key.unwrap_or(field)
    }
}

/// Returns whether `name` can name a field: an ASCII letter or `_`, then letters, digits, `_` or `-`, at most 128, and no
/// word that YAML reads as something else than text.
pub fn is_field_name(name: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let words = ["null", "true", "false"];
    name.len() <= 128
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(is_safe)
        && !words.iter().any(|word| name.eq_ignore_ascii_case(word))
}

/// Makes an error of bytes that are no state document. `why` completes a sentence that begins with "the document".
fn invalid(why: impl Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the document {why}"))
}

fn unreadable(error: impl Display) -> io::Error {
    invalid(format!("cannot be read: {error}"))
}

fn parse_lines(text: &str) -> io::Result<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    let mut names = HashSet::new();
    for (at, raw) in text.split_inclusive('\n').enumerate() {
        let refuse = |why: String| unreadable(format!("line {}: {why}", at + 1));
        let line = raw.strip_prefix(MARK).filter(|_| at == 0).unwrap_or(raw);
        let content = line.trim_end_matches(['\n', '\r', ' ', '\t']);
        // A reader of YAML ends a line at some of these.
        let is_wrong =
            |c: char| c.is_control() && c != '\t' || matches!(c, '\u{2028}' | '\u{2029}');
        if content.contains(is_wrong) {
            return Err(refuse("control characters must be escaped".to_owned()));
        }
        let (name, value) = match find_key(content) {
            Some(name) if !names.insert(name) => {
                return Err(refuse(format!("the key `{name}` is there twice")));
            }
            Some(name) => {
                let value = read_value(&content[name.len() + 1..]);
                let expected = "expected `key: value` with JSON or plain text";
                (name, value.ok_or_else(|| refuse(expected.to_owned()))?)
            }
            None if content.is_empty() || content.trim_start().starts_with('#') => ("", Json::Null),
            None if content == "---" && names.is_empty() => ("", Json::Null),
            None => return Err(refuse("expected `key: value`".to_owned())),
        };
        lines.push(Line {
            raw: raw.to_owned(),
            name: name.to_owned(),
            value,
        });
    }
    // Without a field it was cut off.
    if names.is_empty() {
        return Err(invalid("is not made of `key: value` lines"));
    }
    Ok(lines)
}

fn find_key(line: &str) -> Option<&str> {
    let (key, right) = line.split_once(':')?;
    let is_key = is_field_name(key) && (right.is_empty() || right.starts_with([' ', '\t']));
    is_key.then_some(key)
}

/// Reads the value of a line: JSON, or plain text that YAML reads in the same way. A comment may follow.
fn read_value(right: &str) -> Option<Json> {
    let mut json = serde_json::Deserializer::from_str(right).into_iter::<Json>();
    if let Some(Ok(value)) = json.next() {
        let rest = &right[json.byte_offset()..];
        let comment = rest.trim_start();
        if comment.is_empty() || comment.len() < rest.len() && comment.starts_with('#') {
            return Some(value);
        }
    }
    let plain = right.split(" #").next().unwrap_or_default().trim();
    let is_mark = plain.starts_with(|c| "\"'[]{},|>&*!%@`".contains(c));
    let is_nested = plain.starts_with("- ") || plain.contains(": ") || plain.ends_with(':');
    (!is_mark && !is_nested).then(|| plain.into())
}

fn is_quoted(line: &str) -> bool {
    let right = line.split_once(':').map_or("", |(_, right)| right);
    right.trim_start().starts_with('"')
}

fn set_line(lines: &mut Vec<Line>, field: &str, value: &Json, quoted: bool) {
    let old = lines.iter().position(|line| line.name == field);
    let is_quoted = quoted || old.is_some_and(|old| is_quoted(&lines[old].raw));
    let ending = line_ending(lines.first().map_or("", |line| &line.raw));
    let line = Line {
        raw: format!("{field}: {}{ending}", to_scalar(value, is_quoted)),
        name: field.to_owned(),
        value: value.clone(),
    };
    if let Some(old) = old {
        lines[old] = line;
        return;
    }
    if let Some(last) = lines.last_mut()
        && !last.raw.ends_with('\n')
    {
        last.raw.push_str(ending);
    }
    lines.push(line);
}

fn set_below(map: &mut Mapping, path: &str, value: &Json) {
    let mut keys = path.split('.');
    let first = keys.next().unwrap_or_default();
    let mut place = map.entry(first.into()).or_insert(Yaml::Null);
    for key in keys {
        if !place.is_mapping() {
            *place = Yaml::Mapping(Mapping::new());
        }
        let Yaml::Mapping(below) = place else { return };
        place = below.entry(key.into()).or_insert(Yaml::Null);
    }
    *place = serde_yaml::to_value(value).unwrap_or_default();
}

fn parse_frontmatter(text: &str) -> io::Result<Content> {
    let (begin, end) = find_fences(text)
        .ok_or_else(|| invalid("does not begin with `---`, `key: value` lines and `---`"))?;
    check_yaml(&text[begin..end])?;
    // With the first fence, which begins a document of YAML, an error names the line in the file.
    let yaml = text[..end].trim_start_matches(MARK);
    let map: Option<Mapping> = serde_yaml::from_str(yaml).map_err(unreadable)?;
    Ok(Content::Map {
        open: text[..begin].to_owned(),
        map: map.unwrap_or_default(),
        rest: text[end..].to_owned(),
    })
}

/// Returns the ends of both the first fence's line and the YAML.
fn find_fences(text: &str) -> Option<(usize, usize)> {
    let is_fence = |line: &str| {
        let rest = line.strip_prefix("---");
        rest.is_some_and(|rest| rest.trim().is_empty())
    };
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

fn line_ending(line: &str) -> &'static str {
    if line.ends_with("\r\n") { "\r\n" } else { "\n" }
}

/// Checks that YAML is read in little time and memory. Text in quotes counts also, because only the reader recognizes it.
fn check_yaml(yaml: &str) -> io::Result<()> {
    if yaml.len() > MAX_YAML_BYTES {
        return Err(invalid(format!(
            "has more than {MAX_YAML_BYTES} bytes of YAML"
        )));
    }
    let mut open = 0_usize;
    for byte in yaml.bytes() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_OPEN_BRACKETS {
            let why = format!("more than {MAX_OPEN_BRACKETS} brackets are open at once");
            return Err(unreadable(why));
        }
    }
    let is_in_token = |c: char| c.is_ascii_alphanumeric() || "_-&*".contains(c);
    let marked = |mark: char| {
        let tokens = yaml.split(move |c: char| !is_in_token(c));
        tokens.filter_map(move |token| token.strip_prefix(mark))
    };
    let anchors: HashSet<&str> = marked('&').collect();
    if marked('*').filter(|name| anchors.contains(name)).count() > MAX_ALIASES {
        let why = format!("anchors are used more than {MAX_ALIASES} times");
        return Err(unreadable(why));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
