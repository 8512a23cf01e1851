//! Writes the findings file, `findings-round-N.md`.
//!
//! What is written here is read again by [`super::answer`], as what reviewers write is.

use std::fmt::Write as _;

use strum::IntoEnumIterator as _;

use super::answer;
use super::findings::{Finding, Findings, Severity};
use crate::text;

/// Longest `what` and longest `recommendation` of a finding, in characters. The rest is cut and marked with `...`.
pub const MAX_FINDING_CHARS: usize = 600;
/// Longest detail line, in characters.
pub const MAX_DETAIL_CHARS: usize = 300;
/// Most detail lines that are kept for one finding.
pub const MAX_DETAIL_LINES: usize = 20;

/// The one line of a file without findings.
pub const CLEAN_LINE: &str = "No substantive findings.";

/// The longest name of a file that is written, in characters.
pub(super) const MAX_FILE_CHARS: usize = 300;

/// Returns the text of a findings file.
///
/// All three sections are written, empty ones without a bullet, or [`CLEAN_LINE`] alone. Each finding is one physical line:
/// white space and line breaks inside it are folded to one space, control and bidi characters are dropped, and `what`
/// and `recommendation` are cut at [`MAX_FINDING_CHARS`] characters each. Detail lines stand below, indented, at most
/// [`MAX_DETAIL_LINES`] of [`MAX_DETAIL_CHARS`] characters. The catalogue id is in the findings JSON only.
pub fn render(round: u32, findings: &Findings) -> String {
    titled(&format!("Round {round} findings"), findings)
}

fn titled(title: &str, findings: &Findings) -> String {
    let mut out = format!("# {title}\n");
    if findings.is_empty() {
        let _ = write!(out, "\n{CLEAN_LINE}\n");
        return out;
    }
    for severity in Severity::iter() {
        let _ = write!(out, "\n## {severity}\n");
        let mut first = true;
        for finding in findings
            .0
            .iter()
            .filter(|finding| finding.severity == severity)
        {
            if first {
                out.push('\n');
                first = false;
            }
            render_finding(&mut out, finding);
        }
    }
    out
}

/// Returns the text of a findings file that has a number of its own, and may end with a verdict in words of the machine's own:
/// `VERDICT: PASS`.
pub(super) fn render_numbered(findings: &Findings, verdict: Option<&str>) -> String {
    let mut out = titled("Findings", findings);
    if let Some(verdict) = verdict {
        let _ = write!(out, "\nVERDICT: {verdict}\n");
    }
    out
}

/// Returns a finding on one line: its place, what is wrong, and in brackets what to do.
pub fn bullet(finding: &Finding) -> String {
    let mut line = String::new();
    let file = finding
        .file
        .as_deref()
        // A backquote would end the quoted name early.
        .map(|file| text::one_line(file, MAX_FILE_CHARS).replace('`', "'"));
    match (file.filter(|file| !file.is_empty()), finding.line) {
        (Some(file), Some(number)) if file.contains(' ') => {
            let _ = write!(line, "`{file}:{number}`: ");
        }
        (Some(file), Some(number)) => {
            let _ = write!(line, "{file}:{number}: ");
        }
        (Some(file), None) => {
            let _ = write!(line, "{file}: ");
        }
        (None, Some(number)) => {
            let _ = write!(line, "line {number}: ");
        }
        (None, None) => {}
    }
    let what = text::one_line(&finding.what, MAX_FINDING_CHARS);
    let recommendation = finding
        .recommendation
        .as_deref()
        .map(|it| text::one_line(it, MAX_FINDING_CHARS));
    let recommendation = recommendation
        .filter(|it| !it.is_empty())
        .map(|it| format!(" ({it})"))
        .unwrap_or_default();
    // A bullet that reads "None" would be taken for no finding at all, and one that begins with "[High]" for a high one.
    let alone = line.is_empty() && answer::is_none(&what);
    let whole = format!("{line}{what}{recommendation}");
    let other = answer::label(&whole).is_some_and(|(severity, _)| severity < finding.severity);
    if alone || other || answer::is_none(&whole) {
        let _ = write!(line, "\"{what}\"{recommendation}");
    } else {
        let _ = write!(line, "{what}{recommendation}");
    }
    line
}

fn render_finding(out: &mut String, finding: &Finding) {
    let _ = writeln!(out, "- {}", bullet(finding));
    if let (Some(id), Some(since)) = (&finding.id, finding.since) {
        let _ = writeln!(out, "  - {id}, found since round {since}");
    }
    for detail in finding.detail.iter().take(MAX_DETAIL_LINES) {
        let detail = text::one_line(detail, MAX_DETAIL_CHARS);
        if !detail.is_empty() {
            let _ = writeln!(out, "  - {detail}");
        }
    }
}

#[cfg(test)]
mod tests;
