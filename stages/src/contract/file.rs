//! The parts of a summary file: two fences, the YAML between them, and the body.

use super::rule::{Collector, Place, Rule};

/// The most bytes of a summary.
pub const MAX_BYTES: usize = 256 * 1024;
/// The heading of the text for the next stage.
const CONTEXT: &str = "Context for Next Stage";

/// Returns the text of a summary's bytes, without a byte order mark.
pub(super) fn read<'b>(bytes: &'b [u8], findings: &mut Collector) -> Option<&'b str> {
    if bytes.len() > MAX_BYTES {
        findings.add_at(Rule::TooLarge, Place::START, "");
        return None;
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    str::from_utf8(bytes)
        .inspect_err(|error| {
            let place = Place::from_byte(&String::from_utf8_lossy(bytes), error.valid_up_to());
            findings.add_at(Rule::NotUtf8, place, "");
        })
        .ok()
}

/// Splits a text into the YAML, with the line `---` above it, and the body. A line `---` further down belongs to the body.
pub(super) fn split<'t>(text: &'t str, findings: &mut Collector) -> Option<(&'t str, usize)> {
    let mut end = 0;
    for (line, number) in text.split_inclusive('\n').zip(0..) {
        let start = end;
        end += line.len();
        let rest = line.strip_prefix("---");
        let is_fence = rest.is_some_and(|rest| rest.trim().is_empty());
        if is_fence && number > 0 {
            return Some((&text[..start], end));
        }
        if !is_fence && number == 0 {
            break;
        }
    }
    findings.add_at(Rule::NoFrontmatter, Place::START, "");
    None
}

/// A heading of a text, and the lines below it up to the next heading.
pub(crate) struct Section<'t> {
    /// The number of its line, from 1.
    pub(crate) line: usize,
    pub(crate) level: usize,
    pub(crate) heading: &'t str,
    pub(crate) body: Vec<Line<'t>>,
}

/// A line below a heading.
pub(crate) struct Line<'t> {
    pub(crate) number: usize,
    pub(crate) text: &'t str,
    /// Whether it is in a fence, or is one.
    pub(crate) is_code: bool,
}

/// Splits a text below a byte at the headings of a level up to this one.
pub(crate) fn sections(text: &str, from: usize, deepest: usize) -> Vec<Section<'_>> {
    let first = text[..from].matches('\n').count() + 1;
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut is_open = false;
    for (text, number) in text[from..].split_inclusive('\n').zip(first..) {
        let is_fence = text.trim_start().starts_with("```");
        is_open ^= is_fence;
        let is_code = is_open || is_fence;
        let title = text.trim_start_matches('#');
        let level = text.len() - title.len();
        if !is_code && (1..=deepest).contains(&level) && title.starts_with(' ') {
            sections.push(Section {
                line: number,
                level,
                heading: title.trim().trim_end_matches(['#', ' ']),
                body: Vec::new(),
            });
        } else if let Some(section) = sections.last_mut() {
            section.body.push(Line {
                number,
                text,
                is_code,
            });
        }
    }
    sections
}

/// Returns the text below the heading for the next stage, up to the next heading of its level.
pub(super) fn context(text: &str, body: usize, findings: &mut Collector) -> Option<String> {
    let mut sections = sections(text, body, 2).into_iter();
    let Some(section) = sections.find(|one| one.level == 2 && one.heading == CONTEXT) else {
        let end = Place::from_byte(text, text.len());
        findings.add_at(Rule::NoContext, end, "");
        return None;
    };
    let context: String = section.body.iter().map(|line| line.text).collect();
    // The first line keeps its indentation.
    Some(
        context
            .trim_start_matches(['\r', '\n'])
            .trim_end()
            .to_owned(),
    )
}
