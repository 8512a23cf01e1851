//! The reviewed phase: by the user's command, and by the built-in reviewer.

use claudex_testkit::has;

use crate::support::Project;

/// A reviewer that expects a cause, one that cannot read, and the commands of a burning canary.
const CONFIGURATION: &str = r#"
[commands.build]
program = "true"

[commands.probe]
program = "false"

[reviewers.second]
kind      = "command"
program   = "sh"
arguments = ["-c", """
if grep 'The cause:' >/dev/null; then printf '# Findings\\n\\nNo substantive findings.\\n'
else printf '# Findings\\n\\n## High\\n- The report names no cause (say what failed, and why)\\n'; fi
"""]

[reviewers.blind]
kind      = "command"
program   = "sh"
arguments = ["-c", "cat >/dev/null; echo 'I see nothing' >&2; exit 1"]
"#;

/// A train that rolled back, with its report written and review due. The user chose the reviewer.
fn reported(reviewer: &str) -> (Project, String) {
    let project = Project::new();
    project.configure(&format!("reviewer = \"{reviewer}\"\n{CONFIGURATION}"));
    let id = project.start("hotfix", "1.4.1");
    has(&project.blocks(), "one clean probe is");
    let message = project.blocks();
    has(&message, "1.4.1 goes back: a probe of the canary failed");
    has(&message, "`ROLLBACK.md`");
    has(&project.blocks(), "ROLLBACK.md");
    let waits = "waits for the agent, to write ROLLBACK.md";
    has(&project.approves(), waits);
    project.write("ROLLBACK.md", "# Rollback\n\nThe probe failed.\n");
    has(&project.blocks(), &format!("release-train review {id}"));
    assert_eq!(project.phase(), "reviewing");
    (project, id)
}

/// Runs a review as the agent, and returns its output.
fn review(project: &Project, id: &str, code: i32) -> String {
    let output = project.agent(&["review", id]);
    assert_eq!(output.code, Some(code), "{output:?}");
    output.out
}

#[test]
fn command_reviews_the_report_until_it_is_clean() {
    let (project, id) = reported("second");
    has(&review(&project, &id, 0), "The report names no cause");
    has(&project.blocks(), "round 2 of 3");
    let cause = "# Rollback\n\nThe cause: a full disk.\n";
    project.write("ROLLBACK.md", cause);
    review(&project, &id, 0);
    // A change after the review makes it worthless.
    project.write("ROLLBACK.md", "# Rollback\n\nNothing happened.\n");
    project.blocks();
    assert_eq!(project.phase(), "reviewing");
    project.write("ROLLBACK.md", cause);
    review(&project, &id, 0);
    has(
        &project.approves(),
        "is aborted: It is back, and the report is complete",
    );
}

#[test]
fn missing_and_failing_reviews_end_as_declared() {
    let (project, id) = reported("blind");
    // Without a review the agent is reminded once, and the train waits.
    has(&project.blocks(), &format!("release-train review {id}"));
    has(&project.approves(), "waits for");
    assert_eq!(project.phase(), "reviewing");
    review(&project, &id, 5);
    has(&project.blocks(), "release-train review");
    review(&project, &id, 5);
    let unread = "is aborted: It is back, and no reviewer could read the report";
    has(&project.approves(), unread);
}
