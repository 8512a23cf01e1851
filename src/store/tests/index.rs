//! The index of loops that are not over: it saves opening the others, and nothing hangs on it being there or right.

use crate::store::testing::{change, plan, started, store};
use crate::store::{LoopId, Record, StartError, Store};

fn cancel(store: &Store, record: &Record) {
    let over = store.commit(record, change("cancel", "drafting", "cancelled", &[]));
    over.unwrap();
}

/// Returns the one file of the index.
fn index(store: &Store) -> camino::Utf8PathBuf {
    let folder = store.root().join("state-home/active");
    let mut files = folder.read_dir_utf8().unwrap();
    files.next().expect("a start wrote it").unwrap().into_path()
}

fn active(store: &Store) -> Vec<LoopId> {
    store.list_active().into_iter().map(|one| one.id).collect()
}

#[test]
fn what_is_over_is_not_opened_again() {
    let (_kept, store, first) = started();
    assert_eq!(active(&store), [first.id().clone()]);
    cancel(&store, &first);
    assert_eq!(active(&store), []);
    assert_eq!(
        store.last_over().map(|one| one.id).as_ref(),
        Some(first.id()),
        "shown where none is active"
    );
    // Whoever opened it would be told.
    std::fs::write(store.path_of(first.id()), "\0").unwrap();
    let second = store.start_telling(plan()).unwrap();
    assert_eq!(second.repairs, []);
    assert_eq!(active(&store), [second.record.id().clone()]);
    let (listed, left_out) = store.list_newest(0);
    assert_eq!((listed.len(), left_out), (1, 1));
    let (listed, left_out) = store.list_newest(9);
    assert_eq!((listed.len(), left_out), (2, 0));
}

#[test]
fn an_index_that_is_gone_or_damaged_is_made_anew() {
    let (_kept, store, first) = started();
    cancel(&store, &first);
    let second = store.start(plan()).unwrap();
    let path = index(&store);
    let good = std::fs::read(&path).unwrap();
    let text = String::from_utf8(good.clone()).unwrap();
    let without = text.replace(&format!("\"{}\"", second.id()), "");
    let another = text.replace(second.id().as_str(), first.id().as_str());
    let cut = &text[..text.len() / 2];
    for damaged in [
        None,
        Some(""),
        Some(cut),
        Some(&without),
        Some(&another),
        Some("\0"),
    ] {
        match damaged {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        assert_eq!(active(&store), [second.id().clone()], "{damaged:?}");
        assert_eq!(std::fs::read(&path).unwrap(), good, "{damaged:?}");
        std::fs::write(&path, damaged.unwrap_or_default()).unwrap();
        let refused = store.start(plan()).unwrap_err();
        assert!(matches!(refused, StartError::Active { id, .. } if id == second.id().as_str()));
        assert_eq!(std::fs::read(&path).unwrap(), good, "{damaged:?}");
    }
}

#[test]
fn a_start_reads_no_names_where_nobody_has_added_one_since_it_last_did() {
    let (_kept, store, first) = started();
    // Whole seconds of long ago, so that no coarse clock is in the way.
    let set_time = |path: &camino::Utf8Path, second| {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(second);
        std::fs::File::open(path)
            .and_then(|file| file.set_modified(time))
            .unwrap();
    };
    let quiet = || {
        set_time(store.folder(), 1);
        set_time(&store.folder().join(".lock"), 1);
    };
    quiet();
    cancel(&store, &first);
    let hand_made = store.folder().join("by-hand.state");
    std::fs::write(&hand_made, "phase: drafting\n").unwrap();
    quiet();
    let second = store
        .start(plan())
        .expect("nothing says that a name was added");
    quiet();
    cancel(&store, &second);
    quiet();
    let third = store
        .start(plan())
        .expect("the mark was passed on by the end of the one before");
    cancel(&store, &third);
    set_time(store.folder(), 2);
    for _ in 0..2 {
        let refused = store.start(plan()).unwrap_err();
        assert!(matches!(refused, StartError::Active { id, .. } if id == "by-hand"));
    }
}

#[test]
fn nothing_is_kept_of_a_folder_in_which_nothing_was_started() {
    let (_kept, store) = store();
    std::fs::create_dir_all(store.folder()).unwrap();
    let path = store.folder().join("20200101-000000-abcdef.state");
    std::fs::write(path, "phase: done\nmachine: plan\n").unwrap();
    assert_eq!(active(&store), []);
    assert!(!store.root().join("state-home").exists());
    assert!(!store.folder().join(".lock").exists());
}
