//! The text of changes: a head of lines that begin with `#`, then the diffs as git writes them.
//!
//! ```text
//! # changes of feature-x against main
//! # compared with: commit <id> of 2026-11-20T10:00:00Z, where feature-x left main
//! # work tree: tree <id>, with what is uncommitted and untracked
//! # files: 3 (+12 -4), 1 of them untracked, 1 binary
//! # binary: logo.png (12345 bytes)
//! # left out: Cargo.lock (+900 -10 lines, generated)
//!
//! diff --git a/src/x.rs b/src/x.rs
//! ...
//! ```
//!
//! What could change how the text is read (control characters, bidirectional ones) stands as `<U+202E>`; a carriage
//! return at the end of a line stays.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use super::base::Base;
use super::list::{Changed, DIFF};
use crate::review::worktree::names::{c_quoted, shown, visible};
use crate::review::worktree::{Snapshot, WorktreeError};

/// How the first line of each diff begins.
const DIFF_LINE: &[u8] = b"diff --git ";
/// How the head names a binary file.
pub const BINARY: &str = "# binary: ";
/// How the head names a file whose diff is not there.
pub const LEFT_OUT: &str = "# left out: ";
/// What the head may take, in bytes.
const HEAD: usize = 24 * 1024;
/// Most lines of each list in the head.
const LISTED: usize = 60;
/// Most files that git is asked about at once.
const BATCH: usize = 64;
/// Most bytes of names that git is asked about at once.
const BATCH_BYTES: usize = 32 * 1024;

/// Writes it, and names the files whose diff it does not hold.
pub(super) fn write(
    snapshot: &Snapshot,
    base: &Base,
    changed: &[Changed],
    most: usize,
) -> Result<(String, Vec<String>), WorktreeError> {
    let mut left = most.saturating_sub(HEAD);
    let mut body = String::new();
    let mut left_out: Vec<String> = snapshot
        .passed_over()
        .iter()
        .filter(|(path, _)| !snapshot.ours().holds(path))
        .map(|(path, over)| format!("{} ({} bytes, {})", shown(path), over.bytes, over.why))
        .collect();
    let mut at = 0;
    while at < changed.len() {
        let mut batch: Vec<&Changed> = Vec::new();
        let mut bytes = 0;
        while let Some(one) = changed.get(at) {
            bytes += one.path.len() + one.from.as_ref().map_or(0, Vec::len);
            if batch.len() == BATCH || (bytes > BATCH_BYTES && !batch.is_empty()) {
                break;
            }
            at += 1;
            // Each changed line takes two bytes at least: what cannot fit is not read.
            let lines = one.lines.map_or(0, |(added, removed)| added + removed);
            if usize::try_from(lines.saturating_mul(2)).unwrap_or(usize::MAX) > left {
                left_out.push(named(one));
            } else {
                batch.push(one);
            }
        }
        let sections = sections(snapshot, base, &batch)?;
        for one in batch {
            match sections.get(&heading(one)) {
                Some(section) if section.len() <= left => {
                    left -= section.len();
                    body.push_str(section);
                }
                _ => left_out.push(named(one)),
            }
        }
    }
    let mut text = head(snapshot, base, changed, &left_out);
    text.push_str(&body);
    Ok((text, left_out))
}

fn head(snapshot: &Snapshot, base: &Base, changed: &[Changed], left_out: &[String]) -> String {
    let mut head = format!("# {}\n", base.title());
    let date = base
        .date
        .map(|date| format!(" of {date}"))
        .unwrap_or_default();
    // A branch may be called anything but what git refuses, which is less than what hides.
    let named = |name: &str| crate::text::shown(name);
    let branch = base
        .branch
        .as_deref()
        .map_or("the work tree".to_owned(), named);
    let against = base.against.as_deref().map(named);
    let _ = match (&base.commit, &against) {
        (Some(commit), Some(against)) => {
            writeln!(
                head,
                "# compared with: commit {commit}{date}, where {branch} left {against}"
            )
        }
        (Some(commit), None) => {
            writeln!(
                head,
                "# compared with: commit {commit}{date}, the last one of {branch}"
            )
        }
        (None, _) => writeln!(head, "# compared with: nothing, {branch} has no commit yet"),
    };
    let _ = writeln!(
        head,
        "# work tree: tree {}, with what is uncommitted and untracked",
        snapshot.tree()
    );
    let sum = |pick: fn((u64, u64)) -> u64| {
        changed
            .iter()
            .filter_map(|one| one.lines)
            .map(pick)
            .sum::<u64>()
    };
    let count = |is: fn(&Changed) -> bool| changed.iter().filter(|one| is(one)).count();
    let _ = write!(
        head,
        "# files: {} (+{} -{} lines)",
        changed.len(),
        sum(|(added, _)| added),
        sum(|(_, removed)| removed)
    );
    for (number, word) in [
        (count(|one| one.untracked), "untracked"),
        (count(is_binary), "binary"),
        (count(|one| one.submodule), "of submodules"),
    ] {
        if number > 0 {
            let _ = write!(head, ", {number} {word}");
        }
    }
    head.push('\n');
    let binary = binaries(snapshot, changed);
    for (start, list) in [(BINARY, &binary[..]), (LEFT_OUT, left_out)] {
        for name in list.iter().take(LISTED) {
            let _ = writeln!(head, "{start}{}", name);
        }
        if list.len() > LISTED {
            let _ = writeln!(head, "{start}and {} more", list.len() - LISTED);
        }
    }
    head.truncate(head.floor_char_boundary(HEAD - 2));
    head.push('\n');
    if !head.ends_with("\n\n") {
        head.push('\n');
    }
    head
}

/// Returns the binary files, each with its size.
fn binaries(snapshot: &Snapshot, changed: &[Changed]) -> Vec<String> {
    changed
        .iter()
        .filter(|one| is_binary(one))
        .map(|one| {
            let file = std::path::Path::new(snapshot.root().as_str()).join(path_of(&one.path));
            match file.symlink_metadata() {
                Ok(found) if one.status != b'D' => {
                    format!("{} ({} bytes)", shown(&one.path), found.len())
                }
                _ => format!("{} (removed)", shown(&one.path)),
            }
        })
        .collect()
}

fn is_binary(one: &Changed) -> bool {
    one.lines.is_none() && !one.submodule
}

/// Returns a path as the system takes it.
fn path_of(path: &[u8]) -> &std::ffi::OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(path)
}

/// Returns a file that is left out, with how much of it differs.
fn named(one: &Changed) -> String {
    let size = match one.lines {
        Some((added, removed)) => format!("+{added} -{removed} lines"),
        None => "binary".to_owned(),
    };
    let generated = if one.generated { ", generated" } else { "" };
    format!("{} ({size}{generated})", shown(&one.path))
}

/// Returns the line that a file's diff begins with, as git writes it.
fn heading(one: &Changed) -> Vec<u8> {
    let side = |start: &str, path: &[u8]| c_quoted(&[start.as_bytes(), path].concat(), false);
    let from = one.from.as_deref().unwrap_or(&one.path);
    [
        DIFF_LINE,
        &side("a/", from),
        b" ",
        &side("b/", &one.path),
        b"\n",
    ]
    .concat()
}

/// Returns the diffs of some files, by their first lines.
fn sections(
    snapshot: &Snapshot,
    base: &Base,
    batch: &[&Changed],
) -> Result<BTreeMap<Vec<u8>, String>, WorktreeError> {
    if batch.is_empty() {
        return Ok(BTreeMap::new());
    }
    let specs: Vec<String> = batch
        .iter()
        .flat_map(|one| [Some(&one.path), one.from.as_ref()])
        .flatten()
        .map(|path| pathspec(path))
        .collect();
    let mut arguments = DIFF.to_vec();
    arguments.extend([
        "-p",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        &base.tree,
        snapshot.tree(),
        "--",
    ]);
    arguments.extend(specs.iter().map(String::as_str));
    let answer = snapshot.differ().ask(&arguments, &[])?;
    if answer.cut && batch.len() > 1 {
        // Together they are too long to be kept; each by itself may not be.
        let mut all = BTreeMap::new();
        for one in batch {
            all.extend(sections(snapshot, base, &[one])?);
        }
        return Ok(all);
    }
    if answer.status != 0 || answer.cut {
        return match answer.cut {
            true => Ok(BTreeMap::new()),
            false => Err(WorktreeError::Refused {
                command: "diff-tree".to_owned(),
                said: crate::text::one_line(&answer.stderr, 300),
            }),
        };
    }
    let wanted: HashSet<Vec<u8>> = batch.iter().map(|one| heading(one)).collect();
    let mut sections: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    let mut current: Option<&Vec<u8>> = None;
    for line in answer.stdout.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(DIFF_LINE) {
            current = wanted.get(line);
        }
        if let Some(current) = current {
            let section = sections.entry(current.clone()).or_default();
            section.push_str(&visible(&String::from_utf8_lossy(line)));
            if !section.ends_with('\n') {
                section.push('\n');
            }
        }
    }
    Ok(sections)
}

/// Exactly this path; where its name is not UTF-8 and cannot be an argument, each odd byte stands for any.
fn pathspec(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(path) => format!(":(top,literal){path}"),
        Err(_) => {
            let mut spec = String::from(":(top,glob)");
            for chunk in path.utf8_chunks() {
                for character in chunk.valid().chars() {
                    if "*?[]\\".contains(character) {
                        spec.push('\\');
                    }
                    spec.push(character);
                }
                spec.extend(chunk.invalid().iter().map(|_| '?'));
            }
            spec
        }
    }
}
