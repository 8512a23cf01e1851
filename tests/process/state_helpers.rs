//! `claudex-loop state …`, what the plugin's `state-helpers.sh` calls: on files made by hand, of which some lack most
//! fields, and on loops of ours. What a loop of ours refuses is in `tamper`.

use std::process::Stdio;
use std::time::Duration;

use crate::support::{Project, is_id, tree};

/// A file of this name and content in the project, and its path.
fn file(project: &Project, name: &str, text: &str) -> String {
    let path = project.root.join(name);
    std::fs::write(&path, text).unwrap();
    path.into_os_string().into_string().unwrap()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

const HOSTILE: [&str; 14] = [
    "a|b&c/d\\e",
    "two\nlines",
    "three\n\nlines\n",
    "\"double\" and 'single'",
    "$(touch pwned) `touch pwned` ${HOME}",
    "Ärger 東京 😀",
    " leading and trailing ",
    "- dash",
    "--flag",
    "# no comment",
    "key: value",
    "\u{1b}[31m\u{202e}\u{7}\u{2028}",
    "\r\n",
    "\\n \\1 \\& &&",
];

// --- ids ---------------------------------------------------------------------------------------------------------

#[test]
fn a_new_id_is_of_the_form_valid_and_new() {
    let project = Project::new();
    let mut seen = Vec::new();
    for _ in 0..8 {
        let id = project.run(&["state", "new-id"]).exits(0).out;
        let id = id.strip_suffix('\n').unwrap().to_owned();
        assert!(is_id(&id), "{id}");
        project.run(&["state", "valid-id", &id]).exits(0);
        assert!(!seen.contains(&id));
        seen.push(id);
    }
}

#[test]
fn what_is_no_id_is_refused() {
    let project = Project::new();
    for bad in [
        "../../../etc/passwd",
        "",
        " ",
        "20261122-010203-0a1b2",
        "20261122-010203-0a1b2c3",
        "20261122-010203-0A1B2C",
        "20261122-010203-0a1b2g",
        "20261122_010203_0a1b2c",
        "20261122-010203-0a1b2c\n",
        "\n20261122-010203-0a1b2c",
        "20261122-010203-0a1b2c/..",
        "-n",
        "--help-me",
        "２０２６1122-010203-0a1b2c",
    ] {
        project.run(&["state", "valid-id", bad]).exits(1);
    }
}

// --- write, get, set ---------------------------------------------------------------------------------------------

#[test]
fn a_write_is_read_back_byte_for_byte_and_leaves_no_temporary_file() {
    let project = Project::new();
    let path = file(&project, "a b ü.state", "old\n");
    for bytes in [
        &b"phase: drafting\n"[..],
        b"",
        b"no line end",
        b"\xff\0\r\n",
    ] {
        project
            .run_with_stdin(&["state", "write", &path], bytes)
            .exits(0);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
    let new = project.root.join("new.state");
    project
        .run_with_stdin(&["state", "write", new.to_str().unwrap()], b"x: 1\n")
        .exits(0);
    assert_eq!(std::fs::read(&new).unwrap(), b"x: 1\n");
    let strays: Vec<_> = tree(&project.root)
        .into_iter()
        .filter(|(path, _)| path.file_name().unwrap().to_str().unwrap().contains("tmp"))
        .collect();
    assert_eq!(strays, []);
    project
        .run_with_stdin(&["state", "write", "no such folder/x.state"], b"x")
        .exits(1);
}

#[test]
fn fields_of_partial_files_are_read_and_set() {
    let project = Project::new();
    for text in [
        "phase: drafting\nlast_updated_at: 2020-01-01T00:00:00Z\n",
        "mode: plan\nphase: drafting\ntopic: \"an old topic\"\nround: 1\nmax_rounds: 3\n",
        "phase: drafting\r\nround: 1\r\n",
        "# made by hand\n\nphase: drafting   # for now\n",
    ] {
        let path = file(&project, "a b.state", text);
        let before = project.run(&["state", "get", &path, "phase"]).exits(0).out;
        assert_eq!(before, "drafting\n", "{text:?}");
        project
            .run(&["state", "set", &path, "phase", "reviewing"])
            .exits(0);
        assert_eq!(
            project.run(&["state", "get", &path, "phase"]).exits(0).out,
            "reviewing\n"
        );
        let updated = project
            .run(&["state", "get", &path, "last_updated_at"])
            .exits(0)
            .out;
        let updated: jiff::Timestamp = updated.trim_end().parse().unwrap();
        assert!(
            jiff::Timestamp::now().as_second() - updated.as_second() < 120,
            "it is now: {updated}"
        );
        assert_eq!(read(&path).matches("last_updated_at").count(), 1);
    }
}

#[test]
fn any_text_is_a_value_on_the_command_line_and_on_stdin() {
    let project = Project::new();
    for value in HOSTILE {
        let path = file(
            &project,
            "my 'state' | & $(x).state",
            "phase: drafting\nunknown: kept\n",
        );
        project
            .run(&["state", "set", &path, "topic", value])
            .exits(0);
        let got = project.run(&["state", "get", &path, "topic"]).exits(0).out;
        assert_eq!(got.strip_suffix('\n'), Some(value));
        let text = read(&path);
        assert!(
            text.starts_with("phase: drafting\nunknown: kept\n"),
            "{text}"
        );
        assert_eq!(
            crate::support::yaml(&text)["topic"].as_str(),
            Some(value),
            "valid YAML: {text}"
        );
        assert_eq!(
            crate::support::yaml(&text)["phase"].as_str(),
            Some("drafting")
        );

        project
            .run_with_stdin(&["state", "set", &path, "other", "-"], value.as_bytes())
            .exits(0);
        let got = project.run(&["state", "get", &path, "other"]).exits(0).out;
        assert_eq!(got.strip_suffix('\n'), Some(value));
    }
    assert!(!project.root.join("pwned").exists());
}

#[test]
fn setting_the_time_itself_sets_that_and_nothing_else() {
    let project = Project::new();
    let path = file(
        &project,
        "x.state",
        "phase: drafting\nlast_updated_at: 2020-01-01T00:00:00Z\n",
    );
    project
        .run(&[
            "state",
            "set",
            &path,
            "last_updated_at",
            "2021-02-03T04:05:06Z",
        ])
        .exits(0);
    assert_eq!(
        read(&path),
        "phase: drafting\nlast_updated_at: 2021-02-03T04:05:06Z\n"
    );
}

#[test]
fn a_set_changes_its_line_and_the_time_alone() {
    let project = Project::new();
    let text = "# head\nmode: plan\nunknown: [1, 2]\nround: 1\n\nlast_updated_at: 2020-01-01T00:00:00Z\ntail: x\n";
    let path = file(&project, "x.state", text);
    project.run(&["state", "set", &path, "round", "2"]).exits(0);
    let changed: Vec<_> = std::iter::zip(
        text.lines().map(str::to_owned),
        read(&path).lines().map(str::to_owned),
    )
    .filter(|(before, after)| before != after)
    .map(|(_, after)| after.split(':').next().unwrap().to_owned())
    .collect();
    assert_eq!(changed, ["round", "last_updated_at"]);
    assert_eq!(read(&path).lines().count(), text.lines().count());
}

#[test]
fn a_field_or_file_that_is_not_there_exits_with_1() {
    let project = Project::new();
    let path = file(&project, "x.state", "phase: drafting\n");
    let missing = project.root.join("none.state");
    let missing = missing.to_str().unwrap();
    let ran = project.run(&["state", "get", &path, "round"]).exits(1);
    assert_eq!(ran.out, "");
    project.run(&["state", "get", missing, "phase"]).exits(1);
    project
        .run(&["state", "set", missing, "phase", "x"])
        .exits(1);
    project.run(&["state", "move", missing, "a", "b"]).exits(1);
    for name in ["a: b", "", "a b", "x\ny", "../x"] {
        project.run(&["state", "set", &path, name, "1"]).exits(1);
    }
    assert_eq!(read(&path), "phase: drafting\n");
    assert!(!project.root.join("none.state").exists());
}

#[test]
fn fields_of_ours_are_read_as_they_are() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.state_path(&id);
    let path = path.to_str().unwrap();
    for field in [
        "mode",
        "phase",
        "topic",
        "round",
        "repo_root",
        "session_id",
        "decision_signal",
    ] {
        let got = project.run(&["state", "get", path, field]).exits(0).out;
        assert_eq!(got, format!("{}\n", project.field(&id, field)));
    }
}

// --- compare-and-swap --------------------------------------------------------------------------------------------

#[test]
fn a_move_happens_only_from_its_phase() {
    let project = Project::new();
    let text = "mode: plan\nphase: drafting\nlast_updated_at: 2020-01-01T00:00:00Z\n";
    let path = file(&project, "x.state", text);
    project
        .run(&["state", "move", &path, "reviewing", "done"])
        .exits(1);
    assert_eq!(read(&path), text, "a stale one writes nothing");
    project
        .run(&["state", "move", &path, "drafting", "reviewing"])
        .exits(0);
    let now = read(&path);
    assert!(
        now.starts_with("mode: plan\nphase: reviewing\nlast_updated_at: 20")
            && !now.contains("2020-01-01"),
        "the time in the same write: {now}"
    );
    project
        .run(&["state", "move", &path, "drafting", "reviewing"])
        .exits(1);
}

// --- locks, the sweep, the finder --------------------------------------------------------------------------------

#[test]
fn a_lock_is_active_while_its_process_lives() {
    let project = Project::new();
    let path = project.root.join("a b.lock");
    let path = path.to_str().unwrap();
    project.run(&["state", "lock-active", path]).exits(1);

    let own = std::process::id().to_string();
    project.run(&["state", "lock-write", path, &own]).exits(0);
    assert_eq!(read(path).trim_end(), own);
    project.run(&["state", "lock-active", path]).exits(0);

    project.run(&["state", "lock-write", path]).exits(0);
    assert_eq!(read(path).trim_end(), own, "by default the caller's");

    let mut ended = project
        .command(&["--version"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    ended.wait().unwrap();
    project
        .run(&["state", "lock-write", path, &ended.id().to_string()])
        .exits(0);
    project.run(&["state", "lock-active", path]).exits(1);
    for nonsense in ["", "no pid\n", "-1\n", "0\n", "99999999999999999999\n"] {
        std::fs::write(path, nonsense).unwrap();
        project.run(&["state", "lock-active", path]).exits(1);
    }
}

#[test]
fn the_sweep_takes_what_is_stale_with_all_that_belongs_to_it_and_keeps_the_fresh() {
    let project = Project::new();
    std::fs::create_dir_all(project.folder()).unwrap();
    let [stale, fresh, over] = [
        "20261122-010203-0a1b2c",
        "20261122-010203-0a1b2d",
        "20261122-010203-0a1b2e",
    ];
    for (id, phase) in [(stale, "reviewing"), (fresh, "reviewing"), (over, "done")] {
        std::fs::create_dir(project.folder().join(id)).unwrap();
        std::fs::write(project.folder().join(id).join("findings-round-1.md"), id).unwrap();
        for (suffix, text) in [
            (".lock", "1\n"),
            ("-runner.sh", "#!/bin/sh\n"),
            ("-prompt.txt", "x\n"),
            (".state", &format!("phase: {phase}\n")),
        ] {
            std::fs::write(project.folder().join(format!("{id}{suffix}")), text).unwrap();
        }
    }
    for old in [stale, over] {
        crate::support::age(&project.state_path(old), Duration::from_secs(16 * 60));
    }
    project.run(&["state", "sweep"]).exits(0);
    for suffix in ["", ".state", ".lock", "-runner.sh", "-prompt.txt"] {
        let there = |id: &str| project.folder().join(format!("{id}{suffix}")).exists();
        assert!(!there(stale), "{suffix}: the stale one is gone");
        assert!(there(fresh) && there(over), "{suffix}: the others stay");
    }
}

#[test]
fn the_finder_gives_the_newest_state_file_whatever_its_name_or_phase() {
    let project = Project::new();
    project.run(&["state", "find"]).exits(1);
    std::fs::create_dir_all(project.folder()).unwrap();
    project.run(&["state", "find"]).exits(1);
    for (name, minutes) in [("a", 3), ("newest ü", 1), ("c", 2)] {
        let path = project.folder().join(format!("{name}.state"));
        std::fs::write(&path, "phase: done\n").unwrap();
        crate::support::age(&path, Duration::from_secs(minutes * 60));
    }
    let found = project.run(&["state", "find"]).exits(0).out;
    let expected = project.folder().join("newest ü.state");
    assert_eq!(found.strip_suffix('\n'), expected.to_str());
}

// --- findings and personas ---------------------------------------------------------------------------------------

#[test]
fn counts_of_a_findings_file_and_zeros_where_there_is_none() {
    let project = Project::new();
    let count = |path: &str| project.run(&["state", "counts", path]).exits(0).out;
    assert_eq!(count("missing.md"), "high=0 medium=0 low=0\n");
    for (text, counts) in [
        (
            "# Round 1 findings\n\n## High\n- a (x)\n- b\n\n## Low\n- c\n",
            "high=2 medium=0 low=1",
        ),
        (
            "# Round 1 findings\n\nNo substantive findings.\n",
            "high=0 medium=0 low=0",
        ),
        ("## High\n- None\n", "high=0 medium=0 low=0"),
        (
            "## HIGH\r\n* a\r\n## low\r\n1. b\r\n2. c\r\n",
            "high=1 medium=0 low=2",
        ),
        (
            "## Critical\n- a\n## Medium\n- b\n  - detail\n",
            "high=1 medium=1 low=0",
        ),
        ("", "high=0 medium=0 low=0"),
    ] {
        let path = file(&project, "findings of round 1.md", text);
        assert_eq!(count(&path), format!("{counts}\n"), "{text:?}");
    }
}

#[test]
fn personas_by_round() {
    let project = Project::new();
    for (round, label) in [
        ("1", "Senior-engineer review"),
        ("2", "Security and data-integrity review"),
        ("3", "Ops and SRE review"),
        ("99", "Ops and SRE review"),
    ] {
        let got = project.run(&["state", "persona-label", round]).exits(0).out;
        assert_eq!(got, format!("{label}\n"));
        assert!(
            !project
                .run(&["state", "persona", round])
                .exits(0)
                .out
                .trim()
                .is_empty()
        );
    }
    assert!(
        project
            .run(&["state", "persona", "1"])
            .out
            .contains("skeptical senior engineer")
    );
    for bad in ["-1", "one", ""] {
        project.run(&["state", "persona-label", bad]).exits(2);
    }
}
