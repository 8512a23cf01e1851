//! One start wins, the rest are refused, and what fails leaves nothing.

use std::time::Duration;

use crate::store::fault::{Point, crash_at};
use crate::store::testing::{change, fields, plan, started, store, word};
use crate::store::{
    Active, Entry, IdForm, Import, LoopId, PidLock, Repair, RunLock, StartError, StartPlan,
    StateSpec, Store, StoreError, Value,
};

fn names(folder: &camino::Utf8Path) -> Vec<String> {
    let mut names: Vec<String> = folder
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_start_makes_the_files_and_the_fields_in_their_order() {
    let (_kept, store, record) = started();
    let id = record.id().as_str();
    let text = std::fs::read_to_string(store.path_of(record.id())).unwrap();
    let started = record.text("started_at").unwrap();
    let epoch = record.count("started_at_epoch").unwrap();
    let root = store.root();
    let expected = format!(
        "mode: plan\nphase: drafting\ntopic: \"fix: a \\\"b\\\"\\n# c\"\nround: 1\nreview_id: {id}\n\
         session_id: unknown\nlast_updated_at: {started}\ndecision_signal: none\nrepo_root: \"{root}\"\n\
         started_at: {started}\nstarted_at_epoch: {epoch}\nrevision: 1\nmachine: plan\ngraph_hash: 0a1b2c3d\n"
    );
    assert_eq!(text, expected);
    assert_eq!(
        names(store.folder()),
        [
            ".gitignore",
            ".lock",
            id,
            &format!("{id}.lock"),
            &format!("{id}.state")
        ]
    );
    assert_eq!(
        std::fs::read(store.folder().join(".gitignore")).unwrap(),
        b"*\n"
    );
    assert!(PidLock::is_active(&store.sidecar(record.id(), ".lock")));
    let journal = store.journal(record.id()).unwrap();
    let [Entry::Change(first)] = journal.as_slice() else {
        panic!("{journal:?}")
    };
    assert_eq!(
        (first.revision, first.what.as_str(), first.to.as_deref()),
        (1, "start", Some("drafting"))
    );
    assert_eq!(store.open(record.id()).unwrap().repairs, []);
}

#[test]
fn of_sixteen_starts_at_once_exactly_one_wins() {
    for _ in 0..4 {
        let (_kept, store) = store();
        let results: Vec<_> = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| store.start(plan())))
                .collect();
            tries
                .into_iter()
                .map(|tried| tried.join().unwrap())
                .collect()
        });
        let won: Vec<_> = results
            .iter()
            .filter_map(|result| result.as_ref().ok())
            .collect();
        assert_eq!(won.len(), 1);
        for refused in results.iter().filter_map(|result| result.as_ref().err()) {
            assert!(
                matches!(refused, StartError::Active { id, .. } if *id == won[0].id().as_str()),
                "{refused}"
            );
        }
        assert_eq!(store.list().len(), 1);
    }
}

#[test]
fn a_terminal_loop_does_not_refuse_a_start_and_stays_for_the_audit() {
    let (_kept, store, record) = started();
    assert!(
        matches!(store.start(plan()), Err(StartError::Active { phase, .. }) if phase == "drafting")
    );
    store
        .commit(&record, change("cancel", "drafting", "cancelled", &[]))
        .unwrap();
    let second = store.start(plan()).unwrap();
    let listed = store.list();
    assert_eq!(listed.len(), 2);
    assert_eq!(
        listed
            .iter()
            .filter(|one| one.terminal)
            .map(|one| &one.id)
            .collect::<Vec<_>>(),
        [record.id()]
    );
    assert!(listed.iter().any(|one| one.id == *second.id() && one.ours));
}

#[test]
fn a_failed_start_leaves_nothing_not_even_the_folder() {
    let (_kept, store) = store();
    let start = |id: Option<LoopId>, fields: Vec<(String, Value)>| {
        store.start(StartPlan {
            now: jiff::Timestamp::now(),
            stale_after: None,
            by: "test".to_owned(),
            id,
            fields,
        })
    };
    assert!(matches!(start(None, vec![]), Err(StartError::NoPhase)));
    let mut bad_name = fields();
    bad_name.push(("a: b".into(), Value::Null));
    assert!(matches!(
        start(None, bad_name),
        Err(StartError::Store(StoreError::FieldName { .. }))
    ));
    let mut huge = fields();
    huge.push(("note".into(), Value::Text("x".repeat(2 * 1024 * 1024))));
    assert!(matches!(
        start(None, huge.clone()),
        Err(StartError::Store(StoreError::Unwritable { .. }))
    ));
    let name = LoopId::parse("a-name", IdForm::Name).unwrap();
    assert!(matches!(
        start(Some(name), fields()),
        Err(StartError::Store(StoreError::Id(_)))
    ));
    assert_eq!(names(store.root()), ["state-home"], "no .claude was left");
    let records = store.root().join("state-home/loops");
    assert_eq!(names(&records), [""; 0], "no record was left");

    let id = LoopId::parse("20261122-005333-0a1b2c", IdForm::Stamp).unwrap();
    let record = start(Some(id.clone()), fields()).unwrap();
    store
        .commit(&record, change("cancel", "drafting", "cancelled", &[]))
        .unwrap();
    let before = names(store.folder());
    assert!(start(Some(id), fields()).is_err(), "the id is taken");
    assert!(start(None, huge).is_err());
    assert_eq!(names(store.folder()), before);
}

#[test]
fn a_state_file_made_by_hand_refuses_a_start_while_it_is_active() {
    let (_kept, store) = store();
    std::fs::create_dir_all(store.folder()).unwrap();
    for name in ["by hand.state", "20200101-000000-abcdef.state"] {
        let path = store.folder().join(name);
        std::fs::write(&path, "phase: reviewing\n").unwrap();
        match store.start(plan()).unwrap_err() {
            StartError::Active { id, phase, .. } => {
                assert_eq!((format!("{id}.state"), &*phase), (name.into(), "reviewing"))
            }
            other => panic!("{other}"),
        }
        std::fs::write(&path, "phase: done\n").unwrap();
    }
    store.start(plan()).unwrap();
}

#[test]
fn what_cannot_be_read_is_set_aside_or_rebuilt_before_a_start() {
    let (_kept, store, record) = started();
    std::fs::write(store.path_of(record.id()), b"\0\0\0").unwrap();
    assert!(
        matches!(store.start(plan()), Err(StartError::Active { phase, .. }) if phase == "drafting"),
        "rebuilt"
    );
    let record = store.open(record.id()).unwrap().record;
    let corrupt = store.folder().join("20200101-000000-abcdef.state");
    let copied = store.folder().join("20200101-000000-000000.state");
    std::fs::copy(store.path_of(record.id()), &copied).unwrap();
    store
        .commit(&record, change("cancel", "drafting", "cancelled", &[]))
        .unwrap();
    std::fs::write(&corrupt, b"\xff").unwrap();
    let started = store.start_telling(plan()).unwrap();
    let mut aside: Vec<_> = started
        .repairs
        .iter()
        .map(|repair| match repair {
            Repair::SetAside {
                path, quarantined, ..
            } if quarantined.exists() => path.clone(),
            other => panic!("{other}"),
        })
        .collect();
    aside.sort();
    assert_eq!(aside, [copied, corrupt]);
    assert!(aside.iter().all(|path| !path.exists()));
}

#[test]
fn what_a_repository_ships_is_left_alone_and_counts_for_nothing() {
    let (_kept, store) = store();
    std::fs::create_dir_all(store.folder()).unwrap();
    let target = store.root().join("target");
    std::fs::write(&target, "phase: reviewing\n").unwrap();
    let link = store.folder().join("20200101-000000-abcdef.state");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let record = store.start(plan()).unwrap();
    assert!(link.is_symlink());
    let id = LoopId::parse("20200101-000000-abcdef", IdForm::Stamp).unwrap();
    assert!(matches!(store.open(&id), Err(StoreError::Untrusted { .. })));
    let listed = store.list();
    let shipped = listed.iter().find(|one| one.id == id).unwrap();
    assert!(
        shipped.phase.is_none()
            && !shipped.ours
            && shipped.problem.as_deref().unwrap().contains("symlink")
    );
    assert!(
        listed
            .iter()
            .any(|one| one.id == *record.id() && one.problem.is_none())
    );
    store
        .sweep(
            std::time::SystemTime::now() + Duration::from_secs(9999),
            Duration::ZERO,
            false,
        )
        .unwrap();
    assert!(link.is_symlink(), "the sweep leaves it too");
}

#[test]
fn a_name_can_be_chosen_and_is_free_after_a_start_that_was_cut_off() {
    static NAMED: crate::store::StateSpec = crate::store::StateSpec {
        ids: IdForm::Name,
        ..crate::store::testing::SPEC
    };
    let (_kept, store) = store();
    let store = Store::at(
        store.folder().to_owned(),
        store.root().to_owned(),
        &NAMED,
        store.home().clone(),
    );
    let id = LoopId::parse("tasks", IdForm::Name).unwrap();
    let with = || StartPlan {
        now: jiff::Timestamp::now(),
        stale_after: None,
        by: "test".to_owned(),
        id: Some(id.clone()),
        fields: fields(),
    };
    // A name whose start was cut off is free: nobody sees a loop there.
    for point in [Point::HalfLine, Point::Journaled] {
        crash_at(point, || store.start(with()));
        assert_eq!(store.list().len(), 0, "{point:?}");
    }
    assert_eq!(
        store.start(with()).unwrap().get("review_id"),
        Some(word("tasks"))
    );
    assert!(matches!(
        store.start(with()),
        Err(StartError::Active { .. } | StartError::Store(_))
    ));
    assert_eq!(store.open(&id).unwrap().record.phase(), "drafting");
}

#[test]
fn a_loop_that_lost_its_state_is_put_away_and_never_active_beside_a_new_one() {
    let (_kept, store) = store();
    crash_at(Point::Journaled, || store.start(plan()));
    let lost = LoopId::parse(
        store
            .folder()
            .read_dir_utf8()
            .unwrap()
            .find_map(folder_of)
            .unwrap()
            .as_str(),
        IdForm::Stamp,
    );
    let lost = lost.unwrap();
    let record = store.start(plan()).unwrap();
    assert!(matches!(store.open(&lost), Err(StoreError::Swept { .. })));
    assert!(matches!(
        store.bring_back(&lost),
        Err(StoreError::Active { .. })
    ));
    store
        .commit(&record, change("cancel", "drafting", "cancelled", &[]))
        .unwrap();
    assert_eq!(store.bring_back(&lost).unwrap().phase(), "drafting");
    // The same when a person removed the file. One under review is in the way instead.
    std::fs::remove_file(store.path_of(&lost)).unwrap();
    let running = RunLock::try_take(&store.open_loop_folder(&lost).unwrap())
        .unwrap()
        .unwrap();
    assert!(matches!(
        store.start(plan()),
        Err(StartError::Active { .. })
    ));
    drop(running);
    std::fs::remove_file(store.path_of(&lost)).unwrap();
    store.start(plan()).unwrap();
    assert!(matches!(store.open(&lost), Err(StoreError::Swept { .. })));
    let log = std::fs::read_to_string(store.folder().join("log")).unwrap();
    assert!(log.contains("swept, its state file was gone"), "{log}");
}

fn folder_of(entry: std::io::Result<camino::Utf8DirEntry>) -> Option<String> {
    let entry = entry.unwrap();
    entry.path().is_dir().then(|| entry.file_name().to_owned())
}

#[test]
fn how_many_loops_are_under_way_at_once_is_the_machines_to_say() {
    static SESSION: StateSpec = StateSpec {
        active: Active::Session,
        ..crate::store::testing::SPEC
    };
    static MANY: StateSpec = StateSpec {
        active: Active::Many,
        ..crate::store::testing::SPEC
    };
    let of = |session: &str| {
        let mut fields = fields();
        fields.retain(|(name, _)| name != "session_id");
        fields.push(("session_id".into(), word(session)));
        StartPlan {
            now: jiff::Timestamp::now(),
            stale_after: None,
            by: "test".to_owned(),
            id: None,
            fields,
        }
    };
    let (_kept, store) = crate::store::testing::store_of(&SESSION);
    let first = store.start(of("one")).unwrap();
    store.start(of("two")).unwrap();
    for session in ["one", "two", "unknown"] {
        let refused = store.start(of(session)).unwrap_err();
        assert!(matches!(refused, StartError::Active { .. }), "{session}");
    }
    assert_eq!(store.list_active().len(), 2);
    store
        .commit(&first, change("cancel", "drafting", "cancelled", &[]))
        .unwrap();
    store.start(of("one")).unwrap();

    let (_kept, store) = crate::store::testing::store_of(&MANY);
    for session in ["one", "one", "unknown", "unknown"] {
        store.start(of(session)).unwrap();
    }
    assert_eq!(store.list_active().len(), 4);
    std::fs::write(store.folder().join("by hand.state"), "phase: reviewing\n").unwrap();
    store.start(of("one")).unwrap();
}

#[test]
fn an_import_that_crashed_is_made_again_or_has_happened_and_the_document_is_never_lost() {
    let text = "mine: yes # a key of a person’s\nphase: drafting\n";
    static NAMED: StateSpec = StateSpec {
        ids: IdForm::Name,
        ..crate::store::testing::SPEC
    };
    let points = [
        Point::Prepared,
        Point::HalfLine,
        Point::Journaled,
        Point::Renamed,
    ];
    let specs = [&NAMED, &crate::store::testing::OWN];
    for (point, spec) in points
        .into_iter()
        .flat_map(|point| specs.map(|spec| (point, spec)))
    {
        let (_kept, store) = crate::store::testing::store_of(spec);
        let id = LoopId::parse("tasks", IdForm::Name).unwrap();
        let file = store.path_of(&id);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        let import = || {
            let plan = StartPlan {
                now: jiff::Timestamp::now(),
                stale_after: None,
                by: "test".to_owned(),
                id: Some(id.clone()),
                fields: fields(),
            };
            let document = crate::store::Form::Lines.parse(text.as_bytes()).unwrap();
            store.import(
                plan,
                Import {
                    document,
                    file: file.clone(),
                },
            )
        };
        crash_at(point, import);
        let again = import();
        if let Err(error) = again {
            assert!(
                matches!(point, Point::Journaled | Point::Renamed),
                "{point:?}: {error}"
            );
        }
        assert_eq!(
            store.open(&id).unwrap().record.phase(),
            "drafting",
            "{point:?}"
        );
        assert!(store.verify(&id).is_ok(), "{point:?}");
        let kept = store.folder().join("quarantine").read_dir_utf8().unwrap();
        let mut kept = kept.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        assert!(kept.any(|kept| kept == text), "{point:?}");
        assert_eq!(
            names(store.folder())
                .iter()
                .filter(|name| name.starts_with(".loop-tmp"))
                .count(),
            0
        );
    }
}
