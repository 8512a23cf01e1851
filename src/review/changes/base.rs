//! The base of a work tree's changes: where its branch left another one, or else its last commit.
//!
//! By default, the other branch is the nearest one in commits, but no copy of the branch on a
//! remote. Branches that contain all of its commits, such as a backup, count only if they are a
//! main branch or its upstream, since a new branch has no other commits. A main branch is compared
//! only with its copies, because another branch would include other people's work.

use crate::git::Git;
use crate::review::worktree::snapshot::is_id;
use crate::review::worktree::{Snapshot, WorktreeError};
use crate::text;

const MAIN: [&str; 4] = ["main", "master", "trunk", "develop"];
const REMOTES: &str = "refs/remotes/";
/// The most branches, the newest ones, that are considered.
const MAX_CANDIDATES: usize = 100;

/// The base of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The branch that is checked out, if any.
    pub branch: Option<String>,
    /// The commit; `None` means that no commit exists, so that everything is new.
    pub commit: Option<String>,
    /// The tree.
    pub tree: String,
    /// The other branch's short name; `None` means that the commit is the branch's last one.
    pub against: Option<String>,
}

impl Base {
    /// Returns a title such as `changes of feature-x against main`.
    pub fn title(&self) -> String {
        let short = |name: &String| text::one_line(&text::printable(name), 100);
        let unnamed = || "a work tree without a branch".to_owned();
        let branch = self.branch.as_ref().map_or_else(unnamed, short);
        match (self.against.as_ref().map(short), &self.commit) {
            (Some(against), _) => format!("changes of {branch} against {against}"),
            (None, Some(_)) => format!("uncommitted changes of {branch}"),
            (None, None) => format!("files of {branch}, which has no commit yet"),
        }
    }
}

/// The commit with which changes begin.
#[derive(Debug, Clone, Copy)]
pub enum Since<'a> {
    /// The point where the branch left the nearest other one.
    Branch,
    /// The point where the branch left this revision.
    Revision(&'a str),
    /// The commit with this id. Only zeros mean the empty tree, from which everything is new.
    Commit(&'a str),
}

pub(super) fn find(snapshot: &Snapshot, since: Since<'_>) -> Result<Base, WorktreeError> {
    let git = &snapshot.git;
    let no_commit = |revision: &str| {
        let commit = text::one_line(&text::printable(revision), 100);
        WorktreeError::unusable(
            format!("the repository has no commit ‘{commit}’ to compare with"),
            "fetch it, or name another one that shares history with the branch",
        )
    };
    let named = |revision: &str| commit_of(git, revision)?.ok_or_else(|| no_commit(revision));
    let (commit, against) = match since {
        Since::Branch => nearest(git)?,
        Since::Revision(revision) => {
            let common = git.maybe("merge-base HEAD", &[&named(revision)?])?;
            let base = common.ok_or_else(|| no_commit(revision))?;
            (Some(base), Some(revision.to_owned()))
        }
        Since::Commit(id) if !is_id(id) => return Err(no_commit(id)),
        Since::Commit(id) if id.bytes().all(|digit| digit == b'0') => {
            (None, Some("an empty folder".to_owned()))
        }
        Since::Commit(id) => (Some(named(id)?), Some(id[..12].to_owned())),
    };
    let tree = match &commit {
        Some(commit) => git.lines("rev-parse --verify", &[&format!("{commit}^{{tree}}")])?,
        None => git.lines("mktree", &[])?,
    };
    let branch = git.maybe("symbolic-ref --quiet HEAD", &[])?;
    Ok(Base {
        branch: branch.map(|name| short(&name)),
        commit,
        tree,
        against,
    })
}

/// Returns where the branch left the nearest other one, and its name, or else the last commit.
fn nearest(git: &Git) -> Result<(Option<String>, Option<String>), WorktreeError> {
    let mut base = commit_of(git, "HEAD")?;
    let mut against = None;
    if base.is_none() {
        return Ok((base, against));
    }
    let mut fewest = i32::MAX;
    for (name, may_contain_head) in candidates(git)? {
        let limit = format!("--max-count={fewest}");
        let counted = git.lines("rev-list --count", &[&limit, "HEAD", &format!("^{name}")])?;
        let count = counted.parse().unwrap_or(fewest);
        if count >= fewest || count == 0 && !may_contain_head {
            continue;
        }
        // Without an answer, the two share no history, or a shallow clone lost it.
        if let Some(common) = git.maybe("merge-base HEAD", &[&name])? {
            base = Some(common);
            against = Some(short(&name));
            fewest = count;
        }
    }
    Ok((base, against))
}

fn commit_of(git: &Git, revision: &str) -> Result<Option<String>, WorktreeError> {
    let commit = format!("{revision}^{{commit}}");
    git.maybe("rev-parse --verify --quiet --end-of-options", &[&commit])
}

/// Returns the refs of branches to compare with, and whether each counts even if it contains all
/// commits of the current branch. The first of equally good ones counts: main branches come first,
/// and those of a remote, which are rarely out of date.
fn candidates(git: &Git) -> Result<Vec<(String, bool)>, WorktreeError> {
    let format = "--format=%(HEAD)%09%(refname)%09%(symref)%09%(upstream)";
    let call = "for-each-ref --sort=-committerdate refs/heads refs/remotes";
    let listed = git.lines(call, &[format])?;
    let refs: Vec<[&str; 4]> = listed
        .lines()
        .filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
        .collect();
    let current = refs.iter().find(|[head, ..]| *head == "*");
    let [_, current, _, upstream] = current.copied().unwrap_or_default();
    let branch = name_of(current);
    let defaults: Vec<&str> = (refs.iter())
        .filter(|[_, name, target, _]| name.ends_with("/HEAD") && !target.is_empty())
        .map(|[_, _, target, _]| name_of(target))
        .collect();
    let is_main = |name: &str| MAIN.contains(&name_of(name)) || defaults.contains(&name_of(name));
    let is_copy = |name: &str| {
        let is_renamed = name == upstream
            && !is_main(name)
            && name.rsplit('/').next() == branch.rsplit('/').next();
        name.starts_with(REMOTES) && (name_of(name) == branch || is_renamed)
    };
    let mut found: Vec<(String, bool)> = Vec::new();
    for [_, name, target, _] in &refs {
        let is_special = is_main(name) || *name == upstream;
        let is_left_out = if is_main(current) {
            !is_copy(name) && *name != upstream
        } else {
            is_copy(name) || !is_special && found.len() >= MAX_CANDIDATES
        };
        if target.is_empty() && *name != current && !is_left_out {
            found.push(((*name).to_owned(), is_special || is_main(current)));
        }
    }
    found.sort_by_key(|(name, _)| (!is_main(name), !name.starts_with(REMOTES)));
    Ok(found)
}

fn name_of(name: &str) -> &str {
    match name.strip_prefix(REMOTES) {
        Some(rest) => rest.split_once('/').map_or(rest, |(_, name)| name),
        None => name.strip_prefix("refs/heads/").unwrap_or(name),
    }
}

/// Returns a ref's name for people: `refs/remotes/origin/x` is `origin/x`.
fn short(name: &str) -> String {
    name.splitn(3, '/').last().unwrap_or(name).to_owned()
}
