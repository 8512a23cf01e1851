//! Repositories for this module's tests, with the real git and their own configuration.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use crate::digest::sha256;

/// A repository in a folder whose name has a space and quotes.
pub(crate) struct Repo {
    _kept: tempfile::TempDir,
    pub(crate) root: Utf8PathBuf,
}

impl Repo {
    /// On branch `main`, without files.
    pub(crate) fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(kept.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        let root = base.join("a 'repo' \u{e9}");
        std::fs::create_dir(&root).unwrap();
        let repo = Self { _kept: kept, root };
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    /// A repository with a commit of these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let repo = Self::new();
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.commit();
        repo
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root, arguments)
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// Returns the differences since [`everything`](Self::everything) was asked.
    pub(crate) fn changed_from(&self, before: &[String]) -> Vec<String> {
        let now = self.everything();
        let gone = before.iter().filter(|file| !now.contains(file));
        gone.chain(now.iter().filter(|file| !before.contains(file)))
            .cloned()
            .collect()
    }

    /// Every file below the root, `.git` included, with a digest and, but for objects, its time.
    pub(crate) fn everything(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir_utf8().unwrap() {
                let entry = entry.unwrap();
                let path = entry.path().to_owned();
                let meta = path.symlink_metadata().unwrap();
                if meta.is_dir() {
                    folders.push(path);
                } else {
                    // A pipe or a link has no content.
                    let content = if meta.is_file() {
                        std::fs::read(&path).unwrap()
                    } else {
                        Vec::new()
                    };
                    // git renews the time of an existing object that it would write.
                    let time = (!path.as_str().contains("/.git/objects/"))
                        .then(|| meta.modified().unwrap());
                    files.push(format!("{path} {} {time:?}", sha256(&content)));
                }
            }
        }
        files.sort();
        files
    }
}

/// git with a fixed author and without a configuration.
pub(crate) fn git(root: &Utf8Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", "2026-11-20T10:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-11-20T10:00:00Z")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}
