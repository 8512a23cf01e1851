//! The added lines of a unified diff.

use std::path::Path;

use diffy::Line;
use diffy::patch_set::{FileOperation, FilePatch, ParseOptions, PatchSet};

/// The beginning of a line of the head about a file whose changes are left out.
const LEFT_OUT: &str = "# left out: ";

/// The kind of a file, judged by its path. Checks index their severities by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Code,
    Test,
    /// A text for people, or a file that a program wrote.
    Other,
}

#[derive(Debug)]
pub(crate) struct PatchFile {
    pub(crate) path: String,
    pub(crate) role: Role,
    /// The extension of the file's name, or an empty string.
    pub(crate) extension: String,
    /// The added lines without their line ends, with their numbers in the new version, from 1.
    pub(crate) lines: Vec<(u32, String)>,
}

/// Reads a diff as git writes it, below a head of lines that begin with `#`. Returns its files, and
/// the parts that were not read: files that the head leaves out, and broken diffs.
pub(crate) fn read(text: &str) -> (Vec<PatchFile>, Vec<String>) {
    let is_diff = |line: &&str| line.starts_with("diff --git ");
    let head = text.lines().take_while(|line| !is_diff(line));
    let left_out = head.filter_map(|line| line.strip_prefix(LEFT_OUT));
    let mut unread: Vec<String> = left_out.map(str::to_owned).collect();
    let mut files = Vec::new();
    if text.lines().any(|line| is_diff(&line)) {
        for file in PatchSet::parse(text, ParseOptions::gitdiff()) {
            match file {
                Ok(file) => files.extend(read_file(&file)),
                Err(error) => unread.push(format!("a broken diff: {error}")),
            }
        }
    }
    (files, unread)
}

/// Returns the added lines of a file, or `None` for one that is deleted or binary.
fn read_file(file: &FilePatch<'_, str>) -> Option<PatchFile> {
    let path = match file.operation() {
        FileOperation::Create(path)
        | FileOperation::Modify { modified: path, .. }
        | FileOperation::Rename { to: path, .. }
        | FileOperation::Copy { to: path, .. } => path,
        FileOperation::Delete(_) => return None,
    };
    let path = path.strip_prefix("b/").unwrap_or(path).to_owned();
    let mut lines = Vec::new();
    for hunk in file.patch().as_text()?.hunks() {
        let mut number = u32::try_from(hunk.new_range().start()).unwrap_or(u32::MAX);
        for line in hunk.lines() {
            if let Line::Insert(text) = line {
                let text = text.trim_end_matches(['\n', '\r']).to_owned();
                lines.push((number, text));
            }
            if !matches!(line, Line::Delete(_)) {
                number = number.saturating_add(1);
            }
        }
    }
    let extension = Path::new(&path).extension().unwrap_or_default();
    Some(PatchFile {
        role: role(&path),
        extension: extension.to_string_lossy().into_owned(),
        path,
        lines,
    })
}

fn role(path: &str) -> Role {
    const TEST_FOLDERS: &str = "/test/ /tests/ /spec/ /specs/ /__tests__/ /fixtures/ /e2e/";
    const TEST_NAMES: &str = "/test_ /test. /tests. /conftest. _test. _tests. _spec. .test. .spec.";
    const OTHER_FOLDERS: &str = "/docs/ /doc/ /examples/ /vendor/ /node_modules/ /dist/";
    const OTHER_NAMES: &str = ".md .mdx .rst .adoc .txt .lock .map .snap .sum .min.js -lock.json";
    let path = format!("/{}", path.to_ascii_lowercase());
    let name = &path[path.rfind('/').unwrap_or(0)..];
    let contains = |text: &str, parts: &str| parts.split(' ').any(|part| text.contains(part));
    if contains(&path, TEST_FOLDERS) || contains(name, TEST_NAMES) {
        Role::Test
    } else if contains(&path, OTHER_FOLDERS)
        || OTHER_NAMES.split(' ').any(|end| name.ends_with(end))
    {
        Role::Other
    } else {
        Role::Code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_have_numbers_of_the_new_version() {
        let text = "# head\n# left out: x (+1 -0 lines)\n\ndiff --git a/s p.rs b/s p.rs\n\
            index 1..2 100644\n--- a/s p.rs\t\n+++ b/s p.rs\t\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\
            @@ -10 +10,2 @@ fn x\n ten\n++++ eleven\r\n\\ No newline at end of file\n\
            diff --git \"a/q\\\"\" \"b/q\\\"\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/q\\\"\"\n\
            @@ -0,0 +1 @@\n+x\ndiff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n\
            +++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n\
            @@ -1,9 +1,9 @@\n a\n+b\n";
        let (files, unread) = read(text);
        let of_file = |file: &PatchFile| {
            let path = file.path.clone();
            let lines = file.lines.clone().into_iter();
            lines.map(move |(number, text)| (path.clone(), number, text))
        };
        let lines: Vec<(String, u32, String)> = files.iter().flat_map(of_file).collect();
        assert_eq!(
            lines,
            [
                ("s p.rs", 2, "B"),
                ("s p.rs", 11, "+++ eleven"),
                ("q\"", 1, "x")
            ]
            .map(|(path, number, text)| (path.to_owned(), number, text.to_owned()))
        );
        assert_eq!(unread.len(), 2, "{unread:?}");
        assert_eq!(unread[0], "x (+1 -0 lines)");
    }

    #[test]
    fn role_follows_path() {
        for (path, expected) in [
            ("src/main.rs", Role::Code),
            ("src/contest.rs", Role::Code),
            ("tests/a/b.py", Role::Test),
            ("web/app.spec.ts", Role::Test),
            ("pkg/x_test.go", Role::Test),
            ("README.md", Role::Other),
            ("docs/conf.py", Role::Other),
            ("Cargo.lock", Role::Other),
            ("dist/app.js", Role::Other),
        ] {
            assert_eq!(role(path), expected, "{path}");
        }
    }
}
