//! The YAML of a frontmatter as JSON, the places of its values, and the correction of slips.

use claudex_loop::text;
use serde_json::Value as Json;

use super::rule::{Lenient, Place, Reader, Rule, quote};
use super::{Keys, file};

/// The most opening braces and brackets: the library is slow with many inside each other.
const MAX_BRACKETS: usize = 1000;

/// The answer of a lenient reader to a value with an unquoted colon.
pub(super) const READ_TO_END: Lenient = Lenient::Corrected("read to the end of the line");
/// The message about a value with an unquoted colon.
pub(super) const NOT_QUOTED: &str = "text with `: ` is not in quotes";

/// Returns the frontmatter of a Markdown file, or `None` if it cannot be read.
pub(crate) fn frontmatter(text: &str) -> Option<Keys> {
    let (end, _) = file::split(text)?;
    parse(text[..end].to_owned(), &mut Reader::default())
}

/// Reads the frontmatter, with null for each placeholder. Returns `None` if it is not a YAML map.
pub(super) fn read(yaml: &str, reader: &mut Reader<'_>) -> Option<Keys> {
    let lines = yaml.split_inclusive('\n').zip(1..);
    let corrected = lines.map(|(line, number)| correct_line(line, number, reader));
    parse(corrected.collect(), reader)
}

/// Returns a line with normal spaces around its key and value, and with null for a placeholder of
/// the template: `{N}`, `"{path}"`, `null | "{reason}"`.
fn correct_line(line: &str, number: usize, reader: &mut Reader<'_>) -> String {
    const SPACE: char = '\u{a0}';
    let is_structure = |c: char| c.is_ascii_alphanumeric() || "_- \u{a0}".contains(c);
    let behind_key = line.trim_start_matches(is_structure).strip_prefix(':');
    let behind = behind_key.unwrap_or(line);
    let start = line.len() - behind.trim_start_matches([' ', '-', SPACE]).len();
    let value = line[start..].trim_end();
    let end = start + value.len();
    let mut spaces = line.match_indices(SPACE);
    if let Some((at, _)) = spaces.find(|(at, _)| !(start..end).contains(at)) {
        let detail = "a no-break space is not a space";
        *reader.add_at(Rule::BadYaml, Place::from_line(line, at, number), detail) =
            Lenient::Corrected("read as a space");
    }

    let written = value.split(" #").next().unwrap_or_default().trim_end();
    let quoted_name = written.strip_prefix("null |").unwrap_or(written).trim();
    let name = quoted_name
        .trim_matches('"')
        .strip_prefix('{')
        .and_then(|name| name.strip_suffix('}'));
    let is_name = |name: &str| !name.trim().is_empty() && !name.contains(['{', '}', ':']);
    let head = line[..start].replace(SPACE, " ");
    let tail = line[end..].replace(SPACE, " ");
    if name.is_some_and(is_name) {
        let place = Place::from_line(line, start, number);
        reader.add_at(Rule::Placeholder, place, &quote(written));
        return format!("{head}null{}{tail}", &value[written.len()..]);
    }
    format!("{head}{value}{tail}")
}

/// Parses YAML from its opening fence. A value with an unquoted `: ` ends with its line.
fn parse(yaml: String, reader: &mut Reader<'_>) -> Option<Keys> {
    reader.yaml = yaml;
    // The library does not name the line of these.
    let is_control = |c: char| c.is_control() && !"\t\r\n\u{85}".contains(c);
    if let Some(at) = reader.yaml.find(is_control) {
        let place = Place::from_byte(&reader.yaml, at);
        return reader.fail(Rule::BadYaml, place, "a control character is not text");
    }
    if reader.yaml.matches(['{', '[']).count() > MAX_BRACKETS {
        return reader.fail(Rule::BadYaml, Place::START, "too many braces and brackets");
    }
    loop {
        let keys = serde_yaml::from_str::<serde_yaml::Mapping>(&reader.yaml);
        let error = match keys.map(serde_json::to_value) {
            Ok(Ok(Json::Object(keys))) => return Some(keys),
            Ok(_) => return reader.fail(Rule::BadYaml, Place::START, "a key is not text"),
            Err(error) => error,
        };
        // The place is in front.
        let message = error.to_string();
        let problem = message.split(" at line ").next().unwrap_or_default();
        let mut lines: Vec<&str> = reader.yaml.split_inclusive('\n').collect();
        // The library counts more characters as line breaks.
        let place = error.location().map_or(Place::START, |at| Place {
            line: at.line().clamp(1, lines.len()),
            column: at.column(),
        });
        if let Some((_, key)) = problem.split_once("duplicate entry with key ") {
            let key = key.trim_matches('"');
            return reader.fail(Rule::DuplicateKey, find_second(&lines, place, key), "");
        }
        let line = &mut lines[place.line - 1];
        let is_tab = line.trim_start_matches(' ').starts_with('\t');
        if let Some(quoted) = quote_value(line) {
            *line = &quoted;
            reader.yaml = lines.concat();
            *reader.add_at(Rule::BadYaml, place, NOT_QUOTED) = READ_TO_END;
            continue;
        }
        // The agent can put a text of several lines in quotes.
        let around = &lines[place.line.saturating_sub(3)..place.line];
        let is_fixable = problem.contains("mapping values are not allowed")
            || reader.has(READ_TO_END)
            || around.iter().any(|line| is_item_with_colon(line));
        let tab = is_tab.then(|| "a tab is where YAML expects spaces".to_owned());
        let fix = "quote text with `: `, ` #` or quotes in it";
        let detail = tab.unwrap_or_else(|| format!("{}; {fix}", text::printable(problem)));
        let lenient = reader.add_at(Rule::BadYaml, place, &detail);
        if is_fixable {
            *lenient = Lenient::Refused;
        }
        return None;
    }
}

/// Returns the place of the second of two equal keys in the map that begins at a place.
fn find_second(lines: &[&str], map: Place, key: &str) -> Place {
    let rest = (map.line..).zip(&lines[map.line - 1..]);
    let mut places = rest.filter(|(_, line)| {
        let line = line.get(map.column - 1..);
        line.is_some_and(|line| split_key(line).0 == key)
    });
    places.nth(1).map_or(map, |(line, _)| Place { line, ..map })
}

/// Returns the place of a value by its path, such as `/flags/round_number`, or of its nearest
/// parent. Each part of the path is on the next line with that key or with the item of that number.
pub(super) fn find_place(yaml: &str, path: &str) -> Place {
    let lines: Vec<&str> = yaml.lines().map(str::trim_end).collect();
    let mut place = Place::from_line("", 0, lines.len() + 1);
    let mut rest = lines.iter().zip(1..);
    for part in path.split('/').skip(1) {
        let is_item = |(line, _): &(&&str, usize)| line.trim_start().starts_with("- ");
        let item: Option<usize> = part.parse().ok();
        let found = match item {
            Some(index) => rest.clone().filter(is_item).nth(index),
            None => rest.find(|(line, _)| split_key(line).0 == part),
        };
        let Some((line, number)) = found else { break };
        let (_, value) = split_key(line);
        let is_beside = item.is_none() && !value.is_empty() && !value.starts_with('#');
        let key = line.trim_start_matches([' ', '-']);
        let text = if is_beside { value } else { key };
        place = Place::from_line(line, line.len() - text.len(), number);
        if is_beside {
            break;
        }
        if item.is_some() {
            // It may begin with a key.
            rest = lines[number - 1..].iter().zip(number..);
        }
    }
    place
}

/// Splits a line into its key, without the dash of an item, and its value.
fn split_key(line: &str) -> (&str, &str) {
    let text = line.trim_start_matches([' ', '-']);
    let (key, value) = text.split_once(':').unwrap_or_default();
    (key.trim_matches(['"', '\'']), value.trim())
}

/// Returns whether a line is a list item with text that has a colon and is not in quotes.
fn is_item_with_colon(line: &str) -> bool {
    let item = line.trim_start().strip_prefix("- ");
    item.is_some_and(|text| !text.trim_start().starts_with(['"', '\'']) && text.contains(": "))
}

/// Puts the value of a line in quotes, if it is text with a colon.
fn quote_value(line: &str) -> Option<String> {
    let (key, value) = line.split_once(": ")?;
    let value = value.trim();
    let is_key = |c: char| c.is_ascii_alphanumeric() || "_- ".contains(c);
    let is_list = value.starts_with('[') && value.ends_with(']');
    let is_text = !is_list && !value.starts_with(['\'', '{', '|', '>']);
    let has_colon = value.contains(": ") || value.ends_with(':');
    let is_fixable = key.chars().all(is_key) && is_text && has_colon;
    is_fixable.then(|| format!("{key}: '{}'\n", value.replace('\'', "''")))
}
