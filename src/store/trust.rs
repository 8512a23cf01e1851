//! Whether a state file came with the repository.
//!
//! A loop's state steers an agent, so a repository that one merely cloned must not bring any. Whether git tracks a
//! file is read off the bytes of the repository's index; git itself is asked only where those cannot tell. That a file is a
//! regular one and ours is seen to where it is opened (see [`Folder`](crate::files::Folder)).

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use super::error::StoreError;
use crate::files::{self, Distrust};

/// What is trusted in one state folder. The repository's index is read at most once.
#[derive(Debug)]
pub(super) struct Trust {
    index: std::cell::OnceCell<Option<Index>>,
}

/// The index of the repository that a state folder lies in.
#[derive(Debug)]
struct Index {
    top: Utf8PathBuf,
    /// `None` if the bytes cannot tell.
    bytes: Option<Vec<u8>>,
}

impl Trust {
    pub(super) fn new() -> Self {
        Self {
            index: std::cell::OnceCell::new(),
        }
    }

    /// Refuses a file that git tracks.
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
        let Some(folder) = path.parent().and_then(|folder| folder.canonicalize_utf8().ok()) else {
            return false;
        };
        let Some(index) = self.index.get_or_init(|| Index::around(&folder)) else {
            return false;
        };
        let path = folder.join(path.file_name().unwrap_or_default());
        let Ok(inside) = path.strip_prefix(&index.top) else {
            return false;
        };
        match &index.bytes {
            // The bytes of the path may stand there as a part of another one, so a hit is asked for.
            Some(bytes) if memchr::memmem::find(bytes, inside.as_str().as_bytes()).is_none() => false,
            _ => git_tracks(&index.top, inside),
        }
    }
}

impl Index {
    /// The index for `folder`; `None` if it lies in no repository, or in one without an index.
    fn around(folder: &Utf8Path) -> Option<Self> {
        let top = git_top(folder)?;
        let git = git_folder(top)?;
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
        Some(Self {
            top: top.to_owned(),
            bytes: telling.then_some(bytes),
        })
    }
}

/// The nearest ancestor of `folder`, itself included, that holds `.git`.
pub(super) fn git_top(folder: &Utf8Path) -> Option<&Utf8Path> {
    folder.ancestors().find(|ancestor| ancestor.join(".git").exists())
}

/// The repository's own folder, following the `.git` file of a worktree or submodule.
fn git_folder(top: &Utf8Path) -> Option<Utf8PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = files::read_to_string(&dot_git).ok()?;
    Some(top.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Asks git. If it cannot be run the file counts as tracked: the index gave reason to ask.
fn git_tracks(top: &Utf8Path, inside: &Utf8Path) -> bool {
    let asked = Command::new("git")
        .arg("-C")
        .arg(top)
        .args(["--literal-pathspecs", "ls-files", "--error-unmatch", "--"])
        .arg(inside)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        // A repository's own configuration must not start programs when it is only asked for names.
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.fsmonitor")
        .env("GIT_CONFIG_VALUE_0", "false")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // 1 is git's answer for a path that it does not know.
    !matches!(asked, Ok(status) if status.code() == Some(1))
}

#[cfg(test)]
mod tests {
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
        match Trust::new().untracked(path) {
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
