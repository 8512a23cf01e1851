//! The start of a loop: phrases and exit codes for users and scripts. A refused or failed start
//! leaves no files.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Project, Ran, has, id_of, lacks, tree, yaml};

/// Starts a plan loop, and checks fields of it.
#[track_caller]
fn check_start(project: &Project, line: &[&str], fields: &[(&str, &str)]) -> Ran {
    let ran = project.run(&[&["start", "plan"], line].concat()).exits(0);
    let id = id_of(&ran);
    for (field, value) in fields {
        assert_eq!(project.field(&id, field), *value, "{field}");
    }
    project.run(&format!("cancel {id}")).exits(0);
    ran
}

// --- arguments -----------------------------------------------------------------------------------

#[test]
fn flags_and_topic_are_recorded() {
    let project = Project::new();
    project.plan("# Old\n");
    let flags = ["--skip-interview", "--interviewed", "--rounds=7", "x"];
    let expected = [
        ("interview_used", "true"),
        ("max_rounds", "7"),
        ("from_draft", "false"),
    ];
    check_start(&project, &flags, &expected).says("existing PLAN.md");
    let draft = ["--from-draft", "x"];
    check_start(&project, &draft, &[("from_draft", "true")]).says("existing PLAN.md");
    // Flags after the topic belong to it, as do all words after two dashes.
    let after = ["raise", "--rounds", "9"];
    check_start(
        &project,
        &after,
        &[("topic", "raise --rounds 9"), ("max_rounds", "3")],
    )
    .says("--rounds is part of the text");
    let dashes = ["--rounds", "2", "--", "--rounds", "are many"];
    check_start(
        &project,
        &dashes,
        &[("topic", "--rounds are many"), ("max_rounds", "2")],
    );
    check_start(&project, &[&"x".repeat(64 * 1024)], &[]);
}

#[test]
fn bad_arguments_exit_with_2_and_leave_nothing() {
    let project = Project::new();
    let before = tree(&project.root);
    let long = format!("plan {}", "x".repeat(65 * 1024));
    for (arguments, phrase) in [
        ("plan", "Plan mode requires a topic"),
        ("plan ' \n '", "Plan mode requires a topic"),
        ("plan --rounds 0 x", "positive integer"),
        ("plan --rounds -1 x", "positive integer"),
        ("plan --max-failures 0 x", "0 is not in 1..=1000"),
        ("plan --rounds=1.5 x", "positive integer"),
        ("plan --rounds= x", "positive integer"),
        ("plan --rounds 99999999999999999999 x", "positive integer"),
        ("plan --rounds", "a value is required"),
        ("plan --from-draft x", "requires PLAN.md to exist"),
        ("plan --plan . x", "is a folder"),
        ("plan --plan new/ x", "is a folder"),
        (
            "plan --plan .claude/claudex/x.md x",
            "in the folder of the loops",
        ),
        ("plan --frobnicate x", "‘-- --frobnicate’"),
        ("review --from-draft", "only applies to plan mode"),
        ("review --rounds 0", "positive integer"),
        ("banana x", "banana"),
        (&long, "topic: expected at most 65536 bytes"),
    ] {
        let ran = project.run(&format!("start {arguments}")).exits(2);
        assert_eq!(ran.says(phrase).out, "", "{arguments:?}");
        assert_eq!(tree(&project.root), before, "{arguments:?}");
    }
    project.run("start").exits(2);
    for (name, value) in [
        ("CLAUDEX_MAX_PLAN_ROUNDS", "many"),
        ("CLAUDEX_STALE_MINUTES", "0"),
    ] {
        let project = Project::new().with(name, value);
        let ran = project.run("start plan x").exits(2);
        ran.says("positive integer").says(name);
        assert!(!project.folder().exists());
    }
}

#[test]
fn hostile_topic_is_kept_byte_for_byte() {
    for topic in [
        "two\nlines\nphase: done\n--- a rule\n# comment: [yaml, {x: y}] *anchor &ref !!tag @at %p",
        "a | b & c / d \\ e \\n \"double\" 'single' `back` $(touch pwned) ${HOME} $1 !x",
        "Ärger mit 東京 😀 \u{202e}reversed tab\tand\u{1b}[31mescape\u{7}\u{85}\u{2028}end",
        "-n",
        "{{ 7*7 }} {% for x in y %}",
        "0x10",
    ] {
        let project = Project::new();
        let id = id_of(&project.run(&["start", "plan", "--", topic]).exits(0));
        assert_eq!(project.field(&id, "topic"), topic);
        let path = project.state_path(&id);
        let got = project
            .run(&["state", "get", path.to_str().unwrap(), "topic"])
            .exits(0);
        assert_eq!(got.out.strip_suffix('\n'), Some(topic));
        project.plan("# Plan\n");
        let block = project.fire().blocked();
        has(&block, "### Claudex round 1 of 3, Senior-engineer review\n");
        lacks(&block, "quoted: \"49");
        let runner = project.runner(&id);
        let runner = [runner.to_str().unwrap(), "--reviewer", "fake-clean"];
        Ran::new(project.shell("sh", &runner).output().unwrap()).exits(0);
        project.fire().blocked();
        project.fire().approved();
        assert_eq!(project.field(&id, "topic"), topic);
        assert!(!project.root.join("pwned").exists());
    }
}

// --- one loop at a time --------------------------------------------------------------------------

#[test]
fn start_beside_an_active_loop_is_refused() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "summarizing");
    let before = tree(&project.folder());
    let ran = project.run("start plan another").exits(1).says(&id);
    assert_eq!(ran.err.matches("already active").count(), 1, "{ran:?}");
    assert_eq!(tree(&project.folder()), before);
    project.fire().approved();

    let before = project.state(&id);
    assert_ne!(project.start(&[]), id);
    assert_eq!(project.state(&id), before, "the finished loop stays");
}

// --- files ---------------------------------------------------------------------------------------

#[test]
fn state_file_has_the_known_fields_in_order() {
    let project = Project::new();
    let id = project.start(&["--rounds", "2"]);
    let text = project.state(&id);
    let names: Vec<&str> = text
        .lines()
        .map(|line| line.split_once(": ").unwrap().0)
        .collect();
    let known = "mode phase topic round max_rounds from_draft interview_used review_id repo_root session_id started_at \
                 started_at_epoch last_updated_at decision_signal";
    assert_eq!(names[..14].join(" "), known);
    for name in ["revision", "machine", "graph_hash"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(
        yaml(&text).len(),
        names.len(),
        "valid YAML, each field once"
    );
    for (name, value) in [
        ("mode", "plan"),
        ("phase", "drafting"),
        ("round", "1"),
        ("max_rounds", "2"),
        ("from_draft", "false"),
        ("interview_used", "false"),
        ("review_id", &id),
        ("repo_root", project.root.to_str().unwrap()),
        ("session_id", "unknown"),
        ("decision_signal", "none"),
    ] {
        assert_eq!(project.field(&id, name), value, "{name}");
    }
    let epoch: i64 = project.field(&id, "started_at_epoch").parse().unwrap();
    let started: jiff::Timestamp = project.field(&id, "started_at").parse().unwrap();
    assert_eq!(started.as_second(), epoch);
    assert!(project.field(&id, "last_updated_at").ends_with('Z'));
    has(&text, "\ntopic: \"Move the queue\"\n");
    // Other users cannot read the loop or the key.
    for file in [project.state_path(&id), project.state_home().join("key")] {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file:?}");
    }
}
