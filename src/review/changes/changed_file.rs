//! The files that differ between a base and a snapshot, with how much of each differs.

use std::collections::BTreeMap;

use super::base::Base;
use crate::review::worktree::{Snapshot, WorktreeError};

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path from the top, as bytes.
    pub path: Vec<u8>,
    /// Its earlier path, if it was renamed.
    pub from: Option<Vec<u8>>,
    /// The numbers of added and removed lines, or `None` if it is binary.
    pub lines: Option<(u64, u64)>,
    /// Whether it was removed.
    pub is_removed: bool,
    /// Whether it is a submodule, before or after.
    pub is_submodule: bool,
    /// Whether git did not track it.
    pub is_untracked: bool,
    /// Whether its path is that of generated or vendored code.
    pub is_generated: bool,
}

impl ChangedFile {
    /// Returns whether it is binary.
    pub(super) fn is_binary(&self) -> bool {
        self.lines.is_none() && !self.is_submodule
    }

    /// Returns the number of added and removed lines.
    pub(super) fn changed_lines(&self) -> u64 {
        self.lines.map_or(0, |(added, removed)| added + removed)
    }
}

/// The options of all calls: the same renames, and no program of the repository.
pub(super) const DIFF: [&str; 7] = [
    "diff-tree",
    "-r",
    "-M",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
];

/// Returns the files in the order of their paths, generated ones last, without the loop's own files.
pub(super) fn list(snapshot: &Snapshot, base: &Base) -> Result<Vec<ChangedFile>, WorktreeError> {
    let format = ["-z", "--raw", "--numstat", "--no-abbrev"];
    let trees = [&*base.tree, snapshot.tree()];
    let call = [&DIFF[..], &format, &trees].concat();
    let listed = snapshot.differ().call(&call, &[])?;
    let mut parts = listed.split(|byte| *byte == 0);
    let mut changed: BTreeMap<Vec<u8>, ChangedFile> = BTreeMap::new();
    while let Some(part) = parts.next() {
        let unreadable = || WorktreeError::unreadable("diff-tree", part);
        let mut path = || parts.next().map(<[u8]>::to_vec).ok_or_else(unreadable);
        if part.is_empty() {
            continue;
        }
        if let Some(raw) = part.strip_prefix(b":") {
            // ":100644 100644 <id> <id> M" and then one path, or two if it was renamed.
            let words: Vec<&[u8]> = raw.split(|byte| *byte == b' ').collect();
            let [old, new, _, _, status] = words[..] else {
                return Err(unreadable());
            };
            let first = path()?;
            let (from, path) = match status.first() {
                Some(b'R' | b'C') => (Some(first), path()?),
                _ => (None, first),
            };
            let one = ChangedFile {
                is_untracked: snapshot.untracked().contains(&path),
                is_generated: is_generated(&path),
                is_submodule: old == b"160000" || new == b"160000",
                is_removed: status == b"D",
                lines: None,
                from,
                path: path.clone(),
            };
            changed.insert(path, one);
            continue;
        }
        // "12<TAB>3<TAB>path", or "12<TAB>3<TAB>" and then two paths; "-" if it is binary.
        let columns: Vec<&[u8]> = part.splitn(3, |byte| *byte == b'\t').collect();
        let [added, removed, name] = columns[..] else {
            return Err(unreadable());
        };
        let path = match name.is_empty() {
            true => {
                path()?;
                path()?
            }
            false => name.to_vec(),
        };
        let number = |column: &[u8]| std::str::from_utf8(column).ok()?.parse::<u64>().ok();
        if let Some(one) = changed.get_mut(&path) {
            one.lines = number(added).zip(number(removed));
        }
    }
    let own_files = snapshot.own_files();
    let mut changed: Vec<ChangedFile> = changed
        .into_values()
        .filter(|one| !own_files.contains(&one.path))
        .collect();
    changed.sort_by(|one, two| (one.is_generated, &one.path).cmp(&(two.is_generated, &two.path)));
    Ok(changed)
}

/// Names of lock files.
const LOCK_FILES: &str = "Cargo.lock package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock poetry.lock uv.lock \
    pdm.lock Pipfile.lock Gemfile.lock composer.lock go.sum flake.lock mix.lock Package.resolved";
/// Ends of the names of generated files.
const GENERATED_ENDS: &str = ".min.js .min.css .map .snap .pb.go _pb2.py .g.dart .designer.cs";
/// Names of folders with generated or vendored code.
const GENERATED_FOLDERS: &str = "vendor node_modules third_party dist __generated__ __snapshots__";

/// Returns whether a path is that of generated or vendored code.
fn is_generated(path: &[u8]) -> bool {
    let has = |words: &str, word: &str| words.split_whitespace().any(|one| one == word);
    let text = String::from_utf8_lossy(path);
    let (folders, name) = text.rsplit_once('/').unwrap_or(("", &text));
    has(LOCK_FILES, name)
        || name.contains(".generated.")
        || GENERATED_ENDS
            .split_whitespace()
            .any(|end| name.ends_with(end))
        || folders
            .split('/')
            .any(|folder| has(GENERATED_FOLDERS, folder))
}

#[cfg(test)]
mod tests {
    use super::is_generated;

    #[test]
    fn generated_files_are_known_by_their_path() {
        for path in [
            "Cargo.lock",
            "a/yarn.lock",
            "web/app.min.js",
            "vendor/x/y.go",
            "a/api.generated.ts",
        ] {
            assert!(is_generated(path.as_bytes()), "{path}");
        }
        for path in [
            "lock.rs",
            "src/vendor.rs",
            "a/Cargo.lock.md",
            "roadmap",
            "generated.rs",
        ] {
            assert!(!is_generated(path.as_bytes()), "{path}");
        }
    }
}
