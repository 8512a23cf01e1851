//! YAML as values that know where they stand. What is read is what a summary can need: no anchor, no alias, no tag, and not deep.
//!
//! The parser gives one event after another and is asked for no more once a limit is reached, so that neither depth nor size is
//! paid for; the file's size was checked before.

use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::findings::{Found, quoted};
use super::rule::Rule;
use super::scalar::{is_placeholder, quoted_length, resolved};

/// The most values of a document, keys counted.
pub(crate) const MOST_VALUES: usize = 4_096;
/// How deep values are nested at most: a description of an option is at 5.
pub(crate) const DEEPEST: usize = 16;

/// A value and where it stands, in bytes of the file. An empty one is behind its key.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

/// A value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// It was left as the template has it: as good as missing, and said already.
    Placeholder,
    Null,
    Flag(bool),
    Whole(u64),
    Real(f64),
    Text(String),
    List(Vec<Node>),
    Map(Map),
}

/// The entries of a mapping, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Map {
    pub(crate) entries: Vec<(Key, Node)>,
    /// Whether it stands in braces.
    pub(crate) is_flow: bool,
}

/// A key and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
}

impl Map {
    /// Returns an entry that is there: null and placeholders count as missing.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        let (_, node) = self.entry(name)?;
        (!matches!(node.value, Value::Null | Value::Placeholder)).then_some(node)
    }

    /// Returns a key with its value, whatever that is.
    pub(crate) fn entry(&self, name: &str) -> Option<&(Key, Node)> {
        self.entries.iter().find(|(key, _)| key.name == name)
    }
}

impl Value {
    pub(crate) fn map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Node]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Node {
    pub(crate) fn map(&self) -> Option<&Map> {
        self.value.map()
    }

    /// Says what kind of value it is.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Placeholder => "a placeholder",
            Value::Null => "null",
            Value::Flag(_) => "true or false",
            Value::Whole(_) | Value::Real(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// Returns it as JSON. What JSON has no number for is null.
    pub(crate) fn json(&self) -> serde_json::Value {
        match &self.value {
            Value::Placeholder | Value::Null => serde_json::Value::Null,
            Value::Flag(flag) => (*flag).into(),
            Value::Whole(number) => (*number).into(),
            Value::Real(number) => (*number).into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(Self::json).collect(),
            Value::Map(map) => {
                let entries = map.entries.iter();
                entries
                    .map(|(key, node)| (key.name.clone(), node.json()))
                    .collect()
            }
        }
    }
}

/// Reads the YAML that stands at `at` in the text. What is no YAML is found, and then there is nothing; a key that stands twice is
/// found, and the first one is kept.
pub(crate) fn read(text: &str, at: Range<usize>, found: &mut Found) -> Option<Node> {
    let yaml = &text[at.clone()];
    // The parser counts characters.
    let offsets: Vec<usize> = yaml
        .char_indices()
        .map(|(byte, _)| at.start + byte)
        .collect();
    let mut reading = Reading {
        text,
        offsets,
        end: at.end,
        open: Vec::new(),
        root: None,
        values: 0,
        found,
    };
    // To the parser one of them is the end.
    if let Some((byte, one)) = yaml.char_indices().find(|(_, one)| !is_printable(*one)) {
        let at = at.start + byte;
        let message = format!(
            "the character {} cannot stand in YAML",
            one.escape_unicode()
        );
        return reading.refuse(
            at..at + one.len_utf8(),
            &message,
            "take it out, or write it as an escape in double quotes",
        );
    }
    for event in Parser::new_from_str(yaml) {
        match event {
            Ok((event, span)) => reading.event(event, span)?,
            Err(error) => {
                let at = reading.place_of(error.marker().index());
                let help = "mend the YAML here; text with `: `, ` #` or quotes in it stands in double quotes";
                return reading.refuse(at..at, error.info(), help);
            }
        }
    }
    if reading.root.is_none() {
        let help = "write the seven keys between the lines `---`";
        return reading.refuse(at.start..at.start, "the frontmatter is empty", help);
    }
    reading.root
}

/// Returns whether YAML has this character in its text.
pub(crate) fn is_printable(one: char) -> bool {
    matches!(one, '\t' | '\n' | '\r' | '\u{85}' | '\u{feff}')
        || !one.is_control() && !matches!(one, '\u{fffe}' | '\u{ffff}')
}

/// A list or a mapping of which the end has not been seen.
struct Open {
    start: usize,
    /// Whether it stands in brackets.
    is_flow: bool,
    node: Value,
    /// A key that waits for its value, and whether it is the first of its name.
    key: Option<(Key, bool)>,
    /// Where the keys stand.
    names: HashMap<String, usize>,
}

struct Reading<'a, 'f> {
    text: &'a str,
    offsets: Vec<usize>,
    end: usize,
    open: Vec<Open>,
    root: Option<Node>,
    values: usize,
    found: &'f mut Found,
}

impl Reading<'_, '_> {
    fn byte(&self, index: usize) -> usize {
        self.offsets.get(index).copied().unwrap_or(self.end)
    }

    /// Returns where an error is: the parser names the begin of what a tab interrupts.
    fn place_of(&self, index: usize) -> usize {
        let at = self.byte(index);
        let mut begin = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        for line in self.text[begin..self.end].split_inclusive('\n').take(2) {
            if line.trim_start_matches(' ').starts_with('\t') {
                return begin + line.len() - line.trim_start_matches(' ').len();
            }
            begin += line.len();
        }
        at
    }

    /// Returns the end of a list or mapping in brackets, of which the last value ends here.
    fn closing(&self, last: usize) -> usize {
        let (mut at, rest) = (last, &self.text[last..self.end]);
        for line in rest.split_inclusive('\n') {
            let code = line.split('#').next().unwrap_or_default();
            if let Some(end) = code.find([']', '}']) {
                return at + end + 1;
            }
            at += line.len();
        }
        last
    }

    fn refuse<T>(&mut self, span: Range<usize>, message: &str, help: &str) -> Option<T> {
        self.found.error(Rule::BadYaml, span, message, help);
        None
    }

    /// Takes up one event; nothing where the document is refused.
    fn event(&mut self, event: Event<'_>, span: Span) -> Option<()> {
        let (start, end) = (self.byte(span.start.index()), self.byte(span.end.index()));
        let (anchor, tag) = match &event {
            Event::Alias(_) => (1, false),
            Event::Scalar(_, _, anchor, tag) => (*anchor, tag.is_some()),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => {
                (*anchor, tag.is_some())
            }
            _ => (0, false),
        };
        if anchor != 0 || tag {
            let help = "write the value itself, without `&`, `*` and `!`; text that begins with one stands in double quotes";
            let before = self.text[..start].trim_end();
            let begin = before
                .rfind(|one: char| one.is_whitespace() || matches!(one, '[' | '{' | ','))
                .map_or(0, |at| at + 1);
            let start = if matches!(event, Event::Alias(_)) {
                start
            } else {
                begin
            };
            return self.refuse(
                start..end.max(start),
                "anchors, aliases and tags are not read",
                help,
            );
        }
        let begins = !matches!(event, Event::SequenceEnd | Event::MappingEnd);
        self.values += usize::from(begins);
        if self.values > MOST_VALUES || self.open.len() > DEEPEST {
            let message = format!(
                "the frontmatter has more than {MOST_VALUES} values, or is nested more than {DEEPEST} deep"
            );
            return self.refuse(
                start..end,
                &message,
                "keep it short, and write the rest below it",
            );
        }
        let is_flow = self.text[start..].starts_with(['[', '{']) && end > start;
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                let help = "take out the line that begins with `---` or `...`";
                return self.refuse(start..end, "a second YAML document begins", help);
            }
            Event::Scalar(content, style, ..) => {
                let node = self.scalar(&content, style, start, end);
                self.take(node)?;
            }
            Event::SequenceStart(..) => self.begin(start, is_flow, Value::List(Vec::new())),
            Event::MappingStart(..) => self.begin(
                start,
                is_flow,
                Value::Map(Map {
                    entries: Vec::new(),
                    is_flow,
                }),
            ),
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop()?;
                let last = match &open.node {
                    Value::List(items) => items.last(),
                    Value::Map(map) => map.entries.last().map(|(_, node)| node),
                    _ => None,
                };
                let last = last.map_or(open.start, |node| node.span.end);
                let node = Node {
                    span: open.start..if open.is_flow {
                        self.closing(last.max(open.start + 1))
                    } else {
                        last
                    },
                    value: open.node,
                };
                let node = self.without_placeholder(node);
                self.take(node)?;
            }
            _ => {}
        }
        Some(())
    }

    fn begin(&mut self, start: usize, is_flow: bool, node: Value) {
        self.open.push(Open {
            start,
            is_flow,
            node,
            key: None,
            names: HashMap::new(),
        });
    }

    /// Puts a value where it belongs.
    fn take(&mut self, node: Node) -> Option<()> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Some(());
        };
        match (&mut open.node, open.key.take()) {
            (Value::Map(map), Some((key, true))) => map.entries.push((key, node)),
            (Value::Map(_), None) => {
                let name = match node.value {
                    Value::List(_) | Value::Map(_) => {
                        return self.refuse(
                            node.span,
                            "a key is no text",
                            "write a word before the colon",
                        );
                    }
                    Value::Text(name) => name,
                    _ => self.text[node.span.clone()].to_owned(),
                };
                let (at, span) = (node.span.start, node.span);
                let first = *open.names.entry(name.clone()).or_insert(at);
                open.key = Some((
                    Key {
                        name: name.clone(),
                        span: span.clone(),
                    },
                    first == at,
                ));
                if first != at {
                    let above = if self.found.is_full() {
                        ""
                    } else {
                        &self.text[..first]
                    };
                    let line = above.matches('\n').count() + 1;
                    let message = format!(
                        "the key {} stands twice: line {line} has it, too",
                        quoted(&name)
                    );
                    self.found
                        .error(Rule::DuplicateKey, span, message, "take out one of them");
                }
            }
            (Value::List(items), _) => items.push(node),
            // The first one of its name is kept.
            _ => {}
        }
        Some(())
    }

    /// Reads a scalar: one in quotes, or of several lines, is text.
    fn scalar(&mut self, content: &str, style: ScalarStyle, start: usize, end: usize) -> Node {
        let plain = matches!(style, ScalarStyle::Plain);
        // The parser writes `~` where nothing stands.
        let is_absent = plain && content == "~" && !self.text[start..].starts_with('~');
        let end = match style {
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                start + quoted_length(&self.text[start..])
            }
            _ if is_absent || end < start => start,
            _ => start + self.text[start..end].trim_end().len(),
        };
        let resolved = plain.then(|| resolved(content)).flatten();
        let value = resolved.unwrap_or_else(|| Value::Text(content.to_owned()));
        let node = Node {
            span: start..end,
            value,
        };
        self.without_placeholder(node)
    }

    /// Finds a value that is still that of the template: `{N}`, `"{path}"`, `null | "{reason}"`. In YAML the first is a mapping.
    fn without_placeholder(&mut self, node: Node) -> Node {
        let is_key = self
            .open
            .last()
            .is_some_and(|open| matches!(&open.node, Value::Map(_)) && open.key.is_none());
        let is_one = match &node.value {
            Value::Text(text) => is_placeholder(text),
            Value::Map(map) => {
                let is_empty = |(_, node): &(Key, Node)| {
                    matches!(node.value, Value::Null) && node.span.is_empty()
                };
                map.is_flow && !map.entries.is_empty() && map.entries.iter().all(is_empty)
            }
            _ => false,
        };
        if is_key || !is_one {
            return node;
        }
        let message = format!(
            "{} is a placeholder of the template",
            quoted(&self.text[node.span.clone()])
        );
        let help = "write the value in its place, or take out the line";
        self.found
            .error(Rule::Placeholder, node.span.clone(), message, help);
        Node {
            value: Value::Placeholder,
            ..node
        }
    }
}
