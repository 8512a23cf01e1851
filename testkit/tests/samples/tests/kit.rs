//! What holds for any machine holds for the large one.

use std::fs;
use std::io;

use claudex_testkit::{Kit, Project};

/// Returns a number of a state document, be it JSON or YAML; 0 for null.
fn number(project: &Project, document: &str, key: &str) -> u64 {
    let text = fs::read_to_string(project.root().join(document)).unwrap_or_default();
    let found = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim().trim_matches('"') == key).then_some(value.trim().trim_matches(','))
    });
    found.and_then(|value| value.parse().ok()).unwrap_or_default()
}

/// Writes the summary of the stage that was dispatched, and what it is about.
fn summary(project: &Project, lines: &str) -> io::Result<()> {
    let of = |key| number(project, "requirements/.requirements-state.local.md", key);
    project.write(
        "requirements/working/QUESTIONS.md",
        "## Q-1: Who is it for? [CRITICAL]\n",
    )?;
    project.write("requirements/PRD.md", "# Product Definition\n")?;
    project.write(
        &format!(
            "requirements/.stage-summaries/stage-{}-summary.md",
            of("current_stage")
        ),
        &format!(
            "---\n{lines}\ndispatch_id: {}\n---\n\n## Context for Next Stage\n",
            of("dispatch")
        ),
    )
}

#[test]
#[expect(clippy::print_stdout, reason = "what was tried is what the test has to say")]
fn stages_pass_the_kit() {
    let mut kit = Kit::new("stages.toml", env!("CARGO_BIN_EXE_stages-sample"));
    for (transition, lines) in [
        ("complete", "status: completed\nnext_action: proceed"),
        ("go_back", "status: completed\nnext_action: ACTION"),
        (
            "validate",
            "status: completed\nvalidation_decision: DECISION\nvalidation_score: SCORE",
        ),
        (
            "wait",
            "status: needs-user-input\npause_type: exit_cli\nblock_reason: REASON",
        ),
        (
            "ask",
            "status: needs-user-input\npause_type: interactive\nquestion: Who is it for?\nheader: Users",
        ),
        ("fail", "status: failed"),
        ("remind", "status:"),
    ] {
        kit = kit.own("dispatched", transition, move |project, given| {
            let filled = given.iter().fold(lines.to_owned(), |lines, (name, value)| {
                lines.replace(&name.to_uppercase(), value)
            });
            summary(project, &filled)
        });
    }
    let report = kit.quick().unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}
