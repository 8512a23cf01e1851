//! The findings of a round on disk: `findings-round-N.md` and `.json`, and the numbered file that
//! machine.toml names (`reviews/plan-review-{n}.md`).
//!
//! All of them are for people. The findings in the journal count, so that an edit cannot improve a
//! verdict. [`super::answer`] reads the Markdown files like the answers of reviewers.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::answer;
use super::findings::{
    CLEAN_LINE, Counts, Finding, MAX_DETAIL_LINES, MAX_FILE_CHARS, MAX_FINDING_CHARS, Severity,
    detail_line,
};
use super::runs::RunBegin;
use crate::files;
use crate::files::kill_point::kill_point;
use crate::machine::Raw;
use crate::machine::table::ReviewSpec;
use crate::store::{LoopId, Store};
use crate::text;

/// A findings file that a phase names (`findings_file`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingsFile {
    /// The number that replaces `{n}`.
    pub number: u64,
    /// The path.
    pub path: Utf8PathBuf,
}

pub(super) const NUMBER: &str = "{n}";

/// Returns the path of a round's findings file in the loop's folder: `findings-round-N.md`.
pub fn findings_path(store: &Store, id: &LoopId, round: u64) -> Utf8PathBuf {
    let name = format!("findings-round-{round}.md");
    store.loop_folder(id).join(name)
}

/// Returns the text of a findings file.
///
/// The file has all three sections, empty ones without a bullet, or [`CLEAN_LINE`] alone. Each
/// finding is one plain line, with its detail lines indented below.
pub fn render(round: u64, findings: &[Finding]) -> String {
    render_titled(&format!("Round {round} findings"), findings)
}

fn render_titled(title: &str, findings: &[Finding]) -> String {
    let mut out = format!("# {title}\n");
    if findings.is_empty() {
        let _ = write!(out, "\n{CLEAN_LINE}\n");
        return out;
    }
    for severity in Severity::ALL {
        let _ = writeln!(out, "\n## {severity}");
        let of_severity = findings.iter().filter(|one| one.severity == severity);
        for (at, finding) in of_severity.enumerate() {
            let gap = if at == 0 { "\n" } else { "" };
            let _ = writeln!(out, "{gap}- {}", bullet(finding));
            if let (Some(id), Some(since)) = (&finding.id, finding.since) {
                let _ = writeln!(out, "  - {id}, found since round {since}");
            }
            let mut fence = None;
            for detail in finding.detail.iter().take(MAX_DETAIL_LINES) {
                let detail = detail_line(detail);
                let mark = ["```", "~~~"]
                    .into_iter()
                    .find(|mark| detail.starts_with(mark));
                if mark.is_some() || fence.is_some() {
                    let _ = writeln!(out, "  {detail}");
                    fence = if fence.is_some() && fence == mark {
                        None
                    } else {
                        fence.or(mark)
                    };
                    continue;
                }
                let line = format!("  - {}\n", detail.trim_start());
                match line.trim() {
                    "-" => {}
                    // A detail that begins with "[High]" would be read as a finding.
                    line if answer::is_rated_below(&line[2..], finding.severity) => {
                        let _ = writeln!(out, "  - \"{}\"", &line[2..]);
                    }
                    _ => out.push_str(&line),
                }
            }
            if let Some(fence) = fence {
                let _ = writeln!(out, "  {fence}");
            }
        }
    }
    out
}

/// Returns a finding on one line: its place, the problem, and in brackets the recommendation.
pub fn bullet(finding: &Finding) -> String {
    let file = finding.file.as_deref().unwrap_or_default();
    // A backquote would end the quoted name early.
    let file = text::one_line(file, MAX_FILE_CHARS).replace('`', "'");
    let place = match (file.as_str(), finding.line) {
        ("", Some(line)) => format!("line {line}: "),
        ("", None) => String::new(),
        (file, Some(line)) if file.contains(' ') => format!("`{file}:{line}`: "),
        (file, Some(line)) => format!("{file}:{line}: "),
        (file, None) => format!("{file}: "),
    };
    let problem = text::one_line(&finding.what, MAX_FINDING_CHARS);
    let recommendation = finding.recommendation.as_deref().unwrap_or_default();
    let recommendation = match text::one_line(recommendation, MAX_FINDING_CHARS).as_str() {
        "" => String::new(),
        recommendation => format!(" ({recommendation})"),
    };
    let whole = format!("{place}{problem}{recommendation}");
    // A bullet "None" would count as no finding, and one that begins with "[High]" as a high one.
    let says_none = answer::is_none(&whole) || place.is_empty() && answer::is_none(&problem);
    let says_more = answer::label(&whole).is_some_and(|(severity, _)| severity < finding.severity);
    if says_none || says_more {
        format!("{place}\"{problem}\"{recommendation}")
    } else {
        whole
    }
}

/// Returns the number between the beginning and the end of a name.
pub(super) fn number_in(name: &str, before: &str, after: &str) -> Option<u64> {
    let digits = name.strip_prefix(before)?.strip_suffix(after)?;
    let all = digits.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| digits.parse().ok())?
}

/// Writes the findings to the phase's numbered file, if it names one, under the number after the
/// highest. The file may end with a verdict in the machine's words: `VERDICT: PASS`.
fn write_of_phase(
    raw: &Raw,
    spec: &ReviewSpec,
    findings: &[Finding],
) -> io::Result<Option<FindingsFile>> {
    let template = spec.findings_file;
    if template.is_empty() {
        return Ok(None);
    }
    let (folder, name) = template.rsplit_once('/').unwrap_or((".", template));
    let (before, after) = name.split_once(NUMBER).unwrap_or((name, ""));
    let folder = files::make_all(&raw.root(), &raw.path(folder))?;
    let mut text = render_titled("Findings", findings);
    if let Some((clean, not_clean)) = spec.verdicts {
        let is_clean = Counts::new(findings).at_least(spec.blocking) == 0;
        let verdict = if is_clean { clean } else { not_clean };
        let _ = write!(text, "\nVERDICT: {verdict}\n");
    }
    let before = raw.fill(before);
    let after = raw.fill(after);
    let names = folder.names()?;
    let highest = names
        .iter()
        .filter_map(|name| number_in(name, &before, &after))
        .max();
    let number = highest.unwrap_or_default().saturating_add(1);
    let name = format!("{before}{number}{after}");
    let mut file = folder.new_file(&name)?;
    kill_point();
    file.write_all(text.as_bytes())?;
    let path = folder.path().join(name);
    Ok(Some(FindingsFile { number, path }))
}

/// Writes the files of a verdict: the phase's, and in the loop's folder the findings for people and
/// as JSON. Returns the phase's.
pub(super) fn write(
    raw: &Raw,
    spec: &ReviewSpec,
    began: &RunBegin,
    findings: &[Finding],
) -> io::Result<Option<FindingsFile>> {
    let of_phase = write_of_phase(raw, spec, findings)?;

    let store = raw.store();
    let path = findings_path(store, raw.id(), began.round);
    store.replace(&path, render(began.round, findings).as_bytes())?;

    let is_clean = findings.is_empty();
    let mut content = json!(began);
    content["version"] = json!(1);
    content["loop"] = json!(raw.id().as_str());
    content["verdict"] = json!(if is_clean { "clean" } else { "findings" });
    content["findings"] = json!(findings);
    let text = format!("{content:#}\n");
    store.replace(&path.with_extension("json"), text.as_bytes())?;
    Ok(of_phase)
}

#[cfg(test)]
mod tests;
