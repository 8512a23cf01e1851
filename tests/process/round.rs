//! A round: its files, its refusals, concurrent reviews, and signals.
//!
//! The reviewer reads a named pipe, so that a test decides when it answers.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Background, Project, ends, has, tree, wait_for};

/// The reviewer `held`, which waits for the test.
pub(crate) struct HeldReviewer {
    pipe: PathBuf,
}

impl HeldReviewer {
    pub(crate) fn new(project: &Project) -> Self {
        let pipe = project.home.join("a reviewer's pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let script = "echo reading >&2; cat -- \"$0\"";
        project.add_reviewer("held", "sh", &["-c", script, pipe.to_str().unwrap()]);
        Self { pipe }
    }

    /// Lets the reviewer print this and end.
    pub(crate) fn speak(&self, text: &str) {
        let pipe = std::fs::File::options().write(true).open(&self.pipe);
        pipe.unwrap().write_all(text.as_bytes()).unwrap();
    }
}

const FINDINGS: &str = "# Findings\n\n## High\n- line 1: no way back (write one)\n";

// --- findings ------------------------------------------------------------------------------------

#[test]
fn findings_file_has_the_seeds_form_and_twin() {
    let (project, id) = Project::reviewing(&[]);
    let ran = project.review(&id, "fake-findings").exits(0);
    has(&ran.out, "claudex: round 1 of 3, Senior-engineer review");
    has(&ran.out, "claudex: reviewer: fake-findings");
    has(&ran.out, "high=1 medium=1 low=1 (");
    let file = project.findings(&id, 1);
    let text = std::fs::read_to_string(&file).unwrap();
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(
        heads,
        ["# Round 1 findings", "## High", "## Medium", "## Low"]
    );
    assert_eq!(text.matches("\n- ").count(), 3);
    let twin = std::fs::read_to_string(file.with_extension("json")).unwrap();
    let twin: Value = serde_json::from_str(&twin).unwrap();
    let head = ["loop", "round", "verdict"].map(|key| &twin[key]);
    assert_eq!(head, [&json!(id), &json!(1), &json!("findings")]);
    let counts = ["state", "counts", file.to_str().unwrap()];
    project.answers(&counts, 0, "high=1 medium=1 low=1");

    // The findings are printed, also by a second call, which runs no review.
    ends(&ran.out, &text);
    let before = tree(&project.folder());
    let again = project.review(&id, "fake-clean").exits(0);
    has(&again.out, "reviewed before: high=1 medium=1 low=1");
    ends(&again.out, &text);
    assert_eq!(tree(&project.folder()), before);
}

// --- reviewer and subject ------------------------------------------------------------------------

#[test]
fn reviewer_flag_goes_before_environment_before_auto() {
    let (project, id) = Project::reviewing(&[]);
    let project = project.with("CLAUDEX_REVIEWER", "fake-could-not-run");
    let review = format!("review {id}");
    project.answers(&review, 5, "reviewer: fake-could-not-run");
    project.reviews(&id, "fake-unreadable", 5, "reviewer: fake-unreadable");
    let project = project.with("CLAUDEX_REVIEWER", " ");
    project.answers(&review, 0, "reviewer: lint (auto)");
}

#[test]
fn plan_that_cannot_be_read_is_not_reviewed() {
    let (project, id) = Project::reviewing(&[]);
    std::fs::remove_file(project.root.join("PLAN.md")).unwrap();
    let gone = "does not exist, so there is nothing to review";
    project.reviews(&id, "fake-clean", 1, gone);
    project.fire().blocked();
    project.fire().approved();
    project.plan(b"# Pl\xffn\n");
    project.reviews(&id, "fake-clean", 1, "is not UTF-8 text");
    project.fire().approved();
    assert_eq!(project.runs(&id), 0);
    project.plan("# Plan\n");
    project.review(&id, "fake-clean").exits(0);
}

#[test]
fn review_without_a_round_says_why() {
    let project = Project::new();
    let id = project.start(&[]);
    project.reviews(&id, "fake-clean", 1, "phase drafting");
    project.run(&format!("cancel {id}")).exits(0);
    project.reviews(&id, "fake-clean", 1, "phase cancelled");
    project.reviews(
        "20261122-010203-0a1b2c",
        "lint",
        1,
        "loop 20261122-010203-0a1b2c not found in",
    );
    for bad in ["../../../etc/passwd", "", "20261122-010203-0A1B2C"] {
        project.reviews(bad, "fake-clean", 2, "is not the id of a loop");
    }
    project.reviews(&id, "fake:clean", 2, "`fake:clean` is not a reviewer");
}

// --- concurrent reviews --------------------------------------------------------------------------

/// Starts a second review during a review. Returns it, and its output, once it follows the first.
fn follower(project: &Project, id: &str, flags: &str) -> (Background, impl Fn() -> String) {
    let log = project.home.join(format!("output {flags}"));
    let mut command = project.command(&format!("review {id} {flags}"));
    let out = std::fs::File::create(&log).unwrap();
    let child = command.stdout(out).stderr(Stdio::piped()).spawn();
    let logged = move || std::fs::read_to_string(&log).unwrap();
    wait_for("the second to attach", || {
        logged().contains("following the review that is running")
    });
    (Background::new(child.unwrap()), logged)
}

#[test]
fn second_review_follows_the_running_one() {
    let (project, id) = Project::reviewing(&[]);
    let held = HeldReviewer::new(&project);
    let first = project.background_review(&id, "--reviewer held");
    let others = ["--reviewer fake-clean", "--follow"];
    for flags in others {
        let (interrupted, _) = follower(&project, &id, flags);
        interrupted.signal("TERM");
        interrupted.end().exits(130).says("the review continues");
    }
    let followers = others.map(|flags| follower(&project, &id, flags));
    held.speak(FINDINGS);
    first.end().exits(0).says("high=1 medium=0 low=0");
    let printed = followers.map(|(follower, said)| {
        follower.end().exits(0);
        said()
    });
    for output in &printed {
        has(output, "claudex: reading\n");
        has(output, "high=1 medium=0 low=0 (");
    }
    has(&printed[0], "no way back");
    assert_eq!(project.runs(&id), 1, "one reviewer for all");
}

#[test]
fn follower_of_killed_review_may_run_it_again() {
    let (project, id) = Project::reviewing(&[]);
    let first = project.background_review(&id, "--reviewer fake-hang");
    let (second, _) = follower(&project, &id, "--reviewer fake-clean");
    drop(first);
    second.end().exits(3).says("run the same command again");
    project.review(&id, "fake-clean").exits(0);
}

#[test]
fn loop_cancelled_during_review_takes_no_findings() {
    let (project, id) = Project::reviewing(&[]);
    let held = HeldReviewer::new(&project);
    let review = project.background_review(&id, "--reviewer held");
    project.answers("status", 0, "(running)");
    project.run(&format!("cancel {id}")).exits(0);
    held.speak(FINDINGS);
    let ended = review.end().exits(0);
    ended.says("is cancelled: these findings do not count");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "cancelled");
}
