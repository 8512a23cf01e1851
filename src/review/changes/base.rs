//! The base of a work tree's changes: the point where its branch left another one, else its last commit.
//!
//! Without a base that is given, it is the branch with the fewest commits since the merge base. Left out are the branch's own
//! copies on a remote, and branches that contain all of its commits, such as a backup. Two kinds of branches may contain them,
//! since the branch has no commits of its own then: a main one, and the upstream that it was made from. A main branch itself is
//! compared with its copies alone: any other branch would bring in the work of others.

use crate::review::worktree::snapshot::is_id;
use crate::review::worktree::{Snapshot, WorktreeError};
use crate::text;

/// The usual names of main branches.
const MAIN: [&str; 4] = ["main", "master", "trunk", "develop"];
/// The folder of the branches of remotes.
const REMOTES: &str = "refs/remotes/";
/// Most branches, those that changed last, that are looked at.
const MAX_CANDIDATES: usize = 100;

/// The base of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The branch that is checked out, if any.
    pub branch: Option<String>,
    /// The commit; `None` if there is none yet, and everything is new.
    pub commit: Option<String>,
    /// The tree.
    pub tree: String,
    /// The other branch, as people name it; `None` if the commit is the branch's last one.
    pub against: Option<String>,
}

impl Base {
    /// Returns a title such as `changes of feature-x against main`.
    pub fn title(&self) -> String {
        let short = |name: &String| text::one_line(&text::shown(name), 100);
        let branch = self
            .branch
            .as_ref()
            .map_or_else(|| "a work tree without a branch".to_owned(), short);
        match (self.against.as_ref().map(short), &self.commit) {
            (Some(against), _) => format!("changes of {branch} against {against}"),
            (None, Some(_)) => format!("uncommitted changes of {branch}"),
            (None, None) => format!("files of {branch}, which has no commit yet"),
        }
    }
}

/// Finds the base of the branch that is checked out.
pub(crate) fn find(snapshot: &Snapshot) -> Result<Base, WorktreeError> {
    let git = &snapshot.git;
    let Some(head) = commit(snapshot, "HEAD")? else {
        return nothing(snapshot, None);
    };
    let mut base = head;
    let mut against = None;
    let mut fewest = i32::MAX;
    for (name, may_contain_head) in candidates(snapshot)? {
        let limit = format!("--max-count={fewest}");
        let without = format!("^{name}");
        let counted = git.lines(&["rev-list", "--count", &limit, "HEAD", &without], &[])?;
        let count = counted.parse().unwrap_or(fewest);
        if count >= fewest || count == 0 && !may_contain_head {
            continue;
        }
        // No answer: the two share no history, or a shallow clone has lost it.
        if let Some(common) = merge_base(snapshot, &name)? {
            base = common;
            against = Some(short(&name));
            fewest = count;
        }
    }
    base_at(snapshot, base, against)
}

/// Returns the base that a user names: the point where the branch left that revision.
pub(crate) fn from_revision(snapshot: &Snapshot, revision: &str) -> Result<Base, WorktreeError> {
    let commit = commit(snapshot, revision)?.ok_or_else(|| no_commit(revision))?;
    let base = merge_base(snapshot, &commit)?.ok_or_else(|| no_commit(revision))?;
    base_at(snapshot, base, Some(revision.to_owned()))
}

/// Returns a commit that is named by its id. Only zeros stand for the empty tree, from which everything is new.
pub(crate) fn from_commit(snapshot: &Snapshot, id: &str) -> Result<Base, WorktreeError> {
    if is_id(id) && id.bytes().all(|digit| digit == b'0') {
        return nothing(snapshot, Some("an empty folder".to_owned()));
    }
    let known = is_id(id).then(|| commit(snapshot, id)).transpose()?;
    let commit = known.flatten().ok_or_else(|| no_commit(id))?;
    let against = commit[..12].to_owned();
    base_at(snapshot, commit, Some(against))
}

/// Returns the empty tree, from which everything is new.
fn nothing(snapshot: &Snapshot, against: Option<String>) -> Result<Base, WorktreeError> {
    Ok(Base {
        branch: branch(snapshot)?,
        commit: None,
        tree: snapshot.git.lines(&["mktree"], &[])?,
        against,
    })
}

fn base_at(
    snapshot: &Snapshot,
    commit: String,
    against: Option<String>,
) -> Result<Base, WorktreeError> {
    let tree = format!("{commit}^{{tree}}");
    let found = snapshot.git.maybe(&["rev-parse", "--verify", &tree])?;
    Ok(Base {
        branch: branch(snapshot)?,
        tree: found.ok_or_else(|| no_commit(&commit))?,
        against,
        commit: Some(commit),
    })
}

/// Returns the name of the branch that is checked out.
fn branch(snapshot: &Snapshot) -> Result<Option<String>, WorktreeError> {
    let current = snapshot.git.maybe(&["symbolic-ref", "--quiet", "HEAD"])?;
    Ok(current.map(|name| short(&name)))
}

/// Returns the id of the commit that a revision names.
fn commit(snapshot: &Snapshot, revision: &str) -> Result<Option<String>, WorktreeError> {
    let commit = format!("{revision}^{{commit}}");
    let parse = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
    let parsed = snapshot.git.maybe(&[&parse[..], &[&commit]].concat())?;
    Ok(parsed.filter(|id| is_id(id)))
}

fn no_commit(revision: &str) -> WorktreeError {
    WorktreeError::NoCommit {
        commit: text::one_line(&text::shown(revision), 100),
    }
}

fn merge_base(snapshot: &Snapshot, with: &str) -> Result<Option<String>, WorktreeError> {
    let base = snapshot.git.maybe(&["merge-base", "HEAD", with])?;
    Ok(base.filter(|id| is_id(id)))
}

/// Returns the refs of the branches to compare with, each with whether it counts though it contains all commits of the one that
/// is checked out. Of several that are as good, the first one counts. Main branches come first, and those of a remote, which are
/// seldom out of date.
fn candidates(snapshot: &Snapshot) -> Result<Vec<(String, bool)>, WorktreeError> {
    let format = "--format=%(HEAD)%09%(refname)%09%(symref)%09%(upstream)";
    let sort = "--sort=-committerdate";
    let call = ["for-each-ref", sort, format, "refs/heads", "refs/remotes"];
    let listed = snapshot.git.lines(&call, &[])?;
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

/// Returns the name of a branch without its remote.
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
