//! Refused reports, lost or damaged summaries, and files that count instead.

use claudex_testkit::{as_agent, has};
use serde_json::json;

use crate::questions::question;
use crate::support::{Project, STATE, summary};

#[test]
fn refused_report_changes_nothing() {
    let project = Project::at(2);
    let next = project.next();
    let before = project.read(STATE);
    let id = next["dispatch_id"].as_str().unwrap();
    let file = next["summary_file"].as_str().unwrap();
    let setup = project.read("requirements/.stage-summaries/stage-1-summary.md");
    let of_dispatch = format!("  dispatch_id: {id}\n");
    project.keep();
    for (text, reason) in [
        (summary(3, "completed", &of_dispatch), "foreign"),
        (summary(2, "completed", "  dispatch_id: another\n"), "stale"),
        (summary(2, "completed", "  round_number: 2\n"), "stale"),
        (setup, "taken-already"),
    ] {
        project.restore();
        project.write(file, &text);
        let message = project.agent(&["report"]).refusal();
        has(&message, reason);
        assert_eq!(project.next(), next, "{reason}");
        assert_eq!(project.read(STATE), before, "{reason}");
    }
    project.restore();
    has(&project.agent(&["report"]).refusal(), "stages recover");
    assert_eq!(project.read(STATE), before);
    let journal = project.agent(&["journal", id.rsplit_once('-').unwrap().0]);
    has(&journal.done(), "refused report by the agent: ");
}

#[test]
fn second_refused_report_asks_user() {
    let project = Project::at(2);
    let file = project.next()["summary_file"].as_str().unwrap().to_owned();
    project.write(&file, &summary(2, "completed", "  dispatch_id: old\n"));
    project.agent(&["report"]).refusal();
    // A reminder between two reports begins no new dispatch.
    project.stop(&json!({}));
    project.next_at("dispatch", 2);
    project.agent(&["report"]).done();
    let next = project.next_at("ask", 2);
    assert_eq!(
        next["questions"][0]["question"],
        "Stage 2 (research) twice reported a summary that does not count. Run the stage again, or skip it?"
    );
    has(&project.person(&["status"]).done(), "error[stale]");
    // The next dispatch is a new one.
    project.person(&["answer", "Retry"]).done();
    project.agent(&["report"]).refusal();
    project.next_at("dispatch", 2);
}

#[test]
fn validate_checks_dispatch_of_open_stage() {
    let project = Project::at(2);
    let file = project.summary("completed", "");
    project.agent(&["validate", &file]).done();
    project.write(&file, &summary(2, "completed", "  dispatch_id: old\n"));
    let message = project.agent(&["validate", &file]).refusal();
    has(&message, &format!("{file}:9:16: error[stale]: "));
    let earlier = "requirements/.stage-summaries/stage-1-summary.md";
    project.agent(&["validate", earlier]).done();
    let missing = project.agent(&["validate", "nothing.md"]).refusal();
    has(&missing, "name the file of a summary");
}

#[test]
fn written_summary_is_reported_not_produced_again() {
    let project = Project::at(2);
    project.summary("completed", "");
    let next = project.next_at("recover", 2);
    assert_eq!(next["run"], "stages report");
    let text = project.agent(&["next"]).done();
    has(&text, "Do not run the stage again");
    project.agent(&["report"]).done();
    project.next_at("dispatch", 3);
}

#[test]
fn lost_validation_summary_always_asks_user() {
    for spoiled in [None, Some("not a summary\n")] {
        let project = Project::at(5);
        let flags = "  validation_decision: NOT_READY\n  validation_score: 9\n";
        let file = project.summary("completed", flags);
        project.requirements();
        match spoiled {
            None => std::fs::remove_file(project.root.join(&file)).unwrap(),
            Some(text) => project.write(&file, text),
        }
        project.agent(&["recover"]).done();
        let next = project.next_at("ask", 5);
        let question = next["questions"][0]["question"].as_str().unwrap();
        has(question, "or use the files that it wrote?");
        project.person(&["answer", "Use what is there"]).done();
        project.agent(&["recover"]).done();
        project.next_at("dispatch", 6);
        let result = "    score: null\n    decision: CONDITIONAL\n";
        has(&project.read(STATE), result);
    }
}

#[test]
fn summary_after_two_early_reports_is_not_lost() {
    let project = Project::at(4);
    project.agent(&["report"]).refusal();
    project.agent(&["report"]).done();
    let next = project.next_at("ask", 4);
    let question = next["questions"][0]["question"].as_str().unwrap();
    has(question, "was reported twice without a summary");
    let text = summary(4, "completed", "  next_action: loop_questions\n");
    project.write("requirements/.stage-summaries/stage-4-summary.md", &text);
    project.person(&["answer", "Use what is there"]).done();
    project.agent(&["recover"]).done();
    assert_eq!(project.next()["key"], "analysis_mode_round_2");
}

#[test]
fn subfolder_is_told_the_root() {
    let project = Project::at(1);
    project.write("pkg/idea.md", "A shop.\n");
    let in_subfolder = |arguments: &[&str]| {
        let mut command = project.folder.command(arguments);
        as_agent(&mut command);
        let output = command.current_dir(project.root.join("pkg")).output();
        let output = output.unwrap();
        [output.stdout, output.stderr]
            .map(|text| String::from_utf8(text).unwrap())
            .concat()
    };
    let next = in_subfolder(&["next"]);
    let root = project.root.to_str().unwrap();
    has(&next, &format!("All paths are below `{root}`"));
    let file = format!("{root}/requirements/.stage-summaries/stage-1-summary.md");
    has(&next, &format!("`stages validate {file}` prints \"valid\""));
    let refusal = in_subfolder(&["report"]);
    has(
        &refusal,
        &format!("cannot take {file}: the file is missing"),
    );
}

#[test]
fn changed_kept_summary_is_not_used() {
    let project = Project::at(2);
    project.report("needs-user-input", &question(2, "")).done();
    let next = project.next();
    let id = next["answer"].as_str().unwrap().split(' ').nth(2).unwrap();
    let kept = project.root.join(format!(".stages/{id}/kept"));
    for entry in std::fs::read_dir(kept).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("Way 1", "Way 9")).unwrap();
    }
    // In a clone, the project's own file replaces it.
    project.next_at("ask", 2);
    project.write("requirements/.stage-summaries/stage-2-summary.md", "");
    let message = project.agent(&["next"]).refusal();
    has(
        &message,
        "the kept summary with the question is gone or was changed",
    );
}

#[test]
fn skipped_response_analysis_asks_for_next_step() {
    let project = Project::at(4);
    project.agent(&["recover"]).done();
    project.person(&["answer", "Skip"]).done();
    has(
        &project.read(STATE),
        "  response_analysis:\n    status: skipped\n",
    );
    project.person(&["answer", "Proceed"]).done();
    project.next_at("dispatch", 5);
}
