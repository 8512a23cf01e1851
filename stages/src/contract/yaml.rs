//! The YAML of a frontmatter as JSON, with the places of its values, and the slips of models that are read as they
//! were meant.

use std::collections::HashMap;

use claudex_loop::text;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput};
use serde_json::{Map as JsonMap, Value as Json};

use super::file;
use super::rule::{Collector, Lenient, Place, Rule, quote};

/// The most maps and lists inside each other.
const MAX_DEPTH: usize = 64;
/// The longest path of a value whose place is kept, in bytes.
const MAX_PATH_BYTES: usize = 300;
/// The most values with an unquoted colon that are read to their ends.
const MAX_QUOTED_VALUES: usize = 20;

/// The answer of a lenient reader to a value with an unquoted colon.
pub(super) const READ_TO_END: Lenient = Lenient::Corrected("read to the end of the line");
/// The message about a value with an unquoted colon.
pub(super) const NOT_QUOTED: &str = "text with `: ` is not in quotes";

/// Returns the frontmatter of a Markdown file, or `None` if it cannot be read.
pub(crate) fn frontmatter(text: &str) -> Option<JsonMap<String, Json>> {
    let mut findings = Collector::default();
    let (yaml, _) = file::split(text, &mut findings)?;
    match parse(&text[yaml], &mut findings)? {
        Json::Object(keys) if !findings.has(Lenient::Crash) => Some(keys),
        _ => None,
    }
}

/// Returns the byte at which the text below the frontmatter starts, or 0 if there is none.
pub(crate) fn body_start(text: &str) -> usize {
    let parts = file::split(text, &mut Collector::default());
    parts.map_or(0, |(_, body)| body)
}

/// Reads the YAML of a frontmatter, with null for each placeholder. Returns `None` if it is not YAML with keys.
pub(super) fn read(yaml: &str, findings: &mut Collector) -> Option<Json> {
    let lines = yaml.split_inclusive('\n').zip(1..);
    let corrected: String = lines
        .map(|(line, number)| correct_line(line, number, findings))
        .collect();
    let keys = parse(&corrected, findings)?;
    if !keys.is_object() {
        findings.add_at(Rule::BadYaml, place(1, 0), "expected a map of keys");
        return None;
    }
    Some(keys)
}

/// Returns a line with spaces for the no-break spaces around its key and its value, and with null for a placeholder of the
/// template: `{N}`, `"{path}"`, `null | "{reason}"`.
fn correct_line(line: &str, number: usize, findings: &mut Collector) -> String {
    const SPACE: char = '\u{a0}';
    let is_structure = |c: char| c.is_ascii_alphanumeric() || "_- \u{a0}".contains(c);
    let behind = match line.trim_start_matches(is_structure).strip_prefix(':') {
        Some(behind_key) => behind_key.trim_start_matches([' ', SPACE]),
        None => line.trim_start_matches([' ', '-', SPACE]),
    };
    let start = line.len() - behind.len();
    let value = behind.trim_end();
    let end = start + value.len();
    let place_of = |at: usize| place(number, line[..at].chars().count());
    let is_structural = |(at, _): &(usize, &str)| !(start..end).contains(at);
    if let Some((at, _)) = line.match_indices(SPACE).find(is_structural) {
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

/// Parses YAML. A value with an unquoted `: ` is read to the end of its line.
fn parse(yaml: &str, findings: &mut Collector) -> Option<Json> {
    // A line break alone would move the places of the text after it.
    let mut yaml = yaml.replace("\r\n", "\n");
    let is_wrong = |c: char| c.is_control() && !"\t\n\u{85}".contains(c) || c == '\u{feff}';
    if let Some(at) = yaml.find(is_wrong) {
        let c = yaml[at..].chars().next()?;
        let Place { line, column } = Place::from_byte(&yaml, at);
        let detail = format!("the character {} cannot be in YAML", c.escape_unicode());
        findings.add_at(Rule::BadYaml, place(line, column - 1), detail);
        return None;
    }
    if let Some(place) = find_tab(&yaml) {
        findings.add_at(Rule::BadYaml, place, "a tab is where YAML expects spaces");
        return None;
    }
    for _ in 0..=MAX_QUOTED_VALUES {
        findings.places.clear();
        let parser = Parser::new_from_str(&yaml);
        let error = match (Loader { parser, findings }).document() {
            Ok(keys) => return Some(keys),
            Err(error) => error,
        };
        let at = *error.marker();
        let place = marker_place(at);
        let mut lines: Vec<&str> = yaml.split_inclusive('\n').collect();
        let line = lines.get_mut(at.line().saturating_sub(1));
        let quoted = line.as_ref().and_then(|line| quote_value(line));
        let Some((line, quoted)) = line.zip(quoted) else {
            // The agent can put a text of several lines in quotes.
            let is_fixable = yaml.chars().nth(at.index()) == Some(':') || findings.has(READ_TO_END);
            let lenient = findings.add_at(Rule::BadYaml, place, text::shown(error.info()));
            if is_fixable {
                *lenient = Lenient::Refused;
            }
            return None;
        };
        *findings.add_at(Rule::BadYaml, place, NOT_QUOTED) = READ_TO_END;
        *line = &quoted;
        yaml = lines.concat();
    }
    findings.add_at(
        Rule::BadYaml,
        place(1, 0),
        "too many values are not in quotes",
    );
    None
}

/// Finds a tab in the indentation of a key or an item. The library names the line above it.
fn find_tab(yaml: &str) -> Option<Place> {
    yaml.lines().enumerate().find_map(|(number, line)| {
        let content = line.trim_start_matches([' ', '\t']);
        let tab = line[..line.len() - content.len()].find('\t')?;
        let is_structure = content.contains(": ") || content.starts_with("- ");
        (tab == 0 || is_structure).then_some(place(number + 1, tab))
    })
}

/// Returns the place in the file of a place in its YAML, which starts below the first fence.
fn place(line: usize, column: usize) -> Place {
    Place {
        line: line + 1,
        column: column + 1,
    }
}

fn marker_place(at: Marker) -> Place {
    place(at.line(), at.col())
}

/// The places of the values of a frontmatter by paths such as `/flags/round_number`. That of the empty path is its end.
pub(super) type Places = HashMap<String, Place>;

/// Returns the place of a value, else of the nearest one above it.
pub(super) fn find_place(places: &Places, path: &str) -> Place {
    let mut path = path;
    while !places.contains_key(path) {
        let Some((above, _)) = path.rsplit_once('/') else {
            return place(1, 0);
        };
        path = above;
    }
    places[path]
}

/// Reads the events of a parser.
struct Loader<'y, 'f> {
    parser: Parser<'y, StrInput<'y>>,
    findings: &'f mut Collector,
}

impl<'y> Loader<'y, '_> {
    /// Returns the next event that is not the border of a document.
    fn next(&mut self) -> Result<(Event<'y>, Span), ScanError> {
        loop {
            let end = || ScanError::new_str(Marker::default(), "the text ends");
            match self.parser.next_event().ok_or_else(end)?? {
                (Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd, _) => {}
                found => return Ok(found),
            }
        }
    }

    fn document(&mut self) -> Result<Json, ScanError> {
        let (event, span) = self.next()?;
        let value = self.value(event, span, "", 0)?;
        let (event, span) = self.next()?;
        self.note("", span.end);
        match event {
            Event::StreamEnd => Ok(value),
            _ => Err(ScanError::new_str(span.end, "a second document begins")),
        }
    }

    fn value(
        &mut self,
        event: Event<'y>,
        span: Span,
        path: &str,
        depth: usize,
    ) -> Result<Json, ScanError> {
        let problem = match event {
            _ if depth > MAX_DEPTH => "too deeply nested",
            Event::Scalar(text, ScalarStyle::Plain, _, None) => return Ok(plain_value(&text)),
            Event::Scalar(text, _, _, None) => return Ok(Json::from(text.into_owned())),
            Event::SequenceStart(_, None) => return self.items(path, depth + 1),
            Event::MappingStart(_, None) => return self.entries(path, depth + 1),
            Event::Alias(_) => "an alias repeats a value",
            _ => "a tag is not allowed",
        };
        Err(ScanError::new_str(span.start, problem))
    }

    fn items(&mut self, path: &str, depth: usize) -> Result<Json, ScanError> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(Json::Array(items));
            }
            let path = path_below(path, &items.len().to_string());
            self.note(&path, span.start);
            items.push(self.value(event, span, &path, depth)?);
        }
    }

    fn entries(&mut self, path: &str, depth: usize) -> Result<Json, ScanError> {
        let mut keys = JsonMap::new();
        loop {
            let (key, key_start) = match self.next()? {
                (Event::MappingEnd, _) => return Ok(Json::Object(keys)),
                (Event::Scalar(key, ..), span) => (key.into_owned(), span.start),
                (_, span) => return Err(ScanError::new_str(span.start, "a key is not text")),
            };
            let path = path_below(path, &key);
            let (event, span) = self.next()?;
            // A value below its key has the place of the key.
            let is_beside = span.start.line() == key_start.line() && !span.is_empty();
            self.note(&path, if is_beside { span.start } else { key_start });
            let value = self.value(event, span, &path, depth)?;
            if keys.insert(key.clone(), value).is_some() {
                let rule = Rule::DuplicateKey;
                self.findings
                    .add_at(rule, marker_place(key_start), quote(&key));
            }
        }
    }

    fn note(&mut self, path: &str, at: Marker) {
        let place = marker_place(at);
        self.findings.places.insert(path.to_owned(), place);
    }
}

/// Returns the path of a value below another one, if it is short enough.
fn path_below(path: &str, key: &str) -> String {
    match path.len() + key.len() {
        0..MAX_PATH_BYTES => format!("{path}/{key}"),
        _ => path.to_owned(),
    }
}

/// Returns the value of a text without quotes. The library that writes summaries recognizes values that are not text.
fn plain_value(text: &str) -> Json {
    let is_word = text.starts_with(|c: char| c.is_ascii_digit() || "+-.~nNtTfF".contains(c));
    if !is_word && !text.is_empty() {
        return Json::from(text);
    }
    match serde_yaml::from_str(text) {
        Ok(value @ (Json::Null | Json::Bool(_) | Json::Number(_))) => value,
        _ => Json::from(text),
    }
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
