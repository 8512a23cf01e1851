//! The YAML of a frontmatter as JSON, with the places of its values, and the slips of models that are read as they
//! were meant.

use std::collections::HashMap;

use claudex_loop::text;
use serde_json::{Map as JsonMap, Value as Json};

use super::file;
use super::rule::{Collector, Lenient, Place, Rule, quote};

/// The most values with an unquoted colon that are read to their ends.
const MAX_QUOTED_VALUES: usize = 20;
/// The most opening braces and brackets: the library is slow with many inside each other.
const MAX_BRACKETS: usize = 1000;
/// The most keys and items inside each other whose places are noted.
const MAX_DEPTH: usize = 64;

/// The answer of a lenient reader to a value with an unquoted colon.
pub(super) const READ_TO_END: Lenient = Lenient::Corrected("read to the end of the line");
/// The message about a value with an unquoted colon.
pub(super) const NOT_QUOTED: &str = "text with `: ` is not in quotes";

/// Returns the frontmatter of a Markdown file, or `None` if it cannot be read.
pub(crate) fn frontmatter(text: &str) -> Option<JsonMap<String, Json>> {
    let mut findings = Collector::default();
    let (yaml, _) = file::split(text, &mut findings)?;
    parse(yaml.to_owned(), &mut findings)
}

/// Returns the byte at which the text below the frontmatter starts, or 0 if there is none.
pub(crate) fn body_start(text: &str) -> usize {
    let parts = file::split(text, &mut Collector::default());
    parts.map_or(0, |(_, body)| body)
}

/// Reads the YAML of a frontmatter, with null for each placeholder. Returns `None` if it is not YAML with keys.
pub(super) fn read(yaml: &str, findings: &mut Collector) -> Option<JsonMap<String, Json>> {
    let lines = yaml.split_inclusive('\n').zip(1..);
    let corrected = lines.map(|(line, number)| correct_line(line, number, findings));
    let yaml = corrected.collect();
    parse(yaml, findings)
}

/// Returns a line with spaces for the no-break spaces around its key and its value, and with null for a placeholder of the
/// template: `{N}`, `"{path}"`, `null | "{reason}"`.
fn correct_line(line: &str, number: usize, findings: &mut Collector) -> String {
    const SPACE: char = '\u{a0}';
    let is_structure = |c: char| c.is_ascii_alphanumeric() || "_- \u{a0}".contains(c);
    let behind_key = line.trim_start_matches(is_structure).strip_prefix(':');
    let behind = behind_key.unwrap_or(line);
    let start = line.len() - behind.trim_start_matches([' ', '-', SPACE]).len();
    let value = line[start..].trim_end();
    let end = start + value.len();
    let place_of = |at: usize| Place {
        line: number,
        column: line[..at].chars().count() + 1,
    };
    let mut spaces = line.match_indices(SPACE);
    if let Some((at, _)) = spaces.find(|(at, _)| !(start..end).contains(at)) {
        let detail = "a no-break space is not a space";
        *findings.add_at(Rule::BadYaml, place_of(at), detail) =
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
        findings.add_at(Rule::Placeholder, place_of(start), quote(written));
        return format!("{head}null{}{tail}", &value[written.len()..]);
    }
    format!("{head}{value}{tail}")
}

/// Parses YAML from its opening fence on. A value with an unquoted `: ` is read to the end of its line.
fn parse(mut yaml: String, findings: &mut Collector) -> Option<JsonMap<String, Json>> {
    // The library does not name the line of these.
    if let Some(at) = yaml.find(|c: char| c.is_control() && !"\t\r\n\u{85}".contains(c)) {
        let place = Place::from_byte(&yaml, at);
        findings.add_at(Rule::BadYaml, place, "a control character is not text");
        return None;
    }
    if yaml.matches(['{', '[']).count() > MAX_BRACKETS {
        findings.add_at(Rule::BadYaml, Place::START, "too many braces and brackets");
        return None;
    }
    for _ in 0..=MAX_QUOTED_VALUES {
        let repeated = note_places(&yaml, findings);
        let keys = serde_yaml::from_str::<serde_yaml::Mapping>(&yaml);
        let error = match keys.map(serde_json::to_value) {
            Ok(Ok(Json::Object(keys))) => return Some(keys),
            Ok(_) => {
                findings.add_at(Rule::BadYaml, Place::START, "a key is not text");
                return None;
            }
            Err(error) => error,
        };
        let problem = error.to_string();
        let mut lines: Vec<&str> = yaml.split_inclusive('\n').collect();
        // The library counts more characters as line breaks.
        let place = error.location().map_or(Place::START, |at| Place {
            line: at.line().clamp(1, lines.len()),
            column: at.column(),
        });
        if problem.contains("duplicate entry") {
            findings.add_at(Rule::DuplicateKey, repeated.unwrap_or(place), "");
            return None;
        }
        let line = &mut lines[place.line - 1];
        let Some(quoted) = quote_value(line) else {
            // The agent can put a text of several lines in quotes.
            let is_fixable =
                problem.contains("mapping values are not allowed") || findings.has(READ_TO_END);
            let detail = if line.trim_start_matches(' ').starts_with('\t') {
                "a tab is where YAML expects spaces".to_owned()
            } else {
                // The place is in front.
                text::shown(problem.split(" at line ").next().unwrap_or(&problem))
            };
            let lenient = findings.add_at(Rule::BadYaml, place, detail);
            if is_fixable {
                *lenient = Lenient::Refused;
            }
            return None;
        };
        *line = &quoted;
        yaml = lines.concat();
        *findings.add_at(Rule::BadYaml, place, NOT_QUOTED) = READ_TO_END;
    }
    let detail = "too many values are not in quotes";
    findings.add_at(Rule::BadYaml, Place::START, detail);
    None
}

/// The places of the values of a frontmatter by paths such as `/flags/round_number`. That of the empty path is its end.
pub(super) type Places = HashMap<String, Place>;

/// Returns the place of a value, else of the nearest one above it.
pub(super) fn find_place(places: &Places, path: &str) -> Place {
    let mut path = path;
    while !places.contains_key(path) {
        let Some((above, _)) = path.rsplit_once('/') else {
            return Place::START;
        };
        path = above;
    }
    places[path]
}

/// A key or an item whose value is on the lines below.
struct Open {
    column: usize,
    path: String,
    /// The number of an item, from 0.
    item: Option<usize>,
}

/// Adds the places of the values that begin a line or follow a key or a dash. Returns the place of the first repeated key.
/// Values within braces and brackets have the place of the whole.
fn note_places(yaml: &str, findings: &mut Collector) -> Option<Place> {
    let places = &mut findings.places;
    places.clear();
    let mut repeated = None;
    let mut open: Vec<Open> = Vec::new();
    for (line, number) in yaml.lines().map(str::trim_end).zip(1..) {
        let place_of = |rest: &str| Place {
            line: number,
            column: line[..line.len() - rest.len()].chars().count() + 1,
        };
        let mut rest = line.trim_start_matches(' ');
        while let Some((key, behind)) = split_key(rest) {
            let value = behind.trim_start_matches(' ');
            let start = place_of(rest);
            let mut before = None;
            // The items of a list may begin below the first letter of its key.
            let is_over = |one: &mut Open| {
                one.column > start.column
                    || one.column == start.column && (key.is_some() || one.item.is_some())
            };
            while let Some(closed) = open.pop_if(is_over) {
                before = closed.item.filter(|_| closed.column == start.column);
            }
            if open.len() == MAX_DEPTH {
                break;
            }
            let item = key.is_none().then(|| before.map_or(0, |before| before + 1));
            let name = key.map_or_else(|| item.unwrap_or_default().to_string(), str::to_owned);
            let above = open.last().map_or("", |above| &above.path);
            let path = format!("{above}/{name}");
            let is_beside = !value.is_empty() && !value.starts_with('#');
            let place = if is_beside { place_of(value) } else { start };
            if places.insert(path.clone(), place).is_some() {
                repeated = repeated.or(Some(start));
            }
            open.push(Open {
                column: start.column,
                path,
                item,
            });
            rest = if item.is_some() { value } else { "" };
        }
    }
    let line = yaml.matches('\n').count() + 1;
    places.insert(String::new(), Place { line, column: 1 });
    repeated
}

/// Splits a line behind its key, or behind the dash of an item, which has none.
fn split_key(line: &str) -> Option<(Option<&str>, &str)> {
    if let Some(item) = line.strip_prefix('-') {
        return item.starts_with(' ').then_some((None, item));
    }
    let is_end =
        |(at, _): &(usize, &str)| matches!(line[at + 1..].chars().next(), None | Some(' '));
    let (at, _) = line.match_indices(':').find(is_end)?;
    Some((Some(line[..at].trim_matches(['"', '\''])), &line[at + 1..]))
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
