//! Random operations, crashes and damage, checked against a reference: the list of changes that each loop must have.

use proptest::prelude::*;

use crate::store::fault::{Point, crash_at};
use crate::store::testing::{FRONTMATTER, JSON, SPEC, change, plan, store_of};
use crate::store::{CommitError, Entry, LoopId, Record, StartError, StateSpec, Store, Value};

const POINTS: [Point; 4] = [
    Point::Prepared,
    Point::HalfLine,
    Point::Journaled,
    Point::Renamed,
];

/// One operation on the state folder. Indices wrap around.
#[derive(Debug, Clone)]
enum Operation {
    Start,
    /// A commit of a record that was read earlier, current or stale.
    Commit {
        record: usize,
        finish: bool,
    },
    /// A commit to the newest loop that dies at this point.
    CrashInCommit(Point),
    Note,
    Damage(Damage),
}

/// A change of the newest loop's document that the store did not make.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Deleted,
    Emptied,
    Garbled,
    /// The machine's own field is edited.
    RoundEdited,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let damage = prop::sample::select(vec![
        Damage::Deleted,
        Damage::Emptied,
        Damage::Garbled,
        Damage::RoundEdited,
    ]);
    let operation = prop_oneof![
        2 => Just(Operation::Start),
        6 => (any::<usize>(), prop::bool::weighted(0.2))
            .prop_map(|(record, finish)| Operation::Commit { record, finish }),
        2 => prop::sample::select(POINTS.to_vec()).prop_map(Operation::CrashInCommit),
        1 => Just(Operation::Note),
        2 => damage.prop_map(Operation::Damage),
    ];
    prop::collection::vec(operation, 1..24)
}

/// A loop as it must be: phase and round after each of its changes.
struct Expected {
    id: LoopId,
    changes: Vec<(&'static str, u64)>,
}

impl Expected {
    fn revision(&self) -> u64 {
        self.changes.len() as u64
    }

    fn last(&self) -> (&'static str, u64) {
        *self.changes.last().expect("a start is a change")
    }

    fn is_over(&self) -> bool {
        self.last().0 == "done"
    }
}

/// The real store, and what must be in it.
struct World {
    store: Store,
    loops: Vec<Expected>,
    /// Every record that a caller was given, with the index of its loop.
    records: Vec<(usize, Record)>,
}

impl World {
    fn apply(&mut self, operation: &Operation) -> Result<(), TestCaseError> {
        match operation {
            Operation::Start => self.start(),
            Operation::Commit { record, finish } => self.commit(*record, *finish),
            Operation::CrashInCommit(point) => self.crash(*point),
            Operation::Note => {
                if let Some(newest) = self.loops.last() {
                    self.store.note(&newest.id, "seen", &()).unwrap();
                }
                Ok(())
            }
            Operation::Damage(damage) => {
                self.damage(*damage);
                Ok(())
            }
        }
    }

    fn start(&mut self) -> Result<(), TestCaseError> {
        let is_active = self.loops.iter().any(|one| !one.is_over());
        match self.store.start(plan()) {
            Err(StartError::Active { .. }) => prop_assert!(is_active, "no loop is active"),
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
            Ok(record) => {
                prop_assert!(!is_active, "a second loop was started");
                self.loops.push(Expected {
                    id: record.id().clone(),
                    changes: vec![("drafting", 1)],
                });
                self.records.push((self.loops.len() - 1, record));
            }
        }
        Ok(())
    }

    fn commit(&mut self, record: usize, finish: bool) -> Result<(), TestCaseError> {
        if self.records.is_empty() {
            return Ok(());
        }
        let (of, held) = self.records[record % self.records.len()].clone();
        let expected = &mut self.loops[of];
        let is_current = held.revision() == expected.revision() && !expected.is_over();
        let (to, round) = next(expected.last(), finish);
        match self.store.commit(&held, step(to, round)) {
            Err(CommitError::Stale { found_revision, .. }) => {
                prop_assert!(!is_current, "the newest revision is not stale");
                prop_assert_eq!(found_revision, expected.revision());
            }
            Err(CommitError::Store(error)) => return Err(TestCaseError::fail(error.to_string())),
            Ok(record) => {
                prop_assert!(is_current, "revision {} was overtaken", held.revision());
                expected.changes.push((to, round));
                self.records.push((of, record));
            }
        }
        Ok(())
    }

    /// Commits to the newest loop and dies at `point`: from the journal's line on, the change is made.
    fn crash(&mut self, point: Point) -> Result<(), TestCaseError> {
        let Some(newest) = self.loops.last_mut().filter(|newest| !newest.is_over()) else {
            return Ok(());
        };
        let held = self.store.open(&newest.id).unwrap().record;
        let (to, round) = next(newest.last(), false);
        crash_at(point, || self.store.commit(&held, step(to, round)));
        if matches!(point, Point::Journaled | Point::Renamed) {
            newest.changes.push((to, round));
        }
        Ok(())
    }

    fn damage(&self, damage: Damage) {
        let Some(newest) = self.loops.last() else {
            return;
        };
        let path = self.store.path_of(&newest.id);
        let text = std::fs::read_to_string(&path).unwrap();
        let round = newest.last().1;
        match damage {
            Damage::Deleted => std::fs::remove_file(&path),
            Damage::Emptied => std::fs::write(&path, ""),
            Damage::Garbled => std::fs::write(&path, "\0garbled"),
            Damage::RoundEdited => {
                let edited = text.replace(&round.to_string(), &(round + 7).to_string());
                std::fs::write(&path, edited)
            }
        }
        .unwrap();
    }

    /// Opens every loop and compares it, and its journal, with the reference.
    fn check(&self) -> Result<(), TestCaseError> {
        for expected in &self.loops {
            let record = self.store.open(&expected.id).unwrap().record;
            let found = (record.phase(), record.count("round"));
            let (phase, round) = expected.last();
            prop_assert_eq!(found, (phase, Some(round)));
            prop_assert_eq!(record.revision(), expected.revision());

            let journal = self.store.journal(&expected.id).unwrap();
            let changes: Vec<_> = journal
                .iter()
                .filter_map(|entry| match entry {
                    Entry::Change(change) => Some((change.revision, change.to.clone())),
                    Entry::Note(_) => None,
                })
                .collect();
            let wanted: Vec<_> = (1..)
                .zip(&expected.changes)
                .map(|(revision, (phase, _))| (revision, Some((*phase).to_owned())))
                .collect();
            prop_assert_eq!(changes, wanted);
        }
        Ok(())
    }
}

fn next((_, round): (&'static str, u64), finish: bool) -> (&'static str, u64) {
    if finish {
        ("done", round)
    } else {
        ("drafting", round + 1)
    }
}

fn step(to: &str, round: u64) -> crate::store::Change {
    change("revise", "drafting", to, &[("round", Value::Count(round))])
}

fn run(spec: &'static StateSpec, operations: &[Operation]) -> Result<(), TestCaseError> {
    let (_kept, store) = store_of(spec);
    let mut world = World {
        store,
        loops: Vec::new(),
        records: Vec::new(),
    };
    for operation in operations {
        world.apply(operation)?;
        world.check()?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_operations_match_the_reference(
        form in 0_usize..3,
        operations in operations(),
    ) {
        run([&SPEC, &JSON, &FRONTMATTER][form], &operations)?;
    }
}
