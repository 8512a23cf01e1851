//! The built-in reviewer of changes: a small catalogue of things that are seldom meant, found in added lines.
//!
//! [`review`] reads a unified diff (`read`) and runs every check on every file. It knows no language well: it knows
//! what leftovers look like. Tests, fixtures and documents are allowed what is usual there. Where a finding can be
//! removed without a thought, it proposes the patch (`propose`). The catalogue is in `docs/lint.md`.

mod debugging;
mod leftovers;
mod propose;
mod read;
mod secrets;
mod shape;

use crate::review::findings::{Finding, Findings, Severity};
use read::{Diff, File};

/// Most findings of one review; the lightest are left out first.
pub const MAX_FINDINGS: usize = 40;
/// Most places that one finding lists besides its own.
const PLACES: usize = 5;

/// What one check found in one file: all places of it together.
struct Hit {
    check: &'static str,
    severity: Severity,
    what: String,
    add: &'static str,
    /// Line numbers with what stands there.
    places: Vec<(u32, String)>,
    /// A unified diff.
    patch: Option<String>,
}

/// Reviews a unified diff, such as `review::changes` writes it.
///
/// One finding per check and file, the heaviest first, then by file and line; [`MAX_FINDINGS`] altogether. Each has a
/// file, and where it is about a line, its number in the new version.
pub fn review(text: &str) -> Findings {
    let diff = read::read(text);
    let mut found: Vec<Finding> = Vec::new();
    for file in &diff.files {
        let checks = [
            shape::conflict,
            secrets::keys,
            secrets::tokens,
            secrets::passwords,
            shape::hidden,
            leftovers::file,
            debugging::breakpoints,
            debugging::only,
            debugging::prints,
            leftovers::commented_out,
            leftovers::todo,
            shape::long_file,
            shape::long_line,
        ];
        found.extend(
            checks
                .iter()
                .filter_map(|check| Some(finding(file, check(file)?))),
        );
    }
    found.extend(about_the_whole(&diff));
    found.sort_by(|one, two| {
        (one.severity, &one.file, one.line, &one.check).cmp(&(two.severity, &two.file, two.line, &two.check))
    });
    found.truncate(MAX_FINDINGS);
    Findings(found)
}

fn finding(file: &File<'_>, hit: Hit) -> Finding {
    let mut places = hit.places.iter();
    let first = places.next();
    let mut detail: Vec<String> = first
        .into_iter()
        .chain(places.clone().take(PLACES))
        .map(|(line, text)| format!("line {line}: {text}"))
        .collect();
    let rest = places.len().saturating_sub(PLACES);
    if rest > 0 {
        detail.push(format!("and {rest} more"));
    }
    Finding {
        recommendation: Some(hit.add.to_owned()),
        file: Some(file.path.clone()),
        line: first.map(|(line, _)| *line),
        check: Some(hit.check.to_owned()),
        patch: hit.patch,
        detail,
        ..Finding::new(hit.severity, hit.what)
    }
}

/// A line, quoted in a finding: whole it would repeat a secret that another check does not show whole.
fn quote(line: &str) -> String {
    if secrets::holds(line) {
        "(not shown: it holds what looks like a secret)".to_owned()
    } else {
        super::quote(line)
    }
}

/// What the head of the text tells: large binaries, and what nobody has read.
fn about_the_whole(diff: &Diff<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, bytes) in &diff.binaries {
        if *bytes >= shape::LARGE_BINARY {
            found.push(Finding {
                recommendation: Some("keep large files out of the repository, or under git LFS".to_owned()),
                file: Some(path.clone()),
                check: Some("DIFF-HUGE".to_owned()),
                ..Finding::new(
                    Severity::Medium,
                    format!("a binary file of {} MiB is added", bytes / 1024 / 1024),
                )
            });
        }
    }
    if !diff.left_out.is_empty() {
        found.push(Finding {
            recommendation: Some("look at them yourself, or commit in smaller parts and review each".to_owned()),
            check: Some("DIFF-UNREAD".to_owned()),
            detail: diff.left_out.iter().take(PLACES).cloned().collect(),
            ..Finding::new(
                Severity::Low,
                "the changes are longer than one review reads: some files were left out and nobody has looked at them",
            )
        });
    }
    found
}

#[cfg(test)]
mod tests;
