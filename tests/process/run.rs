//! The main job, `claudex-loop run PLAN.md`: its exit codes, its JSON, its drafter, and that no hook drives its loop.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{
    Background, Project, Ran, Stop, age, descendants, is_alive, thorough_plan, tree, wait_for,
};
use claudex_testkit::has;
use serde_json::{Value, json};

const THIN: &str = "# Move the queue\n\nWe will move it soon.\n";

/// Runs with `--json`: the outcome, where there is one.
#[track_caller]
fn job(project: &Project, arguments: &[&str], code: i32) -> Option<Value> {
    let ran = project
        .run(&[&["run", "--json"], arguments].concat())
        .exits(code);
    if ran.out.is_empty() {
        return None;
    }
    let outcome: Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    assert!(outcome.is_object());
    Some(outcome)
}

// --- exit codes --------------------------------------------------------------------------------------------------

#[test]
fn a_thorough_plan_completes_with_0() {
    let project = Project::new();
    project.plan(thorough_plan());
    let ran = project
        .run(&["run", "PLAN.md", "--reviewer", "lint"])
        .exits(0)
        .says("Round 1 of 3, Senior-engineer review")
        .says("Round 2 of 3, Security and data-integrity review")
        .says("Round 3 of 3, Ops and SRE review")
        .says("### Claudex plan loop complete ✓");
    assert!(
        ran.out.contains("**Findings by round:**\n\n- Round 1 ("),
        "table: {}",
        ran.out
    );
    assert!(
        !ran.out.contains("Print this summary") && !ran.out.contains('\u{1b}'),
        "{}",
        ran.out
    );
    assert_eq!(ran.err, "");
}

#[test]
fn a_thin_plan_is_stopped_at_max_rounds_with_4() {
    let project = Project::new();
    project.plan(THIN);
    let outcome = job(
        &project,
        &["PLAN.md", "--reviewer", "lint", "--rounds", "2"],
        4,
    )
    .expect("an outcome");
    assert_eq!(outcome["ending"], "stopped-at-max-rounds");
    assert_eq!(outcome["rounds"].as_array().unwrap().len(), 2);
    assert!(
        outcome["rounds"][0]["counts"]["high"].as_u64().unwrap() > 0,
        "{outcome}"
    );
    assert!(
        outcome["summary"]
            .as_str()
            .unwrap()
            .contains("stopped at max rounds (round 2 of 2)")
    );
    let said = project.run(&["run", "PLAN.md", "--reviewer", "lint", "--rounds", "1"]);
    let finding = "    high    line 1: there is no plan to review: 8 words stand outside of code and quotations (write the goal,";
    assert!(said.out.contains(finding), "{said:?}");
    for text in [outcome["summary"].as_str().unwrap(), &said.out] {
        assert!(!text.contains("Print this summary"), "{text}");
    }
}

#[test]
fn what_is_wrong_with_the_arguments_exits_with_2_and_leaves_nothing() {
    let project = Project::new();
    project.plan(THIN);
    std::fs::write(project.root.join("binary.md"), b"# \xff\xfe\n").unwrap();
    std::fs::write(project.root.join("empty.md"), " \n\n").unwrap();
    std::fs::create_dir(project.root.join("folder.md")).unwrap();
    let before = tree(&project.root);
    for (arguments, phrase) in [
        (&[][..], "PLAN.md"),
        (&["missing.md"], "missing.md"),
        (&["binary.md"], "is not UTF-8 text"),
        (&["empty.md"], "is empty"),
        (&["folder.md"], "folder.md"),
        (&["PLAN.md", "--rounds", "0"], "positive integer"),
        (&["PLAN.md", "--rounds", "some"], "positive integer"),
        (
            &["PLAN.md", "--reviewer", "nobody"],
            "`nobody` is no reviewer",
        ),
        (&["PLAN.md", "--timeout", "soon"], "soon"),
        (&["PLAN.md", "--frobnicate"], "--frobnicate"),
    ] {
        let ran = project
            .run(&[&["run"], arguments].concat())
            .exits(2)
            .says(phrase);
        assert_eq!(ran.out, "", "{arguments:?}");
        assert_eq!(tree(&project.root), before, "{arguments:?}");
        assert_eq!(job(&project, arguments, 2), None, "nothing on stdout");
    }
}

#[test]
fn a_failure_of_the_system_exits_with_3() {
    let project = Project::new();
    project.plan(THIN);
    std::fs::write(project.root.join(".claude"), "in the way").unwrap();
    project.answers(
        &["run", "PLAN.md", "--reviewer", "fake-clean"],
        3,
        ".claude",
    );
    assert_eq!(
        job(&project, &["PLAN.md", "--reviewer", "fake-clean"], 3),
        None
    );
}

#[test]
fn a_reviewer_that_fails_twice_exits_with_5_and_the_loop_is_kept() {
    for reviewer in ["fake-could-not-run", "fake-unreadable", "codex"] {
        let project = Project::new();
        project.plan(THIN);
        let outcome = job(&project, &["PLAN.md", "--reviewer", reviewer], 5).expect("an outcome");
        assert_eq!(outcome["ending"], "reviewer-failed");
        assert!(!outcome["cause"].as_str().unwrap().is_empty(), "{outcome}");
        let id = outcome["id"].as_str().unwrap();
        let line = format!("claudex-loop run --resume {id}");
        assert!(
            outcome["waits"].as_str().unwrap().contains(&line),
            "{outcome}"
        );
        // Who goes on by hand has its two tries again, as often as they like.
        for _ in 0..2 {
            project
                .run(&["run", "--resume", id, "--reviewer", reviewer])
                .exits(5)
                .says("the reviewer gave no verdict: ")
                .says(&format!(
                    "; loop {id} is kept, with the rounds that are finished"
                ))
                .says(&format!("    {line}\n"));
        }
        assert_eq!(project.field(id, "phase"), "reviewing");
    }
}

#[test]
fn the_line_that_goes_on_says_where_a_plan_elsewhere_is() {
    let project = Project::new();
    project.plan(THIN);
    let plan = project.root.join("PLAN.md").display().to_string();
    let mut command = project.command(&["run", &plan, "--reviewer", "fake-could-not-run"]);
    let ran = Ran::of(
        command
            .current_dir(project.root.parent().unwrap())
            .output()
            .unwrap(),
    )
    .exits(5);
    let place = project.root.display().to_string().replace('\'', "’");
    ran.says(&format!("to go on with it, in {place}:"));
}

#[test]
fn a_reviewer_that_fails_in_a_later_round_costs_no_finished_one() {
    let project = Project::new();
    project.plan(THIN);
    let reviewer = "fake-findings.could-not-run.could-not-run.clean";
    let outcome = job(&project, &["PLAN.md", "--reviewer", reviewer], 5).expect("an outcome");
    let id = outcome["id"].as_str().unwrap();
    let journal = project.run(&["journal", id]).exits(0).out;
    assert!(!journal.contains("cancel by"), "{journal}");
    let outcome =
        job(&project, &["--resume", id, "--reviewer", "fake-clean"], 4).expect("an outcome");
    let counts = |round: usize| outcome["rounds"][round]["counts"]["high"].as_u64();
    assert_eq!(
        [counts(0), counts(1), counts(2)],
        [Some(1), Some(0), Some(0)],
        "{outcome}"
    );
}

#[test]
fn a_reviewer_that_fails_too_often_ends_the_loop() {
    let project = Project::new().with("CLAUDEX_MAX_FAILURES", "1");
    project.plan(THIN);
    let ran = project
        .run(&["run", "PLAN.md", "--reviewer", "fake-could-not-run"])
        .exits(5);
    ran.says("the reviewer gave no verdict: ")
        .says(" is over\n");
}

#[test]
fn another_loop_that_is_active_exits_with_6_and_is_left_alone() {
    let project = Project::new();
    project.plan(THIN);
    let id = project.start(&[]);
    let before = tree(&project.folder());
    project
        .run(&["run", "PLAN.md", "--reviewer", "fake-clean"])
        .exits(6)
        .says("already active")
        .says(&id);
    assert_eq!(job(&project, &["PLAN.md"], 6), None);
    assert_eq!(tree(&project.folder()), before);
}

// --- what it leaves and says -------------------------------------------------------------------------------------

#[test]
fn the_outcome_names_the_files_and_they_are_there() {
    let project = Project::new();
    project.plan(THIN);
    let outcome = job(
        &project,
        &["PLAN.md", "--reviewer", "fake-findings.low.clean"],
        4,
    )
    .expect("an outcome");
    let id = outcome["id"].as_str().unwrap();
    assert_eq!(outcome["state"], project.state_path(id).to_str().unwrap());
    assert_eq!(
        outcome["findings"],
        project.findings(id, 3).to_str().unwrap()
    );
    for round in 1..=3 {
        assert!(project.findings(id, round).exists(), "round {round}");
    }
    assert_eq!(
        outcome["plan"],
        project.root.join("PLAN.md").to_str().unwrap()
    );
    assert_eq!(project.field(id, "phase"), "done");
    assert_eq!(project.field(id, "round"), "3");
    for gone in ["-runner.sh", "-prompt.txt", ".lock"] {
        assert!(
            !project.folder().join(format!("{id}{gone}")).exists(),
            "{gone}"
        );
    }
}

#[test]
fn without_a_drafter_every_persona_reviews_the_plan_once() {
    let project = Project::new();
    project.plan(THIN);
    let outcome = job(&project, &["PLAN.md", "--reviewer", "fake-clean"], 0).expect("an outcome");
    let personas: Vec<_> = outcome["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|round| round["persona"].as_str().unwrap())
        .collect();
    assert_eq!(
        personas,
        [
            "Senior-engineer review",
            "Security and data-integrity review",
            "Ops and SRE review"
        ]
    );
    assert_eq!(
        std::fs::read_to_string(project.root.join("PLAN.md")).unwrap(),
        THIN
    );
}

/// A review takes four parts of 256 KiB: what is beyond them is named, and nothing makes the loop complete.
#[test]
fn lines_beyond_four_parts_keep_a_loop_incomplete() {
    let project = Project::new();
    project.plan(format!(
        "{}\n{}",
        thorough_plan(),
        "It is a line.\n".repeat(80_000)
    ));
    let lines = std::fs::read_to_string(project.root.join("PLAN.md")).unwrap();
    let last = lines.lines().count();
    for reviewer in ["fake-clean", "lint"] {
        let outcome = job(
            &project,
            &["PLAN.md", "--reviewer", reviewer, "--rounds", "1"],
            4,
        );
        let outcome = outcome.expect("an outcome");
        assert_eq!(outcome["ending"], "stopped-at-max-rounds");
        let unreviewed = format!(" to {last} of ");
        has(outcome["summary"].as_str().unwrap(), &unreviewed);
        let id = outcome["id"].as_str().unwrap();
        let report = project.run(&["report", id, "--format", "json"]).exits(0);
        has(&report.out, &unreviewed);
    }
}

// --- the drafter -------------------------------------------------------------------------------------------------

#[test]
fn a_drafter_that_fixes_the_plan_brings_it_through() {
    let project = Project::new();
    project.plan(THIN);
    std::fs::write(project.root.join("better one.md"), thorough_plan()).unwrap();
    let drafter = "cat > 'what it was told.md' && cp 'better one.md' PLAN.md";
    let outcome = job(
        &project,
        &["PLAN.md", "--reviewer", "lint", "--drafter", drafter],
        0,
    )
    .expect("an outcome");
    assert_eq!(outcome["ending"], "complete");
    assert!(
        outcome["rounds"][0]["counts"]["high"].as_u64().unwrap() > 0,
        "{outcome}"
    );
    let summary = outcome["summary"].as_str().unwrap();
    has(
        summary,
        "\nEnded after 2 of 3 rounds. Not reviewed by: Ops and SRE. To have them review it: `claudex-loop run ",
    );
    has(
        summary,
        "**High findings that no later round reviewed again:**",
    );
    assert!(
        summary.contains("PLAN.md'`\n") || summary.contains("PLAN.md`\n"),
        "the personas have their round there: {summary}"
    );
    let told = std::fs::read_to_string(project.root.join("what it was told.md")).unwrap();
    has(&told, "### Claudex round 1 of 3, Senior-engineer review");
    has(&told, "## High");
    has(&told, project.root.join("PLAN.md").to_str().unwrap());
}

#[test]
fn a_drafter_works_on_findings_alone() {
    let project = Project::new();
    project.plan(THIN);
    let drafter = "echo again >> drafts; echo again >> PLAN.md";
    let reviewer = "fake-findings.clean";
    job(
        &project,
        &["PLAN.md", "--reviewer", reviewer, "--drafter", drafter],
        0,
    )
    .expect("an outcome");
    let drafts = std::fs::read_to_string(project.root.join("drafts")).unwrap();
    assert_eq!(drafts, "again\n", "not after a clean round");
}

#[test]
fn a_drafter_that_fails_exits_with_3_and_the_loop_goes_on_where_it_failed() {
    let project = Project::new();
    project.plan(THIN);
    let reviewer = ["--reviewer", "fake-findings.clean"];
    let drafter = "echo 'no ideas left' >&2; exit 7";
    let ran = project
        .run(&[&["run", "PLAN.md", "--drafter", drafter], &reviewer[..]].concat())
        .exits(3)
        .says("the drafter failed: exit status 7. no ideas left; loop ");
    let rows: Value = serde_json::from_str(&project.run(&["list", "--json"]).exits(0).out).unwrap();
    assert_eq!(rows[0]["phase"], "reviewing");
    let id = rows[0]["id"].as_str().unwrap();
    ran.says(&format!("claudex-loop run --resume {id}\n"));
    let again = ["run", "--resume", id, "--drafter", "echo more >> PLAN.md"];
    project.run(&[&again, &reviewer[..]].concat()).exits(0);
    assert_eq!(
        project.runs(id),
        2,
        "the round that had its verdict is not reviewed anew"
    );
}

#[test]
fn a_drafter_that_changes_nothing_does_not_buy_a_clean_end() {
    let project = Project::new();
    project.plan(THIN);
    let arguments = [
        "PLAN.md",
        "--reviewer",
        "fake-findings.clean",
        "--drafter",
        "true",
    ];
    let outcome = job(&project, &arguments, 4).expect("an outcome");
    assert_eq!(outcome["ending"], "stopped-at-max-rounds");
}

// --- hooks and signals -------------------------------------------------------------------------------------------

#[test]
fn no_hook_drives_the_loop_of_a_job_that_runs() {
    let project = Project::new();
    project.plan(THIN);
    let pipe = project.home.join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    project.add_reviewer("held", "cat", &["--", pipe.to_str().unwrap()]);
    let child = project
        .command(&["run", "PLAN.md", "--rounds", "1", "--reviewer", "held"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let running = Background::of(child);
    let journals = || -> Vec<_> {
        let is_journal = |path: &std::path::Path| path.ends_with("journal.jsonl");
        tree(&project.folder())
            .into_iter()
            .filter(|(path, _)| is_journal(path))
            .collect()
    };
    wait_for("its reviewer", || {
        let begun = |bytes: &Option<Vec<u8>>| {
            bytes
                .as_deref()
                .is_some_and(|bytes| String::from_utf8_lossy(bytes).contains("run-began"))
        };
        journals().iter().any(|(_, bytes)| begun(bytes)) && !descendants(running.id()).is_empty()
    });
    let before = journals();
    assert_eq!(before.len(), 1);
    assert_eq!(project.fire_as("s1").approved(), "");
    Stop::read(&project.run_with_stdin(&["hook", "stop"], b"{}")).approved();
    project
        .fire_with(json!({"session_id": "s1", "stop_hook_active": true}))
        .approved();
    assert_eq!(journals(), before);

    std::fs::write(&pipe, "# Findings\n\nNo substantive findings.\n").unwrap();
    running.end().exits(0).says("plan loop complete");
}

/// Runs until the reviewer of a round hangs, ends that by a signal, and returns the loop's id and what was said.
fn interrupted(project: &Project, signal: &str, arguments: &[&str], round: u32) -> (String, Ran) {
    let child = project
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let running = Background::of(child);
    let loops =
        || -> Value { serde_json::from_str(&project.run(&["list", "--json"]).out).unwrap() };
    wait_for("its reviewer", || {
        loops()[0]["round"] == round
            && loops()[0]["running"] == true
            && !descendants(running.id()).is_empty()
    });
    let processes = descendants(running.id());
    running.signal(signal);
    let ran = running.end().exits(130);
    wait_for("its processes to be gone", || {
        !processes.iter().any(|pid| is_alive(*pid))
    });
    (loops()[0]["id"].as_str().unwrap().to_owned(), ran)
}

#[test]
fn a_job_that_is_interrupted_is_kept_and_goes_on_with_its_finished_rounds() {
    for signal in ["TERM", "INT"] {
        let project = Project::new();
        project.plan(THIN);
        let reviewer = ["--reviewer", "fake-findings.hang"];
        let (id, ran) = interrupted(
            &project,
            signal,
            &[&["run", "PLAN.md"][..], &reviewer].concat(),
            2,
        );
        let line = format!("    claudex-loop run --resume {id}\n");
        ran.says(&line);
        // Whoever looks, begins anew or takes it for a session's is told the same.
        project.run(&["status"]).exits(0).says(line.trim_start());
        project.run(&["run", "PLAN.md"]).exits(6).says(&line);
        project.run(&["resume", &id]).exits(1).says(&line);
        let outcome = job(
            &project,
            &["--resume", &id, "--reviewer", "fake-findings.clean"],
            4,
        )
        .expect("an outcome");
        assert_eq!(outcome["id"], id.as_str());
        let counts = |round: usize| outcome["rounds"][round]["counts"]["high"].as_u64();
        assert_eq!(
            [counts(0), counts(1), counts(2)],
            [Some(1), Some(0), Some(0)],
            "{outcome}"
        );
        let journal = project.run(&["journal", &id]).out;
        assert_eq!(
            journal.matches(": round 1, ").count(),
            1,
            "it is not reviewed again: {journal}"
        );
        assert_eq!(
            journal.matches(": round 2, ").count(),
            2,
            "what was cut off is: {journal}"
        );
    }
}

#[test]
fn a_job_whose_loop_is_cancelled_elsewhere_stops_its_reviewer_and_says_so() {
    for drafter in [&[][..], &["--drafter", "sleep 60"]] {
        let project = Project::new();
        project.plan(THIN);
        let reviewer = if drafter.is_empty() {
            "fake-hang"
        } else {
            "fake-findings"
        };
        let arguments = [&["run", "PLAN.md", "--reviewer", reviewer], drafter].concat();
        let child = project
            .command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let running = Background::of(child);
        let loops =
            || -> Value { serde_json::from_str(&project.run(&["list", "--json"]).out).unwrap() };
        wait_for("what it waits for", || {
            loops()[0]["running"] == drafter.is_empty() && !descendants(running.id()).is_empty()
        });
        let id = loops()[0]["id"].as_str().unwrap().to_owned();
        project.run(&["cancel", &id]).exits(0);
        running
            .end()
            .exits(1)
            .says(&format!("loop {id} is cancelled: another process ended it"));
        assert!(
            !project.run(&["journal", &id]).out.contains("run-ended r1-") || !drafter.is_empty()
        );
    }
}

#[test]
fn archived_run_goes_on_after_resume() {
    let project = Project::new();
    project.plan(THIN);
    let arguments = [
        "run",
        "PLAN.md",
        "--reviewer",
        "fake-hang",
        "--drafter",
        "echo 'more' >> PLAN.md",
    ];
    let (id, ran) = interrupted(&project, "INT", &arguments, 1);
    let line = format!("claudex-loop run --resume {id}\n");
    for ran in [
        ran,
        project.run(&["status"]),
        project.run(&["run", "PLAN.md"]),
    ] {
        ran.says(&line).says("give its flags again");
    }
    sweep(&project, &id);
    project
        .run(&["run", "--resume", &id, "--reviewer", "fake-clean"])
        .exits(0)
        .says(&format!("Loop {id} goes on with PLAN.md"))
        .says("plan loop complete");
}

/// Has a loop put aside as one that showed no sign of life.
fn sweep(project: &Project, id: &str) {
    age(&project.state_path(id), Duration::from_secs(24 * 3600));
    project.answers(&["sweep"], 0, &format!("Loop {id} was moved"));
}

#[test]
fn only_a_loop_of_run_that_is_not_over_goes_on() {
    let project = Project::new();
    project.plan(THIN);
    let over = job(&project, &["PLAN.md", "--reviewer", "fake-clean"], 0).expect("an outcome");
    let id = over["id"].as_str().unwrap();
    let says = |project: &Project, id: &str, phrase: &str| {
        let before = tree(&project.folder());
        project.run(&["run", "--resume", id]).exits(1).says(phrase);
        assert_eq!(tree(&project.folder()), before);
    };
    says(
        &project,
        id,
        &format!("run does not go on with loop {id}: it is over (done)"),
    );
    let id = project.start(&[]);
    says(&project, &id, "no session has taken it up yet");
    sweep(&project, &id);
    says(&project, &id, "no session has taken it up yet");
    project.run(&["run", "--resume", &id, "PLAN.md"]).exits(2);
    project.answers(&["run", "--resume", "x"], 2, "is not the id of a loop");
}

#[test]
fn a_run_whose_rounds_go_nowhere_says_that_it_stalled() {
    let project = Project::new();
    project.plan("# Plan\n");
    let outcome = job(
        &project,
        &["PLAN.md", "--rounds", "9", "--reviewer", "fake-findings"],
        4,
    )
    .expect("an outcome");
    assert_eq!(outcome["ending"], "stalled");
    assert_eq!(
        outcome["rounds"].as_array().map(Vec::len),
        Some(5),
        "{outcome}"
    );
    assert!(
        outcome["summary"]
            .as_str()
            .unwrap()
            .contains("loop stalled (round 5 of 9)")
    );
}
