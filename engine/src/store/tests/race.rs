//! Changes at once: one wins, and the others are refused.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use camino::Utf8Path;

use crate::store::testing::{SPEC, change, home, started};
use crate::store::{Store, StoreError};

/// The environment variable that makes the test a racer: the root of the project.
const RACER: &str = "RACER_OF";

/// Returns a store of the project, as another process has it.
fn project_store(root: &Utf8Path) -> Store {
    Store::at(root.join(SPEC.folder), root.to_owned(), &SPEC, home(root))
}

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
        let store = project_store(root);
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
            let store = project_store(store.root());
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
