//! Sixteen changes at once: one wins, and the others are refused.

use std::fmt::Debug;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::store::testing::{SPEC, change, home, plan, started, store};
use crate::store::{Store, StoreError};

/// Returns another store on the same folder, as another process has it.
fn reopen(store: &Store) -> Store {
    let folder = store.folder().to_owned();
    let root = store.root().to_owned();
    let home = home(&root);
    Store::at(folder, root, &SPEC, home)
}

/// Lets sixteen stores on a folder do something at once. Returns the errors of all but the winner.
fn race<T: Debug + Send, E: Debug + Send>(
    store: &Store,
    work: impl Fn(&Store) -> Result<T, E> + Sync,
) -> Vec<E> {
    let ready = Barrier::new(16);
    let results: Vec<_> = thread::scope(|scope| {
        let start = |_| {
            scope.spawn(|| {
                let store = reopen(store);
                ready.wait();
                work(&store)
            })
        };
        let racers: Vec<_> = (0..16).map(start).collect();
        let results = racers.into_iter().map(|racer| racer.join().unwrap());
        results.collect()
    });
    let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1, "{won:?}");
    lost.into_iter().map(Result::unwrap_err).collect()
}

#[test]
fn one_of_sixteen_commits_wins_a_hundred_times() {
    let (_kept, store, mut held) = started();
    for round in 2..102 {
        let next = change("revise", "drafting", "drafting", &[("round", round)]);
        for error in race(&store, |store| store.commit(&held, next.clone())) {
            assert!(matches!(error, StoreError::Stale { .. }), "{error}");
        }
        held = store.open(held.id()).unwrap();
        assert_eq!(held.count("round"), Some(round));
    }
    assert_eq!(store.journal(held.id()).unwrap().len(), 101);
}

#[test]
fn loop_that_others_change_opens_as_it_is() {
    let (_kept, store, started) = started();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            let store = reopen(&store);
            let id = started.id();
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let opened = store.open(id).unwrap();
                    assert!(opened.repairs().is_empty());
                }
            });
        }
        let mut held = started.clone();
        for round in 2..1000 {
            let edits = [("round", round)];
            let change = change("revise", "drafting", "drafting", &edits);
            held = store.commit(&held, change).unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(store.journal(started.id()).unwrap().len(), 999);
}

#[test]
fn one_of_sixteen_starts_wins() {
    let (_kept, store) = store();
    for error in race(&store, |store| store.begin(plan())) {
        let is_active = matches!(error, StoreError::Active { .. });
        assert!(is_active, "{error}");
    }
    assert_eq!(store.list().count(), 1);
}
