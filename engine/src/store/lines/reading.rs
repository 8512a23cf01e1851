//! Reading lines. The YAML reader gets each key with its value alone: so no value can reach into another key's lines, where an edit
//! would break it, and what would take the reader long is refused before it sees it.

use std::collections::HashSet;
use std::ops::Range;

use super::super::document::{DocumentError, is_field_name};
use super::super::value::{MOST_COUNT, Value};
use super::{Entry, Style};

/// Limits the keys of a document: twice as many as a machine has fields.
const MOST_FIELDS: usize = 2048;
/// Limits how deep brackets are nested in a value.
pub(super) const DEEPEST: usize = 32;
/// Limits how deep keys stand below keys: what is deeper is a value that no field can hold.
const MOST_ABOVE: usize = 8;
/// Limits what of a document stands outside of quotes, in bytes.
const MOST_OUTSIDE: usize = 64 * 1024;

/// Stands for the name of a key that can name no field.
const NO_NAME: &str = "\0";

/// Reads the entries of a text; if `leniently`, all but those that cannot be read.
pub(super) fn entries(
    text: &str,
    style: Style,
    leniently: bool,
) -> Result<Vec<Entry>, DocumentError> {
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
    Ok(reading.entries)
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
    fn keys(
        &mut self,
        lines: Range<usize>,
        outer: &str,
        indent: usize,
    ) -> Result<(), DocumentError> {
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
        // Blanks in between belong to the value too, and in a block scalar, which may begin below the key, what elsewhere is a comment.
        let (mut at, mut own, mut is_over) = (first, first, false);
        for line in text[first..end].split_inclusive('\n') {
            // Behind the end of a YAML document there is no place for another key.
            if line.starts_with("...") {
                return Err(DocumentError::NotLines);
            }
            at += line.len();
            let is_blank = bare(line).is_empty();
            let is_text =
                (is_block || own > first) && !is_over && !is_blank && indent_of(line) > indent;
            // A tab before all else can only be part of a text.
            let text_at = line
                .find(|c| !matches!(c, ' ' | '\t'))
                .unwrap_or(line.len());
            let is_tab = line[..text_at].contains('\t');
            if is_text || is_tab || !is_filler(line) {
                (own, is_over) = (at, false);
            } else if !is_blank {
                // A comment that stands no further in than the key ends what is above it.
                is_over = true;
            }
        }
        let name = key_of(&text[key + indent..first]);
        let path = |name: &str| match outer {
            "" => name.to_owned(),
            _ => format!("{outer}.{name}"),
        };
        let kept = (self.entries.len(), self.cost);
        let nested =
            name.filter(|_| self.style == Style::Theirs && outer.split('.').count() < MOST_ABOVE);
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
                let above =
                    text[..begin].matches('\n').count() + usize::from(self.style == Style::Theirs);
                let again = serde_yaml::from_str::<serde_yaml::Value>(
                    &("\n".repeat(above) + &text[begin..end]),
                );
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
                let value = value
                    .or_else(|| (self.style == Style::Ours).then(|| as_it_stands(&text[key..own])));
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
        let has_keys = (right.is_empty() || right.starts_with('#'))
            && inner > indent
            && self.is_key(line, inner);
        has_keys.then_some(inner)
    }

    /// Returns whether a line begins with a key, as far as one can see.
    fn is_key(&self, line: &str, indent: usize) -> bool {
        let Some(line) = (line.len() > indent
            && line.bytes().take(indent).all(|byte| byte == b' '))
        .then(|| &line[indent..]) else {
            return false;
        };
        let is_theirs = || {
            let mut colons = line.match_indices(':');
            // Only a scalar that begins the line makes it one of a mapping in lines.
            !line.starts_with([
                ' ', '\t', '#', '[', '{', '!', '&', '*', '|', '>', '?', '\u{feff}',
            ]) && !line.starts_with("- ")
                && !line.starts_with("---")
                && colons.any(|(at, _)| {
                    line.len() == at + 1 || line[at + 1..].starts_with(char::is_whitespace)
                })
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
pub(super) struct Cost {
    keys: usize,
    outside: usize,
}

impl Cost {
    pub(super) fn key(&mut self) -> Result<(), DocumentError> {
        self.keys += 1;
        if self.keys > MOST_FIELDS {
            return Err(DocumentError::NotLines);
        }
        Ok(())
    }

    /// Adds the lines of a key, or others.
    pub(super) fn lines(&mut self, raw: &str) -> Result<(), DocumentError> {
        let right = outside(raw);
        self.outside += raw
            .find(':')
            .unwrap_or_default()
            .min(raw.len() - right.len())
            + right.len();
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
pub(super) fn outside(raw: &str) -> &str {
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
    let quote = text
        .bytes()
        .next()
        .filter(|byte| matches!(byte, b'"' | b'\''))?;
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

pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns whether a line is blank, or a comment.
pub(super) fn is_filler(line: &str) -> bool {
    // Of two marks YAML takes the second for text.
    let line = bare(line.strip_prefix('\u{feff}').unwrap_or(line));
    line.is_empty() || line.starts_with('#')
}

/// Returns a line without what is blank to YAML: other white space is text.
pub(super) fn bare(line: &str) -> &str {
    line.trim_matches([' ', '\t', '\r', '\n'])
}

/// Returns the key that a line starts with, if it does.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.trim_start_matches('\u{feff}').split_once(':')?;
    (is_field_name(key) && (rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n'])))
        .then_some(key)
}

/// Returns what stands right of the colon, without blanks and line ending.
pub(super) fn right_of_colon(raw: &str) -> &str {
    raw.split_once(':').map_or("", |(_, rest)| bare(rest))
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
