//! The YAML of a frontmatter as JSON, and the places of its values.
//!
//! A library reads the values. The place of a value is found in the text by its key and its
//! indentation; one in brackets has the place of the brackets.

use std::collections::HashSet;
use std::ops::Range;

use claudex_loop::text;
use serde_json::{Map as JsonMap, Value as Json};
use serde_yaml::{Error, Mapping};

use super::file;
use super::finding::{Collector, Severity, quoted};
use super::rule::{Lenient, Rule};

/// The most brackets that are open at once. The library's time grows with their number.
const MAX_OPEN_BRACKETS: usize = 64;
/// The most values with an unquoted colon that are read to their ends.
const MAX_QUOTED_VALUES: usize = 20;
/// The most lines of such a value.
const MAX_VALUE_LINES: usize = 20;

/// Returns the frontmatter of a Markdown file, or `None` if it cannot be read.
pub(crate) fn frontmatter(text: &str) -> Option<JsonMap<String, Json>> {
    let mut found = Collector::new(text);
    let (yaml, _) = file::split(text, &mut found)?;
    let source = &text[..yaml.end];
    if find_excess(&text[yaml]).is_some() {
        return None;
    }
    match parse(source.to_owned(), &mut found)? {
        Json::Object(keys) if !found.is_crash => Some(keys),
        _ => None,
    }
}

/// Returns the byte at which the text below the frontmatter starts, or 0 if there is none.
pub(crate) fn body_start(text: &str) -> usize {
    let parts = file::split(text, &mut Collector::new(text));
    parts.map_or(0, |(_, body)| body)
}

/// Reads a frontmatter, with null for each placeholder. Returns `None` if it is not YAML with keys.
pub(super) fn read(text: &str, yaml: Range<usize>, found: &mut Collector<'_>) -> Option<Json> {
    found.yaml = yaml.clone();
    // With the first fence, an error has the line in the file.
    let (fence, yaml) = (&text[..yaml.start], &text[yaml]);
    if let Some((at, message)) = find_excess(yaml) {
        let at = fence.len() + at;
        found.error_at(Rule::BadYaml, at, message);
        return None;
    }
    if let Some(at) = find_tab(yaml) {
        let at = fence.len() + at;
        let message = "a tab is where YAML expects spaces";
        found.error_at(Rule::BadYaml, at, message);
        return None;
    }
    let yaml = replace_no_break_spaces(fence.len(), yaml, found);
    let source = fence.to_owned() + &remove_placeholders(fence.len(), &yaml, found);
    let keys = parse(source, found)?;
    if !keys.is_object() {
        let message = format!("the frontmatter is {}, expected keys", kind(&keys));
        found.error_at(Rule::BadYaml, fence.len(), message);
        return None;
    }
    Some(keys)
}

/// Returns the kind of a value, as a message names it.
pub(super) fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "text",
        Json::Array(_) => "a list",
        Json::Object(_) => "a map",
    }
}

/// Finds what would cost much time or memory: an alias, or many open brackets.
fn find_excess(yaml: &str) -> Option<(usize, &'static str)> {
    let name = |at: usize| {
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c));
        yaml[at + 1..].split(is_end).next().unwrap_or_default()
    };
    let anchors: HashSet<&str> = yaml.match_indices('&').map(|(at, _)| name(at)).collect();
    let mut open = 0_usize;
    for (at, byte) in yaml.bytes().enumerate() {
        match byte {
            b'[' | b'{' if open == MAX_OPEN_BRACKETS => {
                return Some((at, "too many brackets are open at once"));
            }
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            b'*' if !name(at).is_empty() && anchors.contains(name(at)) => {
                return Some((at, "an alias repeats a value"));
            }
            _ => {}
        }
    }
    None
}

/// Finds a tab in the indentation of a key or an item.
fn find_tab(yaml: &str) -> Option<usize> {
    let mut start = 0;
    for line in yaml.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t']);
        let indentation = &line[..line.len() - content.len()];
        let is_structure = content.contains(": ") || content.starts_with("- ");
        let tab = indentation.find('\t');
        if let Some(tab) = tab.filter(|tab| *tab == 0 || is_structure) {
            return Some(start + tab);
        }
        start += line.len();
    }
    None
}

/// Replaces a no-break space by a space, and reports it, if it is in the indentation, beside the colon of a
/// key or at the end of a line. Elsewhere it is text.
fn replace_no_break_spaces(start: usize, yaml: &str, found: &mut Collector<'_>) -> String {
    const SPACE: char = '\u{a0}';
    let mut replaced = String::with_capacity(yaml.len());
    for line in yaml.split_inclusive('\n') {
        let is_blank = |c: char| c == ' ' || c == SPACE;
        let is_mark = |c: char| is_blank(c) || c == '-';
        let indentation = line.len() - line.trim_start_matches(is_mark).len();
        let end = line.trim_end().trim_end_matches(is_blank).len();
        let colon = line.find(':').unwrap_or(indentation);
        let before_colon = line[..colon].trim_end_matches(is_blank).len();
        let rest = line[colon..].trim_start_matches(':');
        let value = line.len() - rest.trim_start_matches(is_blank).len();
        for (at, c) in line.char_indices() {
            let is_structure = at < indentation || at >= end || (before_colon..value).contains(&at);
            if c != SPACE || !is_structure {
                replaced.push(c);
                continue;
            }
            // Two spaces have the length of the character, so the places of what follows stay.
            let at = start + replaced.len();
            replaced += "  ";
            let lenient = Lenient::Corrected("read as a space");
            let message = "a no-break space is where YAML expects a space";
            found.push(Rule::BadYaml, lenient, Severity::Error, at, message);
        }
    }
    replaced
}

/// Replaces values of the template: `{N}`, `"{path}"`, `null | "{reason}"`.
fn remove_placeholders(start: usize, yaml: &str, found: &mut Collector<'_>) -> String {
    let mut cleaned = String::with_capacity(yaml.len());
    for line in yaml.split_inclusive('\n') {
        let value = match line.split_once(": ") {
            Some((_, value)) => value,
            None => line.trim_start_matches([' ', '-']),
        };
        let value = value.split(" #").next().unwrap_or_default().trim();
        let inside = value.strip_prefix("null |").unwrap_or(value);
        let inside = inside.trim().trim_matches('"').strip_prefix('{');
        let inside = inside.and_then(|inside| inside.strip_suffix('}'));
        let is_name = |name: &str| !name.trim().is_empty() && !name.contains(['{', '}', ':']);
        if inside.is_some_and(is_name) {
            let at = start + cleaned.len() + line.find(value).unwrap_or_default();
            let message = format!("{} is a placeholder of the template", quoted(value));
            found.error_at(Rule::Placeholder, at, message);
            // The place of what follows stays.
            let null = format!("{:1$}", "null", value.len());
            cleaned += &line.replacen(value, &null, 1);
        } else {
            cleaned += line;
        }
    }
    cleaned
}

/// Parses YAML. A value with an unquoted `: ` is read to the end of its line.
fn parse(source: String, found: &mut Collector<'_>) -> Option<Json> {
    let mut yaml = source.clone();
    for _ in 0..=MAX_QUOTED_VALUES {
        let error = match serde_yaml::from_str(&yaml) {
            Ok(keys) => {
                find_duplicate(&yaml, found);
                return Some(keys);
            }
            Err(error) => error,
        };
        let at = offset(&source, &error);
        let Some(quoted) = quote_value(&yaml, &error) else {
            let (at, message) = explain(&source, at, &error);
            found.error_at(Rule::BadYaml, at, message);
            return None;
        };
        let lenient = Lenient::Corrected("read to the end of the line");
        let message = "text with `: ` is not in quotes";
        found.push(Rule::BadYaml, lenient, Severity::Error, at, message);
        yaml = quoted;
    }
    found.error_at(Rule::BadYaml, 0, "many values with `: ` are not in quotes");
    None
}

/// Reports a key that is there twice, which reading as JSON does not notice.
fn find_duplicate(yaml: &str, found: &mut Collector<'_>) {
    let Err(error) = serde_yaml::from_str::<Mapping>(yaml) else {
        return;
    };
    let message = error.to_string();
    let Some((_, key)) = message.split_once("duplicate entry with key ") else {
        return;
    };
    let key = key
        .split(" at line ")
        .next()
        .unwrap_or_default()
        .trim_matches('"');
    let first = offset(yaml, &error);
    let lines = yaml[first..].match_indices(key).map(|(at, _)| first + at);
    let is_key = |at: &usize| {
        yaml[at + key.len()..]
            .trim_start_matches(['"', '\''])
            .starts_with(':')
    };
    let at = lines.filter(is_key).nth(1).unwrap_or(first);
    let message = format!("the key {} is there twice", quoted(key));
    found.error_at(Rule::DuplicateKey, at, message);
}

/// Puts the value at an error in quotes, if it is text with a colon. It ends before the next line with the
/// indentation of its key.
fn quote_value(yaml: &str, error: &Error) -> Option<String> {
    let wrong = error.location()?.line();
    let lines: Vec<&str> = yaml
        .split_inclusive('\n')
        .take(wrong + MAX_VALUE_LINES)
        .collect();
    let at = lines.get(..wrong)?.len() - 1;
    // The wrong line may continue the text above it.
    let is_above = |line: &usize| indentation(lines[*line]) < indentation(lines[at]);
    let above = (0..at).rev().find(is_above);
    let first = above
        .filter(|line| split_key(lines[*line]).is_some())
        .unwrap_or(at);
    let (key, value) = split_key(lines[first])?;
    let rest = lines[first + 1..].iter();
    let is_value = |line: &&&str| !line.trim().is_empty() && indentation(line) > indentation(key);
    let more: Vec<&str> = rest.take_while(is_value).copied().collect();
    // Another key at a wrong indentation is not text.
    let is_flag = |line: &&str| {
        let name = line.trim().split(':').next().unwrap_or_default();
        line.contains(':') && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
    };
    if more.iter().any(is_flag) {
        return None;
    }

    let text = [&[value], &*more]
        .concat()
        .iter()
        .map(|line| line.trim())
        .collect::<Vec<_>>();
    let text = text.join(" ");
    // Brackets or quotes around all of it are YAML.
    let close = match text.chars().next() {
        Some('[') => Some(']'),
        Some(quote @ ('"' | '\'')) => Some(quote),
        _ => None,
    };
    let is_text = match close {
        Some(close) => text[1..].contains(close) && !text.ends_with(close),
        None => !text.starts_with(['|', '>', '{']),
    };
    if !is_text || !(text.contains(": ") || text.ends_with(':')) {
        return None;
    }
    let before: usize = lines[..first].iter().map(|line| line.len()).sum();
    let length: usize = lines[first..=first + more.len()]
        .iter()
        .map(|line| line.len())
        .sum();
    let quoted = format!("{key}: '{}'", text.replace('\'', "''"));
    // The lines below keep their numbers.
    let breaks = "\n".repeat(more.len() + 1);
    Some([&yaml[..before], &quoted, &breaks, &yaml[before + length..]].concat())
}

/// Splits a line into its key, with its indentation, and its value.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(": ")?;
    let is_key = |c: char| c.is_ascii_alphanumeric() || "_- ".contains(c);
    let value = value.trim();
    (key.chars().all(is_key) && !value.is_empty()).then_some((key, value))
}

/// Returns the column of a line's key or text, behind the marks of list items.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '-']).len()
}

/// Returns where and why a text is not YAML. Characters that nobody sees go first.
fn explain(source: &str, at: usize, error: &Error) -> (usize, String) {
    let is_wrong = |c: &char| c.is_control() && !"\t\n\r\u{85}".contains(*c) || *c == '\u{feff}';
    if let Some((at, c)) = source.char_indices().find(|(_, c)| is_wrong(c)) {
        return (
            at,
            format!("the character {} cannot be in YAML", c.escape_unicode()),
        );
    }
    let message = error.to_string();
    (
        at,
        text::shown(message.split(" at line ").next().unwrap_or_default()),
    )
}

/// Returns the byte of an error: of the token that the library scanned, if it says so.
fn offset(source: &str, error: &Error) -> usize {
    let message = error.to_string();
    let scanned = message.split_once("while scanning").and_then(|(_, token)| {
        let (_, place) = token.split_once(" at line ")?;
        let (line, column) = place.split_once(" column ")?;
        Some((line.parse().ok()?, column.parse().ok()?))
    });
    let location = error.location().map(|at| (at.line(), at.column()));
    let Some((line, column)) = scanned.or(location) else {
        // It has no place only if a second document begins.
        return source.find("\n...").map_or(0, |end| end + 1);
    };
    let start = line_start(source, line);
    let line = source[start..].lines().next().unwrap_or_default();
    let column = line.char_indices().nth(column - 1);
    start + column.map_or(line.len(), |(at, _)| at)
}

/// Returns the byte at which a line starts, counted from 1.
fn line_start(source: &str, line: usize) -> usize {
    source
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum()
}

/// Returns the byte of a value such as `/flags/round_number`, or of its key if the value is not on the
/// key's line, else of the nearest key above it.
pub(super) fn find_place(text: &str, yaml: Range<usize>, path: &str) -> usize {
    let mut place = yaml.end;
    let mut block = yaml.start;
    for step in path.split('/').skip(1) {
        let Some((key, value)) = find_entry(text, block..yaml.end, step) else {
            break;
        };
        block = value.start;
        place = if value.is_empty() { key } else { value.start };
    }
    place
}

/// Finds an entry of a block by its key, or an item by its number: its byte, and the rest of its line.
fn find_entry(text: &str, block: Range<usize>, step: &str) -> Option<(usize, Range<usize>)> {
    let mut indent: Option<usize> = None;
    let mut items = 0_usize;
    let mut end = block.start;
    for line in text[block].split_inclusive('\n') {
        let content = line.trim_start_matches(' ');
        let start = end + line.len() - content.len();
        end += line.len();
        let content = content.trim_end();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let column = start - text[..start].rfind('\n').map_or(0, |at| at + 1);
        let indent = *indent.get_or_insert(column);
        if column < indent {
            return None;
        }
        if column > indent {
            continue;
        }
        let is_item = content == "-" || content.starts_with("- ");
        items += usize::from(is_item);
        let key = match is_item {
            true => (step == (items - 1).to_string()).then_some("-"),
            false => {
                let key = content.split(':').next().unwrap_or_default();
                (key.trim_matches(['"', '\'']) == step).then_some(key)
            }
        };
        if let Some(key) = key {
            let rest = content[key.len()..].trim_start_matches(':').trim_start();
            let value = start + content.len() - rest.len()..start + content.len();
            return Some((start, value));
        }
    }
    None
}
