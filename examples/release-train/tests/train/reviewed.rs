//! The phase that is reviewed: by a command of the person's, and by the reviewer that is built in.

use claudex_testkit::has;

use crate::support::Yard;

/// A reviewer that wants to read a cause, one that cannot read, and what a burning canary needs.
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

/// A train that went back, with its report written and its review asked for. The person chose the reviewer.
fn reported(reviewer: &str) -> (Yard, String) {
    let yard = Yard::new();
    yard.configure(&format!("reviewer = \"{reviewer}\"\n{CONFIGURATION}"));
    let id = yard.start("hotfix", "1.4.1");
    assert!(yard.blocks().contains("Deploy 1.4.1"));
    assert!(yard.blocks().contains("1.4.1 goes back"));
    std::fs::write(
        yard.path.join("ROLLBACK.md"),
        "# Rollback\n\nThe probe failed.\n",
    )
    .unwrap();
    let said = yard.blocks();
    has(&said, &format!("release-train review {id}"));
    assert_eq!(yard.phase(), "reviewing");
    (yard, id)
}

/// A review that the agent runs; what it printed.
fn review(yard: &Yard, id: &str, code: i32) -> String {
    let said = yard.agent(&["review", id]);
    let printed = said.out + &said.err;
    assert_eq!(said.code, Some(code), "{printed}");
    printed
}

#[test]
fn a_command_reviews_the_report_until_it_finds_nothing() {
    let (yard, id) = reported("second");
    assert!(review(&yard, &id, 0).contains("The report names no cause"));
    let said = yard.blocks();
    has(&said, "round 2 of 3");
    std::fs::write(
        yard.path.join("ROLLBACK.md"),
        "# Rollback\n\nThe cause: a full disk.\n",
    )
    .unwrap();
    review(&yard, &id, 0);
    let said = yard.approves();
    has(&said, "is aborted: It is back, and the report is complete");
}

#[test]
fn a_report_that_was_mended_after_its_review_is_not_settled_by_it() {
    let (yard, id) = reported("second");
    std::fs::write(
        yard.path.join("ROLLBACK.md"),
        "# Rollback\n\nThe cause: a full disk.\n",
    )
    .unwrap();
    review(&yard, &id, 0);
    std::fs::write(
        yard.path.join("ROLLBACK.md"),
        "# Rollback\n\nNothing happened.\n",
    )
    .unwrap();
    let (_, said) = yard.stop();
    assert_eq!(yard.phase(), "reviewing", "{said}");
}

#[test]
fn the_built_in_reviewer_reads_it_three_times_and_then_the_train_is_put_away() {
    let (yard, id) = reported("lint");
    for round in 1..=3 {
        let printed = review(&yard, &id, 0);
        has(&printed, &format!("Round {round} findings"));
        has(&printed, "## High");
        if round < 3 {
            assert!(yard.blocks().contains(&format!("round {} of 3", round + 1)));
        }
    }
    let said = yard.approves();
    has(
        &said,
        "is aborted: It is back, and the report has gaps after three rounds",
    );
}

#[test]
fn without_a_review_the_agent_is_reminded_once_and_the_train_waits() {
    let (yard, id) = reported("second");
    assert!(
        yard.blocks()
            .contains(&format!("release-train review {id}"))
    );
    let said = yard.approves();
    has(&said, "waits for");
    assert_eq!(yard.phase(), "reviewing");
}

#[test]
fn a_reviewer_that_fails_twice_ends_the_train() {
    let (yard, id) = reported("blind");
    review(&yard, &id, 5);
    assert!(yard.blocks().contains("release-train review"));
    review(&yard, &id, 5);
    let said = yard.approves();
    has(
        &said,
        "is aborted: It is back, and no reviewer could read the report",
    );
}
