//! The texts for a user and an agent: tasks, reasons, questions, status, the state document.

use claudex_testkit::has;
use serde_json::json;

use crate::questions::question;
use crate::support::{Project, SESSION, STATE};

const NOT_READY: &str = "  validation_decision: NOT_READY\n  validation_score: 10\n";

#[test]
fn dispatch_has_task_and_names_draft() {
    let project = Project::empty();
    let draft = "requirements/draft/my idea.md";
    project.write(draft, "A shop.\n");
    let missing = project.agent(&["start", "--draft-file", "no idea.md"]);
    has(&missing.usage(), "cannot find the draft no idea.md");
    let completed = format!("@{draft}");
    project.agent(&["start", "--draft-file", &completed]).done();
    for stage in 1..=7 {
        let text = project.agent(&["next"]).done();
        for part in [
            "**Purpose.**",
            "**Read.**",
            "**Write",
            "**Flags.**",
            "**Done when**",
        ] {
            let is_there = text.contains(part) || stage == 1 && part == "**Flags.**";
            assert!(is_there, "{stage}: {part} in {text}");
        }
        assert_eq!(text.contains(draft), stage <= 5, "{stage}: {text}");
        let placeholders = [
            "{draft}",
            "{summary}",
            "{round}",
            "{nnn}",
            "{notes}",
            "{task}",
        ];
        assert!(
            !placeholders.iter().any(|name| text.contains(name)),
            "{text}"
        );
        project.complete(stage, "");
    }
}

#[test]
fn missing_or_broken_summary_asks_plain_question() {
    for (stage, text, question, labels) in [
        (
            1,
            Some("---\nstage: \"setup\nstage_number: 1\n---\n"),
            "Stage 1 (setup) left a broken summary. Run the stage again, or pause?",
            ["Retry", "Pause"],
        ),
        (
            2,
            None,
            "Stage 2 (research) ended without a summary. Run the stage again, or skip it?",
            ["Retry", "Skip"],
        ),
    ] {
        let project = Project::at(stage);
        let file = project.next()["summary_file"].as_str().unwrap().to_owned();
        if let Some(text) = text {
            project.write(&file, text);
        }
        let message = project.agent(&["recover"]).done();
        assert!(!message.contains("error["), "{message}");
        let next = project.next_at("ask", stage);
        assert_eq!(next["questions"][0]["question"], question);
        let options = next["questions"][0]["options"].as_array().unwrap();
        let offered: Vec<_> = options.iter().map(|option| &option["label"]).collect();
        assert_eq!(offered, labels);
        let status = project.person(&["status"]).done();
        assert_eq!(
            status.contains("error[bad-yaml]"),
            text.is_some(),
            "{status}"
        );
    }
}

#[test]
fn scores_read_as_scores() {
    let project = Project::at(5);
    project.complete(5, NOT_READY);
    let status = project.person(&["status"]).done();
    has(&status, "scores:    round 1: 10 (NOT_READY)\n");
    let id = project.next()["answer"].as_str().unwrap().to_owned();
    let journal = project
        .person(&["journal", id.split(' ').nth(2).unwrap()])
        .done();
    let texts = [status, journal, project.read(STATE)].concat();
    // A digest may have the same digits.
    let mut words = texts.split(|c: char| !c.is_alphanumeric());
    assert!(words.all(|word| word != "10000"), "{texts}");
}

#[test]
fn pipeline_in_recloned_project_has_no_problem() {
    let project = Project::at(2);
    std::fs::remove_dir_all(project.root.join(".stages")).unwrap();
    project.person(&["start", "--anew"]).done();
    for (command, healthy) in [
        ("status", "\"problems\": []"),
        ("list", "\"problem\": null"),
    ] {
        has(&project.person(&[command, "--json"]).done(), healthy);
    }
}

#[test]
fn state_has_only_words_of_schema() {
    let project = Project::at(2);
    let is = |status: &str| assert_eq!(project.state("stage_status"), status);
    is("in_progress");
    project.report("needs-user-input", &question(2, "")).done();
    is("in_progress");
    project.person(&["pause"]).done();
    is("waiting_for_user");
    project.person(&["resume"]).done();
    is("in_progress");
    project.report("failed", "").done();
    is("failed");
    project.person(&["answer", "Skip"]).done();
    project.report("completed", "  questions_count: 8\n").done();
    // Its gate is closed.
    is("in_progress");
    project.person(&["cancel"]).done();
    is("failed");
}

#[test]
fn status_line_shows_stage_and_round() {
    let project = Project::at(2);
    let input = json!({ "session_id": SESSION, "cwd": project.root }).to_string();
    project.write("input.json", &input);
    let input = std::fs::File::open(project.root.join("input.json")).unwrap();
    let mut command = project.folder.command(&["statusline"]);
    let line = command.stdin(input).output().unwrap().stdout;
    let line = String::from_utf8(line).unwrap();
    has(&line, "stages: stage 2 of 7, research, round 1 of 10, ");
}

#[test]
fn wait_names_question_and_answer_command() {
    let project = Project::at(2);
    project.report("needs-user-input", &question(2, "")).done();
    let answer = project.next()["answer"].as_str().unwrap().to_owned();
    let status = project.person(&["status"]).done();
    let awaited = "waits for: an answer to: Which way is it? (“Way 1”, “Way 2”)\n";
    has(&status, awaited);
    has(&status, &format!("the user continues it:\n    {answer}\n"));
    // Only the program needs the data of the open dispatch.
    assert!(!status.contains('{'), "{status}");
}
