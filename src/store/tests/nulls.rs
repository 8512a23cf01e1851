//! Values that a document has as null: people see null, and everyone else the value.

use crate::store::fault::{Point, crash_at};
use crate::store::testing::{FRONTMATTER, JSON, SPEC, change, plan, store_of, word};
use crate::store::{Edit, Editable, Entry, Repair, StateSpec, Value};

const NULLS: &[(&str, &str)] = &[
    ("phase", "drafting"),
    ("round", "0"),
    ("topic", ""),
    ("decision_signal", "none"),
];
const EDITS: &[Edit] = &[Edit {
    field: "round",
    takes: Editable::Count(0, 9),
}];

static FORMS: [(StateSpec, &str, &str); 3] = [
    (with_nulls(SPEC), "phase: null", "round: 4"),
    (with_nulls(JSON), "\"phase\": null", "\"round\": 4"),
    (with_nulls(FRONTMATTER), "  phase: null", "round: 4"),
];

const fn with_nulls(spec: StateSpec) -> StateSpec {
    StateSpec {
        nulls: NULLS,
        edits: EDITS,
        owned: &["round", "decision_signal"],
        ..spec
    }
}

#[test]
fn null_stands_in_the_document_and_the_value_everywhere_else() {
    for (spec, phase, _) in &FORMS {
        let (_kept, store) = store_of(spec);
        let record = store.start(plan()).unwrap();
        let text = || std::fs::read_to_string(store.path_of(record.id())).unwrap();
        assert!(text().contains(phase), "{}", text());
        let signal = phase.trim().replace("phase", "decision_signal");
        assert!(text().contains(&signal), "{}", text());
        assert_eq!(record.phase(), "drafting");
        assert_eq!(record.text("decision_signal").as_deref(), Some("none"));
        assert_eq!(store.open(record.id()).unwrap().repairs, []);
        let to = change(
            "on",
            "drafting",
            "reviewing",
            &[
                ("round", Value::Count(0)),
                ("topic", Value::Text(String::new())),
            ],
        );
        let record = store.commit(&record, to).unwrap();
        assert!(!text().contains(phase), "{}", text());
        assert_eq!(record.count("round"), Some(0));
        assert!(
            text().contains(&phase.trim().replace("phase", "round")),
            "{}",
            text()
        );
        assert!(
            text().contains(&phase.trim().replace("phase", "topic")),
            "{}",
            text()
        );
        let Some(Entry::Change(line)) = store.journal(record.id()).unwrap().pop() else {
            panic!("a change")
        };
        let of = |name: &str| {
            line.fields
                .iter()
                .find(|(field, _)| field == name)
                .unwrap()
                .1
                .clone()
        };
        assert_eq!(
            (of("round"), of("topic")),
            (Value::Count(0), Value::Text(String::new()))
        );
        assert_eq!(of("decision_signal"), word("none"));
    }
}

#[test]
fn an_edit_to_null_and_a_lost_document_are_mended_by_the_value() {
    for (spec, phase, round) in &FORMS {
        let (_kept, store) = store_of(spec);
        let record = store.start(plan()).unwrap();
        let four = change("on", "drafting", "drafting", &[("round", Value::Count(4))]);
        let record = store.commit(&record, four).unwrap();
        let path = store.path_of(record.id());
        let text = || std::fs::read_to_string(&path).unwrap();
        let null = phase.trim().replace("phase", "round");
        std::fs::write(&path, text().replace(round, &null)).unwrap();
        let opened = store.open(record.id()).unwrap();
        let taken = Repair::EditTaken {
            fields: vec!["round: 0".to_owned()],
        };
        assert_eq!(
            (opened.repairs, opened.record.count("round")),
            (vec![taken], Some(0))
        );
        assert!(
            text().contains(&null),
            "it stays as the person wrote it: {}",
            text()
        );
        std::fs::write(
            &path,
            text().replace(phase, &phase.replace("null", "\"drafting\"")),
        )
        .unwrap();
        assert_eq!(
            store.open(record.id()).unwrap().repairs,
            [],
            "the value itself is no edit"
        );
        std::fs::remove_file(&path).unwrap();
        store.open(record.id()).unwrap();
        assert!(
            text().contains(phase) && text().contains(&null),
            "{}",
            text()
        );
    }
}

#[test]
fn a_crash_between_journal_and_document_is_no_edit() {
    for (spec, ..) in &FORMS {
        let (_kept, store) = store_of(spec);
        let record = store.start(plan()).unwrap();
        let on = change("on", "drafting", "reviewing", &[("round", Value::Count(0))]);
        crash_at(Point::Journaled, || _ = store.commit(&record, on));
        let opened = store.open(record.id()).unwrap();
        assert!(
            matches!(
                &opened.repairs[..],
                [Repair::RolledForward {
                    from: Some(1),
                    to: 2
                }]
            ),
            "{:?}",
            opened.repairs
        );
        assert_eq!(
            (opened.record.phase(), opened.record.count("round")),
            ("reviewing", Some(0))
        );
    }
}
