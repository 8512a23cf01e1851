//! Colours, which only a terminal gets.

use crate::support::{Project, Stop, has, lacks};

/// Returns a project with an ended loop, which a terminal shows in colours.
fn project() -> Project {
    let project = Project::new().with("TERM", "xterm");
    project.plan("# Move the queue\n\nWe will move it soon.\n");
    project
        .run("run PLAN.md --rounds 1 --reviewer lint")
        .exits(4);
    project
}

const ESCAPE: &str = "\u{1b}";

#[test]
fn terminal_gets_colours_unless_switched_off() {
    let project = project();
    let run = "run PLAN.md --rounds 1 --reviewer lint";
    for (line, shows) in [
        ("status", "\u{1b}[1mphase:\u{1b}[0m"),
        ("list", "\u{1b}[1mLOOP "),
        ("doctor", "\u{1b}[1m\u{1b}[32mok\u{1b}[0m "),
        (
            run,
            "\u{1b}[1mRound 1 of 1, Senior-engineer review\u{1b}[0m",
        ),
        (
            "run PLAN.md --reviewer fake-clean",
            "\u{1b}[32mno substantive findings\u{1b}[0m",
        ),
    ] {
        project.on_terminal(100, line, "").shows(shows);
    }
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLAUDECODE", "1")] {
        let project = self::project().with(name, value);
        let screen = project.on_terminal(100, "status", "").lines.join("\n");
        lacks(&screen, ESCAPE);
    }
}

#[test]
fn pipe_gets_colours_only_if_asked_for() {
    let project = project()
        .with("FORCE_COLOR", "1")
        .with("COLORTERM", "truecolor");
    for line in ["status", "list", "doctor", "status nope"] {
        let ran = project.run(line);
        lacks(&(ran.out + &ran.err), ESCAPE);
    }
    // Output for programs has no colours, even if they are asked for.
    let project = project.with("CLICOLOR_FORCE", "1");
    has(&project.run("status").out, ESCAPE);
    has(&project.run("status nope").err, ESCAPE);
    for line in [
        "status --json",
        "list --json",
        "doctor --json",
        "run PLAN.md --json --reviewer lint",
        "start plan x",
    ] {
        lacks(&project.run(line).out, ESCAPE);
    }
    let stop = project.run_with_stdin("hook stop", b"{}");
    lacks(&stop.out, ESCAPE);
    Stop::read(&stop);
}
