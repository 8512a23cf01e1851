//! Permissions, the output and exit codes of user commands, and bad input.

use claudex_testkit::has;

use crate::support::Project;

#[test]
fn wrong_calls_exit_with_their_codes() {
    let project = Project::new();
    for arguments in [
        &["start"] as &[&str],
        &["start", "tram", "1.0"],
        &["use", "1.0"],
        &["start", "train", " \t"],
        &["start", "train", "--soak", "many", "1.0"],
        &["start", "train", "--version", "1.0", "1.1"],
        &["start", "train", "--speed", "9", "1.0"],
        &["abort"],
        &[],
        &["approve", "../../etc/passwd"],
    ] {
        project.refuses(arguments, 2, "");
    }
    let id = project.start("train", "1.0");
    project.refuses(&["start", "train", "1.1"], 1, &id);
    project.refuses(&["start", "train", "1.1"], 1, "it waits for ");
    project.refuses(&["approve"], 1, "cannot run ‘approve’ in phase boarding");
    project.refuses(&["approve"], 1, "possible in phase boarding:");
    let unknown = "20200101-000000-000000";
    project.refuses(
        &["status", unknown],
        1,
        &format!("loop {unknown} not found in"),
    );
}

#[test]
fn status_shows_the_train() {
    let (project, id) = Project::approving("1.0");
    let printed = project.done(&["status", &id]);
    for line in [
        format!("loop:      {id}"),
        "phase:     approving (The user decides whether everyone gets it)".to_owned(),
        "version:   1.0".to_owned(),
        format!("    release-train approve {id} (in Claude Code: /release-train:approve {id})"),
        format!("    release-train answer {id} \"LABEL\""),
        "commands:  approve (user only), withdraw (user only), resume (user only), abort"
            .to_owned(),
    ] {
        assert!(
            printed.lines().any(|printed| printed == line),
            "{line}\n{printed}"
        );
    }
}

#[test]
fn version_as_a_path_leads_nowhere_else() {
    // A question shows it on one line.
    let (project, _) = Project::approving("../../x\ny");
    assert_ne!(project.answer("../../x y", "Roll out"), "");
    project.blocks();
    has(&project.approves(), "waits for");
}
