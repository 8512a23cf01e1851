//! A review counts for the visit in which it began: not for the next phase with the same subject and round, nor for the same phase
//! once it is entered again.

use serde_json::json;

use crate::project::Project;

/// Two phases that review the same file, each in its round 1, and a way back.
const MACHINE: &str = r#"name = "twice"
messages = "messages"

[modes.twice]
start = "writing"

[fields]
HELD
run      = { holds = "run" }
round    = { type = "count", initial = 1 }
tries    = { type = "count", initial = 1 }
misses   = { type = "count" }

[phases.writing]
on_stop = { require-file = { path = "TEXT.md", written = "ready", missing = "miss" } }

[phases.first]
on_stop.review = { subject = "TEXT.md", round = "round", clean = "pass", findings = "again", nothing = "miss", failed = "miss" }

[phases.second]
message = "second.md"
on_stop.review = { subject = "TEXT.md", round = "tries", blocking = "medium", earlier = "fresh", clean = "pass", findings = "again", nothing = "miss", failed = "miss" }

[phases.done]
terminal = true

[[transitions.ready]]
from = "writing"
to   = "first"

[[transitions.pass]]
from     = "first"
to       = "second"
requires = "settled"

[[transitions.pass]]
from     = "second"
to       = "done"
requires = "settled"

[[transitions.again]]
from     = ["first", "second"]
to       = "same"
when     = "round < 9 and tries < 9"
requires = "reviewed"
set      = { round = "round + 1", tries = "tries + 1" }

[[transitions.miss]]
from = "*"
to   = "same"
when = "misses < 9"
set  = { misses = "misses + 1" }

[[transitions.back]]
from = "second"
to   = "first"
by   = ["person"]

[[transitions.leave]]
from = "*"
to   = "done"
by   = ["person"]
"#;

/// Makes a project with one loop of it.
fn project() -> Project {
    let reviewer = |name: &str, found: &str| {
        format!(
            "[reviewers.{name}]\nkind = \"command\"\nprogram = \"/bin/sh\"\narguments = [\"-c\", \"cat >/dev/null; printf '# Findings\\n\\n{found}\\n'\"]\n"
        )
    };
    let reviewers = [
        ("fine", "No substantive findings."),
        ("low", "## Low\\n- A word is misspelt"),
        ("medium", "## Medium\\n- A step is missing"),
    ];
    let reviewers = reviewers.iter().map(|(name, found)| reviewer(name, found));
    let reviewers = reviewers.collect::<String>()
        + "[reviewers.broken]\nkind = \"command\"\nprogram = \"/bin/false\"\n";
    // The build knows the names, and not that this cannot be reckoned.
    let second = ("second.md", "Again. {{ 1 // (round - round) }}\n");
    let project = Project::new("twice", MACHINE, &[second], &reviewers);
    project.write("TEXT.md", "Text.\n");
    project.run(&["start"], "");
    project
}

#[test]
fn a_review_counts_for_the_visit_in_which_it_began() {
    let project = project();
    assert_eq!(project.stop(), "first");
    assert_eq!(project.stop(), "first", "nothing was reviewed");
    project.review("fine");
    assert_eq!(project.stop(), "second");
    // The same subject, the same round, and another phase.
    assert_eq!(
        project.stop(),
        "second",
        "the first phase was reviewed, and not this one"
    );
    assert!(
        project
            .run(&["status"], "")
            .contains("waits for: the review of round 1")
    );
    project.review("fine");
    project.run(&["back"], "");
    assert_eq!(project.status("phase"), "first");
    // The same phase once more, after reviews of both.
    assert_eq!(project.stop(), "first", "it was entered again");
    project.review("fine");
    assert_eq!(project.stop(), "second");
    assert_eq!(project.stop(), "second");
    project.review("fine");
    project.stop();
    let (journal, verified) = (
        project.run(&["journal"], ""),
        project.run(&["journal", "--verify"], ""),
    );
    assert!(journal.contains("done"), "{journal}");
    assert!(!verified.is_empty());
}

#[test]
fn the_document_names_the_last_run_of_its_visit() {
    let project = project();
    project.stop();
    let run = || {
        project
            .run(&["state", "get", &project.status("state"), "run"], "")
            .trim()
            .to_owned()
    };
    assert_eq!(run(), "");
    for _ in 0..2 {
        let before = run();
        project.try_run(&["review", "--reviewer", "broken"], "");
        assert_eq!(
            project.stop(),
            "first",
            "a review that could not run is one miss more"
        );
        assert!(run() != before && run().starts_with("r1-"), "{}", run());
    }
    project.review("fine");
    assert_eq!(project.stop(), "second");
    assert_eq!(
        run(),
        "",
        "what the visit before rested on says nothing of this one"
    );
}

#[test]
fn a_phase_says_what_blocks() {
    let project = project();
    project.stop();
    project.review("low");
    assert_eq!(project.stop(), "first", "any finding blocks there");
    project.review("medium");
    project.stop();
    project.review("fine");
    assert_eq!(
        project.stop(),
        "first",
        "it is open while the text is the same"
    );
    project.write("TEXT.md", "Text, mended.\n");
    project.review("fine");
    assert_eq!(project.stop(), "second");
    project.review("medium");
    assert_eq!(project.stop(), "second", "medium ones block here");
    project.review("low");
    let next = project.run(&["status"], "");
    assert!(
        next.contains("nothing that the reviewer found blocks"),
        "{next}"
    );
    assert_eq!(project.stop(), "done");
}

#[test]
fn words_that_cannot_be_shown_leave_the_agent_with_what_is_next() {
    let project = project();
    project.stop();
    project.review("fine");
    let answer = project.stop_saying();
    let (reason, note) = (
        answer["reason"].to_string(),
        answer["systemMessage"].to_string(),
    );
    assert_eq!(
        (&answer["decision"], project.status("phase").as_str()),
        (&json!("block"), "second")
    );
    assert!(
        reason.contains("is in phase second") && reason.contains("twice review"),
        "{answer}"
    );
    assert!(note.contains("second.md"), "{answer}");
}
