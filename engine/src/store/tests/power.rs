//! After a power loss, any unsynced part may be missing, but the loop is at an acknowledged change
//! or at the one that was being made.

use std::fs;

use camino::Utf8PathBuf;

use crate::store::testing::{change, started};
use crate::store::{LoopId, Store};

/// The schedules that each of two threads tries.
const SCHEDULE_COUNT: u64 = 5_000;
/// The changes of the loop.
const CHANGE_COUNT: usize = 6;

/// The files after a change was acknowledged.
struct After {
    journal: Vec<u8>,
    document: Vec<u8>,
    mark: Vec<u8>,
}

/// Numbers that look random, the same ones each time.
struct Numbers(u64);

impl Numbers {
    fn random_below(&mut self, end: usize) -> usize {
        // A linear congruential generator with Knuth's constants, whose high bits are good enough.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

fn mark(store: &Store) -> Utf8PathBuf {
    let marks = store.root().join("state-home/marks");
    marks
        .read_dir_utf8()
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .into_path()
}

fn recorded(store: &Store, id: &LoopId) -> After {
    After {
        journal: fs::read(store.journal_path(id)).unwrap(),
        document: fs::read(store.path_of(id)).unwrap(),
        mark: fs::read(mark(store)).unwrap(),
    }
}

#[test]
fn nothing_acknowledged_is_lost_with_the_power() {
    std::thread::scope(|scope| {
        for seed in [33, 34] {
            scope.spawn(move || lose_power(seed));
        }
    });
}

/// Changes a loop, and opens it after each of many power losses.
fn lose_power(seed: u64) {
    let (_kept, store, mut held) = started();
    let id = held.id().clone();
    let mark = mark(&store);
    let mut states = vec![recorded(&store, &id)];
    for round in 2..=CHANGE_COUNT as u64 {
        let edits = [("round", round)];
        let next = change("revise", "drafting", "drafting", &edits);
        held = store.commit(&held, next).unwrap();
        states.push(recorded(&store, &id));
    }

    let mut numbers = Numbers(seed);
    for schedule in 0..SCHEDULE_COUNT {
        // The changes up to `acknowledged` were synced. Any part of the next line may exist.
        let acknowledged = numbers.random_below(CHANGE_COUNT);
        let synced = states[acknowledged].journal.len();
        let next = states
            .get(acknowledged + 1)
            .unwrap_or(&states[acknowledged]);
        let written = synced + numbers.random_below(next.journal.len() - synced + 1);
        let mut journal = next.journal[..written].to_vec();
        if numbers.random_below(4) == 0 {
            journal.resize(next.journal.len().max(written), 0);
        }
        fs::write(store.journal_path(&id), &journal).unwrap();

        // Document and mark are not synced: an earlier one, a part of it or none may be left.
        let document = &states[numbers.random_below(acknowledged + 1)].document;
        match numbers.random_below(6) {
            0 => _ = fs::remove_file(store.path_of(&id)),
            1 => fs::write(
                store.path_of(&id),
                &document[..numbers.random_below(document.len())],
            )
            .unwrap(),
            2 => fs::write(store.path_of(&id), vec![0; document.len()]).unwrap(),
            _ => fs::write(store.path_of(&id), document).unwrap(),
        }
        let kept = &states[numbers.random_below(acknowledged + 1)].mark;
        match numbers.random_below(4) {
            0 => _ = fs::remove_file(&mark),
            1 => fs::write(&mark, &kept[..numbers.random_below(kept.len())]).unwrap(),
            _ => fs::write(&mark, kept).unwrap(),
        }

        let opened = store
            .open(&id)
            .unwrap_or_else(|error| panic!("schedule {schedule}: {error}"));
        let whole = usize::from(written == next.journal.len() && written > synced);
        let expected = (acknowledged + 1 + whole) as u64;
        assert_eq!(opened.revision, expected, "schedule {schedule}");
        assert_eq!(opened.count("round"), Some(expected), "schedule {schedule}");
        let again = fs::read(store.path_of(&id)).unwrap();
        assert_eq!(again, opened.document, "schedule {schedule}");
    }
}
