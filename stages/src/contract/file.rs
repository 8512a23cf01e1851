//! The parts of a summary file: two fences, the YAML between them, and the body.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag};

use super::finding::{Collector, Place, quoted};
use super::rule::Rule;

/// The most bytes of a summary.
pub const MAX_BYTES: usize = 256 * 1024;
/// The heading of the text for the next stage.
const CONTEXT: &str = "Context for Next Stage";

/// Returns the text of a summary's bytes, without a byte order mark.
pub(super) fn read<'b>(bytes: &'b [u8], found: &mut Collector) -> Option<&'b str> {
    if bytes.len() > MAX_BYTES {
        let message = format!("the file has {} bytes", bytes.len());
        found.error_at(Rule::TooLarge, Place::START, message);
        return None;
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = str::from_utf8(bytes);
    if let Err(error) = text {
        let place = Place::from_byte(&String::from_utf8_lossy(bytes), error.valid_up_to());
        found.error_at(Rule::NotUtf8, place, "the file is not UTF-8 here");
    }
    text.ok()
}

/// Splits a text into the YAML and the body. A line `---` further down belongs to the body.
pub(super) fn split(text: &str, found: &mut Collector) -> Option<(Range<usize>, usize)> {
    let mut open: Option<usize> = None;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let start = end;
        end += line.len();
        let rest = line.strip_prefix("---");
        let is_fence = rest.is_some_and(|rest| rest.trim().is_empty());
        match open {
            None if is_fence => open = Some(end),
            None => break,
            Some(yaml) if is_fence => return Some((yaml..start, end)),
            Some(_) => {}
        }
    }
    let message = match open {
        Some(_) => "no second line `---` closes the frontmatter",
        None => "the file does not begin with a line `---`",
    };
    found.error_at(Rule::NoFrontmatter, Place::START, message);
    None
}

/// A heading of the body: its level, its line, and its place.
type Heading<'t> = (HeadingLevel, &'t str, Range<usize>);

/// Returns the text below the heading for the next stage, up to the next heading of its level.
pub(super) fn context(text: &str, body: usize, found: &mut Collector) -> Option<String> {
    let markdown = &text[body..];
    let events = Parser::new(markdown).into_offset_iter();
    let headings: Vec<Heading<'_>> = events
        .filter_map(|(event, span)| match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let line = markdown[span.clone()].lines().next()?;
                Some((level, line.trim(), span))
            }
            _ => None,
        })
        .collect();
    let title = |line: &str| line.trim_matches('#').trim().to_owned();
    let is_it =
        |(level, line, _): &Heading<'_>| *level == HeadingLevel::H2 && title(line) == CONTEXT;

    let Some(index) = headings.iter().position(is_it) else {
        let mut similar = headings.iter();
        let similar = similar.find(|(_, line, _)| title(line).eq_ignore_ascii_case(CONTEXT));
        let (at, message) = match similar {
            Some((_, line, span)) => (
                body + span.start,
                format!("the heading {} is not the expected one", quoted(line)),
            ),
            None => (
                text.len(),
                "the section for the next stage is missing".to_owned(),
            ),
        };
        found.error_at(Rule::NoContext, Place::from_byte(text, at), message);
        return None;
    };
    // A text that `---` underlines is rather a text above a rule than a heading.
    let mut next = headings[index + 1..].iter();
    let next = next.find(|(level, line, _)| *level <= HeadingLevel::H2 && line.starts_with('#'));
    let end = next.map_or(markdown.len(), |(_, _, span)| span.start);
    let section = &markdown[headings[index].2.end..end];
    // The first line keeps its indentation.
    let lines = section.split_inclusive('\n');
    let is_blank = |line: &&str| line.trim().is_empty();
    let blank = lines.take_while(is_blank).map(str::len).sum();
    Some(section[blank..].trim_end().to_owned())
}
