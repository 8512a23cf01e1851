//! A user's document that a checkout or a pull replaced, and one that cannot be read or written.

use std::fs;

use crate::store::testing::{OWN, StartPlan, change, id, kept_path, named_plan, started, store_of};
use crate::store::{Import, MAX_DOCUMENT_BYTES, Record, Store, StoreError, WhyNotOurs};

/// Makes a loop with three revisions, puts its first document back, and returns all documents.
fn put_back() -> (tempfile::TempDir, Store, Record, Vec<String>) {
    let (kept, store) = store_of(&OWN);
    let mut held = store.begin(named_plan()).unwrap();
    let read = || fs::read_to_string(store.path_of(&id())).unwrap();
    let mut documents = vec![read()];
    for round in 2..=3 {
        let edits = [("round", round)];
        held = (store.commit(&held, change("revise", "drafting", "drafting", &edits))).unwrap();
        documents.push(read());
    }
    fs::write(store.path_of(&id()), &documents[0]).unwrap();
    (kept, store, held, documents)
}

#[test]
fn document_put_back_is_written_again_when_asked() {
    let (_kept, store, held, documents) = put_back();
    let error = store.open(&id()).unwrap_err();
    let why = WhyNotOurs::Replaced {
        found: 1,
        newest: 3,
    };
    assert!(matches!(error, StoreError::NotOurs { why: found, .. } if found == why));
    assert_eq!(
        fs::read_to_string(store.path_of(&id())).unwrap(),
        documents[0]
    );

    let kept = store.render_again(&id()).unwrap().unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), documents[0]);
    assert_eq!(
        fs::read_to_string(store.path_of(&id())).unwrap(),
        documents[2]
    );
    assert_eq!(store.open(&id()).unwrap().revision, held.revision);
    assert_eq!(store.render_again(&id()).unwrap(), None);

    // A crash leaves the document of the change before.
    fs::write(store.path_of(&id()), &documents[1]).unwrap();
    assert!(store.open(&id()).unwrap().repairs().is_empty());
}

#[test]
fn import_of_document_put_back_takes_its_state() {
    let (_kept, store, held, documents) = put_back();
    let file = store.path_of(&id());
    let import = || Import {
        document: OWN.parse(documents[0].as_bytes()).unwrap(),
        file: file.clone(),
    };
    let start = || StartPlan {
        import: Some(import()),
        ..named_plan()
    };
    let record = store.begin(start()).unwrap();
    assert_eq!(record.revision, held.revision + 1);
    assert_eq!(record.visit, Some(record.revision));
    assert_eq!(record.count("round"), Some(1));
    let opened = store.open(&id()).unwrap();
    assert_eq!(opened.fields, record.fields);
    assert_eq!(store.journal(&id()).unwrap().len(), 4);
    // A document that shows the state of its loop is kept.
    assert!(matches!(
        store.begin(start()),
        Err(StoreError::Active { .. })
    ));
}

#[test]
fn document_too_large_to_read_is_kept() {
    let (_kept, store, held) = started();
    let path = store.path_of(held.id());
    let large = "x".repeat(MAX_DOCUMENT_BYTES + 1);
    let before = fs::read_to_string(&path).unwrap();
    fs::write(&path, &large).unwrap();

    let opened = store.open(held.id()).unwrap();
    let kept = kept_path(&opened);
    assert!(fs::read_to_string(kept).unwrap() == large);
    assert_eq!(fs::read_to_string(path).unwrap(), before);
}

#[test]
fn start_whose_document_cannot_be_written_leaves_nothing() {
    let (_kept, store) = store_of(&OWN);
    let path = store.path_of(&id());
    fs::create_dir_all(path.join("in the way")).unwrap();
    assert!(store.begin(named_plan()).is_err());
    assert_eq!(store.list().count(), 0);
    fs::remove_dir_all(&path).unwrap();
    store.begin(named_plan()).unwrap();
}
