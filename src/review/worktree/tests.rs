use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use super::before::Before;
use super::testing::{Repo, git, ours};
use super::{Snapshot, WorktreeError};

fn take(repo: &Repo) -> Snapshot {
    Snapshot::take(&repo.root, ours(&repo.root)).unwrap()
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
fn the_tree_is_what_git_would_add_and_nothing_is_touched() {
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
    assert_eq!(snapshot.tree(), expected(&repo));
    assert_eq!(
        snapshot
            .untracked()
            .iter()
            .map(Vec::as_slice)
            .collect::<Vec<_>>(),
        [&b"link"[..], b"new file"]
    );
}

#[test]
fn changed_files_are_named_and_only_those() {
    let repo = Repo::with(&[("a", "1\n"), ("b", "2\n"), (".gitignore", "*.log\n")]);
    repo.write("b", "dirty before\n");
    repo.write("u", "untracked before\n");
    let ours = ours(&repo.root)
        .folder("state")
        .files("reviews/review-", ".md");
    let mut snapshot = Snapshot::take(&repo.root, ours).unwrap();
    assert_eq!(snapshot.changed_since().unwrap(), [""; 0]);

    repo.write("a", "2\n");
    repo.write("state/x", "ours\n");
    repo.write("reviews/review-1.md", "ours\n");
    repo.write("x.log", "ignored\n");
    repo.write("it's \"new\"\n.txt", "n\n");
    std::fs::remove_file(repo.root.join("u")).unwrap();
    assert_eq!(
        snapshot.changed_since().unwrap(),
        ["a", r#""it's \"new\"\n.txt""#, "u"]
    );
    assert_eq!(
        snapshot.changed_since().unwrap(),
        [""; 0],
        "a second look begins where the first ended"
    );

    repo.commit();
    assert_eq!(
        snapshot.changed_since().unwrap(),
        [""; 0],
        "a commit changes no file"
    );
}

#[test]
fn a_change_in_the_same_second_and_of_the_same_size_is_seen() {
    for _ in 0..3 {
        let repo = Repo::with(&[("a", "1\n")]);
        repo.write("a", "2\n");
        let mut snapshot = take(&repo);
        assert_eq!(snapshot.tree(), expected(&repo));
        repo.write("a", "3\n");
        assert_eq!(snapshot.changed_since().unwrap(), ["a"]);
    }
}

#[test]
fn hostile_names_go_through() {
    let repo = Repo::with(&[("-n", "1\n")]);
    for name in [
        "a\nb",
        "\"q\" 'q'",
        ":(glob)*",
        "*",
        "--stdin",
        " lead",
        "tab\t",
        "\u{202e}bidi",
        "d/\\",
    ] {
        repo.write(name, "x\n");
    }
    let raw = OsStr::from_bytes(b"not\xffutf8");
    std::fs::write(repo.root.as_std_path().join(raw), "x\n").unwrap();
    let mut snapshot = take(&repo);
    assert_eq!(snapshot.tree(), expected(&repo));
    std::fs::write(repo.root.as_std_path().join(raw), "y\n").unwrap();
    repo.write("\u{202e}bidi", "y\n");
    assert_eq!(
        snapshot.changed_since().unwrap(),
        ["not\u{fffd}utf8", "<U+202E>bidi"]
    );
}

#[test]
fn a_file_that_became_a_folder_and_back_is_no_stumbling_block() {
    let repo = Repo::with(&[("a", "1\n"), ("d/x", "1\n")]);
    std::fs::remove_file(repo.root.join("a")).unwrap();
    repo.write("a/b", "2\n");
    std::fs::remove_dir_all(repo.root.join("d")).unwrap();
    repo.write("d", "3\n");
    assert_eq!(take(&repo).tree(), expected(&repo));
}

#[test]
fn an_unborn_branch_and_a_repository_without_index() {
    let repo = Repo::new();
    let empty = take(&repo);
    assert_eq!(empty.tree(), expected(&repo));
    repo.write("a", "1\n");
    assert_eq!(take(&repo).tree(), expected(&repo));
}

#[test]
fn a_conflict_that_nobody_has_resolved_is_taken_as_the_files_are() {
    let repo = Repo::with(&[("a", "1\n"), ("b", "1\n")]);
    repo.git(&["checkout", "-q", "-b", "other"]);
    repo.write("a", "2\n");
    std::fs::remove_file(repo.root.join("b")).unwrap();
    repo.commit();
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a", "3\n");
    repo.write("b", "3\n");
    repo.commit();
    let merged = std::process::Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "merge",
            "other",
        ])
        .current_dir(&repo.root)
        .output()
        .unwrap();
    assert!(!merged.status.success());
    let before = repo.everything();
    assert_eq!(take(&repo).tree(), expected(&repo));
    assert_eq!(repo.changed_from(&before), [""; 0]);
}

/// Programs that the repository's own configuration and files name, each of which would leave a trace.
fn booby_trap(repo: &Repo, trace: &str) {
    let program = |name: &str| {
        let file = repo.root.parent().unwrap().join(name);
        let script = format!("#!/bin/sh\necho {name} >> '{trace}'\ncat\n");
        std::fs::write(&file, script).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    };
    for (key, name) in [
        ("core.fsmonitor", "fsmonitor"),
        ("filter.evil.clean", "clean"),
        ("filter.evil.smudge", "smudge"),
        ("filter.e.v=il.process", "process"),
        ("diff.external", "external"),
        ("diff.evil.textconv", "textconv"),
        ("diff.evil.command", "command"),
        ("core.sshCommand", "ssh"),
        ("core.pager", "pager"),
    ] {
        repo.git(&["config", key, program(name).as_str()]);
    }
    for key in [
        "filter.evil.required",
        "filter.e.v=il.required",
        "core.splitIndex",
    ] {
        repo.git(&["config", key, "true"]);
    }
    let hooks = repo.root.parent().unwrap().join("hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    std::fs::copy(program("hook"), hooks.join("post-index-change")).unwrap();
    repo.git(&["config", "core.hooksPath", hooks.as_str()]);
    repo.write(
        ".gitattributes",
        "*.x filter=evil diff=evil\n*.y filter=e.v=il\n",
    );
}

#[test]
fn nothing_that_the_repository_names_is_run() {
    let repo = Repo::with(&[("a.x", "1\n"), ("b.y", "1\n")]);
    let trace = repo.root.parent().unwrap().join("trace");
    booby_trap(&repo, trace.as_str());
    repo.write("a.x", "2\n");
    repo.write("b.y", "2\n");
    repo.write("c.x", "3\n");
    let mut snapshot = take(&repo);
    repo.write("a.x", "4\n");
    assert_eq!(snapshot.changed_since().unwrap(), ["a.x"]);
    snapshot
        .applies("--- a/a.x\n+++ b/a.x\n@@ -1 +1 @@\n-4\n+5\n")
        .unwrap();
    assert!(
        !trace.exists(),
        "{}",
        std::fs::read_to_string(&trace).unwrap()
    );
    // The traps do work: git itself falls into them.
    repo.write(".gitattributes", "*.x filter=evil\n");
    git(&repo.root, &["-c", "core.fsmonitor=false", "add", "a.x"]);
    let sprung = std::fs::read_to_string(&trace).unwrap();
    assert!(
        sprung.contains("clean") && sprung.contains("hook"),
        "{sprung}"
    );
}

#[test]
fn a_filter_that_came_while_a_reviewer_ran_is_not_run_either() {
    let repo = Repo::with(&[("a.x", "1\n")]);
    let trace = repo.root.parent().unwrap().join("trace");
    let mut snapshot = take(&repo);
    booby_trap(&repo, trace.as_str());
    repo.write("a.x", "2\n");
    assert_eq!(snapshot.changed_since().unwrap(), [".gitattributes", "a.x"]);
    assert!(!trace.exists());
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
    let error = Snapshot::take(&repo.root, ours(&repo.root)).unwrap_err();
    assert!(
        matches!(error, WorktreeError::NoRepository { .. }),
        "{error}"
    );
    // A folder that the real one lies in.
    let config = repo.root.join(".git/config");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace(elsewhere.as_str(), around.as_str())).unwrap();
    assert_eq!(take(&repo).tree(), tree);
}

#[test]
fn a_change_within_the_clocks_grain_is_seen() {
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
    // The same size, the same time as git has noted for it, and no later than the index: only its content tells.
    repo.write("a", "2\n");
    age("a");
    age(".git/index");
    assert_ne!(take(&repo).tree(), repo.git(&["rev-parse", "HEAD^{tree}"]));
}

#[test]
fn submodules_are_taken_as_their_commit_and_strange_repositories_are_passed_over() {
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
    assert_eq!(snapshot.tree(), repo.git(&["rev-parse", "HEAD^{tree}"]));
    assert!(
        !trace.exists(),
        "nothing of the submodule's configuration ran"
    );
    let over: Vec<_> = snapshot
        .passed_over()
        .iter()
        .map(|(path, over)| (path.clone(), over.why.to_string()))
        .collect();
    assert_eq!(
        over,
        [(b"stray/".to_vec(), "a git repository of its own".to_owned())]
    );
}

#[test]
fn sparse_files_that_are_not_there_are_not_gone() {
    let repo = Repo::with(&[("in/a", "1\n"), ("out/b", "1\n")]);
    repo.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    assert!(!repo.root.join("out").exists());
    repo.write("in/a", "2\n");
    let mut snapshot = take(&repo);
    assert_eq!(repo.git(&["diff-tree", "-r", "--name-only", "HEAD"]), "");
    repo.write("in/a", "3\n");
    repo.write("out/new", "3\n");
    assert_eq!(snapshot.changed_since().unwrap(), ["in/a", "out/new"]);
}

#[test]
fn a_linked_work_tree_is_one_too() {
    let repo = Repo::with(&[("a", "1\n")]);
    let linked = repo.root.parent().unwrap().join("linked:tree");
    repo.git(&["worktree", "add", "-q", "-b", "x", linked.as_str()]);
    std::fs::write(linked.join("a"), "2\n").unwrap();
    let mut snapshot = Snapshot::take(&linked, ours(&linked)).unwrap();
    std::fs::write(linked.join("b"), "2\n").unwrap();
    assert_eq!(snapshot.changed_since().unwrap(), ["b"]);
}

#[test]
fn no_repository_a_bare_one_and_a_broken_one_are_told_apart() {
    let kept = tempfile::tempdir().unwrap();
    let root = camino::Utf8Path::from_path(kept.path()).unwrap();
    let none = Snapshot::take(root, ours(root)).unwrap_err();
    assert!(matches!(none, WorktreeError::NoRepository { .. }), "{none}");
    git(root, &["init", "-q", "--bare", "b/.git"]);
    let bare = Snapshot::take(&root.join("b"), ours(&root.join("b"))).unwrap_err();
    assert!(matches!(bare, WorktreeError::NoRepository { .. }), "{bare}");
    std::fs::create_dir_all(root.join("c/.git")).unwrap();
    let broken = Snapshot::take(&root.join("c"), ours(&root.join("c"))).unwrap_err();
    assert!(
        broken.to_string().contains("not a git repository"),
        "{broken}"
    );
}

#[test]
fn what_is_too_large_is_passed_over_and_still_watched() {
    let repo = Repo::with(&[("a", "1\n")]);
    let large = |byte| vec![byte; usize::try_from(super::snapshot::MOST_FILE_BYTES).unwrap() + 1];
    repo.write("dump.bin", large(0));
    repo.write("a", large(b'a'));
    let mut snapshot = take(&repo);
    assert_eq!(snapshot.tree(), repo.git(&["rev-parse", "HEAD^{tree}"]));
    assert_eq!(snapshot.passed_over().len(), 2);
    assert_eq!(snapshot.changed_since().unwrap(), [""; 0]);
    repo.write("dump.bin", large(1));
    assert_eq!(snapshot.changed_since().unwrap(), ["dump.bin"]);
}

#[test]
fn a_pipe_in_the_work_tree_is_not_waited_for() {
    let repo = Repo::with(&[("a", "1\n")]);
    std::fs::remove_file(repo.root.join("a")).unwrap();
    for name in ["a", "p"] {
        let made = std::process::Command::new("mkfifo")
            .arg(repo.root.join(name))
            .status();
        assert!(made.unwrap().success());
    }
    let mut snapshot = take(&repo);
    assert_eq!(snapshot.changed_since().unwrap(), [""; 0]);
}

#[test]
fn a_patch_is_tried_and_never_applied() {
    let repo = Repo::with(&[("a b", "1\n2\n3\n")]);
    repo.write("a b", "1\nchanged\n3\n");
    repo.write("new", "n\n");
    let snapshot = take(&repo);
    let before = repo.everything();
    let on = |path: &str, old: &str, new: &str| {
        format!("--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n 1\n-{old}\n+{new}\n 3\n")
    };
    assert_eq!(snapshot.applies(&on("a b", "changed", "fixed")), Ok(()));
    assert_eq!(
        snapshot.applies(on("a b", "changed", "fixed").trim_end()),
        Ok(()),
        "without its last line end"
    );
    assert_eq!(
        snapshot.applies("--- a/new\n+++ /dev/null\n@@ -1 +0,0 @@\n-n\n"),
        Ok(())
    );
    for (patch, why) in [
        (on("a b", "2", "x"), "patch failed: a b:1"),
        (on("nowhere", "2", "x"), "nowhere: does not exist in index"),
        (
            "@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            "patch fragment without header",
        ),
        (on("../a", "2", "x"), "leaves the work tree"),
        (
            "--- a/a b\n+++ b/a b\n@@ -1,3 +1,3 @@\n 1\n".to_owned(),
            "corrupt patch",
        ),
        ("not a patch".to_owned(), "no unified diff"),
    ] {
        let error = snapshot.applies(&patch).unwrap_err();
        assert!(error.contains(why), "{why}: {error}");
        assert!(!error.contains('\n'));
    }
    assert_eq!(repo.changed_from(&before), [""; 0]);
}

#[test]
fn without_git_a_walk_tells_what_changed() {
    let kept = tempfile::tempdir().unwrap();
    let root = camino::Utf8Path::from_path(kept.path()).unwrap();
    let write = |path: &str, text: &str| {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    };
    write("a", "1");
    write("d/b", "1");
    write("gone", "1");
    write(".hg/x", "1");
    symlink("a", root.join("link")).unwrap();
    let mut before = Before::look(root, ours(root).folder("state")).unwrap();
    assert_eq!(before.changed().unwrap(), [""; 0]);
    write("a", "1");
    write("d/b", "2");
    write("state/x", "ours");
    write(".hg/x", "2");
    write("d/e/new\n", "1");
    std::fs::remove_file(root.join("gone")).unwrap();
    std::fs::remove_file(root.join("link")).unwrap();
    symlink("d", root.join("link")).unwrap();
    assert_eq!(
        before.changed().unwrap(),
        ["d/b", "\"d/e/new\\n\"", "gone", "link"]
    );
}

#[test]
fn a_commit_a_hook_and_a_configuration_are_changes_too() {
    let repo = Repo::with(&[("a", "1\n")]);
    let mut before = Before::look(&repo.root, ours(&repo.root)).unwrap();
    assert_eq!(before.changed().unwrap(), [""; 0]);
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\n");
    repo.git(&["config", "core.pager", "x"]);
    assert_eq!(
        before.changed().unwrap(),
        [".git/config", ".git/hooks/pre-commit"]
    );

    repo.write("a", "2\n");
    let mut before = Before::look(&repo.root, ours(&repo.root)).unwrap();
    std::fs::remove_file(repo.root.join(".git/hooks/pre-commit")).unwrap();
    repo.commit();
    assert_eq!(
        before.changed().unwrap(),
        [
            ".git/HEAD",
            ".git/hooks/pre-commit",
            ".git/index",
            ".git/refs/heads/main"
        ]
    );

    let linked = repo.root.join("linked");
    repo.git(&["worktree", "add", "-q", "-b", "side", linked.as_str()]);
    let mut before = Before::look(&linked, ours(&linked)).unwrap();
    repo.write(".git/hooks/post-checkout", "#!/bin/sh\n");
    assert_eq!(before.changed().unwrap(), [".git/hooks/post-checkout"]);
    git(&linked, &["checkout", "-q", "--detach"]);
    let told = before.changed().unwrap();
    assert!(told.contains(&".git/HEAD".to_owned()), "{told:?}");
}

#[test]
fn what_later_commands_obey_and_what_nested_repositories_hold_is_seen() {
    type Change = fn(&Repo);
    let changes: [(&str, Change); 20] = [
        (".git/info/exclude", |repo| {
            repo.write(".git/info/exclude", "*.js\n")
        }),
        (".git/info/attributes", |repo| {
            repo.write(".git/info/attributes", "* binary\n")
        }),
        (".git/info/grafts", |repo| {
            repo.write(".git/info/grafts", "0\n")
        }),
        (".git/info/sparse-checkout", |repo| {
            repo.write(".git/info/sparse-checkout", "/a\n")
        }),
        (".git/shallow", |repo| repo.write(".git/shallow", "0\n")),
        (".git/objects/info/alternates", |repo| {
            repo.write(".git/objects/info/alternates", "/elsewhere\n")
        }),
        (".git/config.worktree", |repo| {
            repo.write(".git/config.worktree", "[core]\n")
        }),
        (".git/hooks/commit-msg", |repo| {
            repo.write(".git/hooks/commit-msg", "#!/bin/sh\n")
        }),
        (".git/index", |repo| {
            drop(repo.git(&["update-index", "--assume-unchanged", "a"]))
        }),
        (".git/index", |repo| {
            drop(repo.git(&["update-index", "--skip-worktree", "a"]))
        }),
        (".git/index", |repo| {
            drop(repo.git(&["rm", "-q", "--cached", "a"]))
        }),
        (".git/refs/heads/other", |repo| {
            drop(repo.git(&["branch", "other"]))
        }),
        (".git/refs/tags/v1", |repo| drop(repo.git(&["tag", "v1"]))),
        (".git/refs/replace/x", |repo| {
            repo.write(".git/refs/replace/x", "0\n")
        }),
        (".git/refs/remotes/origin/main", |repo| {
            repo.write(".git/refs/remotes/origin/main", "0\n")
        }),
        (".git/packed-refs", |repo| {
            drop(repo.git(&["pack-refs", "--all"]))
        }),
        ("nested/file", |repo| repo.write("nested/file", "2\n")),
        ("nested/.git/config", |repo| {
            repo.write("nested/.git/config", "[core]\n")
        }),
        ("nested/.git/hooks/pre-commit", |repo| {
            repo.write("nested/.git/hooks/pre-commit", "#!/bin/sh\n")
        }),
        ("sub/a", |repo| {
            repo.write("sub/a", "changed in a submodule\n")
        }),
    ];
    // A submodule takes git some twenty processes: it is made once.
    let made = Repo::with(&[("a", "1\n")]);
    let other = Repo::with(&[("a", "1\n")]);
    made.git(&["submodule", "--quiet", "add", other.root.as_str(), "sub"]);
    made.commit();
    made.write("nested/file", "1\n");
    git(&made.root.join("nested"), &["init", "-q"]);
    for (name, change) in changes {
        let repo = made.copied();
        let mut before = Before::look(&repo.root, ours(&repo.root)).unwrap();
        assert!(!before.is_cut());
        assert_eq!(before.changed().unwrap(), [""; 0], "a look changes nothing");
        // What a look of any program at the work tree renews is no change.
        repo.git(&["status"]);
        change(&repo);
        let changed = before.changed().unwrap();
        assert!(changed.contains(&name.to_owned()), "{name}: {changed:?}");
    }
}

#[test]
fn more_repositories_than_are_looked_at_are_said() {
    let repo = Repo::with(&[("a", "1\n")]);
    for at in 0..21 {
        repo.write(&format!("nested-{at}/file"), "1\n");
        git(&repo.root.join(format!("nested-{at}")), &["init", "-q"]);
    }
    assert!(Before::look(&repo.root, ours(&repo.root)).unwrap().is_cut());
}
