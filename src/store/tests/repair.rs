//! After a crash, a damaged file or an edit by hand, document and journal agree again and nothing is lost.

use crate::store::testing::{SPEC, change, plan, started, store_of, word};
use crate::store::{
    CommitError, Edit, Editable, Entry, Record, Repair, StateSpec, Store, StoreError,
};

fn edit(store: &Store, record: &Record, from: &str, to: &str) -> String {
    let path = store.path_of(record.id());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    let text = text.replace(from, to);
    std::fs::write(path, &text).unwrap();
    text
}

#[test]
fn a_repair_is_noted_in_the_journal_unless_the_loop_is_over() {
    let (_kept, store, record) = started();
    let journal = || std::fs::read_to_string(store.journal_path(record.id())).unwrap();
    let garble_and_open = || {
        std::fs::write(store.path_of(record.id()), b"\xff").unwrap();
        store.open(record.id()).unwrap().record
    };
    let record = garble_and_open();
    assert!(journal().contains("\"note\":\"healed\""), "{}", journal());
    store
        .commit(&record, change("finish", "drafting", "done", &[]))
        .unwrap();
    let before = journal();
    garble_and_open();
    assert_eq!(journal(), before);
}

#[test]
fn a_missing_or_damaged_state_is_rebuilt_as_it_was() {
    let (_kept, store, record) = started();
    let record = store
        .commit(&record, change("begin", "drafting", "reviewing", &[]))
        .unwrap();
    let path = store.path_of(record.id());
    let before = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let opened = store.open(record.id()).unwrap();
    let missing = Repair::Rebuilt {
        path: path.clone(),
        why: "was missing".to_owned(),
        quarantined: None,
    };
    assert_eq!(opened.repairs, [missing]);
    assert_eq!(
        std::fs::read(&path).unwrap(),
        before,
        "byte for byte, quotes included"
    );
    let half = before.len() / 2;
    let zeros = [&before[..half], &[0; 100]].concat();
    for cut_off in [
        &b""[..],
        b"\0\0\0",
        &before[..half - 8],
        &before[..before.len() - 1],
        &zeros,
    ] {
        std::fs::write(&path, cut_off).unwrap();
        let opened = store.open(record.id()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before, "{cut_off:?}");
        let forward = Repair::RolledForward { from: None, to: 2 };
        assert_eq!(
            opened.repairs,
            [forward],
            "a power loss left it, and nothing is lost"
        );
    }
    for damage in [
        &b"\xff\xfe"[..],
        b"phase: done\nphase: done\n",
        b"mode: plan\nphase: done\n",
        b"[1]",
    ] {
        std::fs::write(&path, damage).unwrap();
        let opened = store.open(record.id()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before, "{damage:?}");
        match &opened.repairs[..] {
            [
                Repair::Rebuilt {
                    quarantined: Some(kept),
                    ..
                },
            ] => {
                assert_eq!(std::fs::read(kept).unwrap(), damage);
                let told = opened.repairs[0].to_string();
                assert!(
                    told.contains(path.as_str()) && told.contains(kept.as_str()),
                    "{told}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn edits_of_what_the_machine_owns_are_undone_and_kept_apart() {
    for (from, to, field) in [
        ("phase: drafting", "phase: done", "phase"),
        ("round: 1", "round: 3", "round"),
        ("round: 1\n", "", "round"),
        ("revision: 1", "revision: 7", "revision"),
        ("revision: 1\n", "", "revision"),
        ("session_id: unknown", "session_id: mine", "session_id"),
        ("machine: plan\n", "machine: other\n", "machine"),
        ("graph_hash: 0a1b2c3d\n", "graph_hash: 1\n", "graph_hash"),
    ] {
        let (_kept, store, record) = started();
        let edited = edit(&store, &record, from, to);
        assert_eq!(
            store.list()[0].phase.as_deref(),
            Some("drafting"),
            "a list is not fooled"
        );
        let opened = store.open(record.id()).unwrap();
        let [
            Repair::EditUndone {
                fields,
                quarantined,
            },
        ] = &opened.repairs[..]
        else {
            panic!("{:?}", opened.repairs)
        };
        assert_eq!(fields, &[field]);
        assert_eq!(std::fs::read_to_string(quarantined).unwrap(), edited);
        assert_eq!(opened.record.get(field), record.get(field));
        assert_eq!(store.open(record.id()).unwrap().repairs, []);
        let log = std::fs::read_to_string(store.folder().join("log")).unwrap();
        assert!(log.contains("edited by hand"), "{log}");
    }
}

#[test]
fn an_owned_field_that_the_journal_does_not_know_is_taken_out() {
    static MORE: StateSpec = StateSpec {
        owned: &["round", "decision_signal", "granted"],
        ..SPEC
    };
    let (_kept, store, record) = started();
    let store = Store::at(
        store.folder().to_owned(),
        store.root().to_owned(),
        &MORE,
        store.home().clone(),
    );
    edit(&store, &record, "round: 1\n", "round: 1\ngranted: true\n");
    assert_eq!(store.open(record.id()).unwrap().record.get("granted"), None);
}

#[test]
fn other_edits_by_hand_are_kept() {
    let (_kept, store, record) = started();
    let edited = edit(
        &store,
        &record,
        "round: 1\n",
        "# mine\nround: \"1\"\nnote: x\n",
    );
    let opened = store.open(record.id()).unwrap();
    assert_eq!(
        opened.repairs,
        [],
        "quotes around a number are no change of it"
    );
    assert_eq!(opened.record.get("note"), Some(word("x")));
    let record = store
        .commit(
            &opened.record,
            change("x", "drafting", "drafting", &[("round", 2.into())]),
        )
        .unwrap();
    assert_eq!(store.open(record.id()).unwrap().repairs, []);
    assert_eq!(record.count("round"), Some(2));
    edit(&store, &record, "round: \"2\"", "round: 9");
    let opened = store.open(record.id()).unwrap();
    assert_eq!(
        (opened.record.count("round"), opened.repairs.len()),
        (Some(2), 1)
    );
    assert_eq!(
        opened.record.get("note"),
        Some(word("x")),
        "only what is owned was set back"
    );
    assert!(
        edited.contains("# mine")
            && String::from_utf8(opened.record.document().to_bytes())
                .unwrap()
                .contains("# mine")
    );
}

#[test]
fn an_older_state_put_back_by_hand_is_no_way_back() {
    let (_kept, store, record) = started();
    let path = store.path_of(record.id());
    let first = std::fs::read(&path).unwrap();
    let second = store
        .commit(&record, change("begin", "drafting", "reviewing", &[]))
        .unwrap();
    let third = store
        .commit(&second, change("end", "reviewing", "done", &[]))
        .unwrap();
    std::fs::write(&path, &first).unwrap();
    let opened = store.open(third.id()).unwrap();
    assert_eq!(
        (opened.record.phase(), opened.record.revision()),
        ("done", 3)
    );
    // A power loss may bring one back, too, and nothing of it is new.
    let forward = Repair::RolledForward {
        from: Some(1),
        to: 3,
    };
    assert_eq!(opened.repairs, [forward]);
    let edited = String::from_utf8(first)
        .unwrap()
        .replace("round: 1", "round: 2");
    std::fs::write(&path, edited).unwrap();
    let opened = store.open(third.id()).unwrap();
    assert!(matches!(&opened.repairs[..], [Repair::EditUndone { .. }]));
}

#[test]
fn damage_in_the_journal_is_cut_or_taken_out() {
    let (_kept, store, record) = started();
    let record = store
        .commit(&record, change("begin", "drafting", "reviewing", &[]))
        .unwrap();
    let path = store.journal_path(record.id());
    let good = std::fs::read(&path).unwrap();
    store.note(record.id(), "seen", &()).unwrap();
    let note = std::fs::read(&path).unwrap()[good.len()..].to_vec();
    std::fs::write(&path, &good).unwrap();
    std::fs::write(&path, [&good[..], b"{\"revision\":3,\"at\""].concat()).unwrap();
    assert_eq!(
        store.open(record.id()).unwrap().repairs,
        [Repair::TornLineCut]
    );
    assert_eq!(std::fs::read(&path).unwrap(), good);

    std::fs::write(&path, [&good[..], &b"?\n".repeat(2000), &note].concat()).unwrap();
    let repairs = store.open(record.id()).unwrap().repairs;
    assert!(
        repairs[0].to_string().contains(" (1000 lines or more); "),
        "{}",
        repairs[0]
    );

    let bad = [&good[..], b"\0\xff\n", &note].concat();
    std::fs::write(&path, &bad).unwrap();
    match &store.open(record.id()).unwrap().repairs[..] {
        [Repair::JournalCleaned { lines, quarantined }] => {
            assert_eq!(
                (&lines[..], std::fs::read(quarantined).unwrap()),
                (&[3][..], bad)
            );
        }
        other => panic!("{other:?}"),
    }
    let good = [good, note].concat();
    let healed = std::fs::read(&path).unwrap();
    let noted = healed
        .strip_prefix(&good[..])
        .expect("what was good is there");
    let noted: serde_json::Value = serde_json::from_slice(noted).expect("and one line more");
    assert_eq!(noted["note"], "healed", "which says what was done");
}

#[test]
fn what_is_forged_in_mid_journal_is_found_where_the_loop_would_be_over() {
    let (_kept, store, record) = started();
    let record = store
        .commit(&record, change("begin", "drafting", "reviewing", &[]))
        .unwrap();
    let path = store.journal_path(record.id());
    let forge = || {
        let good = std::fs::read_to_string(&path).unwrap();
        let (first, rest) = good.split_once('\n').unwrap();
        std::fs::write(&path, [first, "\n", first, "\n", rest].concat()).unwrap();
    };
    forge();
    assert_eq!(
        store.open(record.id()).unwrap().repairs,
        [],
        "an open reads the end alone"
    );
    let end = |by: &str| {
        let mut end = change("end", "reviewing", "done", &[]);
        end.by = by.to_owned();
        store.commit(&record, end)
    };
    let refused = end("hook").unwrap_err();
    let CommitError::Store(StoreError::JournalCleaned { lines, .. }) = &refused else {
        panic!("{refused}")
    };
    assert_eq!(lines, &[2]);
    forge();
    assert!(
        end("person").is_ok(),
        "a person ends a loop whatever its journal is"
    );
}

#[test]
fn loop_of_another_machine_is_refused() {
    static OTHER: StateSpec = StateSpec {
        machine: "tasks",
        ..SPEC
    };
    let (_kept, store, record) = started();
    let before = std::fs::read(store.path_of(record.id())).unwrap();
    let (folder, root) = (store.folder().to_owned(), store.root().to_owned());
    let other = Store::at(folder, root, &OTHER, store.home().clone());

    let error = other.open(record.id()).unwrap_err();

    assert!(
        error.to_string().contains("`plan`") && error.to_string().contains("`tasks`"),
        "{error}"
    );
    let after = std::fs::read(store.path_of(record.id())).unwrap();
    assert_eq!(after, before);
}

#[test]
fn loop_of_another_version_goes_on_by_field_names() {
    static NEWER: StateSpec = StateSpec {
        graph_hash: "ffffffff",
        ..SPEC
    };
    let (_kept, store, record) = started();
    let (folder, root) = (store.folder().to_owned(), store.root().to_owned());
    let newer = Store::at(folder, root, &NEWER, store.home().clone());

    let opened = newer.open(record.id()).unwrap();
    let changed = newer
        .commit(
            &opened.record,
            change("begin", "drafting", "reviewing", &[]),
        )
        .unwrap();

    assert_eq!(opened.repairs, []);
    assert_eq!(changed.text("graph_hash").as_deref(), Some("ffffffff"));
    let again = newer.open(record.id()).unwrap();
    assert_eq!(again.record.revision(), changed.revision());
    assert_eq!(again.record.phase(), "reviewing");
}

#[test]
fn what_no_start_made_here_is_not_opened() {
    let (_kept, store, record) = started();
    let id = record.id();
    let state = std::fs::read(store.path_of(id)).unwrap();
    std::fs::remove_file(store.journal_path(id)).unwrap();
    assert!(matches!(store.open(id), Err(StoreError::NoJournal { .. })));
    assert_eq!(
        std::fs::read(store.path_of(id)).unwrap(),
        state,
        "left in place"
    );
    std::fs::write(store.path_of(id), "phase: drafting\n").unwrap();
    assert!(matches!(store.open(id), Err(StoreError::NoMachine { .. })));
    std::fs::write(store.path_of(id), b"\xff").unwrap();
    match store.open(id).unwrap_err() {
        StoreError::Unreadable {
            quarantined: Some(kept),
            ..
        } => {
            assert_eq!(std::fs::read(kept).unwrap(), b"\xff")
        }
        other => panic!("{other}"),
    }
    std::fs::remove_dir_all(store.loop_folder(id)).unwrap();
    assert!(matches!(store.open(id), Err(StoreError::NoLoop { .. })));
}

#[test]
fn symlinks_in_the_place_of_our_own_files_are_refused() {
    let (_kept, store, record) = started();
    let id = record.id();
    for path in [
        store.path_of(id),
        store.journal_path(id),
        store.loop_folder(id),
    ] {
        let moved = store.root().join("moved");
        std::fs::rename(&path, &moved).unwrap();
        std::os::unix::fs::symlink(&moved, &path).unwrap();
        assert!(
            matches!(store.open(id), Err(StoreError::Untrusted { .. })),
            "{path}"
        );
        assert!(
            matches!(store.journal(id), Err(StoreError::Untrusted { .. }))
                || path == store.path_of(id)
        );
        assert!(store.list()[0].problem.is_some());
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&moved, &path).unwrap();
    }
    assert_eq!(store.open(id).unwrap().repairs, []);
}

#[test]
fn a_state_that_git_tracks_is_refused() {
    let (_kept, store, record) = started();
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git")
            .arg("-C")
            .arg(store.root())
            .args(args)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    assert_eq!(
        store.open(record.id()).unwrap().repairs,
        [],
        "the folder ignores itself"
    );
    git(&["add", "-f", store.path_of(record.id()).as_str()]);
    assert!(matches!(
        store.open(record.id()),
        Err(StoreError::Untrusted { .. })
    ));
    assert!(
        store.list()[0]
            .problem
            .as_deref()
            .unwrap()
            .contains("git tracks it")
    );
}

#[test]
fn an_edit_that_the_machine_allows_is_taken_over_in_one_change_of_the_journal() {
    static EDITS: StateSpec = StateSpec {
        edits: &[Edit {
            field: "round",
            takes: Editable::Count(1, 99),
        }],
        owned: &["round", "decision_signal"],
        ..SPEC
    };
    let (_kept, store) = store_of(&EDITS);
    let record = store.start(plan()).unwrap();
    let id = record.id();
    let journal = || store.journal(id).unwrap();
    edit(&store, &record, "round: 1\n", "round: 99 # more\n");
    let opened = store.open(id).unwrap();
    let taken = Repair::EditTaken {
        fields: vec!["round: 99".to_owned()],
    };
    assert_eq!(opened.repairs, [taken]);
    assert_eq!(
        (opened.record.revision(), opened.record.count("round")),
        (2, Some(99))
    );
    let Some(Entry::Change(change)) = journal().pop() else {
        panic!("a change")
    };
    assert_eq!((&*change.what, &*change.by), ("edit", "engine"));
    assert_eq!(store.open(id).unwrap().repairs, [], "once");
    // What it may not be is set back, as any other field's edit; beside it, what it may be stays.
    for wrong in ["0", "100", "-1", "many", "null", "[1]"] {
        edit(&store, &record, "round: 99", &format!("round: {wrong}"));
        let opened = store.open(id).unwrap();
        assert!(
            matches!(&opened.repairs[..], [Repair::EditUndone { fields, .. }] if fields == &["round"]),
            "{wrong}: {:?}",
            opened.repairs
        );
        assert_eq!(opened.record.count("round"), Some(99), "{wrong}");
    }
    let text = edit(&store, &record, "round: 99", "round: 3");
    std::fs::write(store.path_of(id), text.replace("drafting", "done")).unwrap();
    let opened = store.open(id).unwrap();
    assert_eq!(
        (opened.repairs.len(), opened.record.phase()),
        (2, "drafting")
    );
    assert_eq!(opened.record.count("round"), Some(3));
    assert!(store.verify(id).is_ok());
}
