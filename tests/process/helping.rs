//! Help for the command line: near names after a slip, help texts, completions.

use crate::support::Project;

#[test]
fn a_slip_gets_the_name_that_was_probably_meant() {
    let project = Project::new();
    let id = project.start(&[]);
    let slip = format!("{}0", &id[..21]);
    let slip = if slip == id {
        format!("{}1", &id[..21])
    } else {
        slip
    };
    let meant = format!("did you mean `{id}`?");
    for (arguments, says) in [
        (&["stauts"][..], "‘status’"),
        (&["cancle"], "‘cancel’"),
        (&["mark_done"], "‘mark-done’"),
        (&["status", "--jsno"], "‘--json’"),
        (&["start", "paln", "x"], "‘plan’"),
        (
            &["start", "--rounds", "2", "plan", "x"],
            "‘plan --rounds’ works: the flag stands behind that word",
        ),
        (
            &["start", "plan", "--round", "2", "x"],
            "did you mean `--rounds`?",
        ),
        (
            &["start", "plan", "--form-draft", "x"],
            "did you mean `--from-draft`?",
        ),
        (
            &["start", "plan", "--continu=x", "x"],
            "did you mean `--continue`?",
        ),
        (
            &["review", &id, "--reviewer", "lnit"],
            "did you mean `lint`?",
        ),
        (&["review", &id[..15]], &meant),
        (&["journal", &id[16..]], &meant),
        (&["cancel", &slip], &meant),
        (&["status", &slip], &meant),
    ] {
        let ran = project.run(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}");
        assert!(ran.err.contains(says), "{arguments:?}: {}", ran.err);
    }
    assert_eq!(
        project.changes(&id),
        ["start"],
        "nothing was guessed and done"
    );
    // What was typed after a slash command gets the same.
    project.type_line("s1", "/claudex:plan --ruonds 2 x");
    let ran = project
        .run_in_session("s1", &["start", "plan", "--from-prompt"])
        .exits(2);
    assert!(ran.err.contains("did you mean `--rounds`?"), "{}", ran.err);
}

#[test]
fn refusals_have_a_code_and_a_help() {
    let project = Project::new();
    project.start(&[]);
    for arguments in [
        &["start", "plan", "x"][..],
        &["mark-done"],
        &["more"],
        &["review", "20250101-000000-abcdef"],
        &["journal", "x"],
        &["rollback"],
        &["start", "plan", "--what", "x"],
        &["adopt", "20250101-000000-abcdef"],
    ] {
        let ran = project.run(arguments);
        assert!([1, 2].contains(&ran.code), "{arguments:?}: {ran:?}");
        assert!(
            ran.err.starts_with("claudex::"),
            "{arguments:?}: {}",
            ran.err
        );
        assert!(ran.err.contains("\n  help: "), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn a_start_lists_the_flags_of_its_mode_with_their_values_and_defaults() {
    let project = Project::new();
    let shows = |mode: &str, wanted: &[&str]| {
        let help = project.run(&["start", mode, "--help"]).exits(0).out;
        let flags = help
            .lines()
            .filter(|line| line.trim_start().starts_with("--"))
            .count();
        assert_eq!(flags, wanted.len() + ["--color"].len(), "{help}");
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for flag in wanted {
            assert!(help.contains(flag), "{flag}: {help}");
        }
    };
    let of_plan = [
        "--topic <TOPIC> What it is about",
        "--rounds <N> How many rounds at most [default: 3, or as configured]",
        "--from-draft[=<true|false>] The plan that is there is the draft",
        "--interviewed[=<true|false>] The topic holds answers of an interview",
        "--plan <PATH> The plan’s file [default: PLAN.md]",
        "--continue <LOOP> The loop whose findings this one goes on from",
        "--max-failures <N> How many failures of a review end the loop [default: 3, or as configured]",
        "--skip-interview Ask nothing before the plan is drafted",
    ];
    shows("plan", &of_plan);
    let rounds = "--rounds <N> How many rounds at most [default: 1, or as configured]";
    let base = "--base <REV> Compare with where the branch left REV";
    shows("review", &[of_plan[0], rounds, base, of_plan[6]]);
    let modes = project.run(&["start", "--help"]).exits(0).out;
    assert!(
        modes.contains("\nModes:\n  plan    The agent drafts PLAN.md"),
        "{modes}"
    );
}

#[test]
fn the_help_fits_a_screen_and_lists_each_command_once_in_the_group_that_its_definition_says() {
    let project = Project::new();
    let help = project.run(&["--help"]).exits(0).out;
    assert!(help.lines().count() <= 40, "{help}");
    let (groups, _) = help.split_once("\nOptions:\n").unwrap();
    let commands = |heading: &str| -> Vec<&str> {
        let (_, after) = groups
            .split_once(&format!("\n{heading}:\n"))
            .expect(heading);
        let lines = after.lines().take_while(|line| !line.is_empty());
        lines
            .filter_map(|line| line.split_whitespace().next())
            .collect()
    };
    assert_eq!(
        commands("Loops"),
        ["run", "start", "review", "mark-done", "cancel"]
    );
    let of_person = commands("A person decides");
    assert_eq!(
        of_person,
        [
            "resume", "pause", "adopt", "import", "rollback", "answer", "more"
        ]
    );
    assert_eq!(
        commands("Look"),
        ["status", "list", "journal", "report", "personas", "doctor"]
    );
    assert!(
        groups.contains("\nSet up: new, machine, sweep, "),
        "{groups}"
    );
    for command in of_person {
        project.answers(&[command, "--help"], 0, "A person decides this");
    }
    assert!(
        !project
            .run(&["cancel", "--help"])
            .out
            .contains("A person decides")
    );
}

#[test]
fn one_word_stands_for_a_loop_in_every_help() {
    let project = Project::new();
    for command in [
        "status",
        "journal",
        "review",
        "resume",
        "adopt",
        "answer",
        "cancel",
        "mark-done",
        "more",
    ] {
        let help = project.run(&[command, "--help"]).exits(0).out;
        assert!(
            help.contains("  [LOOP]") && !help.contains("ID]"),
            "{command}: {help}"
        );
    }
}

/// Verbs that people type.
const VERBS: [&str; 8] = [
    "run",
    "start",
    "review",
    "status",
    "mark-done",
    "more",
    "cancel",
    "doctor",
];

#[test]
fn completions_know_the_verbs_and_nothing_that_is_hidden() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let out = project.run(&["completions", shell]).exits(0).out;
        for verb in VERBS {
            assert!(out.contains(verb), "{shell}: {verb}");
        }
        assert!(out.contains("rounds"), "{shell}");
        assert!(
            !out.contains("from-prompt"),
            "{shell} offers what is hidden"
        );
    }
    let script = project.run(&["completions", "bash"]).out;
    let file = project.home.join("completions");
    std::fs::write(&file, &script).unwrap();
    let checked = project
        .shell("bash", &["-n", file.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
    // And it completes: a word that is begun, in a bash that has just read it.
    let line = format!(
        ". '{}'; complete=$(complete -p claudex-loop); complete=${{complete#*-F }}; \
         COMP_WORDS=(claudex-loop mark); COMP_CWORD=1; ${{complete%% *}} claudex-loop mark claudex-loop; \
         echo \"${{COMPREPLY[@]}}\"",
        file.display()
    );
    let mut bash = project.shell("bash", &["--norc", "-c", &line]);
    let completed = String::from_utf8(bash.output().unwrap().stdout).unwrap();
    assert_eq!(completed.trim(), "mark-done");
    project.run(&["completions", "bsh"]).exits(2).says("‘bash’");
}
