//! What a person's terminal gets and nothing else: colours, and lines that end where it ends.

use crate::support::{Project, Stop};

const THIN: &str = "# Move the queue\n\nWe will move it soon.\n";

fn project() -> Project {
    let project = Project::new().with("TERM", "xterm");
    project.plan(THIN);
    project
        .run(&["run", "PLAN.md", "--rounds", "1", "--reviewer", "lint"])
        .exits(4);
    project
}

fn is_coloured(text: &str) -> bool {
    text.contains('\u{1b}')
}

#[test]
fn a_terminal_gets_colours_for_headings_severities_and_marks() {
    let project = project();
    for (arguments, shows) in [
        (&["status"][..], "\u{1b}[1mphase:\u{1b}[0m"),
        (&["list"], "\u{1b}[1mLOOP "),
        (&["doctor"], "\u{1b}[1m\u{1b}[32mok\u{1b}[0m "),
        (
            &["run", "PLAN.md", "--rounds", "1", "--reviewer", "lint"],
            "\u{1b}[1m\u{1b}[31mhigh\u{1b}[0m ",
        ),
        (
            &["run", "PLAN.md", "--reviewer", "fake-clean"],
            "loop complete ✓\u{1b}[0m",
        ),
        (
            &["review", "--file", "PLAN.md", "--reviewer", "lint"],
            "\u{1b}[31m## High\u{1b}[0m",
        ),
        (&["--help"], "mLoops:\u{1b}[0m"),
    ] {
        project.on_terminal(100, arguments, "").shows(shows);
        let never = [arguments, &["--color", "never"]].concat();
        let screen = project.on_terminal(100, &never, "");
        // The spinner moves the cursor; a colour ends in an m.
        assert!(
            !screen.lines.iter().any(|line| line.contains("\u{1b}[0m")),
            "{screen:#?}"
        );
    }
}

#[test]
fn the_progress_line_counts_the_seconds_of_its_round() {
    let project = project();
    project.add_reviewer(
        "slow",
        "sh",
        &["-c", "sleep 1.3; echo 'No substantive findings.'"],
    );
    let screen = project.on_terminal(100, &["run", "PLAN.md", "--reviewer", "slow"], "");
    let shown = screen.lines.join("\n");
    assert!(
        shown.contains(" round 3 of 3, Ops and SRE review (0s)"),
        "{screen:#?}"
    );
}

#[test]
fn no_variable_colours_a_pipe_and_no_color_is_heeded() {
    for (name, value) in [
        ("CLICOLOR_FORCE", "1"),
        ("FORCE_COLOR", "1"),
        ("COLORTERM", "truecolor"),
    ] {
        let project = project().with(name, value);
        for arguments in [&["status"][..], &["list"], &["doctor"], &["status", "nope"]] {
            let ran = project.run(arguments);
            assert!(
                !is_coloured(&ran.out) && !is_coloured(&ran.err),
                "{name}: {ran:?}"
            );
        }
    }
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLAUDECODE", "1")] {
        let screen = project()
            .with(name, value)
            .on_terminal(100, &["status"], "");
        assert!(
            !screen.lines.iter().any(|line| is_coloured(line)),
            "{name}: {screen:#?}"
        );
    }
}

#[test]
fn what_programs_read_has_no_colour_even_where_colours_are_asked_for() {
    let project = project();
    let always = |arguments: &[&str]| project.run(&[&["--color", "always"], arguments].concat());
    assert!(is_coloured(&always(&["status"]).out));
    assert!(is_coloured(
        &project.run(&["status", "nope", "--color=always"]).err
    ));
    for arguments in [
        &["status", "--json"][..],
        &["list", "--json"],
        &["doctor", "--json"],
        &["run", "PLAN.md", "--json", "--reviewer", "lint"],
    ] {
        let ran = always(arguments);
        assert!(!is_coloured(&ran.out), "{ran:?}");
    }
    let ran = always(&["start", "plan", "x"]).exits(0);
    assert!(!is_coloured(&ran.out), "{ran:?}");
    let stop = project.run_with_stdin(&["--color", "always", "hook", "stop"], b"{}");
    assert!(!is_coloured(&stop.out), "{stop:?}");
    Stop::read(&stop);
    project.answers(&["status", "--color", "blue"], 2, "auto, always, never");
}

#[test]
fn a_start_a_run_and_a_review_break_their_lines_between_words_and_no_path_or_command() {
    let project = Project::new();
    project.plan(THIN);
    let topic = "move the whole queue to the other database before winter comes and the snow falls";
    let start = project.on_terminal(60, &["start", "plan", "--from-draft", topic], "");
    start.shows("Topic: move the whole queue to the other database before");
    start.shows("winter comes and the snow falls");
    let id = start
        .lines
        .iter()
        .find_map(|line| line.trim_end().strip_prefix("Review ID: "));
    let id = id.unwrap_or_else(|| panic!("{start:#?}")).to_owned();
    start.shows(&project.state_path(&id).display().to_string());
    project.fire().blocked();
    let findings = project.findings(&id, 1).display().to_string();
    let review = project.on_terminal(60, &["review", &id, "--reviewer", "lint"], "");
    review.shows(&findings);
    review.shows("- line 1: there is no plan to review: 8 words stand outside");
    project.run(&["cancel", &id]).exits(0);
    let run = project.on_terminal(
        60,
        &["run", "PLAN.md", "--rounds", "1", "--reviewer", "lint"],
        "",
    );
    for end in [
        "    high    line 1: there is no plan to review: 8 words",
        "plan `PLAN.md`. Reviewed by:",
    ] {
        assert!(
            run.lines.iter().any(|line| line.ends_with(end)),
            "{end}: {run:#?}"
        );
    }
    run.shows("   claudex-loop run --rounds 2 --reviewer lint --drafter COMMAND ");
    let piped = project.run(&["run", "PLAN.md", "--rounds", "1", "--reviewer", "lint"]);
    piped
        .exits(4)
        .says("there is no plan to review: 8 words stand outside of code");
}
