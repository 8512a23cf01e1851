//! The reviewed phase: by the user's command, and by the built-in reviewer.

use claudex_testkit::has;

use crate::support::Yard;

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
fn reported(reviewer: &str) -> (Yard, String) {
    let yard = Yard::new();
    yard.configure(&format!("reviewer = \"{reviewer}\"\n{CONFIGURATION}"));
    let id = yard.start("hotfix", "1.4.1");
    has(&yard.blocks(), "Deploy 1.4.1");
    has(&yard.blocks(), "1.4.1 goes back");
    yard.write("ROLLBACK.md", "# Rollback\n\nThe probe failed.\n");
    has(&yard.blocks(), &format!("release-train review {id}"));
    assert_eq!(yard.phase(), "reviewing");
    (yard, id)
}

/// Runs a review as the agent, and returns its output.
fn review(yard: &Yard, id: &str, code: i32) -> String {
    let output = yard.agent(&["review", id]);
    assert_eq!(output.code, Some(code), "{output:?}");
    output.out
}

#[test]
fn command_reviews_the_report_until_it_is_clean() {
    let (yard, id) = reported("second");
    has(&review(&yard, &id, 0), "The report names no cause");
    has(&yard.blocks(), "round 2 of 3");
    let cause = "# Rollback\n\nThe cause: a full disk.\n";
    yard.write("ROLLBACK.md", cause);
    review(&yard, &id, 0);
    // A change after the review makes it worthless.
    yard.write("ROLLBACK.md", "# Rollback\n\nNothing happened.\n");
    yard.blocks();
    assert_eq!(yard.phase(), "reviewing");
    yard.write("ROLLBACK.md", cause);
    review(&yard, &id, 0);
    has(
        &yard.approves(),
        "is aborted: It is back, and the report is complete",
    );
}

#[test]
fn missing_and_failing_reviews_end_as_declared() {
    let (yard, id) = reported("blind");
    // Without a review the agent is reminded once, and the train waits.
    has(&yard.blocks(), &format!("release-train review {id}"));
    has(&yard.approves(), "waits for");
    assert_eq!(yard.phase(), "reviewing");
    review(&yard, &id, 5);
    has(&yard.blocks(), "release-train review");
    review(&yard, &id, 5);
    let unread = "is aborted: It is back, and no reviewer could read the report";
    has(&yard.approves(), unread);
}
