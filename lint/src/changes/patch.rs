//! A unified diff as files, hunks and the lines of their new version. Tolerant: what it does not know, it passes over.

use std::path::Path;

/// How a line before the first file names a binary file: `# binary: logo.png (12345 bytes)`.
const BINARY: &str = "# binary: ";
/// How a line before the first file names one whose changes are not there.
const LEFT_OUT: &str = "# left out: ";

/// A diff.
#[derive(Debug, Default)]
pub(super) struct Patch<'a> {
    pub(super) files: Vec<PatchFile<'a>>,
    /// Binary files that are there, with their length in bytes.
    pub(super) binaries: Vec<(String, u64)>,
    /// What the head says was left out.
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
pub(super) struct PatchFile<'a> {
    pub(super) path: String,
    pub(super) is_new: bool,
    pub(super) role: Role,
    /// The extension in lower case; empty where there is none.
    pub(super) extension: String,
    pub(super) hunks: Vec<Hunk<'a>>,
}

/// A hunk's new version.
#[derive(Debug, Default)]
pub(super) struct Hunk<'a> {
    pub(super) lines: Vec<PatchLine<'a>>,
}

/// A line of the new version.
#[derive(Debug, Clone, Copy)]
pub(super) struct PatchLine<'a> {
    /// From 1.
    pub(super) number: u32,
    /// Without its line end, but with a carriage return that stands there.
    pub(super) raw: &'a str,
    pub(super) added: bool,
    /// Whether the file ends here without a line end.
    pub(super) unended: bool,
}

impl<'a> PatchLine<'a> {
    /// Without a carriage return at its end.
    pub(super) fn text(&self) -> &'a str {
        self.raw.strip_suffix('\r').unwrap_or(self.raw)
    }
}

impl<'a> PatchFile<'a> {
    /// The added lines.
    pub(super) fn added(&self) -> impl Iterator<Item = &PatchLine<'a>> {
        self.hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .filter(|line| line.added)
    }

    /// The file's name without its folders.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

pub(super) fn read(text: &str) -> Patch<'_> {
    let mut diff = Patch::default();
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.peek().filter(|line| !line.starts_with("diff --git ")) {
        if let Some(name) = line.strip_prefix(LEFT_OUT) {
            diff.left_out.push(name.to_owned());
        } else if let Some((path, rest)) = line.strip_prefix(BINARY).and_then(|name| name.rsplit_once(" (")) {
            let bytes = rest.strip_suffix(" bytes)").and_then(|bytes| bytes.parse().ok());
            diff.binaries.extend(bytes.map(|bytes| (path.to_owned(), bytes)));
        }
        lines.next();
    }
    // How many lines of the old and the new version the hunk still holds; content is content, whatever it looks like.
    let (mut old, mut new, mut number) = (0_u32, 0_u32, 0_u32);
    for line in lines {
        if old > 0 || new > 0 {
            let Some(hunk) = diff.files.last_mut().and_then(|file| file.hunks.last_mut()) else {
                continue;
            };
            let added = line.starts_with('+');
            match line.as_bytes().first() {
                Some(b'-') => old = old.saturating_sub(1),
                Some(b'\\') => unend(hunk),
                _ => {
                    new = new.saturating_sub(1);
                    old = old.saturating_sub(u32::from(!added));
                    hunk.lines.push(PatchLine {
                        number,
                        raw: line.get(1..).unwrap_or_default(),
                        added,
                        unended: false,
                    });
                    number = number.saturating_add(1);
                }
            }
            continue;
        }
        if line.starts_with("diff --git ") {
            let path = both(line).unwrap_or_default();
            diff.files.push(file(path));
            continue;
        }
        let Some(file) = diff.files.last_mut() else {
            continue;
        };
        if let Some((at, counts)) = hunk(line) {
            (old, new) = counts;
            number = at;
            file.hunks.push(Hunk::default());
        } else if line.starts_with("new file mode ") {
            file.is_new = true;
        } else if line.starts_with("\\ ") {
            if let Some(hunk) = file.hunks.last_mut() {
                unend(hunk);
            }
        } else if let Some(name) = line
            .strip_prefix("+++ ")
            .or_else(|| line.strip_prefix("rename to "))
            && let Some(path) = side(name)
        {
            let is_new = file.is_new;
            *file = self::file(path);
            file.is_new = is_new;
        }
    }
    diff.files.retain(|file| !file.path.is_empty());
    diff
}

/// The marker of a missing line end belongs to the line before it; after a removed line it means the old version.
fn unend(hunk: &mut Hunk<'_>) {
    if let Some(line) = hunk.lines.last_mut() {
        line.unended = true;
    }
}

fn file<'a>(path: String) -> PatchFile<'a> {
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

/// `@@ -old,count +new,count @@`: where the new version begins, and both counts.
fn hunk(line: &str) -> Option<(u32, (u32, u32))> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |range: &str| match range.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((range.parse().ok()?, 1)),
    };
    let ((_, old), (start, new)) = (range(old)?, range(new)?);
    Some((start, (old, new)))
}

/// The path in `diff --git a/x b/x`, where both are the same.
fn both(line: &str) -> Option<String> {
    let names = line.strip_prefix("diff --git ")?;
    let half = names.len().checked_sub(1)? / 2;
    side(names.get(half + 1..)?)
}

/// The path in `b/x`, quoted or not; None: it is not there, or is none.
fn side(name: &str) -> Option<String> {
    let name = name.strip_suffix('\t').unwrap_or(name);
    let name = match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => unquoted(quoted),
        None => name.to_owned(),
    };
    if name == "/dev/null" {
        return None;
    }
    Some(name.strip_prefix("b/").unwrap_or(&name).to_owned())
}

/// A name as git quotes it, for people: escapes of control characters stay as they are.
fn unquoted(name: &str) -> String {
    name.replace("\\\"", "\"").replace("\\\\", "\\")
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
        || ["_test", "_tests", "_spec"].iter().any(|end| stem.ends_with(end))
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
        assert_eq!(paths, ["s p.rs", "new", "q\"", "gone"]);
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
    fn broken_diffs_are_read_as_far_as_they_go() {
        for text in [
            "",
            "\n",
            "diff --git ",
            "@@ -1 +1 @@\n+x",
            "diff --git a/x b/x\n@@ -1,9 +1,9 @@\n+x",
            "é",
            "diff --git é",
        ] {
            let diff = read(text);
            assert!(diff.files.len() <= 1, "{text}");
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
            assert_eq!(file(path.to_owned()).role, expected, "{path}");
        }
    }
}
