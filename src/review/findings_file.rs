//! The findings file, `findings-round-N.md`: how it is written and how a reviewer's version of it is read.
//!
//! Writing is exact. Reading is tolerant where something was found: headings and bullets come in many spellings. It is strict
//! where nothing was: a clean text is the clean line, or three sections that each say "none", and not a word besides. All else is
//! [`Unreadable`]. This file and the ones below it know no loop, no round state and no reviewer.

mod parse;
mod text;
mod words;

use std::fmt::Write as _;

use derive_more::{Display, Error};
use strum::IntoEnumIterator as _;

pub use parse::parse;
pub use text::{MAX_DETAIL_CHARS, MAX_DETAIL_LINES, MAX_FINDING_CHARS};
pub(in crate::review) use words::severity_word;

use super::findings::{Finding, Findings, Severity};

/// The largest findings file that is read, in bytes. Reviewers write a few kilobytes.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Limits the findings that are read. Nobody mends more in a round, and each is compared with all of earlier ones.
pub const MOST_FINDINGS: usize = 1000;

/// The one line of a file without findings.
pub const CLEAN_LINE: &str = "No substantive findings.";

/// The longest name of a file that is written, in characters.
const MAX_FILE_CHARS: usize = 300;

/// What a findings file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The reviewer looked and found nothing.
    Clean,
    /// The reviewer found these; never empty.
    Findings(Findings),
}

/// Why a findings file says nothing that can be relied on.
#[derive(Debug, Clone, PartialEq, Eq, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum Unreadable {
    /// More than [`MAX_FILE_BYTES`].
    #[display("the findings are {bytes} bytes long, the limit is {limit}")]
    #[diagnostic(
        code(claudex::review::findings_too_large),
        help("let the reviewer write findings only, then run it again")
    )]
    TooLarge {
        /// Length of the file, in bytes.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// More than [`MOST_FINDINGS`].
    #[display("there are {found} findings, the limit is {MOST_FINDINGS}")]
    #[diagnostic(
        code(claudex::review::findings_too_many),
        help("let the reviewer name those that matter most, then run it again")
    )]
    TooMany {
        /// How many there are.
        found: usize,
    },
    /// Not UTF-8, or text with NUL bytes in it.
    #[display("the findings are not text: byte {offset} is not UTF-8 or is NUL")]
    #[diagnostic(
        code(claudex::review::findings_not_text),
        help("check what the reviewer printed, then run it again")
    )]
    NotText {
        /// Offset of the first such byte, from 0.
        offset: usize,
    },
    /// Nothing but white space.
    #[display("the findings are empty")]
    #[diagnostic(
        code(claudex::review::findings_empty),
        help("an empty file is not a clean review: run the reviewer again")
    )]
    Empty,
    /// Text without a finding, in which the clean line is missing or does not stand alone.
    #[display("the findings hold no verdict: no severity section and no line ‘{CLEAN_LINE}’")]
    #[diagnostic(
        code(claudex::review::findings_without_verdict),
        help(
            "write `## High`, `## Medium` and `## Low` with bullets, or the one line `No substantive findings.`"
        )
    )]
    NoVerdict,
    /// Severity sections without a finding, of which one is missing or says nothing: the text may have been cut off.
    #[display(
        "the findings name no finding, and say nothing of {missing}: the text may have been cut off"
    )]
    #[diagnostic(
        code(claudex::review::findings_incomplete),
        help("write all three sections, or the one line `No substantive findings.`")
    )]
    Incomplete {
        /// The severity whose section is missing or empty.
        #[error(not(source))]
        missing: Severity,
    },
    /// A heading such as `## High (2)` with nothing below it.
    #[display("line {line} announces findings, and none follow")]
    #[diagnostic(
        code(claudex::review::findings_missing),
        help("run the reviewer again: its answer is incomplete")
    )]
    Announced {
        /// Line of the heading, from 1.
        line: usize,
    },
}

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
        .map(|file| text::fold(file, MAX_FILE_CHARS).replace('`', "'"));
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
    let what = text::fold(&finding.what, MAX_FINDING_CHARS);
    let recommendation = finding
        .recommendation
        .as_deref()
        .map(|it| text::fold(it, MAX_FINDING_CHARS));
    let recommendation = recommendation
        .filter(|it| !it.is_empty())
        .map(|it| format!(" ({it})"))
        .unwrap_or_default();
    // A bullet that reads "None" would be taken for no finding at all. With a place before it, it reads otherwise.
    let alone = line.is_empty() && words::is_none(&what);
    if alone || words::is_none(&format!("{line}{what}{recommendation}")) {
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
        let detail = text::fold(detail, MAX_DETAIL_CHARS);
        if !detail.is_empty() {
            let _ = writeln!(out, "  - {detail}");
        }
    }
}

#[cfg(test)]
mod tests;
