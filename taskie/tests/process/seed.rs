//! The eight issues of the review that this machine answers, each under its number.

use serde_json::{Value, json};

use crate::support::{ID, Project, task_file};

pub(crate) const REVIEWS: [&str; 4] = [
    "plan-review",
    "tasks-review",
    "code-review",
    "all-code-review",
];

/// Returns a project whose plan was taken up at a phase: so many tasks, so many of them done.
fn at(next_phase: &str, tasks: (u64, u64), besides: &Value) -> Project {
    let project = Project::new();
    project.write(ID, "plan.md", "# Plan\n\n## Overview\n");
    if tasks.0 > 0 {
        project.tasks(ID, tasks.0, tasks.1);
    }
    let mut state = json!({
        "max_reviews": 8, "current_task": null, "phase": "before", "next_phase": next_phase, "phase_iteration": 2,
        "review_model": "opus", "consecutive_clean": 1, "tdd": false,
    });
    for (key, value) in besides.as_object().unwrap() {
        state[key] = value.clone();
    }
    project.write(ID, "state.json", &state.to_string());
    project.age(ID);
    project.person(&["continue-plan", ID]).done();
    project
}

/// Returns a project in a review, one PASS behind it, with a task done and another one pending, or none.
pub(crate) fn in_review(review: &str, pending: bool, besides: &Value) -> Project {
    let mut besides = besides.clone();
    let tasks = match review {
        "plan-review" => (0, 0),
        "tasks-review" => (2, 0),
        "code-review" => {
            besides["current_task"] = 1.into();
            (if pending { 2 } else { 1 }, 1)
        }
        _ => (1, 1),
    };
    at(review, tasks, &besides)
}

/// Checks the eight keys: max_reviews, current_task, phase, next_phase, phase_iteration, review_model, consecutive_clean, tdd.
#[track_caller]
fn is_state(project: &Project, expected: &str) {
    let state = project.state(ID);
    let values = state.as_object().unwrap().values();
    let values: Vec<String> = values
        .map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        })
        .collect();
    assert_eq!(values.join(" "), expected);
}

#[test]
fn issue_1_no_reviews_go_on_once() {
    for (review, target) in
        REVIEWS
            .into_iter()
            .zip(["create-tasks", "complete-task", "complete-task", "complete"])
    {
        let project = in_review(review, true, &json!({ "max_reviews": 0 }));
        project.ends();
        let now = project.state(ID);
        assert_eq!(
            (&now["next_phase"], &now["phase"], &now["phase_iteration"]),
            (&json!(target), &json!(review), &json!(0))
        );
        let journal = project.person(&["journal", ID]).done();
        assert!(!journal.contains("run-began"), "{journal}");
        // The next stop goes no further.
        assert_eq!(project.ends(), "");
        assert_eq!(project.state(ID), now);
    }
}

#[test]
fn issue_2_the_phase_is_the_last_cycle_and_no_edge_reads_it() {
    let machine = include_str!("../../machine.toml");
    let guards = machine.lines().filter(|line| line.starts_with("when"));
    let words = guards.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    assert!(!words.clone().any(|word| word == "phase"));
    assert!(words.clone().any(|word| word == "phase_iteration"));
    let help = Project::new().person(&["next", "--help"]).done();
    assert!(help.contains("the last cycle’s context"), "{help}");
    assert!(include_str!("../../plugin/SPEC.md").contains("the last cycle’s context"));
}

#[test]
fn issue_3_outstanding_work_is_said_by_the_table() {
    // The rows themselves: tests/next.rs. Here the program says one, and moves nothing.
    let project = in_review("code-review", true, &json!({}));
    project.write(
        ID,
        "task-1.md",
        &(task_file(1, "completed") + &task_file(1, "pending").replace("1.1", "1.2")),
    );
    let before = std::fs::read(project.dir(ID).join("state.json")).unwrap();
    let said = project.person(&["continue-plan", ID]).done();
    assert!(
        said.contains("C14") && said.contains("continue-task") && said.contains("1 of 2"),
        "{said}"
    );
    assert_eq!(
        std::fs::read(project.dir(ID).join("state.json")).unwrap(),
        before
    );
}

#[test]
fn issue_4_reviews_read_the_code_and_what_came_of_the_commands() {
    let project = at("complete-task", (2, 0), &json!({}));
    project.configure("\n[commands.check]\nprogram = \"echo\"\narguments = [\"all is well\"]\n");
    // From standalone the task begins here and now.
    project.person(&["pause", ID]).done();
    project.person(&["complete-task", ID]).done();
    project.commit("part", "part.txt", "The first part.\n");
    std::fs::write(project.root.join("untracked.txt"), "Not tracked yet.\n").unwrap();
    project.tasks(ID, 2, 1);
    project.write(
        ID,
        "task-1.md",
        &task_file(1, "completed").replace("test -e README.md", "check"),
    );
    project.blocks();
    project.review(None).done();
    let prompt = project.prompt();
    for part in [
        "+The first part.",
        "+Not tracked yet.",
        "all is well",
        "Subtask 1.1",
        "# Plan",
    ] {
        assert!(prompt.contains(part), "{part}\n{prompt}");
    }
    assert!(!prompt.contains("Mine."), "{prompt}");
}

#[test]
fn issue_5_a_plan_begins_with_its_own_limit() {
    for (typed, most, tdd) in [
        ("one", 8, false),
        ("max_reviews=4 one", 4, false),
        ("tdd=true max_reviews=0 one", 0, true),
    ] {
        let project = Project::new();
        let said = project.slash("new-plan", typed).done();
        assert!(said.contains("one"), "{said}");
        let now = project.state("one");
        assert_eq!(
            (&now["max_reviews"], &now["tdd"]),
            (&json!(most), &json!(tdd)),
            "{typed}"
        );
    }
    // Its name is that of the first words, or one that is free.
    let project = Project::new();
    for (description, id) in [
        ("Archive", "archive-2"),
        ("…", "plan"),
        ("-- “Dates” (ISO)!", "dates-iso"),
        ("dates iso", "dates-iso-2"),
    ] {
        project.slash("new-plan", description).done();
        assert_eq!(project.state(id)["next_phase"], "new-plan", "{description}");
    }
    let project = Project::new();
    for wrong in [
        "max_reviews=many one",
        "max_reviews=100 one",
        "max_reviews=-1 one",
        "tdd=maybe one",
        "max_reviews=3",
        "",
    ] {
        let said = project.slash("new-plan", wrong);
        assert_eq!(said.0.code, Some(2), "{wrong}: {said:?}");
    }
    assert!(!project.root.join(".taskie").exists());
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
        project.write(ID, &format!("{review}-post-review-1.md"), "Mended.\n");
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
fn issue_7_the_four_blocks_have_one_wording() {
    let mut blocks = Vec::new();
    for review in REVIEWS {
        let project = in_review(review, true, &json!({ "consecutive_clean": 0 }));
        project.review(Some("High")).done();
        let block = project.blocks();
        for key in [
            "max_reviews",
            "current_task",
            "phase_iteration",
            "review_model",
            "consecutive_clean",
        ] {
            assert!(block.contains(key), "{block}");
        }
        let files = review.strip_suffix("-review").unwrap();
        let files = if files == "code" {
            "task-1-code"
        } else {
            files
        };
        let plain = block
            .replace(&format!("{files}-review-1"), "REVIEW")
            .replace(&format!("{files}-post-review-1"), "ANSWER");
        blocks.push(plain.replace(&format!("advance {review} "), "advance TARGET "));
    }
    assert!(
        blocks.iter().all(|block| *block == blocks[0]),
        "{blocks:#?}"
    );
}

#[test]
fn issue_8_each_review_has_its_own_target() {
    for (review, pending, tdd, target) in [
        ("plan-review", true, false, "create-tasks"),
        ("tasks-review", true, false, "complete-task"),
        ("tasks-review", true, true, "complete-task-tdd"),
        ("code-review", true, false, "complete-task"),
        ("code-review", true, true, "complete-task-tdd"),
        ("code-review", false, false, "all-code-review"),
        ("all-code-review", true, false, "complete"),
    ] {
        let project = in_review(review, pending, &json!({ "tdd": tdd }));
        project.review(None).done();
        let said = project.ends();
        assert_eq!(project.state(ID)["next_phase"], target, "{review}, {tdd}");
        // What comes next, and how.
        let next = match target {
            "complete" => "is complete",
            "all-code-review" => "taskie review billing",
            _ => "/taskie:continue-plan billing",
        };
        assert!(said.contains(next) && said.contains("passed"), "{said}");
    }
}

#[test]
fn a_low_finding_is_a_pass_and_one_review_is_enough_where_there_is_only_one() {
    let project = in_review(
        "plan-review",
        true,
        &json!({ "max_reviews": 1, "phase_iteration": 0, "consecutive_clean": 0 }),
    );
    project.review(Some("Low")).done();
    project.ends();
    assert_eq!(project.state(ID)["next_phase"], "create-tasks");
    let review = std::fs::read_to_string(project.dir(ID).join("plan-review-1.md")).unwrap();
    assert!(review.trim_end().ends_with("VERDICT: PASS"), "{review}");
}

#[test]
fn the_severities_decide_and_not_the_word_beside_them() {
    let plan = || {
        let fields = json!({ "max_reviews": 1, "phase_iteration": 0, "consecutive_clean": 0 });
        in_review("plan-review", true, &fields)
    };
    let says = |word: &str, severity: Option<&str>| {
        let one = |severity| json!([{ "severity": severity, "what": "There is a hole", "recommendation": "Mend it" }]);
        let answer = json!({ "verdict": word, "findings": severity.map_or(json!([]), one) });
        let project = plan();
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
        // They cannot be read.
        ("findings", None, "plan-review"),
        ("FAIL", Some("low"), "plan-review"),
    ] {
        assert_eq!(says(word, severity), next, "{word} {severity:?}");
    }
}
