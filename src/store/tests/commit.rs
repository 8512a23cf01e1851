//! Compare-and-swap: one winner, nothing half done, the journal tells all.

use crate::store::fault::{Point, crash_at};
use crate::store::testing::{SPEC, change, plan, started, store_of, word};
use crate::store::{
    Change, CommitError, Entry, HeldFields, JsonText, Record, Repair, StartPlan, StateSpec,
    StoreError, Value,
};

#[test]
fn a_commit_moves_phase_fields_revision_and_journal_together() {
    let (_kept, store, record) = started();
    let path = store.path_of(record.id());
    let by_hand = std::fs::read_to_string(&path)
        .unwrap()
        .replace("round: 1\n", "round: 1\r\n# mine\nextra:   [1]\n");
    std::fs::write(&path, &by_hand).unwrap();
    let mut begin = change(
        "begin",
        "drafting",
        "reviewing",
        &[("round", 2.into()), ("phase", word("done"))],
    );
    begin.run = Some("r1".into());
    begin.evidence = JsonText::of(&serde_json::json!({"kind": "reviewed"})).ok();
    let record = store.commit(&record, begin).unwrap();
    assert_eq!(
        (record.revision(), record.phase(), record.count("round")),
        (2, "reviewing", Some(2))
    );
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("round: 2\r\n# mine\nextra:   [1]\nreview_id"),
        "{text}"
    );
    assert_eq!(
        store.open(record.id()).unwrap().record.document().fields(),
        record.document().fields()
    );
    let journal = store.journal(record.id()).unwrap();
    let Some(Entry::Change(last)) = journal.last() else {
        panic!()
    };
    assert_eq!(
        (last.revision, &*last.what, &*last.by),
        (2, "begin", "hook")
    );
    assert_eq!(
        (
            last.from.as_deref(),
            last.to.as_deref(),
            last.run.as_deref()
        ),
        (Some("drafting"), Some("reviewing"), Some("r1"))
    );
    assert_eq!(last.fields, record.document().fields());
}

#[test]
fn count_above_limit_is_refused_everywhere() {
    let large: Value = (crate::store::MOST_COUNT + 1).into();
    let (_kept, store, record) = started();
    let said =
        "expected a whole number of at most 9007199254740991 for `round`, found 9007199254740992";
    let begin = change(
        "begin",
        "drafting",
        "reviewing",
        &[("round", large.clone())],
    );
    assert_eq!(store.commit(&record, begin).unwrap_err().to_string(), said);
    let set = store.set_field(record.id(), "round", large.clone(), "hook", true);
    assert_eq!(set.unwrap_err().to_string(), said);
    assert_eq!(store.open(record.id()).unwrap().record.revision(), 1);

    let (_kept, store) = store_of(&SPEC);
    let StartPlan { now, by, .. } = plan();
    let start = store.start(StartPlan {
        now,
        by,
        id: None,
        stale_after: None,
        fields: {
            vec![
                ("phase".to_owned(), word("drafting")),
                ("round".to_owned(), large),
            ]
        },
    });
    assert_eq!(start.unwrap_err().to_string(), said);
    assert!(store.list().is_empty());
}

#[test]
fn of_sixteen_commits_on_one_revision_one_wins() {
    let (_kept, store, record) = started();
    let results: Vec<_> = std::thread::scope(|scope| {
        let one = || store.commit(&record, change("begin", "drafting", "reviewing", &[]));
        let tries: Vec<_> = (0..16).map(|_| scope.spawn(one)).collect();
        tries
            .into_iter()
            .map(|tried| tried.join().unwrap())
            .collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for error in results.into_iter().filter_map(Result::err) {
        match error {
            CommitError::Stale {
                expected_phase,
                found_phase,
                expected_revision,
                found_revision,
            } => {
                assert_eq!((&*expected_phase, expected_revision), ("drafting", 1));
                assert_eq!((&*found_phase, found_revision), ("reviewing", 2));
            }
            other @ CommitError::Store(_) => panic!("{other}"),
        }
    }
    assert_eq!(store.journal(record.id()).unwrap().len(), 2);
}

#[test]
fn the_same_phase_at_another_revision_is_stale_too() {
    let (_kept, store, record) = started();
    let later = store
        .commit(&record, change("remind", "drafting", "drafting", &[]))
        .unwrap();
    assert!(matches!(
        store.commit(&record, change("x", "drafting", "drafting", &[])),
        Err(CommitError::Stale { .. })
    ));
    assert!(matches!(
        store.commit(&later, change("x", "reviewing", "done", &[])),
        Err(CommitError::Stale { .. })
    ));
    assert_eq!(store.open(record.id()).unwrap().record.revision(), 2);
}

#[test]
fn a_journal_of_the_same_size_is_read_again_where_it_is_another_one_or_was_written() {
    for is_renamed in [true, false] {
        let (_kept, store, record) = started();
        let path = store.journal_path(record.id());
        let forged =
            std::fs::read_to_string(&path)
                .unwrap()
                .replacen("\"revision\":1", "\"revision\":9", 1);
        let to = if is_renamed {
            path.with_extension("new")
        } else {
            path.clone()
        };
        let at = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&to, forged).unwrap();
        // Written in place, it is known by its time.
        let at = if is_renamed {
            at
        } else {
            at + std::time::Duration::from_secs(1)
        };
        std::fs::File::options()
            .write(true)
            .open(&to)
            .unwrap()
            .set_modified(at)
            .unwrap();
        std::fs::rename(&to, &path).unwrap();
        let made = store.commit(&record, change("begin", "drafting", "reviewing", &[]));
        assert!(made.is_err(), "renamed: {is_renamed}");
    }
}

#[test]
fn after_a_crash_anywhere_the_change_is_either_made_or_not() {
    for (point, made) in [
        (Point::Prepared, false),
        (Point::HalfLine, false),
        (Point::Journaled, true),
        (Point::Renamed, true),
    ] {
        let (_kept, store, record) = started();
        crash_at(point, || {
            store.commit(
                &record,
                change("begin", "drafting", "reviewing", &[("round", 2.into())]),
            )
        });
        let listed = store.list();
        let opened = store.open(record.id()).unwrap();
        let expected = if made {
            (2, "reviewing", Some(2))
        } else {
            (1, "drafting", Some(1))
        };
        let found = (
            opened.record.revision(),
            opened.record.phase(),
            opened.record.count("round"),
        );
        assert_eq!(found, expected, "{point:?}");
        assert_eq!(
            listed[0].phase.as_deref(),
            Some(expected.1),
            "a list sees what an open will see"
        );
        assert_eq!(
            opened.repairs.len(),
            usize::from(matches!(point, Point::HalfLine | Point::Journaled)),
            "{point:?}"
        );
        assert_eq!(
            store.open(record.id()).unwrap().repairs,
            [],
            "healed once and for all"
        );
        assert!(
            !store.folder().join("quarantine").exists(),
            "a crash is no edit by hand"
        );
        let again = store
            .commit(&opened.record, change("x", expected.1, "done", &[]))
            .unwrap();
        assert_eq!(again.revision(), expected.0 + 1);
        assert_eq!(
            store.journal(record.id()).unwrap().len(),
            if made { 3 } else { 2 }
        );
    }
}

#[test]
fn a_commit_that_fails_late_takes_its_announcement_back() {
    let (_kept, store, mut record) = started();
    let path = store.path_of(record.id());
    let before = std::fs::read(store.journal_path(record.id())).unwrap();
    // A folder at the state file's place cannot be renamed over; the write is called as a commit would.
    let entry = match store.journal(record.id()).unwrap().remove(0) {
        Entry::Change(entry) => entry,
        Entry::Note(_) => panic!(),
    };
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let written = store.locked(|lock| {
        let storage = store.storage(lock.folder(), record.id())?;
        store.write(lock, &*storage, &mut record, entry)
    });
    assert!(written.is_err());
    assert_eq!(
        std::fs::read(store.journal_path(record.id())).unwrap(),
        before
    );
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let (_kept, store, record) = started();
    let huge = Value::Text("x".repeat(2 * 1024 * 1024));
    let result = store.commit(
        &record,
        change("x", "drafting", "drafting", &[("topic", huge)]),
    );
    assert!(matches!(
        result,
        Err(CommitError::Store(StoreError::Unwritable { .. }))
    ));
    let result = store.commit(
        &record,
        change("x", "drafting", "drafting", &[("no name", Value::Null)]),
    );
    assert!(matches!(
        result,
        Err(CommitError::Store(StoreError::FieldName { .. }))
    ));
    assert_eq!(store.open(record.id()).unwrap().record.revision(), 1);
}

#[test]
fn set_field_refuses_what_the_machine_and_the_store_write() {
    let (_kept, store, record) = started();
    let id = record.id();
    for field in [
        "phase",
        "review_id",
        "revision",
        "machine",
        "repo_root",
        "graph_hash",
    ] {
        for allow_owned in [false, true] {
            let refused = store.set_field(id, field, word("x"), "agent", allow_owned);
            assert!(
                matches!(refused, Err(StoreError::FieldOwned { .. })),
                "{field}"
            );
        }
    }
    for field in [
        "round",
        "decision_signal",
        "session_id",
        "mode",
        "started_at",
    ] {
        let refused = store.set_field(id, field, word("x"), "agent", false);
        assert!(
            matches!(refused, Err(StoreError::FieldOwned { .. })),
            "{field}"
        );
    }
    assert!(matches!(
        store.set_field(id, "a\nphase", word("x"), "agent", true),
        Err(StoreError::FieldName { .. })
    ));
    assert_eq!(store.journal(id).unwrap().len(), 1);

    let record = store
        .set_field(id, "decision_signal", word("x"), "agent", true)
        .unwrap();
    assert_eq!(record.text("decision_signal").unwrap(), "x");
    let record = store
        .set_field(id, "topic", word("new"), "agent", false)
        .unwrap();
    assert!(matches!(record.get("topic"), Some(Value::Text(text)) if text == "new"));
    let record = store
        .set_field(
            id,
            "last_updated_at",
            word("2020-01-01T00:00:00Z"),
            "agent",
            false,
        )
        .unwrap();
    assert_eq!(
        record.text("last_updated_at").unwrap(),
        "2020-01-01T00:00:00Z",
        "not bumped over"
    );
    assert_eq!(record.revision(), 4);
    assert_eq!(store.open(id).unwrap().repairs, []);
}

#[test]
fn a_session_is_bound_once() {
    let (_kept, store, record) = started();
    let bound = store.set_session(&record, "1e3", "bind", "hook").unwrap();
    assert_eq!(
        bound.session().as_deref(),
        Some("1e3"),
        "text, whatever it looks like"
    );
    assert!(matches!(
        store.set_session(&record, "other", "bind", "hook"),
        Err(CommitError::Stale { .. })
    ));
    assert_eq!(store.list()[0].session.as_deref(), Some("1e3"));
}

#[test]
fn notes_have_no_revision_and_stand_between_the_changes() {
    let (_kept, store, record) = started();
    let data = serde_json::json!({"run": "r1"});
    store.note(record.id(), "run-began", &data).unwrap();
    let record = store
        .commit(&record, change("begin", "drafting", "reviewing", &[]))
        .unwrap();
    let journal = store.journal(record.id()).unwrap();
    assert_eq!(journal[1].noted("run-began"), Some(data));
    assert_eq!((journal.len(), record.revision()), (3, 2));
}

#[test]
fn a_full_journal_refuses_and_a_person_ends_the_loop() {
    let (_kept, store, record) = started();
    let id = record.id();
    let path = store.journal_path(id);
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    let room = usize::try_from((12 << 20) - file.metadata().unwrap().len()).unwrap();
    let (begin, end) = (
        r#"{"at":"2026-11-22T00:53:33Z","note":"long","data":{"x":""#,
        "\"}}\n",
    );
    // There is room for no line of a change behind it.
    let filler = "x".repeat(room - begin.len() - end.len() - 300);
    std::io::Write::write_all(&mut file, [begin, &filler, end].concat().as_bytes()).unwrap();
    let length = || std::fs::metadata(&path).unwrap().len();
    let before = length();
    let end = |by: &str| {
        let mut end = change("end", "drafting", "done", &[]);
        end.by = by.to_owned();
        store.commit(&store.open(id).unwrap().record, end)
    };
    assert!(matches!(
        end("hook").unwrap_err(),
        CommitError::Store(StoreError::JournalFull { .. })
    ));
    assert_eq!(length(), before, "nothing was written");
    assert_eq!(store.open(id).unwrap().repairs, []);
    assert_eq!(end("person").unwrap().phase(), "done");
    assert_eq!(store.open(id).unwrap().record.phase(), "done");
}

#[test]
fn a_document_may_name_the_change_with_which_its_visit_began() {
    static VISITED: StateSpec = StateSpec {
        fields: HeldFields {
            visit: Some("visit"),
            ..SPEC.fields
        },
        ..SPEC
    };
    let (_kept, store) = store_of(&VISITED);
    let mut record = store.start(plan()).unwrap();
    let named = |record: &Record| (record.count("visit"), record.visit());
    assert_eq!(named(&record), (Some(1), Some(1)));
    for (begins_visit, visit) in [(false, 1), (true, 3), (false, 3)] {
        let change = Change {
            begins_visit,
            ..change("revise", "drafting", "drafting", &[])
        };
        record = store.commit(&record, change).unwrap();
        assert_eq!(named(&record), (Some(visit), Some(visit)));
    }
    let path = store.path_of(record.id());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("visit: 3", "visit: 2")).unwrap();
    let opened = store.open(record.id()).unwrap();
    assert!(
        matches!(&opened.repairs[..], [Repair::EditUndone { fields, .. }] if fields == &["visit"])
    );
    assert_eq!(named(&opened.record), (Some(3), Some(3)));
}
