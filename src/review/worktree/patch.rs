//! Whether a proposed patch would apply to a snapshot. Nothing is applied: git checks it against the scratch index.
//!
//! A patch comes from a reviewer and is data. What it names is judged here before git sees it: only files below the top
//! of the work tree, none of a repository's own, no links and no submodules.

use super::Snapshot;
use crate::git::said;
use crate::text;

/// The largest patch that is tried, in bytes.
pub const MOST_PATCH_BYTES: usize = 64 * 1024;

impl Snapshot {
    /// Tries a unified diff against the snapshot.
    ///
    /// # Errors
    /// Why it does not apply, on one plain line.
    pub fn applies(&self, patch: &str) -> Result<(), String> {
        admissible(patch)?;
        let mut bytes = patch.as_bytes().to_vec();
        // A reviewer's JSON often loses the last line end, and a patch without it is no patch.
        if !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        let arguments = [
            "apply",
            "--check",
            "--cached",
            "--whitespace=nowarn",
            "--no-ignore-whitespace",
            "-p1",
            "-",
        ];
        match self.git().ask(&arguments, &bytes) {
            Ok(answer) if answer.status == 0 => Ok(()),
            Ok(answer) => Err(said(&answer.stderr)),
            Err(error) => Err(text::one_line(&error.to_string(), 300)),
        }
    }
}

/// Checks that a patch names only what a patch may name.
fn admissible(patch: &str) -> Result<(), String> {
    if patch.len() > MOST_PATCH_BYTES {
        return Err(format!("it is longer than {} KiB", MOST_PATCH_BYTES / 1024));
    }
    if patch.contains('\0') {
        return Err("it holds NUL bytes".to_owned());
    }
    let mut hunk = Left::default();
    let mut hunks = 0_usize;
    for line in patch.lines() {
        if hunk.takes(line) {
            continue;
        }
        if let Some(begun) = Left::begins(line) {
            hunks += 1;
            hunk = begun;
            continue;
        }
        if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err("it changes a binary file".to_owned());
        }
        for start in [
            "old mode ",
            "new mode ",
            "new file mode ",
            "deleted file mode ",
        ] {
            if let Some(mode) = line.strip_prefix(start) {
                match mode.trim() {
                    "120000" => return Err("it makes or changes a symbolic link".to_owned()),
                    "160000" => return Err("it changes a submodule".to_owned()),
                    _ => {}
                }
            }
        }
        for name in named(line) {
            inside(name)?;
        }
    }
    if hunks == 0 {
        return Err("it is no unified diff: it has no line that begins with @@".to_owned());
    }
    Ok(())
}

/// How many lines of a hunk are still to come; such lines are content, whatever they look like.
#[derive(Default)]
struct Left {
    old: u64,
    new: u64,
}

impl Left {
    /// `@@ -old,count +new,count @@`
    fn begins(line: &str) -> Option<Self> {
        let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let count = |range: &str| match range.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => Some(1),
        };
        Some(Self {
            old: count(old)?,
            new: count(new)?,
        })
    }

    fn takes(&mut self, line: &str) -> bool {
        if self.old == 0 && self.new == 0 {
            return false;
        }
        match line.as_bytes().first() {
            Some(b'+') => self.new = self.new.saturating_sub(1),
            Some(b'-') => self.old = self.old.saturating_sub(1),
            Some(b'\\') => {}
            _ => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
            }
        }
        true
    }
}

/// Returns the names in a line of a patch's head.
fn named(line: &str) -> Vec<&str> {
    for start in [
        "--- ",
        "+++ ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
    ] {
        if let Some(name) = line.strip_prefix(start) {
            // A time may stand after a tab.
            return vec![name.split('\t').next().unwrap_or(name)];
        }
    }
    // Where one name ends and the other begins is not always to be told; each part has to be harmless.
    line.strip_prefix("diff --git ")
        .map(|names| names.split(' ').collect())
        .unwrap_or_default()
}

/// Checks that a name, with or without its `a/`, stays in the work tree.
fn inside(name: &str) -> Result<(), String> {
    let bare = name.trim().trim_matches('"');
    if bare == "/dev/null" {
        return Ok(());
    }
    let refused = |why: &str| Err(format!("it names {}, {why}", text::one_line(name, 100)));
    if bare.starts_with('/') || bare.starts_with('~') {
        return refused("which is not below the top of the work tree");
    }
    // An escaped character inside quotes could hide a part of a path; a dot or a letter never needs an escape.
    if name.trim().starts_with('"')
        && ["\\056", "\\057", "\\147", "\\107"]
            .iter()
            .any(|hidden| bare.contains(hidden))
    {
        return refused("in a spelling that hides where it is");
    }
    for part in bare.split(['/', '\\']) {
        let folded = part.trim_end_matches([' ', '.']).to_ascii_lowercase();
        if part == ".." {
            return refused("which leaves the work tree");
        }
        if folded == ".git" || folded.starts_with("git~") {
            return refused("which belongs to git");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::admissible;

    fn patch(old: &str, new: &str) -> String {
        format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n")
    }

    #[test]
    fn a_patch_may_only_name_files_of_the_work_tree() {
        assert_eq!(admissible(&patch("a/src/x.rs", "b/src/x.rs")), Ok(()));
        assert_eq!(admissible(&patch("/dev/null", "b/..new/x...y")), Ok(()));
        for (name, why) in [
            ("b/../x", "leaves the work tree"),
            ("../../etc/passwd", "leaves the work tree"),
            ("/etc/passwd", "not below the top"),
            ("~/x", "not below the top"),
            ("b/.git/config", "belongs to git"),
            ("b/sub/.GIT/hooks/x", "belongs to git"),
            ("b/.git ./config", "belongs to git"),
            ("b/git~1/config", "belongs to git"),
            ("\"b/\\056git/config\"", "hides where it is"),
            ("\"b/..\\057x\"", "hides where it is"),
            ("b/..\\x", "leaves the work tree"),
        ] {
            let error = admissible(&patch("a/x", name)).unwrap_err();
            assert!(error.contains(why), "{name}: {error}");
            assert!(admissible(&patch(name, "b/x")).is_err(), "{name}");
        }
        for head in [
            "rename to ../x",
            "copy from /etc/passwd",
            "diff --git a/x b/../y",
            "rename from .git/x",
        ] {
            let text = format!("{head}\n{}", patch("a/x", "b/x"));
            assert!(admissible(&text).is_err(), "{head}");
        }
    }

    #[test]
    fn links_submodules_binaries_and_what_is_no_patch_are_refused() {
        for (text, why) in [
            (
                "new file mode 120000\n".to_owned() + &patch("a/x", "b/x"),
                "symbolic link",
            ),
            (
                "new mode 160000\n".to_owned() + &patch("a/x", "b/x"),
                "submodule",
            ),
            (
                "GIT binary patch\n".to_owned() + &patch("a/x", "b/x"),
                "binary",
            ),
            (String::new(), "no unified diff"),
            ("replace line 3 by x".to_owned(), "no unified diff"),
            (patch("a/x", "b/x\0"), "NUL"),
            (
                "x".repeat(super::MOST_PATCH_BYTES + 1),
                "longer than 64 KiB",
            ),
        ] {
            let error = admissible(&text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn content_that_looks_like_a_head_is_content() {
        let text =
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- /etc/passwd\n+++ ../x\n new file mode 120000\n";
        assert_eq!(admissible(text), Ok(()));
    }
}
