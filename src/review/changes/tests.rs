use super::{Changes, MAX_BYTES, Since, collect};
use crate::review::round_error::RoundError;
use crate::review::worktree::testing::{Repo, git};

fn collected(root: &camino::Utf8Path) -> Result<Changes, RoundError> {
    collect(root, &[], Since::Branch)
}

fn changes(repo: &Repo) -> Changes {
    collected(&repo.root).unwrap()
}

/// Returns the number of files that differ.
fn files(changes: &Changes) -> usize {
    let count = changes.text.split("\n# files: ").nth(1).unwrap();
    count.split(' ').next().unwrap().parse().unwrap()
}

fn head(changes: &Changes) -> Vec<&str> {
    changes
        .text
        .lines()
        .take_while(|line| line.starts_with("# "))
        .collect()
}

/// Returns the names of the files that are shown: that before, and that after.
fn shown(changes: &Changes) -> Vec<&str> {
    let lines = changes.text.lines();
    lines
        .filter_map(|line| line.strip_prefix("diff --git "))
        .collect()
}

#[test]
fn branch_is_compared_with_its_fork_point() {
    let repo = Repo::with(&[("a", "1\n"), ("old name", "1\n2\n3\n4\n")]);
    let left = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["checkout", "-q", "-b", "feature-x"]);
    repo.write("committed", "c\n");
    repo.commit();
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a", "main went on\n");
    repo.commit();
    repo.git(&["checkout", "-q", "feature-x"]);
    repo.write("staged", "s\n");
    repo.git(&["add", "staged"]);
    repo.write("untracked", "u\n");
    repo.git(&["mv", "old name", "new name"]);
    repo.write("a", "2\n");
    let before = repo.everything();
    let changes = changes(&repo);
    assert_eq!(repo.changed_from(&before), [""; 0]);
    assert_eq!(changes.base.title(), "changes of feature-x against main");
    assert_eq!(files(&changes), 5);
    assert_eq!(
        head(&changes),
        [
            "# changes of feature-x against main".to_owned(),
            format!("# compared with: commit {left}, where feature-x left main"),
            format!(
                "# work tree: tree {}, with what is uncommitted and untracked",
                changes.snapshot.tree
            ),
            "# files: 5 (+4 -1 lines)".to_owned(),
        ]
    );
    let expected = [
        "a/a b/a",
        "a/committed b/committed",
        "a/old name b/new name",
        "a/staged b/staged",
        "a/untracked b/untracked",
    ];
    assert_eq!(shown(&changes), expected);
    assert!(changes.text.contains("@@ -1 +1 @@\n-1\n+2\n"));
    assert!(
        changes
            .text
            .contains("rename from old name\nrename to new name\n")
    );
    assert_eq!(
        changes.text,
        self::changes(&repo).text,
        "the same changes give the same bytes"
    );
}

#[test]
fn nothing_that_differs_is_named_by_title() {
    let repo = Repo::with(&[("a", "1\n"), (".gitignore", "*.log\n")]);
    repo.write("x.log", "ignored\n");
    repo.write("reviews/review-1.md", "ours\n");
    let exclusions = [":(exclude,top,glob)reviews/review-*.md".to_owned()];
    let error = collect(&repo.root, &exclusions, Since::Branch).unwrap_err();
    let nothing = "there is nothing to review: no uncommitted changes of main";
    assert_eq!(error.to_string(), nothing);
    // Reports that were committed and then changed are no part of it either.
    repo.commit();
    repo.write("reviews/review-1.md", "another\n");
    repo.write("b", "1\n");
    let changes = collect(&repo.root, &exclusions, Since::Branch).unwrap();
    assert_eq!(files(&changes), 1);
    assert!(!changes.text.contains("review-1"));

    let error = collected(&Repo::new().root).unwrap_err();
    let nothing = "there is nothing to review: no files of main, which has no commit yet";
    assert_eq!(error.to_string(), nothing);
}

#[test]
fn base_follows_the_branch() {
    let origin = Repo::with(&[("a", "1\n")]);
    let repo = Repo::new();
    let clone = repo.root.parent().unwrap().join("clone");
    repo.git(&["clone", "-q", origin.root.as_str(), clone.as_str()]);
    let title = |what: &str| {
        std::fs::write(clone.join("a"), format!("{what}\n")).unwrap();
        collected(&clone).unwrap().base.title()
    };
    assert_eq!(title("on main"), "changes of main against origin/main");
    git(
        &clone,
        &["checkout", "-q", "-b", "topic", "--track", "origin/main"],
    );
    assert_eq!(
        title("upstream is another branch"),
        "changes of topic against origin/main"
    );
    git(&clone, &["checkout", "-q", "-b", "pushed"]);
    git(&clone, &["commit", "-qam", "x"]);
    git(&clone, &["push", "-q", "-u", "origin", "pushed"]);
    assert_eq!(
        title("upstream is its own copy"),
        "changes of pushed against origin/main"
    );
    git(&clone, &["checkout", "-q", "--detach"]);
    assert_eq!(
        title("detached"),
        "changes of a work tree without a branch against origin/main"
    );
    git(&clone, &["remote", "remove", "origin"]);
    git(&clone, &["checkout", "-q", "pushed"]);
    assert_eq!(title("no remote"), "changes of pushed against main");
    git(&clone, &["branch", "-q", "-D", "main"]);
    git(&clone, &["checkout", "-q", "--orphan", "island"]);
    git(&clone, &["commit", "-qam", "y"]);
    assert_eq!(title("no other"), "uncommitted changes of island");
}

/// Commits a file of that name on a new branch.
fn branch(repo: &Repo, name: &str) {
    repo.git(&["checkout", "-q", "-b", name]);
    repo.write(&format!("{}.txt", name.replace('/', "-")), "x\n");
    repo.commit();
}

/// The files that are reviewed, and the title.
fn reviewed(repo: &Repo) -> (Vec<String>, String) {
    let changes = changes(repo);
    let lines = changes.text.lines();
    let names = lines.filter_map(|line| line.strip_prefix("+++ b/"));
    (names.map(str::to_owned).collect(), changes.base.title())
}

#[test]
fn stacked_branch_is_compared_with_the_one_below() {
    let repo = Repo::with(&[("a", "1\n")]);
    branch(&repo, "part-1");
    branch(&repo, "part-2");
    repo.git(&["branch", "backup"]);
    let expected = || {
        (
            vec!["part-2.txt".to_owned()],
            "changes of part-2 against part-1".to_owned(),
        )
    };
    assert_eq!(reviewed(&repo), expected());
    repo.git(&["checkout", "-q", "main"]);
    branch(&repo, "beside");
    repo.git(&["checkout", "-q", "part-2"]);
    assert_eq!(reviewed(&repo), expected());
}

#[test]
fn local_trunk_is_found_without_a_remote() {
    let repo = Repo::with(&[("a", "1\n")]);
    repo.git(&["branch", "-q", "-m", "trunk"]);
    branch(&repo, "old");
    repo.git(&["checkout", "-q", "trunk"]);
    repo.git(&["merge", "-q", "--ff-only", "old"]);
    repo.commit();
    branch(&repo, "feature");
    let title = "changes of feature against trunk";
    assert_eq!(
        reviewed(&repo),
        (vec!["feature.txt".to_owned()], title.to_owned())
    );
    repo.git(&["checkout", "-q", "trunk"]);
    repo.write("now", "x\n");
    let title = "uncommitted changes of trunk";
    assert_eq!(reviewed(&repo), (vec!["now".to_owned()], title.to_owned()));
    // A new branch has no commits yet, though an old one leaves some between.
    repo.git(&["checkout", "-q", "-b", "new"]);
    let title = "changes of new against trunk";
    assert_eq!(reviewed(&repo), (vec!["now".to_owned()], title.to_owned()));
}

#[test]
fn pushed_gitflow_branch_is_compared_with_develop() {
    let origin = Repo::with(&[("a", "1\n")]);
    let repo = Repo::with(&[("a", "1\n")]);
    repo.git(&["remote", "add", "origin", origin.root.as_str()]);
    branch(&repo, "develop");
    branch(&repo, "feature/x");
    for push in ["feature/x", "feature/x:kim/x"] {
        repo.git(&["push", "-q", "-u", "origin", push]);
        let title = "changes of feature/x against develop";
        assert_eq!(
            reviewed(&repo),
            (vec!["feature-x.txt".to_owned()], title.to_owned())
        );
    }
    repo.git(&["checkout", "-q", "develop"]);
    repo.git(&["push", "-q", "-u", "origin", "develop"]);
    repo.write("now", "x\n");
    let title = "changes of develop against origin/develop";
    assert_eq!(reviewed(&repo), (vec!["now".to_owned()], title.to_owned()));
}

#[test]
fn given_base_is_where_the_branch_left_it() {
    let repo = Repo::with(&[("a", "1\n")]);
    branch(&repo, "part-1");
    branch(&repo, "part-2");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("later", "1\n");
    repo.commit();
    repo.git(&["checkout", "-q", "part-2"]);
    let against = |base| collect(&repo.root, &[], Since::Revision(base));
    let found = against("main").unwrap();
    assert_eq!(
        (&*found.base.title(), files(&found)),
        ("changes of part-2 against main", 2)
    );
    assert_eq!(files(&against("HEAD~1").unwrap()), 1);
    for none in ["nowhere", "--all", "", "HEAD^{tree}", "a\u{1b}b"] {
        let error = against(none).unwrap_err().to_string();
        assert!(error.starts_with("the repository has no commit"), "{error}");
    }
}

#[test]
fn binaries_and_submodules_are_named_only() {
    let inner = Repo::with(&[("i", "1\n")]);
    let repo = Repo::with(&[("a", "1\n")]);
    repo.write("logo.png", b"\x89PNG\0\0\0");
    repo.git(&["submodule", "add", "-q", inner.root.as_str(), "sub"]);
    let changes = changes(&repo);
    assert!(
        changes
            .text
            .contains("Binary files /dev/null and b/logo.png differ")
    );
    assert!(changes.text.contains("+Subproject commit "));
    let files = head(&changes).pop().unwrap();
    assert_eq!(files, "# files: 3 (+4 -0 lines), 1 binary");
}

#[test]
fn largest_files_are_named_only() {
    let repo = Repo::with(&[("a", "1\n")]);
    let lines = |count: usize| "twenty bytes a line\n".repeat(count);
    repo.write("Cargo.lock", lines(8000));
    repo.write("lib/vendor/x.go", lines(10_000));
    repo.write("b.rs", lines(5000));
    repo.write("c.rs", lines(20_000));
    repo.write("d.rs", lines(100));
    repo.write("dump.bin", vec![0; 9 * 1024 * 1024]);
    let changes = changes(&repo);
    assert!(changes.text.len() <= MAX_BYTES);
    assert_eq!(shown(&changes), ["a/b.rs b/b.rs", "a/d.rs b/d.rs"]);
    assert_eq!(
        changes.text.matches("+twenty").count(),
        5100,
        "each is whole"
    );
    assert_eq!(
        head(&changes)[4..],
        [
            "# left out: dump.bin (9437184 bytes, too large to be read)",
            "# left out: Cargo.lock (+8000 -0 lines)",
            "# left out: c.rs (+20000 -0 lines)",
            "# left out: lib/vendor/x.go (+10000 -0 lines)",
        ]
    );
}

#[test]
fn names_and_lines_cannot_disguise_themselves() {
    let repo = Repo::with(&[("a", "1\n")]);
    for name in ["x\ndiff --git a\n", "sp ace", "\"q\"", "*", "r\u{202e}l"] {
        repo.write(
            name,
            "one\rtwo\r\n\u{202e}three\u{1b}[2J\nend without a line end",
        );
    }
    use std::os::unix::ffi::OsStrExt as _;
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff*name");
    std::fs::write(repo.root.as_std_path().join(odd), "\u{fffd} \n").unwrap();
    let changes = changes(&repo);
    assert_eq!(files(&changes), 6, "{}", changes.text);
    assert!(
        changes
            .text
            .contains("diff --git \"a/x\\ndiff --git a\\n\"")
    );
    assert!(
        changes
            .text
            .contains("+one<U+000D>two\r\n+<U+202E>three<U+001B>[2J\n+end without")
    );
    assert!(changes.text.contains("b/r<U+202E>l\n"));
    // A name that is no text cannot be an argument of git.
    let left_out = "\n# left out: odd\u{fffd}*name (+1 -0 lines)\n\n";
    assert!(changes.text.contains(left_out), "{}", changes.text);
    assert_eq!(
        crate::text::strip_hidden(&changes.text),
        changes.text.replace("\r\n", "\n")
    );
}

#[test]
fn file_that_became_link_shows_both_sides() {
    let repo = Repo::with(&[("a", "1\n"), ("moved", "1\n2\n3\n")]);
    std::fs::remove_file(repo.root.join("a")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", repo.root.join("a")).unwrap();
    // It is in one call of git with other files.
    let others: Vec<String> = (100..350).map(|number| format!("b{number}")).collect();
    for other in &others {
        repo.write(other, format!("this is {other}\n"));
    }
    repo.git(&["mv", "moved", "c"]);
    let changes = changes(&repo);
    let mut expected = vec!["a/a b/a".to_owned(), "a/a b/a".to_owned()];
    expected.extend(others.iter().map(|other| format!("a/{other} b/{other}")));
    expected.push("a/moved b/c".to_owned());
    assert_eq!(shown(&changes), expected);
    for other in others {
        assert!(
            changes
                .text
                .contains(&format!("+++ b/{other}\n@@ -0,0 +1 @@\n+this is {other}\n"))
        );
    }
    assert!(
        changes.text.contains("deleted file mode 100644")
            && changes.text.contains("new file mode 120000")
    );
    assert!(
        changes.text.contains("+/etc/passwd\n"),
        "the link, not what it leads to"
    );
}

#[test]
fn no_attribute_of_the_work_tree_hides_a_text() {
    let repo = Repo::with(&[("a.js", "1\n")]);
    repo.write(".gitattributes", "*.js -diff\n*.py binary\n*.c diff=x\n");
    repo.write("a.js", "2\n");
    repo.write("sub/b.py", "import pdb\n");
    let changes = changes(&repo);
    for shown in ["-1\n+2\n", "+import pdb\n"] {
        assert!(changes.text.contains(shown), "{}", changes.text);
    }
    assert!(!changes.text.contains("Binary files"), "{}", changes.text);
}

#[test]
fn changes_since_a_commit_leave_out_what_was_before_it() {
    let repo = Repo::with(&[("a.txt", "one\n")]);
    let first = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.write("a.txt", "two\n");
    repo.git(&["commit", "--quiet", "--all", "--message", "second"]);
    let second = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.write("b.txt", "new\n");
    let since = |commit| collect(&repo.root, &[], Since::Commit(commit));
    let all = since(&first).unwrap().text;
    assert!(
        all.contains("-one") && all.contains("+two") && all.contains("+new"),
        "{all}"
    );
    let last = since(&second).unwrap().text;
    assert!(!last.contains("+two") && last.contains("+new"), "{last}");
    for none in ["HEAD", "--all", "0123456789012345678901234567890123456789"] {
        let error = since(none).unwrap_err().to_string();
        assert!(error.contains("no commit"), "{error}");
    }
}

#[test]
fn changes_without_diff_are_refused_and_small_edits_come_first() {
    let repo = Repo::with(&[("a", "1\n"), ("lock", &"1\n".repeat(600))]);
    repo.write("gen.js", "x\n".repeat(200_000));
    let error = collected(&repo.root).unwrap_err().to_string();
    assert!(error.contains("gen.js (+200000 -0 lines)"), "{error}");
    repo.write("a", "2".repeat(8000));
    for number in 0..40 {
        repo.write(&format!("gen-{number}"), "x".repeat(8000));
    }
    repo.write("lock", format!("{}\n", "1".repeat(99)).repeat(600));
    let changes = changes(&repo);
    assert!(shown(&changes).contains(&"a/a b/a"));
    assert!(!shown(&changes).contains(&"a/lock b/lock"));
}
