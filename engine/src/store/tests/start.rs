//! A start is refused while another loop is under way, and leaves nothing behind if it fails.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use crate::store::testing::{
    OWN, SPEC, StartPlan, change, id, named_plan, plan, started, store, store_of,
};
use crate::store::{Active, Import, StateSpec, Store, StoreError};

/// The machine with one loop for each session.
static BY_SESSION: StateSpec = StateSpec {
    active: Active::Session,
    ..SPEC
};

fn plan_for_session(session: &'static str) -> StartPlan {
    StartPlan { session, ..plan() }
}

#[test]
fn start_makes_a_folder_that_ignores_itself() {
    let (_kept, store) = store();
    let held = store.begin(plan()).unwrap();
    let text = |name: &str| fs::read_to_string(store.folder().join(name)).unwrap();
    assert_eq!(text(".gitignore"), "*\n");
    assert_eq!(
        text(&format!("{}.lock", held.id())),
        format!("{}\n", std::process::id())
    );
    assert_eq!(held.root().as_deref(), Some(store.root().as_str()));
}

#[test]
fn change_does_not_keep_the_path_of_the_folder_again() {
    let (_kept, store, held) = started();
    let projects = store.home.folder().unwrap().join("projects");
    let mut kept = projects.read_dir_utf8().unwrap();
    let path = kept.next().unwrap().unwrap().into_path();
    let inode = || path.metadata().unwrap().ino();
    let before = inode();
    store
        .commit(&held, change("step", "drafting", "drafting", &[]))
        .unwrap();
    assert_eq!(inode(), before);
}

#[test]
fn second_loop_is_refused_until_the_first_is_over() {
    let (_kept, store, held) = started();
    let Err(StoreError::Active { id, .. }) = store.begin(plan()) else {
        panic!("two loops");
    };
    assert_eq!(id, held.id().as_str());
    assert_eq!(store.list().count(), 1);
    let held = store
        .commit(&held, change("end", "drafting", "done", &[]))
        .unwrap();
    assert!(SPEC.is_terminal(Some(held.phase())));
    store.begin(plan()).unwrap();
}

#[test]
fn each_session_may_have_its_loop() {
    let (_kept, store) = store_of(&BY_SESSION);
    store.begin(plan_for_session("a")).unwrap();
    store.begin(plan_for_session("b")).unwrap();
    assert!(matches!(
        store.begin(plan_for_session("a")),
        Err(StoreError::Active { .. })
    ));
}

#[test]
fn hand_made_state_file_blocks_start_until_over() {
    let (_kept, store) = store();
    fs::create_dir_all(store.folder()).unwrap();
    let by_hand = store.folder().join("mine.state");
    fs::write(&by_hand, "phase: drafting\n").unwrap();
    let Err(StoreError::Active { id, .. }) = store.begin(plan()) else {
        panic!("it is in the way");
    };
    assert_eq!(id, "mine");
    fs::write(&by_hand, "phase: done\n").unwrap();
    store.begin(plan()).unwrap();
}

#[test]
fn failed_start_leaves_no_loop_behind() {
    let (_kept, store) = store();
    let home = store.root().join("state-home");
    fs::write(&home, "a file").unwrap();
    assert!(store.begin(plan()).is_err());
    assert!(!store.folder().exists());

    fs::remove_file(home).unwrap();
    let with_name = store.begin(named_plan());
    assert!(matches!(with_name, Err(StoreError::Io { .. })));
    assert_eq!(store.list().count(), 0);
}

#[test]
fn imported_document_keeps_its_keys_and_its_copy() {
    let (_kept, store) = store();
    fs::create_dir_all(store.folder()).unwrap();
    let file = store.folder().join("old.state");
    let text = "phase: drafting\nmine: \"kept\"\n";
    fs::write(&file, text).unwrap();
    let document = SPEC.parse(text.as_bytes()).unwrap();
    let import = Import {
        document,
        file: file.clone(),
    };
    let started = store
        .begin(StartPlan {
            import: Some(import),
            ..plan()
        })
        .unwrap();
    let id = started.id();
    let written = fs::read_to_string(store.path_of(id)).unwrap();
    assert!(written.contains("mine: \"kept\"\n"), "{written}");
    assert!(!file.exists());
    let kept = store.loop_folder(id).join("replaced-1");
    assert_eq!(fs::read_to_string(kept).unwrap(), text);
}

#[test]
fn users_file_in_the_place_of_a_document_refuses_the_start() {
    let (_kept, store) = store_of(&OWN);
    let path = store.path_of(&id());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "mine: yes\n").unwrap();
    let refused = store.begin(named_plan());
    assert!(matches!(refused, Err(StoreError::NotOurs { .. })));
    assert_eq!(fs::read_to_string(path).unwrap(), "mine: yes\n");
}

#[test]
fn store_in_memory_does_the_same() {
    let store = Store::in_memory(&SPEC);
    let held = store.begin(plan()).unwrap();
    assert!(matches!(
        store.begin(plan()),
        Err(StoreError::Active { .. })
    ));
    let next = store
        .commit(&held, change("end", "drafting", "done", &[]))
        .unwrap();
    assert!(
        store
            .commit(&held, change("end", "drafting", "done", &[]))
            .is_err()
    );
    assert_eq!(store.open(held.id()).unwrap().revision, next.revision);
    assert_eq!(store.journal(held.id()).unwrap().len(), 2);
    assert_eq!(store.list().count(), 1);
}

#[test]
fn start_that_died_before_its_journal_is_no_loop() {
    let (_kept, store) = store_of(&OWN);
    store.begin(named_plan()).unwrap();
    let journal = store.journal_path(&id());
    let line = fs::read_to_string(&journal).unwrap();
    fs::remove_dir_all(store.root()).unwrap();

    fs::create_dir_all(journal.parent().unwrap()).unwrap();
    let temporary = journal.with_file_name(".loop-tmp-0");
    fs::write(temporary, &line[..line.len() / 2]).unwrap();
    assert_eq!(store.list().count(), 0);
    store.begin(named_plan()).unwrap();
    assert_eq!(store.journal(&id()).unwrap().len(), 1);
}
