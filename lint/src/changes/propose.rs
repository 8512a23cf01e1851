//! A patch that removes lines which a diff added, against the new version, with the context that the diff shows.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::patch::{PatchFile, PatchLine};
use super::secrets;

/// Lines around a removed one.
const CONTEXT: usize = 3;

/// Returns a unified diff without these lines; None: there are none, or the lines around them cannot be shown as they are.
pub(super) fn without(file: &PatchFile, numbers: &BTreeSet<u32>) -> Option<String> {
    let mut patch = String::new();
    let mut removed_before = 0_usize;
    for hunk in &file.hunks {
        let gone = |line: &PatchLine| line.added && numbers.contains(&line.number);
        let Some(first) = hunk.lines.iter().position(gone) else {
            continue;
        };
        let last = hunk.lines.iter().rposition(gone)?;
        let shown =
            &hunk.lines[first.saturating_sub(CONTEXT)..(last + CONTEXT + 1).min(hunk.lines.len())];
        // A character that is spelled out here is another one in the file; and a secret is not repeated in a report.
        let unfit = |line: &PatchLine| {
            line.raw.contains("<U+") || line.raw.contains('\u{fffd}') || secrets::holds(line.text())
        };
        if shown.iter().any(unfit) {
            return None;
        }
        let removed = shown.iter().filter(|line| gone(line)).count();
        let start = usize::try_from(shown.first()?.number).ok()?;
        let left = shown.len() - removed;
        let new_start = (start - removed_before.min(start)).saturating_sub(usize::from(left == 0));
        let _ = writeln!(patch, "@@ -{start},{} +{new_start},{left} @@", shown.len());
        for line in shown {
            let sign = if gone(line) { '-' } else { ' ' };
            let _ = writeln!(patch, "{sign}{}", line.raw);
            if line.unended {
                patch.push_str("\\ No newline at end of file\n");
            }
        }
        removed_before += removed;
    }
    let odd = |character: char| character.is_control() || character == '"' || character == '\\';
    if patch.is_empty() || file.path.contains(odd) || file.path.contains("<U+") {
        return None;
    }
    Some(format!("--- a/{0}\n+++ b/{0}\n{patch}", file.path))
}
