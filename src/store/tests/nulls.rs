//! Values that a document has as null: people see null, and everyone else the value.

use crate::store::testing::{FRONTMATTER, JSON, SPEC, change, plan, store_of, word};
use crate::store::{Edit, Editable, Entry, StateSpec, Value};

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
