//! What a terminal gets and a pipe does not: colours.

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
    ] {
        project.on_terminal(100, arguments, "").shows(shows);
        let never = [arguments, &["--color", "never"]].concat();
        let screen = project.on_terminal(100, &never, "");
        // The status line moves the cursor; a colour ends in an m.
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
        shown.contains("round 3 of 3, Ops and SRE review (0 s)"),
        "{screen:#?}"
    );
}

#[test]
fn no_variable_colours_a_pipe_and_no_color_is_heeded() {
    for (name, value) in [("FORCE_COLOR", "1"), ("COLORTERM", "truecolor")] {
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
