//! One item of a Markdown answer: its place, problem, remedy, and the lines below it.

use crate::review::findings::{
    Finding, MAX_DETAIL_CHARS, MAX_DETAIL_LINES, MAX_FINDING_CHARS, Severity,
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
    let whole = if is_cut {
        &body.replace("**", "")
    } else {
        body
    };
    let place = place(whole);
    let text = place.map_or(whole, |(.., text)| text);
    let (what, recommendation) = split_recommendation(text).unwrap_or((text, ""));
    let recommendation = text::one_line(recommendation, MAX_FINDING_CHARS);
    Finding {
        recommendation: Some(recommendation).filter(|text| !text.is_empty()),
        file: place.and_then(|(file, ..)| Some(file?.to_owned())),
        line: place.map(|(_, line, _)| line),
        ..Finding::new(severity, text::one_line(what, MAX_FINDING_CHARS))
    }
}

/// Adds a line below a finding. The last line that is kept shows that there were more.
pub(super) fn add_detail(finding: &mut Finding, line: &str) {
    let detail = text::one_line(line, MAX_DETAIL_CHARS);
    match finding.detail.len() {
        _ if detail.is_empty() => {}
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

/// Splits `line 12: text`, `src/a.rs:12: text` and `` `a b.rs:12`: text ``.
fn place(body: &str) -> Option<(Option<&str>, u32, &str)> {
    let quoted = body.strip_prefix('`');
    let (name, text) = match quoted {
        Some(quoted) => quoted.split_once("`: ")?,
        None => body.split_once(": ")?,
    };
    let (file, number) = match name.rsplit_once(':') {
        Some(("", _)) => return None,
        Some((file, number)) => (Some(file), number),
        None => {
            let (word, number) = name.split_once(' ')?;
            word.eq_ignore_ascii_case("line")
                .then_some((None, number))?
        }
    };
    let is_file = quoted.is_some() || file.is_none_or(|file| !file.contains(char::is_whitespace));
    // A number in another form (`007`, `+7`) is part of the text.
    let is_number = number.starts_with(|c| matches!(c, '1'..='9'));
    let is_place = is_file && is_number && !text.trim().is_empty();
    if !is_place {
        return None;
    }
    Some((file, number.parse().ok()?, text.trim()))
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
