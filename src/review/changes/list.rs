//! The files that differ between a base and a snapshot, with how much of each differs.

use std::collections::BTreeMap;

use super::base::Base;
use crate::review::worktree::{Snapshot, WorktreeError};

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its path from the top, as bytes.
    pub path: Vec<u8>,
    /// Where it was before, if it was renamed.
    pub from: Option<Vec<u8>>,
    /// What git calls the change: `A`, `M`, `D`, `R`, `T`.
    pub status: u8,
    /// Lines added and removed; None: it is binary.
    pub lines: Option<(u64, u64)>,
    /// Whether it is a submodule, before or after.
    pub submodule: bool,
    /// Whether git did not track it.
    pub untracked: bool,
    /// Whether a program wrote it, by its name: a lock file, a minified or generated one, someone else's code.
    pub generated: bool,
}

/// Options of both ways to call it: the same renames, nothing that is not git's own.
pub(super) const DIFF: [&str; 7] = [
    "diff-tree",
    "-r",
    "-M",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
];

/// Returns the files in the order of their paths, generated ones last. Ours are left out.
pub(super) fn list(snapshot: &Snapshot, base: &Base) -> Result<Vec<Changed>, WorktreeError> {
    let mut arguments = DIFF.to_vec();
    arguments.extend([
        "-z",
        "--raw",
        "--numstat",
        "--no-abbrev",
        &base.tree,
        snapshot.tree(),
    ]);
    let listed = snapshot.differ().call(&arguments, &[])?;
    let mut parts = listed.split(|byte| *byte == 0);
    let mut changed: BTreeMap<Vec<u8>, Changed> = BTreeMap::new();
    let unreadable = |part: &[u8]| WorktreeError::Answer {
        command: "diff-tree".to_owned(),
        said: crate::text::one_line(&String::from_utf8_lossy(part), 100),
    };
    while let Some(part) = parts.next() {
        if part.is_empty() {
            continue;
        }
        if let Some(raw) = part.strip_prefix(b":") {
            // ":100644 100644 <id> <id> M" and then one path, or two where it was renamed.
            let words: Vec<&[u8]> = raw.split(|byte| *byte == b' ').collect();
            let [old, new, _, _, status] = words[..] else {
                return Err(unreadable(part));
            };
            let status = *status.first().ok_or_else(|| unreadable(part))?;
            let first = parts.next().ok_or_else(|| unreadable(part))?.to_vec();
            let (from, path) = match status {
                b'R' | b'C' => (
                    Some(first),
                    parts.next().ok_or_else(|| unreadable(part))?.to_vec(),
                ),
                _ => (None, first),
            };
            let one = Changed {
                untracked: snapshot.untracked().contains(&path),
                generated: is_generated(&path),
                submodule: old == b"160000" || new == b"160000",
                lines: None,
                from,
                status,
                path: path.clone(),
            };
            changed.insert(path, one);
            continue;
        }
        // "12<TAB>3<TAB>path", or "12<TAB>3<TAB>" and then two paths; "-" where it is binary.
        let mut columns = part.splitn(3, |byte| *byte == b'\t');
        let (Some(added), Some(removed), Some(path)) =
            (columns.next(), columns.next(), columns.next())
        else {
            return Err(unreadable(part));
        };
        let path = if path.is_empty() {
            parts.next().ok_or_else(|| unreadable(part))?;
            parts.next().ok_or_else(|| unreadable(part))?
        } else {
            path
        };
        let number = |column: &[u8]| std::str::from_utf8(column).ok()?.parse::<u64>().ok();
        if let Some(one) = changed.get_mut(path) {
            one.lines = number(added).zip(number(removed));
        }
    }
    let mut changed: Vec<Changed> = changed
        .into_values()
        .filter(|one| !snapshot.ours().holds(&one.path))
        .collect();
    changed.sort_by(|one, two| (one.generated, &one.path).cmp(&(two.generated, &two.path)));
    Ok(changed)
}

/// Returns whether a program wrote a file, or someone else did, as far as its path tells.
fn is_generated(path: &[u8]) -> bool {
    const NAMES: [&str; 16] = [
        "Cargo.lock",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
        "poetry.lock",
        "uv.lock",
        "pdm.lock",
        "Pipfile.lock",
        "Gemfile.lock",
        "composer.lock",
        "go.sum",
        "flake.lock",
        "mix.lock",
        "Package.resolved",
    ];
    const ENDS: [&str; 8] = [
        ".min.js",
        ".min.css",
        ".map",
        ".snap",
        ".pb.go",
        "_pb2.py",
        ".g.dart",
        ".designer.cs",
    ];
    const FOLDERS: [&str; 6] = [
        "vendor",
        "node_modules",
        "third_party",
        "dist",
        "__generated__",
        "__snapshots__",
    ];
    let text = String::from_utf8_lossy(path);
    let (folders, name) = text.rsplit_once('/').unwrap_or(("", &text));
    NAMES.contains(&name)
        || name.contains(".generated.")
        || ENDS.iter().any(|end| name.ends_with(end))
        || folders.split('/').any(|folder| FOLDERS.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::is_generated;

    #[test]
    fn what_programs_write_is_known_by_its_name() {
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
