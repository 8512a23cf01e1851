//! The eight issues in the seed's review, by their numbers.

use claudex_testkit::has;
use serde_json::{Value, json};

use crate::support::{ID, Project, task_file};

pub(crate) const REVIEWS: [&str; 4] = [
    "plan-review",
    "tasks-review",
    "code-review",
    "all-code-review",
];

/// Returns a project whose plan was taken up at a phase, with these counts of all and done tasks.
fn at(next_phase: &str, tasks: (u64, u64), fields: &Value) -> Project {
    let project = Project::new();
    project.write(ID, "plan.md", "# Plan\n\n## Overview\n");
    if tasks.0 > 0 {
        project.tasks(ID, tasks.0, tasks.1);
    }
    let mut state = json!({
        "max_reviews": 8, "current_task": null, "phase": "before", "next_phase": next_phase, "phase_iteration": 2,
        "review_model": "opus", "consecutive_clean": 1, "tdd": false,
    });
    for (key, value) in fields.as_object().unwrap() {
        state[key] = value.clone();
    }
    project.write(ID, "state.json", &state.to_string());
    project.person(&["continue-plan", ID]).done();
    project
}

/// Returns a project in a review after one PASS, with one task done and maybe one pending.
pub(crate) fn in_review(review: &str, pending: bool, fields: &Value) -> Project {
    let mut fields = fields.clone();
    let tasks = match review {
        "plan-review" => (0, 0),
        "tasks-review" => (2, 0),
        "code-review" => {
            fields["current_task"] = 1.into();
            (if pending { 2 } else { 1 }, 1)
        }
        _ => (1, 1),
    };
    at(review, tasks, &fields)
}

#[track_caller]
fn is_state(project: &Project, expected: &str) {
    let state = project.state(ID);
    let keys = state.as_object().unwrap();
    let values: Vec<String> = keys
        .values()
        .map(|value| value.to_string().replace('"', ""))
        .collect();
    assert_eq!(values.join(" "), expected);
}

#[test]
fn issue_1_zero_reviews_are_skipped_once() {
    let targets = ["create-tasks", "complete-task", "complete-task", "complete"];
    for (review, target) in REVIEWS.into_iter().zip(targets) {
        let project = in_review(review, true, &json!({ "max_reviews": 0 }));
        project.ends();
        let now = project.state(ID);
        let changed = [&now["next_phase"], &now["phase"], &now["phase_iteration"]];
        assert_eq!(changed, [&json!(target), &json!(review), &json!(0)]);
        let journal = project.person(&["journal", ID]).done();
        assert!(!journal.contains("run-began"), "{journal}");
        // The next stop changes nothing.
        assert_eq!(project.ends(), "");
        assert_eq!(project.state(ID), now);
    }
}

#[test]
fn issue_2_phase_is_read_by_no_edge() {
    let machine = include_str!("../../machine.toml");
    let guards = machine.lines().filter(|line| line.starts_with("when"));
    let words = guards.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    assert!(!words.clone().any(|word| word == "phase"));
    assert!(words.clone().any(|word| word == "phase_iteration"));
    let help = Project::new().person(&["next", "--help"]).done();
    for text in [&*help, include_str!("../../plugin/SPEC.md")] {
        has(text, "for people");
    }
}

#[test]
fn issue_3_outstanding_work_is_named() {
    // tests/fixtures/rows.txt has the rows. Here the program names one, and changes nothing.
    let project = in_review("code-review", true, &json!({}));
    let task = task_file(1, "completed") + &task_file(1, "pending").replace("1.1", "1.2");
    project.write(ID, "task-1.md", &task);
    let before = project.read("state.json");
    let next = project.person(&["continue-plan", ID]).done();
    has(
        &next,
        "continue-task: continue task 1, then end the turn (C14: 1 of 2 subtasks",
    );
    let after = project.read("state.json");
    assert_eq!(after, before);
}

#[test]
fn issue_4_reviews_read_code_and_command_results() {
    let project = at("complete-task", (2, 0), &json!({}));
    project.configure("\n[commands.check]\nprogram = \"echo\"\narguments = [\"all is well\"]\n");
    // From standalone, the task begins now.
    project.person(&["pause", ID]).done();
    project.person(&["complete-task", ID]).done();
    project.commit("part", "part.txt", "The first part.\n");
    std::fs::write(project.root.join("untracked.txt"), "Not tracked yet.\n").unwrap();
    project.tasks(ID, 2, 1);
    let task = task_file(1, "completed").replace("test -e README.md", "check");
    project.write(ID, "task-1.md", &task);
    project.blocks();
    project.review(None).done();
    let prompt = project.prompt();
    has(&prompt, "+The first part.");
    has(&prompt, "+Not tracked yet.");
    has(&prompt, "all is well");
    has(&prompt, "Subtask 1.1");
    has(&prompt, "# Plan");
    assert!(!prompt.contains("Mine."), "{prompt}");
}

#[test]
fn issue_5_plan_starts_with_its_own_limit() {
    for (words, most, tdd) in [
        ("one", 8, false),
        ("--max-reviews=4 one", 4, false),
        ("TDD=true Max_reviews=0 one", 0, true),
    ] {
        let project = Project::new();
        project.slash("new-plan", words).done();
        let now = project.state("one");
        assert_eq!(
            [&now["max_reviews"], &now["tdd"]],
            [&json!(most), &json!(tdd)]
        );
    }
    let project = Project::new();
    for wrong in [
        "max_reviews=many one",
        "max_reviews=100 one",
        "max_reviews=-1 one",
        "tdd=maybe one",
        "--tdd one",
        "max_reviews=3",
        "one max_reviews=3",
        "one [tdd:true]",
        "",
    ] {
        let refusal = project.slash("new-plan", wrong).0;
        assert_eq!(refusal.code, Some(2), "{wrong}: {refusal:?}");
    }
    assert!(!project.root.join(".taskie").exists());
    // The plan's name is the first words, or the next free name.
    for (description, id) in [
        ("Archive", "archive-2"),
        ("…", "plan"),
        ("TDD: dates", "tdd-dates"),
        ("-- “Dates” (ISO)!", "dates-iso"),
        ("dates iso", "dates-iso-2"),
        ("Größe ändern für Öl", "grosse-andern-fur-ol"),
    ] {
        project.slash("new-plan", description).done();
        assert_eq!(project.state(id)["next_phase"], "new-plan", "{description}");
    }
}

#[test]
fn issue_6_every_field_is_written_on_every_path() {
    let project = Project::new();
    project.person(&["new-plan", "billing"]).done();
    is_state(&project, "8 null new-plan new-plan 0 opus 0 false");
    project.write(ID, "plan.md", "## Overview\n");
    project.blocks();
    is_state(&project, "8 null new-plan plan-review 0 opus 0 false");
    for (review, phase, task) in [
        ("plan", "plan-review", "null"),
        ("tasks", "tasks-review", "null"),
        ("task-1-code", "code-review", "1"),
        ("all-code", "all-code-review", "1"),
    ] {
        let is = |state: &str| is_state(&project, &format!("8 {task} {state} false"));
        let post = format!("post-{phase}");
        project.review(Some("High")).done();
        project.blocks();
        is(&format!("{phase} {post} 1 sonnet 0"));
        project.write(ID, &format!("{review}-post-review-1.md"), "Fixed.\n");
        project.blocks();
        is(&format!("{post} {phase} 1 sonnet 0"));
        project.review(None).done();
        project.blocks();
        is(&format!("{phase} {post} 2 opus 1"));
        project.write(ID, &format!("{review}-post-review-2.md"), "Nothing.\n");
        project.blocks();
        is(&format!("{post} {phase} 2 opus 1"));
        project.review(None).done();
        project.ends();
        match review {
            "plan" => {
                is("plan-review create-tasks 3 sonnet 2");
                project.tasks(ID, 1, 0);
                project.blocks();
                is("create-tasks tasks-review 0 opus 0");
            }
            "tasks" => {
                is("tasks-review complete-task 3 sonnet 2");
                project.tasks(ID, 1, 1);
                project.blocks();
                is_state(&project, "8 1 complete-task code-review 0 opus 0 false");
            }
            "task-1-code" => is("code-review all-code-review 0 opus 0"),
            _ => is("all-code-review complete 3 sonnet 2"),
        }
    }
}

#[test]
fn issue_7_four_blocks_have_one_wording() {
    let mut blocks = Vec::new();
    for review in REVIEWS {
        let project = in_review(review, true, &json!({ "consecutive_clean": 0 }));
        project.review(Some("High")).done();
        let block = project.blocks();
        has(
            &block,
            "(max_reviews, current_task, phase, next_phase, phase_iteration, review_model, consecutive_clean, tdd)",
        );
        let subject = match review {
            "code-review" => "task-1-code",
            review => review.strip_suffix("-review").unwrap(),
        };
        let plain = block
            .replace(&format!("{subject}-review-1"), "REVIEW")
            .replace(&format!("{subject}-post-review-1"), "ANSWER")
            .replace(&format!("advance {review} "), "advance TARGET ");
        blocks.push(plain);
    }
    blocks.dedup();
    assert_eq!(blocks.len(), 1, "{blocks:#?}");
}

#[test]
fn issue_8_each_review_has_its_own_target() {
    let targets = "plan-review pending - create-tasks continue-plan
        tasks-review pending - complete-task continue-plan
        tasks-review pending tdd complete-task-tdd continue-plan
        code-review pending - complete-task continue-plan
        code-review pending tdd complete-task-tdd continue-plan
        code-review last - all-code-review taskie review
        all-code-review pending - complete is complete";
    for line in targets.lines() {
        let words: Vec<&str> = line.trim().splitn(5, ' ').collect();
        let [review, pending, tdd, target, next] = words[..] else {
            panic!("{line}")
        };
        let pending = pending == "pending";
        let tdd = tdd == "tdd";
        let project = in_review(review, pending, &json!({ "tdd": tdd }));
        project.review(None).done();
        let note = project.ends();
        assert_eq!(project.state(ID)["next_phase"], target, "{review}, {tdd}");
        has(&note, "passed");
        has(&note, next);
    }
}

#[test]
fn severities_decide_the_verdict() {
    let next_phase = |word: &str, severity: Option<&str>| {
        let fields = json!({ "max_reviews": 1, "phase_iteration": 0, "consecutive_clean": 0 });
        let project = in_review("plan-review", true, &fields);
        let finding = severity.map(|severity| {
            json!({ "severity": severity, "what": "There is a hole", "recommendation": "Fix it" })
        });
        let findings: Vec<Value> = finding.into_iter().collect();
        let answer = json!({ "verdict": word, "findings": findings });
        project.reviewer(&format!("cat >/dev/null\nprintf '%s' '{answer}'\n"));
        let _ = project.agent(&["review"]);
        let _ = project.stop();
        project.state(ID)["next_phase"].clone()
    };
    for (word, severity, next) in [
        ("findings", Some("low"), "create-tasks"),
        ("findings", Some("medium"), "post-plan-review"),
        ("clean", Some("high"), "post-plan-review"),
        ("clean", None, "create-tasks"),
        // Unreadable answers.
        ("findings", None, "plan-review"),
        ("FAIL", Some("low"), "plan-review"),
    ] {
        assert_eq!(next_phase(word, severity), next, "{word} {severity:?}");
    }
}
