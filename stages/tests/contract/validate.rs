//! The checks of a program: artifacts below a project, and the printed lines.

use std::fs;
use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use stages::contract::{Finding, Rule, read};

use crate::support::{EXAMPLE, completed, place, read_summary, reading, with};

/// Returns a project with the artifacts of the example.
fn project() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path())
        .unwrap()
        .join("a project");
    for artifact in read_summary(EXAMPLE).artifacts {
        let path = root.join(artifact);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    (folder, root)
}

#[test]
fn artifacts_are_files_of_the_project() {
    let (_folder, root) = project();
    let read = |text: &str| read(text.as_bytes(), Some(&root), None);
    let found = |text: &str| -> Vec<_> { read(text).findings.iter().map(place).collect() };
    assert_eq!(found(EXAMPLE), []);
    fs::write(root.join("../secret"), "").unwrap();
    symlink("../secret", root.join("out")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("requirements/working", root.join("in")).unwrap();
    symlink("nowhere", root.join("torn")).unwrap();
    let artifacts = "  - out\n  - up/secret\n  - in/QUESTIONS-001.md\n  - torn\n  - requirements\n  - none.md\n  - ./requirements/../a\n";
    let text = with(
        &completed(1),
        "artifacts_written: []\n",
        &format!("artifacts_written:\n{artifacts}"),
    );
    let expected = [
        (Rule::ArtifactOutside, 7, 5),
        (Rule::ArtifactOutside, 8, 5),
        (Rule::ArtifactMissing, 10, 5),
        (Rule::ArtifactMissing, 11, 5),
        (Rule::ArtifactMissing, 12, 5),
        (Rule::ArtifactOutside, 13, 5),
    ];
    assert_eq!(found(&text), expected);
    assert!(read(&text).is_refused);
    let missing = with(
        EXAMPLE,
        "QUESTIONS-001.md\nsummary",
        "QUESTIONS-002.md\nsummary",
    );
    assert_eq!(found(&missing), [(Rule::ArtifactMissing, 11, 5)]);
    assert_eq!(read(&missing).summary.unwrap().artifacts.len(), 4);
}

#[test]
fn lines_name_rules_and_corrections() {
    let text = with(
        &with(&completed(1), "completed", "done"),
        "SETUP",
        "\"\\e[2J\"",
    );
    let strict: Vec<String> = reading(&text).findings.iter().map(Finding::line).collect();
    assert_eq!(
        strict,
        [
            "4:9: error[unknown-status]: `status` must be `completed`, `needs-user-input` or `failed`; found `done`",
            "5:13: error[checkpoint-name]: `checkpoint` must be that of the stage; expected SETUP, found `\\u{1b}[2J`",
        ]
    );
    let text = with(
        &completed(4),
        "number: 1\n",
        "number: 1\n  timeout: maybe\n",
    );
    assert_eq!(
        reading(&text).lenient_lines(),
        [
            "10:12: warning[flag-type]: a flag must have its type; `timeout` has an invalid type: string “maybe”, expected true or false: ignored"
        ]
    );
    let text = with(&completed(1), "  round_number", "\tround_number");
    let tab = reading(&text).findings.first().map(Finding::line);
    assert_eq!(
        tab.as_deref(),
        Some("9:1: error[bad-yaml]: the keys must be YAML; a tab is where YAML expects spaces")
    );
    assert_eq!(
        reading("").lenient_lines(),
        [
            "1:1: error[no-frontmatter]: the keys must be between a first line `---` and a second one: a crash"
        ]
    );
}
