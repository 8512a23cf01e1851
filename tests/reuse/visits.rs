//! A review counts for the visit in which it began. It does not count in the next phase, even with
//! the same subject and round, or after another entry into its phase.

use crate::project::Project;
use claudex_testkit::has;

/// Returns a project with one loop, whose two phases review the same file in their round 1.
fn project() -> Project {
    let mut reviewers =
        "[reviewers.broken]\nkind = \"command\"\nprogram = \"/bin/false\"\n".to_owned();
    for (name, found) in [
        ("fine", "No substantive findings."),
        ("low", "## Low\\n- A word is misspelt"),
        ("medium", "## Medium\\n- A step is missing"),
    ] {
        reviewers += &format!(
            "[reviewers.{name}]\nkind = \"command\"\nprogram = \"/bin/sh\"\narguments = [\"-c\", \"cat >/dev/null; printf '# Findings\\n\\n{found}\\n'\"]\n"
        );
    }
    let project = Project::new("twice", &reviewers);
    project.run("start");
    project.write("TEXT.md", "Text.\n");
    let note = project.stop_saying()["systemMessage"].to_string();
    assert!(note.contains("in phase first"), "{note}");
    project
}

#[test]
fn review_counts_for_the_visit_it_began_in() {
    let project = project();
    assert_eq!(project.stop(), "first", "nothing was reviewed");
    project.review("fine");
    assert_eq!(project.stop(), "second");
    // The same subject, the same round, and another phase.
    assert_eq!(project.stop(), "second");
    assert!(
        project
            .run("status")
            .contains("waits for: the review of round 1")
    );
    project.review("fine");
    project.run("back");
    assert_eq!(project.status("phase"), "first");
    assert_eq!(project.stop(), "first", "it was entered again");
    project.review("fine");
    assert_eq!(project.stop(), "second");
    project.review("fine");
    project.stop();
    assert!(project.run("journal").contains("done"));
}

#[test]
fn document_names_the_last_run_of_its_visit() {
    let project = project();
    let run = || {
        let text = std::fs::read_to_string(project.root.join(project.status("state"))).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("run:"));
        line.unwrap().trim().trim_matches('"').to_owned()
    };
    assert_eq!(run(), "");
    for _ in 0..2 {
        let before = run();
        project.fails("review --reviewer broken", "");
        assert_eq!(
            project.stop(),
            "first",
            "a review that could not run is one miss more"
        );
        assert!(run() != before && run().starts_with("r1-"), "{}", run());
    }
    project.review("fine");
    assert_eq!(project.stop(), "second");
    assert_eq!(run(), "", "the visit before says nothing of this one");
}

#[test]
fn phase_says_what_blocks() {
    let project = project();
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
    let next = project.run("status");
    assert!(
        next.contains("nothing that the reviewer found blocks"),
        "{next}"
    );
    assert_eq!(project.stop(), "done");
}

/// The build checks the names in the template, but not its arithmetic.
#[test]
fn broken_message_ends_the_turn_with_a_line() {
    let project = project();
    project.review("fine");
    let answer = project.stop_saying();
    assert_eq!(answer["decision"], "approve");
    assert_eq!(project.status("phase"), "second");
    let note = answer["systemMessage"].to_string();
    has(&note, "has changed, but the message about it failed");
    has(&note, "second.md");
}
