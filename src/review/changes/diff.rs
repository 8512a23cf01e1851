//! The files that differ and their text: a head of lines with `#` (`head.md`), then git's diffs.
//!
//! Control and bidirectional characters, which could change how the text is read, are written as
//! `<U+202E>`. A carriage return at the end of a line stays.

use std::collections::BTreeMap;

use serde_json::json;

use super::MAX_BYTES;
use super::base::Base;
use crate::git::Git;
use crate::message::{Message, Render as _};
use crate::review::worktree::{Snapshot, WorktreeError, names, readable_name, visible};
use crate::{template, text};

const HEAD: Message = template!("head.md");
/// The start of the head's line about a file without a diff.
pub(crate) const LEFT_OUT: &str = "# left out: ";
const MAX_HEAD_BYTES: usize = 24 * 1024;
const MAX_LISTED: usize = 60;
/// The most lines of an edit that goes before files with only new lines.
const MAX_EDIT_LINES: u64 = 1000;
/// The most files of one call of git, whose paths have to fit in a command line.
const FILES_PER_CALL: usize = 200;

/// A file that differs between the base and the snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangedFile {
    /// The path from the top, as bytes.
    path: Vec<u8>,
    /// The earlier path of a renamed file.
    from: Option<Vec<u8>>,
    /// The numbers of added and removed lines, or `None` if it is binary.
    lines: Option<(u64, u64)>,
}

impl ChangedFile {
    /// Whether git's diff could have at most that many bytes and its name can be an argument.
    fn may_fit(&self, max_bytes: usize) -> bool {
        let (added, removed) = self.lines.unwrap_or_default();
        // Both paths are in the first line, and each changed line has at least two bytes.
        let least = (added + removed).saturating_mul(2) + 2 * self.path.len() as u64;
        least <= max_bytes as u64 && std::str::from_utf8(&self.path).is_ok()
    }
}

/// The options of all calls: the same renames, and no program of the repository.
const DIFF: &str = "diff-tree -r -M --no-ext-diff --no-textconv --no-color --submodule=short";

/// Returns the files in the order of their paths, without the loop's own files.
pub(super) fn list(
    differ: &Git,
    trees: [&str; 2],
    own_files: &[String],
) -> Result<Vec<ChangedFile>, WorktreeError> {
    let mut arguments = [&trees[..], &["--", ":(top)"]].concat();
    arguments.extend(own_files.iter().map(String::as_str));
    let listed = differ.call(&format!("{DIFF} -z --numstat"), &arguments, &[])?;
    let mut parts = names(&listed);
    let mut changed = Vec::new();
    while let Some(part) = parts.next() {
        // "12<TAB>3<TAB>path", or for a rename "12<TAB>3<TAB>" and two paths; "-" if binary.
        let unreadable = || WorktreeError::refusal("diff-tree", "its answer cannot be read");
        let columns: Vec<&[u8]> = part.splitn(3, |byte| *byte == b'\t').collect();
        let [added, removed, name] = columns[..] else {
            return Err(unreadable());
        };
        let mut path = name;
        let mut from = None;
        if name.is_empty() {
            from = parts.next().map(<[u8]>::to_vec);
            path = parts.next().ok_or_else(unreadable)?;
        }
        let number = |column: &[u8]| std::str::from_utf8(column).ok()?.parse::<u64>().ok();
        changed.push(ChangedFile {
            lines: number(added).zip(number(removed)),
            path: path.to_vec(),
            from,
        });
    }
    changed.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(changed)
}

/// Writes at most [`MAX_BYTES`] of text: as many of the smallest diffs as fit, in order of path.
/// Generated files do not push out edits, nor does a rewritten lock file push out new files.
pub(super) fn write(
    snapshot: &Snapshot,
    differ: &Git,
    base: &Base,
    changed: &[ChangedFile],
) -> Result<String, WorktreeError> {
    let trees = [&*base.tree, &*snapshot.tree];
    let mut bytes_left = MAX_BYTES - MAX_HEAD_BYTES;
    let mut smallest: Vec<&ChangedFile> = changed.iter().collect();
    smallest.sort_by_key(|one| {
        let (added, removed) = one.lines.unwrap_or_default();
        let lines = added + removed;
        (removed == 0 || lines > MAX_EDIT_LINES, lines)
    });
    let mut diffs = BTreeMap::new();
    for batch in smallest.chunks(FILES_PER_CALL) {
        let mut batch = batch.to_vec();
        batch.retain(|one| one.may_fit(bytes_left));
        let mut read = read_diffs(differ, trees, &batch)?;
        for one in batch {
            let diff = read.remove(&*one.path).unwrap_or_default();
            if !diff.is_empty() && diff.len() <= bytes_left {
                bytes_left -= diff.len();
                diffs.insert(&one.path, diff);
            }
        }
    }
    let mut left_out = Vec::new();
    for (path, reason) in &snapshot.passed_over {
        left_out.push(format!("{} ({reason})", readable_name(path)));
    }
    let without_diff = changed.iter().filter(|one| !diffs.contains_key(&one.path));
    left_out.extend(without_diff.map(with_size));
    Ok(head(&snapshot.tree, base, changed, &left_out) + &diffs.into_values().collect::<String>())
}

fn head(tree: &str, base: &Base, changed: &[ChangedFile], left_out: &[String]) -> String {
    let lines = changed.iter().filter_map(|one| one.lines);
    let (added, removed) = lines.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let binary = changed.iter().filter(|one| one.lines.is_none());
    let facts = json!({
        "title": base.title(),
        "commit": base.commit,
        "branch": base.branch.as_ref().map(text::printable),
        "against": base.against.as_ref().map(text::printable),
        "tree": tree,
        "files": changed.len(),
        "added": added,
        "removed": removed,
        "binary": binary.count(),
        "begin": LEFT_OUT,
        "left_out": left_out,
        "most": MAX_LISTED,
    });
    let mut head = HEAD.render(&facts).expect("a template of ours");
    head.truncate(head.floor_char_boundary(MAX_HEAD_BYTES - 2));
    head.truncate(head.trim_end().len());
    head + "\n\n"
}

/// Returns the name of a file without a diff, with the number of changed lines.
fn with_size(one: &ChangedFile) -> String {
    let name = readable_name(&one.path);
    match one.lines {
        Some((added, removed)) => format!("{name} (+{added} -{removed} lines)"),
        None => format!("{name} (binary)"),
    }
}

/// Returns git's diffs of files by path, without those that are far too long.
fn read_diffs<'a>(
    differ: &Git,
    trees: [&str; 2],
    files: &[&'a ChangedFile],
) -> Result<BTreeMap<&'a [u8], String>, WorktreeError> {
    let by_path: BTreeMap<&[u8], &ChangedFile> =
        files.iter().map(|one| (&*one.path, *one)).collect();
    if by_path.is_empty() {
        return Ok(BTreeMap::new());
    }
    let names = files
        .iter()
        .flat_map(|one| one.from.iter().chain([&one.path]));
    let paths: Vec<String> = names
        .map(|path| format!(":(top,literal){}", String::from_utf8_lossy(path)))
        .collect();
    let mut arguments = [&trees[..], &["--"]].concat();
    arguments.extend(paths.iter().map(String::as_str));
    let call = format!("{DIFF} -p --src-prefix=a/ --dst-prefix=b/");
    let written = match differ.call(&call, &arguments, &[]) {
        Err(WorktreeError::TooMany) => Vec::new(),
        written => written?,
    };
    let mut diffs: Vec<String> = Vec::new();
    // Git ends each line, including the last one.
    for line in written.split_inclusive(|byte| *byte == b'\n') {
        // A file that became a link has two diffs.
        if diffs.is_empty() || files.len() > 1 && line.starts_with(b"diff --git ") {
            diffs.push(String::new());
        }
        let shown = visible(&String::from_utf8_lossy(line));
        diffs.last_mut().expect("pushed above").push_str(&shown);
    }
    if diffs.len() != files.len() && files.len() > 1 {
        let (one, two) = files.split_at(files.len() / 2);
        let mut read = read_diffs(differ, trees, one)?;
        read.append(&mut read_diffs(differ, trees, two)?);
        return Ok(read);
    }
    Ok(by_path.into_keys().zip(diffs).collect())
}
