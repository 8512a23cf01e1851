//! `claudex-loop run PLAN.md`: its exit codes, JSON and drafter. No hook drives its loop.

use serde_json::{Value, json};

use crate::round::HeldReviewer;
use crate::support::{
    Project, Ran, Stop, descendants, has, is_alive, lacks, thorough_plan, tree, wait_for,
};

const THIN: &str = "# Move the queue\n\nWe will move it soon.\n";

/// Returns a project with a thin plan.
fn project() -> Project {
    let project = Project::new();
    project.plan(THIN);
    project
}

/// Runs with `--json`, and returns the outcome.
#[track_caller]
fn job(project: &Project, arguments: &str, code: i32) -> Value {
    let ran = project.run(&format!("run --json {arguments}")).exits(code);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Returns the number of high findings of each round.
fn high(outcome: &Value) -> Vec<u64> {
    let rounds = outcome["rounds"].as_array().unwrap().iter();
    rounds
        .map(|round| round["counts"]["high"].as_u64().unwrap())
        .collect()
}

/// Returns the newest loop, as `list --json` shows it.
fn newest(project: &Project) -> Value {
    let mut list = project.json("list --json");
    list.get_mut(0).map(Value::take).unwrap_or_default()
}

// --- exit codes ----------------------------------------------------------------------------------

#[test]
fn thin_plan_stops_at_max_rounds_with_4() {
    let project = project();
    let outcome = job(&project, "PLAN.md --reviewer lint --rounds 2", 4);
    assert_eq!(outcome["ending"], "stopped-at-max-rounds");
    assert_eq!(high(&outcome).len(), 2);
    let summary = outcome["summary"].as_str().unwrap();
    has(summary, "stopped at max rounds (round 2 of 2)");
    has(summary, "run --rounds 4 --drafter COMMAND --reviewer lint ");
    let printed = project.run("run PLAN.md --reviewer lint --rounds 1").out;
    let finding = "    high    line 1: the plan is too short to review: 8 words outside of code and quotations (write the goal,";
    has(&printed, finding);
    lacks(summary, "Print this summary");
    lacks(&printed, "Print this summary");
}

#[test]
fn wrong_arguments_exit_with_2_and_leave_nothing() {
    let project = project();
    std::fs::write(project.root.join("binary.md"), b"# \xff\xfe\n").unwrap();
    std::fs::write(project.root.join("empty.md"), " \n\n").unwrap();
    std::fs::create_dir(project.root.join("folder.md")).unwrap();
    let before = tree(&project.root);
    for (arguments, phrase) in [
        ("", "PLAN.md"),
        ("missing.md", "missing.md"),
        ("binary.md", "save it as UTF-8"),
        ("empty.md", "is empty"),
        ("folder.md", "folder.md"),
        ("PLAN.md --rounds 0", "positive integer"),
        ("PLAN.md --reviewer nobody", "`nobody` is not a reviewer"),
        ("PLAN.md --json --frobnicate", "--frobnicate"),
        ("--resume x", "is not the id of a loop"),
    ] {
        let ran = project.run(&format!("run {arguments}")).exits(2);
        assert_eq!(ran.says(phrase).out, "", "{arguments:?}");
        assert_eq!(tree(&project.root), before, "{arguments:?}");
    }
}

#[test]
fn failure_of_the_system_exits_with_3() {
    let project = project();
    crate::support::write(&project.root.join(".claude/claudex"), "in the way");
    let before = tree(&project.root);
    for line in ["run --json PLAN.md --reviewer fake-clean", "start plan x"] {
        let ran = project.run(line).exits(3);
        assert_eq!(ran.says(".claude").out, "", "{line}");
        assert_eq!(tree(&project.root), before, "{line}");
    }
}

#[test]
fn reviewer_that_fails_twice_exits_with_5() {
    for reviewer in ["fake-could-not-run", "fake-unreadable", "codex"] {
        let project = project();
        let outcome = job(&project, &format!("PLAN.md --reviewer {reviewer}"), 5);
        assert_eq!(outcome["ending"], "reviewer-failed");
        assert!(!outcome["cause"].as_str().unwrap().is_empty(), "{outcome}");
        let id = outcome["id"].as_str().unwrap();
        let resume = format!("run --resume {id} --reviewer {reviewer}");
        let line = format!("claudex-loop run --resume {id}");
        has(outcome["waits"].as_str().unwrap(), &line);
        // A user who continues by hand gets two tries again, any number of times.
        for _ in 0..2 {
            let ran = project.run(&resume).exits(5);
            let kept = format!("; loop {id} is kept, with the rounds that are finished");
            ran.says("the reviewer gave no verdict: ")
                .says(&kept)
                .says(&format!("    {line} --reviewer {reviewer}\n"));
        }
        assert_eq!(project.field(id, "phase"), "reviewing");
    }
    // The output names the folder of the plan.
    let project = project();
    let plan = project.root.join("PLAN.md");
    let run = format!("run {plan:?} --reviewer fake-could-not-run");
    let above = project.root.parent().unwrap();
    let ran = project.run_in(above, &run).exits(5);
    let place = project.root.display().to_string().replace('\'', "’");
    ran.says(&format!("to continue it, in {place}:"));
}

#[test]
fn reviewer_that_fails_too_often_ends_the_loop() {
    let project = project().with("CLAUDEX_MAX_FAILURES", "1");
    let ran = project
        .run("run PLAN.md --reviewer fake-could-not-run")
        .exits(5);
    ran.says("the reviewer gave no verdict: ")
        .says(" is over\n");
}

#[test]
fn another_active_loop_exits_with_6() {
    let project = project();
    let id = project.start(&[]);
    let before = tree(&project.folder());
    let ran = project
        .run("run --json PLAN.md --reviewer fake-clean")
        .exits(6);
    assert_eq!(ran.says("already active").says(&id).out, "");
    assert_eq!(tree(&project.folder()), before);
    // From another project, none of its commands finds the loop.
    let plan = project.root.join("PLAN.md");
    let elsewhere = Project::new();
    let run = ["run", plan.to_str().unwrap()];
    let ran = project.run_in(&elsewhere.root, &run[..]).exits(6);
    assert_eq!(ran.says("it is a loop of another project").out, "");
    project.answers("run .", 2, "it is a folder");
}

// --- results -------------------------------------------------------------------------------------

#[test]
fn outcome_names_rounds_and_files_that_exist() {
    let project = project();
    let outcome = job(&project, "PLAN.md --reviewer fake-findings.low.clean", 4);
    let id = outcome["id"].as_str().unwrap();
    for (key, path) in [
        ("state", project.state_path(id)),
        ("findings", project.findings(id, 3)),
        ("plan", project.root.join("PLAN.md")),
    ] {
        assert_eq!(outcome[key], path.to_str().unwrap());
        assert!(path.exists(), "{path:?}");
    }
    let rounds = outcome["rounds"].as_array().unwrap().iter();
    let personas: Vec<&Value> = rounds.map(|round| &round["persona"]).collect();
    let expected = [
        "Senior-engineer review",
        "Security and data-integrity review",
        "Ops and SRE review",
    ];
    assert_eq!(personas, expected);
    assert_eq!(high(&outcome), [1, 0, 0]);
    assert_eq!(project.field(id, "phase"), "done");
    let plan = std::fs::read_to_string(project.root.join("PLAN.md")).unwrap();
    assert_eq!(plan, THIN, "without a drafter nobody changes it");
}

/// A review takes 512 KiB. A plan that no reviewer can read completely is refused, and never done.
#[test]
fn plan_longer_than_review_takes_is_refused() {
    let (project, id) = Project::reviewing(&[]);
    project.plan("It is a line.\n".repeat(80_000));
    let problem = "PLAN.md: it has 1120000 bytes, and a review takes at most 524288 (512 KiB)";
    for line in [&*format!("review {id}"), "review"] {
        let ran = project.run(line).exits(1);
        ran.says(problem).says("split it into parts");
    }
    assert_eq!(project.runs(&id), 0);
    let mark_done = format!("mark-done {id} --rejecting no");
    project.answers(&mark_done, 1, "round 1 was not reviewed yet");
    project.run("cancel").exits(0);
    let before = tree(&project.folder());
    let ran = project.run("run PLAN.md").exits(5);
    ran.says(problem).says("split it into parts");
    assert_eq!(tree(&project.folder()), before);
}

// --- the drafter ---------------------------------------------------------------------------------

#[test]
fn drafter_that_fixes_the_plan_completes_the_loop() {
    let project = project();
    std::fs::write(project.root.join("better one.md"), thorough_plan()).unwrap();
    let drafter = "cat > told.md && cp \"better one.md\" PLAN.md";
    let outcome = job(
        &project,
        &format!("PLAN.md --reviewer lint --drafter '{drafter}'"),
        0,
    );
    assert_eq!(outcome["ending"], "complete");
    assert!(high(&outcome)[0] > 0, "{outcome}");
    let summary = outcome["summary"].as_str().unwrap();
    let others = "\nEnded after 2 of 3 rounds. Not reviewed by: Ops and SRE. To have them review it: `claudex-loop run ";
    has(summary, others);
    has(summary, "PLAN.md\"`\n");
    has(
        summary,
        "**High findings that no later round reviewed again:**",
    );
    let output = std::fs::read_to_string(project.root.join("told.md")).unwrap();
    has(&output, "### Claudex round 1 of 3, Senior-engineer review");
    has(&output, "## High");
    has(&output, project.root.join("PLAN.md").to_str().unwrap());
}

#[test]
fn drafter_that_changes_nothing_is_named() {
    let project = project();
    let ran = project.run("run PLAN.md --reviewer fake-findings.clean --drafter true");
    has(&ran.out, "the drafter left the plan as it was");
}

#[test]
fn drafter_works_on_findings_alone() {
    let project = project();
    // Its loop is not idle meanwhile.
    let wait = "state=$(echo .claude/claudex/*.state); touch -d @9 $state; until [ $(stat -c %Y $state) -gt 9 ]; do sleep 0.1; done";
    let drafter = format!("{wait}; echo again >> drafts; echo again >> PLAN.md");
    let arguments = format!("PLAN.md --reviewer fake-findings.clean --drafter '{drafter}'");
    job(&project, &arguments, 0);
    let drafts = std::fs::read_to_string(project.root.join("drafts")).unwrap();
    assert_eq!(drafts, "again\n", "not after a clean round");
}

#[test]
fn drafter_that_fails_exits_with_3_and_resumes() {
    let project = project();
    let reviewer = "--reviewer fake-findings.clean";
    let drafter = "echo \"no ideas left\" >&2; exit 7";
    let ran = project
        .run(&format!("run PLAN.md --drafter '{drafter}' {reviewer}"))
        .exits(3);
    let list = newest(&project);
    assert_eq!(list["phase"], "reviewing");
    let id = list["id"].as_str().unwrap();
    let line = format!("run --resume {id} {reviewer} --drafter '{drafter}'\n");
    ran.says("the drafter failed: exit status 7. no ideas left; loop ")
        .says(&line);
    let again = format!("run --resume {id} --drafter 'echo more >> PLAN.md' {reviewer}");
    project.run(&again).exits(0);
    assert_eq!(
        project.runs(id),
        2,
        "a round with a verdict is not reviewed again"
    );
}

#[test]
fn drafter_that_changes_nothing_buys_no_clean_end() {
    let arguments = "PLAN.md --reviewer fake-findings.clean --drafter true";
    let outcome = job(&project(), arguments, 4);
    assert_eq!(outcome["ending"], "stopped-at-max-rounds");
}

// --- hooks and signals ---------------------------------------------------------------------------

#[test]
fn no_hook_drives_the_loop_of_a_run() {
    let project = project();
    let held = HeldReviewer::new(&project);
    let running = project.spawn("run PLAN.md --rounds 1 --reviewer held");
    wait_for("its reviewer", || {
        let list = newest(&project);
        let runs = list["id"].as_str().map(|id| project.runs(id));
        runs == Some(1) && !descendants(running.id()).is_empty()
    });
    let id = newest(&project)["id"].as_str().unwrap().to_owned();
    let before = project.journal(&id);
    let other = format!("process {} runs it", running.id());
    project.answers(&format!("run --resume {id}"), 1, &other);
    assert_eq!(project.fire_as("s1").approved(), "");
    Stop::read(&project.run_with_stdin("hook stop", b"{}")).approved();
    project
        .fire_with(json!({"session_id": "s1", "stop_hook_active": true}))
        .approved();
    assert_eq!(project.journal(&id), before);

    held.speak("# Findings\n\nNo substantive findings.\n");
    running.end().exits(0).says("plan loop complete");
}

/// Ends a hanging review of a round by a signal. Returns the loop's id and the output.
fn interrupted(project: &Project, signal: &str, line: &str, round: u32) -> (String, Ran) {
    let running = project.spawn(line);
    wait_for("its reviewer", || {
        let list = newest(project);
        list["round"] == round && list["running"] == true && !descendants(running.id()).is_empty()
    });
    let processes = descendants(running.id());
    running.signal(signal);
    let ran = running.end().exits(130);
    wait_for("its processes to be gone", || {
        !processes.iter().any(|pid| is_alive(*pid))
    });
    (newest(project)["id"].as_str().unwrap().to_owned(), ran)
}

#[test]
fn interrupted_run_continues_with_its_finished_rounds() {
    for signal in ["TERM", "INT"] {
        let project = project();
        let run = "run PLAN.md --reviewer fake-findings.hang";
        let (id, ran) = interrupted(&project, signal, run, 2);
        let line = format!("    claudex-loop run --resume {id}");
        ran.says(&format!("{line} --reviewer fake-findings.hang\n"));
        // Each command that reads or starts a loop prints the same.
        project.answers("status", 0, line.trim_start());
        project.answers("run PLAN.md", 6, &line);
        project.answers(&format!("resume {id}"), 1, &line);
        let resume = format!("--resume {id} --reviewer fake-findings.clean");
        let outcome = job(&project, &resume, 4);
        assert_eq!(outcome["id"], id.as_str());
        assert_eq!(high(&outcome), [1, 0, 0]);
        let journal = project.run(&format!("journal {id}")).out;
        let runs = [": round 1, ", ": round 2, "].map(|round| journal.matches(round).count());
        assert_eq!(
            runs,
            [1, 2],
            "only the round that was cut off is repeated: {journal}"
        );
    }
}

#[test]
fn run_cancelled_elsewhere_stops_its_reviewer() {
    for arguments in ["fake-hang", "fake-findings --drafter 'sleep 60'"] {
        let project = project();
        let running = project.spawn(&format!("run PLAN.md --reviewer {arguments}"));
        wait_for("what it waits for", || {
            newest(&project)["running"] == (arguments == "fake-hang")
                && !descendants(running.id()).is_empty()
        });
        let id = newest(&project)["id"].as_str().unwrap().to_owned();
        project.run(&format!("cancel {id}")).exits(0);
        let message = format!("loop {id} is cancelled: another process ended it");
        running.end().exits(1).says(&message);
    }
}

#[test]
fn interrupted_run_is_archived_and_still_resumed() {
    let project = project();
    let run = "run PLAN.md --reviewer fake-hang --drafter 'echo more >> PLAN.md'";
    let (id, ran) = interrupted(&project, "INT", run, 1);
    let line = format!("claudex-loop run --resume {id}");
    ran.says(&format!(
        "{line} --reviewer fake-hang --drafter 'echo more >> PLAN.md'\n"
    ));
    for ran in [project.run("status"), project.run("run PLAN.md")] {
        ran.says(&line)
            .says("give its flags again, such as --reviewer and --drafter");
    }
    project.sweep(&id);
    let ran = project
        .run(&format!("run --resume {id} --reviewer fake-clean"))
        .exits(0);
    ran.says(&format!("Loop {id} continues with PLAN.md"))
        .says("plan loop complete");
}

#[test]
fn only_an_unfinished_loop_of_run_is_resumed() {
    let project = project();
    let over = job(&project, "PLAN.md --reviewer fake-clean", 0);
    let refuses = |id: &str, phrase: &str| {
        let before = tree(&project.folder());
        project.answers(&format!("run --resume {id}"), 1, phrase);
        assert_eq!(tree(&project.folder()), before);
    };
    let id = over["id"].as_str().unwrap();
    refuses(
        id,
        &format!("run cannot continue loop {id}: it is over (done)"),
    );
    let id = project.start(&[]);
    refuses(&id, "no session has it yet");
    project.sweep(&id);
    refuses(&id, "no session has it yet");
    project.run(&format!("run --resume {id} PLAN.md")).exits(2);
}
