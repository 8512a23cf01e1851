//! Help on the command line: suggestions after a typing error, and help texts.

use crate::support::{Project, begins, has, lacks};

#[test]
fn slip_gets_the_name_that_was_meant() {
    let project = Project::new();
    let id = project.start(&[]);
    for (line, says) in [
        ("stauts", "‘status’"),
        ("mark_done", "‘mark-done’"),
        ("status --jsno", "‘--json’"),
        ("start paln x", "‘plan’"),
        ("start --rounds 2 plan x", "‘plan --rounds’ exists"),
        ("start plan --round 2 x", "‘--rounds’"),
        ("start plan --continu=x x", "‘--continue’"),
        (
            "review ID --reviewer lnit",
            "choose `auto`, `claude`, `codex`, `lint`",
        ),
    ] {
        let ran = project.run(&line.replace("ID", &id));
        assert_ne!(ran.code, 0, "{line:?}");
        has(&ran.err, says);
    }
    assert_eq!(
        project.changes(&id),
        ["start"],
        "nothing was guessed and done"
    );
    // Arguments of a slash command get the same.
    let ran = project
        .slash("s1", "/claudex:plan --ruonds 2 x", "start plan")
        .exits(2);
    has(&ran.err, "‘--rounds’");
    let ran = Project::new().run("start plan x --else --rounds 2");
    has(&ran.out, "--rounds is part of the text");
}

#[test]
fn refusals_have_a_code_and_a_help() {
    let project = Project::new();
    project.start(&[]);
    for line in [
        "start plan x",
        "mark-done",
        "more",
        "review 20250101-000000-abcdef",
        "journal x",
        "rollback",
        "adopt 20250101-000000-abcdef",
    ] {
        let ran = project.run(line);
        assert!([1, 2].contains(&ran.code), "{line:?}: {ran:?}");
        begins(&ran.err, "  × ");
        has(&ran.err, "\n  help: ");
    }
}

#[test]
fn start_help_lists_the_flags_of_its_mode() {
    let project = Project::new();
    let shows = |mode: &str, wanted: &[&str]| {
        let help = project.run(&["start", mode, "--help"]).exits(0).out;
        let flags = help
            .lines()
            .filter(|line| line.trim_start().starts_with("--"));
        assert_eq!(flags.count(), wanted.len(), "{help}");
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        wanted.iter().for_each(|flag| has(&help, flag));
    };
    let of_plan = [
        "--topic <TOPIC> The topic",
        "--rounds <N> The number of the last round [default: 3, or as configured]",
        "--from-draft[=<true|false>] Whether the existing plan is the draft",
        "--interviewed[=<true|false>] Whether the topic has the answers of an interview",
        "--plan <PATH> The plan’s file [default: PLAN.md]",
        "--continue <LOOP> The loop whose findings this one continues",
        "--max-failures <N> The number of failed reviews that ends the loop [default: 3, or as configured]",
        "--skip-interview Ask nothing before the plan is drafted",
    ];
    shows("plan", &of_plan);
    let rounds = "--rounds <N> The number of the last round [default: 1, or as configured]";
    let base = "--base <REV> Compare with where the branch left REV";
    shows("review", &[of_plan[0], rounds, base, of_plan[6]]);
    let modes = "\nModes:\n  plan    The agent drafts PLAN.md";
    project.answers("start --help", 0, modes);
}

/// `tests/docs.rs` compares the groups with the documentation.
#[test]
fn help_fits_a_screen_and_names_users_commands() {
    let project = Project::new();
    let help = project.run("--help").exits(0).out;
    assert!(help.lines().count() <= 40, "{help}");
    assert_eq!(project.run("help").exits(0).out, help);
    project.answers("help start plan", 0, "--from-draft");
    for command in [
        "resume", "pause", "adopt", "import", "rollback", "answer", "more",
    ] {
        project.answers(&[command, "--help"], 0, "Only the user may run this");
    }
    lacks(&project.run("cancel --help").out, "Only the user");
    for command in ["status", "review", "adopt", "cancel", "mark-done", "more"] {
        let help = project.run(&[command, "--help"]).exits(0).out;
        has(&help, "  [LOOP]");
        lacks(&help, "ID]");
    }
    // An argument without help ends its line with spaces.
    lacks(&project.run("state --help").exits(0).out, " \n");
}
