//! The store among processes: commits of several programs at once, and programs that are killed in the middle.
//!
//! The test binary runs itself again as the other program, told by an environment variable what to do.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use claudex_loop::StateHome;
use claudex_loop::store::{
    Active, Change, CommitError, Entry, Form, HeldFields, IdForm, LoopId, Record, StartPlan, StateSpec,
    Store, Value,
};

static SPEC: StateSpec = StateSpec {
    machine: "counter",
    program: "claudex-loop",
    graph_hash: "00ff00ff",
    folder: ".loops",
    folder_env: None,
    file: None,
    extension: "state",
    form: Form::Lines,
    ids: IdForm::Stamp,
    active: Active::One,
    fields: HeldFields {
        phase: "phase",
        id: "id",
        revision: "revision",
        machine: "machine",
        session: "session",
        root: "root",
        mode: None,
        started: None,
        started_epoch: None,
        updated: Some("updated"),
        graph_hash: Some("graph_hash"),
        visit: None,
        findings: None,
        run: None,
    },
    owned: &["count"],
    edits: &[],
    nulls: &[],
    terminal: &["over"],
    shape: "",
    migrations: "",
};

const FOLDER: &str = "STORE_PROCESSES_FOLDER";
const ID: &str = "STORE_PROCESSES_ID";
const COUNT: &str = "STORE_PROCESSES_COUNT";

fn store(root: &Utf8PathBuf) -> Store {
    let home = StateHome::at(root.join("state-home"));
    Store::at(root.join(SPEC.folder), root.clone(), &SPEC, home).with_deadline(Duration::from_secs(60))
}

fn started() -> (tempfile::TempDir, Store, Record) {
    let made = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::try_from(made.path().canonicalize().unwrap()).unwrap();
    let store = store(&root);
    let fields = |_: &LoopId| {
        vec![
            ("phase".into(), Value::Word("on".into())),
            ("count".into(), Value::Count(1)),
        ]
    };
    let record = store
        .start(StartPlan {
            now: jiff::Timestamp::now(),
            stale_after: None,
            by: "test".to_owned(),
            id: None,
            fields,
        })
        .unwrap();
    (made, store, record)
}

/// Adds one to `count`, which so equals the revision at all times.
fn add_one(store: &Store, held: &Record) -> Result<Record, CommitError> {
    store.commit(
        held,
        Change {
            what: "add".into(),
            by: "test".into(),
            from: Some("on".into()),
            to: None,
            edits: vec![("count".into(), Value::Count(held.count("count").unwrap() + 1))],
            append: None,
            run: None,
            evidence: None,
            begins_visit: false,
        },
    )
}

/// Not a test by itself: what the other programs run. Does nothing unless told to.
#[test]
fn other_program() {
    let (Ok(root), Ok(id)) = (std::env::var(FOLDER), std::env::var(ID)) else {
        return;
    };
    let store = store(&Utf8PathBuf::from(root));
    let id = LoopId::parse(&id, IdForm::Stamp).unwrap();
    let until: u64 = std::env::var(COUNT).unwrap().parse().unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        let held = store.open(&id).unwrap().record;
        if held.count("count").unwrap() >= until {
            return;
        }
        match add_one(&store, &held) {
            Ok(_) | Err(CommitError::Stale { .. }) => {}
            Err(other @ CommitError::Store(_)) => panic!("{other}"),
        }
    }
}

/// Another program that adds to `count` until it is `until`.
fn run_other(store: &Store, record: &Record, until: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "other_program"])
        .env(FOLDER, store.root())
        .env(ID, record.id().as_str())
        .env(COUNT, until.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Every change is in the journal once, in order, with the count that belongs to it.
fn assert_whole(store: &Store, record: &Record) {
    let mut expected = 1;
    for entry in store.journal(record.id()).unwrap() {
        let Entry::Change(change) = entry else {
            panic!("{entry:?}")
        };
        assert_eq!(change.revision, expected);
        assert!(
            change.fields.contains(&("count".into(), Value::Count(expected))),
            "{change:?}"
        );
        expected += 1;
    }
    assert_eq!(
        (record.revision(), record.count("count")),
        (expected - 1, Some(expected - 1))
    );
}

#[test]
fn programs_that_commit_at_once_lose_nothing() {
    let (_kept, store, record) = started();
    let others: Vec<Child> = (0..6).map(|_| run_other(&store, &record, 60)).collect();
    for mut other in others {
        assert!(other.wait().unwrap().success());
    }
    let opened = store.open(record.id()).unwrap();
    assert_eq!(opened.repairs, []);
    assert!(opened.record.revision() >= 60);
    assert_whole(&store, &opened.record);
}

#[test]
fn a_program_that_is_killed_leaves_a_loop_that_opens_whole() {
    let (_kept, store, record) = started();
    let mut seen = 1;
    for wait in 0..8 {
        let mut other = run_other(&store, &record, u64::MAX);
        // Kill it at another point of its work each time, once it has begun: the journal grows.
        let length = || std::fs::metadata(store.journal_path(record.id())).unwrap().len();
        let (before, begun) = (length(), Instant::now());
        while length() == before && begun.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_micros(700 * wait) {
            std::hint::spin_loop();
        }
        other.kill().unwrap();
        other.wait().unwrap();
        let opened = store.open(record.id()).unwrap();
        assert!(opened.record.revision() >= seen);
        seen = opened.record.revision();
        assert_whole(&store, &opened.record);
        assert!(
            !store.folder().join("quarantine").exists(),
            "a kill is no edit by hand: {:?}",
            opened.repairs
        );
        add_one(&store, &opened.record).unwrap();
    }
    assert!(seen > 8, "the others never came to work");
}
