//! The fields that a caller sets by name, and documents of other machines.

use crate::store::testing::{StartPlan, change, held, home, plan, started, store_of};
use crate::store::{FieldInfo, FieldKind, LoopId, StateSpec, Store, StoreError, WhyNotOurs};

/// A machine with a field for notes that anybody may set.
static WITH_NOTES: StateSpec = StateSpec {
    declared: &[
        FieldInfo {
            kind: FieldKind::Text,
            ..held("notes")
        },
        FieldInfo {
            kind: FieldKind::Count,
            owned: true,
            ..held("round")
        },
        held("last_updated_at"),
    ],
    ..crate::store::testing::SPEC
};

fn refusal(store: &Store, id: &LoopId, field: &str, allow_owned: bool) -> String {
    let set = store.set_field(id, field, 5.into(), "test", allow_owned);
    let Err(StoreError::Io { source, .. }) = set else {
        panic!("{field} was set");
    };
    source.to_string()
}

#[test]
fn field_is_set_unless_the_machine_or_the_store_writes_it() {
    let (_kept, store) = store_of(&WITH_NOTES);
    let started = store.begin(plan()).unwrap();
    let id = started.id();
    store
        .set_field(id, "notes", "mine".into(), "test", false)
        .unwrap();
    store
        .set_field(id, "last_updated_at", "now".into(), "test", false)
        .unwrap();
    let by_machine =
        "the field `round` is written by the machine only; use a command that changes it";
    assert_eq!(refusal(&store, id, "round", false), by_machine);
    let by_store = "the field `phase` is written by the store only";
    assert_eq!(refusal(&store, id, "phase", true), by_store);
    let no_name = "`a b` cannot name a field";
    assert_eq!(refusal(&store, id, "a b", true), no_name);
    store
        .set_field(id, "round", 5.into(), "test", true)
        .unwrap();
    let opened = store.open(id).unwrap();
    assert_eq!(opened.text("notes").as_deref(), Some("mine"));
    assert_eq!((opened.count("round"), opened.revision), (Some(5), 4));
}

#[test]
fn session_takes_the_loop_by_a_change() {
    let (_kept, store, held) = started();
    let taken = store.set_session(&held, "s-1", "bind", "hook").unwrap();
    assert_eq!(taken.session().as_deref(), Some("s-1"));
    assert_eq!((&*taken.what, taken.revision), ("bind", 2));
    let stale = store.set_session(&held, "s-2", "bind", "hook");
    assert!(matches!(stale, Err(StoreError::Stale { revision: 2, .. })));
}

#[test]
fn loop_that_was_taken_away_is_not_found() {
    let (_kept, store, held) = started();
    std::fs::remove_dir_all(store.folder()).unwrap();
    std::fs::create_dir_all(store.folder()).unwrap();
    let next = change("revise", "drafting", "drafting", &[]);
    let lost = store.commit(&held, next);
    assert!(matches!(lost, Err(StoreError::NotFound { .. })));
    let again = StartPlan {
        id: Some(held.id().clone()),
        ..plan()
    };
    store.begin(again).unwrap();
}

#[test]
fn loop_of_another_machine_is_refused_with_or_without_journal() {
    let (_kept, store, held) = started();
    static OTHER: StateSpec = StateSpec {
        machine: "other",
        ..crate::store::testing::SPEC
    };
    let root = store.root().to_owned();
    let other = Store::at(store.folder().to_owned(), root.clone(), &OTHER, home(&root));
    let refused = other.open(held.id());
    assert!(matches!(refused, Err(StoreError::OtherMachine(_))));
    std::fs::remove_dir_all(store.loop_folder(held.id())).unwrap();
    let why = |store: &Store| match store.open(held.id()) {
        Err(StoreError::NotOurs { why, .. }) => Some(why),
        Err(StoreError::OtherMachine(_)) => None,
        opened => panic!("{opened:?}"),
    };
    assert_eq!(why(&store), Some(WhyNotOurs::NoJournal));
    assert_eq!(why(&other), None);
    std::fs::write(store.path_of(held.id()), "phase: drafting\n").unwrap();
    assert_eq!(why(&store), Some(WhyNotOurs::NoMachine));
}
