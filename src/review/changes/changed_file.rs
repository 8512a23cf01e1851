//! The files that differ between a base and a snapshot, with how much of each differs.

use crate::git::{Git, WorktreeError};
use crate::review::worktree::OwnFiles;
use crate::review::worktree::file_name::names;

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangedFile {
    /// The path from the top, as bytes.
    pub(super) path: Vec<u8>,
    /// The earlier path, if it was renamed.
    pub(super) from: Option<Vec<u8>>,
    /// The numbers of added and removed lines, or `None` if it is binary.
    pub(super) lines: Option<(u64, u64)>,
    /// Whether its path is that of generated or vendored code.
    pub(super) is_generated: bool,
}

impl ChangedFile {
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
pub(super) fn list(
    differ: &Git,
    trees: [&str; 2],
    own_files: &OwnFiles,
) -> Result<Vec<ChangedFile>, WorktreeError> {
    let call = [&DIFF[..], &["-z", "--numstat"], &trees].concat();
    let listed = differ.call(&call, &[])?;
    let mut parts = names(&listed);
    let mut changed = Vec::new();
    while let Some(part) = parts.next() {
        // "12<TAB>3<TAB>path", or "12<TAB>3<TAB>" and then two paths if it was renamed; "-" if it is binary.
        let unreadable = || WorktreeError::unreadable("diff-tree", part);
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
            is_generated: is_generated(path),
            path: path.to_vec(),
            from,
        });
    }
    changed.retain(|one| !own_files.contains(&one.path));
    changed.sort_by(|one, two| (one.is_generated, &one.path).cmp(&(two.is_generated, &two.path)));
    Ok(changed)
}

/// Ends of the names of generated files, lock files among them.
const GENERATED_ENDS: &str = ".lock .lockb -lock.json -lock.yaml -shrinkwrap.json /go.sum /Package.resolved \
    .min.js .min.css .map .snap .pb.go _pb2.py .g.dart .designer.cs";
/// Folders with generated or vendored code.
const GENERATED_FOLDERS: &str =
    "/vendor/ /node_modules/ /third_party/ /dist/ /__generated__/ /__snapshots__/";

/// Returns whether a path is that of generated or vendored code.
fn is_generated(path: &[u8]) -> bool {
    let path = format!("/{}", String::from_utf8_lossy(path));
    let mut ends = GENERATED_ENDS.split_whitespace();
    let mut folders = GENERATED_FOLDERS.split_whitespace();
    path.contains(".generated.")
        || ends.any(|end| path.ends_with(end))
        || folders.any(|folder| path.contains(folder))
}
