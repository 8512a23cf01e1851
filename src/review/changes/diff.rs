//! The text of changes: a head of lines that begin with `#` (`head.md`), then the diffs as git writes them.
//!
//! Control characters and bidirectional ones, which could change how the text is read, are written as `<U+202E>`. A carriage
//! return at the end of a line stays.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::json;

use super::base::Base;
use super::changed_file::{ChangedFile, DIFF};
use crate::git::Git;
use crate::message::{Message, Render as _};
use crate::review::worktree::file_name::{c_quoted, shown, visible};
use crate::review::worktree::{Snapshot, WorktreeError};
use crate::text;

/// The head.
const HEAD: Message = Message {
    name: "head.md",
    text: include_str!("head.md"),
};
/// The beginning of the first line of each diff.
const DIFF_LINE: &[u8] = b"diff --git ";
/// The beginning of the head's line about a binary file.
pub(super) const BINARY: &str = "# binary: ";
/// The beginning of the head's line about a file without a diff.
pub(crate) const LEFT_OUT: &str = "# left out: ";
/// The longest head, in bytes.
const MAX_HEAD_BYTES: usize = 24 * 1024;
/// The most lines of each list in the head.
const MAX_LISTED: usize = 60;
/// The most files that git is asked about at once.
const BATCH_FILES: usize = 64;

/// Writes the text, which has at most `max_bytes`.
pub(super) fn write(
    snapshot: &Snapshot,
    differ: &Git,
    base: &Base,
    changed: &[ChangedFile],
    max_bytes: usize,
) -> Result<String, WorktreeError> {
    let trees = [&*base.tree, snapshot.tree()];
    let mut bytes_left = max_bytes.saturating_sub(MAX_HEAD_BYTES);
    let mut body = String::new();
    let passed_over = snapshot.passed_over.iter();
    let mut left_out: Vec<String> = passed_over
        .map(|(path, over)| format!("{} ({} bytes, {})", shown(path), over.bytes, over.why))
        .collect();
    for batch in changed.chunks(BATCH_FILES) {
        // Each changed line takes two bytes at least: git need not write a diff that cannot fit. A name that is no text cannot be
        // an argument.
        let (small, large): (Vec<_>, Vec<_>) = batch.iter().partition(|one| {
            one.changed_lines().saturating_mul(2) <= bytes_left as u64
                && std::str::from_utf8(&one.path).is_ok()
        });
        left_out.extend(large.into_iter().map(with_size));
        let diffs = diffs(differ, trees, &small)?;
        for one in small {
            match diffs.get(&heading(one)) {
                Some(diff) if diff.len() <= bytes_left => {
                    bytes_left -= diff.len();
                    body.push_str(diff);
                }
                _ => left_out.push(with_size(one)),
            }
        }
    }
    Ok(head(snapshot, base, changed, &left_out) + &body)
}

fn head(snapshot: &Snapshot, base: &Base, changed: &[ChangedFile], left_out: &[String]) -> String {
    let lines = changed.iter().filter_map(|one| one.lines);
    let (added, removed) = lines.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let binary = changed.iter().filter(|one| one.lines.is_none());
    let binary: Vec<String> = binary.map(|one| with_bytes(snapshot, one)).collect();
    let facts = json!({
        "title": base.title(),
        "commit": base.commit,
        "date": base.date,
        "branch": base.branch.as_ref().map(text::shown),
        "against": base.against.as_ref().map(text::shown),
        "tree": snapshot.tree(),
        "files": changed.len(),
        "added": added,
        "removed": removed,
        "most": MAX_LISTED,
        "lists": [[BINARY, binary], [LEFT_OUT, left_out]],
    });
    let mut head = HEAD.render(&facts).expect("a template of ours");
    head.truncate(head.floor_char_boundary(MAX_HEAD_BYTES - 2));
    head.truncate(head.trim_end().len());
    head + "\n\n"
}

/// Returns the name of a binary file with its size.
fn with_bytes(snapshot: &Snapshot, one: &ChangedFile) -> String {
    let path = snapshot.git.root().as_std_path();
    match path.join(OsStr::from_bytes(&one.path)).symlink_metadata() {
        Ok(found) => format!("{} ({} bytes)", shown(&one.path), found.len()),
        Err(_) => format!("{} (removed)", shown(&one.path)),
    }
}

/// Returns the name of a file without a diff, with the number of changed lines.
fn with_size(one: &ChangedFile) -> String {
    let size = match one.lines {
        Some((added, removed)) => format!("+{added} -{removed} lines"),
        None => "binary".to_owned(),
    };
    let generated = if one.is_generated { ", generated" } else { "" };
    format!("{} ({size}{generated})", shown(&one.path))
}

/// Returns the first line of a file's diff, as git writes it.
fn heading(one: &ChangedFile) -> Vec<u8> {
    let side = |start: &str, path: &[u8]| c_quoted(&[start.as_bytes(), path].concat(), false);
    let before = side("a/", one.from.as_deref().unwrap_or(&one.path));
    let after = side("b/", &one.path);
    [DIFF_LINE, &before, b" ", &after, b"\n"].concat()
}

/// Returns the diffs of some files by their first lines.
fn diffs(
    differ: &Git,
    trees: [&str; 2],
    files: &[&ChangedFile],
) -> Result<BTreeMap<Vec<u8>, String>, WorktreeError> {
    let mut diffs: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    if files.is_empty() {
        return Ok(diffs);
    }
    let pathspec = |path: &Vec<u8>| format!(":(top,literal){}", String::from_utf8_lossy(path));
    let paths = files
        .iter()
        .flat_map(|one| one.from.iter().chain([&one.path]));
    let paths: Vec<String> = paths.map(pathspec).collect();
    let options = ["-p", "--src-prefix=a/", "--dst-prefix=b/"];
    let mut call = [&DIFF[..], &options, &trees, &["--"]].concat();
    call.extend(paths.iter().map(String::as_str));
    let written = match differ.call(&call, &[]) {
        Err(WorktreeError::TooMany) => {
            // A single diff that is cut is too long for the text, too.
            for one in files.iter().filter(|_| files.len() > 1) {
                diffs.extend(self::diffs(differ, trees, &[one])?);
            }
            return Ok(diffs);
        }
        written => written?,
    };
    let mut heading = Vec::new();
    for line in written.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(DIFF_LINE) {
            heading = line.to_vec();
        }
        let diff = diffs.entry(heading.clone()).or_default();
        diff.push_str(&visible(&String::from_utf8_lossy(line)));
        if !diff.ends_with('\n') {
            diff.push('\n');
        }
    }
    Ok(diffs)
}
