//! Whether a state file came with the repository.
//!
//! A loop's state steers an agent, so a repository that one merely cloned must not bring any. Whether git tracks a
//! file is read off the bytes of the repository's index; git itself is asked only where those cannot tell, once for a folder.
//! That a file is a regular one and ours is seen to where it is opened (see [`Folder`](crate::files::Folder)).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::rc::Rc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::budget::Budget;
use super::error::StoreError;
use crate::files::{self, Distrust};
use crate::git::tracked_at;

/// Limits how long git may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is trusted in one state folder. The repository's index is read at most once.
#[derive(Debug)]
pub(super) struct GitTracking {
    index: std::cell::OnceCell<Option<Rc<Index>>>,
    budget: Budget,
}

thread_local! {
    /// Holds the index that was read last. A store with a thousand loops is looked through loop by loop, and git is asked once.
    static LAST: RefCell<Option<Rc<Index>>> = const { RefCell::new(None) };
}

/// The index of the repository that a state folder lies in.
#[derive(Debug)]
struct Index {
    top: Utf8PathBuf,
    /// Its file, and what tells that no other took its place since.
    stamp: Stamp,
    /// `None` if the bytes cannot tell.
    bytes: Option<Vec<u8>>,
    /// What was asked for so far.
    asked: RefCell<Vec<Asked>>,
}

/// Holds path, device, inode, length, and times of change: git replaces its index, and does not write into it.
type Stamp = (Utf8PathBuf, [u64; 3], [i64; 4]);

/// Holds what the index has of a folder, or of a file at the top.
#[derive(Debug)]
struct Asked {
    place: Utf8PathBuf,
    /// The files there that are tracked; `None` if git could not tell.
    tracked: Option<BTreeSet<Vec<u8>>>,
}

impl GitTracking {
    /// Makes one for a call that has this budget: git is asked within it.
    pub(super) fn within(budget: &Budget) -> Self {
        Self {
            index: std::cell::OnceCell::new(),
            budget: budget.clone(),
        }
    }

    /// Refuses a file that git tracks. Its path is canonical, as that of everything in a state folder is: no symlink is followed there.
    pub(super) fn untracked(&self, path: &Utf8Path) -> Result<(), StoreError> {
        if !self.is_tracked(path) {
            return Ok(());
        }
        Err(StoreError::Untrusted {
            path: path.to_owned(),
            why: Distrust::Tracked,
        })
    }

    fn is_tracked(&self, path: &Utf8Path) -> bool {
        let around = || path.parent().and_then(Index::around);
        let Some(index) = self.index.get_or_init(around) else {
            return false;
        };
        let inside = path.strip_prefix(&index.top);
        inside.is_ok_and(|inside| index.holds(inside, &self.budget))
    }
}

impl Index {
    /// Returns the index for `folder`; `None` if it lies in no repository, or in one without an index.
    fn around(folder: &Utf8Path) -> Option<Rc<Self>> {
        let top = git_top(folder)?;
        let git = git_folder(top)?;
        let stamp = stamp(git.join("index"))?;
        let last = LAST.with_borrow(Option::clone);
        if let Some(last) = last.filter(|last| last.stamp == stamp && last.top == top) {
            return Some(last);
        }
        let bytes = match files::read(&git.join("index")) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::FileTooLarge => Vec::new(),
            Err(_) => return None,
        };
        // Version 4 shortens paths, and split or sparse indexes leave some out.
        let version = bytes
            .get(4..8)
            .map(|version| version == [0, 0, 0, 2] || version == [0, 0, 0, 3]);
        let extended = [b"link\0\0".as_slice(), b"sdir\0\0"]
            .iter()
            .any(|sign| memchr::memmem::find(&bytes, sign).is_some());
        let telling = bytes.starts_with(b"DIRC") && version == Some(true) && !extended;
        let index = Rc::new(Self {
            top: top.to_owned(),
            stamp,
            bytes: telling.then_some(bytes),
            asked: RefCell::default(),
        });
        LAST.set(Some(Rc::clone(&index)));
        Some(index)
    }

    /// Returns whether a file, its path given from the top, is tracked. Git is asked once for a folder and all below it, and only
    /// where the bytes may hold that folder. If it cannot tell, the file counts as tracked: the index gave reason to ask.
    fn holds(&self, file: &Utf8Path, budget: &Budget) -> bool {
        let mut asked = self.asked.borrow_mut();
        let at = asked.iter().position(|one| file.starts_with(&one.place));
        let at = at.unwrap_or_else(|| {
            // All of a repository would be too much to ask for.
            let folder = file.parent().filter(|folder| !folder.as_str().is_empty());
            let place = folder.unwrap_or(file);
            let hint = folder.map_or(file.to_string(), |folder| format!("{folder}/"));
            let is_out = |bytes: &Vec<u8>| memchr::memmem::find(bytes, hint.as_bytes()).is_none();
            asked.push(Asked {
                place: place.to_owned(),
                tracked: match &self.bytes {
                    Some(bytes) if is_out(bytes) => Some(BTreeSet::new()),
                    _ => budget.wait(PATIENCE, |patience| tracked_at(&self.top, place, patience)),
                },
            });
            asked.len() - 1
        });
        let tracked = asked[at].tracked.as_ref();
        tracked.is_none_or(|tracked| tracked.contains(file.as_str().as_bytes()))
    }
}

fn stamp(file: Utf8PathBuf) -> Option<Stamp> {
    let meta = std::fs::metadata(&file).ok()?;
    let times = [
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec(),
    ];
    Some((file, [meta.dev(), meta.ino(), meta.len()], times))
}

/// Returns the nearest ancestor of `folder`, itself included, that holds `.git`.
pub(super) fn git_top(folder: &Utf8Path) -> Option<&Utf8Path> {
    folder
        .ancestors()
        .find(|ancestor| ancestor.join(".git").exists())
}

/// Returns the repository's own folder, following the `.git` file of a worktree or submodule.
fn git_folder(top: &Utf8Path) -> Option<Utf8PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = files::read_to_string(&dot_git).ok()?;
    Some(top.join(text.strip_prefix("gitdir:")?.trim()))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn repository() -> (tempfile::TempDir, Utf8PathBuf) {
        let made = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(made.path().canonicalize().unwrap()).unwrap();
        git(&path, &["init", "-q"]);
        (made, path)
    }

    fn git(at: &Utf8Path, args: &[&str]) {
        let done = Command::new("git")
            .arg("-C")
            .arg(at)
            .args(["-c", "user.name=x", "-c", "user.email=x@example.org"])
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(done.unwrap().success(), "git {args:?}");
    }

    fn refusal(path: &Utf8Path) -> Option<Distrust> {
        match GitTracking::within(&Budget::endless()).untracked(path) {
            Ok(()) => None,
            Err(StoreError::Untrusted { why, .. }) => Some(why),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn only_what_git_tracks_is_refused() {
        let (_kept, top) = repository();
        let folder = top.join("a é 'b/.claude");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.state");
        std::fs::write(&path, "phase: drafting\n").unwrap();
        assert_eq!(refusal(&path), None);
        // The same bytes as a part of a longer path.
        let longer = top.join("sub/a é 'b/.claude");
        std::fs::create_dir_all(&longer).unwrap();
        std::fs::write(longer.join("x.state"), "").unwrap();
        git(&top, &["add", "-f", "sub"]);
        assert_eq!(refusal(&path), None);
        git(&top, &["add", "-f", "."]);
        assert_eq!(refusal(&path), Some(Distrust::Tracked));
        git(&top, &["update-index", "--index-version", "4"]);
        assert_eq!(refusal(&path), Some(Distrust::Tracked));
        git(&top, &["rm", "-q", "--cached", "-r", "a é 'b"]);
        assert_eq!(refusal(&path), None);
    }

    #[test]
    fn a_worktree_is_asked_for_its_own_index() {
        let (_kept, top) = repository();
        std::fs::write(top.join("x.state"), "").unwrap();
        git(&top, &["add", "-f", "x.state"]);
        git(&top, &["commit", "-q", "-m", "x"]);
        git(&top, &["worktree", "add", "-q", "tree"]);
        assert_eq!(refusal(&top.join("tree/x.state")), Some(Distrust::Tracked));
        git(&top.join("tree"), &["rm", "-q", "--cached", "x.state"]);
        assert_eq!(refusal(&top.join("tree/x.state")), None);
        assert_eq!(refusal(&top.join("x.state")), Some(Distrust::Tracked));
    }
}
