//! A unified diff as files, hunks and the lines of their new version; the syntax is read by diffy. What cannot be read is passed
//! over, and named.

use std::path::Path;

use diffy::patch_set::{FileOperation, FilePatch, ParseOptions, PatchSet};

/// How a line before the first file names a binary file: `# binary: logo.png (12345 bytes)`.
const BINARY: &str = "# binary: ";
/// How a line before the first file names one whose changes are not there.
const LEFT_OUT: &str = "# left out: ";

/// A diff.
#[derive(Debug, Default)]
pub(super) struct Patch {
    pub(super) files: Vec<PatchFile>,
    /// Binary files that are there, with their length in bytes.
    pub(super) binaries: Vec<(String, u64)>,
    /// What the head says was left out, and what cannot be read.
    pub(super) left_out: Vec<String>,
}

/// What a file is for, as far as its path tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A program or its configuration.
    Code,
    /// A test, or what a test reads.
    Test,
    /// A text for people.
    Document,
    /// Written by a program: a lock file, a minified file.
    Generated,
}

/// One file of a diff.
#[derive(Debug)]
pub(super) struct PatchFile {
    pub(super) path: String,
    pub(super) is_new: bool,
    pub(super) role: Role,
    /// The extension in lower case; empty where there is none.
    pub(super) extension: String,
    pub(super) hunks: Vec<Hunk>,
}

/// A hunk's new version.
#[derive(Debug, Default)]
pub(super) struct Hunk {
    pub(super) lines: Vec<PatchLine>,
}

/// A line of the new version.
#[derive(Debug)]
pub(super) struct PatchLine {
    /// From 1.
    pub(super) number: u32,
    /// Without its line end, but with a carriage return that stands there.
    pub(super) raw: String,
    pub(super) added: bool,
    /// Whether the file ends here without a line end.
    pub(super) unended: bool,
}

impl PatchLine {
    /// Without a carriage return at its end.
    pub(super) fn text(&self) -> &str {
        self.raw.strip_suffix('\r').unwrap_or(&self.raw)
    }
}

impl PatchFile {
    /// Returns the added lines.
    pub(super) fn added(&self) -> impl Iterator<Item = &PatchLine> {
        self.hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .filter(|line| line.added)
    }

    /// Returns the file's name without its folders.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

pub(super) fn read(text: &str) -> Patch {
    let mut read = Patch::default();
    let mut lines = text.lines();
    for line in lines
        .by_ref()
        .take_while(|line| !line.starts_with("diff --git "))
    {
        if let Some(name) = line.strip_prefix(LEFT_OUT) {
            read.left_out.push(name.to_owned());
        } else if let Some((path, rest)) = line
            .strip_prefix(BINARY)
            .and_then(|name| name.rsplit_once(" ("))
        {
            let bytes = rest
                .strip_suffix(" bytes)")
                .and_then(|bytes| bytes.parse().ok());
            read.binaries
                .extend(bytes.map(|bytes| (path.to_owned(), bytes)));
        }
    }
    // A text without any file is no broken one.
    if lines.next().is_none() {
        return read;
    }
    for found in PatchSet::parse(text, ParseOptions::gitdiff()) {
        match found {
            Ok(found) => read.files.extend(file(&found)),
            Err(error) => read
                .left_out
                .push(format!("changes that cannot be read: {error}")),
        }
    }
    read
}

/// Returns a file's new version; `None` of one that is removed, or is binary.
fn file(found: &FilePatch<'_, str>) -> Option<PatchFile> {
    let (path, is_new) = match found.operation() {
        FileOperation::Create(path) => (path, true),
        FileOperation::Modify { modified: path, .. }
        | FileOperation::Rename { to: path, .. }
        | FileOperation::Copy { to: path, .. } => (path, false),
        FileOperation::Delete(_) => return None,
    };
    let hunks = found.patch().as_text()?.hunks().iter().map(hunk).collect();
    Some(PatchFile {
        hunks,
        is_new,
        ..named(path.strip_prefix("b/").unwrap_or(path).to_owned())
    })
}

fn hunk(found: &diffy::Hunk<'_, str>) -> Hunk {
    let mut number = u32::try_from(found.new_range().start()).unwrap_or(u32::MAX);
    let mut lines = Vec::new();
    for line in found.lines() {
        let (text, added) = match line {
            diffy::Line::Context(text) => (text, false),
            diffy::Line::Insert(text) => (text, true),
            diffy::Line::Delete(_) => continue,
        };
        let raw = text.strip_suffix('\n');
        lines.push(PatchLine {
            number,
            raw: raw.unwrap_or(text).to_owned(),
            added,
            unended: raw.is_none(),
        });
        number = number.saturating_add(1);
    }
    Hunk { lines }
}

/// Returns a file of which nothing but its path is known.
fn named(path: String) -> PatchFile {
    let extension = Path::new(&path)
        .extension()
        .map(|end| end.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    PatchFile {
        role: role(&path, &extension),
        is_new: false,
        hunks: Vec::new(),
        extension,
        path,
    }
}

fn role(path: &str, extension: &str) -> Role {
    const GENERATED: [&str; 7] = ["lock", "map", "snap", "svg", "sum", "csv", "ipynb"];
    const DOCUMENTS: [&str; 7] = ["md", "rst", "adoc", "txt", "markdown", "mdx", "org"];
    const TEST_FOLDERS: [&str; 12] = [
        "test",
        "tests",
        "spec",
        "specs",
        "__tests__",
        "fixtures",
        "testdata",
        "test-data",
        "mocks",
        "__mocks__",
        "e2e",
        "testing",
    ];
    const DOCUMENT_FOLDERS: [&str; 5] = ["docs", "doc", "examples", "example", "samples"];
    let lower = path.to_ascii_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let within = |known: &[&str]| folders.split('/').any(|folder| known.contains(&folder));
    let stem = name.split('.').next().unwrap_or(name);
    if GENERATED.contains(&extension)
        || name.contains(".min.")
        || name.contains(".generated.")
        || name.ends_with("-lock.json")
        || name.ends_with("-lock.yaml")
        || within(&["vendor", "node_modules", "third_party", "dist"])
    {
        Role::Generated
    } else if within(&TEST_FOLDERS)
        || name.contains(".test.")
        || name.contains(".spec.")
        || ["test_", "tests_", "conftest"]
            .iter()
            .any(|start| stem.starts_with(start))
        || ["_test", "_tests", "_spec"]
            .iter()
            .any(|end| stem.ends_with(end))
        || ["test", "tests", "testing"].contains(&stem)
    {
        Role::Test
    } else if DOCUMENTS.contains(&extension) || within(&DOCUMENT_FOLDERS) {
        Role::Document
    } else {
        Role::Code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_numbers_of_the_new_version() {
        let text = "# head\n# left out: x (+1 -0 lines)\n# binary: a (b).png (2097152 bytes)\n\ndiff --git a/s p.rs b/s p.rs\n\
                    index 1..2 100644\n--- a/s p.rs\t\n+++ b/s p.rs\t\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -10 +10,2 @@ fn x\n ten\n++++ eleven\r\n\
                    \\ No newline at end of file\ndiff --git a/old b/new\nrename from old\nrename to new\n\
                    diff --git \"a/q\\\"\" \"b/q\\\"\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/q\\\"\"\n@@ -0,0 +1 @@\n+x\n\
                    diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let diff = read(text);
        let paths: Vec<&str> = diff.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["s p.rs", "new", "q\""]);
        let lines: Vec<(u32, &str, bool)> = diff.files[0]
            .hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .map(|line| (line.number, line.text(), line.added))
            .collect();
        assert_eq!(
            lines,
            [
                (1, "a", false),
                (2, "B", true),
                (3, "c", false),
                (10, "ten", false),
                (11, "+++ eleven", true)
            ]
        );
        assert!(diff.files[0].hunks[1].lines[1].unended);
        assert!(diff.files[2].is_new && !diff.files[0].is_new);
        assert_eq!(diff.binaries, [("a (b).png".to_owned(), 2_097_152)]);
        assert_eq!(diff.left_out, ["x (+1 -0 lines)"]);
    }

    #[test]
    fn what_is_no_text_is_passed_over_and_what_is_broken_is_named() {
        let whole = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n a\n+b\n";
        for (before, paths, unread) in [
            ("", &["x"][..], 0),
            (
                "diff --git a/p.png b/p.png\nindex 1..2 100644\nBinary files a/p.png and b/p.png differ\n",
                &["x"],
                0,
            ),
            (
                "diff --git a/m b/m\nold mode 100644\nnew mode 100755\n",
                &["m", "x"],
                0,
            ),
            (
                "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n",
                &["new", "x"],
                0,
            ),
            (
                "diff --git \"a/\\303\\251\" \"b/\\303\\251\"\n--- \"a/\\303\\251\"\n+++ \"b/\\303\\251\"\n@@ -1 +1 @@\n-a\n+b\n",
                &["\u{e9}", "x"],
                0,
            ),
            (
                "diff --cc m\nindex 1,2..3\n--- a/m\n+++ b/m\n@@@ -1,1 -1,1 +1,2 @@@\n  a\n++b\n",
                &["x"],
                0,
            ),
            (
                "diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1,9 +1,9 @@\n a\n+b\n",
                &["x"],
                1,
            ),
        ] {
            let read = read(&format!("{before}{whole}"));
            let seen: Vec<&str> = read.files.iter().map(|file| file.path.as_str()).collect();
            assert_eq!(
                (seen.as_slice(), read.left_out.len()),
                (paths, unread),
                "{before}"
            );
        }
        for text in ["", "\n", "no diff\n", "@@ -1 +1 @@\n+x", "\u{e9}"] {
            let read = read(text);
            assert!(read.files.is_empty() && read.left_out.is_empty(), "{text}");
        }
    }

    #[test]
    fn roles_follow_the_path() {
        for (path, expected) in [
            ("src/main.rs", Role::Code),
            ("src/testing.rs", Role::Test),
            ("tests/a/b.py", Role::Test),
            ("web/app.spec.ts", Role::Test),
            ("pkg/x_test.go", Role::Test),
            ("README.md", Role::Document),
            ("docs/conf.py", Role::Document),
            ("Cargo.lock", Role::Generated),
            ("dist/app.js", Role::Generated),
            ("src/contest.rs", Role::Code),
        ] {
            assert_eq!(named(path.to_owned()).role, expected, "{path}");
        }
    }
}
