//! The implementation as the tests use it: a machine, its store in a temporary folder, and what stands there, read as
//! the reference's values.

use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::StateHome;
use claudex_loop::store::{
    Change, CommitError, Entry, LoopId, Record, StartError, StartPlan, Store, StoreError, Value,
    partial,
};

use crate::counter::SPEC;
use crate::reference::{Content, Document, Phase, What};

/// Returns the user's state home, as the store of this root has it.
pub(crate) fn home(root: &Utf8Path) -> StateHome {
    StateHome::at(root.join("state-home"))
}

pub(crate) fn store(root: &Utf8Path) -> Store {
    Store::at(root.join(SPEC.folder), root.to_owned(), &SPEC, home(root))
        .with_deadline(Duration::from_secs(60))
}

/// A store in a new folder, whose name is no simple one. Where there is memory that looks like a disk it lies there: these
/// tests sync some ten thousand times, and end no computer.
pub(crate) fn new_store() -> (tempfile::TempDir, Store) {
    let made = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let root = Utf8PathBuf::try_from(made.path().canonicalize().unwrap()).unwrap();
    let root = root.join("a b 'é\"");
    std::fs::create_dir(&root).unwrap();
    (made, store(&root))
}

/// What a call came to, in the reference's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    Loop(Content),
    /// The revision that was found.
    Stale(u8),
    Active,
    Exists,
    NoLoop,
    /// The state file is not there.
    NoFile,
    Other(String),
}

pub(crate) fn start(store: &Store) -> Result<Record, Answer> {
    let fields = |_: &LoopId| {
        vec![
            ("phase".into(), Value::Word("on".into())),
            ("count".into(), Value::Count(0)),
            ("note".into(), Value::Count(0)),
        ]
    };
    let plan = StartPlan {
        now: jiff::Timestamp::now(),
        stale_after: None,
        by: "test".to_owned(),
        id: None,
        fields,
    };
    store.start(plan).map_err(|error| match error {
        StartError::Active { .. } => Answer::Active,
        other => Answer::Other(other.to_string()),
    })
}

/// Makes a change of the machine.
pub(crate) fn commit(store: &Store, held: &Record, what: What) -> Result<Record, Answer> {
    let to = match what {
        What::Finish => Some("over"),
        What::Cancel => Some("cancelled"),
        What::Step | What::Note(_) | What::BringBack => None,
    };
    let count = held.count("count").unwrap_or_default();
    let edits = match what {
        What::Step => vec![("count".to_owned(), Value::Count(count + 1))],
        _ => Vec::new(),
    };
    let change = Change {
        from: what.from().map(|phase| phase.stored().to_owned()),
        to: to.map(str::to_owned),
        edits,
        ..Change::bare(what.name(), "test")
    };
    store.commit(held, change).map_err(|error| match error {
        CommitError::Stale { found_revision, .. } => Answer::Stale(small(found_revision)),
        CommitError::Store(error) => answer(&error),
    })
}

pub(crate) fn answer(error: &StoreError) -> Answer {
    match error {
        StoreError::Active { .. } => Answer::Active,
        StoreError::Exists { .. } => Answer::Exists,
        StoreError::NoLoop { .. } | StoreError::Swept { .. } => Answer::NoLoop,
        StoreError::Io { doing: "touch", .. } => Answer::NoFile,
        other => Answer::Other(other.to_string()),
    }
}

pub(crate) fn content(record: &Record) -> Content {
    let fields = record.document().fields();
    content_of(|name| {
        fields
            .iter()
            .find(|(field, _)| field == name)
            .map(|(_, value)| value.to_plain().into_owned())
    })
    .unwrap_or_else(|| panic!("{fields:?}"))
}

fn content_of(field: impl Fn(&str) -> Option<String>) -> Option<Content> {
    let number = |name| field(name)?.parse().ok();
    Some(Content {
        revision: number("revision")?,
        phase: Phase::parse(&field("phase")?)?,
        count: number("count")?,
        note: number("note")?,
    })
}

/// What stands in the place of the state document, read without the store.
pub(crate) fn document(path: &Utf8Path) -> Document {
    if !path.exists() {
        return Document::Missing;
    }
    match partial::read_field(path, "machine") {
        Err(_) => Document::Garbled,
        Ok(None) => Document::Cut,
        Ok(Some(_)) => {
            Document::Whole(content_of(|name| partial::read_field(path, name).ok()?).unwrap())
        }
    }
}

/// The changes that a journal tells, with what they are called.
pub(crate) fn history(store: &Store, id: &LoopId) -> Vec<(String, Content)> {
    let entries = store.journal(id).unwrap_or_default();
    let told = entries.into_iter().filter_map(|entry| match entry {
        Entry::Change(change) => {
            let plain = |name: &str| {
                let value = change.fields.iter().find(|(field, _)| field == name);
                value.map(|(_, value)| value.to_plain().into_owned())
            };
            let content = content_of(plain).unwrap();
            assert_eq!(
                u64::from(content.revision),
                change.revision,
                "the line says it twice"
            );
            Some((change.what, content))
        }
        Entry::Note(_) => None,
    });
    told.collect()
}

/// Sets a file's time of modification two hours back.
pub(crate) fn age(path: &Utf8Path) {
    let past = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
    if let Ok(file) = std::fs::File::open(path) {
        file.set_modified(past).unwrap();
    }
}

/// The age that a sweep asks for in these tests.
pub(crate) const STALE: Duration = Duration::from_secs(60 * 60);

fn small(number: u64) -> u8 {
    u8::try_from(number).unwrap()
}
