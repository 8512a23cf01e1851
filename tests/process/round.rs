//! A round from outside: outcomes, exit codes and files, limits, two who ask at once, and signals.
//!
//! A reviewer reads a named pipe here, so that a test decides when it speaks.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{Background, Project, descendants, is_alive, tree, wait_for};
use serde_json::Value;

/// The reviewer `held`, which says nothing before the test lets it.
struct Held {
    pipe: PathBuf,
}

impl Held {
    fn new(project: &Project) -> Self {
        let pipe = project.home.join("a reviewer's pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        project.add_reviewer("held", "cat", &["--", pipe.to_str().unwrap()]);
        Self { pipe }
    }

    /// Lets the reviewer say this, and end.
    fn speak(&self, text: &str) {
        let mut pipe = std::fs::File::options()
            .write(true)
            .open(&self.pipe)
            .unwrap();
        pipe.write_all(text.as_bytes()).unwrap();
    }
}

const FINDINGS: &str = "# Findings\n\n## High\n- line 1: no way back (write one)\n";

// --- outcomes ----------------------------------------------------------------------------------------------------

#[test]
fn the_findings_are_printed_where_the_review_ran() {
    let (project, id) = Project::reviewing(&[]);
    let ran = project.review(&id, "fake-findings").exits(0);
    let file = std::fs::read_to_string(project.findings(&id, 1)).unwrap();
    assert!(ran.out.ends_with(&file), "{}", ran.out);
    let again = project.review(&id, "fake-findings").exits(0);
    assert!(
        again.out.ends_with(&file),
        "also when it was reviewed before: {}",
        again.out
    );
}

#[test]
fn each_outcome_has_its_exit_code_its_note_and_only_a_verdict_leaves_findings() {
    let verdict = |outcome| (0, outcome, true);
    let failure = |outcome| (5, outcome, false);
    for (reviewer, (code, outcome, files)) in [
        ("fake-clean", verdict("clean")),
        ("fake-findings", verdict("findings")),
        ("fake-low", verdict("findings")),
        ("fake-could-not-run", failure("could-not-run")),
        ("codex", failure("could-not-run")),
        ("fake-crash", failure("could-not-run")),
        ("fake-unreadable", failure("unreadable")),
        ("fake-empty", failure("unreadable")),
    ] {
        let (project, id) = Project::reviewing(&[]);
        let before = project.state(&id);
        project.review(&id, reviewer).exits(code);
        let journal = project.journal(&id);
        let [began, ended] = &journal[journal.len() - 2..] else {
            panic!("{journal:?}")
        };
        assert_eq!(
            (&began["note"], &ended["note"]),
            (&"run-began".into(), &"run-ended".into())
        );
        assert_eq!(began["data"]["run"], ended["data"]["run"]);
        assert_eq!(ended["data"]["outcome"], outcome, "{reviewer}");
        assert_eq!(
            project.findings(&id, 1).exists(),
            files,
            "{reviewer}: a findings file only with a verdict"
        );
        assert_eq!(
            project.findings(&id, 1).with_extension("json").exists(),
            files,
            "{reviewer}"
        );
        assert_eq!(
            project.state(&id),
            before,
            "{reviewer}: a review changes no field of the loop"
        );
    }
}

#[test]
fn findings_are_written_in_the_seeds_form_with_a_twin_that_says_the_same() {
    let (project, id) = Project::reviewing(&[]);
    project
        .review(&id, "fake-findings")
        .exits(0)
        .says("claudex: round 1 of 3, Senior-engineer review")
        .says("claudex: reviewer: fake-findings")
        .says("high=1 medium=1 low=1. Findings: ");
    let text = std::fs::read_to_string(project.findings(&id, 1)).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[0], "# Round 1 findings");
    let sections: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("## "))
        .collect();
    assert_eq!(sections, [&"## High", &"## Medium", &"## Low"]);
    assert_eq!(
        lines.iter().filter(|line| line.starts_with("- ")).count(),
        3
    );

    let twin = std::fs::read_to_string(project.findings(&id, 1).with_extension("json")).unwrap();
    let twin: Value = serde_json::from_str(&twin).unwrap();
    assert_eq!(
        (&twin["loop"], &twin["round"]),
        (&id.as_str().into(), &1.into())
    );
    assert_eq!(twin["verdict"], "findings");
    project
        .run(&[
            "state",
            "counts",
            project.findings(&id, 1).to_str().unwrap(),
        ])
        .exits(0)
        .says("high=1 medium=1 low=1");
}

// --- who reviews, and what ---------------------------------------------------------------------------------------

#[test]
fn the_flag_goes_before_the_environment_and_that_before_auto() {
    let (project, id) = Project::reviewing(&[]);
    let project = project.with("CLAUDEX_REVIEWER", "fake-could-not-run");
    project.answers(&["review", &id], 5, "reviewer: fake-could-not-run");
    project
        .review(&id, "fake-unreadable")
        .exits(5)
        .says("reviewer: fake-unreadable");
    let project = project.with("CLAUDEX_REVIEWER", " ");
    project.answers(&["review", &id], 0, "reviewer: lint (auto)");
}

#[test]
fn what_cannot_be_reviewed_is_said_and_leaves_no_run() {
    let (project, id) = Project::reviewing(&[]);
    let plan = project.root.join("PLAN.md");
    std::fs::remove_file(&plan).unwrap();
    project
        .review(&id, "fake-clean")
        .exits(1)
        .says("does not exist, so there is nothing to review");
    project.plan(b"# Pl\xffn\n");
    project
        .review(&id, "fake-clean")
        .exits(1)
        .says("is not UTF-8 text");
    assert_eq!(project.runs(&id), 0);
    project.plan("# Plan\n");
    project.review(&id, "fake-clean").exits(0);
}

#[test]
fn a_stop_meets_a_plan_that_is_gone_or_no_text_and_nobody_is_trapped() {
    let (project, id) = Project::reviewing(&[]);
    std::fs::remove_file(project.root.join("PLAN.md")).unwrap();
    project.fire().blocked();
    project.fire().approved();
    project.plan(b"\xff\xfe\n");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn where_nothing_is_to_be_reviewed_the_command_says_why() {
    let project = Project::new();
    let id = project.start(&[]);
    project
        .review(&id, "fake-clean")
        .exits(1)
        .says("phase drafting");
    project.run(&["cancel", &id]).exits(0);
    project
        .review(&id, "fake-clean")
        .exits(1)
        .says("phase cancelled");
    project
        .review("20261122-010203-0a1b2c", "fake-clean")
        .exits(1)
        .says("there is no loop");
    for bad in ["../../../etc/passwd", "", "20261122-010203-0A1B2C"] {
        project
            .review(bad, "fake-clean")
            .exits(2)
            .says("is not the id of a loop");
    }
    for nobody in ["nobody", "fake:clean"] {
        let ran = project.review(&id, nobody).exits(2);
        ran.says(&format!("`{nobody}` is no reviewer"));
    }
    for bad in ["0s", "5", "5x", "-1s", "169h"] {
        project.run(&["review", &id, "--timeout", bad]).exits(2);
        project
            .run(&["review", &id, "--idle-timeout", bad])
            .exits(2);
    }
}

#[test]
fn a_round_that_was_reviewed_is_not_reviewed_twice() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let before = tree(&project.folder());
    project
        .review(&id, "fake-clean")
        .exits(0)
        .says("reviewed before: high=1 medium=1 low=1");
    assert_eq!(project.runs(&id), 1);
    assert_eq!(tree(&project.folder()), before);
}

// --- two at once -------------------------------------------------------------------------------------------------

/// Starts another review of a round whose review runs, waits until it follows that one, and gives it and what it prints.
fn follower(project: &Project, id: &str, arguments: &[&str]) -> (Background, impl Fn() -> String) {
    let log = project.home.join("second");
    let child = project
        .command(&[&["review", id], arguments].concat())
        .stdout(std::fs::File::create(&log).unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let second = Background::of(child);
    let said = move || std::fs::read_to_string(&log).unwrap();
    wait_for("the second to attach", || {
        said().contains("is running already; following it")
    });
    (second, said)
}

#[test]
fn who_comes_second_follows_the_review_that_runs_and_both_get_its_findings() {
    let (project, id) = Project::reviewing(&[]);
    let held = Held::new(&project);
    let first = project.background_review(&id, &["--reviewer", "held"]);
    let (second, said) = follower(&project, &id, &["--reviewer", "fake-clean"]);
    held.speak(FINDINGS);
    first.end().exits(0).says("high=1 medium=0 low=0");
    second.end().exits(0);
    let said = said();
    assert!(
        said.contains("claudex: high=1 medium=0 low=0. Findings: "),
        "{said}"
    );
    assert!(
        said.contains("no way back"),
        "and it saw the progress: {said}"
    );
    assert_eq!(project.runs(&id), 1, "one reviewer for both");
}

#[test]
fn who_follows_a_review_that_is_killed_is_told_and_the_same_line_takes_it_up() {
    let (project, id) = Project::reviewing(&[]);
    let first = project.background_review(&id, &["--reviewer", "fake-hang"]);
    let (second, _) = follower(&project, &id, &["--reviewer", "fake-clean"]);
    drop(first);
    second.end().exits(3).says("run the same command again");
    project.review(&id, "fake-clean").exits(0);
}

#[test]
fn a_follower_that_is_interrupted_does_not_end_the_review() {
    let (project, id) = Project::reviewing(&[]);
    let held = Held::new(&project);
    let first = project.background_review(&id, &["--reviewer", "held"]);
    let (second, _) = follower(&project, &id, &[]);
    second.signal("TERM");
    second.end().exits(130);
    held.speak(FINDINGS);
    first.end().exits(0);
    assert_eq!(project.runs(&id), 1);
}

#[test]
fn status_says_that_a_review_runs_and_a_cancelled_loop_takes_no_findings() {
    let (project, id) = Project::reviewing(&[]);
    let held = Held::new(&project);
    let review = project.background_review(&id, &["--reviewer", "held"]);
    project.run(&["status"]).exits(0).says("(running)");
    project.run(&["cancel", &id]).exits(0);
    held.speak(FINDINGS);
    review.end();
    assert_eq!(project.field(&id, "phase"), "cancelled");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "cancelled");
}

// --- limits and signals ------------------------------------------------------------------------------------------

#[test]
fn a_reviewer_that_takes_too_long_or_is_silent_is_ended_and_could_not_run() {
    for (flag, word) in [("--timeout", "300ms"), ("--idle-timeout", "300ms")] {
        let (project, id) = Project::reviewing(&[]);
        let child = project
            .command(&["review", &id, "--reviewer", "fake-hang", flag, word])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let review = Background::of(child);
        let mut seen = Vec::new();
        wait_for("its run to end", || {
            seen.extend(descendants(review.id()));
            project
                .journal(&id)
                .iter()
                .any(|entry| entry["note"] == "run-ended")
        });
        review.end().exits(5).says("could not run");
        assert!(
            !seen.iter().any(|pid| is_alive(*pid)),
            "its processes are gone"
        );
        assert_eq!(
            project.journal(&id).last().unwrap()["data"]["outcome"],
            "could-not-run"
        );
        project.fire().blocked();
        assert_eq!(project.field(&id, "failures"), "1");
    }
}
