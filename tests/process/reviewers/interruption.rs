//! Interrupted and killed reviews: the reviewer's processes, and the next review.

use super::{Setup, codex_clean};
use crate::support::{Background, has, is_alive, signal, wait_for};

/// Returns a script that starts a child in its group, notes both ids, and then runs `then`.
fn with_child(setup: &Setup, then: &str) -> String {
    let file = setup.note("processes").display().to_string();
    format!(
        "cat >/dev/null\nsleep 86400 </dev/null >/dev/null 2>&1 &\necho $! >'{file}'\necho $$ >>'{file}'\n{then}\n"
    )
}

fn noted_processes(setup: &Setup) -> Vec<u32> {
    let text = std::fs::read_to_string(setup.note("processes")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Starts a review with such a reviewer, and waits for both processes.
fn review_in_background(then: &str) -> (Setup, Background) {
    let setup = Setup::new();
    setup.install("codex", &with_child(&setup, then));
    let review = setup
        .project
        .spawn(&format!("review {} --reviewer codex", setup.id));
    wait_for("the reviewer and its child", || {
        noted_processes(&setup).len() == 2
    });
    (setup, review)
}

fn wait_for_end_of_group(setup: &Setup) {
    wait_for("the end of the group", || {
        !noted_processes(setup).iter().any(|pid| is_alive(*pid))
    });
}

#[test]
fn review_interrupted_ends_its_group_and_runs_again() {
    let (setup, review) = review_in_background("exec sleep 86400");
    review.signal("TERM");
    review.end().exits(130).says("the review was interrupted");
    wait_for_end_of_group(&setup);
    assert_eq!(setup.outcome(), "none");

    setup.install("codex", &codex_clean());
    setup.review("codex", "").exits(0);
}

#[test]
fn reviewer_ended_with_its_session_has_not_failed() {
    let heeds_it = "trap 'exit 143' TERM\nwhile :; do sleep 0.01; done";
    for reviewer_ends in ["exec sleep 86400", heeds_it] {
        let (setup, review) = review_in_background(reviewer_ends);
        // The reviewer ends before the review gets the signal.
        (noted_processes(&setup).into_iter()).for_each(|pid| signal(pid, "TERM"));
        wait_for_end_of_group(&setup);
        review.signal("TERM");
        review.end().exits(130).says("the review was interrupted");
        assert_eq!(setup.outcome(), "none", "{reviewer_ends}");
    }
}

#[test]
fn review_killed_runs_again_by_same_line() {
    let (setup, review) = review_in_background("exec sleep 86400");
    review.signal("KILL");
    review.end().exits(137);
    assert_eq!(setup.outcome(), "none");

    setup.install("codex", &codex_clean());
    let ran = setup.review("codex", "").exits(0);
    ran.says("no substantive findings");
    (noted_processes(&setup).into_iter()).for_each(|pid| signal(pid, "KILL"));
}

#[test]
fn reviewer_may_look_and_change_nothing() {
    let setup = Setup::new();
    let program = crate::support::program();
    let program = shlex::try_quote(program.to_str().unwrap()).unwrap();
    let id = &setup.id;
    let output = setup.note("told").display().to_string();
    let calls = [
        "review ID",
        "review ID --follow",
        "mark-done ID --rejecting mine",
        "cancel ID",
        "resume ID",
        "start plan another one",
        "rollback --yes",
    ];
    let mut script = String::new();
    for call in calls.map(|call| call.replace("ID", id)) {
        script += &format!(
            "{program} {call} </dev/null >>'{output}' 2>&1; echo \"status $?\" >>'{output}'\n"
        );
    }
    script += &format!("{program} status >>'{output}' 2>&1\n{}", codex_clean());
    setup.install("codex", &script);
    let before = setup.project.state(id);
    setup.review("codex", "").exits(0);
    let output = std::fs::read_to_string(setup.note("told")).unwrap();
    for refusal in ["status 1\n", "a reviewer or drafter may not run"] {
        assert_eq!(output.matches(refusal).count(), calls.len(), "{output}");
    }
    has(&output, "reviewing");
    assert_eq!(setup.project.state(id), before);
}
