//! The parts of a summary file: two fences, the YAML between them, and the body.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag};

use super::finding::{Collector, quoted};
use super::rule::Rule;

/// The most bytes of a summary.
pub const MAX_BYTES: usize = 256 * 1024;
/// The heading of the text for the next stage.
const CONTEXT: &str = "Context for Next Stage";

/// Checks that the bytes are a text of a summary's size.
pub(super) fn check_bytes(bytes: &[u8], found: &mut Collector<'_>) -> bool {
    if bytes.len() > MAX_BYTES {
        let message = format!("the file has {} bytes", bytes.len());
        found.error_at(Rule::TooLarge, 0, message);
        return false;
    }
    let Err(error) = std::str::from_utf8(bytes) else {
        return true;
    };
    let has_mark = bytes.starts_with("\u{feff}".as_bytes());
    let at = error.valid_up_to() - if has_mark { 3 } else { 0 };
    found.error_at(Rule::NotUtf8, at, "the file is not UTF-8 here");
    false
}

/// Splits a text into the YAML and the body. A line `---` further down belongs to the body.
pub(super) fn split(text: &str, found: &mut Collector<'_>) -> Option<(Range<usize>, usize)> {
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
    found.error_at(Rule::NoFrontmatter, 0, message);
    None
}

/// Returns the text below the heading for the next stage, up to the next heading of its level.
pub(super) fn context(text: &str, body: usize, found: &mut Collector<'_>) -> Option<String> {
    let markdown = &text[body..];
    let heading = |(event, span): (Event<'_>, Range<usize>)| match event {
        Event::Start(Tag::Heading { level, .. }) => {
            let line = markdown[span.clone()].lines().next()?;
            Some((level, line.trim(), span))
        }
        _ => None,
    };
    let headings: Vec<_> = Parser::new(markdown)
        .into_offset_iter()
        .filter_map(heading)
        .collect();
    let title = |line: &str| line.trim_matches('#').trim().to_owned();
    let is_it = |(level, line, _): &(HeadingLevel, &str, Range<usize>)| {
        *level == HeadingLevel::H2 && title(line) == CONTEXT
    };

    let Some(index) = headings.iter().position(is_it) else {
        let mut similar = headings.iter();
        match similar.find(|(_, line, _)| title(line).eq_ignore_ascii_case(CONTEXT)) {
            Some((_, line, span)) => {
                let at = body + span.start;
                let message = format!("the heading {} is not the expected one", quoted(line));
                found.error_at(Rule::NoContext, at, message);
            }
            None => {
                let message = "the section for the next stage is missing";
                found.error_at(Rule::NoContext, text.len(), message);
            }
        }
        return None;
    };
    // A text that `---` underlines is rather a text above a rule than a heading.
    let ends = |(level, line, span): &(HeadingLevel, &str, Range<usize>)| {
        (*level <= HeadingLevel::H2 && line.starts_with('#')).then_some(span.start)
    };
    let end = headings[index + 1..].iter().find_map(ends);
    let section = &markdown[headings[index].2.end..end.unwrap_or(markdown.len())];
    // The first line keeps its indentation.
    let blank_lines = section
        .split_inclusive('\n')
        .take_while(|line| line.trim().is_empty());
    let blank = blank_lines.map(str::len).sum();
    Some(section[blank..].trim_end().to_owned())
}
