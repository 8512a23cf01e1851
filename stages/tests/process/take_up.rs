//! State documents of another program: the user takes them up, or moves them aside.

use claudex_testkit::has;
use serde_json::json;

use crate::support::{Project, SESSION, STATE, summary};

/// Returns a document with these lines and unknown content.
fn document(lines: &str) -> String {
    format!(
        "---\n# a template’s\n{lines}created: \"2026-01-02T03:04:05Z\"\nprd_mode: \"NEW\"\nanalysis_mode: standard\nrounds: null # none yet\nstages:\nours: {{ kept: [1, 2.50] }}\ntheirs: \"{{later}}\"\nuser_decisions:\n  analysis_mode_round_1: standard\n---\n\n# Log\n\nWhat was done.\n"
    )
}

/// Returns a project in which a document was taken up.
fn project_with(lines: &str) -> Project {
    let project = Project::empty();
    project.write(STATE, &document(lines));
    let before = project.read(STATE);
    let message = project.agent(&["take-up"]).refusal();
    has(&message, "an agent may not run");
    assert_eq!(project.read(STATE), before);
    project.person(&["take-up"]).done();
    let state = project.read(STATE);
    for kept in [
        "ours:\n  kept:\n  - 1\n  - 2.5\n",
        "created: 2026-01-02T03:04:05Z\n",
        "  analysis_mode_round_1: standard\n",
        "{later}",
        "# Log\n\nWhat was done.\n",
    ] {
        assert!(state.contains(kept), "{kept}: {state}");
    }
    assert_eq!(project.state("schema_version"), "2");
    let message = project.person(&["take-up"]).refusal();
    has(&message, "is under way here");
    project
}

#[test]
fn every_stage_and_status_is_taken_up() {
    let lines = |stage: u64, status: &str| {
        let key = if stage == 6 {
            "phase_status"
        } else {
            "stage_status"
        };
        format!("schema_version: 2\ncurrent_stage: {stage}\n{key}: {status}\ncurrent_round: 2\n")
    };
    for (stage, status, instruction, now) in [
        (1, "pending", "dispatch", 1),
        (1, "completed", "dispatch", 2),
        (2, "in_progress", "dispatch", 2),
        (2, "waiting_for_user", "stop", 2),
        (3, "failed", "ask", 3),
        (3, "completed", "dispatch", 4),
        (4, "waiting_for_user", "stop", 4),
        (5, "in_progress", "dispatch", 5),
        (5, "failed", "ask", 5),
        (6, "completed", "dispatch", 7),
        (7, "pending", "dispatch", 7),
    ] {
        let step = if stage == 2 {
            "next_step: Write the agenda\n"
        } else {
            "next_step: null # none\n"
        };
        let project = project_with(&(lines(stage, status) + step));
        let next = project.next();
        assert_eq!(
            (&next["instruction"], &next["stage"]),
            (&json!(instruction), &json!(now)),
            "{stage} {status}"
        );
        if status == "waiting_for_user" {
            assert_eq!(project.state("pause_stage"), stage.to_string());
            assert_eq!(
                next["reason"],
                if stage == 2 {
                    "Write the agenda"
                } else {
                    "The pipeline waited for you when it was taken up."
                }
            );
            project.person(&["resume"]).done();
            assert_eq!(
                project.next()["variables"]["ENTRY_TYPE"],
                "re_entry_after_user_input"
            );
        }
    }
}

#[test]
fn unreadable_document_is_named_and_stays() {
    for (lines, named) in [
        (
            "current_phase: DEEP_ANALYSIS\n",
            "missing field `schema_version`",
        ),
        ("schema_version: 1\n", "`schema_version` is 1"),
        (
            "schema_version: 2\ncurrent_stage: 8\n",
            "`current_stage` is 8",
        ),
        ("schema_version: 2\nstage_status: perhaps\n", "perhaps"),
        ("schema_version: 2\ncurrent_round: many\n", "many"),
        (
            "schema_version: 2\ncurrent_stage: 7\nstage_status: completed\n",
            "over",
        ),
        ("a: [\n", "frontmatter"),
    ] {
        let project = Project::empty();
        project.write(STATE, &document(lines));
        let before = project.read(STATE);
        let message = project.person(&["take-up"]).refusal();
        assert!(message.contains(named), "{message}");
        assert_eq!(project.read(STATE), before);
        let message = project.agent(&["start"]).refusal();
        assert!(
            message.contains("\n            stages take-up\n")
                && message.contains("/stages:start --anew (in a terminal: stages start --anew)")
                && !message.contains("import"),
            "{message}"
        );
        assert_eq!(project.read(STATE), before);
    }
}

#[test]
fn earlier_summary_is_stale() {
    let project = Project::empty();
    let file = "requirements/.stage-summaries/stage-1-summary.md";
    project.write(file, &summary(1, "completed", "  analysis_mode: rapid\n"));
    project.agent(&["start"]).done();
    let message = project.agent(&["report"]).refusal();
    assert!(message.contains("stale"), "{message}");
    let project = Project::empty();
    project.write(file, &summary(1, "completed", "  analysis_mode: rapid\n"));
    project.write(STATE, &document("schema_version: 2\ncurrent_stage: 1\n"));
    project.person(&["take-up"]).done();
    let message = project.agent(&["report"]).refusal();
    assert!(message.contains("stale"), "{message}");
}

#[test]
fn start_anew_moves_foreign_files_aside() {
    let summary_file = "requirements/.stage-summaries/stage-1-summary.md";
    let foreign = || {
        let project = Project::empty();
        project.write(STATE, &document("schema_version: 2\ncurrent_stage: 3\n"));
        project.write(summary_file, &summary(1, "completed", ""));
        project
    };
    let moved = |project: &Project| {
        let entries = std::fs::read_dir(project.root.join("requirements")).unwrap();
        let mut names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let folder = names.find(|name| name.starts_with("before-")).unwrap();
        [STATE, summary_file].map(|file| {
            project.read(&file.replace("requirements/", &format!("requirements/{folder}/")))
        })
    };
    let project = foreign();
    let before = [STATE, summary_file].map(|file| project.read(file));
    for command in ["status", "next", "report"] {
        has(&project.person(&[command]).refusal(), "stages take-up");
    }
    let message = project.agent(&["start", "--anew"]).refusal();
    has(&message, "an agent may not run");
    project.person(&["start", "--anew"]).done();
    assert_eq!(moved(&project), before);
    assert_eq!(project.next()["stage"], 1);
    // Our pipeline is not moved aside.
    let message = project.person(&["start", "--anew"]).refusal();
    assert!(message.contains("already active"), "{message}");

    let project = foreign();
    project.hook("prompt", &json!({
        "session_id": SESSION, "hook_event_name": "UserPromptSubmit", "prompt": "/stages:start --product-name Two words --anew",
        "cwd": project.root, "prompt_id": "1",
    }));
    project.agent(&["start", "--from-prompt"]).done();
    assert_eq!(moved(&project), before);
    assert_eq!(project.state("product_name"), "Two words");
}
