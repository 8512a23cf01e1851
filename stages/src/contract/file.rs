//! The parts of a summary file: two fences, the YAML between them, and the body.

/// The most lines of text above a summary, such as "Here is the summary:".
const MAX_LINES_BEFORE: usize = 3;

/// Blanks what models write around a summary: a few lines, and a code fence around all or the
/// frontmatter. A fence in place of the lines `---` becomes those. Line numbers stay the same.
pub(super) fn unwrap(text: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_begin = |line: &&str| is_fence(line) || is_code_fence(line);
    let begin = lines.iter().position(is_begin).unwrap_or(0);
    let (before, summary) = lines.split_at_mut(begin);
    if before.iter().filter(|line| !is_blank(line)).count() > MAX_LINES_BEFORE {
        return text.to_owned();
    }
    before.fill("\n");
    if let Some((begin, rest)) = summary.split_first_mut()
        && is_code_fence(begin)
    {
        let first = rest.iter().find(|line| !is_blank(line));
        let has_lines = first.is_some_and(|line| is_fence(line));
        let mark = if has_lines { "\n" } else { "---\n" };
        *begin = mark;
        // The first fence that ends none of the summary's own ends the one around it.
        let mut is_open = false;
        for fence in rest.iter_mut().filter(|line| is_code_fence(line)) {
            if !is_open && fence.trim().trim_matches('`').is_empty() {
                *fence = mark;
                break;
            }
            is_open = !is_open;
        }
    }
    lines.concat()
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(is_blank)
}

fn is_code_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// Returns the start and end of the line `---` that closes the frontmatter, in bytes.
pub(super) fn split(text: &str) -> Option<(usize, usize)> {
    let spans = text.split_inclusive('\n').scan(0, |end, line| {
        let start = *end;
        *end += line.len();
        Some((line, start, *end))
    });
    let mut lines = spans.skip_while(|(line, ..)| is_blank(line));
    lines.next().filter(|(line, ..)| is_fence(line))?;
    let (_, start, end) = lines.find(|(line, ..)| is_fence(line))?;
    Some((start, end))
}

/// Returns the byte at which the text below the frontmatter starts, or 0 if there is none.
pub(crate) fn body_start(text: &str) -> usize {
    split(text).map_or(0, |(_, end)| end)
}

/// A heading of a text, and the text below it up to the next heading.
pub(crate) struct Section<'t> {
    /// The number of its line, from 1.
    pub(crate) line: usize,
    pub(crate) level: usize,
    pub(crate) heading: &'t str,
    pub(crate) body: &'t str,
}

impl<'t> Section<'t> {
    /// Returns the lines below the heading that are in no fence, with their numbers.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
        let mut is_open = false;
        let lines = (self.line + 1..).zip(self.body.lines());
        lines.filter(move |(_, line)| {
            let is_fence = is_code_fence(line);
            is_open ^= is_fence;
            !is_open && !is_fence
        })
    }
}

/// Splits a text below its frontmatter at the headings of a level up to this one.
pub(crate) fn sections(text: &str, deepest: usize) -> Vec<Section<'_>> {
    let mut rest = &text[body_start(text)..];
    let first = text[..text.len() - rest.len()].matches('\n').count() + 1;
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut is_open = false;
    for (text, line) in rest.split_inclusive('\n').zip(first..) {
        is_open ^= is_code_fence(text);
        let title = text.trim_start_matches('#');
        let level = text.len() - title.len();
        if !is_open && (1..=deepest).contains(&level) && title.starts_with(' ') {
            if let Some(before) = sections.last_mut() {
                before.body = &before.body[..before.body.len() - rest.len()];
            }
            sections.push(Section {
                line,
                level,
                heading: title.trim().trim_end_matches(['#', ' ']),
                body: &rest[text.len()..],
            });
        }
        rest = &rest[text.len()..];
    }
    sections
}

/// Returns the text below the heading for the next stage. The heading may have any case and level,
/// and more words behind it.
pub(super) fn context(text: &str) -> Option<String> {
    let find = |deepest: usize| {
        let mut sections = sections(text, deepest).into_iter();
        sections.find(|one| {
            let heading = one.heading.to_lowercase();
            let heading = heading.trim_start_matches(['*', '_', ' ']);
            let mut names = ["context for next stage", "context for the next stage"].iter();
            names.any(|name| heading.starts_with(name))
        })
    };
    let section = find(usize::MAX).and_then(|section| find(section.level))?;
    // The first line keeps its indentation.
    let context = section.body.trim_start_matches(['\r', '\n']).trim_end();
    Some(context.to_owned())
}
