//! What a text of changes does not show, though it may have changed: each kind is one sentence for the summary.

use super::list::Changed;
use super::text::binaries;
use crate::review::worktree::names::{names, shown};
use crate::review::worktree::{Snapshot, WorktreeError};

/// Limits the names in one sentence.
const NAMED: usize = 10;

/// Says what is not shown.
pub(super) fn sentences(
    snapshot: &Snapshot,
    changed: &[Changed],
    left_out: &[String],
) -> Result<Vec<String>, WorktreeError> {
    let mut told = Vec::new();
    let mut say = |names: &[String], before: &str| {
        if !names.is_empty() {
            told.push(format!("{before}: {}.", listed(names)));
        }
    };
    say(
        left_out,
        "The changes are longer than one review reads. Left out and looked at by nobody",
    );
    say(
        &binaries(snapshot, changed),
        "Binary files (one NUL byte makes a file binary), of which nobody was shown the content",
    );
    let hidden = hidden(snapshot)?;
    say(
        &hidden,
        &format!(
            "{} hidden from git, and so from the review, by .git/info/exclude or core.excludesFile",
            files(hidden.len(), "untracked file is", "untracked files are")
        ),
    );
    let marked = marked(snapshot)?;
    say(
        &marked,
        &format!(
            "{} marked in git’s index so that changes are not seen (assume-unchanged, skip-worktree)",
            files(marked.len(), "tracked file is", "tracked files are")
        ),
    );
    if is_cut_short(snapshot)? {
        told.push(
            "The history of this repository is cut short (a shallow clone, or grafts), so the branch may have left the other one \
             elsewhere than where the review assumes."
                .to_owned(),
        );
    }
    Ok(told)
}

/// Lists names as `a, b and 3 more`.
pub(super) fn listed(names: &[String]) -> String {
    let first = names
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn files(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// Returns the untracked files that only a rule outside of the work tree ignores.
/// What its own `.gitignore` files ignore can be read there.
fn hidden(snapshot: &Snapshot) -> Result<Vec<String>, WorktreeError> {
    let untracked = [
        "ls-files",
        "-z",
        "--others",
        "--exclude-per-directory=.gitignore",
    ];
    // Of a list that is too long its beginning is named.
    let listed = snapshot.real().ask(&untracked, &[])?.stdout;
    let hidden = names(&listed)
        .filter(|path| !snapshot.untracked().contains(*path) && !snapshot.ours().holds(path))
        .map(shown);
    Ok(hidden.collect())
}

/// Returns the tracked files whose changes git was told not to look for.
fn marked(snapshot: &Snapshot) -> Result<Vec<String>, WorktreeError> {
    // "h path", where another file has "H path"; "S path" is passed over in the work tree.
    let listed = snapshot.real().ask(&["ls-files", "-z", "-v"], &[])?.stdout;
    let is_marked = |entry: &&[u8]| {
        entry
            .first()
            .is_some_and(|tag| tag.is_ascii_lowercase() || *tag == b'S')
    };
    let marked = names(&listed)
        .filter(is_marked)
        .filter_map(|entry| entry.get(2..));
    Ok(marked
        .filter(|path| !snapshot.ours().holds(path))
        .map(shown)
        .collect())
}

/// Returns whether commits are taken for the first ones that are not.
fn is_cut_short(snapshot: &Snapshot) -> Result<bool, WorktreeError> {
    let git = snapshot.git();
    let paths = git.lines(
        &[
            "rev-parse",
            "--git-path",
            "shallow",
            "--git-path",
            "info/grafts",
        ],
        &[],
    )?;
    let has_content = |path: &str| {
        let found = git.root().join(path).symlink_metadata();
        found.is_ok_and(|found| found.len() > 0)
    };
    Ok(paths.lines().any(has_content))
}
