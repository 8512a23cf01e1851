//! The parts of a summary file: two fences, the YAML between them, and the body.

use std::ops::Range;

use super::rule::{Collector, Place, Rule};

/// The most bytes of a summary.
pub const MAX_BYTES: usize = 256 * 1024;
/// The heading of the text for the next stage.
const CONTEXT: &str = "## Context for Next Stage";

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

/// Splits a text into the YAML and the body. A line `---` further down belongs to the body.
pub(super) fn split(text: &str, findings: &mut Collector) -> Option<(Range<usize>, usize)> {
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
    findings.add_at(Rule::NoFrontmatter, Place::START, "");
    None
}

/// A line of a text.
pub(crate) struct Line<'t> {
    /// The number, from 1.
    pub(crate) number: usize,
    pub(crate) text: &'t str,
    /// Whether it is in a fence, or is one.
    pub(crate) is_code: bool,
}

/// Returns the lines below a byte.
pub(crate) fn lines(text: &str, from: usize) -> impl Iterator<Item = Line<'_>> {
    let first = text[..from].matches('\n').count() + 1;
    let mut is_open = false;
    let lines = text[from..].split_inclusive('\n').zip(first..);
    lines.map(move |(text, number)| {
        let is_fence = text.trim_start().starts_with("```");
        is_open ^= is_fence;
        let is_code = is_open || is_fence;
        Line {
            number,
            text,
            is_code,
        }
    })
}

/// Returns the text below the heading for the next stage, up to the next heading of its level.
pub(super) fn context(text: &str, body: usize, findings: &mut Collector) -> Option<String> {
    let mut section: Option<String> = None;
    for Line {
        text: line,
        is_code,
        ..
    } in lines(text, body)
    {
        let is_heading = !is_code && (line.starts_with("# ") || line.starts_with("## "));
        match &mut section {
            Some(_) if is_heading => break,
            Some(section) => *section += line,
            None if is_heading && line.trim_end().trim_end_matches(['#', ' ']) == CONTEXT => {
                section = Some(String::new());
            }
            None => {}
        }
    }
    if section.is_none() {
        let end = Place::from_byte(text, text.len());
        findings.add_at(Rule::NoContext, end, "");
    }
    // The first line keeps its indentation.
    section.map(|text| text.trim_start_matches(['\r', '\n']).trim_end().to_owned())
}
