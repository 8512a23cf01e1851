//! Changing flags of a summary file: their lines are written anew, and every other byte stays.

use std::ops::Range;

use miette::Diagnostic;
use serde_json::Value as Json;

use super::file::{self, Parts};
use super::findings::Found;
use super::flags::Flags;
use super::rule::Lenient;
use super::summary::{flow, plain_key};
use super::yaml::{self, Key, Map, Node, Value};

/// Why no flag was changed.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display, derive_more::Error, Diagnostic)]
pub enum EditError {
    /// The file is no summary.
    #[display("the file is no summary that can be read")]
    #[diagnostic(
        code(stages::unreadable),
        help("check it with `stages validate`, and mend what is found")
    )]
    Unreadable,
    /// It would not be read as it was meant.
    #[display("`{flag}` cannot be changed where it stands")]
    #[diagnostic(
        code(stages::not_changed),
        help("write `{flag}` in a line of its own below `flags`")
    )]
    NotChanged {
        /// The flag.
        flag: String,
    },
}

/// Changes flags of a summary file: those that `change` sets otherwise. Comments, order, line ends, quotes and everything else stay.
///
/// # Errors
/// The file cannot be read, or a flag stands where it cannot be changed.
pub fn set_flags(bytes: &[u8], change: impl FnOnce(&mut Flags)) -> Result<Vec<u8>, EditError> {
    let scratch = &mut Found::default();
    let mut text = file::text_of(bytes, scratch)
        .ok_or(EditError::Unreadable)?
        .to_owned();
    let mark = bytes.len() - text.len();
    let before = flags_of(&text).ok_or(EditError::Unreadable)?;
    let mut after = before.clone();
    change(&mut after);
    let (old, new) = (keys(&before), keys(&after));
    let is_new = |(flag, value): &(&String, &Json)| old.get(*flag) != Some(value);
    let set = new
        .iter()
        .filter(is_new)
        .map(|(flag, value)| (flag, Some(value)));
    let gone = old
        .keys()
        .filter(|flag| !new.contains_key(*flag))
        .map(|flag| (flag, None));
    for (flag, value) in set.chain(gone) {
        let not_changed = || EditError::NotChanged { flag: flag.clone() };
        let (place, written) = edit(&text, flag, value).ok_or_else(not_changed)?;
        text.replace_range(place, &written);
        let read = flags_of(&text).ok_or_else(not_changed)?;
        if keys(&read).get(flag) != value {
            return Err(not_changed());
        }
    }
    let read = flags_of(&text).ok_or(EditError::Unreadable)?;
    if keys(&read) != new {
        return Err(EditError::Unreadable);
    }
    Ok([&bytes[..mark], text.as_bytes()].concat())
}

fn keys(flags: &Flags) -> serde_json::Map<String, Json> {
    match serde_json::to_value(flags) {
        Ok(Json::Object(keys)) => keys,
        _ => serde_json::Map::new(),
    }
}

/// Returns the flags of a summary; those that are wrong are left out.
fn flags_of(text: &str) -> Option<Flags> {
    let (_, root) = parse(text)?;
    let flags = &root.map()?.entry("flags").map(|(_, node)| node);
    Some(match flags.map(|node| &node.value) {
        Some(Value::Map(map)) => Flags::read(map, &mut Found::default()),
        None | Some(Value::Null | Value::Placeholder) => Flags::default(),
        Some(_) => return None,
    })
}

fn parse(text: &str) -> Option<(Parts, Node)> {
    let mut found = Found::default();
    let parts = file::parts(text, &mut found)?;
    let root = yaml::read(text, parts.yaml.clone(), &mut found)?;
    (!found.has(|rule| rule.lenient() == Lenient::Crash)).then_some((parts, root))
}

/// Returns which bytes are replaced to set a flag, or to take it out, and by what.
fn edit(text: &str, flag: &str, value: Option<&Json>) -> Option<(Range<usize>, String)> {
    let (parts, root) = parse(text)?;
    let ending = if text[..parts.yaml.start].ends_with("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let line = |value| format!("{}: {}", plain_key(flag), flow(value));
    let Some((key, node)) = root.map()?.entry("flags") else {
        let at = parts.close.start;
        return Some((at..at, format!("flags:{ending}  {}{ending}", line(value?))));
    };
    let Value::Map(map) = &node.value else {
        return Some(match node.span.is_empty() {
            true => {
                let at = line_end(text, key.span.end);
                (at..at, format!("{ending}  {}", line(value?)))
            }
            false => (node.span.clone(), format!("{{{}}}", line(value?))),
        });
    };
    match (map.entry(flag), value) {
        (Some((key, node)), Some(value)) => replaced(text, key, node, &flow(value)),
        (Some((own, _)), None) => Some(removed(text, key, map, own)),
        (None, value) => added(text, node, map, &line(value?), ending),
    }
}

/// Replaces a value behind its key. A comment behind it stays.
fn replaced(text: &str, key: &Key, node: &Node, written: &str) -> Option<(Range<usize>, String)> {
    let colon = key.span.end + text[key.span.end..].find(':')? + 1;
    if node.span.is_empty() {
        return Some((colon..colon, format!(" {written}")));
    }
    let between = &text[colon..node.span.start];
    if between.chars().all(|one| one == ' ' || one == '\t') {
        return Some((node.span.clone(), written.to_owned()));
    }
    // It stands in lines of its own, so only a comment can be behind the colon, or the mark of a text of several lines.
    let first = &text[colon..line_end(text, colon)];
    let comment = if first.trim_start().starts_with('#') {
        first
    } else {
        ""
    };
    Some((colon..node.span.end, format!(" {written}{comment}")))
}

/// Takes a flag out, with its lines.
fn removed(text: &str, flags: &Key, map: &Map, own: &Key) -> (Range<usize>, String) {
    let place = map
        .entries
        .iter()
        .position(|(key, _)| key.span == own.span)
        .unwrap_or_default();
    let end_of = |(key, node): &(Key, Node)| node.span.end.max(key.span.end);
    let end = end_of(&map.entries[place]);
    match (place.checked_sub(1), map.entries.get(place + 1)) {
        (None, None) if !map.is_flow => {
            let colon = flags.span.end + text[flags.span.end..].find(':').map_or(0, |at| at + 1);
            (colon..end, " {}".to_owned())
        }
        _ if !map.is_flow => {
            let begin = text[..own.span.start].rfind('\n').map_or(0, |at| at + 1);
            (
                begin..(line_end(text, end) + 1).min(text.len()),
                String::new(),
            )
        }
        (Some(before), _) => (end_of(&map.entries[before])..end, String::new()),
        (None, Some((next, _))) => (own.span.start..next.span.start, String::new()),
        (None, None) => (own.span.start..end, String::new()),
    }
}

/// Adds a flag behind the last one.
fn added(
    text: &str,
    node: &Node,
    map: &Map,
    line: &str,
    ending: &str,
) -> Option<(Range<usize>, String)> {
    let Some((last, value)) = map.entries.last() else {
        let at = node.span.start + 1;
        return map.is_flow.then(|| (at..at, line.to_owned()));
    };
    let end = value.span.end.max(last.span.end);
    if map.is_flow {
        return Some((end..end, format!(", {line}")));
    }
    let (first, _) = map.entries.first()?;
    let begin = text[..first.span.start].rfind('\n').map_or(0, |at| at + 1);
    let indent = &text[begin..first.span.start];
    let at = line_end(text, end);
    indent
        .bytes()
        .all(|byte| byte == b' ')
        .then(|| (at..at, format!("{ending}{indent}{line}")))
}

/// Returns where the line ends that a byte is on, before its line end.
fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    if text[at..end].ends_with('\r') {
        end - 1
    } else {
        end
    }
}
