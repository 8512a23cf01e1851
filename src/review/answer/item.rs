//! One item of a Markdown answer: its place, problem, remedy, and the lines below it.

use super::severity::without_bracket;
use crate::review::findings::{
    Finding, MAX_DETAIL_LINES, MAX_FINDING_CHARS, Severity, detail_line,
};
use crate::text;

/// Returns the lines of a part without bullets, fences and white space; at least one.
pub(super) fn lines(block: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut in_code = false;
    for line in block.lines() {
        let line = line.trim_start_matches('>').trim();
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        in_code ^= is_fence;
        let text = bullet(line).filter(|_| !in_code).unwrap_or(line);
        if !is_fence && !text.is_empty() {
            lines.push(text.to_owned());
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Returns the text behind `-`, `*`, `+`, `1.` or `1)`.
pub(super) fn bullet(line: &str) -> Option<&str> {
    let after_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match line.len() - after_digits.len() {
        0 => line.strip_prefix(['-', '*', '+'])?,
        1..10 => after_digits.strip_prefix(['.', ')'])?,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

/// Returns the text behind a bullet that is none in Markdown: `\u{2022}`, `\u{2013}`, `(1)`, `a)`,
/// `#1:`, `1\u{20e3}`.
pub(super) fn other_bullet(line: &str) -> Option<&str> {
    let sign = ['\u{2022}', '\u{2023}', '\u{25aa}', '\u{25e6}'];
    let (counter, text) = line.split_once(") ").unwrap_or_default();
    let counter = counter.strip_prefix('(').unwrap_or(counter);
    let is_counter =
        matches!(counter.len(), 1..3) && counter.bytes().all(|c| c.is_ascii_alphanumeric());
    let line = line.trim_start();
    let numbers = [line.strip_prefix('#').unwrap_or_default(), line];
    let [hash, keycap] = numbers.map(|text| text.trim_start_matches(|c: char| c.is_ascii_digit()));
    (line.strip_prefix(sign))
        .or(hash.strip_prefix(": "))
        .or(keycap.strip_prefix('\u{20e3}'))
        .or_else(|| line.strip_prefix("\u{2013} "))
        .or(is_counter.then_some(text))
}

pub(super) fn finding(severity: Severity, body: &str) -> Finding {
    // The other end of bold text is in what was split off.
    let is_cut = body.matches("**").count() % 2 == 1;
    let body = if is_cut {
        body.replace("**", "")
    } else {
        body.to_owned()
    };
    let whole = without_bracket(&body);
    let (mut id, text) = split_id(&whole);
    let bold = text
        .strip_prefix("**")
        .and_then(|text| text.split_once("**"));
    let plain = bold.map_or_else(String::new, |(bold, rest)| format!("{bold}{rest}"));
    let mut place = place(text).or_else(|| self::place(&plain));
    let mut text = place.as_ref().map_or(text, |(.., text)| text);
    if id.is_none() {
        (id, text) = split_id(text);
    }
    let (what, mut recommendation) = split_recommendation(text).unwrap_or((text, ""));
    if place.is_none()
        && let Some((file, line)) = place_name(recommendation)
    {
        place = Some((file, line, what));
        recommendation = "";
    }
    let recommendation = text::one_line(recommendation, MAX_FINDING_CHARS);
    Finding {
        id: id.map(str::to_owned),
        recommendation: Some(recommendation).filter(|text| !text.is_empty()),
        file: place.and_then(|(file, ..)| Some(file?.to_owned())),
        line: place.map(|(_, line, _)| line),
        ..Finding::new(severity, text::one_line(what, MAX_FINDING_CHARS))
    }
}

/// Splits the id of an earlier finding from a text: `F3: text`, `**F3** - text`, `[F3] (open): text`.
pub(super) fn split_id(text: &str) -> (Option<&str>, &str) {
    let split = || {
        let inner = text.trim_start_matches(['*', '_', '`', '[', '(']);
        let digits = inner.strip_prefix('F')?;
        let number = digits.len()
            - digits
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let (id, rest) = inner.split_at(number + 1);
        let rest = rest.trim_start_matches(['*', '_', '`', ']', ')', ' ']);
        // `(still open)`; more words may be the problem.
        let bracket = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let bracket = bracket.filter(|(inside, _)| inside.split_whitespace().count() < 3);
        let rest = bracket.map_or(rest, |(_, rest)| rest.trim_start());
        let text = rest.trim_start_matches([':', '-', '\u{2013}', '\u{2014}', '*', ' ']);
        (number > 0 && text.len() < rest.len() && !text.is_empty()).then_some((Some(id), text))
    };
    split().unwrap_or((None, text))
}

/// Adds a line below a finding. The last line that is kept shows that there were more.
pub(super) fn add_detail(finding: &mut Finding, line: &str) {
    let detail = detail_line(line);
    match finding.detail.len() {
        _ if detail.trim().is_empty() => {}
        0..MAX_DETAIL_LINES => finding.detail.push(detail),
        _ => finding.detail[MAX_DETAIL_LINES - 1] = "(shortened)".to_owned(),
    }
}

/// Returns the file that a heading names without saying more: `` 2. `src/a.rs` ``, `File: a.rs`.
pub(super) fn named_file(heading: &str) -> Option<&str> {
    let text = heading.strip_prefix("File:").unwrap_or(heading);
    let name = text.trim().trim_matches(['`', '*']);
    let (_, extension) = name.rsplit_once('.')?;
    let is_file = extension.starts_with(char::is_alphabetic) && !name.contains([' ', ':']);
    is_file.then_some(name)
}

/// Splits `line 12: text`, `src/a.rs:12: text`, `` `a b.rs:12` - text `` and `**a.rs:12** text`.
fn place(body: &str) -> Option<(Option<&str>, u32, &str)> {
    let separators = [": ", " - ", " \u{2013} ", " \u{2014} ", "\u{ff1a}"];
    let ends = separators
        .iter()
        .filter_map(|mark| Some((body.find(mark)?, mark.len())));
    let split = |(end, gap): (usize, usize)| {
        let text = body[end + gap..].trim();
        let (file, line) = place_name(&body[..end]).filter(|_| !text.is_empty())?;
        Some((file, line, text))
    };
    let ends_of_marks = ["**", "`"].iter().filter_map(|mark| {
        let end = body.strip_prefix(mark)?.find(mark)? + 2 * mark.len();
        let is_file = body[..end].contains('.') && body[end..].starts_with(' ');
        is_file.then_some((end, 1))
    });
    (ends.min().and_then(split)).or_else(|| ends_of_marks.filter_map(split).next())
}

/// Reads `line 12`, `Lines 12-15`, `src/a.rs:12:9`, `a.rs#L12`, `` `a b.rs` (line 12) ``.
fn place_name(name: &str) -> Option<(Option<&str>, u32)> {
    let (before, inside) = name
        .strip_suffix(')')
        .and_then(|name| name.split_once(" ("))
        .unzip();
    let (file, number) = match (inside.and_then(behind_line), behind_line(name)) {
        (Some(number), _) => (before.unwrap_or(name), number),
        (None, Some(number)) => ("", number),
        (None, None) => {
            let mut marks = name.match_indices([':', '#']).filter(|(at, _)| *at > 0);
            let parts = |at| (&name[..at], name[at + 1..].trim_start_matches('L'));
            marks.find_map(|(at, _)| {
                Some(parts(at)).filter(|(_, number)| line_number(number).is_some())
            })?
        }
    };
    let is_quoted = file.starts_with('`');
    let file = file.trim_matches(['`', '*']);
    let is_file = is_quoted || !file.contains(char::is_whitespace);
    let line = line_number(number)?;
    match file {
        "" => Some((None, line)),
        file => (is_file && file.contains(char::is_alphabetic)).then_some((Some(file), line)),
    }
}

/// Returns the number in `line 12`.
fn behind_line(text: &str) -> Option<&str> {
    let (word, number) = text.split_once(' ')?;
    let is_line = ["line", "lines"]
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name));
    is_line.then_some(number)
}

/// Reads `12`, `12-15` and `12:9`. A number in another form (`007`, `+7`) is text.
fn line_number(text: &str) -> Option<u32> {
    let text = text.trim_matches(['`', '*', ' ']);
    let is_mark =
        |c: char| c.is_ascii_digit() || matches!(c, '-' | '\u{2013}' | ':' | ',' | ' ' | 'L');
    let is_number = text.starts_with(|c| matches!(c, '1'..='9')) && text.chars().all(is_mark);
    let digits = text.split(|c: char| !c.is_ascii_digit()).next();
    digits.filter(|_| is_number)?.parse().ok()
}

/// Splits `what (recommendation)` at the last bracket. A call such as `retry()` is text.
fn split_recommendation(body: &str) -> Option<(&str, &str)> {
    let inner = body.strip_suffix(')').or(body.strip_suffix(")."))?;
    let mut depth = 1;
    let opening = inner.rfind(|c| {
        depth += i32::from(c == ')') - i32::from(c == '(');
        depth == 0
    });
    let (before, recommendation) = inner.split_at(opening?);
    let recommendation = recommendation[1..].trim();
    let is_split = before.ends_with(char::is_whitespace) && !before.trim().is_empty();
    (is_split && !recommendation.is_empty()).then_some((before.trim_end(), recommendation))
}
