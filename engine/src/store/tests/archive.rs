//! Loops move to the archive and back, whole, and nothing is removed from there.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::store::testing::{change, plan, started, store};
use crate::store::{Store, StoreError, lock_run};

fn finished(store: &Store) -> crate::store::LoopId {
    let held = store.begin(plan()).unwrap();
    let over = store
        .commit(&held, change("end", "drafting", "done", &[]))
        .unwrap();
    over.id().clone()
}

#[test]
fn start_archives_finished_loops_beyond_the_newest_twenty() {
    let (_kept, store) = store();
    let ids: Vec<_> = (0..22).map(|_| finished(&store)).collect();
    store.begin(plan()).unwrap();
    assert_eq!(store.list().count(), 21);
    let archived = ids.iter().filter(|id| store.has_archived(id)).count();
    assert_eq!(archived, 2);
    let archive = store.folder().join("archive");
    assert_eq!(fs::read_dir(archive).unwrap().count(), 2);
}

#[test]
fn archived_loops_that_are_over_are_not_opened() {
    let (_kept, store) = store();
    let over = finished(&store);
    store.archive(&over).unwrap();
    let open = store.begin(plan()).unwrap().id().clone();
    store.archive(&open).unwrap();
    let archived = |store: &Store| Vec::from_iter(store.archived().into_iter().map(|one| one.id));
    assert_eq!(archived(&store), std::slice::from_ref(&open));
    let unfinished = store.folder().join("archive/.unfinished");
    assert_eq!(fs::read_dir(&unfinished).unwrap().count(), 1);

    let gone = store.archive(&open).unwrap_err();
    assert!(matches!(gone, StoreError::NotFound { .. }), "{gone}");
    assert_eq!(store.archived_count(), 2);
    store.unarchive(&open).unwrap();
    assert!(archived(&store).is_empty());
    assert_eq!(fs::read_dir(&unfinished).unwrap().count(), 0);
}

#[test]
fn list_of_active_loops_opens_no_finished_one() {
    let (_kept, store) = store();
    let over = finished(&store);
    let journal = store.journal_path(&over);
    let whole = fs::read(&journal).unwrap();
    fs::remove_file(store.path_of(&over)).unwrap();
    fs::write(&journal, vec![b'x'; whole.len()]).unwrap();
    assert_eq!(store.list_active(), []);
    assert!(store.list().next().unwrap().problem.is_some());
    fs::write(&journal, &whole).unwrap();
    let held = store.open(&over).unwrap();
    let again = change("again", "done", "drafting", &[]);
    store.commit(&held, again).unwrap();
    assert_eq!(store.list_active()[0].id, over);
}

#[test]
fn list_opens_a_loop_only_when_it_is_reached() {
    let (_kept, store) = store();
    let older = finished(&store);
    let newer = finished(&store);
    store.touch(&newer).unwrap();
    let mut listed = store.list();
    assert_eq!(listed.next().unwrap().id, newer);
    fs::write(store.journal_path(&older), "garbage\n").unwrap();
    assert!(listed.next().unwrap().problem.is_some());
}

#[test]
fn loop_comes_back_from_the_archive_as_it_was() {
    let (_kept, store, held) = started();
    let id = held.id();
    store.note(id, "seen", &1).unwrap();
    store.archive(id).unwrap();
    assert!(store.list().next().is_none() && store.has_archived(id));
    assert!(matches!(
        store.open(id),
        Err(StoreError::NotFound { archived: true, .. })
    ));
    assert_eq!(store.archived_store(id).journal(id).unwrap().len(), 2);

    let other = store.begin(plan()).unwrap();
    assert!(matches!(
        store.unarchive(id),
        Err(StoreError::Active { .. })
    ));
    store
        .commit(&other, change("end", "drafting", "done", &[]))
        .unwrap();
    store.unarchive(id).unwrap();
    let back = store.open(id).unwrap();
    assert_eq!((back.revision, &back.document), (1, &held.document));
    assert!(!store.folder().join("archive").join(id.as_str()).exists());
}

#[test]
fn loop_whose_review_runs_is_not_archived() {
    let (_kept, store, held) = started();
    let folder = store.open_loop_folder(held.id()).unwrap();
    let _running = lock_run(&folder).unwrap().unwrap();
    assert!(matches!(
        store.archive(held.id()),
        Err(StoreError::Busy { .. })
    ));
    let later = SystemTime::now() + Duration::from_secs(7200);
    assert!(
        store
            .archive_stale(later, Duration::from_secs(3600))
            .is_empty()
    );
}

#[test]
fn stale_loops_are_archived_and_touched_ones_are_not() {
    let (_kept, store, held) = started();
    let later = SystemTime::now() + Duration::from_secs(1800);
    let hour = Duration::from_secs(3600);
    assert!(store.archive_stale(later, hour).is_empty());
    let archived = store.archive_stale(later + hour, hour);
    assert_eq!(archived, [held.id().clone()]);
}

#[test]
fn loop_that_cannot_be_opened_is_archived_all_the_same() {
    let (_kept, store, held) = started();
    fs::write(store.journal_path(held.id()), "garbage\n").unwrap();
    store.archive(held.id()).unwrap();
    assert_eq!(store.list().count(), 0);
}

#[test]
fn loops_are_archived_also_under_ids_that_are_there() {
    let (_kept, store, _) = started();
    let by_hand = store.folder().join("mine.state");
    for archived in ["mine", "mine-2", "mine-3"] {
        fs::write(&by_hand, "phase: drafting\n").unwrap();
        let [foreign] = store.list_foreign().try_into().unwrap();
        assert_eq!(foreign.id.as_str(), "mine");
        store.archive(&foreign.id).unwrap();
        let there = store.folder().join("archive").join(archived);
        assert!(there.join("mine.state").exists(), "{archived}");
    }
}

#[test]
fn stale_documents_are_archived_and_foreign_journals_stay() {
    let (_kept, store, held) = started();
    let other = "20261122-005333-0a1b2c";
    fs::write(
        store.folder().join(format!("{other}.state")),
        "phase: drafting\n",
    )
    .unwrap();
    fs::write(store.journal_path(held.id()), "garbage\n").unwrap();
    let later = SystemTime::now() + Duration::from_secs(7200);
    let archived = store.archive_stale(later, Duration::from_secs(3600));
    assert_eq!(
        Vec::from_iter(archived.iter().map(|id| id.as_str())),
        [other]
    );
}
