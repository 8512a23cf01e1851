//! The parts of a summary file: two fences, the YAML between them, and the body.

use super::rule::{Collector, Place, Rule};

/// The most bytes of a summary.
pub const MAX_BYTES: usize = 256 * 1024;
/// The heading of the text for the next stage.
const CONTEXT: &str = "Context for Next Stage";
/// The most lines of text above a summary, such as "Here is the summary:".
const MAX_LINES_BEFORE: usize = 3;

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

/// Blanks what models write around a summary: a few lines above it, and a code fence around all of it or its frontmatter. A
/// fence instead of the lines `---` becomes those. The numbers of the lines stay.
pub(super) fn unwrap(text: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_yaml = |line: &str| line.trim_end() == "```yaml";
    let mut rest = lines
        .iter_mut()
        .skip_while(|line| !is_fence(line) && !is_yaml(line));
    if let Some(begin) = rest.next().filter(|line| is_yaml(line)) {
        let mut rest = rest.skip_while(|line| line.trim().is_empty()).peekable();
        let end = rest
            .next_if(|line| !is_fence(line))
            .and_then(|_| rest.find(|line| is_code_fence(line)));
        if let Some(end) = end {
            *begin = "---\n";
            *end = "---\n";
        }
    }
    let begin = lines.iter().position(|line| is_fence(line));
    let (before, summary) = lines.split_at_mut(begin.unwrap_or(0));
    let is_wrapped = before.iter().any(|line| is_code_fence(line));
    let is_text = |line: &&&str| !line.trim().is_empty() && !is_code_fence(line);
    if before.iter().filter(is_text).count() <= MAX_LINES_BEFORE {
        before.fill("\n");
        let mut fences = summary.iter_mut().filter(|line| is_code_fence(line));
        let mut is_open = false;
        // The first fence that ends none of the summary's own.
        let end = fences.find(|line| {
            let is_end = !is_open && line.trim().trim_matches('`').is_empty();
            is_open = !is_open;
            is_end
        });
        if let Some(end) = end.filter(|_| is_wrapped) {
            *end = "\n";
        }
    }
    lines.concat()
}

fn is_fence(line: &str) -> bool {
    let rest = line.strip_prefix("---");
    rest.is_some_and(|rest| rest.trim().is_empty())
}

fn is_code_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// Splits a text into the YAML, with the line `---` above it, and the body. A line `---` further down belongs to the body.
pub(super) fn split<'t>(text: &'t str, findings: &mut Collector) -> Option<(&'t str, usize)> {
    let mut end = 0;
    let mut is_open = false;
    for line in text.split_inclusive('\n') {
        let start = end;
        end += line.len();
        if is_open && is_fence(line) {
            return Some((&text[..start], end));
        }
        is_open |= is_fence(line);
        if !is_open && !line.trim().is_empty() {
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
        let is_fence = is_code_fence(text);
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

/// Returns the text below the heading for the next stage, in any case and level, up to the next heading of its level.
pub(super) fn context(text: &str, body: usize, findings: &mut Collector) -> Option<String> {
    let find = |deepest: usize| {
        let mut sections = sections(text, body, deepest).into_iter();
        sections.find(|one| {
            let heading = one.heading.trim_matches([':', '*', ' ']);
            heading.eq_ignore_ascii_case(CONTEXT)
        })
    };
    let Some(section) = find(usize::MAX).and_then(|section| find(section.level)) else {
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
