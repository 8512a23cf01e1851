//! Starting a loop: phrases and exit codes that users and scripts look for, and that a start which is refused or fails
//! leaves nothing behind.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::support::{Project, Ran, id_of, tree, yaml};

// --- what it says ------------------------------------------------------------------------------------------------

#[test]
fn a_draft_is_named_and_an_old_plan_is_not_taken_for_one() {
    let project = Project::new();
    project.plan("# Old\n");
    let ran = project
        .run(&["start", "plan", "topic"])
        .exits(0)
        .says("existing PLAN.md");
    project.run(&["cancel", &id_of(&ran)]).exits(0);
    let ran = project
        .run(&["start", "plan", "--from-draft", "topic"])
        .exits(0)
        .says("existing PLAN.md");
    assert_eq!(project.field(&id_of(&ran), "from_draft"), "true");
}

#[test]
fn flags_are_recorded() {
    let project = Project::new();
    let id = project.start(&["--skip-interview", "--interviewed", "--rounds=7"]);
    assert_eq!(project.field(&id, "interview_used"), "true");
    assert_eq!(project.field(&id, "max_rounds"), "7");
    assert_eq!(project.field(&id, "from_draft"), "false");
}

#[test]
fn bad_arguments_exit_with_2_say_why_and_leave_nothing() {
    let project = Project::new();
    let before = tree(&project.root);
    let cases: [(&[&str], &str); 14] = [
        (&["plan"], "Plan mode requires a topic"),
        (&["plan", "  \n "], "Plan mode requires a topic"),
        (&["plan", "--rounds", "0", "x"], "positive integer"),
        (&["plan", "--rounds", "-1", "x"], "positive integer"),
        (&["plan", "--rounds=1.5", "x"], "positive integer"),
        (&["plan", "--rounds", "three", "x"], "positive integer"),
        (&["plan", "--rounds=", "x"], "positive integer"),
        (
            &["plan", "--rounds", "99999999999999999999", "x"],
            "positive integer",
        ),
        (&["plan", "--rounds"], "a value is required"),
        (&["plan", "--from-draft", "x"], "requires PLAN.md to exist"),
        (&["plan", "--frobnicate", "x"], "`--frobnicate`"),
        (&["review", "--from-draft"], "only applies to plan mode"),
        (&["review", "--rounds", "0"], "positive integer"),
        (&["banana", "x"], "banana"),
    ];
    for (arguments, phrase) in cases {
        let ran = project
            .run(&[&["start"], arguments].concat())
            .exits(2)
            .says(phrase);
        assert_eq!(ran.out, "", "{arguments:?}");
        assert_eq!(tree(&project.root), before, "{arguments:?}");
    }
    project.run(&["start"]).exits(2);
}

#[test]
fn the_environment_sets_the_rounds_and_a_value_that_is_none_is_an_error() {
    let project = Project::new().with("CLAUDEX_MAX_PLAN_ROUNDS", "5");
    let id = project.start(&[]);
    assert_eq!(project.field(&id, "max_rounds"), "5");
    project.run(&["cancel", &id]).exits(0);
    let id = project.start(&["--rounds", "2"]);
    assert_eq!(project.field(&id, "max_rounds"), "2", "the flag goes first");

    for (name, value) in [
        ("CLAUDEX_MAX_PLAN_ROUNDS", "0"),
        ("CLAUDEX_MAX_PLAN_ROUNDS", "many"),
        ("CLAUDEX_STALE_MINUTES", "soon"),
        ("CLAUDEX_STALE_MINUTES", "0"),
    ] {
        let project = Project::new().with(name, value);
        let before = tree(&project.root);
        project
            .run(&["start", "plan", "x"])
            .exits(2)
            .says("positive integer")
            .says(name);
        assert_eq!(tree(&project.root), before);
    }
}

// --- one loop at a time ------------------------------------------------------------------------------------------

#[test]
fn a_start_is_refused_in_every_phase_that_is_not_terminal() {
    let project = Project::new();
    let id = project.start(&["--rounds", "1"]);
    let refused = |phase: &str| {
        assert_eq!(project.field(&id, "phase"), phase);
        let before = tree(&project.folder());
        let ran = project
            .run(&["start", "plan", "another"])
            .exits(1)
            .says("already active")
            .says(&id);
        assert_eq!(
            ran.err.matches("already active").count(),
            1,
            "once: {}",
            ran.err
        );
        assert_eq!(tree(&project.folder()), before, "{phase}");
    };
    refused("drafting");
    project.plan("# Plan\n");
    project.fire().blocked();
    refused("reviewing");
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    refused("summarizing");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");

    let before = std::fs::read(project.state_path(&id)).unwrap();
    let next = project.start(&[]);
    assert_ne!(next, id);
    assert_eq!(
        std::fs::read(project.state_path(&id)).unwrap(),
        before,
        "the finished loop stays for the audit"
    );
}

#[test]
fn a_start_that_fails_exits_with_3_and_leaves_nothing() {
    let project = Project::new();
    std::fs::write(
        project.root.join(".claude"),
        "a file where a folder should be",
    )
    .unwrap();
    let before = tree(&project.root);
    project
        .run(&["start", "plan", "x"])
        .exits(3)
        .says(".claude");
    assert_eq!(tree(&project.root), before);

    let project = Project::new();
    std::fs::create_dir_all(project.folder().join(".lock")).unwrap();
    project.run(&["start", "plan", "x"]).exits(3).says(".lock");
    let mut left: Vec<_> = std::fs::read_dir(project.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, [".gitignore", ".lock", ".start.lock"]);
}

// --- what it writes ----------------------------------------------------------------------------------------------

#[test]
fn the_state_file_has_the_fields_that_are_known_in_their_order() {
    let project = Project::new();
    let id = project.start(&["--rounds", "2"]);
    let text = project.state(&id);
    let names: Vec<&str> = text
        .lines()
        .map(|line| line.split_once(": ").unwrap().0)
        .collect();
    assert_eq!(
        names[..14],
        [
            "mode",
            "phase",
            "topic",
            "round",
            "max_rounds",
            "from_draft",
            "interview_used",
            "review_id",
            "repo_root",
            "session_id",
            "started_at",
            "started_at_epoch",
            "last_updated_at",
            "decision_signal",
        ]
    );
    for name in ["revision", "machine", "graph_hash"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(
        names.iter().filter(|name| **name == "phase").count(),
        1,
        "stored once"
    );

    let fields = yaml(&text);
    assert_eq!(fields.len(), names.len(), "valid YAML, each field once");
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
    assert!(
        text.contains("\ntopic: \"Move the queue\"\n"),
        "a topic is quoted: {text}"
    );
    let mode = std::fs::metadata(project.state_path(&id))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_hostile_topic_is_kept_byte_for_byte_and_breaks_nothing() {
    let topics = [
        "two\nlines\nphase: done",
        "a | b & c / d \\ e \\n",
        "\"double\" 'single' `back`",
        "$(touch pwned) ${HOME} $1 !x",
        "Ärger mit 東京 😀 \u{202e}reversed",
        "- a leading dash",
        "-n",
        "--- a rule",
        "{{ 7*7 }} {% for x in y %}",
        "# comment: [yaml, {x: y}] *anchor &ref !!tag @at %p",
        "tab\tand\u{1b}[31mescape\u{7}\u{85}\u{2028}end",
        "true",
        "~",
        "0x10",
        "a: b #c",
    ];
    for topic in topics {
        let project = Project::new();
        let ran = project.run(&["start", "plan", topic]).exits(0);
        let id = id_of(&ran);
        assert_eq!(project.field(&id, "topic"), topic);
        assert_eq!(project.field(&id, "phase"), "drafting", "{topic:?}");
        let got = project
            .run(&[
                "state",
                "get",
                project.state_path(&id).to_str().unwrap(),
                "topic",
            ])
            .exits(0);
        assert_eq!(got.out.strip_suffix('\n'), Some(topic));
        project.plan("# Plan\n");
        let block = project.fire().blocked();
        assert!(
            block.contains("### Claudex round 1 of 3, Senior-engineer review\n")
                && !block.contains("quoted: \"49"),
            "{topic:?}: {block}"
        );
        let mut runner = project.shell(
            "sh",
            &[
                project
                    .folder()
                    .join(format!("{id}-runner.sh"))
                    .to_str()
                    .unwrap(),
                "--reviewer",
                "fake-clean",
            ],
        );
        Ran::of(runner.output().unwrap()).exits(0);
        project.fire().blocked();
        project.fire().approved();
        assert_eq!(project.field(&id, "topic"), topic);
        assert!(!project.root.join("pwned").exists());
    }
}

#[test]
fn a_topic_that_begins_like_a_flag_goes_after_two_dashes() {
    let project = Project::new();
    let ran = project
        .run(&[
            "start", "plan", "--rounds", "2", "--", "--rounds", "are many",
        ])
        .exits(0);
    let id = id_of(&ran);
    assert_eq!(project.field(&id, "topic"), "--rounds are many");
    assert_eq!(project.field(&id, "max_rounds"), "2");
}

#[test]
fn flags_after_the_topic_belong_to_it() {
    let project = Project::new();
    let ran = project
        .run(&["start", "plan", "raise", "--rounds", "9"])
        .exits(0);
    let id = id_of(&ran);
    assert_eq!(project.field(&id, "topic"), "raise --rounds 9");
    assert_eq!(project.field(&id, "max_rounds"), "3");
}

#[test]
fn a_topic_longer_than_a_state_file_should_hold_is_refused() {
    let project = Project::new();
    let before = tree(&project.root);
    project.answers(&["start", "plan", &"x".repeat(65 * 1024)], 2, "bytes long");
    assert_eq!(tree(&project.root), before);
    project
        .run(&["start", "plan", &"x".repeat(64 * 1024)])
        .exits(0);
}

// --- the sweep ---------------------------------------------------------------------------------------------------

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_start_sweeps_what_is_stale_first_and_loses_nothing_of_it() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    crate::support::age(&project.state_path(&id), 16 * MINUTE);
    let kept = std::fs::read(project.findings(&id, 1)).unwrap();
    let next = project.start(&[]);
    assert_ne!(next, id);
    let folder = project.folder();
    for name in ["", ".state", ".lock", "-runner.sh", "-prompt.txt"] {
        assert!(!folder.join(format!("{id}{name}")).exists(), "{id}{name}");
    }
    let swept: Vec<_> = tree(&folder.join("archive").join(&id));
    assert!(
        swept.iter().any(|(_, bytes)| bytes.as_ref() == Some(&kept)),
        "{swept:?}"
    );
    assert!(
        swept
            .iter()
            .any(|(path, _)| path.extension().is_some_and(|ext| ext == "state")),
        "{swept:?}"
    );
}
