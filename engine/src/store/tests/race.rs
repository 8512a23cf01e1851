//! Sixteen changes at once: one wins, and the others are refused.

use std::fmt::Debug;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use camino::Utf8Path;

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

/// The environment variable that makes the test a racer: the root of the project.
const RACER: &str = "RACER_OF";

/// A process that commits the change of a round at a signal, and prints whether it won.
struct Racer {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Racer {
    fn new(store: &Store) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--nocapture", "one_of_sixteen_commits_wins_a_hundred_times"])
            .env(RACER, store.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn write(&mut self, line: &str) {
        writeln!(self.child.stdin.as_ref().unwrap(), "{line}").unwrap();
    }

    /// Returns its next line: `ready`, `won` or `stale`.
    fn read(&mut self) -> String {
        let mut lines = self.lines.by_ref().map(Result::unwrap);
        let line = lines.find_map(|line| Some(line.strip_prefix("racer: ")?.to_owned()));
        line.expect("the racer ended")
    }

    /// Does the work of the process.
    #[expect(clippy::print_stdout, reason = "the lines are read by the test")]
    fn run(root: &Utf8Path) {
        let store = Store::at(root.join(SPEC.folder), root.to_owned(), &SPEC, home(root));
        let mut lines = std::io::stdin().lines().map(Result::unwrap);
        while let Some(round) = lines.next() {
            let held = store.open(&store.list().next().unwrap().id).unwrap();
            println!("racer: ready");
            lines.next();
            let edits = [("round", round.parse().unwrap())];
            match store.commit(&held, change("revise", "drafting", "drafting", &edits)) {
                Ok(_) => println!("racer: won"),
                Err(StoreError::Stale { .. }) => println!("racer: stale"),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn one_of_sixteen_commits_wins_a_hundred_times() {
    if let Ok(root) = std::env::var(RACER) {
        return Racer::run(root.as_str().into());
    }
    let (_kept, store, started) = started();
    let mut racers: Vec<Racer> = (0..16).map(|_| Racer::new(&store)).collect();
    for round in 2..102 {
        for line in [round.to_string().as_str(), "go"] {
            racers.iter_mut().for_each(|racer| racer.write(line));
            let mut answers: Vec<String> = racers.iter_mut().map(Racer::read).collect();
            answers.sort();
            let expected = if line == "go" { "stale" } else { "ready" };
            assert!(answers[..15].iter().all(|answer| answer == expected));
            assert_eq!(answers[15], if line == "go" { "won" } else { "ready" });
        }
        assert_eq!(
            store.open(started.id()).unwrap().count("round"),
            Some(round)
        );
    }
    for mut racer in racers {
        drop(racer.child.stdin.take());
        assert!(racer.child.wait().unwrap().success());
    }
    assert_eq!(store.journal(started.id()).unwrap().len(), 101);
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
