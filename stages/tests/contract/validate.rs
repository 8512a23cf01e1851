//! Files as a program checks them: artifacts below a project, and what is printed.

use std::fs;
use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use stages::contract::{Context, Outcome, Rule, read};

use crate::given::{EXAMPLE, of, place, reading, taken, with};

/// A project in which the artifacts of the example lie.
fn project() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path())
        .unwrap()
        .join("a project");
    for artifact in taken(EXAMPLE).artifacts {
        let path = root.join(artifact);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    (folder, root)
}

#[test]
fn artifacts_are_files_of_the_project() {
    let (_folder, root) = project();
    let context = Context {
        project: Some(&root),
        dispatch: None,
    };
    let found = |text: &str| -> Vec<_> {
        let reading = read(text.as_bytes(), &context);
        reading.findings.list.iter().map(place).collect()
    };
    assert_eq!(found(EXAMPLE), []);
    fs::write(root.join("../secret"), "").unwrap();
    symlink("../secret", root.join("out")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("requirements/working", root.join("in")).unwrap();
    symlink("nowhere", root.join("torn")).unwrap();
    let artifacts = "  - out\n  - up/secret\n  - in/QUESTIONS-001.md\n  - torn\n  - requirements\n  - none.md\n  - ./requirements/../a\n";
    let text = with(
        &of(1),
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
    assert_eq!(read(text.as_bytes(), &context).outcome, Outcome::Refused);
    let missing = with(
        EXAMPLE,
        "QUESTIONS-001.md\nsummary",
        "QUESTIONS-002.md\nsummary",
    );
    assert_eq!(found(&missing), [(Rule::ArtifactMissing, 11, 5)]);
    let Outcome::Taken(summary) = read(missing.as_bytes(), &context).outcome else {
        panic!("it is taken")
    };
    assert_eq!(summary.artifacts.len(), 4);
}

#[test]
fn strict_lines_name_every_broken_rule() {
    let text = with(&with(&of(1), "completed", "done"), "SETUP", "\"\\e[2J\"");
    let lines = reading(&text).findings.lines("bad.md");
    assert_eq!(
        lines,
        [
            "bad.md:4:9: error[unknown-status]: expected a status, found `done`; write `completed`, `needs-user-input` or `failed`",
            "bad.md:5:13: error[checkpoint-name]: expected `SETUP`, found `\\u{1b}[2J`; write the checkpoint of the stage",
        ]
    );
}

#[test]
fn lenient_lines_name_the_corrections() {
    let text = with(
        &of(4),
        "round_number: 1\n",
        "round_number: 1\n  timeout: maybe\n",
    );
    assert_eq!(
        reading(&text).findings.lenient_lines(),
        [
            "10:12: warning[flag-type]: `timeout` has an invalid type: string “maybe”, expected true or false: ignored"
        ]
    );
    assert_eq!(
        reading("").findings.lenient_lines(),
        ["1:1: error[no-frontmatter]: the file does not begin with a line `---`: a crash"]
    );
}
