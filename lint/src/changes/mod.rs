//! The built-in reviewer of changes: a small catalogue of things that are seldom meant, found in added lines.
//!
//! [`review`] reads a unified diff (`read`) and runs every check on every file. It knows no language well: it knows
//! what leftovers look like. Tests, fixtures and documents are allowed what is usual there. Where a finding can be
//! removed without a thought, it proposes the patch (`propose`). The catalogue is in `docs/lint.md`.

mod any_file;
mod debugging;
mod hit;
mod leftovers;
mod patch;
mod propose;
mod secrets;

use crate::{Finding, Severity};
use hit::FileHit;
use patch::{Patch, PatchFile};

/// Most findings of one review; the lightest are left out first.
const MAX_FINDINGS: usize = 40;
/// Most places that one finding lists besides its own.
const PLACES: usize = 5;

/// Reviews a unified diff, such as git writes it.
///
/// One finding per check and file, the heaviest first, then by file and line; 40 altogether. Each has a
/// file, and where it is about a line, its number in the new version.
pub fn review(text: &str) -> Vec<Finding> {
    let diff = patch::read(text);
    let mut found: Vec<Finding> = Vec::new();
    for file in &diff.files {
        let checks = [
            any_file::conflict,
            secrets::keys,
            secrets::tokens,
            secrets::passwords,
            any_file::hidden,
            leftovers::file,
            debugging::breakpoints,
            debugging::only,
            debugging::prints,
            leftovers::commented_out,
            leftovers::todo,
            any_file::long_file,
            any_file::long_line,
        ];
        found.extend(
            checks
                .iter()
                .filter_map(|check| Some(finding(file, check(file)?))),
        );
    }
    found.extend(about_the_whole(&diff));
    found.sort_by(|one, two| {
        (one.severity, &one.file, one.line, &one.check).cmp(&(
            two.severity,
            &two.file,
            two.line,
            &two.check,
        ))
    });
    found.truncate(MAX_FINDINGS);
    found
}

fn finding(file: &PatchFile, hit: FileHit) -> Finding {
    let mut places = hit.places.iter();
    let first = places.next();
    let mut evidence: Vec<String> = first
        .into_iter()
        .chain(places.clone().take(PLACES))
        .map(|(line, text)| format!("line {line}: {text}"))
        .collect();
    let rest = places.len().saturating_sub(PLACES);
    if rest > 0 {
        evidence.push(format!("and {rest} more"));
    }
    Finding {
        check: hit.check,
        severity: hit.severity,
        what: hit.what,
        recommendation: hit.add,
        file: Some(file.path.clone()),
        line: first.map(|(line, _)| *line),
        evidence,
        patch: hit.patch,
    }
}

/// Returns what the head of the text tells: large binaries, and what nobody has read.
fn about_the_whole(diff: &Patch) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, bytes) in &diff.binaries {
        if *bytes >= any_file::LARGE_BINARY {
            found.push(Finding {
                check: "DIFF-HUGE",
                severity: Severity::Medium,
                what: format!("a binary file of {} MiB is added", bytes / 1024 / 1024),
                recommendation: "keep large files out of the repository, or under git LFS",
                file: Some(path.clone()),
                line: None,
                evidence: Vec::new(),
                patch: None,
            });
        }
    }
    if !diff.left_out.is_empty() {
        found.push(Finding {
            check: "DIFF-UNREAD",
            severity: Severity::Low,
            what: "some changes were left out, being too long for one review, or cannot be read: nobody has looked at them".to_owned(),
            recommendation: "look at them yourself, or commit in smaller parts and review each",
            file: None,
            line: None,
            evidence: diff.left_out.iter().take(PLACES).cloned().collect(),
            patch: None,
        });
    }
    found
}

#[cfg(test)]
mod tests;
