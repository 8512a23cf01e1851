//! A state document in memory: named fields in order, and everything else in the file.

use std::collections::HashSet;
use std::fmt::Display;
use std::io::{self, ErrorKind};

use serde_json::Value as Json;
use serde_yaml::{Mapping, Value as Yaml};

use super::field::FieldInfo;
use super::spec::Form;
use super::value::{Fields, escape_json, parse_plain, to_count, to_plain, to_scalar};

/// The largest document that is read, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;
const MAX_YAML_BYTES: usize = 256 * 1024;
/// The most open brackets, as many as the YAML reader accepts. Each one slows every byte.
const MAX_OPEN_BRACKETS: usize = 128;
/// The most uses of anchors. Each repeats the value of the anchor, which may itself use anchors.
const MAX_ALIASES: usize = 8;
/// The mark of byte order with which a text may begin.
const BOM: char = '\u{feff}';

/// A state document.
#[derive(Debug, Clone)]
pub struct Document {
    form: Form,
    fields: &'static [FieldInfo],
    /// The values by their keys.
    map: Mapping,
    /// The lines of the form `lines`, with their endings. Lines that are not set stay unchanged.
    lines: Vec<String>,
    /// The first fence of frontmatter, with its ending.
    open: String,
    /// The second fence, and the text below it.
    rest: String,
}

impl Document {
    /// Reads a document of a machine with these fields.
    pub fn parse(form: Form, fields: &'static [FieldInfo], bytes: &[u8]) -> io::Result<Self> {
        if bytes.len() > MAX_DOCUMENT_BYTES {
            return Err(invalid(format!("has more than {MAX_DOCUMENT_BYTES} bytes")));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            invalid(format!("is not UTF-8 from byte {} on", error.valid_up_to()))
        })?;
        let mut document = Self::empty(form, fields);
        match form {
            Form::Lines => {
                document.lines = text.split_inclusive('\n').map(str::to_owned).collect();
                document.map = parse_lines(&document.lines)?;
            }
            Form::Json => {
                document.map = serde_json::from_str(text).map_err(|error| {
                    unreadable(error.to_string().replace("a YAML mapping", "an object"))
                })?;
            }
            Form::Frontmatter => {
                let (begin, end) = find_fences(text).ok_or_else(|| {
                    invalid("does not begin with `---`, `key: value` lines and `---`")
                })?;
                check_yaml(&text[begin..end])?;
                // The first fence is also YAML, so that errors name the line in the file.
                let yaml = text[..end].trim_start_matches(BOM);
                let map: Option<Mapping> = serde_yaml::from_str(yaml).map_err(unreadable)?;
                document.map = map.unwrap_or_default();
                document.open = text[..begin].to_owned();
                document.rest = text[end..].to_owned();
            }
        }
        Ok(document)
    }

    /// Makes a document without content.
    pub fn empty(form: Form, fields: &'static [FieldInfo]) -> Self {
        Self {
            form,
            fields,
            map: Mapping::new(),
            lines: Vec::new(),
            open: "---\n".to_owned(),
            rest: "---\n".to_owned(),
        }
    }

    /// Returns the value of a field, or `None` if the document does not have it.
    pub fn get(&self, field: &str) -> Option<Json> {
        let mut keys = self.path_of(field).split('.');
        let first = self.map.get(keys.next()?)?;
        let value = keys.try_fold(first, |value, key| value.get(key))?;
        // A value that JSON cannot hold, such as a map with lists as keys, becomes null.
        match serde_json::to_value(value).unwrap_or_default() {
            Json::Null => Some(self.null_value(field).unwrap_or_default()),
            value => Some(value),
        }
    }

    /// Returns the text of a field, without quotes.
    pub fn text(&self, field: &str) -> Option<String> {
        Some(to_plain(&self.get(field)?))
    }

    pub(super) fn count(&self, field: &str) -> Option<u64> {
        to_count(&self.get(field)?)
    }

    /// Sets a field, in its place or at the end. Does nothing if [`is_field_name`] is false.
    pub fn set(&mut self, field: &str, value: &Json) {
        if !is_field_name(field) {
            return;
        }
        let is_null = self.null_value(field).is_some_and(|null| null == *value);
        let value = if is_null { &Json::Null } else { value };
        if self.form == Form::Lines {
            let is_quoted = self.declared(field).is_some_and(|field| field.quoted);
            set_line(&mut self.lines, field, value, is_quoted);
        }
        let path = self.path_of(field).to_owned();
        set_below(&mut self.map, &path, value);
    }

    /// Returns the document with these fields (in JSON before others) and lines added to its text.
    pub(super) fn with(mut self, fields: &Fields, text: &str) -> Self {
        for (field, value) in fields {
            if self.get(field).as_ref() != Some(value) {
                self.set(field, value);
            }
        }
        match self.form {
            Form::Lines => {}
            Form::Json => {
                let mut others = std::mem::take(&mut self.map);
                let names = fields.keys();
                let declared = names.filter_map(|name| others.shift_remove_entry(name.as_str()));
                self.map.extend(declared);
                self.map.extend(others);
            }
            Form::Frontmatter => {
                let ending = line_ending(&self.open);
                for line in text.lines() {
                    if !self.rest.ends_with('\n') {
                        self.rest.push_str(ending);
                    }
                    self.rest.extend([line, ending]);
                }
            }
        }
        self
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A map that was read, with values from JSON, can always be written.
        let text = match self.form {
            Form::Lines => self.lines.concat(),
            Form::Json => {
                escape_json(&serde_json::to_string_pretty(&self.map).unwrap_or_default()) + "\n"
            }
            Form::Frontmatter if self.map.is_empty() => [&*self.open, &self.rest].concat(),
            Form::Frontmatter => {
                let yaml = serde_yaml::to_string(&self.map)
                    .unwrap_or_default()
                    .replace('\n', line_ending(&self.open));
                [&*self.open, &yaml, &self.rest].concat()
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

/// Returns whether `name` can name a field: at most 128 of `A-Za-z0-9_-`, and no word of YAML.
pub fn is_field_name(name: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let words = ["null", "true", "false"];
    name.len() <= 128
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(is_safe)
        && !words.iter().any(|word| name.eq_ignore_ascii_case(word))
}

/// Makes an error for bytes that are no state document. `why` completes "the document …".
fn invalid(why: impl Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the document {why}"))
}

fn unreadable(error: impl Display) -> io::Error {
    invalid(format!("cannot be read: {error}"))
}

fn parse_lines(lines: &[String]) -> io::Result<Mapping> {
    let mut map = Mapping::new();
    for (at, raw) in lines.iter().enumerate() {
        let refuse = |why: &str| unreadable(format!("line {}: {why}", at + 1));
        let line = raw.strip_prefix(BOM).filter(|_| at == 0).unwrap_or(raw);
        let content = line.trim_end_matches(['\n', '\r', ' ', '\t']);
        // A reader of YAML ends a line at some of these.
        let is_wrong =
            |c: char| c.is_control() && c != '\t' || matches!(c, '\u{2028}' | '\u{2029}');
        if content.contains(is_wrong) {
            return Err(refuse("control characters must be escaped"));
        }
        let is_comment = content.trim_start().starts_with('#');
        if content.is_empty() || is_comment || content == "---" && map.is_empty() {
            continue;
        }
        let name = find_key(content).ok_or_else(|| refuse("expected `key: value`"))?;
        let value = read_value(&content[name.len() + 1..]).ok_or_else(|| {
            refuse("expected `key: value` with JSON or plain text; put other text in double quotes")
        })?;
        let value = serde_yaml::to_value(value).map_err(unreadable)?;
        if map.insert(name.into(), value).is_some() {
            return Err(refuse(&format!("the key `{name}` appears twice")));
        }
    }
    // Without a field it was cut off.
    if map.is_empty() {
        return Err(invalid("is not made of `key: value` lines"));
    }
    Ok(map)
}

fn find_key(line: &str) -> Option<&str> {
    let (key, right) = line.split_once(':')?;
    let is_key =
        is_field_name(key) && (right.is_empty() || right.starts_with([' ', '\t', '\n', '\r']));
    is_key.then_some(key)
}

/// Reads the value of a line: JSON, or text that YAML reads as it is. A comment may follow.
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

fn set_line(lines: &mut Vec<String>, field: &str, value: &Json, quoted: bool) {
    let is_its = |line: &String| find_key(line.trim_start_matches(BOM)) == Some(field);
    let place = lines.iter().position(is_its);
    let old = place.and_then(|place| lines[place].split_once(':'));
    let was_quoted = old.is_some_and(|(_, value)| value.trim_start().starts_with('"'));
    let is_quoted = quoted || was_quoted;
    let ending = line_ending(lines.first().map_or("", |line| line));
    let line = format!("{field}: {}{ending}", to_scalar(value, is_quoted));
    if let Some(place) = place {
        lines[place] = line;
        return;
    }
    if let Some(last) = lines.last_mut()
        && !last.ends_with('\n')
    {
        last.push_str(ending);
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
        place = &mut place[key];
    }
    *place = serde_yaml::to_value(value).unwrap_or_default();
}

/// Returns the ends of both the first fence's line and the YAML.
fn find_fences(text: &str) -> Option<(usize, usize)> {
    let is_fence = |line: &str| {
        let rest = line.strip_prefix("---");
        rest.is_some_and(|rest| rest.trim().is_empty())
    };
    let begin = text.find('\n')? + 1;
    let yaml = text[begin..]
        .split_inclusive('\n')
        .take_while(|line| !is_fence(line));
    let end = begin + yaml.map(str::len).sum::<usize>();
    let has_fences = is_fence(text[..begin].trim_start_matches(BOM)) && end < text.len();
    has_fences.then_some((begin, end))
}

fn line_ending(line: &str) -> &'static str {
    if line.ends_with("\r\n") { "\r\n" } else { "\n" }
}

/// Checks that YAML takes little time and memory to read. Counts text in quotes like other text.
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
