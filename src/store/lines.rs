//! The form of our own documents: an ordered list of `key: value` lines.
//!
//! Values are read by a YAML reader and never written by one: a change replaces one line, and every other line
//! stays byte for byte, be it a comment, a blank, a field that nobody knows, or one that ends in CRLF. A comment
//! behind a value goes with the value when that changes.
//!
//! The reader gets each key with its value alone. So no value can reach into another key's lines, where an edit would
//! break it, and what would take the reader long is refused before it sees it.

use std::collections::HashSet;
use std::ops::Range;

use super::document::{Document, DocumentError, MAX_BYTES, is_field_name};
use super::scalar;
use super::value::{MOST_COUNT, Value};

/// Limits the keys of a document: twice as many as a machine has fields.
const MOST_FIELDS: usize = 2048;
/// Limits how deep brackets are nested in a value.
const DEEPEST: usize = 32;
/// Limits how deep keys stand below keys: what is deeper is a value that no field can hold.
const MOST_ABOVE: usize = 8;
/// Limits what of a document stands outside of quotes, in bytes.
const MOST_OUTSIDE: usize = 64 * 1024;

/// Stands for the name of a key that can name no field.
const NO_NAME: &str = "\0";

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
        // A line holds at least one byte outside of quotes: its end.
        if text.matches('\n').count() > MOST_OUTSIDE {
            return Err(DocumentError::NotLines);
        }
        let mut reading = Reading {
            text,
            style,
            leniently,
            cost: Cost::default(),
            entries: Vec::new(),
        };
        reading.keys(0..text.len(), "", 0)?;
        let entries = reading.entries;
        let crlf = text.find('\n').is_some_and(|end| text[..end].ends_with('\r'));
        Ok(Self { entries, style, crlf })
    }

    fn find(&self, field: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.name() == Some(field))
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
        let space = if right.is_empty() { "" } else { " " };
        let raw = format!("{mark}{:indent$}{name}:{space}{right}{ending}", "");
        let field = Some((field.to_owned(), value));
        self.entries.insert(at, Entry { raw, field });
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
        let style = self.style;
        let entry = &mut self.entries[at];
        let quoted = right_of_colon(&entry.raw).starts_with(['"', '\'']);
        let mark = if entry.raw.starts_with('\u{feff}') {
            "\u{feff}"
        } else {
            ""
        };
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
        let (indent, ending) = (entry.indent(), entry.ending());
        let comment = match style {
            Style::Ours => "",
            Style::Theirs => comment(entry),
        };
        let name = field.rsplit_once('.').map_or(field, |(_, name)| name);
        let written = scalar::write(&held, quoted);
        entry.raw = format!("{mark}{:indent$}{name}: {written}{comment}{ending}", "");
        entry.field = Some((field.to_owned(), Some(held)));
    }

    fn remove(&mut self, field: &str) {
        let Some(at) = self.find(field) else { return };
        self.entries.remove(at);
        self.entries.retain(|entry| !entry.is_below(field));
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
        self.entries.iter().flat_map(|entry| entry.raw.bytes()).collect()
    }

    fn check(&self) -> Result<(), DocumentError> {
        if self.entries.iter().map(|entry| entry.raw.len()).sum::<usize>() > MAX_BYTES {
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

/// Holds what of a text was read.
struct Reading<'a> {
    text: &'a str,
    style: Style,
    leniently: bool,
    cost: Cost,
    entries: Vec<Entry>,
}

impl Reading<'_> {
    /// Reads the keys that stand `indent` spaces in, below the key `outer`.
    fn keys(&mut self, lines: Range<usize>, outer: &str, indent: usize) -> Result<(), DocumentError> {
        let mut starts = Vec::new();
        let mut at = lines.start;
        for line in self.text[lines.clone()].split_inclusive('\n') {
            if self.is_key(line, indent) {
                starts.push(at);
            }
            if starts.len() > MOST_FIELDS {
                return Err(DocumentError::NotLines);
            }
            at += line.len();
        }
        if starts.is_empty() && !self.leniently {
            // Nothing but blanks and comments, or nothing at all: a document that was cut off, never one of ours.
            return Err(DocumentError::NotLines);
        }
        let ends = starts.iter().skip(1).copied().chain([lines.end]);
        let mut begin = lines.start;
        let mut names = HashSet::new();
        for (&key, end) in starts.iter().zip(ends) {
            let kept = (self.entries.len(), self.cost);
            match self.key(begin, key, end, outer, indent, &mut names) {
                Err(_) if self.leniently => {
                    self.entries.truncate(kept.0);
                    self.cost = kept.1;
                    let lines = self.text[begin..end].split_inclusive('\n');
                    lines
                        .filter(|line| line.starts_with('#'))
                        .for_each(|line| self.other(line));
                }
                read => read?,
            }
            begin = end;
        }
        Ok(())
    }

    /// Reads the lines of one key, with what stands before the first one.
    fn key(
        &mut self,
        begin: usize,
        key: usize,
        end: usize,
        outer: &str,
        indent: usize,
        names: &mut HashSet<String>,
    ) -> Result<(), DocumentError> {
        let text = self.text;
        for line in text[begin..key].split_inclusive('\n') {
            if !is_filler(line) && line.trim_end() != "---" && !line.starts_with('%') {
                return Err(DocumentError::NotLines);
            }
            self.cost.lines(line)?;
            self.other(line);
        }
        self.cost.key()?;
        let first = key + text[key..end].find('\n').map_or(end - key, |at| at + 1);
        let is_block = right_of_colon(&text[key..first]).starts_with(['|', '>']);
        // Blanks in between belong to the value too, and in a block scalar what elsewhere is a comment.
        let (mut at, mut own) = (first, first);
        for line in text[first..end].split_inclusive('\n') {
            // Behind the end of a YAML document there is no place for another key.
            if line.starts_with("...") {
                return Err(DocumentError::NotLines);
            }
            at += line.len();
            let is_text = is_block && !line.trim().is_empty() && indent_of(line) > indent;
            if is_text || !is_filler(line) {
                own = at;
            }
        }
        let name = key_of(&text[key + indent..first]);
        let path = |name: &str| match outer {
            "" => name.to_owned(),
            _ => format!("{outer}.{name}"),
        };
        let kept = (self.entries.len(), self.cost);
        let nested = name.filter(|_| self.style == Style::Theirs && outer.split('.').count() < MOST_ABOVE);
        if let Some(name) = nested
            && let Some(inner) = self.inner(key..first, first..own, indent)
        {
            self.cost.lines(&text[key..first])?;
            self.entries.push(Entry {
                raw: text[key..first].to_owned(),
                field: Some((path(name), None)),
            });
            match self.keys(first..own, &path(name), inner) {
                Ok(()) => {
                    if !names.insert(name.to_owned()) {
                        return Err(twice(name));
                    }
                    self.cost.lines(&text[own..end])?;
                    text[own..end]
                        .split_inclusive('\n')
                        .for_each(|line| self.other(line));
                    return Ok(());
                }
                // It may be a value that makes sense as a whole.
                Err(error) if !outer.is_empty() => return Err(error),
                Err(_) => {
                    self.entries.truncate(kept.0);
                    self.cost = kept.1;
                }
            }
        }
        self.cost.lines(&text[key..end])?;
        let read = match serde_yaml::from_str::<serde_yaml::Value>(&text[begin..end]) {
            Ok(serde_yaml::Value::Mapping(read)) if read.len() == 1 => read.into_iter().next(),
            Ok(_) => None,
            Err(error) => {
                // The line that it names is to be that of the file.
                let above = text[..begin].matches('\n').count() + usize::from(self.style == Style::Theirs);
                let again =
                    serde_yaml::from_str::<serde_yaml::Value>(&("\n".repeat(above) + &text[begin..end]));
                return Err(DocumentError::Syntax {
                    reason: again.err().unwrap_or(error).to_string(),
                });
            }
        };
        let field = match (read, name) {
            (Some((serde_yaml::Value::String(found), value)), name)
                if name.is_none_or(|name| name == found) =>
            {
                if !names.insert(found.clone()) {
                    return Err(twice(&found));
                }
                let value = value_of(value, &text[key..own]);
                let value =
                    value.or_else(|| (self.style == Style::Ours).then(|| as_it_stands(&text[key..own])));
                match is_field_name(&found) {
                    true => (path(&found), value),
                    false => (path(NO_NAME), None),
                }
            }
            (Some(_), None) => (path(NO_NAME), None),
            _ => return Err(DocumentError::NotLines),
        };
        self.entries.push(Entry {
            raw: text[key..own].to_owned(),
            field: Some(field),
        });
        text[own..end]
            .split_inclusive('\n')
            .for_each(|line| self.other(line));
        Ok(())
    }

    /// Returns how far in the keys stand that a key has below it; `None` where it has a value.
    fn inner(&self, first: Range<usize>, below: Range<usize>, indent: usize) -> Option<usize> {
        let right = right_of_colon(&self.text[first]);
        let mut lines = self.text[below].split_inclusive('\n');
        let line = lines.find(|line| !is_filler(line))?;
        let inner = indent_of(line);
        let has_keys =
            (right.is_empty() || right.starts_with('#')) && inner > indent && self.is_key(line, inner);
        has_keys.then_some(inner)
    }

    /// Returns whether a line begins with a key, as far as one can see.
    fn is_key(&self, line: &str, indent: usize) -> bool {
        let Some(line) = (line.len() > indent && line.bytes().take(indent).all(|byte| byte == b' '))
            .then(|| &line[indent..])
        else {
            return false;
        };
        let is_theirs = || {
            let mut colons = line.match_indices(':');
            // Only a scalar that begins the line makes it one of a mapping in lines.
            !line.starts_with([' ', '\t', '#', '[', '{', '!', '&', '*', '|', '>', '?', '\u{feff}'])
                && !line.starts_with("- ")
                && !line.starts_with("---")
                && colons
                    .any(|(at, _)| line.len() == at + 1 || line[at + 1..].starts_with(char::is_whitespace))
        };
        key_of(line).is_some() || self.style == Style::Theirs && is_theirs()
    }

    /// Keeps a line without a key.
    fn other(&mut self, line: &str) {
        self.entries.push(Entry {
            raw: line.to_owned(),
            field: None,
        });
    }
}

fn twice(name: &str) -> DocumentError {
    DocumentError::Syntax {
        reason: format!("the key `{name}` stands twice"),
    }
}

/// Adds up what the YAML reader is given: it takes the square of how deep brackets are nested, and of how much stands outside of
/// quotes. What we write is a value in a line, and text in quotes.
#[derive(Clone, Copy, Default)]
struct Cost {
    keys: usize,
    outside: usize,
}

impl Cost {
    fn key(&mut self) -> Result<(), DocumentError> {
        self.keys += 1;
        if self.keys > MOST_FIELDS {
            return Err(DocumentError::NotLines);
        }
        Ok(())
    }

    /// Adds the lines of a key, or others.
    fn lines(&mut self, raw: &str) -> Result<(), DocumentError> {
        let right = outside(raw);
        self.outside += raw.find(':').unwrap_or_default().min(raw.len() - right.len()) + right.len();
        // What ends a line to the reader alone would have it see other lines than these.
        let ends_otherwise = right.contains(['\u{85}', '\u{2028}', '\u{2029}'])
            || right.matches('\r').count() > right.matches("\r\n").count();
        if self.outside > MOST_OUTSIDE || ends_otherwise {
            return Err(DocumentError::NotLines);
        }
        let mut depth = 0_usize;
        for line in right.split_inclusive('\n').filter(|line| !is_filler(line)) {
            for byte in line.bytes() {
                match byte {
                    b'[' | b'{' => depth += 1,
                    b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth > DEEPEST {
                    return Err(DocumentError::NotLines);
                }
            }
        }
        Ok(())
    }
}

/// Returns what of a key's lines stands behind its quoted value, or list of quoted texts, as we write them; else all. Elsewhere nobody
/// but the reader knows what is a quote: it may be an apostrophe, or an inch.
fn outside(raw: &str) -> &str {
    let line = raw.trim_start_matches(' ');
    if key_of(line).is_none() {
        return raw;
    }
    let all = line
        .split_once(':')
        .map_or("", |(_, right)| right)
        .trim_start_matches(' ');
    let Some(list) = all.strip_prefix('[') else {
        return behind_quoted(all).unwrap_or(all);
    };
    let mut right = list;
    while let Some(behind) = behind_quoted(right) {
        right = behind.trim_start_matches([',', ' ']);
    }
    if right == list { all } else { right }
}

/// Returns what stands behind a quoted text that begins and ends in this line.
fn behind_quoted(text: &str) -> Option<&str> {
    let quote = text.bytes().next().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\n' => return None,
            b'\\' if quote == b'"' => drop(bytes.next()),
            _ if byte != quote => {}
            b'\'' if text[at + 1..].starts_with('\'') => drop(bytes.next()),
            _ => return Some(&text[at + 1..]),
        }
    }
    None
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
    let before = raw[..at].trim_end();
    let is_one = entry.value().is_some() && !raw.contains('\n');
    let hides_no_quote = is_plain || before.len() <= begin || !raw[begin..before.len()].contains(['"', '\'']);
    if is_one && hides_no_quote {
        &raw[before.len()..]
    } else {
        ""
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns whether a line is blank, or a comment.
fn is_filler(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    line.is_empty() || line.starts_with('#')
}

/// Returns the key that a line starts with, if it does.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.trim_start_matches('\u{feff}').split_once(':')?;
    (is_field_name(key) && (rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))).then_some(key)
}

/// Returns what stands right of the colon, without blanks and line ending.
fn right_of_colon(raw: &str) -> &str {
    raw.split_once(':').map_or("", |(_, rest)| rest.trim())
}

/// Returns what a value means; `None` for what is nested deeper than a list of texts, as nothing of ours is.
fn value_of(read: serde_yaml::Value, raw: &str) -> Option<Value> {
    let quoted = right_of_colon(raw).starts_with(['"', '\'']);
    match read {
        serde_yaml::Value::Null => Some(Value::Null),
        serde_yaml::Value::Bool(flag) => Some(Value::Flag(flag)),
        serde_yaml::Value::Number(number) => Some(
            number
                .as_u64()
                .filter(|number| *number <= MOST_COUNT)
                .map_or_else(|| Value::Word(number.to_string()), Value::Count),
        ),
        serde_yaml::Value::String(text) if quoted => Some(Value::Text(text)),
        serde_yaml::Value::String(text) => Some(Value::Word(text)),
        serde_yaml::Value::Sequence(items) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().map(Value::List)
        }
        serde_yaml::Value::Mapping(_) | serde_yaml::Value::Tagged(_) => None,
    }
}

/// Shows what no field can hold as it stands.
fn as_it_stands(raw: &str) -> Value {
    Value::Text(right_of_colon(raw).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Form;
    use proptest::prelude::*;

    const HOSTILE: &[&str] = &[
        "",
        " ",
        "a\nb",
        "\"",
        "\\",
        "'",
        "|",
        "&",
        "/",
        "a|b&c/d\\e",
        "é 漢 🦀",
        "\0",
        "a\u{202e}b",
        "\u{2028}",
        "# comment",
        "a # comment",
        "a: b",
        ": ",
        "- a",
        "-",
        "---",
        "...",
        "yes",
        "1e3",
        "0x10",
        "null",
        "~",
        "true",
        "\r\n",
        "\r",
        "\u{85}",
        "\u{feff}x",
        "phase: done\nrevision: 9",
        "{a: b}",
        "[a]",
        "*a",
        "&a b",
        "!t",
        "%",
        "\t",
        " lead",
        "trail ",
        "${HOME}",
        "$(id)",
        "`id`",
        "<<",
        "0o7",
        "1_000",
        "2026-11-22",
        "12:30",
        ".5",
        "+1",
        "-0",
    ];

    fn parse(text: &str) -> Box<dyn Document> {
        Form::Lines.parse(text.as_bytes()).unwrap()
    }

    /// Sets `text` in a document with neighbours, and reads it back from the bytes.
    fn round_trip(text: &str, value: &Value, before: &str) {
        let mut document = parse(before);
        document.set("topic", value);
        let bytes = document.to_bytes();
        let back = Form::Lines
            .parse(&bytes)
            .unwrap_or_else(|error| panic!("{text:?}: {error}: {bytes:?}"));
        assert_eq!(
            back.get("topic").unwrap().as_str(),
            Some(text),
            "{:?}",
            String::from_utf8_lossy(&bytes)
        );
        assert_eq!(back.fields(), document.fields(), "what is held is what is read");
        assert_eq!(back.get("phase"), Some(Value::Word("reviewing".into())));
        assert_eq!(back.get("round"), Some(Value::Count(2)));
        assert_eq!(
            bytes.iter().filter(|byte| **byte == b'\n').count(),
            3,
            "one line each"
        );
    }

    #[test]
    fn what_the_reader_would_take_long_for_is_refused_by_its_shape() {
        let most = crate::store::MAX_BYTES;
        for part in [
            "[",
            "{",
            "? ",
            "- ",
            "b,",
            "!",
            "&a ",
            "x\n",
            "%YAML 1.2\n",
            "---\n",
            "#\n",
            "k: v\n",
        ] {
            for begin in ["", "a: ", "a: [", "a: [it's ", "a: [\"x\" ", "a: [b:\""] {
                let text = format!("{begin}{}", part.repeat((most - begin.len()) / part.len()));
                assert!(Form::Lines.parse(text.as_bytes()).is_err(), "{begin}{part}");
            }
        }
        let deep = |depth: usize| format!("a: {}{}\n", "[".repeat(depth), "]".repeat(depth));
        assert!(Form::Lines.parse(deep(DEEPEST).as_bytes()).is_ok());
        assert_eq!(
            Form::Lines.parse(deep(DEEPEST + 1).as_bytes()).unwrap_err(),
            DocumentError::NotLines
        );
    }

    #[test]
    fn long_texts_and_lists_are_read_whatever_stands_in_their_quotes() {
        let long = "[{\"it's\" \\".repeat(40_000);
        let mut document = parse("phase: reviewing\n");
        document.set("topic", &Value::Text(long.clone()));
        document.set("all", &Value::List(vec![long[..200].to_owned(); 1000]));
        let back = Form::Lines.parse(&document.to_bytes()).unwrap();
        assert_eq!(back.fields(), document.fields());
        assert_eq!(back.get("topic").unwrap().as_str(), Some(&long[..]));
    }

    #[test]
    fn hostile_texts_round_trip_on_one_line() {
        for text in HOSTILE {
            for value in [Value::Text((*text).into()), Value::Word((*text).into())] {
                round_trip(text, &value, "phase: reviewing\ntopic: x\nround: 2\n");
                round_trip(text, &value, "phase: reviewing\ntopic: \"x\"\nround: 2\n");
                round_trip(text, &value, "phase: reviewing\nround: 2\n");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_round_trips(text in any::<String>(), quoted: bool) {
            let value = if quoted { Value::Text(text.clone()) } else { Value::Word(text.clone()) };
            round_trip(&text, &value, "phase: reviewing\ntopic: 'x'\nround: 2\n");
        }

        #[test]
        fn any_bytes_are_read_or_refused_and_come_back_unchanged(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(document) = Form::Lines.parse(&bytes) {
                prop_assert_eq!(document.to_bytes(), bytes);
            }
        }

        #[test]
        fn any_lines_are_read_or_refused_and_a_set_changes_one_field(text in "([a-c]: ?[a-z\"'#|>\\-{}\\[\\]&*!: ]{0,6}(\n|\r\n)( [a-z:]{0,4}\n)?){0,5}") {
            if let Ok(mut document) = Form::Lines.parse(text.as_bytes()) {
                prop_assert_eq!(document.to_bytes(), text.as_bytes());
                let before = document.fields();
                document.set("b", &Value::Text("new".into()));
                let after = Form::Lines.parse(&document.to_bytes()).unwrap();
                prop_assert_eq!(after.get("b"), Some(Value::Word("new".into())));
                for (name, value) in before.iter().filter(|(name, _)| name != "b") {
                    prop_assert_eq!(after.get(name), Some(value.clone()));
                }
            }
        }
    }

    #[test]
    fn a_change_leaves_every_other_line_byte_for_byte() {
        let before = "\u{feff}# by hand\r\nphase:   drafting\r\n\nunknown: [1,\n  2]\nblock: |\n  phase: no\n\n  more\ntopic: \"a\"   # why\nround: 1";
        let mut document = parse(before);
        assert_eq!(document.to_bytes(), before.as_bytes());
        document.set("phase", &Value::Word("reviewing".into()));
        document.set("round", &Value::Count(2));
        document.set("topic", &Value::Word("b".into()));
        document.set("extra", &Value::Flag(true));
        let after = "\u{feff}# by hand\r\nphase: reviewing\r\n\nunknown: [1,\n  2]\nblock: |\n  phase: no\n\n  more\ntopic: \"b\"\nround: 2\r\nextra: true\r\n";
        assert_eq!(String::from_utf8(document.to_bytes()).unwrap(), after);
        assert_eq!(
            parse(after).get("block").unwrap().to_plain(),
            "phase: no\n\nmore\n"
        );
        document.set("block", &Value::Word("short".into()));
        document.remove("unknown");
        let text = String::from_utf8(document.to_bytes()).unwrap();
        assert_eq!(
            parse(&text).get("block"),
            Some(Value::Word("short".into())),
            "{text}"
        );
        assert!(!text.contains("unknown"));
    }

    #[test]
    fn what_stands_quoted_stays_quoted_and_reads_back_as_held() {
        let mut document = parse("round: \"1\"\nflag: 'true'\n");
        document.set("round", &Value::Count(2));
        document.set("flag", &Value::Flag(false));
        assert_eq!(document.to_bytes(), b"round: \"2\"\nflag: \"false\"\n");
        assert_eq!(document.get("round").unwrap().as_count(), Some(2));
        assert_eq!(
            parse("round: \"2\"\nflag: \"false\"\n").fields(),
            document.fields()
        );
    }

    #[test]
    fn what_an_edit_of_one_line_would_break_is_refused_or_left_whole() {
        for text in [
            "a: [1,\n2]\nb: 1\n",
            "a: \"x\ny\"\n",
            "a: 1\n\r >\n",
            "{\n}\n",
            "a: 1\n\u{2028} x\n",
            "a: 1\n...\n",
            "a:\r...\n",
            "# why\n\u{feff}a: 1\n",
            "a: plain\n  \t \nb: 1\n",
        ] {
            // Refused, or edited as a whole.
            if let Ok(mut document) = Form::Lines.parse(text.as_bytes()) {
                document.set("a", &Value::Count(7));
                let again = Form::Lines.parse(&document.to_bytes()).unwrap();
                assert_eq!(again.fields(), document.fields(), "{text:?}");
            }
        }
        let mut document = parse("block: |\n  one\n  two");
        document.set("new", &Value::Count(1));
        assert_eq!(document.to_bytes(), b"new: 1\nblock: |\n  one\n  two");
        let mut document = parse("\u{feff}a: >\n  one\n \n  ");
        document.set("new", &Value::Count(1));
        assert_eq!(
            document.to_bytes(),
            "\u{feff}new: 1\na: >\n  one\n \n  ".as_bytes()
        );
        assert_eq!(parse("\u{feff}a: 1\nb: 2\n").fields().len(), 2);
    }

    #[test]
    fn what_is_no_list_of_fields_is_refused() {
        let refused = |bytes: &[u8]| Form::Lines.parse(bytes).unwrap_err();
        assert_eq!(refused(b"phase: \xff"), DocumentError::NotUtf8 { at: 7 });
        assert_eq!(refused(&vec![b'#'; 1024 * 1024 + 1]), DocumentError::TooLarge);
        for text in [
            "a: 1\na: 2\n",
            "a: 1\n- b\n",
            "a: \"x",
            "a: 1\n---\nb: 2\n",
            "a: x\0y\n",
        ] {
            assert!(
                matches!(refused(text.as_bytes()), DocumentError::Syntax { .. }),
                "{text:?}"
            );
        }
        for text in [
            "",
            "\n",
            "# only\n",
            "text\n",
            "[1]\n",
            "{a: 1}\n",
            "\"a\": 1\n",
            "a: 1\rb: 2\n",
            "? a\n: b\n",
            "1: 2\n",
        ] {
            let error = refused(text.as_bytes());
            assert!(
                matches!(error, DocumentError::NotLines | DocumentError::Syntax { .. }),
                "{text:?}: {error}"
            );
        }
        // What reaches into another key's lines would let one edit change another field.
        for text in [
            "topic: \"a\nphase: done\"\nb: 1\n",
            "a: \"x\nb: 1\"\n? b\n: 2\n",
            "a: [\nb: 1\n]\n",
            "a: &x 1\nb: *x\n",
            "a: 1\n...\n",
            "a: 1\r...\nb: 2\n",
            "# \r[\"x\nb: \", 1]\n",
            "a: 1 # \u{2028}c: 2\n",
        ] {
            refused(text.as_bytes());
        }
        let wrong = refused(b"# why\na: 1\nb: c: d\n").to_string();
        assert!(wrong.contains("line 3"), "{wrong}");
    }

    #[test]
    fn a_document_from_nothing_has_the_fields_in_order() {
        let mut document = Form::Lines.empty();
        document.set("mode", &Value::Word("plan".into()));
        document.set("topic", &Value::Text("fix".into()));
        document.set("signal", &Value::Null);
        document.set("no name", &Value::Null);
        document.set("true", &Value::Null);
        assert_eq!(document.to_bytes(), b"mode: plan\ntopic: \"fix\"\nsignal: null\n");
    }
}
