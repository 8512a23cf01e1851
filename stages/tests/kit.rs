//! What holds for any machine holds for the pipeline.

use std::fs;
use std::io;

use claudex_testkit::{Actor, Kit, Project};
use stages::contract::Stage;
use stages::gates::REQUIRED_SECTIONS;

const STATE: &str = "requirements/.requirements-state.local.md";

/// Returns a number of the state document.
fn number(project: &Project, key: &str) -> u64 {
    let text = fs::read_to_string(project.root().join(STATE)).unwrap_or_default();
    let found = text
        .lines()
        .find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": "));
    found
        .and_then(|value| value.parse().ok())
        .unwrap_or_default()
}

/// Writes what passes both gates, or what does not.
fn work(project: &Project, passes: bool) -> io::Result<()> {
    let round = number(project, "current_round");
    let part = |name: &&str| format!("## {name}\n\nPeople can do it.\n\n");
    let questions = "## Q-A1: Who is it for? [CRITICAL]\n\n- [ ] One\n- [ ] Two\n- [ ] Other\n";
    let (questions, sections): (&str, String) = match passes {
        true => (questions, REQUIRED_SECTIONS.iter().map(part).collect()),
        false => ("", String::new()),
    };
    project.write(
        &format!("requirements/working/QUESTIONS-{round:03}.md"),
        &format!("---\nround_number: {round}\n---\n\n{questions}"),
    )?;
    project.write("requirements/decision-log.md", "All of them.\n")?;
    project.write(
        "requirements/PRD.md",
        &format!("# Requirements\n\n{sections}"),
    )
}

/// Writes the summary of the stage under way, as no one before it was.
fn summary(project: &Project, lines: &str) -> io::Result<()> {
    let number = |key| number(project, key);
    let (stage, dispatch, revision) = (
        number("current_stage"),
        number("dispatch"),
        number("revision"),
    );
    let known = Stage::of_number(stage).unwrap();
    let (status, flags) = lines.split_once('\n').unwrap_or((lines, ""));
    project.write(
        &format!("requirements/.stage-summaries/stage-{stage}-summary.md"),
        &format!(
            "---\nstage: {known}\nstage_number: {stage}\nstatus: {status}\ncheckpoint: {}\nartifacts_written: []\nsummary: Done\nflags:\n  completed_steps: [\"{dispatch}\", \"{revision}\"]\n{flags}\n---\n\n## Context for Next Stage\n",
            known.checkpoint()
        ),
    )
}

const SHALLOW: &str = "completed\n  thinkdeep_expected: 27\n  thinkdeep_completion_pct: 10";
/// A question with every action that some stage can have; a label that maps to none of its stage has the stage run again.
const QUESTION: &str = "needs-user-input
  pause_type: interactive
  block_reason: b
  question_context:
    question: Which way?
    header: Way
    options:
      - label: Proceed
        description: d
      - label: Questions
        description: d
      - label: Research
        description: d
  next_action_map:
    Proceed: proceed
    Questions: loop_questions
    Research: loop_research";

/// Writes what stages 2 and 6 leave, as nobody wrote it before.
fn found(project: &Project) -> io::Result<()> {
    let text = format!("Of revision {}.\n", number(project, "revision"));
    project.write("requirements/research/research-synthesis.md", &text)?;
    project.write("requirements/completion-report.md", &text)?;
    project.write("requirements/decision-log.md", &text)?;
    let questions = format!(
        "requirements/working/QUESTIONS-{:03}.md",
        number(project, "current_round")
    );
    project.write(&questions, &text)
}

/// Has every transition that only an answer takes taken by it.
fn answers(mut kit: Kit) -> Kit {
    for (phase, transition, label) in [
        ("asking", "go_on", "Proceed"),
        ("asking", "go_again", "Questions"),
        ("deciding", "go_on", "Proceed"),
        ("failed", "go_on", "Proceed"),
        ("failed", "retry", "Retry"),
        ("failed", "use_found", "Use what is there"),
        ("failed", "skip", "Skip"),
        ("gated", "retry", "Again"),
        ("gated", "mended", "Mended, check again"),
        ("shallow", "accept", "Go on"),
        ("shallow", "standard", "Again in standard"),
        ("breaker", "force", "Force"),
        ("breaker", "one_more", "One more round"),
        ("stuck", "force", "Force"),
        ("stuck", "another", "Another way"),
        ("stuck", "further", "Go on"),
    ] {
        kit = kit.verb(phase, transition, Actor::Person, move |project, _| {
            if transition == "use_found" {
                found(project)?;
            }
            Ok(vec!["answer".to_owned(), label.to_owned()])
        });
    }
    for (phase, [questions, research]) in [
        ("asking", ["Questions", "Research"]),
        ("deciding", ["More questions", "More research"]),
        ("failed", ["More questions", "More research"]),
    ] {
        kit = kit.verb(phase, "go_back", Actor::Person, move |_, given| {
            let label = match given["action"].as_str() {
                "loop_questions" => questions,
                _ => research,
            };
            Ok(vec!["answer".to_owned(), label.to_owned()])
        });
    }
    kit = kit.verb("choosing", "choose", Actor::Person, |_, given| {
        Ok(vec!["answer".to_owned(), given["mode"].clone()])
    });
    kit.verb("asking", "tell", Actor::Person, |_, given| {
        Ok(vec!["answer".to_owned(), given["answer"].clone()])
    })
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "what was tried is what the test has to say"
)]
fn the_pipeline_passes_the_kit() {
    let mut kit = Kit::new("machine.toml", env!("CARGO_BIN_EXE_stages"));
    let report = || Ok(vec!["report".to_owned()]);
    let recover = || Ok(vec!["recover".to_owned()]);
    for (transition, passes, lines) in [
        // Models that think deeply are there, so that every mode is offered.
        ("complete", true, "completed\n  pal_available: true"),
        ("proceed", true, "completed\n  next_action: proceed"),
        ("back", true, "completed\n  next_action: ACTION"),
        ("decide", true, "completed"),
        (
            "pass",
            true,
            "completed\n  validation_decision: CONDITIONAL",
        ),
        (
            "not_ready",
            true,
            "completed\n  validation_decision: NOT_READY\n  validation_score: SCORE",
        ),
        (
            "unscored",
            true,
            "completed\n  validation_decision: NOT_READY",
        ),
        (
            "block",
            false,
            "completed\n  validation_decision: CONDITIONAL",
        ),
        ("doubt", true, SHALLOW),
        (
            "wait",
            true,
            "needs-user-input\n  pause_type: exit_cli\n  block_reason: REASON",
        ),
        ("ask", true, QUESTION),
        ("repeat", true, QUESTION),
        ("fail", true, "failed"),
    ] {
        kit = kit.verb(
            "dispatched",
            transition,
            Actor::Agent,
            move |project, given| {
                let filled = given.iter().fold(lines.to_owned(), |lines, (name, value)| {
                    let value = match name.as_str() {
                        "score" => {
                            format!("{:.3}", value.parse::<f64>().unwrap_or_default() / 1000.0)
                        }
                        _ => value.clone(),
                    };
                    lines.replace(&name.to_uppercase(), &value)
                });
                work(project, passes)?;
                summary(project, &filled)?;
                report()
            },
        );
    }
    kit = kit.own("dispatched", "remind", |_, _| Ok(()));
    for transition in ["complete", "pass", "block", "doubt"] {
        let lines = match transition {
            "doubt" => SHALLOW,
            _ => "completed\n  validation_decision: CONDITIONAL",
        };
        kit = kit.verb("recovering", transition, Actor::Agent, move |project, _| {
            work(project, transition != "block")?;
            summary(project, lines)?;
            recover()
        });
    }
    kit = kit.verb("recovering", "fail", Actor::Agent, move |project, _| {
        // What lies there is as it was.
        for part in [
            "PRD.md",
            "completion-report.md",
            "decision-log.md",
            "research",
            "working",
        ] {
            let path = project.root().join("requirements").join(part);
            let gone = if path.is_dir() {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
            gone.or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
        }
        recover()
    });
    kit = kit.own("recovering", "remind", |_, _| Ok(()));
    let report = answers(kit).plugin("plugin").quick().unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}
