//! The demo runs from the first stage to the last one.

use crate::support::Project;
use claudex_testkit::has;

#[test]
fn demo_runs_to_the_end() {
    let project = Project::empty();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/demo.sh");
    let mut demo = project.folder.tool("sh");
    demo.arg(script).env("STAGES", env!("CARGO_BIN_EXE_stages"));
    let output = demo.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let message = String::from_utf8(output.stdout).unwrap();
    for part in [
        "stage 2 leaves nothing: recovery_stage_2_round_1_1 asks",
        "and no summary: stage 3 begins",
        "the turn ends: Mark the boxes",
        "the user resumes: stage 4 begins",
        "stage_4_round_1_question_1 asks",
        "stagnation_round_4 asks",
        "circuit_breaker_round_5 asks",
        "stage 5 writes failed",
        "gate_stage_5_round_6_1 asks",
        "stage 7 writes completed: done",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let (_, look) = message.split_once("To look at it:\n").unwrap();
    let stages = look.replace(
        "stages status",
        &format!("'{}' status", env!("CARGO_BIN_EXE_stages")),
    );
    let seen = std::process::Command::new("sh")
        .args(["-ec", &stages])
        .output()
        .unwrap();
    let seen = String::from_utf8(seen.stdout).unwrap();
    has(&seen, "PRD.md");
    has(&seen, "completed");
    assert!(!project.root.join("requirements").exists());
    // An existing folder stays as it is.
    assert!(!demo.status().unwrap().success());
}
