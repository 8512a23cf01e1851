//! Documents that are the user's own: they are where the machine says, and nothing else happens there.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use crate::store::testing::{OWN, SHARED, change, fields, plan, store_of};
use crate::store::{
    Distrust, IdForm, Import, LoopId, Record, Repair, StartError, StartPlan, Store, StoreError,
    Value,
};

fn id(name: &str) -> LoopId {
    LoopId::parse(name, IdForm::Name).unwrap()
}

fn plan_of(name: &str) -> StartPlan {
    StartPlan {
        id: Some(id(name)),
        now: Timestamp::now(),
        stale_after: None,
        by: "test".to_owned(),
        fields: fields(),
    }
}

fn started() -> (tempfile::TempDir, Store, Record) {
    let (kept, store) = store_of(&OWN);
    let record = store.start(plan_of("one")).unwrap();
    (kept, store, record)
}

/// What stands in a folder and below it, by their paths in it.
fn tree(folder: &Utf8Path) -> Vec<String> {
    let mut found: Vec<String> = walk(folder)
        .map(|path| path.strip_prefix(folder).unwrap().to_string())
        .collect();
    found.sort();
    found
}

fn walk(folder: &Utf8Path) -> Box<dyn Iterator<Item = Utf8PathBuf>> {
    let entries = folder.read_dir_utf8().unwrap().map(|entry| entry.unwrap());
    Box::new(entries.flat_map(|entry| {
        let path = entry.path().to_owned();
        let below = path
            .symlink_metadata()
            .unwrap()
            .is_dir()
            .then(|| walk(&path));
        std::iter::once(path).chain(below.into_iter().flatten())
    }))
}

fn read(path: &Utf8Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn finish(store: &Store, record: &Record) -> Record {
    store
        .commit(record, change("finish", "drafting", "done", &[]))
        .unwrap()
}

#[test]
fn nothing_but_the_document_is_put_there() {
    let (_kept, store, record) = started();
    let (plans, path) = (store.root().join("plans"), store.path_of(record.id()));
    assert_eq!(tree(&plans), ["one", "one/state.yml"]);
    let mode = |path: &Utf8Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o644);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o660)).unwrap();
    std::fs::write(&path, read(&path) + "mine: yes # a key of a person’s\n").unwrap();
    let revised = store
        .commit(
            &record,
            change(
                "revise",
                "drafting",
                "drafting",
                &[("round", Value::Count(2))],
            ),
        )
        .unwrap();
    assert!(read(&path).contains("round: 2\n") && read(&path).contains("mine: yes # a key"));
    assert_eq!(mode(&path), 0o660, "the permissions are the user’s");
    std::fs::write(&path, read(&path).replace("phase: drafting", "phase: done")).unwrap();
    let opened = store.open(record.id()).unwrap();
    assert!(
        matches!(&opened.repairs[..], [Repair::EditUndone { quarantined, .. }]
        if quarantined.starts_with(store.folder()))
    );
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    let opened = store.open(record.id()).unwrap();
    assert_eq!(opened.record.revision(), revised.revision());
    assert!(matches!(&opened.repairs[..], [Repair::Rebuilt { .. }]));
    std::fs::write(&path, "{").unwrap();
    store.open(record.id()).unwrap();
    assert_eq!(tree(&plans), ["one", "one/state.yml"]);
    let stray = tree(store.root())
        .into_iter()
        .find(|name| name.contains(".loop-tmp"));
    assert_eq!(stray, None);
    assert_eq!(read(&store.folder().join(".gitignore")), "*\n");
}

#[test]
fn git_may_track_it_and_not_the_journal() {
    let (_kept, store, record) = started();
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git")
            .current_dir(store.root())
            .args(args)
            .status();
        assert!(done.unwrap().success());
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    let tracked = std::process::Command::new("git")
        .current_dir(store.root())
        .args(["ls-files", "plans", ".engine"])
        .output()
        .unwrap();
    assert_eq!(tracked.stdout, b"plans/one/state.yml\n");
    assert!(store.list()[0].ours);
    let record = store.open(record.id()).unwrap().record;
    let over = finish(&store, &record);
    git(&["add", "-f", store.journal_path(over.id()).as_str()]);
    assert!(matches!(
        store.open(over.id()),
        Err(StoreError::Untrusted {
            why: Distrust::Tracked,
            ..
        })
    ));
}

#[test]
fn it_stays_when_its_loop_is_swept_given_up_or_rolled_back() {
    let (_kept, store, record) = started();
    let (id, path) = (record.id(), store.path_of(record.id()));
    let day = Duration::from_secs(24 * 60 * 60);
    let later = SystemTime::now() + 2 * day;
    let before = read(&path);
    let moved = store.sweep(later, day, false).unwrap().moved;
    assert_eq!(moved.iter().collect::<Vec<_>>(), [id]);
    assert_eq!((read(&path), store.list().len()), (before.clone(), 0));
    assert!(matches!(
        store.start(plan_of("one")),
        Err(StartError::Store(StoreError::Exists { .. }))
    ));
    assert_eq!(store.swept()[0].id, *id);
    assert_eq!(store.bring_back(id).unwrap().revision(), 2);
    let before = read(&path);
    assert!(before.contains("revision: 2\n"));
    store.give_up(id, Timestamp::now()).unwrap().unwrap();
    assert_eq!((read(&path), store.list().len()), (before, 0));
    let other = store.start(plan_of("two")).unwrap();
    let before = read(&store.path_of(other.id()));
    assert_eq!(
        store.roll_back_all(Timestamp::now()).unwrap(),
        [other.id().clone()]
    );
    assert_eq!(read(&store.path_of(other.id())), before);
    assert_eq!(store.list(), []);
}

#[test]
fn what_stands_there_already_is_not_written_over() {
    let (_kept, store, record) = started();
    let path = store.path_of(&id("two"));
    for text in ["phase: drafting\n", "not ours", "machine: another\n", ""] {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let refused = store.start(plan_of("two")).unwrap_err();
        assert!(matches!(
            refused,
            StartError::Store(StoreError::FileTaken { .. })
        ));
        assert_eq!(read(&path), text);
        assert!(!store.loop_folder(&id("two")).exists());
        // It is no loop, whatever it says: another one starts beside it, and it stays.
        let other = store.start(plan_of("three")).unwrap();
        finish(&store, &other);
        std::fs::remove_dir_all(store.path_of(other.id()).parent().unwrap()).unwrap();
        std::fs::remove_dir_all(store.loop_folder(other.id())).unwrap();
        assert_eq!(read(&path), text);
        assert!(store.open(&id("two")).is_err());
        assert_eq!((read(&path).as_str(), store.list().len()), (text, 1));
    }
    assert!(store.open(record.id()).is_ok());
}

#[test]
fn a_start_that_fails_leaves_what_was_there() {
    let (_kept, store, _) = started();
    let blocked = |name: &str| {
        std::fs::create_dir_all(store.folder().join(format!("{name}.lock/x"))).unwrap();
    };
    blocked("two");
    assert!(store.start(plan_of("two")).is_err());
    assert_eq!(tree(&store.root().join("plans")), ["one", "one/state.yml"]);
    blocked("three");
    let path = store.path_of(&id("three"));
    let text = "phase: drafting\nmine: yes\n";
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    let import = || Import {
        document: OWN.form.parse(text.as_bytes()).unwrap(),
        file: path.clone(),
    };
    assert!(store.import(plan_of("three"), import()).is_err());
    assert_eq!(read(&path), text);
    std::fs::remove_dir_all(store.folder().join("three.lock")).unwrap();
    store.import(plan_of("three"), import()).unwrap();
    assert!(read(&path).contains("mine: yes\n") && read(&path).contains("revision: 1\n"));
    assert_eq!(store.id_in(&path), Some("three"));
}

#[test]
fn no_link_is_followed_to_it() {
    let (_kept, store, record) = started();
    let path = store.path_of(record.id());
    let (folder, away) = (path.parent().unwrap(), store.root().join("away"));
    std::fs::rename(folder, &away).unwrap();
    std::os::unix::fs::symlink(&away, folder).unwrap();
    let before = read(&away.join("state.yml"));
    assert!(matches!(
        store.open(record.id()),
        Err(StoreError::Untrusted { .. })
    ));
    std::fs::remove_file(folder).unwrap();
    std::fs::create_dir(folder).unwrap();
    std::os::unix::fs::symlink(away.join("state.yml"), &path).unwrap();
    assert!(matches!(
        store.open(record.id()),
        Err(StoreError::Untrusted { .. })
    ));
    assert_eq!(read(&away.join("state.yml")), before);
}

#[test]
fn one_file_for_all_loops_is_the_newest_ones() {
    let (_kept, store) = store_of(&SHARED);
    let first = store.start(plan()).unwrap();
    let path = store.path_of(first.id());
    std::fs::write(&path, read(&path) + "Notes.\n").unwrap();
    assert!(matches!(
        store.start(plan()),
        Err(StartError::Active { .. } | StartError::Store(StoreError::Active { .. }))
    ));
    let first = store.open(first.id()).unwrap().record;
    finish(&store, &first);
    let before = read(&path);
    assert!(before.ends_with("Notes.\n"));
    let second = store.start_telling(plan()).unwrap();
    let [Repair::SetAside { quarantined, .. }] = &second.repairs[..] else {
        panic!("{:?}", second.repairs)
    };
    assert_eq!(read(quarantined), before);
    assert!(read(&path).contains(second.record.id().as_str()));
    assert_eq!(store.list().len(), 1);
    assert!(store.verify(second.record.id()).is_ok());
    finish(&store, &second.record);
    assert!(matches!(
        store.bring_back(first.id()),
        Err(StoreError::FileTaken { .. })
    ));
    assert!(read(&path).contains(second.record.id().as_str()));
    // A start that fails puts the document of the one that is over back.
    let before = read(&path);
    let next = LoopId::new_stamp(Timestamp::now()).unwrap();
    std::fs::create_dir_all(store.folder().join(format!("{next}.lock/x"))).unwrap();
    let failed = store.start(StartPlan {
        id: Some(next),
        ..plan()
    });
    assert!(failed.is_err());
    assert_eq!(read(&path), before);
    std::fs::write(&path, "---\nreview_id: 20261123-120000-0a1b2c\n---\n").unwrap();
    assert!(matches!(
        store.start(plan()),
        Err(StartError::Store(StoreError::FileTaken { .. }))
    ));
}
