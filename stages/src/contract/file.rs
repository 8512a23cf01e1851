//! The parts of a summary file: two fences, the YAML between them, and the body.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::findings::{Found, quoted};
use super::rule::Rule;

/// The most bytes of a summary.
pub const MOST_BYTES: usize = 256 * 1024;
/// The heading of what the next stage is told.
const CONTEXT: &str = "Context for Next Stage";

/// Where the parts stand, in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    /// The first fence, without its line end.
    pub(crate) open: Range<usize>,
    pub(crate) yaml: Range<usize>,
    /// The second fence, without its line end.
    pub(crate) close: Range<usize>,
    pub(crate) body: Range<usize>,
}

/// Returns the text of a file without a byte order mark. What is no summary by its bytes is found.
pub(crate) fn text_of<'a>(bytes: &'a [u8], found: &mut Found) -> Option<&'a str> {
    if bytes.len() > MOST_BYTES {
        let message = format!(
            "the file has {} bytes, and more than 256 KiB are not read",
            bytes.len()
        );
        found.error(
            Rule::TooLarge,
            0..0,
            message,
            "keep the summary short: what is long belongs in an artifact",
        );
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let at = error.valid_up_to();
            let mark = if bytes.starts_with("\u{feff}".as_bytes()) {
                3
            } else {
                0
            };
            let at = at.saturating_sub(mark);
            found.error(
                Rule::NotUtf8,
                at..at,
                "the file is not UTF-8 here",
                "write the file anew, as UTF-8",
            );
            None
        }
    }
}

/// Finds the parts of a file. A line `---` further down belongs to the body.
pub(crate) fn parts(text: &str, found: &mut Found) -> Option<Parts> {
    let mut at = 0;
    let mut open: Option<(Range<usize>, usize)> = None;
    for line in text.split_inclusive('\n') {
        let (begin, end) = (at, at + line.len());
        at = end;
        let fence = begin..begin + 3;
        match &open {
            None if is_fence(line) => open = Some((fence, end)),
            None => break,
            Some((first, yaml)) if is_fence(line) => {
                return Some(Parts {
                    open: first.clone(),
                    yaml: *yaml..begin,
                    close: fence,
                    body: end..text.len(),
                });
            }
            Some(_) => {}
        }
    }
    let help = "write a line `---`, the seven keys, and another line `---`";
    match open {
        Some((fence, _)) => {
            found.error(
                Rule::NoFrontmatter,
                fence,
                "no second line `---` closes the frontmatter",
                help,
            );
        }
        None => {
            let first = text.lines().next().unwrap_or_default().trim_end().len();
            found.error(
                Rule::NoFrontmatter,
                0..first,
                "the file does not begin with a line `---`",
                help,
            );
        }
    }
    None
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.trim().is_empty())
}

/// Returns the text below the heading for the next stage, up to the next heading of its level.
pub(crate) fn context(text: &str, parts: &Parts, found: &mut Found) -> Option<String> {
    let body = &text[parts.body.clone()];
    let mut events = Parser::new_ext(body, Options::empty()).into_offset_iter();
    let mut section: Option<Range<usize>> = None;
    let mut nearly = None;
    while let Some((event, span)) = events.next() {
        let Event::Start(Tag::Heading { level, .. }) = event else {
            continue;
        };
        if let Some(section) = &mut section {
            // A line that `---` underlines is meant as a line above a fence, more often than as a heading.
            if level <= HeadingLevel::H2 && body[span.start..].trim_start().starts_with('#') {
                section.end = span.start;
                break;
            }
            continue;
        }
        let mut title = String::new();
        for (event, _) in events.by_ref() {
            match event {
                Event::End(TagEnd::Heading(_)) => break,
                Event::Text(text) | Event::Code(text) => title.push_str(&text),
                _ => {}
            }
        }
        let title = title.trim();
        if title == CONTEXT && level == HeadingLevel::H2 {
            section = Some(span.end..body.len());
        } else if title.eq_ignore_ascii_case(CONTEXT) {
            nearly = nearly.or(Some(
                parts.body.start + span.start..parts.body.start + span.end,
            ));
        }
    }
    let Some(section) = section else {
        let (span, message) = match nearly {
            Some(span) => {
                let end = span.start + text[span.clone()].trim_end().len();
                let message = format!(
                    "the heading {} is another one",
                    quoted(text[span.start..end].trim())
                );
                (span.start..end, message)
            }
            None => (
                text.len()..text.len(),
                format!("the section `## {CONTEXT}` is missing"),
            ),
        };
        found.error(
            Rule::NoContext,
            span,
            message,
            format!("write the line `## {CONTEXT}`, and what the next stage has to know below it"),
        );
        return None;
    };
    // A first line that stands indented stays so.
    let text = body[section].trim_end();
    let blank = text
        .split_inclusive('\n')
        .take_while(|line| line.trim().is_empty())
        .map(str::len)
        .sum();
    Some(text[blank..].to_owned())
}
