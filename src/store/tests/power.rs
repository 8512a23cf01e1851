//! What a power loss leaves, in many schedules on a disk that keeps its syncs and nothing else.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::store::memory::{Disk, Loss};
use crate::store::testing::{FRONTMATTER, JSON, SPEC, change, plan, store_of};
use crate::store::{Change, Form, LoopId, Record, Repair, Store, StoreError, Value};

const SCHEDULES: u32 = 2_000;
const THREADS: u32 = 4;

/// What somebody does with the loop.
#[derive(Debug, Clone)]
enum Step {
    /// A change, which writes this value.
    Commit(u64),
    /// A note.
    Note,
    /// A person writes something into the document that no journal has, and an editor syncs it.
    Comment,
    /// Nothing but opening it.
    Open,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0_u64..99).prop_map(Step::Commit),
        1 => Just(Step::Note),
        1 => Just(Step::Comment),
        1 => Just(Step::Open),
    ];
    proptest::collection::vec(step, 1..5)
}

fn losses() -> impl Strategy<Value = Vec<(Vec<Step>, usize, Loss)>> {
    let loss = (0_usize..8, any::<u8>(), any::<bool>()).prop_map(|(document, part, zeros)| Loss {
        document,
        part,
        zeros,
    });
    proptest::collection::vec((steps(), 0_usize..16, loss), 1..3)
}

/// What a caller knows of the loop.
struct Known {
    /// The revision that was acknowledged last, and its round.
    acknowledged: (u64, u64),
    /// One whose writing was cut short: it may have come to pass.
    begun: Option<(u64, u64)>,
    comments: usize,
}

/// Takes a step, until the power goes.
fn take(
    store: &Store,
    disk: &Disk,
    id: &LoopId,
    known: &mut Known,
    step: &Step,
) -> Result<(), StoreError> {
    match step {
        Step::Open => store.open(id).map(drop),
        Step::Note => store.note(id, "seen", &()),
        Step::Comment => {
            let document = String::from_utf8(disk.content().0.unwrap()).unwrap();
            let comment = comment(store, known.comments);
            let edited = match store.spec().form {
                Form::Lines => document + &comment,
                Form::Json(_) => document.replacen('{', &format!("{{{comment}"), 1),
                // One above the second fence, and one below.
                Form::Frontmatter(..) => {
                    document.replacen("---\n", &format!("---\n{comment}"), 1) + &comment
                }
            };
            disk.edit(edited.into_bytes());
            known.comments += 1;
            Ok(())
        }
        Step::Commit(round) => {
            let held = store.open(id)?.record;
            known.begun = Some((held.revision() + 1, *round));
            let next = change(
                "revise",
                "drafting",
                "drafting",
                &[("round", Value::Count(*round))],
            );
            let next = Change {
                append: Some(appended(held.revision() + 1)),
                ..next
            };
            let record = store.commit(&held, next).map_err(|error| match error {
                crate::store::CommitError::Store(error) => error,
                stale => panic!("{stale}"),
            })?;
            known.acknowledged = (record.revision(), *round);
            known.begun = None;
            Ok(())
        }
    }
}

/// What a person writes into a document: a comment, or, where there is none, a number as no program writes it.
fn comment(store: &Store, number: usize) -> String {
    match store.spec().form {
        Form::Lines | Form::Frontmatter(..) => format!("# comment {number}\n"),
        Form::Json(_) => format!("\"comment {number}\": 1.{number}0,"),
    }
}

/// What a change adds to a document's text.
fn appended(revision: u64) -> String {
    format!("- revision {revision}\n")
}

fn round(record: &Record) -> u64 {
    record.count("round").unwrap()
}

/// Plays schedules against this loop, which is on disk as it was started.
fn play(store: &Store, id: &LoopId, seed: u64) {
    let files = |path| std::fs::read(path).unwrap();
    let (document, journal) = (files(store.path_of(id)), files(store.journal_path(id)));
    let mut runner = TestRunner::new(Config {
        cases: SCHEDULES / THREADS,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    });
    let played = runner.run(&losses(), |losses| {
        let disk = Disk::of(&document, &journal);
        let mut store = store.clone();
        store.disk = Some(disk.clone());
        let mut known = Known {
            acknowledged: (1, 1),
            begun: None,
            comments: 0,
        };
        for (steps, left, loss) in losses {
            disk.power_goes_after(left);
            for step in &steps {
                if take(&store, &disk, id, &mut known, step).is_err() {
                    break;
                }
            }
            disk.lose_power(loss);
            let opened = store.open(id).unwrap();
            let found = (opened.record.revision(), round(&opened.record));
            let right = found == known.acknowledged || Some(found) == known.begun;
            prop_assert!(
                right,
                "{:?} or {:?}: {found:?}",
                known.acknowledged,
                known.begun
            );
            for repair in &opened.repairs {
                let is_crash = matches!(repair, Repair::RolledForward { .. } | Repair::TornLineCut);
                prop_assert!(is_crash, "nobody edited anything: {repair}");
            }
            let text = String::from_utf8(opened.record.document().to_bytes()).unwrap();
            for comment in 0..known.comments {
                let comment = self::comment(&store, comment).replace(',', "");
                let places = 1 + usize::from(matches!(store.spec().form, Form::Frontmatter(..)));
                prop_assert_eq!(text.matches(comment.trim_end()).count(), places, "{}", text);
            }
            if matches!(store.spec().form, Form::Frontmatter(..)) {
                for revision in 2..=found.0 {
                    prop_assert_eq!(text.matches(&appended(revision)).count(), 1, "{}", text);
                }
            }
            let (on_disk, _) = disk.content();
            prop_assert_eq!(on_disk.unwrap(), text.into_bytes());
            (known.acknowledged, known.begun) = (found, None);
        }
        Ok(())
    });
    played.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_power_loss_takes_back_nothing_that_was_acknowledged() {
    std::thread::scope(|scope| {
        for seed in 0..THREADS {
            scope.spawn(move || {
                let (_kept, store) = store_of([&SPEC, &JSON, &FRONTMATTER][seed as usize % 3]);
                let record = store.start(plan()).unwrap();
                play(&store, record.id(), seed.into());
            });
        }
    });
}
