//! The Stop hook, phase by phase, as a client sees it: what it answers, and what it does to the loop.

mod support;

use std::time::{Duration, SystemTime};

use serde_json::json;
use support::{Project, Stop, feed, tree, wait_for};

/// The lines with which an agent ends the rounds.
fn assert_has_mark_done_lines(reason: &str, id: &str) {
    let line = |text: String| reason.lines().any(|line| line.trim() == text);
    assert!(
        line(format!("bash ${{CLAUDE_PLUGIN_ROOT}}/scripts/mark-done.sh {id}")),
        "the seed's line, with the variable as it is: {reason}"
    );
    assert!(line(format!("claudex-loop mark-done {id}")), "{reason}");
}

// --- the way of a plan -------------------------------------------------------------------------------------------

#[test]
fn a_plan_goes_from_drafting_through_its_rounds_to_done() {
    let project = Project::new();
    let id = project.start(&["--rounds", "2"]);
    assert_eq!(project.field(&id, "phase"), "drafting");

    let waiting = project.fire().blocked();
    assert!(
        waiting.starts_with("### Claudex is waiting for `PLAN.md`\n"),
        "{waiting}"
    );
    assert_eq!(project.field(&id, "phase"), "drafting");

    project.plan("# Plan\n");
    let first = project.fire().blocked();
    assert!(
        first.starts_with("### Claudex round 1 of 2, Senior-engineer review\n"),
        "{first}"
    );
    assert!(!first.contains("Previous round"), "there was none: {first}");
    assert!(first.contains(&format!("{id}-runner.sh")) && first.contains("findings-round-1.md"));
    assert_has_mark_done_lines(&first, &id);
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.review(&id, "fake:findings").exits(0);
    project.plan("# Plan\n\n## Changelog\n- a way back\n");
    let second = project.fire().blocked();
    assert!(
        second.starts_with("### Claudex round 2 of 2, Security and data-integrity review\n"),
        "{second}"
    );
    assert!(
        second.contains("\n**Previous round:** high=1 medium=1 low=1\n"),
        "{second}"
    );
    assert_has_mark_done_lines(&second, &id);

    project.review(&id, "fake:clean").exits(0);
    let summary = project.fire().blocked();
    assert!(
        summary.starts_with("### Claudex plan loop complete ✓\n"),
        "{summary}"
    );
    assert!(
        summary.contains(
            "**Findings by round:**\n\n\
             - Round 1 (Senior-engineer review): high=1 medium=1 low=1\n\
             - Round 2 (Security and data-integrity review): high=0 medium=0 low=0\n\n"
        ),
        "{summary}"
    );
    assert!(
        summary
            .contains("**Print this summary to the user so they see the loop landed.** Then end your turn."),
        "{summary}"
    );
    assert_eq!(project.field(&id, "phase"), "summarizing");
    assert_eq!(project.field(&id, "decision_signal"), "no-material-findings");

    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    for gone in ["-runner.sh", "-prompt.txt", ".lock"] {
        assert!(!project.folder().join(format!("{id}{gone}")).exists(), "{gone}");
    }
    let log = std::fs::read_to_string(project.folder().join("log")).unwrap();
    assert!(
        log.contains(&format!("{id} finish: summarizing -> done")),
        "{log}"
    );

    let before = tree(&project.root);
    assert_eq!(project.fire().approved(), "", "a loop that is over is over");
    assert_eq!(tree(&project.root), before);
}

#[test]
fn mark_done_sets_the_signal_alone_and_the_next_stop_sums_up() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    project.review(&id, "fake:low").exits(0);
    project.run(&["mark-done", &id]).exits(0).says(&format!(
        "Loop {id} marked as done. Stop hook will deliver the summary on next fire."
    ));
    assert_eq!(project.field(&id, "phase"), "reviewing");
    assert_eq!(project.field(&id, "decision_signal"), "no-material-findings");

    let summary = project.fire().blocked();
    assert!(summary.contains("plan loop complete") && summary.contains("Rounds run: 1 of 3"));
    let admitted = summary.lines().filter(|line| line.starts_with("**Note:**"));
    assert!(
        admitted.eq(["**Note:** A fake reviewer, which exists for tests, gave a verdict of this loop: nobody read the plan then."]),
        "nothing else to admit: {summary}"
    );
    assert_eq!(project.field(&id, "phase"), "summarizing");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn the_summary_tells_the_time_that_the_loop_took() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:clean").exits(0);
    let summary = project.fire().blocked();
    let (_, after) = summary.split_once("Total time: ").expect("the total time");
    let (time, _) = after.split_once(".\n").expect("a sentence");
    assert!(
        time.strip_suffix('s')
            .is_some_and(|n| n.rsplit(' ').next().unwrap().parse::<u64>().is_ok()),
        "`Ns` or `Nm Ns`: {time}"
    );
}

#[test]
fn max_rounds_sums_up_with_three_options() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake:findings").exits(0);
    project.plan("# Plan, revised\n");
    let summary = project.fire().blocked();
    assert!(
        summary.starts_with("### Claudex plan loop stopped at max rounds (round 1 of 1)\n"),
        "{summary}"
    );
    assert!(
        summary.contains("- Round 1 (Senior-engineer review): high=1 medium=1 low=1\n"),
        "{summary}"
    );
    assert!(
        summary.contains(project.findings(&id, 1).to_str().unwrap()),
        "the final findings: {summary}"
    );
    let options: Vec<_> = summary
        .lines()
        .filter(|line| line.starts_with(['1', '2', '3', '4']))
        .collect();
    assert!(
        matches!(options[..], [manually, again, accept] if manually.contains("Revise manually")
            && again.contains("more rounds") && accept.contains("known-incomplete")),
        "{options:?}"
    );
    assert!(summary.contains("--rounds 2"), "{summary}");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    assert_eq!(project.field(&id, "decision_signal"), "max-reached");
}

#[test]
fn max_rounds_sets_signal_and_phase_in_one_change() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake:findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    let journal = project.journal(&id);
    let change = journal
        .iter()
        .find(|entry| entry["fields"]["decision_signal"] == "max-reached")
        .expect("a change that set the signal");
    assert_eq!(change["what"], "revise");
    assert_eq!(
        (&change["from"], &change["to"], &change["fields"]["phase"]),
        (&json!("reviewing"), &json!("summarizing"), &json!("summarizing"))
    );
}

#[test]
fn round_never_exceeds_max_rounds() {
    for reviewed in [true, false] {
        let (project, id) = Project::reviewing(&["--rounds", "2"]);
        for stop in 0..8 {
            if reviewed && project.field(&id, "phase") == "reviewing" {
                project.review(&id, "fake:findings").exits(0);
                project.plan(format!("# Plan {stop}\n"));
            }
            project.fire();
        }
        for entry in project.journal(&id) {
            if let Some(round) = entry["fields"]["round"].as_u64() {
                assert!(round <= 2, "{entry}");
            }
        }
        assert_eq!(
            project.field(&id, "phase"),
            if reviewed { "done" } else { "reviewing" },
            "only reviews bring a loop through its rounds"
        );
    }
}

#[test]
fn a_last_round_without_a_review_is_summed_up_as_having_no_findings_file() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    let summary = project.fire().blocked();
    assert!(
        summary.contains("stopped at max rounds (round 1 of 1)"),
        "{summary}"
    );
    assert!(
        summary.contains("\n\n- Round 1 (Senior-engineer review): no findings file\n\n"),
        "{summary}"
    );
    assert_eq!(project.field(&id, "decision_signal"), "max-reached");
    assert_eq!(project.field(&id, "phase"), "summarizing");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn a_round_whose_findings_file_went_missing_says_so_in_the_table() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake:findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    std::fs::remove_file(project.findings(&id, 1)).unwrap();
    project.review(&id, "fake:low").exits(0);
    project.plan("# Plan, revised again\n");
    let summary = project.fire().blocked();
    assert!(
        summary.contains(
            "\n\n- Round 1 (Senior-engineer review): no findings file\n\
             - Round 2 (Security and data-integrity review): high=0 medium=0 low=1\n\n"
        ),
        "{summary}"
    );
}

#[test]
fn each_round_has_its_persona_and_the_runner_names_it() {
    let (project, id) = Project::reviewing(&["--rounds", "4"]);
    let labels = [
        "Senior-engineer review",
        "Security and data-integrity review",
        "Ops and SRE review",
        "Ops and SRE review",
    ];
    for (round, label) in (1..).zip(labels) {
        let runner = std::fs::read_to_string(project.folder().join(format!("{id}-runner.sh"))).unwrap();
        let head: Vec<_> = runner.lines().take_while(|line| line.starts_with('#')).collect();
        assert!(
            head.iter().any(|line| line.contains("mode plan")
                && line.contains(&format!("round {round} of 4"))
                && line.contains(label)),
            "{head:?}"
        );
        project.review(&id, "fake:findings").exits(0);
        project.plan(format!("# Plan {round}\n"));
        let reason = project.fire().blocked();
        if let Some(next) = labels.get(round) {
            assert!(
                reason.starts_with(&format!("### Claudex round {} of 4, {next}\n", round + 1)),
                "{reason}"
            );
        }
    }
}

#[test]
fn the_runner_line_of_the_block_runs_as_it_stands() {
    let (project, id) = Project::reviewing(&[]);
    project.run(&["resume", &id]).exits(0);
    let reason = project.fire().blocked();
    let line = reason
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("bash ") && line.contains("-runner.sh"))
        .unwrap();
    let mut shell = project.shell("sh", &["-c", line]);
    shell
        .current_dir(&project.home)
        .env("CLAUDEX_REVIEWER", "fake:findings");
    support::Ran::of(shell.output().unwrap())
        .exits(0)
        .says("high=1 medium=1 low=1");
    assert!(project.findings(&id, 1).exists());
}

// --- when drafting ends ------------------------------------------------------------------------------------------

#[test]
fn drafting_goes_on_while_the_old_plan_is_untouched() {
    let project = Project::new();
    project.plan("# The old plan\n");
    support::age(&project.root.join("PLAN.md"), Duration::from_secs(60));
    let id = id_with_note(&project);
    let reason = project.fire().blocked();
    assert!(reason.contains("waiting for `PLAN.md`"), "{reason}");
    assert_eq!(project.field(&id, "phase"), "drafting");
}

fn id_with_note(project: &Project) -> String {
    let ran = project
        .run(&["start", "plan", "topic"])
        .exits(0)
        .says("existing PLAN.md");
    support::id_of(&ran)
}

#[test]
fn drafting_ends_with_a_plan_of_other_content() {
    let project = Project::new();
    project.plan("# The old plan\n");
    let id = id_with_note(&project);
    project.plan("# A new plan\n");
    // As a checkout or an editor may leave it: older than the loop.
    support::age(&project.root.join("PLAN.md"), Duration::from_secs(3600));
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn drafting_ends_with_the_old_plan_saved_once_more() {
    let project = Project::new();
    project.plan("# The old plan\n");
    let id = id_with_note(&project);
    let file = std::fs::File::options()
        .append(true)
        .open(project.root.join("PLAN.md"))
        .unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(5))
        .unwrap();
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn drafting_ends_at_once_from_a_draft() {
    let project = Project::new();
    project.plan("# The draft\n");
    support::age(&project.root.join("PLAN.md"), Duration::from_secs(3600));
    let id = project.start(&["--from-draft"]);
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
    assert_eq!(project.field(&id, "from_draft"), "true");
}

#[test]
fn an_empty_file_is_no_plan() {
    for empty in ["", "\n \t\r\n"] {
        let project = Project::new();
        let id = project.start(&[]);
        project.plan(empty);
        project.fire().blocked();
        assert_eq!(project.field(&id, "phase"), "drafting");
    }
}

// --- reminders ---------------------------------------------------------------------------------------------------

#[test]
fn a_reminder_comes_once_whichever_turn_it_is() {
    for (first, second) in [(false, true), (true, false), (false, false), (true, true)] {
        let project = Project::new();
        let id = project.start(&[]);
        let stop = |active: bool| project.fire_with(json!({"session_id": "s1", "stop_hook_active": active}));
        stop(first).blocked();
        assert_eq!(project.field(&id, "reminders"), "1");
        let line = stop(second).approved();
        assert!(
            line.contains(&id)
                && line.contains("PLAN.md")
                && line.contains(&format!("claudex-loop resume {id}"))
                && line.contains(&format!("claudex-loop cancel {id}")),
            "what the loop waits for, and the ways on: {line}"
        );
    }
}

#[test]
fn stop_hook_active_is_no_brake() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    for round in 1..=3 {
        project.review(&id, "fake:findings").exits(0);
        project.plan(format!("# Plan {round}\n"));
        project
            .fire_with(json!({"session_id": "s1", "stop_hook_active": true}))
            .blocked();
    }
    assert_eq!(project.field(&id, "phase"), "summarizing");
}

#[test]
fn a_round_without_a_review_is_reminded_of_once_and_then_waits() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    let reason = project.fire().blocked();
    assert!(
        reason.starts_with("### Claudex round 1 of 2 is waiting for its review\n"),
        "{reason}"
    );
    assert_has_mark_done_lines(&reason, &id);
    let before = project.state(&id);
    for _ in 0..3 {
        let line = project.fire().approved();
        assert!(line.contains("waits for the review of round 1 of 2"), "{line}");
    }
    assert_eq!(project.state(&id), before, "bare stops advance nothing");
}

#[test]
fn an_edited_plan_does_not_buy_another_reminder_and_an_advance_does() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.fire().blocked();
    project.plan("# Plan, edited without a review\n");
    project.fire().approved();
    project.review(&id, "fake:findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    assert_eq!(project.field(&id, "round"), "2");
    assert_eq!(project.field(&id, "reminders"), "0");
}

#[test]
fn a_loop_that_was_resumed_is_reminded_once_more() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire().blocked();
    project.fire().approved();
    project.run(&["resume", &id]).exits(0);
    project.fire().blocked();
    project.fire().approved();
}

// --- evidence ----------------------------------------------------------------------------------------------------

#[test]
fn a_clean_round_needs_no_mark_done() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    project.review(&id, "fake:clean").exits(0);
    let summary = project.fire().blocked();
    assert!(summary.contains("plan loop complete"), "{summary}");
    assert_eq!(project.changes(&id).last().unwrap(), "accept");
}

#[test]
fn low_findings_alone_can_be_marked_done_without_a_reason() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:low").exits(0);
    project.mark_done(&id, None);
    assert!(project.fire().blocked().contains("high=0 medium=0 low=1"));
}

#[test]
fn mark_done_without_a_review_is_refused_and_changes_nothing() {
    let (project, id) = Project::reviewing(&[]);
    let before = (project.state(&id), project.journal(&id));
    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("round 1 was not reviewed yet");
    project
        .run(&["mark-done", &id, "--rejecting", "no time"])
        .exits(1);
    assert_eq!((project.state(&id), project.journal(&id)), before);
}

#[test]
fn mark_done_over_open_findings_needs_a_reason_that_the_summary_shows() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:findings").exits(0);
    let before = project.state(&id);
    for without in [&["mark-done", &id][..], &["mark-done", &id, "--rejecting", "  "]] {
        project.run(without).exits(1).says("--rejecting");
    }
    assert_eq!(project.state(&id), before);

    project.mark_done(&id, Some("the table is\nread-only; `x` | \"y\""));
    let summary = project.fire().blocked();
    assert!(summary.contains("plan loop complete"), "{summary}");
    assert!(
        summary.contains("rejected: the table is read-only; `x` | \"y\""),
        "{summary}"
    );
}

#[test]
fn a_plan_edited_after_mark_done_is_admitted_in_the_summary() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:low").exits(0);
    project.mark_done(&id, None);
    project.plan("# Plan, changed behind the reviewer's back\n");
    let summary = project.fire().blocked();
    assert!(
        summary.contains("PLAN.md was changed after it was settled; that change was not reviewed."),
        "{summary}"
    );
}

#[test]
fn a_revised_plan_cannot_be_marked_done_before_it_is_reviewed() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:findings").exits(0);
    project.plan("# Plan, revised\n");
    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("PLAN.md was changed");
    assert_eq!(project.field(&id, "decision_signal"), "none");
}

#[test]
fn an_untouched_plan_is_not_settled_by_the_next_personas_clean_round() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    project.review(&id, "fake:findings").exits(0);
    project.fire().blocked();
    assert_eq!(
        project.field(&id, "round"),
        "2",
        "the findings were read, nothing was done"
    );

    project.review(&id, "fake:clean").exits(0);
    project.run(&["mark-done", &id]).exits(1).says("--rejecting");
    let reason = project.fire().blocked();
    assert!(reason.contains("round 3 of 3"), "not complete: {reason}");

    project.review(&id, "fake:clean").exits(0);
    let summary = project.fire().blocked();
    assert!(summary.contains("stopped at max rounds"), "{summary}");
}

#[test]
fn a_clean_round_of_a_plan_that_was_edited_meanwhile_goes_on_to_the_next() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake:clean").exits(0);
    project.plan("# Another plan\n");
    let reason = project.fire().blocked();
    assert!(reason.contains("round 2 of 2"), "{reason}");
    assert_eq!(project.field(&id, "round"), "2");
}

#[test]
fn with_optional_evidence_the_seeds_sequences_run_literally_and_the_summary_says_so() {
    let project = Project::new().with("CLAUDEX_EVIDENCE", "optional");
    let id = project.start(&["--rounds", "3"]);
    project.plan("# Plan\n");
    project.fire().blocked();
    project.mark_done(&id, None);
    assert_eq!(project.field(&id, "phase"), "reviewing");
    let summary = project.fire().blocked();
    assert!(
        summary.contains("plan loop complete") && summary.contains("Findings by round"),
        "{summary}"
    );
    assert!(
        summary.contains("Not reviewed (CLAUDEX_EVIDENCE=optional): round 1."),
        "{summary}"
    );
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    project.start(&[]);
}

#[test]
fn with_optional_evidence_bare_stops_reach_max_rounds() {
    let project = Project::new().with("CLAUDEX_EVIDENCE", "optional");
    let id = project.start(&["--rounds", "2"]);
    project.plan("# Plan\n");
    project.fire().blocked();
    assert!(project.fire().blocked().contains("round 2 of 2"));
    let summary = project.fire().blocked();
    assert!(
        summary.contains("stopped at max rounds (round 2 of 2)"),
        "{summary}"
    );
    assert!(
        summary.contains("Not reviewed (CLAUDEX_EVIDENCE=optional): round 1, 2."),
        "{summary}"
    );
    assert_eq!(project.field(&id, "decision_signal"), "max-reached");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn only_the_exact_word_opens_the_gate() {
    for typo in ["Optional", "yes", "1", "", "optional-ish"] {
        let (project, id) = Project::reviewing(&[]);
        let project = project.with("CLAUDEX_EVIDENCE", typo);
        project.run(&["mark-done", &id]).exits(1);
    }
}

// --- reviews that fail -------------------------------------------------------------------------------------------

#[test]
fn a_reviewer_that_fails_is_retried_once_then_noted_then_ends_the_loop() {
    for (failure, exit) in [("fake:could-not-run", 5), ("fake:unreadable", 5)] {
        let (project, id) = Project::reviewing(&[]);
        project.review(&id, failure).exits(exit);
        let reason = project.fire().blocked();
        assert!(
            reason.starts_with("### Claudex round 1 of 3: the reviewer gave no verdict\n"),
            "{reason}"
        );
        assert!(reason.contains(&format!("{id}-runner.sh")), "{reason}");
        assert_eq!(project.field(&id, "failures"), "1");

        project.review(&id, failure).exits(exit);
        let note = project.fire().approved();
        assert!(
            note.contains(&id) && note.contains("gave no verdict") && note.contains("resume"),
            "the turn ends, and says why: {note}"
        );
        assert_eq!(project.field(&id, "failures"), "2");
        assert_eq!(project.field(&id, "phase"), "reviewing");

        project.review(&id, failure).exits(exit);
        let note = project.fire().approved();
        assert!(note.contains("errored") && note.contains(&id), "{note}");
        assert_eq!(project.field(&id, "phase"), "errored");
        assert_eq!(project.field(&id, "failures"), "3");
        assert!(!project.folder().join(format!("{id}-runner.sh")).exists());
        project.start(&[]);
    }
}

#[test]
fn the_cause_of_a_failure_stands_in_the_block() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:could-not-run").exits(5);
    let reason = project.fire().blocked();
    assert!(reason.contains("the fake reviewer was told to fail"), "{reason}");
}

#[test]
fn a_failed_run_is_counted_once() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:could-not-run").exits(5);
    project.fire().blocked();
    project.fire().blocked();
    project.fire().approved();
    project.fire().approved();
    assert_eq!(
        project.field(&id, "failures"),
        "1",
        "further stops count no failure"
    );
    assert_eq!(
        project
            .changes(&id)
            .iter()
            .filter(|what| *what == "retry")
            .count(),
        1
    );
}

#[test]
fn a_failure_is_neither_clean_nor_findings() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:unreadable").exits(5);
    project.run(&["mark-done", &id]).exits(1).says("gave no verdict");
    assert!(!project.findings(&id, 1).exists());
    project.fire().blocked();
    assert_eq!(project.field(&id, "round"), "1");
}

#[test]
fn a_review_that_works_after_a_failure_counts() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:could-not-run").exits(5);
    project.fire().blocked();
    project.review(&id, "fake:findings").exits(0);
    project.plan("# Plan, revised\n");
    let reason = project.fire().blocked();
    assert!(reason.contains("round 2 of 3"), "{reason}");
    assert_eq!(
        project.field(&id, "failures"),
        "0",
        "an advance resets the counter"
    );
}

// --- while a review runs -----------------------------------------------------------------------------------------

#[test]
fn a_stop_while_the_review_runs_says_once_how_to_follow_it() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, &["--reviewer", "fake:hang"]);
    let reason = project.fire().blocked();
    assert!(
        reason.starts_with("### Claudex round 1 of 3: the review is still running\n"),
        "{reason}"
    );
    assert!(reason.contains(&format!("{id}-runner.sh")), "{reason}");
    assert!(project.fire().approved().contains("waits for the review"));
    project.run(&["mark-done", &id]).exits(1).says("still running");
    drop(review);
}

#[test]
fn a_stop_is_approved_while_the_client_itself_watches_the_runner() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, &["--reviewer", "fake:hang"]);
    let before = project.state(&id);
    for command in [
        format!("bash '/somewhere else/{id}-runner.sh'"),
        format!("claudex-loop review {id}"),
    ] {
        let task = json!({"id": "b1", "status": "running", "command": command});
        project
            .fire_with(json!({"session_id": "s1", "background_tasks": [task]}))
            .approved();
    }
    assert_eq!(project.state(&id), before, "no reminder was used up");

    let other = json!({"id": "b2", "command": "npm run dev"});
    project
        .fire_with(json!({"session_id": "s1", "background_tasks": [other]}))
        .blocked();
    drop(review);
}

#[test]
fn a_plan_in_the_hands_of_a_background_helper_is_not_driven() {
    for drafted in [false, true] {
        let project = Project::new();
        let id = project.start(&[]);
        if drafted {
            project.plan("# Plan\n");
            project.fire().blocked();
            project.review(&id, "fake:findings").exits(0);
        } else {
            project
                .fire_with(json!({"session_id": "s1", "background_tasks": [{"type": "subagent"}]}))
                .approved();
        }
        let changes = project.changes(&id);
        let helper =
            json!({"id": "a9", "type": "subagent", "status": "running", "description": "revises PLAN.md"});
        project
            .fire_with(json!({"session_id": "s1", "background_tasks": [helper]}))
            .approved();
        assert_eq!(
            project.changes(&id),
            changes,
            "no round and no reminder was used up"
        );
        let done = json!({"id": "a9", "type": "subagent", "status": "completed"});
        project
            .fire_with(json!({"session_id": "s1", "background_tasks": [done]}))
            .blocked();
        assert_eq!(project.changes(&id).len(), changes.len() + 1);
    }
}

#[test]
fn a_stop_needs_no_other_program() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:findings").exits(0);
    let mut stop = project.command(&["stop"]);
    stop.env("PATH", "/nowhere");
    let ran = feed(stop, br#"{"session_id":"s1"}"#).exits(0);
    assert!(ran.out.contains("### Claudex round 2 of 3"), "{}", ran.out);
}

#[test]
fn a_reason_for_rejecting_nothing_is_no_admission() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:clean").exits(0);
    project.mark_done(&id, Some("nothing was there"));
    let summary = project.fire().blocked();
    assert!(summary.contains("plan loop complete"), "{summary}");
    assert!(!summary.contains("were rejected"), "{summary}");
}

#[test]
fn a_listed_runner_that_does_not_run_any_more_holds_nothing_up() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake:clean").exits(0);
    let task = json!({"command": format!("bash {id}-runner.sh")});
    project
        .fire_with(json!({"session_id": "s1", "background_tasks": [task]}))
        .blocked();
    assert_eq!(project.field(&id, "phase"), "summarizing");
}

// --- what drives nothing -----------------------------------------------------------------------------------------

#[test]
fn a_subagents_stop_drives_nothing() {
    let project = Project::new();
    let id = project.start(&[]);
    project.plan("# Plan\n");
    let before = tree(&project.root);
    for input in [
        json!({"session_id": "s1", "hook_event_name": "SubagentStop"}),
        json!({"session_id": "s1", "agent_id": "a1"}),
    ] {
        assert_eq!(project.fire_with(input).approved(), "");
    }
    assert_eq!(tree(&project.root), before);
    assert_eq!(project.field(&id, "phase"), "drafting");
}

#[test]
fn a_reviewers_own_stop_drives_nothing() {
    let project = Project::new();
    project.start(&[]);
    project.plan("# Plan\n");
    let before = tree(&project.root);
    let project = project.with("CLAUDEX_REVIEWER_CHILD", "1");
    assert_eq!(project.fire().approved(), "");
    assert_eq!(tree(&project.root), before);
}

#[test]
fn whatever_comes_on_stdin_the_answer_is_one_decision() {
    let project = Project::new();
    project.start(&[]);
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = format!("{{\"x\":\"{}\"}}", "a".repeat(3 * 1024 * 1024));
    let inputs: [&[u8]; 10] = [
        b"",
        b"not json at all",
        b"[]",
        b"null",
        b"{\"session_id\": 5, \"cwd\": [], \"background_tasks\": 1, \"agent_id\": {}",
        b"\xff\xfe{}",
        b"{\"session_id\": \"\\ud800\"}",
        b"{} trailing",
        nested.as_bytes(),
        huge.as_bytes(),
    ];
    for input in inputs {
        let ran = feed(project.command(&["stop"]), input);
        Stop::read(&ran);
        let shown = String::from_utf8_lossy(&input[..input.len().min(60)]).into_owned();
        assert_eq!(ran.err, "", "nothing on stderr: {shown}");
    }
    for approved in [&b"not json at all"[..], b""] {
        Stop::read(&feed(project.command(&["stop"]), approved)).approved();
    }
}

#[test]
fn a_hook_whose_stdin_stays_open_answers_all_the_same() {
    let project = Project::new();
    project.start(&[]);
    let mut command = project.command(&["stop"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"{\"session_id\":\"s1\"}").unwrap();
    wait_for("an answer without an end of the input", || {
        child.try_wait().unwrap().is_some()
    });
    drop(stdin);
    Stop::read(&support::Ran::of(child.wait_with_output().unwrap())).blocked();
}

#[test]
fn a_reason_stays_short_and_whole_whatever_the_topic_is() {
    let project = Project::new();
    let topic = "ä`\"\\\u{1b}[31m\u{202e}${X} ".repeat(1500);
    let ran = project.run(&["start", "plan", &topic]).exits(0);
    let id = support::id_of(&ran);
    let reason = project.fire().blocked();
    assert!(
        !reason.contains('\u{1b}') && !reason.contains('\u{202e}'),
        "control and bidi characters are taken out"
    );
    project.plan("# Plan\n");
    assert_has_mark_done_lines(&project.fire().blocked(), &id);
}

#[test]
fn a_hook_whose_stdin_says_nothing_answers_all_the_same() {
    let project = Project::new();
    let id = project.start(&[]);
    let mut command = project.command(&["stop"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    wait_for("an answer without input", || child.try_wait().unwrap().is_some());
    drop(stdin);
    let note = Stop::read(&support::Ran::of(child.wait_with_output().unwrap())).approved();
    assert!(note.contains("input"), "{note}");
    assert_eq!(project.changes(&id), ["start"]);
}

// --- at once -----------------------------------------------------------------------------------------------------

#[test]
fn stops_at_once_take_each_edge_once() {
    let project = Project::new();
    let id = project.start(&[]);
    project.plan("# Plan\n");
    let input = json!({"session_id": "s1", "cwd": project.root, "hook_event_name": "Stop"}).to_string();
    let answers: Vec<Stop> = std::thread::scope(|scope| {
        let stops: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| feed(project.command(&["stop"]), input.as_bytes())))
            .collect();
        stops
            .into_iter()
            .map(|stop| Stop::read(&stop.join().unwrap()))
            .collect()
    });
    let changes = project.changes(&id);
    let whole = ["start", "bind", "begin", "remind"];
    assert!(
        changes.len() >= 3
            && whole.iter().zip(&changes).all(|(one, other)| one == other)
            && changes.len() <= 4,
        "{changes:?}"
    );
    let blocks = answers.iter().filter(|answer| answer.reason.is_some()).count();
    assert_eq!(
        blocks,
        changes.len() - 2,
        "who took an edge says so, and nobody else"
    );
    assert_eq!(project.quarantine(), []);
}

#[test]
fn one_failure_can_be_made_the_last() {
    let project = Project::new().with("CLAUDEX_MAX_FAILURES", "1");
    let id = project.start(&[]);
    project.plan("# Plan\n");
    project.fire().blocked();
    project.review(&id, "fake:crash").exits(5);
    assert!(project.fire().approved().contains("errored"));
    assert_eq!(project.field(&id, "phase"), "errored");
    assert_eq!(project.field(&id, "failures"), "1");
}
