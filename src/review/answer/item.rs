//! A finding from one line of Markdown: its place, problem and remedy, and the lines below it.

use crate::review::findings::{
    Finding, MAX_DETAIL_CHARS, MAX_DETAIL_LINES, MAX_FINDING_CHARS, Severity,
};
use crate::text;

/// Returns the finding that a line is.
pub(super) fn finding(severity: Severity, line: &str) -> Finding {
    let (file, number, text) = place(line).unwrap_or((None, None, line));
    let (what, recommendation) = split_recommendation(text).unwrap_or((text, ""));
    let recommendation = text::one_line(recommendation, MAX_FINDING_CHARS);
    Finding {
        recommendation: Some(recommendation).filter(|text| !text.is_empty()),
        file: file.map(str::to_owned),
        line: number,
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

/// Splits `line 12: text`, `src/a.rs:12: text` and, for a name with white space in it, `` `a b.rs:12`: text ``.
fn place(line: &str) -> Option<(Option<&str>, Option<u32>, &str)> {
    let (place, text) = match line.strip_prefix('`') {
        Some(quoted) => quoted.split_once("`: ")?,
        None => line.split_once(": ")?,
    };
    let (file, number) = match place.split_at_checked("line ".len()) {
        Some((word, number)) if word.eq_ignore_ascii_case("line ") => (None, number),
        _ => place
            .rsplit_once(':')
            .map(|(file, number)| (Some(file), number))?,
    };
    let is_name = |file: &str| {
        !file.is_empty() && (line.starts_with('`') || !file.contains(char::is_whitespace))
    };
    // A number in another form (`007`, `+7`) is part of the text.
    let is_number = number.starts_with(|c| matches!(c, '1'..='9'));
    let is_place = is_number && file.is_none_or(is_name) && !text.trim().is_empty();
    is_place.then(|| Some((file, Some(number.parse().ok()?), text.trim())))?
}

/// Splits `what (recommendation)` at the bracket that the last `)` closes. A call such as `retry()` is part of the text.
fn split_recommendation(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix(')').or_else(|| text.strip_suffix(")."))?;
    let mut depth = 1_usize;
    let (at, _) = inner.rmatch_indices(['(', ')']).find(|(_, bracket)| {
        match *bracket {
            ")" => depth += 1,
            _ => depth -= 1,
        }
        depth == 0
    })?;
    let problem = inner[..at].strip_suffix(char::is_whitespace)?.trim_end();
    (!problem.is_empty()).then(|| (problem, inner[at + 1..].trim()))
}
