//! A transition compared with SQLite: the same compare-and-swap with the same journal row.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::StateHome;
use claudex_loop::store::{Beginning, Change, Fields, LoopId, Record, Store, StoreError};

use crate::counter::SPEC;
use crate::pair::{Measure, Row, ratio_of};
use crate::seal::rewrite_journal;

/// The number of changes of one measurement, by all writers together.
const CHANGE_COUNT: usize = 320;

pub(crate) fn rows() -> Vec<Measure> {
    let row = |name, writers, before, most| -> Measure {
        (name, Box::new(move || beside_sqlite(writers, before, most)))
    };
    vec![
        row("a transition, one writer", 1, 0, 1.0),
        row("a transition, 4 writers", 4, 0, 1.0),
        row("a transition, 16 writers", 16, 0, 0.5),
        row("a transition after 100,000 entries", 1, 100_000, 1.0),
    ]
}

/// Starts a loop with a topic that makes the journal's line some 700 bytes long.
fn start(root: &Utf8Path, before: usize) -> (Store, LoopId) {
    let home = StateHome::at(root.join("state-home"));
    let store = Store::at(root.join(SPEC.folder), root.to_owned(), &SPEC, home);
    let fields = Fields::from_iter([
        ("phase".into(), "on".into()),
        ("topic".into(), "word ".repeat(70).into()),
        ("count".into(), 0.into()),
    ]);
    let beginning = Beginning::now("bench");
    let started = store.start(&beginning, "bench", fields, None);
    let id = started.expect("a start").id().clone();
    if before > 0 {
        let journal = store.journal_path(&id);
        let text = std::fs::read_to_string(&journal).expect("a journal");
        let note = "{\"at\":\"2026-11-22T00:00:00Z\",\"note\":\"seen\"}\n";
        std::fs::write(&journal, [&note.repeat(before), &text[..]].concat()).expect("a longer one");
        let home = root.join("state-home");
        let sealed = rewrite_journal(
            store.folder().as_std_path(),
            home.as_std_path(),
            id.as_str(),
            str::to_owned,
        );
        sealed.expect("seals");
    }
    (store, id)
}

/// A writer, and the loop that it holds.
struct Writer {
    store: Store,
    id: LoopId,
    held: Record,
}

impl Writer {
    fn open(store: &Store, id: &LoopId) -> Self {
        Self {
            store: store.clone(),
            id: id.clone(),
            held: store.open(id).expect("an open"),
        }
    }

    fn change(&mut self) {
        loop {
            let count = self.held.count("count").unwrap_or_default() + 1;
            let change = Change {
                edits: Fields::from_iter([("count".into(), count.into())]),
                ..Change::new("step", "hook")
            };
            match self.store.commit(&self.held, change) {
                Ok(now) => return self.held = now,
                Err(StoreError::Stale { .. }) => *self = Self::open(&self.store, &self.id),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Returns the time of all changes if `writers` writers make them at once.
fn with_writers<W: Send>(
    writers: usize,
    make: impl Fn() -> W + Sync,
    change: impl Fn(&mut W) + Sync,
) -> Duration {
    let ready = Barrier::new(writers + 1);
    let begun = std::thread::scope(|scope| {
        for _ in 0..writers {
            scope.spawn(|| {
                let mut writer = make();
                ready.wait();
                for _ in 0..CHANGE_COUNT / writers {
                    change(&mut writer);
                }
            });
        }
        ready.wait();
        Instant::now()
    });
    begun.elapsed()
}

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let made = tempfile::tempdir().expect("a folder");
    let path = made.path().canonicalize().expect("a path");
    (made, Utf8PathBuf::try_from(path).expect("a path in UTF-8"))
}

fn beside_sqlite(writers: usize, before: usize, most: f64) -> Row {
    let (_kept, root) = folder();
    let (store, id) = start(&root, before);
    let ours = || with_writers(writers, || Writer::open(&store, &id), Writer::change);
    let theirs = sqlite::create(&root.join("sqlite"));
    let ratio = ratio_of(ours, || {
        with_writers(writers, || sqlite::writer(&theirs), sqlite::change)
    });
    Row {
        beside: "SQLite (WAL, synchronous=FULL)".to_owned(),
        ratio,
        most,
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::time::Duration;

    use camino::{Utf8Path, Utf8PathBuf};
    use rusqlite::{Connection, TransactionBehavior};

    pub(super) fn create(path: &Utf8Path) -> Utf8PathBuf {
        let tables = "CREATE TABLE loop (id INTEGER PRIMARY KEY, revision INTEGER, state TEXT);
            CREATE TABLE journal (revision INTEGER PRIMARY KEY, line TEXT);
            INSERT INTO loop VALUES (1, 1, '');";
        open(path).execute_batch(tables).expect("two tables");
        path.to_owned()
    }

    /// A writer, and the revision that it holds.
    pub(super) struct Writer(Connection, i64);

    pub(super) fn writer(path: &Utf8Path) -> Writer {
        let connection = open(path);
        let held = revision(&connection);
        Writer(connection, held)
    }

    fn revision(connection: &Connection) -> i64 {
        let query = "SELECT revision FROM loop WHERE id = 1";
        connection
            .query_row(query, [], |row| row.get(0))
            .expect("a row")
    }

    fn open(path: &Utf8Path) -> Connection {
        let connection = Connection::open(path).expect("a database");
        connection
            .busy_timeout(Duration::from_secs(60))
            .expect("a time");
        let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";
        connection.execute_batch(pragmas).expect("two settings");
        connection
    }

    pub(super) fn change(Writer(connection, held): &mut Writer) {
        loop {
            let behavior = TransactionBehavior::Immediate;
            let transaction = connection
                .transaction_with_behavior(behavior)
                .expect("a lock");
            let set =
                "UPDATE loop SET revision = ?1 + 1, state = ?2 WHERE id = 1 AND revision = ?1";
            let mut set = transaction.prepare_cached(set).expect("an update");
            let changed = set.execute((*held, "x".repeat(500))).expect("an update");
            drop(set);
            if changed == 1 {
                *held += 1;
                let add = "INSERT INTO journal VALUES (?1, ?2)";
                let mut add = transaction.prepare_cached(add).expect("an insert");
                add.execute((*held, "x".repeat(700))).expect("a row");
                drop(add);
                return transaction.commit().expect("a commit");
            }
            drop(transaction);
            *held = revision(connection);
        }
    }
}

#[cfg(not(feature = "sqlite"))]
mod sqlite {
    use camino::{Utf8Path, Utf8PathBuf};

    pub(super) fn create(_: &Utf8Path) -> Utf8PathBuf {
        panic!("this row needs `--features sqlite`")
    }

    pub(super) fn writer(_: &Utf8Path) {}

    pub(super) fn change((): &mut ()) {}
}
