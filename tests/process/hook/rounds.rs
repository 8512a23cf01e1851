//! The way of a plan, from the first block to the summary.

use super::assert_has_mark_done_lines;
use crate::support::{Project, tree};
use claudex_testkit::has;
use serde_json::json;

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
    has(&first, "findings-round-1.md");
    assert_has_mark_done_lines(&first, &id);
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan\n\n## Changelog\n- a way back\n");
    let second = project.fire().blocked();
    assert!(
        second.starts_with("### Claudex round 2 of 2, Security and data-integrity review\n"),
        "{second}"
    );
    // The first lines are all of it that a person sees at a glance.
    let findings = "\n**Previous round:** high=1 medium=1 low=1\n\
         - High: The plan has no way back when the migration fails half way (describe the rollback and rehearse it)\n\
         - Medium: Nobody is named";
    has(&second, findings);
    assert_has_mark_done_lines(&second, &id);

    project.review(&id, "fake-clean").exits(0);
    let summary = project.fire().blocked();
    assert!(
        summary.starts_with("### Claudex plan loop complete ✓\n"),
        "{summary}"
    );
    has(
        &summary,
        "**Findings by round:**\n\n\
             - Round 1 (Senior-engineer review): high=1 medium=1 low=1\n\
             - Round 2 (Security and data-integrity review): high=0 medium=0 low=0\n\n",
    );
    has(
        &summary,
        "**Print this summary to the user so they see the loop landed.** Then end your turn.",
    );
    assert_eq!(project.field(&id, "phase"), "summarizing");
    assert_eq!(
        project.field(&id, "decision_signal"),
        "no-material-findings"
    );

    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    for gone in ["-runner.sh", "-prompt.txt", ".lock"] {
        assert!(
            !project.folder().join(format!("{id}{gone}")).exists(),
            "{gone}"
        );
    }
    let log = std::fs::read_to_string(project.folder().join("log")).unwrap();
    has(&log, &format!("{id} finish: summarizing -> done"));

    let before = tree(&project.root);
    assert_eq!(project.fire().approved(), "", "a loop that is over is over");
    assert_eq!(tree(&project.root), before);
}

#[test]
fn mark_done_sets_the_signal_alone_and_the_next_stop_sums_up() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    project.review(&id, "fake-low").exits(0);
    project.run(&["mark-done", &id]).exits(0).says(&format!(
        "Loop {id} marked as done. Stop hook will deliver the summary on next fire."
    ));
    assert_eq!(project.field(&id, "phase"), "reviewing");
    assert_eq!(
        project.field(&id, "decision_signal"),
        "no-material-findings"
    );

    let summary = project.fire().blocked();
    assert!(summary.contains("plan loop complete"));
    let line = "\n\nEnded after 1 of 3 rounds. Not reviewed by: Security and data-integrity, Ops and SRE. \
                To have them review it: `/claudex:more 2`\n";
    has(&summary, line);
    assert!(
        !summary.contains("**Note:**"),
        "nothing to admit: {summary}"
    );
    assert_eq!(project.field(&id, "phase"), "summarizing");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn max_rounds_sets_signal_and_phase_in_one_change() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-findings").exits(0);
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
        (
            &json!("reviewing"),
            &json!("summarizing"),
            &json!("summarizing")
        )
    );
}

#[test]
fn a_round_whose_findings_file_went_missing_says_so_in_the_table() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    std::fs::remove_file(project.findings(&id, 1)).unwrap();
    project.review(&id, "fake-low").exits(0);
    project.plan("# Plan, revised again\n");
    let summary = project.fire().blocked();
    has(
        &summary,
        "\n\n- Round 1 (Senior-engineer review): no findings file\n\
             - Round 2 (Security and data-integrity review): high=0 medium=0 low=1\n\n",
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
        let runner =
            std::fs::read_to_string(project.folder().join(format!("{id}-runner.sh"))).unwrap();
        let head: Vec<_> = runner
            .lines()
            .take_while(|line| line.starts_with('#'))
            .collect();
        assert!(
            head.iter().any(|line| line.contains("mode plan")
                && line.contains(&format!("round {round} of 4"))
                && line.contains(label)),
            "{head:?}"
        );
        project.review(&id, "fake-findings").exits(0);
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
    let project = project.with("CLAUDEX_REVIEWER", "fake-findings");
    let mut shell = project.shell("sh", &["-c", line]);
    shell.current_dir(&project.home);
    crate::support::Ran::of(shell.output().unwrap())
        .exits(0)
        .says("high=1 medium=1 low=1");
    assert!(project.findings(&id, 1).exists());
}

#[test]
fn findings_keep_their_ids_and_a_loop_that_goes_nowhere_ends_and_says_so() {
    let (project, id) = Project::reviewing(&["--rounds", "9"]);
    let mut said = String::new();
    for round in 1..=5 {
        project.review(&id, "fake-findings").exits(0);
        project.plan(format!("# Plan, revised {round} times\n"));
        said = project.fire().blocked();
    }
    assert!(
        said.starts_with("### Claudex plan loop stalled (round 5 of 9)\n"),
        "the persona of round 3 said the same in rounds 4 and 5: {said}"
    );
    has(&said, "**Findings across rounds:** 3 carried\n");
    assert_eq!(project.field(&id, "decision_signal"), "stalled");
    let file = std::fs::read_to_string(project.findings(&id, 5)).unwrap();
    has(&file, "  - F1, found since round 1\n");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn a_plan_that_was_changed_after_its_last_clean_review_is_admitted() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-clean").exits(0);
    project.plan("# Plan, changed though nothing was found\n");
    let summary = project.fire().blocked();
    assert!(
        summary.starts_with("### Claudex plan loop stopped at max rounds"),
        "{summary}"
    );
    let admitted = "**Note:** PLAN.md changed since it was reviewed.";
    has(&summary, admitted);
}

#[test]
fn findings_on_a_plan_that_nobody_touched_are_named_where_the_last_round_was_clean() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    project.review(&id, "fake-clean").exits(0);
    let summary = project.fire().blocked();
    assert!(
        summary.starts_with("### Claudex plan loop stopped at max rounds"),
        "{summary}"
    );
    let admitted = "**Note:** Round 1 (Senior-engineer review) found high=1 medium=1 low=1; the plan is unchanged since, so they are open.";
    has(&summary, admitted);
}

#[test]
fn a_last_round_without_a_review_says_of_its_findings_that_they_are_not_there() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    let reminder = project.fire().blocked();
    has(&reminder, "the next stop ends this last round");
    assert!(
        !reminder.contains("the loop waits"),
        "it will not: {reminder}"
    );
    let summary = project.fire().blocked();
    assert!(!project.findings(&id, 1).exists());
    assert!(
        summary.contains("\nThe final round has no review that counts (its findings would be in `"),
        "it says of the file that it is not there: {summary}"
    );
    assert!(!summary.contains("\n\n\n"), "{summary}");
    has(&summary, "1. Revise manually: edit `PLAN.md`.");
}

#[test]
fn a_person_who_grants_rounds_after_a_stall_gets_them() {
    let (project, id) = Project::reviewing(&["--rounds", "9"]);
    for round in 1..=5 {
        project.review(&id, "fake-findings").exits(0);
        project.plan(format!("# Plan, revised {round} times\n"));
        project.fire().blocked();
    }
    assert_eq!(project.field(&id, "decision_signal"), "stalled");
    project.answers(&["more", &id, "--rounds", "2"], 0, "round 6 of 7");
    // Whoever went on in spite of a stall is not stopped by the next one: the rounds are bounded as they are.
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised once more\n");
    let block = project.fire().blocked();
    assert!(block.starts_with("### Claudex round 7 of 7, "), "{block}");
}
