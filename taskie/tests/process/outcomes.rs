//! The outcomes of reviews, and the must-run commands.

use claudex_testkit::has;
use serde_json::json;

use crate::seed::in_review;
use crate::support::{ID, task_file};

#[test]
fn failing_reviewer_ends_the_turn_and_then_the_plan() {
    for script in ["exit 1\n", "cat >/dev/null\necho I cannot say.\n"] {
        let project = in_review("code-review", true, &json!({}));
        project.reviewer(script);
        let fail = || assert_eq!(project.agent(&["review"]).0.code, Some(5));
        fail();
        has(&project.blocks(), "taskie review billing");
        fail();
        has(&project.ends(), "gave no verdict");
        assert_eq!(project.state(ID)["next_phase"], "code-review");
        fail();
        project.ends();
        assert_eq!(project.state(ID)["next_phase"], "errored");
    }
}

#[test]
fn no_review_counts_twice() {
    // A PASS of the previous visit does not count.
    let project = in_review("plan-review", true, &json!({ "consecutive_clean": 0 }));
    project.review(None).done();
    project.blocks();
    project.write(ID, "plan-post-review-1.md", "Nothing.\n");
    project.blocks();
    project.blocks();
    project.ends();
    assert_eq!(project.state(ID)["next_phase"], "plan-review");
}

#[test]
fn failing_command_is_a_finding() {
    for review in ["code-review", "all-code-review"] {
        let project = in_review(review, true, &json!({}));
        project.configure("\n[commands.check]\nprogram = \"false\"\n");
        let task = task_file(1, "completed").replace("test -e README.md", "check");
        project.write(ID, "task-1.md", &task);
        project.review(None).done();
        project.blocks();
        let now = project.state(ID);
        assert_eq!(now["next_phase"], format!("post-{review}"));
        assert_eq!(now["consecutive_clean"], 0);
    }
}

#[test]
fn review_of_all_code_reads_active_tasks() {
    let project = in_review("all-code-review", true, &json!({}));
    let table = project.read("tasks.md");
    let dropped = "| 2 | postponed | low | Part 2 | by hand |\n";
    project.write(ID, "tasks.md", &(table + dropped));
    project.write(ID, "task-2.md", &task_file(2, "postponed"));
    project.review(None).done();
    let prompt = project.prompt();
    assert!(prompt.contains("/task-1.md ==="), "{prompt}");
    assert!(!prompt.contains("/task-2.md ==="), "{prompt}");
}
