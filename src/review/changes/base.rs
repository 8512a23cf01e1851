//! What a work tree is compared with: the point where its branch left the one that it will go back to, else its last
//! commit.
//!
//! Tried in turn: the branch's upstream, unless that is the branch's own copy on a remote; the remote's default branch;
//! a local or remote `main` or `master`; the branch's own copy. The first one that shares history with the branch is
//! taken.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::review::worktree::snapshot::is_id;
use crate::review::worktree::{Snapshot, WorktreeError};
use crate::text;

/// What a work tree is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The branch that is checked out; None: none is.
    pub branch: Option<String>,
    /// The commit; None: there is none yet, and everything is new.
    pub commit: Option<String>,
    /// The tree.
    pub tree: String,
    /// The other branch, as people name it; None: the commit is the branch's last one.
    pub against: Option<String>,
    /// When the commit was made.
    pub date: Option<Timestamp>,
}

impl Base {
    /// Such as `changes of feature-x against main`.
    pub fn title(&self) -> String {
        let branch = match &self.branch {
            Some(branch) => text::one_line(&text::shown(branch), 100),
            None => "a work tree without a branch".to_owned(),
        };
        match (&self.against, &self.commit) {
            (Some(against), _) => {
                format!(
                    "changes of {branch} against {}",
                    text::one_line(&text::shown(against), 100)
                )
            }
            (None, Some(_)) => format!("uncommitted changes of {branch}"),
            (None, None) => format!("files of {branch}, which has no commit yet"),
        }
    }
}

/// A ref of the repository.
#[derive(Debug, Clone, Default)]
struct Ref {
    /// Where a symbolic one points.
    target: String,
    upstream: String,
}

/// Finds it.
///
/// # Errors
/// git refuses.
pub(super) fn find(snapshot: &Snapshot) -> Result<Base, WorktreeError> {
    let git = snapshot.git();
    let head = git.maybe(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
    let current = git.maybe(&["symbolic-ref", "--quiet", "HEAD"])?;
    let branch = current
        .as_deref()
        .map(|name| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned());
    let Some(head) = head.filter(|id| is_id(id)) else {
        return Ok(Base {
            branch,
            commit: None,
            tree: git.lines(&["mktree"], &[])?,
            against: None,
            date: None,
        });
    };
    let mut found = (head.clone(), None);
    for candidate in candidates(snapshot, current.as_deref())? {
        // No answer: the two share no history, or a shallow clone has lost it.
        if let Some(base) = git
            .maybe(&["merge-base", "HEAD", &candidate])?
            .filter(|id| is_id(id))
        {
            found = (base, Some(short(&candidate)));
            break;
        }
    }
    let (commit, against) = found;
    Ok(Base {
        branch,
        tree: git.lines(
            &["rev-parse", "--verify", &format!("{commit}^{{tree}}")],
            &[],
        )?,
        date: date(&git.call(&["cat-file", "commit", &commit], &[])?),
        against,
        commit: Some(commit),
    })
}

/// Returns a commit that is named by its id.
///
/// # Errors
/// It is no id, the repository has no such commit, or git refuses.
pub(super) fn of_commit(snapshot: &Snapshot, commit: &str) -> Result<Base, WorktreeError> {
    let git = snapshot.git();
    let known = match is_id(commit) {
        true => git.maybe(&[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("{commit}^{{commit}}"),
        ])?,
        false => None,
    };
    let commit = known.ok_or_else(|| WorktreeError::NoCommit {
        commit: text::one_line(&text::shown(commit), 100),
    })?;
    let current = git.maybe(&["symbolic-ref", "--quiet", "HEAD"])?;
    Ok(Base {
        branch: current.map(|name| short(&name)),
        tree: git.lines(
            &["rev-parse", "--verify", &format!("{commit}^{{tree}}")],
            &[],
        )?,
        date: date(&git.call(&["cat-file", "commit", &commit], &[])?),
        against: Some(commit[..12].to_owned()),
        commit: Some(commit),
    })
}

/// Returns the refs to compare with, best first.
fn candidates(snapshot: &Snapshot, current: Option<&str>) -> Result<Vec<String>, WorktreeError> {
    const MAIN: [&str; 2] = ["main", "master"];
    let mut patterns: Vec<String> = MAIN
        .iter()
        .flat_map(|name| {
            [
                format!("refs/heads/{name}"),
                format!("refs/remotes/origin/{name}"),
            ]
        })
        .collect();
    patterns.push("refs/remotes/*/HEAD".to_owned());
    patterns.extend(current.map(str::to_owned));
    let mut arguments = vec!["for-each-ref", "--format=%(refname) %(symref) %(upstream)"];
    arguments.extend(patterns.iter().map(String::as_str));
    let listed = snapshot.git().lines(&arguments, &[])?;
    let refs: BTreeMap<&str, Ref> = listed
        .lines()
        .filter_map(|line| {
            let mut parts = line.split(' ');
            let name = parts.next()?;
            let (target, upstream) = (parts.next()?.to_owned(), parts.next()?.to_owned());
            Some((name, Ref { target, upstream }))
        })
        .collect();

    let upstream = current
        .and_then(|current| refs.get(current))
        .map(|found| found.upstream.clone())
        .filter(|upstream| !upstream.is_empty());
    let branch = current.and_then(|name| name.strip_prefix("refs/heads/"));
    let is_copy = |name: &str| {
        let rest = name
            .strip_prefix("refs/remotes/")
            .and_then(|rest| rest.split_once('/'));
        rest.is_some_and(|(_, rest)| Some(rest) == branch)
    };
    let remote = upstream
        .as_deref()
        .and_then(|name| name.strip_prefix("refs/remotes/")?.split_once('/'))
        .map_or("origin", |(remote, _)| remote);

    let mut best: Vec<String> = Vec::new();
    best.extend(upstream.clone().filter(|name| !is_copy(name)));
    if let Some(head) = refs.get(format!("refs/remotes/{remote}/HEAD").as_str()) {
        best.push(head.target.clone());
    }
    for name in MAIN {
        for full in [
            format!("refs/heads/{name}"),
            format!("refs/remotes/origin/{name}"),
        ] {
            if refs.contains_key(full.as_str()) && Some(full.as_str()) != current {
                best.push(full);
            }
        }
    }
    best.extend(upstream);
    best.retain(|name| !name.is_empty() && Some(name.as_str()) != current);
    Ok(best)
}

/// Returns a ref's name for people.
fn short(name: &str) -> String {
    let starts = ["refs/heads/", "refs/remotes/", "refs/tags/"];
    let short = starts.iter().find_map(|start| name.strip_prefix(start));
    short.unwrap_or(name).to_owned()
}

/// Returns when a commit was made, from its object.
fn date(commit: &[u8]) -> Option<Timestamp> {
    let text = String::from_utf8_lossy(commit);
    let line = text
        .lines()
        .take_while(|line| !line.is_empty())
        .find_map(|line| line.strip_prefix("committer "))?;
    let mut words = line.rsplit(' ');
    let _zone = words.next()?;
    Timestamp::from_second(words.next()?.parse().ok()?).ok()
}
