//! Files as a program checks them: artifacts below a project, and what is printed.

use std::fs;
use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use stages::contract::{Context, Outcome, Rule, read, report, validate};

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
        reading.findings.list().iter().map(place).collect()
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
fn files_are_validated_each_with_all_that_is_wrong() {
    let (_folder, root) = project();
    let file = |name: &str, text: &str| {
        let path = root.join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let good = file("good.md", EXAMPLE);
    let bad = file(
        "bad.md",
        &with(&with(&of(1), "completed", "done"), "SETUP", "\"\\e[2J\""),
    );
    let absent = root.join("absent.md");
    let validated = validate(
        &[good.clone(), bad.clone(), absent.clone(), root.clone()],
        &root,
    );
    let valid: Vec<bool> = validated.iter().map(|one| one.valid).collect();
    assert_eq!(valid, [true, false, false, false]);
    assert_eq!(validated[0].lines(), [format!("{good}: valid")]);
    assert_eq!(
        validated[1].lines(),
        [
            format!(
                "{bad}:4:9: error[unknown-status]: expected a status, found `done`; write `completed`, `needs-user-input` or `failed`"
            ),
            format!(
                "{bad}:5:13: error[checkpoint-name]: expected `SETUP`, found `\\u{{1b}}[2J`; write the checkpoint of the stage"
            ),
        ]
    );
    assert!(
        validated[2].lines()[0].starts_with(&format!("{absent}: ")),
        "{:?}",
        validated[2].lines()
    );
    let json = serde_json::to_value(&validated).unwrap();
    assert_eq!(
        json[0],
        serde_json::json!({"file": good, "valid": true, "findings": []})
    );
    assert_eq!(
        json[1]["findings"][0],
        serde_json::json!({
            "code": "unknown-status",
            "severity": "error",
            "start": {"line": 4, "column": 9},
            "end": {"line": 4, "column": 13},
            "message": "expected a status, found `done`",
            "help": "write `completed`, `needs-user-input` or `failed`",
        })
    );
}

#[test]
fn a_report_says_what_was_taken_and_what_is_missing() {
    let text = with(
        &of(4),
        "round_number: 1\n",
        "round_number: 1\n  completion_rate: 80\n  timeout: maybe\n",
    );
    let json = serde_json::to_value(report(&reading(&text))).unwrap();
    assert_eq!(json["outcome"], "taken");
    assert_eq!(
        json["summary"]["flags"],
        serde_json::json!({"round_number": 1, "completion_rate": 0.8, "next_action": "proceed"})
    );
    assert_eq!(json["context"], "Nothing.");
    let finding = &json["findings"][0];
    assert_eq!(
        [&finding["code"], &finding["severity"], &finding["done"]],
        ["flag-type", "warning", "ignored"]
    );
    let reading = reading(&text);
    let lines = report(&reading).lines();
    assert_eq!(
        lines,
        [
            "11:12: warning[flag-type]: `timeout` has an invalid type: string “maybe”, expected true or false: ignored"
        ]
    );
    let crash = crate::given::reading("");
    assert_eq!(
        report(&crash).lines(),
        ["1:1: error[no-frontmatter]: the file does not begin with a line `---`: a crash"]
    );
    let json = serde_json::to_value(report(&crash)).unwrap();
    assert_eq!(
        (&json["outcome"], json.get("summary")),
        (&"crash".into(), None)
    );
}
