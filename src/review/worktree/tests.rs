use std::os::unix::fs::symlink;

use super::testing::{Repo, git};
use super::{Snapshot, WorktreeError};

fn take(repo: &Repo) -> Snapshot {
    take_snapshot(&repo.root).unwrap()
}

fn take_snapshot(root: &camino::Utf8Path) -> Result<Snapshot, WorktreeError> {
    Snapshot::take(root, &[], None)
}

/// The tree that `git add -A` and `git write-tree` give, from a copy of the repository.
fn expected(repo: &Repo) -> String {
    let copy = tempfile::tempdir().unwrap();
    let to = camino::Utf8Path::from_path(copy.path()).unwrap().join("r");
    let status = std::process::Command::new("cp")
        .args(["-a", repo.root.as_str(), to.as_str()])
        .status();
    assert!(status.unwrap().success());
    git(&to, &["add", "-A"]);
    git(&to, &["write-tree"])
}

#[test]
fn tree_is_that_of_git_add_without_changes() {
    let repo = Repo::with(&[
        ("a", "1\n"),
        ("gone", "2\n"),
        ("d/kept", "3\n"),
        (".gitignore", "*.log\n"),
    ]);
    repo.write("a", "changed\n");
    repo.write("new file", "n\n");
    repo.write("staged", "s\n");
    repo.git(&["add", "staged"]);
    repo.write("staged", "and changed\n");
    repo.write("x.log", "ignored\n");
    std::fs::remove_file(repo.root.join("gone")).unwrap();
    symlink("/etc/passwd", repo.root.join("link")).unwrap();
    repo.git(&["mv", "d/kept", "moved"]);
    let before = repo.everything();
    let snapshot = take(&repo);
    assert_eq!(repo.changed_from(&before), [""; 0]);
    assert_eq!(snapshot.tree, expected(&repo));
}

#[test]
fn tree_leaves_out_ours_and_ignored_files() {
    let repo = Repo::with(&[("a", "1\n"), (".gitignore", "*.log\n")]);
    let take = || {
        let exclusions = [
            ":(exclude,top,literal)state",
            ":(exclude,top,glob)reviews/review-*.md",
        ]
        .map(str::to_owned);
        let snapshot = Snapshot::take(&repo.root, &exclusions, None).unwrap();
        snapshot.tree
    };
    let before = take();
    repo.write("state/x", "ours\n");
    repo.write("reviews/review-1.md", "ours\n");
    repo.write("x.log", "ignored\n");
    assert_eq!(take(), before);
    repo.git(&["add", "state", "reviews"]);
    assert_eq!(take(), before, "files of ours may be tracked");
    for neighbour in [
        "state2/x",
        "b/state/x",
        "reviews/review-1.md.txt",
        "reviews/review-x/a.md",
    ] {
        let before = take();
        repo.write(neighbour, "n\n");
        assert_ne!(take(), before, "{neighbour}");
    }
    repo.write("new", "n\n");
    let with_new = take();
    assert_ne!(with_new, before);
    repo.git(&["add", "new"]);
    repo.git(&["commit", "-q", "-m", "x"]);
    assert_eq!(take(), with_new, "a commit changes no file");
}

#[test]
fn unresolved_conflict_is_taken_as_files_are() {
    let repo = Repo::with(&[("a", "1\n"), ("b", "1\n")]);
    repo.git(&["checkout", "-q", "-b", "other"]);
    repo.write("a", "2\n");
    std::fs::remove_file(repo.root.join("b")).unwrap();
    repo.commit();
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a", "3\n");
    repo.write("b", "3\n");
    repo.commit();
    // It fails, and leaves the conflict.
    let mut merge = std::process::Command::new("git");
    merge.args([
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "merge",
        "other",
    ]);
    assert!(
        !merge
            .current_dir(&repo.root)
            .output()
            .unwrap()
            .status
            .success()
    );
    let before = repo.everything();
    assert_eq!(take(&repo).tree, expected(&repo));
    assert_eq!(repo.changed_from(&before), [""; 0]);
}

#[test]
fn another_work_tree_in_the_configuration_is_not_shown() {
    let repo = Repo::with(&[("a", "1\n")]);
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let around = repo.root.parent().unwrap().to_owned();
    let elsewhere = around.join("private");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("secret"), "s\n").unwrap();
    repo.git(&["config", "core.worktree", elsewhere.as_str()]);
    let error = take_snapshot(&repo.root).unwrap_err();
    let problem = " is not the work tree of a git repository";
    assert!(error.to_string().ends_with(problem), "{error}");
    // A folder around the real work tree.
    let config = repo.root.join(".git/config");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace(elsewhere.as_str(), around.as_str())).unwrap();
    assert_eq!(take(&repo).tree, tree);
}

#[test]
fn change_within_clock_grain_is_seen() {
    let repo = Repo::new();
    repo.git(&["config", "core.trustctime", "false"]);
    let time = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
    let age = |path: &str| {
        let file = std::fs::File::options()
            .append(true)
            .open(repo.root.join(path))
            .unwrap();
        file.set_modified(time).unwrap();
    };
    repo.write("a", "1\n");
    age("a");
    repo.commit();
    // The size and the time in the index are the same, and only the content differs.
    repo.write("a", "2\n");
    age("a");
    age(".git/index");
    assert_ne!(take(&repo).tree, repo.git(&["rev-parse", "HEAD^{tree}"]));
}

#[test]
fn submodule_is_its_commit_foreign_repository_is_skipped() {
    let inner = Repo::with(&[("i", "1\n")]);
    let repo = Repo::with(&[("a", "1\n")]);
    repo.git(&["submodule", "add", "-q", inner.root.as_str(), "sub"]);
    repo.commit();
    let trace = repo.root.parent().unwrap().join("trace");
    let trap = repo.root.parent().unwrap().join("trap.sh");
    std::fs::write(&trap, format!("#!/bin/sh\necho run >> '{trace}'\n")).unwrap();
    git(
        &repo.root.join("sub"),
        &["config", "core.fsmonitor", &format!("sh '{trap}'")],
    );
    std::fs::write(repo.root.join("sub/i"), "dirty\n").unwrap();
    repo.write("stray/x", "1\n");
    git(&repo.root.join("stray"), &["init", "-q", "-b", "main"]);
    let snapshot = take(&repo);
    assert_eq!(snapshot.tree, repo.git(&["rev-parse", "HEAD^{tree}"]));
    assert!(
        !trace.exists(),
        "nothing of the submodule's configuration ran"
    );
    let reason = &snapshot.passed_over[&b"stray/"[..]];
    assert!(reason.ends_with(" bytes, a git repository of its own"));
    assert_eq!(snapshot.passed_over.len(), 1);
}

#[test]
fn sparse_files_that_are_not_there_are_not_gone() {
    let repo = Repo::with(&[("in/a", "1\n"), ("out/b", "1\n")]);
    repo.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    assert!(!repo.root.join("out").exists());
    repo.write("in/a", "2\n");
    let names = |tree: &str| {
        let snapshot = take(&repo);
        let call = "diff-tree -r --name-only";
        snapshot.git.lines(call, &[tree, &snapshot.tree]).unwrap()
    };
    assert_eq!(names("HEAD"), "in/a");
    repo.write("out/new", "3\n");
    assert_eq!(names("HEAD"), "in/a\nout/new");
}

#[test]
fn large_files_are_skipped() {
    let repo = Repo::with(&[("a", "1\n")]);
    let large = |byte| vec![byte; usize::try_from(super::snapshot::MAX_FILE_BYTES).unwrap() + 1];
    repo.write("dump.bin", large(0));
    repo.write("a", large(b'a'));
    let snapshot = take(&repo);
    assert_eq!(snapshot.tree, repo.git(&["rev-parse", "HEAD^{tree}"]));
    assert_eq!(snapshot.passed_over.len(), 2);
}

#[test]
fn pipe_in_work_tree_does_not_block() {
    let repo = Repo::with(&[("a", "1\n")]);
    std::fs::remove_file(repo.root.join("a")).unwrap();
    for name in ["a", "p"] {
        let made = std::process::Command::new("mkfifo")
            .arg(repo.root.join(name))
            .status();
        assert!(made.unwrap().success());
    }
    assert_eq!(take(&repo).passed_over.len(), 1);
}

#[test]
fn patch_that_does_not_apply_says_why() {
    let repo = Repo::with(&[("a b", "1\n2\n3\n")]);
    repo.write("a b", "1\nchanged\n3\n");
    let snapshot = take(&repo);
    let before = repo.everything();
    let on = |path: &str| {
        format!("--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n 1\n-changed\n+fixed\n 3\n")
    };
    let new_file = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
    assert_eq!(snapshot.applies(&on("a b")), Ok(()));
    assert_eq!(snapshot.applies(on("a b").trim_end()), Ok(()));
    for (patch, why) in [
        (on("a b").replace("changed", "2"), "patch failed: a b:1"),
        (on("nowhere"), "nowhere: does not exist in index"),
        (new_file("../z"), "invalid path '../z'"),
        (new_file(".git/z"), "invalid path '.git/z'"),
        ("not a patch".to_owned(), "No valid patches in input"),
    ] {
        let error = snapshot.applies(&patch).unwrap_err();
        assert!(
            error.contains(why) && !error.contains('\n'),
            "{why}: {error}"
        );
    }
    assert_eq!(repo.changed_from(&before), [""; 0]);
}
